import CallKit
import Dispatch
import Foundation
import Gateway
import Glibc
import Logging
import Primitives
import Runtime
import Store
import Synchronization
import Testing
import UserAgent

@testable import hookswitch

/// A gateway with its state in a database, made from a configuration as `serve` makes one.
final class SharedGateway {
    let address: SocketAddress
    let server: GatewayServer
    private let store: ServeStore
    private let log: NoticeLog
    private static let folder = Result { try SoundFolder() }

    /// - Parameter further: settings beside those that each test has, as YAML.
    init(_ url: String, node: String, address given: SocketAddress? = nil, further: String = "") throws {
        address = try given ?? SocketAddress(.loopback, port: try FreePorts.block(of: 2, .v4).lowerBound)
        let ports = try FreePorts.block(of: 20, .v4, in: 12_000...19_999), folder = try Self.folder.get()
        let password = folder.path + "/password", file = folder.path + "/\(UUID()).yaml"
        try Data((PostgresServer.password + "\n").utf8).write(to: URL(filePath: password))
        let yaml = """
            data: "\(url)"
            data-password-file: \(password)
            node: \(node)
            sip: { udp: ["\(address)"], tcp: ["\(address)"] }
            media: { ports: \(ports.lowerBound)-\(ports.upperBound) }
            lines:
              - { number: "1001", open: true }
              - { number: "1002", open: true }
            \(further)
            """
        try Data(yaml.utf8).write(to: URL(filePath: file))
        let configuration = try ConfigurationFile.load(file, environment: [:], flags: []), lines = Lines()
        log = NoticeLog { level, line, _ in lines.add("\(level) \(line)") }
        told = lines
        store = try #require(try ServeStore.open(configuration, log))
        var settings = configuration.server
        settings.mediaLanes = 1
        try store.restore(into: &settings, configuration.data.address)
        server = try GatewayServer(settings) { notice in
            if case .violation(let violation) = notice { Issue.record("\(violation)") }
        }
        store.begin(server)
    }

    private final class Lines: Sendable {
        private let list = Mutex<[String]>([])
        func add(_ line: String) { list.withLock { $0.append(line) } }
        var all: [String] { list.withLock { $0 } }
    }

    private let told: Lines

    /// The lines of its log, as far as they are written.
    var logged: [String] { told.all }
    var figures: LineStoreFigures { store.figures }

    /// Until all is in the database.
    func settles() -> Bool { waits(30) { figures.isUp && figures.waiting == 0 } }

    /// As SIGTERM ends it.
    func stop() {
        server.endAll()
        waits(5) { server.legs == 0 }
        #expect(server.stop() == 0)
        store.end(log)
        log.finish()
    }

    func line(_ number: Text) throws -> LineSummary {
        let answer = Mutex<[LineSummary]>([]), done = DispatchSemaphore(value: 0)
        server.lineSummaries { summaries in
            answer.withLock { $0 = summaries }
            done.signal()
        }
        done.wait()
        return try #require(answer.withLock { $0.first { $0.number == number } })
    }
}

/// A telephone of a few texts over UDP: registers, calls, and hears what comes.
final class BarePhone {
    let port: UInt16
    private let socket: Int32
    private var gateway: SocketAddress
    private let host: String
    private var number = 0
    private let id = UUID().uuidString
    /// The dialog of its call: the target of its requests, and their To.
    private var dialog: (target: String, to: String)?

