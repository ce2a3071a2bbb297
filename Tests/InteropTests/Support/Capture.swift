import Foundation

/// A packet capture on loopback: dumpcap to a file, read by ourselves.
final class Capture: Sendable {
    struct Packet {
        /// Seconds.
        var time: Double
        var source: UInt16
        var destination: UInt16
        var payload: [UInt8]

        /// The first line, where it is SIP.
        var sipLine: String? {
            guard let end = payload.firstIndex(of: 13), end > 8 else { return nil }
            let line = String(decoding: payload[..<end], as: UTF8.self)
            return line.hasPrefix("SIP/2.0 ") || line.hasSuffix(" SIP/2.0") ? line : nil
        }

        /// `CSeq: 1 INVITE` → `INVITE`.
        var sipMethod: String? {
            let text = String(decoding: payload, as: UTF8.self)
            guard sipLine != nil, let line = text.split(separator: "\r\n").first(where: { $0.hasPrefix("CSeq:") }) else { return nil }
            return line.split(separator: " ").last.map(String.init)
        }

        /// RTP, not RTCP (RFC 5761 §4).
        var isRTP: Bool { payload.count >= 12 && payload[0] >> 6 == 2 && !(192...223).contains(payload[1]) }
        var payloadType: UInt8 { payload[1] & 0x7F }
        var sequence: UInt16 { UInt16(payload[2]) << 8 | UInt16(payload[3]) }
        var media: ArraySlice<UInt8> { payload[(12 + 4 * Int(payload[0] & 15))...] }
    }

    private let program: Program
    private let file: String
    /// Of the run: where probes go.
    private let port: UInt16

    /// Captures UDP from and to a run of ports; from its return on nothing is missed.
    static func start(_ ports: ClosedRange<UInt16>, in folder: Folder) async throws -> Capture {
        let file = folder.file("capture-\(UUID().uuidString.prefix(4)).pcap")
        let filter = "udp portrange \(ports.lowerBound)-\(ports.upperBound)"
        let program = try Program("/usr/bin/dumpcap", ["-i", "lo", "-P", "-q", "-B", "16", "-f", filter, "-w", file])
        try await program.line(containing: "File:")
        let capture = Capture(program, file, ports.upperBound)
        try await capture.prove(capture.port)
        return capture
    }

    private init(_ program: Program, _ file: String, _ port: UInt16) { (self.program, self.file, self.port) = (program, file, port) }

    /// Sends a datagram of its own until it is in the file: only then the capture is known to run.
    private func prove(_ port: UInt16) async throws {
        let probe = try UDPPeer()
        try await eventually("the capture sees what is sent now") {
            probe.send([0], to: port)
            return try read().contains { $0.source == probe.port }
        }
    }

    /// Ends the capture and reads it: all that passed before this call is in it.
    func stop() async throws -> [Packet] {
        try await prove(port)
        program.signal(SIGTERM)
        try await program.exitCode(within: .seconds(10))
        return try read()
    }

    /// What is in the file up to now: pcap, Ethernet, IPv4, UDP.
    func read() throws -> [Packet] {
        guard let data = FileManager.default.contents(atPath: file), data.count >= 24 else { return [] }
        let bytes = [UInt8](data)
        var packets: [Packet] = [], offset = 24
        while offset + 16 <= bytes.count {
            let length = little32(bytes, offset + 8), body = offset + 16
            guard body + length <= bytes.count else { break }
            let time = Double(little32(bytes, offset)) + Double(little32(bytes, offset + 4)) / 1e6
            if let packet = Self.packet(bytes[body..<(body + length)], at: time) { packets.append(packet) }
            offset = body + length
        }
        return packets
    }

    private static func packet(_ frame: ArraySlice<UInt8>, at time: Double) -> Packet? {
        let bytes = Array(frame)
        guard bytes.count >= 42, bytes[12] == 8, bytes[13] == 0, bytes[23] == 17 else { return nil }
        let udp = 14 + 4 * Int(bytes[14] & 15)
        guard bytes.count >= udp + 8 else { return nil }
        return Packet(time: time, source: big16(bytes, udp), destination: big16(bytes, udp + 2), payload: Array(bytes[(udp + 8)...]))
    }

    func kill() { program.kill() }
}

private func big16(_ bytes: [UInt8], _ offset: Int) -> UInt16 { UInt16(bytes[offset]) << 8 | UInt16(bytes[offset + 1]) }

private func little32(_ bytes: [UInt8], _ offset: Int) -> Int {
    Int(bytes[offset]) | Int(bytes[offset + 1]) << 8 | Int(bytes[offset + 2]) << 16 | Int(bytes[offset + 3]) << 24
}
