import Primitives
import SIP

/// Events of an `InviteSession`, in the order of the wire.
public enum SessionEvent {
    /// The direction of a message.
    public enum Direction: Hashable, Sendable { case received, sent }

    /// Every message of the session, before the event that it causes. Only the INVITE of an incoming session is not traced.
    /// `retransmission` marks what was sent or received before with the same bytes.
    case traced(Direction, Message, retransmission: Bool)

    // Callee
    /// The INVITE was cancelled; 200 (to the CANCEL) and 487 (to the INVITE) were sent. Or the time went by that it gave (Expires); 487 is
    /// sent after this event. The session is over.
    case cancelled([Reason])
    /// The ACK of our 2xx came, to the first INVITE or to a re-INVITE, or the PRACK of a provisional response that held our offer; `body`
    /// is the answer to that.
    case acknowledged(body: [UInt8]?)
    /// No ACK came for 64·T1. The session waits for `bye` (RFC 3261 §13.3.1.4); one that is queued is sent next.
    case acknowledgeTimeout

    /// No PRACK came for 64·T1: the INVITE is to be refused with 504 (RFC 3262 §3).
    case provisionalTimeout

    // Caller
    /// 101–199 to our INVITE. One that is reliable (`reliableSequence`) gets its PRACK after this event if the delegate does not call
    /// `acknowledgeProvisional` itself, as it must where the response holds an offer.
    case provisional(Message)
    /// The place is looked for that a 3xx to our INVITE names: the call goes on. Next comes another INVITE, `foundNobody`, or `rejected`
    /// after `cancel`.
    case looking(for: URI)
    /// Nobody is there: `rejected` follows, with the 3xx.
    case foundNobody
    /// The first 2xx to our INVITE, also after `cancel`. Call `acknowledge`; if it is not wanted any more, `bye` does both. Also that to the
    /// first request in a dialog that was adopted.
    case accepted(Message)
    /// Any other end of our INVITE. 408 with nil: nobody answered in time. 503 with nil: the transport failed. The session is over;
    /// one in a dialog that was adopted waits for `cancel` or `bye`.
    case rejected(status: Int, Message?)

    // Either
    /// BYE came and 200 was sent. The session is over.
    case ended([Reason], Message)
    /// A re-INVITE, UPDATE or PRACK with an offer to be answered with `session.answer`. Glare was dealt with below (491, 500).
    case offered(OfferRequest)
    /// That re-INVITE was cancelled by the peer or by the end of the session; 487 was sent, and an answer has no effect any more.
    case offerWithdrawn(OfferRequest)
    /// 2xx to our re-INVITE or UPDATE. A re-INVITE that carried no offer must be acknowledged with the answer now;
    /// one that did is acknowledged below after this event if the delegate did not do it.
    case reanswered(Message)
    /// Our re-INVITE or UPDATE failed, and the session is as it was before. After a status that `InviteSession.endsDialog` it is to be
    /// ended with `bye`. 491 is tried again below (`retryDue`); it is told here only when an offer of the peer came first (`offered`
    /// follows) or after several attempts.
    case refused(status: Int)
    /// Our re-INVITE or UPDATE that was refused with 491 goes out again now as it was, unless another is made at once: only what is still
    /// wanted may be tried again (RFC 3261 §14.1).
    case retryDue
    /// Our BYE is through: its final status, 408 when nobody answered, 503 when the transport failed. The session is over.
    case byeCompleted(status: Int)
    /// The session needs a refresh, and the peer allows no UPDATE: send a re-INVITE that changes nothing (RFC 4028 §7.4).
    case refreshDue
    /// Nobody refreshed the session in time: it is to be ended with `bye` (RFC 4028 §10).
    case expired
    /// A request of ours in the dialog that is neither offer nor BYE was answered 481 or 408, or not at all, or one that refreshes the
    /// session with a status that `InviteSession.endsDialog`: it is to be ended with `bye` (RFC 3261 §12.2.1.2).
    case dialogLost(status: Int)
    /// A REFER that waits for `accept` or `refuse`, now; else it is declined.
    case transferRequested(TransferRequest)
    /// Progress of the transfer that `refer` asked for. A status of 200 or more is the last: 2xx when the new call was answered, else the
    /// reason why it was not.
    case transferProgress(status: Int)
    /// An INFO that was answered 200.
    case info(Message)
}

/// A re-INVITE, UPDATE or PRACK of the peer that waits for its answer.
public struct OfferRequest: Sendable {
    /// The request, as it came.
    public let message: Message
    let transaction: ServerTransactionID

    /// The offer; nil in a re-INVITE that asks for one (the answer then comes with the ACK).
    public var body: [UInt8]? { message.body.isEmpty ? nil : message.body }
}

/// Hears of everything that happens to a session. Calling the session back from inside is allowed.
public protocol InviteSessionDelegate: AnyObject {
    /// Something happened, in the order of the wire. On the session's lane.
    func session(_ session: InviteSession, did event: SessionEvent, at now: Instant)
}
