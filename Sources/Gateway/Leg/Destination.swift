import Primitives
import SIP
import UserAgent

/// Where an outgoing leg calls, and as whom.
struct Destination {
    var target: URI
    /// Whom the call is for, as the To header says.
    var addressOfRecord: URI
    var flow: Flow
    var routes: [NameAddress] = []
    /// A device that registered with us.
    var isDevice = false
    /// Further headers of the INVITE.
    var headers: [(HeaderName, Text)] = []
    var caller: CallerIdentity
    /// What is left of the caller's Max-Forwards.
    var maxForwards = 70
    /// Who we are to a trunk that asks.
    var credentials: Credentials?
    /// The gateway calls itself, as a device of one of its lines.
    var isToOurselves = false
}

/// Whom a call is from, as the called side is told.
struct CallerIdentity: Equatable {
    var user: Text?
    var host: Text
    var displayName: Text?
    /// It comes from a trusted source, or proved to be a line of ours.
    var isKnown = false
    /// It does not want those that it calls to know (RFC 3323, RFC 3325).
    var isPrivate = false
}
