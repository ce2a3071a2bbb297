import Foundation
import HTTP
import Primitives
import Runtime
import Streaming

/// The WebSocket to a program (RFC 6455), in the clear or over TLS, on the lane that made it: one that we open, from the first address that
/// answers to the last word, or one that the program has opened.
///
/// It keeps no timer: its owner calls `advance(to:)` when `deadline` has come.
final class ProgramSocket {
    enum Event {
        /// The handshake is taken.
        case opened
        case text([UInt8]), binary([UInt8])
        /// The last event; none comes after `close`.
        case ended(End)
    }

    enum End: Equatable {
        case unreachable, refused, tls, timeout, broken, stalled, protocolError
        case closed(WebSocketCloseCode)
    }

    /// The time until the handshake is taken, over all addresses.
    static let openingTimeout = Duration.seconds(8)
    /// The time for which a program may leave unread what waits for it.
    static let writeTimeout = Duration.seconds(10)
    /// Bytes that the kernel keeps for a program: what it does not read is noticed within seconds.
    private static let kernelBytes = 32_768
    /// The time from our last word to the program's.
    private static let closingTimeout = Duration.seconds(2)
    /// Bytes of one message.
    private static let longestMessage = 32 << 20

    private enum State { case connecting, opening, open, closing, over }

    /// All that a call of ours needs until it is taken.
    fileprivate struct Dialling {
        let place: StreamSettings.Place
        let headers: [StreamHeader]
        let trust: TLSContexts
        var rest: ArraySlice<SocketAddress>
        var reader = HTTPResponseReader(to: .get)
        let opening: WebSocketOpening
    }

    private unowned let lane: any LaneDoor
    private let receive: (Event, Instant) -> Void
    private var state: State
    /// nil: the program has called.
    private var dialling: Dialling?
    private var connection: (any StreamConnection)?
    /// Bytes that came before the connection was ours.
    private var early: [UInt8] = []
    private let session: WebSocketSession
    private var pulse: WebSocketPulse
    /// By when the handshake is taken, or the program has said its last word.
    private var limit: Instant

    /// One of ours.
    init(
        to place: StreamSettings.Place, at addresses: [SocketAddress], headers: [StreamHeader], trusting trust: TLSContexts,
        on lane: any LaneDoor, at now: Instant, receive: @escaping (Event, Instant) -> Void
    ) {
        (self.lane, self.receive, state) = (lane, receive, .connecting)
        var random = SystemRandom()
        session = WebSocketSession(client: Self.limits, random: random)
        let key = (0..<16).map { _ in UInt8.random(in: 0...255, using: &random) },
            opening = WebSocketOpening(key: String(decoding: Base64.encode(key), as: UTF8.self))
        dialling = Dialling(place: place, headers: headers, trust: trust, rest: addresses[...], opening: opening)
        (pulse, limit) = (WebSocketPulse(at: now), now + Self.openingTimeout)
    }

    /// One that the program has opened, and that was answered with 101.
    init(
        taking released: ReleasedConnection, on lane: any LaneDoor, at now: Instant, receive: @escaping (Event, Instant) -> Void
    ) {
        (self.lane, self.receive, state) = (lane, receive, .open)
        session = WebSocketSession(server: Self.limits)
        (connection, early) = (released.connection, released.early)
        (pulse, limit) = (WebSocketPulse(at: now), now)
    }

    private static let limits: WebSocketSession.Limits = {
        var limits = WebSocketSession.Limits()
        limits.message = longestMessage
        return limits
    }()

    /// Calls the first address, or goes on with the connection that it has; once only, at first.
    func begin(at now: Instant) {
        guard dialling == nil else { return callNext(at: now) }
        connection?.adopt(on: lane, at: now) { [weak self] in self?.note($0, at: $1) }
        receive(.opened, now)
        let bytes = early
        early = []
        if state == .open, !bytes.isEmpty { readMessages(bytes, at: now) }
    }

    var isOver: Bool { state == .over }
    /// Bytes that wait for the program.
    var unsentCount: Int { connection?.unsentCount ?? 0 }

    var deadline: Instant? {
        switch state {
        case .over: nil
        case .open: min(connection?.deadline ?? .distantFuture, pulse.deadline)
        case .connecting, .opening, .closing: min(connection?.deadline ?? .distantFuture, limit)
        }
    }

    func advance(to now: Instant) {
        switch state {
        case .over: return
        case .connecting, .opening: if limit <= now { return end(.timeout, at: now) }
        case .closing: if limit <= now { return drop() }
        case .open:
            switch pulse.advance(to: now) {
            case nil: break
            case .ping:
                session.ping()
                flush(at: now)
            case .gone: return end(.broken, at: now)
            }
        }
        connection?.advance(to: now)
    }

