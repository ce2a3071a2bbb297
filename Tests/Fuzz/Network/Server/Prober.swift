import Foundation
import Primitives
import Runtime

/// Asks the server how it is, as one who means it well.
final class Prober {
    private let server: ServerProcess
    private let socket: DatagramSocket
    private var asked = 0
    /// The longest that an answer may take.
    private static let timeout = Duration.seconds(10)

    init(_ server: ServerProcess) throws {
        self.server = server
        socket = try DatagramSocket(at: .loopback)
    }

    /// It also waits until what was sent before over UDP is dealt with.
    ///
    /// - Returns: how long an OPTIONS took to be answered.
    /// - Throws: `Broken` where the server is gone, or an OPTIONS is not answered with 200.
    @discardableResult
    func check() throws -> Duration {
        asked += 1
        let began = MonotonicClock.now
        var sentAt: Instant?
        while true {
            try server.checkLife()
            let now = MonotonicClock.now
            guard now - began < Self.timeout else {
                throw Broken("an OPTIONS is not answered within \(Self.timeout)\n\(server.transcript)")
            }
            if sentAt.map({ now - $0 >= .seconds(1) }) ?? true {
                socket.send(question, to: server.addresses.sip)
                sentAt = now
            }
            if try isAnswered(by: now + .milliseconds(200)) { break }
        }
        return MonotonicClock.now - began
    }

    private var question: [UInt8] {
        MessageDraft([
            "OPTIONS sip:fuzz.test SIP/2.0", "Via: SIP/2.0/UDP \(socket.local);branch=z9hG4bKprobe\(asked);rport",
            "From: <sip:probe@fuzz.test>;tag=p\(asked)",
            "To: <sip:fuzz.test>", "Call-ID: probe-\(asked)@fuzz", "CSeq: \(asked) OPTIONS", "Max-Forwards: 70",
            "Contact: <sip:probe@\(socket.local)>",
        ]).bytes
    }

    private func isAnswered(by deadline: Instant) throws -> Bool {
        while let datagram = socket.receive(by: deadline) {
            let text = String(decoding: datagram.bytes, as: UTF8.self)
            guard text.contains("probe-\(asked)@fuzz") else { continue }
            guard text.hasPrefix("SIP/2.0 200 ") else { throw Broken("an OPTIONS is answered with: \(text.prefix { !$0.isNewline })") }
            return true
        }
        return false
    }

    /// The server's own count of what is open, by kind (`hookswitch_resources_open`).
    func resources() throws -> [String: Int] {
        guard let connection = StreamSocket(to: server.addresses.monitor, from: .loopback) else {
            try server.checkLife()
            throw Broken("the listener for metrics takes no connection")
        }
        connection.send(Array("GET /metrics HTTP/1.1\r\nHost: fuzz\r\nConnection: close\r\n\r\n".utf8))
        var bytes: [UInt8] = []
        while case let more = connection.receive(within: 3_000), !more.isEmpty { bytes += more }
        let resources = Self.resources(in: String(decoding: bytes, as: UTF8.self))
        guard !resources.isEmpty else {
            throw Broken("the metrics say nothing of resources:\n\(String(decoding: bytes.prefix(500), as: UTF8.self))")
        }
        return resources
    }

    private static func resources(in text: String) -> [String: Int] {
        var found: [String: Int] = [:]
        for line in text.split(separator: "\n") where line.hasPrefix("hookswitch_resources_open{") {
            let parts = line.split(separator: "\"")
            if parts.count == 3, let count = Int(parts[2].drop { $0 != " " }.dropFirst()) { found[String(parts[1])] = count }
        }
        return found
    }
}
