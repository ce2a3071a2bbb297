import Audio
import Foundation
import Testing

/// A headless baresip 1.0.0 with one account at the gateway, steered over its control socket.
///
/// It plays a WAV instead of a microphone; what it decodes goes to a WAV of its own (`sndfile`). Where its source ends it hangs up.
final class Baresip: Sendable {
    struct Plan {
        var user: String
        var password: String?
        /// `opus`, `pcmu`, `pcma` or `g722`, in order of preference.
        var codecs: [String]
        /// First of ten ports for signalling and control; RTP is on the forty from `mediaPort` on.
        var port: UInt16
        var mediaPort: UInt16
        /// What it says.
        var source: String
        var transport = "udp"
        /// Seconds of a registration; 0: does not register.
        var registration = 3600
        /// It asks how many messages wait for it.
        var subscribes = false
        /// Its module for encrypted media, such as `srtp-mand` or `dtls_srtp`; nil: media in the clear.
        var encryption: String?
    }

    let program: Program
    let control: ControlConnection
    private let folder: String
    private let plan: Plan
    private let gateway: String

    /// Starts it and waits until its control socket answers.
    static func start(_ plan: Plan, at gateway: Gateway) async throws -> Baresip {
        let folder = try gateway.folder.folder("baresip-\(plan.user)-\(plan.port)")
        try configuration(plan, folder).write(toFile: folder + "/config", atomically: true, encoding: .utf8)
        try account(plan, address(of: gateway, plan)).write(toFile: folder + "/accounts", atomically: true, encoding: .utf8)
        // It wants its certificate and key in one file, also where nobody asks for them.
        let pem = try ["client.pem", "leaf.key"].map { try String(contentsOfFile: Place.certificate($0), encoding: .utf8) }.joined()
        try pem.write(toFile: folder + "/client.pem", atomically: true, encoding: .utf8)
        try "".write(toFile: folder + "/contacts", atomically: true, encoding: .utf8)
        let program = try Program("/usr/bin/baresip", ["-f", folder], environment: ["HOME": folder], playsSound: true)
        try await eventually("baresip's control socket is there") { KernelSockets.tcpPorts(of: program.pid).contains(plan.port + 4) }
        return Baresip(program, try ControlConnection(port: plan.port + 4), folder, plan, address(of: gateway, plan))
    }

    private static func address(of gateway: Gateway, _ plan: Plan) -> String {
        plan.transport == "tls" ? "127.0.0.1:\(gateway.tlsPort)" : gateway.address
    }

    private init(_ program: Program, _ control: ControlConnection, _ folder: String, _ plan: Plan, _ gateway: String) {
        (self.program, self.control, self.folder, self.plan, self.gateway) = (program, control, folder, plan, gateway)
    }

    private static func configuration(_ plan: Plan, _ folder: String) -> String {
        """
        poll_method epoll
        sip_cafile \(Place.certificate("ca.pem"))
        sip_certificate \(folder)/client.pem
        sip_listen 127.0.0.1:\(plan.port)
        net_interface 127.0.0.1
        call_max_calls 4
        audio_source aufile,\(plan.source)
        audio_player aubridge,\(plan.user)
        audio_alert aubridge,\(plan.user)
        rtp_ports \(plan.mediaPort)-\(plan.mediaPort + 39)
        ausrc_srate 48000
        auplay_srate 48000
        ausrc_channels 1
        auplay_channels 1
        jitter_buffer_delay 3-10
        snd_path \(folder)
        module_path /usr/lib/baresip/modules
        module g711.so
        module g722.so
        module opus.so
        module aufile.so
        module aubridge.so
        module sndfile.so
        module srtp.so
        module dtls_srtp.so
        module ctrl_tcp.so
        module_app account.so
        module_app menu.so
        \(plan.subscribes ? "module_app mwi.so" : "")
        ctrl_tcp_listen 127.0.0.1:\(plan.port + 4)

        """
    }

    private static func account(_ plan: Plan, _ gateway: String) -> String {
        let codecs = plan.codecs.map { ["opus": "opus/48000/2", "g722": "g722/16000/1"][$0] ?? $0 }.joined(separator: ",")
        let secret = plan.password.map { ";auth_user=\(plan.user);auth_pass=\($0)" } ?? ""
        return
            "<sip:\(plan.user)@\(gateway);transport=\(plan.transport)>\(secret);regint=\(plan.registration);audio_codecs=\(codecs);answermode=manual\(plan.encryption.map { ";mediaenc=\($0)" } ?? "")\n"
    }

    /// Where it receives.
    var mediaPorts: ClosedRange<UInt16> { plan.mediaPort...plan.mediaPort + 39 }

