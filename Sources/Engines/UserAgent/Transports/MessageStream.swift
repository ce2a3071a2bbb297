import Primitives
import Runtime
import SIP

/// One TCP or TLS connection as a stream of messages.
final class MessageStream {
    let flow: Flow
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
    /// Told as lost while it says its farewell: nothing is sent over it any more.
    var isLost = false
    private var framing: any MessageFraming

    var id: UInt64 { flow.connection }

    init(flow: Flow, connection: any StreamConnection, isAccepted: Bool, firstMessageBy deadline: Instant?) {
        (self.flow, self.connection, self.isAccepted, messageDeadline) = (flow, connection, isAccepted, deadline)
        framing = flow.transport.makeFraming()
        isConnected = isAccepted && !flow.transport.isSecure
    }

    /// Its TLS handshake is not done.
    var isShakingHands: Bool { flow.transport.isSecure && !isConnected }

    var deadline: Instant? {
        guard let connection = connection.deadline else { return nil }
        return min(connection, messageDeadline ?? .distantFuture, nextQuestion ?? .distantFuture)
    }

    /// - Parameter timeout: from the first byte of a message to its last, however slowly they drip in.
    func receive(_ bytes: [UInt8], at now: Instant, timeout: Duration) -> [StreamFramer.Output] {
        let outputs = framing.receive(bytes)
        if framing.pendingBytes == 0 {
            messageDeadline = nil
        } else if messageDeadline == nil || !outputs.isEmpty {
            messageDeadline = now + timeout
        }
        return outputs
    }

    /// A message, or a ping of ours.
    func send(_ message: [UInt8], at now: Instant) { connection.send(framing.frame(message), at: now) }

    /// Answers a ping of the peer.
    func answerPing(at now: Instant) { connection.send(framing.pong, at: now) }

    func giveUp(at now: Instant) {
        messageDeadline = nil
        connection.finish(at: now)
    }
}
