import Primitives
import SIP

/// The message that ends a call before its answer, and its way: the CANCEL of our INVITE, or the refusal of theirs.
///
/// The message is whole: another user agent can send it when the one that has the call has died.
public struct LastWord: Sendable, Equatable {
    /// One message, as it is sent.
    public var message: [UInt8]
    /// The way to whom it is for. What goes over a connection needs a new one.
    public var flow: Flow

    /// A message that was written down, and a way to where it goes.
    public init(message: [UInt8], flow: Flow) { (self.message, self.flow) = (message, flow) }
}

extension ClientTransaction {
    /// The CANCEL of this INVITE (RFC 3261 §9.1).
    func cancellation(_ reasons: [Reason]) -> Message {
        var cancel = UserAgent.sibling(of: request, method: .cancel, to: request.to)
        cancel.add(reasons)
        return cancel
    }
}