    /// - Parameter host: its own address, of loopback.
    init(_ gateway: SocketAddress, at host: String = "127.0.0.1") throws {
        (self.gateway, self.host) = (gateway, host)
        socket = Glibc.socket(AF_INET, Int32(SOCK_DGRAM.rawValue), 0)
        var address = sockaddr_in(), size = socklen_t(MemoryLayout<sockaddr_in>.size)
        (address.sin_family, address.sin_addr.s_addr) = (sa_family_t(AF_INET), inet_addr(host))
        let raw = socket
        let isBound = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(raw, $0, size) == 0 && getsockname(raw, $0, &size) == 0 }
        }
        try #require(isBound)
        port = UInt16(bigEndian: address.sin_port)
    }

    deinit { close(socket) }

    /// - Returns: the status of the answer; nil: none came.
    @discardableResult
    func register(_ line: String, expires: Int = 3_600, contact: String? = nil, headers: String = "") -> Int? {
        let contact = contact ?? "<sip:\(line)@\(host):\(port)>"
        send("REGISTER", "sip:\(gateway)", to: "<sip:\(line)@\(gateway)>", "Contact: \(contact)\r\nExpires: \(expires)\r\n" + headers)
        return status()
    }

    private var sound: String {
        "v=0\r\no=- 1 1 IN IP4 \(host)\r\ns=-\r\nc=IN IP4 \(host)\r\nt=0 0\r\nm=audio \(port &+ 2) RTP/AVP 0\r\n"
    }

    private var soundHeaders: String { "Contact: <sip:x@\(host):\(port)>\r\nContent-Type: application/sdp\r\n" }

    /// Begins a call; the final answer's status, once it has come.
    func call(_ line: String) -> Int? {
        beginCall(line)
        while let status = status() { if status >= 200 { return status } }
        return nil
    }

    func beginCall(_ line: String) { send("INVITE", "sip:\(line)@\(gateway)", to: "<sip:\(line)@\(gateway)>", soundHeaders, sound) }

    /// Waits for the final answer to its call.
    func finalStatus(_ seconds: Int32) -> Int? {
        while let text = receive(seconds) {
            if text.hasPrefix("SIP/2.0 "), let status = Int(text.split(separator: " ")[1]), status >= 200 { return status }
        }
        return nil
    }

    /// Waits for a call to it, and rings; the branch of the INVITE.
    func rings(_ seconds: Int32) -> String? {
        while let (text, sender) = receiveFrom(seconds) {
            guard text.hasPrefix("INVITE ") else { continue }
            answer(text, "180 Ringing", tag: ";tag=b", soundHeaders, to: sender)
            return value(of: "Via", in: text).split(separator: ";").first { $0.hasPrefix("branch=") }.map(String.init)
        }
        return nil
    }

    /// Waits for the CANCEL of what rings, and agrees to it; nil: none came.
    func hearsCancel(_ seconds: Int32) -> String? { hears("CANCEL ", seconds) }

    /// Calls, and acknowledges the answer; false: nobody has taken the call.
    func connect(_ line: String) -> Bool {
        beginCall(line)
        while let text = receive(5) {
            guard text.hasPrefix("SIP/2.0 ") else { continue }
            guard text.hasPrefix("SIP/2.0 200 ") else { if text.hasPrefix("SIP/2.0 1") { continue } else { return false } }
            let target = value(of: "Contact", in: text).split { "<>".contains($0) }.first.map(String.init) ?? ""
            dialog = (target, value(of: "To", in: text))
            send("ACK", target, to: value(of: "To", in: text), "")
            return true
        }
        return false
    }

    /// Ends the call that it has made, over another gateway.
    func hangUp(over gateway: SocketAddress) {
        self.gateway = gateway
        hangUp()
    }

    /// Ends the call that it has made.
    func hangUp() {
        guard let dialog else { return }
        send("BYE", dialog.target, to: dialog.to, "")
    }

    private func value(of header: String, in text: String) -> String {
        let line = text.components(separatedBy: "\r\n").first { $0.hasPrefix(header + ": ") }
        return line.map { String($0.dropFirst(header.count + 2)) } ?? ""
    }

    private func send(_ method: String, _ target: String, to: String, _ headers: String, _ body: String = "") {
        if method != "ACK" { number += 1 }
        let branch = method == "ACK" ? "\(number)ack" : "\(number)", call = method == "REGISTER" ? method : "CALL"
        write(
            """
            \(method) \(target) SIP/2.0\r
            Via: SIP/2.0/UDP \(host):\(port);branch=z9hG4bK\(id)\(branch)\r
            From: <sip:bare@127.0.0.1>;tag=\(id)\r
            To: \(to)\r
            Call-ID: \(id)-\(call)\r
            CSeq: \(number) \(method)\r
            Max-Forwards: 70\r
            \(headers)Content-Length: \(body.utf8.count)\r
            \r
            \(body)
            """)
    }

    private func write(_ text: String) {
        var place = sockaddr_in()
        (place.sin_family, place.sin_port, place.sin_addr.s_addr) = (
            sa_family_t(AF_INET), gateway.port.bigEndian, UInt32(0x7F00_0001).bigEndian
        )
        let bytes = Array(text.utf8)
        _ = withUnsafePointer(to: &place) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                sendto(socket, bytes, bytes.count, 0, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
    }

    private func status() -> Int? {
        while let text = receive(5) {
            if text.hasPrefix("SIP/2.0 ") { return Int(text.split(separator: " ")[1]) }
        }
        return nil
    }

    /// Waits for a call to it, and is busy; false: none came.
    func hearsCall(_ seconds: Int32 = 5) -> Bool {
        while let (text, sender) = receiveFrom(seconds) {
            guard text.hasPrefix("INVITE ") else { continue }
            answer(text, "486 Busy Here", tag: ";tag=b", to: sender)
            return true
        }
        return false
    }

    /// Waits for a call to it, and takes it; false: none came.
    func answersCall(_ seconds: Int32 = 5) -> Bool {
        while let (text, sender) = receiveFrom(seconds) {
            guard text.hasPrefix("INVITE ") else { continue }
            answer(text, "200 OK", tag: ";tag=b", soundHeaders, sound, to: sender)
            return true
        }
        return false
    }

    /// Waits for an INVITE in its call, and takes it; nil: none came.
    func takesReinvite(_ seconds: Int32) -> String? {
        while let (text, sender) = receiveFrom(seconds) {
            guard text.hasPrefix("INVITE ") else { continue }
            answer(text, "200 OK", soundHeaders, sound, to: sender)
            return text
        }
        return nil
    }

    /// Waits for the end of its call, and agrees to it; nil: none came.
    func hearsBye(_ seconds: Int32) -> String? { hears("BYE ", seconds) }

    private func hears(_ method: String, _ seconds: Int32) -> String? {
        while let (text, sender) = receiveFrom(seconds) {
            guard text.hasPrefix(method) else { continue }
            answer(text, "200 OK", to: sender)
            return text
        }
        return nil
    }

    private func answer(
        _ request: String, _ status: String, tag: String = "", _ headers: String = "", _ body: String = "", to sender: sockaddr_in
    ) {
        let lines = request.components(separatedBy: "\r\n")
        let copied = lines.filter { line in ["Via:", "From:", "Call-ID:", "CSeq:"].contains(where: line.hasPrefix) }
        let to = lines.first { $0.hasPrefix("To:") } ?? "", head = ["SIP/2.0 \(status)"] + copied + [to + tag]
        let bytes = Array((head.joined(separator: "\r\n") + "\r\n\(headers)Content-Length: \(body.utf8.count)\r\n\r\n\(body)").utf8)
        var place = sender
        _ = withUnsafePointer(to: &place) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                sendto(socket, bytes, bytes.count, 0, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
    }

    private func receive(_ seconds: Int32) -> String? { receiveFrom(seconds)?.text }

    private func receiveFrom(_ seconds: Int32) -> (text: String, sender: sockaddr_in)? {
        var question = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
        guard poll(&question, 1, seconds * 1_000) == 1 else { return nil }
        var piece = [UInt8](repeating: 0, count: 65_536), sender = sockaddr_in(), size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let raw = socket
        let count = withUnsafeMutablePointer(to: &sender) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { recvfrom(raw, &piece, piece.count, 0, $0, &size) }
        }
        guard count > 0 else { return nil }
        return (String(decoding: piece[..<count], as: UTF8.self), sender)
    }
}
