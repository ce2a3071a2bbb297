import Dispatch
import Primitives

/// A call that is over, in words for a log.
public struct CallSummary: Sendable {
    /// The UUID of its first leg.
    public var call: CallUUID
    /// The Call-ID of its INVITE; nil where no INVITE is known.
    public var callID: Text?
    /// As the INVITE names them, as URIs.
    public var from: Text?, to: Text?
    /// The outcome of the call.
    public var disposition: CallDisposition
    /// nil where none was sent.
    public var status: Int?
    /// From the answer to the end; nil without an answer.
    public var length: Duration?
    /// The party that ended it, or the cause of the failure.
    public var reason: String

    init(_ record: CallDetailRecord) {
        (call, callID, from, to) = (record.first.call, record.first.callID, record.first.from, record.to)
        (disposition, status, length, reason) = (record.disposition, record.status, record.length, record.reason)
    }
}

/// The outcome of a REGISTER, or the end of a registration, in words for a log.
public struct RegistrationSummary: Sendable {
    /// Accepted, removed, refused or expired.
    public enum Outcome: Sendable {
        /// - Parameter expires: seconds.
        case accepted(expires: Int64, contacts: Int64)
        /// Taken back.
        case removed(contacts: Int64)
        case refused(status: Int64, reason: Text)
        /// Not renewed in time.
        case expired(contacts: Int64)
        /// The connection that alone led to a device ended.
        case lost(contacts: Int64)
    }

    /// The user part of the address-of-record.
    public var user: Text
    /// Accepted, removed, refused or expired.
    public var outcome: Outcome
    /// nil where nobody sent anything.
    public var transport: Text?, remote: Text?, agent: Text?

    /// nil for an event of another kind.
    init?(_ event: borrowing JournalEvent) {
        let details = event.details, contacts = details.number(.count) ?? 0, expires = details.number(.expires) ?? 0
        switch event.kind {
        case .registerAccepted: outcome = expires > 0 ? .accepted(expires: expires, contacts: contacts) : .removed(contacts: contacts)
        case .registerRefused: outcome = .refused(status: details.number(.status) ?? 0, reason: details.text(.reason)?.detached ?? .empty)
        case .registerExpired: outcome = details.text(.reason) == nil ? .expired(contacts: contacts) : .lost(contacts: contacts)
        default: return nil
        }
        user = details.text(.user)?.detached ?? .empty
        (transport, remote) = (details.text(.transport)?.detached, details.text(.remote)?.detached)
        agent = details.text(.agent)?.detached
    }
}

/// Tells of each call when it is over, and of each registration, from what the journal gets. Lives on the signalling lane.
///
/// Calls are gathered for a moment before they are told of: to look for those that are over means to look at all.
final class CallTeller {
    static let gathering = DispatchTimeInterval.milliseconds(200)
    /// The time that an INVITE without a password waits for the one with it, before it is a call that was refused.
    private static let challengeTime: UInt64 = 5_000_000_000
    private static let lingerTime = Duration.seconds(40)

    private let notice: @Sendable (GatewayServer.Notice) -> Void
    private let callLater: () -> Void
    private var history = CallHistory(lingerTime: CallTeller.lingerTime)
    private var isDue = false

    /// - Parameter callLater: has `tell` called after the gathering.
    init(_ notice: @escaping @Sendable (GatewayServer.Notice) -> Void, callLater: @escaping () -> Void) {
        (self.notice, self.callLater) = (notice, callLater)
    }

    func note(_ event: borrowing JournalEvent) {
        history.note(event)
        if event.kind.isOfRegistration, let registration = RegistrationSummary(event) { notice(.registration(registration)) }
        if event.kind.mayEndCall { tellLater() }
    }

    /// Tells of the calls that are over.
    /// - Parameter wall: the time, in nanoseconds since 1970.
    func tell(at wall: UInt64) {
        isDue = false
        for record in history.takeFinished(challengedBefore: wall - min(wall, Self.challengeTime)) { notice(.call(CallSummary(record))) }
        if history.hasOpenChallenge { tellLater() }
    }

    private func tellLater() {
        guard !isDue else { return }
        isDue = true
        callLater()
    }
}

extension JournalEvent.Kind {
    fileprivate var isOfRegistration: Bool { self == .registerAccepted || self == .registerRefused || self == .registerExpired }

    fileprivate var mayEndCall: Bool {
        self == .callEnded || self == .callRefused || self == .pushUnreported || self == .reportIncomingRefused
    }
}