    /// Sends a message, once it is open.
    func send(text bytes: [UInt8], at now: Instant) {
        guard state == .open else { return }
        session.send(text: bytes)
        flush(at: now)
    }

    /// Sends a message, once it is open.
    func send(binary bytes: [UInt8], at now: Instant) {
        guard state == .open else { return }
        session.send(binary: bytes)
        flush(at: now)
    }

    /// Says the last word, behind what was sent. No event follows.
    func close(at now: Instant) {
        guard state == .open else { return drop() }
        session.close(.normal)
        (state, limit) = (.closing, now + Self.closingTimeout)
        flush(at: now)
    }

    // MARK: The connection

    private func callNext(at now: Instant) {
        guard let address = dialling?.rest.popFirst() else { return end(.unreachable, at: now) }
        var limits = TCPConnection.Limits()
        (limits.writeTimeout, limits.kernelBytes) = (Self.writeTimeout, Self.kernelBytes)
        connection?.close()
        do throws(SocketError) { connection = try connect(to: address, limits, at: now) } catch { callNext(at: now) }
    }

    private func connect(
        to address: SocketAddress, _ limits: TCPConnection.Limits, at now: Instant
    ) throws(SocketError) -> any StreamConnection {
        guard let dialling, dialling.place.isSecure else {
            return try TCPConnection(to: address, limits: limits, on: lane, at: now) { [weak self] in self?.note($1, at: $2) }
        }
        return try TLSConnection(
            to: address, from: nil, session: dialling.trust.connect(to: dialling.place.host, naming: .web), limits: limits, on: lane,
            at: now
        ) { [weak self] in self?.note($1, at: $2) }
    }

    private func note(_ event: TCPConnection.Event, at now: Instant) {
        switch event {
        case .connected:
            state = .opening
            if let dialling { connection?.send(dialling.request, at: now) }
        case .received(let bytes): received(bytes, at: now)
        case .peerHalfClosed: state == .closing ? drop() : end(state == .open ? .broken : .refused, at: now)
        case .ended(.connectFailed): callNext(at: now)
        case .ended(.tls): end(.tls, at: now)
        case .ended(.stalled): end(.stalled, at: now)
        case .ended: end(state == .open ? .broken : .unreachable, at: now)
        }
    }

    private func received(_ bytes: [UInt8], at now: Instant) {
        guard state == .opening, dialling != nil else { return readMessages(bytes, at: now) }
        dialling?.reader.receive(bytes)
        guard let output = dialling?.reader.next() else { return }
        guard case .head(let head) = output, dialling?.opening.isAccepted(head, hash: Self.hash) == true else {
            return end(.refused, at: now)
        }
        state = .open
        pulse.hear(at: now)
        receive(.opened, now)
        let early = dialling?.reader.takeRest() ?? []
        dialling = nil
        if !early.isEmpty { readMessages(early, at: now) }
    }

    private static func hash(_ bytes: [UInt8]) -> String { Data(OpenSSLDigest.hash(.sha1, bytes)).base64EncodedString() }

    private func readMessages(_ bytes: [UInt8], at now: Instant) {
        pulse.hear(at: now)
        for event in session.receive(bytes) where state != .over {
            switch event {
            case .text(let text): if state == .open { receive(.text(text), now) }
            case .binary(let bytes): if state == .open { receive(.binary(bytes), now) }
            case .ping, .pong: break
            case .closed(let code):
                flush(at: now)
                end(.closed(code), at: now)
            case .failed:
                flush(at: now)
                end(.protocolError, at: now)
            }
        }
        flush(at: now)
    }

    private func flush(at now: Instant) {
        let bytes = session.takeOutput()
        if !bytes.isEmpty { connection?.send(bytes, at: now) }
    }

    /// Tells it, unless the last word was ours.
    private func end(_ end: End, at now: Instant) {
        guard state != .over else { return }
        let isTold = state != .closing
        state = .over
        connection?.finish(at: now)
        if isTold { receive(.ended(end), now) }
    }

    private func drop() {
        state = .over
        connection?.close()
    }
}

extension ProgramSocket.Dialling {
    fileprivate var request: [UInt8] {
        let usual = place.port == (place.isSecure ? 443 : 80), host = place.host.contains(":") ? "[\(place.host)]" : place.host
        var text = "GET \(place.target) HTTP/1.1\r\nHost: \(host)\(usual ? "" : ":\(place.port)")\r\nUser-Agent: Hookswitch\r\n"
        for field in opening.fields { text += "\(field.name): \(field.value)\r\n" }
        for header in headers { text += "\(header.name): \(header.value)\r\n" }
        return Array((text + "\r\n").utf8)
    }
}
