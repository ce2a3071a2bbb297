import HTTP
import Primitives
import Runtime
import SIP

/// One connection, over TCP or TLS, in WebSocket frames or without, as a stream of messages.
final class MessageStream {
    private(set) var flow: Flow
    /// The other end of the connection, which may be a proxy's.
    let source: IPAddress
    let connection: any StreamConnection
    let isAccepted: Bool
    /// The peer is there: its handshakes are done.
    var isConnected: Bool
    /// Something of ours went over it: who opened it knows that we are here.
    var hasSpoken = false
    /// The peer, by the host and port in its Via, to which requests go over this connection though the peer opened it (RFC 5923); nil:
    /// none.
    var alias: Transports.Peer?
    var alarm: (token: TimerToken, due: Instant)?
    /// When the message that is half here must be whole; of a connection that was accepted, also the first one that is not here at all.
    private(set) var messageDeadline: Instant?
    /// Its peer has said its last word, and waits for an answer: when to ask next whether there still is one to wait for.
    var nextQuestion: Instant?
    /// Requests of ours may still go over it: its peer has not said its last word.
    var takesRequests = true
    /// Its end was counted.
    var isEndCounted = false
    /// Told as lost while it says its farewell: nothing is sent over it any more.
    var isLost = false
    private var framing: any MessageFraming
    /// nil: none.
    let webSocket: WebSocketFraming?
    /// Asks the peer of a WebSocket whether it is there, from the end of the handshake on.
    var pulse: WebSocketPulse?

    var id: UInt64 { flow.connection }

    /// - Parameter webSocket: the framing of a WebSocket; nil: messages stand in the stream as they are.
    init(
        flow: Flow, connection: any StreamConnection, webSocket: WebSocketFraming?, isAccepted: Bool, firstMessageBy deadline: Instant?
    ) {
        (self.flow, self.connection, self.isAccepted, messageDeadline) = (flow, connection, isAccepted, deadline)
        source = flow.remote.address
        (self.webSocket, framing) = (webSocket, webSocket ?? StreamFramer())
        isConnected = isAccepted && !flow.transport.isSecure
    }

    /// A proxy told whom it speaks for.
    func speaks(for client: IPAddress) { flow.remote = SocketAddress(client, port: flow.remote.port) }

    /// Whether all handshakes are behind it, also that of a WebSocket.
    var hasStood: Bool { webSocket == nil ? isConnected : pulse != nil }

    /// Its TLS handshake is not done.
    var isShakingHands: Bool { flow.transport.isSecure && !isConnected }

    var deadline: Instant? {
        guard let connection = connection.deadline else { return nil }
        return min(connection, messageDeadline ?? .distantFuture, nextQuestion ?? .distantFuture, pulse?.deadline ?? .distantFuture)
    }

    /// - Parameter timeout: from the first byte of a message to its last, however slowly they drip in.
    func receive(_ bytes: [UInt8], at now: Instant, timeout: Duration) -> [StreamFramer.Output] {
        let outputs = framing.receive(bytes)
        if webSocket?.isOpen == true { hear(at: now) }
        if framing.pendingBytes == 0 {
            messageDeadline = nil
        } else if messageDeadline == nil || !outputs.isEmpty {
            messageDeadline = now + timeout
        }
        return outputs
    }

    private func hear(at now: Instant) {
        if pulse == nil { pulse = WebSocketPulse(at: now) } else { pulse?.hear(at: now) }
    }

    /// Begins the handshake of a WebSocket of ours.
    func greet(at now: Instant) { if let greeting = webSocket?.takeGreeting() { connection.send(greeting, at: now) } }

    /// Asks the peer of a WebSocket whether it is there; false: it is not.
    func askWebSocket(at now: Instant) -> Bool {
        switch pulse?.advance(to: now) {
        case nil: return true
        case .gone: return false
        case .ping:
            if let webSocket { connection.send(webSocket.ping(), at: now) }
            return true
        }
    }

    /// A message, or a ping of ours.
    func send(_ message: [UInt8], at now: Instant) { connection.send(framing.frame(message), at: now) }

    /// Bytes that are framed already.
    func reply(_ bytes: [UInt8], at now: Instant) { connection.send(bytes, at: now) }

    /// Answers a ping of the peer.
    func answerPing(at now: Instant) { connection.send(framing.pong, at: now) }

    func giveUp(at now: Instant) {
        messageDeadline = nil
        connection.finish(at: now)
    }
}
