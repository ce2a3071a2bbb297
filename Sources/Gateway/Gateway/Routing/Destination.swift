import Primitives
import SIP
import UserAgent

/// The target of an outgoing leg, and the caller that it is told.
struct Destination {
    var target: URI
    /// The callee, as the To header names it.
    var addressOfRecord: URI
    var flow: Flow
    var routes: [NameAddress] = []
    /// Further headers of the INVITE.
    var headers: [(HeaderName, Text)] = []
    var caller: CallerIdentity
    /// The caller's Max-Forwards, less one for each hop.
    var maxForwards = 70
    /// The line that is called, where the call that it is made for is one of another line.
    var line: Line?
    /// The number of the line whose device it is, registered with us.
    var device: Text?
    /// The instance identifier of that device (`+sip.instance`, RFC 5626), wherever it is.
    var instance: Text?
    /// When that device registered last.
    var registered: Instant?
    /// Nobody answered there last.
    var isSilent = false
    /// It is one of several flows that the device may keep to us.
    var outbound: Outbound?
    /// Other flows of that device, one of which is used where this one fails (RFC 5626 §7).
    var otherFlows: [Destination] = []
    /// The trunk whose server it is.
    var trunk: Trunk?
    /// Credentials for a trunk that challenges.
    var credentials: Credentials?
    var referral: Referral?
    /// The dialog of another gateway that goes on; nil: a new one is made.
    var adoption: Adoption?
    /// The gateway calls itself, as a device of one of its lines.
    var isToOurselves = false
    /// Further ways for when the first is not there, and the observer that is told of each.
    var alternatives: [NextHop] = []
    var onHop: ((Flow, Int?, Message?, Instant) -> Void)?

    enum Outbound {
        case living
        /// The connection is gone; another one may be taken at its address.
        case broken
    }

    /// A device that is rung, and that may not be there.
    var isDevice: Bool { device != nil && adoption == nil }
    /// The same call over the next flow of the device.
    var overNextFlow: Destination? {
        guard var next = otherFlows.first else { return nil }
        (next.caller, next.headers, next.referral, next.otherFlows) = (caller, headers, referral, Array(otherFlows.dropFirst()))
        next.line = line
        return next
    }
    /// The identity of a device among those of its line.
    var deviceName: Text { PushBinding.device(instance: instance, target) }
    /// As CallKit and the journal have it.
    var shownTarget: String { target.withoutPushParameters.text.description }
}

/// The REFER that asked for a call, and the trunk that it came from. An object: few calls have one, and it would be half of every
/// destination.
final class Referral {
    let refer: Message
    let trunk: Trunk?
    /// Whoever sent it does not want to be known.
    let isPrivate: Bool

    init(_ refer: Message, from trunk: Trunk?, isPrivate: Bool) { (self.refer, self.trunk, self.isPrivate) = (refer, trunk, isPrivate) }
}
