import CallKit
import Foundation
import Media
import Primitives
import SIP
import UserAgent

// Actions from code of a line's user, or of the program that embeds the gateway.
extension Gateway {
    /// The lines, in the order in which they came; among them the one that answers feature codes, and those that the configuration has no
    /// more.
    var lines: [Line] { lineTable.all }

    /// The line of just this number; nil when there is none.
    func line(numbered number: Text) -> Line? { lineTable.line(numbered: number) }

    /// Ends every call, as a user would.
    public func endAll(_ cause: EndCause = .draining, at now: Instant) {
        enter(now)
        for leg in lines.flatMap(\.legsInOrder) where leg.state != .ended { end(leg, cause) }
        settle()
    }

    /// A user of the line hangs up. False when there is no such call.
    @discardableResult
    public func end(_ call: UUID, at now: Instant) -> Bool {
        enter(now)
        guard let leg = table.leg(call) else { return false }
        let wakeUps = ringing.wakeUps
        // One that waits for a device to wake is none of CallKit's yet.
        if wakeUps.isUnreported(call) { wakeUps.giveUp(call, "ended", as: .declined) } else { leg.line.calls.end(call) }
        settle()
        return true
    }

    /// The line's calls, the newest first; nil when there is no such line.
    public func recents(ofLine number: Text) -> [RecentCall]? { line(numbered: number)?.features.recents.calls }

    /// Starts a call to the other party of a recent one, as a tap on it does.
    @discardableResult
    public func callBack(_ recent: UUID, ofLine number: Text, at now: Instant) throws(CallRequestError) -> UUID {
        guard let line = line(numbered: number) else { throw .noLine }
        guard let call = line.features.recents[recent] else { throw .noRecentCall }
        return try start(CallRequest(handle: call.remote), ofLine: number, at: now)
    }

    /// Asks the far end of a call to call somebody else (REFER): in the place of another call of ours where `other` names one, which was
    /// made to consult (RFC 5589). The call ends as by a user when the far end did it.
    /// - Returns: false when there is no such call that is connected, or another transfer is under way.
    @discardableResult
    public func refer(_ call: UUID, to target: URI, replacing other: UUID? = nil, at now: Instant) -> Bool {
        enter(now)
        defer { settle() }
        return transfers.refer(call, to: target, replacing: other)
    }

    /// Starts a call of a line by URL, activity or handle. The line's devices ring; the UUID is that of the first.
    @discardableResult
    public func start(_ request: CallRequest, ofLine number: Text, at now: Instant) throws(CallRequestError) -> UUID {
        enter(now)
        let first = try ringing.originations.start(request, ofLine: number, isDraining: isDraining)
        settle()
        guard table.leg(first) != nil else { throw .noRoom }
        return first
    }

    // MARK: Services of lines

    /// False when there is no such line.
    @discardableResult
    public func setDoNotDisturb(_ isOn: Bool, ofLine number: Text, at now: Instant) -> Bool {
        enter(now)
        return line(numbered: number).map { services.setDoNotDisturb(isOn, of: $0) } != nil
    }

    /// Whether a call to the line would be turned away by Do Not Disturb now, VIPs aside; nil when there is no such line.
    public func isDoNotDisturbOn(ofLine number: Text, at now: Instant) -> Bool? {
        enter(now)
        return line(numbered: number)?.features.isDoNotDisturbOn
    }

    /// Puts a caller on the line's block list, or takes it off. False when there is no such line.
    @discardableResult
    public func setBlocked(_ isBlocked: Bool, caller handle: CXHandle, ofLine number: Text, at now: Instant) -> Bool {
        enter(now)
        return line(numbered: number).map { services.setBlocked(isBlocked, handle, of: $0) } != nil
    }

    /// Asks this of every call to the line that its block list let through; nil lets it in. nil takes the filter away.
    public func setFilter(_ filter: CallSystem.Filter?, ofLine number: Text) { line(numbered: number)?.features.filter = filter }

    // MARK: What other parts of the server have done

    /// A push was not taken. When none was of those whose devices still sleep, nobody will wake.
    public func pushFailed(_ cause: String, for push: PushMessage, at now: Instant) {
        enter(now)
        ringing.wakeUps.pushFailed(cause, for: push)
        settle()
    }

    /// A recording could not be written: its call goes on without it.
    public func recordingFailed(_ failure: RecordingWriter.Failure, at now: Instant) {
        enter(now)
        recorder.failed(failure)
        settle()
    }

    /// News of a message that is being written.
    public func receive(_ notice: MessageNotice, at now: Instant) {
        enter(now)
        if case .silent(let tap) = notice, let leg = recorder.leg(recordedBy: tap) { applications.fellSilent(leg) }
        recorder.mailboxes.receive(notice)
        settle()
    }

    /// Whether a ping over the flow is answered. A source without an answer over its connection has none to a ping, where unknown sources
    /// have none.
    public func answersPing(over flow: Flow, at now: Instant) -> Bool {
        enter(now)
        defer { settle() }
        return admission.answersPing(over: flow)
    }
}