    // MARK: What it is told

    /// By its output: the registration may be done before the control socket is there.
    func waitUntilRegistered() async throws { try await program.line(containing: "200 OK () [1 binding]") }

    func dial(_ number: String) { control.send("dial", "sip:\(number)@\(gateway)") }
    func accept() { control.send("accept") }
    func hangUp() { control.send("hangup") }
    func hold() { control.send("hold") }
    func press(_ key: Character) { control.send("sndcode", "\(key)") }
    func resume() { control.send("resume") }
    func quit() { control.send("quit") }

    // MARK: What it says

    @discardableResult
    func event(_ type: String, from start: Int = 0, within limit: Duration = .seconds(15)) async throws -> ControlConnection.Event {
        guard let event = await control.events.first(from: start, within: limit, where: { $0.type == type }) else {
            throw Unmet(
                "baresip \(plan.user): no \(type) within \(limit); there were \(control.events.all.map(\.type)).\(program.transcript)")
        }
        return event
    }

    /// What it has decoded up to now, from the last part on that it began.
    var recordingFile: String? {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        return names.filter { $0.hasPrefix("dump-") && $0.hasSuffix("-dec.wav") }.max().map { folder + "/" + $0 }
    }

    /// Waits until it has recorded that many seconds.
    func waitForRecording(of seconds: Double, within limit: Duration = .seconds(30)) async throws {
        try await eventually("\(plan.user) recorded \(seconds) s", within: limit) {
            guard let file = recordingFile, let handle = FileHandle(forReadingAtPath: file) else { return false }
            defer { try? handle.close() }
            let header = [UInt8](try handle.read(upToCount: 44) ?? Data())
            guard header.count == 44 else { return false }
            let bytesPerSecond = Int(header[28]) | Int(header[29]) << 8 | Int(header[30]) << 16
            return Double(try handle.seekToEnd()) - 44 >= seconds * Double(bytesPerSecond)
        }
    }

    func recording() throws -> WAV {
        guard let file = recordingFile else { throw Unmet("baresip \(plan.user) recorded nothing.\(program.transcript)") }
        return try Recordings.read(file)
    }
}

/// baresip's `ctrl_tcp`: JSON in netstrings, commands out, answers and events in.
final class ControlConnection: Sendable {
    struct Event: Sendable {
        var type: String
        var parameter: String
    }

    let events = EventLog<Event>()
    private let socket: Int32

    init(port: UInt16) throws {
        socket = Foundation.socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in(port: port)
        let result = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { connect(socket, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) }
        }
        guard result == 0 else {
            close(socket)
            throw Unmet("the control port \(port) does not answer: \(String(cString: strerror(errno)))")
        }
        Thread.detachNewThread { [socket, events] in Self.read(socket, into: events) }
    }

    deinit { shutdown(socket, Int32(SHUT_RDWR)) }

    func send(_ command: String, _ parameters: String? = nil) {
        let body = parameters.map { #"{"command":"\#(command)","params":"\#($0)"}"# } ?? #"{"command":"\#(command)"}"#
        let bytes = Array("\(body.utf8.count):\(body),".utf8)
        _ = Foundation.send(socket, bytes, bytes.count, Int32(MSG_NOSIGNAL))
    }

    private static func read(_ socket: Int32, into events: EventLog<Event>) {
        var rest: [UInt8] = [], buffer = [UInt8](repeating: 0, count: 65_536)
        while case let count = Foundation.read(socket, &buffer, buffer.count), count > 0 {
            rest += buffer[..<count]
            while let body = netstring(&rest) { event(body).map(events.append) }
        }
        events.close()
        close(socket)
    }

    private static func netstring(_ bytes: inout [UInt8]) -> [UInt8]? {
        guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")), let length = Int(String(decoding: bytes[..<colon], as: UTF8.self)) else {
            return nil
        }
        guard bytes.count >= colon + length + 2 else { return nil }
        defer { bytes.removeFirst(colon + length + 2) }
        return Array(bytes[(colon + 1)..<(colon + 1 + length)])
    }

    private static func event(_ body: [UInt8]) -> Event? {
        guard let object = try? JSONSerialization.jsonObject(with: Data(body)) as? [String: Any], let type = object["type"] as? String
        else { return nil }
        return Event(type: type, parameter: object["param"] as? String ?? "")
    }
}

extension sockaddr_in {
    /// A port of 127.0.0.1.
    init(port: UInt16) {
        self.init()
        sin_family = sa_family_t(AF_INET)
        sin_port = port.bigEndian
        sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    }
}
