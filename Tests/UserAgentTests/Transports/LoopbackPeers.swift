import Glibc
import Primitives
import Runtime
import SIP
import Testing

@testable import UserAgent

/// What came out of the transports, for a test to wait for.
enum Arrival: Sendable {
    case message([UInt8], Flow)
    case peerHalfClosed(Flow)
    case failed(Flow)
    case portUnreachable([UInt8])

    var text: String? { if case .message(let bytes, _) = self { String(decoding: bytes, as: UTF8.self) } else { nil } }
    var flow: Flow {
        switch self {
        case .message(_, let flow), .peerHalfClosed(let flow), .failed(let flow): flow
        case .portUnreachable: preconditionFailure("what came back has no flow")
        }
    }
    var portUnreachable: String? { if case .portUnreachable(let bytes) = self { String(decoding: bytes, as: UTF8.self) } else { nil } }
    var isFarewell: Bool { if case .peerHalfClosed = self { true } else { false } }
    var isFailure: Bool { if case .failed = self { true } else { false } }
}

/// An endpoint that notes what comes, and answers a message when it is told how.
final class NotingEndpoint: SignallingEndpoint {
    let transports: Transports
    private let note: AsyncStream<Arrival>.Continuation
    private var isSending = false
    /// Says nothing to who sends what cannot be read, or a ping and nothing else.
    var isSilent = false
    /// Something that came is still to be answered.
    var isOwing = false
    /// How long each message lay unread.
    private(set) var backlogs: [Duration] = []

    init(transports: Transports, note: AsyncStream<Arrival>.Continuation) { (self.transports, self.note) = (transports, note) }

    func send(_ bytes: [UInt8], over flow: Flow) {
        isSending = true
        transports.send(bytes, over: flow)
        isSending = false
    }

    func receive(_ bytes: [UInt8], over flow: Flow, at now: Instant) {
        backlogs.append(transports.backlog)
        note.yield(.message(bytes, flow))
    }

    func answersMalformed(over flow: Flow, at now: Instant) -> Bool { !isSilent }

    func owesAnswer(over flow: Flow) -> Bool { isOwing }

    func peerHalfClosed(_ flow: Flow, at now: Instant) { note.yield(.peerHalfClosed(flow)) }

    func answersPing(over flow: Flow, at now: Instant) -> Bool { !isSilent }

    func failed(_ flow: Flow, at now: Instant) {
        #expect(!isSending, "a failure is told later")
        note.yield(.failed(flow))
    }

    func portUnreachable(_ beginning: [UInt8], at now: Instant) { note.yield(.portUnreachable(beginning)) }
    func advance(to now: Instant) {}
    var deadline: Instant? { nil }
}

/// Transports on a lane of their own, listening on loopback.
struct Station {
    let lane: Lane<SignallingHost<NotingEndpoint>>
    let udp: SocketAddress
    let tcp: SocketAddress
    private let arrivals: AsyncStream<Arrival>

    init(_ address: IPAddress = .loopback, adjust: @Sendable (inout Transports.Configuration) -> Void = { _ in }) throws(SocketError) {
        let (stream, note) = AsyncStream<Arrival>.makeStream()
        arrivals = stream
        var configuration = Transports.Configuration(listeners: [
            .init(.udp, SocketAddress(address, port: 0)), .init(.tcp, SocketAddress(address, port: 0)),
        ])
        adjust(&configuration)
        lane = try Lane(label: "station") { [configuration] lane, _ throws(SocketError) in
            SignallingHost(transports: try Transports(configuration, on: lane)) { NotingEndpoint(transports: $0, note: note) }
        }
        let bound = lane.sync { host, _ in host.transports.listeners.map(\.address) }!
        (udp, tcp) = (bound[0], bound[1])
    }

    func next() async -> Arrival? {
        for await arrival in arrivals { return arrival }
        return nil
    }

    func send(_ text: String, over flow: Flow) { lane.sync { host, _ in host.endpoint.send(Array(text.utf8), over: flow) } }

    var counts: Transports.Counts { lane.sync { host, _ in host.transports.counts }! }

    func isConnected(_ flow: Flow) -> Bool { lane.sync { host, _ in host.transports.isConnected(flow) }! }

    func isOpen(_ flow: Flow) -> Bool { lane.sync { host, _ in host.transports.isOpen(flow) }! }

    func owe(_ isOwing: Bool) { lane.sync { host, _ in host.endpoint.isOwing = isOwing } }

    func carrier(of flow: Flow) -> UInt64 { lane.sync { host, _ in host.transports.carrier(of: flow) }! }

    /// The flow of a request that opens its own connection.
    func flow(to remote: SocketAddress, _ transport: Transport = .tcp) -> Flow {
        Flow(transport: transport, local: transport == .udp ? udp : tcp, remote: remote)
    }

    /// Lets the transports' clock run ahead.
    func wait(_ duration: Duration) { lane.sync { host, now in host.transports.advance(to: now + duration) } }
}

/// Transports on a lane of their own, listening on loopback for these, in their order.
struct ListeningStation {
    let lane: Lane<SignallingHost<NotingEndpoint>>
    let listeners: [Transports.Listener]
    private let arrivals: AsyncStream<Arrival>

    /// - Parameter own: the certificates of secure WebSockets; nil: those of TLS.
    init(
        _ transports: [Transport], _ contexts: TLSContexts? = nil, own: TLSContexts? = nil,
        adjust: @Sendable (inout Transports.Configuration) -> Void = { _ in }
    ) throws(SocketError) {
        let (stream, note) = AsyncStream<Arrival>.makeStream()
        arrivals = stream
        var configuration = Transports.Configuration(listeners: transports.map { .init($0, SocketAddress(.loopback, port: 0)) })
        adjust(&configuration)
        lane = try Lane(label: "listening") { [configuration] lane, _ throws(SocketError) in
            SignallingHost(transports: try Transports(configuration, tls: contexts, webSocketTLS: own, on: lane)) {
                NotingEndpoint(transports: $0, note: note)
            }
        }
        listeners = lane.sync { host, _ in host.transports.listeners }!
    }

