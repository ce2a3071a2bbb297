import Primitives
import RTP
import SIP
import UserAgent

/// What keeps flows open, theirs and ours (RFC 5626 §3.5, §5.4, §8).
extension Gateway {
    /// A CRLF that answers ours, or STUN beside SIP on a UDP port. True when it was one of them, and is dealt with.
    func receiveKeepAlive(_ bytes: [UInt8], over flow: Flow) -> Bool {
        if flow.transport.isReliable {
            guard bytes == StreamFramer.pong else { return false }
        } else {
            guard STUNBinding.begins(bytes) else { return false }
            if answerBinding(bytes, over: flow) { return true }
        }
        for trunk in trunksInOrder where trunk.receiveKeepAlive(bytes, over: flow, at: now) { break }
        return true
    }

    /// True for a binding request, answered or not: strangers and floods get the answer that they get to other requests.
    private func answerBinding(_ bytes: [UInt8], over flow: Flow) -> Bool {
        guard let message = try? STUNMessage(parsing: bytes), let answer = STUNBinding.answer(to: message, from: flow.remote) else {
            return false
        }
        if isKnown(flow) || !ignores(flow) && admitsAnother(from: flow) { network.send(answer, over: flow) }
        return true
    }

    /// Nothing comes over it any more: what waits there fails, and what was registered over it is registered anew.
    func giveUp(_ flow: Flow) {
        if flow.transport.isReliable { network.close(flow) } else { userAgent.failed(flow, at: now) }
    }
}
