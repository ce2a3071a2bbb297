import Primitives
import SIP
import UserAgent

/// A call from outside that somebody is asked about, before anything rings.
public struct CallQuestion: Sendable {
    /// The Call-ID, From and To of its INVITE.
    public var callID: Text, from: Text, to: Text
    /// The number that was dialled, in our words.
    public var dialled: Text
    /// The number of the line of ours that calls, as it proved; nil for anybody else.
    public var callingLine: Text?
    /// The digits that its caller pressed in a menu of ours, where the call is up already; nil: nothing has answered.
    public var digits: Text?
    /// The number of the line of the trunk that it came from.
    public var trunk: Text?
    public var userAgent: Text?
    /// The address that the INVITE came from.
    public var source: SocketAddress
}

/// The decision on an incoming call.
public enum CallDecision: Equatable, Sendable {
    /// As the configuration has it.
    case asDialled
    /// As if this number had been dialled.
    case number(Text)
    /// 300–699.
    case refused(status: Int)
    /// Over the trunk of the line of this number, as dialled.
    case trunk(Text)
    /// These lines ring for the one that was dialled, whose call it is.
    case ring(RingGroup)
    /// This answers in the place of the line that was dialled, whose call it is.
    case application(LineEndpoint.Application)

    /// The endpoint for the call, in the place of its line's own; nil: the line's own.
    var endpoint: LineEndpoint? {
        switch self {
        case .asDialled, .number, .refused, .trunk: nil
        case .ring(let group): .group(group)
        case .application(let application): .application(application)
        }
    }
}

/// A decision, and how it came about.
public struct CallVerdict: Equatable, Sendable {
    public var decision: CallDecision
    /// Why nobody decided, and the default holds; nil: somebody did.
    public var defaultCause: Text?

    /// - Parameters:
    ///   - decision: what becomes of the call.
    ///   - defaultCause: nil: somebody decided.
    public init(_ decision: CallDecision, defaultCause: Text? = nil) { (self.decision, self.defaultCause) = (decision, defaultCause) }
}

/// Decides what becomes of each call from outside.
public protocol CallDecider: Sendable {
    /// Called on the signalling lane; must not block. `then` is to be called once, on any thread, before the caller has lost patience.
    func decide(_ question: CallQuestion, then: @escaping @Sendable (CallVerdict) -> Void)
}

extension CallQuestion {
    init(_ call: IncomingCall) {
        let invite = call.invite
        (callID, from, to) = (invite.callID.detached, invite.from.uri.text.detached, invite.to.uri.text.detached)
        (dialled, callingLine, digits) = (call.dialled, call.callingLine?.configuration.number, call.digits)
        trunk = call.trunk?.line
        (userAgent, source) = (invite.headers[.userAgent]?.detached, call.session.flow.remote)
    }
}

extension CallDecision {
    /// As the journal has it.
    var text: Text {
        switch self {
        case .asDialled: "as-dialled"
        case .number(let number): "number " + number
        case .refused(let status): "reject " + Text(status)
        case .trunk(let line): "trunk " + line
        case .ring(let group): "ring " + Text(group.members.map(\.number.description).joined(separator: ","))
        case .application(let application): "application " + Text(application.name)
        }
    }
}

/// Calls that wait for a decision from outside, by number. Lives on the signalling lane.
struct PendingDecisions {
    private var completions: [UInt64: (CallVerdict) -> Void] = [:]
    private var last: UInt64 = 0

    mutating func add(_ completion: @escaping (CallVerdict) -> Void) -> UInt64 {
        last += 1
        completions[last] = completion
        return last
    }

    mutating func take(_ number: UInt64) -> ((CallVerdict) -> Void)? { completions.removeValue(forKey: number) }
}
