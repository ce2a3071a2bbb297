import Primitives
import RTP
import SIP
import UserAgent

/// The part of the gateway that a leg sees. Lives on the signalling lane.
protocol LegContext: AnyObject {
    var shared: GatewayContext { get }
    /// The other legs, and the bridges.
    var table: CallTable { get }
    var policy: MediaPolicy { get }

    /// Sends the INVITE of an outgoing leg.
    func invite(from leg: Leg, to destination: Destination, offer: [UInt8]) -> InviteSession

    /// Groups a call with another one of its line. False: it cannot be.
    func group(_ leg: Leg, with other: Leg) -> Bool

    /// Takes a call out of its conversation. False: it cannot be.
    func part(_ leg: Leg) -> Bool

    /// Called in the moment in which it happens; returns when all is done that has to come before the leg's next step.
    func leg(_ leg: Leg, did event: LegEvent)
}

/// Events that a leg tells the gateway.
enum LegEvent {
    /// No media port was left for it, or those that it had are another program's.
    case hasNoPort(RateControl.Cause)
    /// A provisional response that may pass headers, and rings.
    case provisional(Message)
    /// The first of them, with its status.
    case startedRinging(Int)
    /// Its dialog is there, or its far end may be at another place; or a program has begun to speak.
    case dialogMoved
    /// A 2xx, a BYE or a provisional response may pass headers to the other end.
    case passedHeaders(Message)
    /// The far end of an outgoing leg answered, and our media is open.
    case connected
    /// Its media starts next.
    case startsMedia
    /// Nothing has come from the device that it calls.
    case silent
    /// Something came from one that was silent.
    case heard
    /// The device did not answer at all.
    case unreachable
    /// The device may be called over another of its flows.
    case flowFailed
    case transferRequested(TransferRequest)
    /// The far end pressed a key.
    case digit(DTMFDigit)
    /// The sound of its application is over.
    case sourceFinished
    /// A user of ours would hang up: the far end has been transferred.
    case wantsEnd(EndCause)
}
