import Media
import Primitives
import SIP
import UserAgent

/// What an `AnswerClient` does with a call that comes in.
public struct AnswerPolicy: Sendable {
    /// Rings so long, then answers; nil never answers.
    public var answersAfter: Duration? = .milliseconds(200)
    /// Refuses every call with this status instead.
    public var refusal: Int?
    /// Answers 486 to every so many-th call: 3 means the third, the sixth ...
    public var busyEvery: Int?
    /// Answers 486 while so many calls are there.
    public var maximumCalls = 8
    /// Ends after so many calls; nil goes on until it is told to stop.
    public var totalCalls: Int?
    public var script = CallScript()

    public init() {}
}

/// A telephone that answers: what `hookswitch answer` runs. Several calls at once; registers where it is asked to. Lives on one lane.
public final class AnswerClient: PhoneClient {
    public enum Event: Sendable {
        case registered(seconds: UInt32)
        /// It is tried again.
        case registrationFailed(status: Int, retryIn: Duration)
        case call(MediaLegID, PhoneCall.Event)
        /// The last event, after `totalCalls` or `stop`.
        case finished
    }

    public let phone: Phone
    /// Hears of everything.
    public var onEvent: ((Event, Instant) -> Void)?
    public var onFinish: (() -> Void)?

    private let policy: AnswerPolicy
    private let registers: Bool
    private var registration: Registration?
    private var callsSeen = 0
    private var isStopping = false
    private var isFinished = false

    public init(phone: Phone, policy: AnswerPolicy, registers: Bool = false) {
        (self.phone, self.policy, self.registers) = (phone, policy, registers)
        phone.onIncoming = { [unowned self] session, now in receive(session, at: now) }
        phone.onEvent = { [unowned self] call, event, now in receive(event, of: call, at: now) }
    }

    public func start(at now: Instant) {
        guard registers else { return }
        registration = phone.register(at: now) { [unowned self] _, event, now in receive(event, at: now) }
    }

    /// Ends its calls, unregisters, and is finished.
    public func stop(at now: Instant) {
        isStopping = true
        for call in phone.calls.values { call.hangUp(at: now) }
        leaveIfDone(at: now)
    }

    private func receive(_ session: InviteSession, at now: Instant) {
        callsSeen += 1
        let isBusy = policy.busyEvery.map { $0 > 0 && callsSeen % $0 == 0 } ?? false
        let isLate = isStopping || policy.totalCalls.map { callsSeen > $0 } ?? false
        if isLate {
            phone.refuse(session, status: 480, at: now)
        } else if let status = policy.refusal {
            phone.refuse(session, status: status, at: now)
        } else if isBusy || phone.calls.count >= policy.maximumCalls {
            phone.refuse(session, status: 486, at: now)
        } else {
            phone.ring(session, answeringAfter: policy.answersAfter, script: policy.script, at: now)
        }
    }

    private func receive(_ event: PhoneCall.Event, of call: PhoneCall, at now: Instant) {
        onEvent?(.call(call.leg, event), now)
        if case .ended = event { leaveIfDone(at: now) }
    }

    private func receive(_ event: RegistrationEvent, at now: Instant) {
        switch event {
        case .registered(let seconds, _): onEvent?(.registered(seconds: seconds), now)
        case .failed(let status, _, let retry):
            onEvent?(.registrationFailed(status: status, retryIn: retry), now)
            if isStopping { finish(at: now) }
        case .unregistered: finish(at: now)
        }
    }

    private func leaveIfDone(at now: Instant) {
        guard isStopping || policy.totalCalls.map({ callsSeen >= $0 }) ?? false, phone.calls.isEmpty, !isFinished else { return }
        isStopping = true
        guard let registration else { return finish(at: now) }
        registration.unregister(at: now)
    }

    private func finish(at now: Instant) {
        guard !isFinished else { return }
        isFinished = true
        onEvent?(.finished, now)
        onFinish?()
    }
}