    /// One that opens WebSockets.
    static func client(_ contexts: TLSContexts? = nil) throws(SocketError) -> Self {
        try Self([], contexts) { $0.opensWebSockets = true }
    }

    /// The first listener's.
    var address: SocketAddress { listeners[0].address }

    func next() async -> Arrival? {
        for await arrival in arrivals { return arrival }
        return nil
    }

    func send(_ text: String, over flow: Flow) { lane.sync { host, _ in host.endpoint.send(Array(text.utf8), over: flow) } }
    var counts: Transports.Counts { lane.sync { host, _ in host.transports.counts }! }
    func wait(_ duration: Duration) { lane.sync { host, now in host.transports.advance(to: now + duration) } }
    func close(_ flow: Flow) { lane.sync { host, _ in host.transports.close(flow) } }
    func connect(_ flow: Flow) -> Flow? { lane.sync { host, _ in host.transports.connect(flow) }! }
    func isOpen(_ flow: Flow) -> Bool { lane.sync { host, _ in host.transports.isOpen(flow) }! }

    /// The flow of a request that opens its own connection, of TLS to this name.
    func flow(to other: Self, _ name: Text = "gateway.example.test", over transport: Transport = .tls) -> Flow {
        Flow(
            transport: transport, local: listeners.first?.address ?? SocketAddress(.loopback, port: 0),
            remote: other.listeners.first { $0.transport == transport }!.address, peer: transport.isSecure ? name : .empty)
    }
}

/// A blocking socket on the test's own thread; a read that hangs is cut off by SO_RCVTIMEO and fails the test.
final class PlainPeer: Sendable {
    private let descriptor: FileDescriptorOwner
    let local: SocketAddress

    init(_ type: __socket_type, to remote: SocketAddress) throws {
        descriptor = FileDescriptorOwner(socket(remote.address.family.domain, Int32(type.rawValue), 0))
        let raw = descriptor.raw
        var timeout = timeval(tv_sec: 20, tv_usec: 0)
        setsockopt(raw, SOL_SOCKET, SO_RCVTIMEO, &timeout, socklen_t(MemoryLayout<timeval>.size))
        try #require(remote.withSockaddr { connect(raw, $0, $1) } == 0)
        let address = descriptor.localAddress
        local = try #require(address)
    }

    func write(_ text: String) { #expect(send(descriptor.raw, text, text.utf8.count, Int32(MSG_NOSIGNAL)) == text.utf8.count) }

    /// What one read gives; empty at the end of the stream.
    func read() -> String {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        let count = recv(descriptor.raw, &buffer, buffer.count, 0)
        #expect(count >= 0 || errno == ECONNRESET, "nothing came, and no end")
        return String(decoding: buffer[..<max(count, 0)], as: UTF8.self)
    }

    /// Everything until the end of the stream.
    func readAll() -> String {
        var all = ""
        while true {
            let part = read()
            if part.isEmpty { return all }
            all += part
        }
    }

    func finish() { shutdown(descriptor.raw, Int32(SHUT_WR)) }
}

/// Listens, accepts one, and reads; blocking.
final class PlainListener: Sendable {
    private let descriptor: FileDescriptorOwner
    let address: SocketAddress

    init() throws {
        descriptor = FileDescriptorOwner(socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0))
        let raw = descriptor.raw
        try #require(SocketAddress(.loopback, port: 0).withSockaddr { bind(raw, $0, $1) } == 0)
        try #require(listen(raw, 8) == 0)
        let local = descriptor.localAddress
        address = try #require(local)
    }

    /// The next connection, which lives as long as the body.
    func withNext<Result>(_ body: (_ write: (String) -> Void, _ read: () -> String) throws -> Result) rethrows -> Result {
        let connection = accept()
        return try body(connection.write, connection.read)
    }

    fileprivate func accept() -> Connection { Connection(descriptor: FileDescriptorOwner(Glibc.accept(descriptor.raw, nil, nil))) }

    fileprivate final class Connection {
        private let descriptor: FileDescriptorOwner
        init(descriptor: consuming FileDescriptorOwner) { self.descriptor = descriptor }

        func write(_ text: String) { #expect(send(descriptor.raw, text, text.utf8.count, Int32(MSG_NOSIGNAL)) == text.utf8.count) }

        func read() -> String {
            var buffer = [UInt8](repeating: 0, count: 65_536)
            return String(decoding: buffer[..<max(recv(descriptor.raw, &buffer, buffer.count, 0), 0)], as: UTF8.self)
        }
    }
}

extension PlainListener {
    func withNextAsync(_ body: (_ write: (String) -> Void, _ read: () -> String) async throws -> Void) async rethrows {
        let connection = accept()
        try await body(connection.write, connection.read)
    }
}

func request(_ number: Int, body: String = "") -> String {
    """
    OPTIONS sip:me@127.0.0.1 SIP/2.0\r
    Via: SIP/2.0/TCP 127.0.0.1;branch=z9hG4bK\(number);rport\r
    From: <sip:you@127.0.0.1>;tag=a\r
    To: <sip:me@127.0.0.1>\r
    Call-ID: call\(number)\r
    CSeq: \(number) OPTIONS\r
    Max-Forwards: 70\r
    Content-Length: \(body.utf8.count)\r
    \r
    \(body)
    """
}
