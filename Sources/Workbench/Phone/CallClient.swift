import Media
import Primitives
import SIP
import UserAgent

/// A telephone that makes one call and tells how it went: what `hookswitch call` runs.
///
/// Registers first where it is asked to, and takes the registration back at the end. Lives on one lane.
public final class CallClient: PhoneClient {
    public enum Event: Sendable {
        case registered(seconds: UInt32)
        case call(PhoneCall.Event)
        /// The last event; nil when no call was made, with the reason why.
        case finished(CallRecord?, failure: String?)
    }

    public let phone: Phone
    public let target: URI
    /// Hears of everything.
    public var onEvent: ((Event, Instant) -> Void)?
    public var onFinish: (() -> Void)?

    private let script: CallScript
    private let registers: Bool
    private let patience: Duration
    private var registration: Registration?
    private var outcome: (record: CallRecord?, failure: String?)?
    private var isFinished = false

    /// - Parameters:
    ///   - registers: whether to register the phone's identity before the call.
    ///   - patience: an unanswered call is cancelled after so long.
    public init(phone: Phone, target: URI, script: CallScript, registers: Bool = false, patience: Duration = .seconds(60)) {
        (self.phone, self.target, self.script, self.registers, self.patience) = (phone, target, script, registers, patience)
        phone.onEvent = { [unowned self] _, event, now in receive(event, at: now) }
    }

    public func start(at now: Instant) {
        guard registers else { return call(at: now) }
        registration = phone.register(at: now) { [unowned self] _, event, now in receive(event, at: now) }
    }

    /// Ends whatever is under way, in good order; `.finished` follows.
    public func stop(at now: Instant) {
        if phone.calls.isEmpty, outcome == nil { return conclude(nil, "hung up before the call", at: now) }
        for call in phone.calls.values { call.hangUp(at: now) }
    }

    private func call(at now: Instant) {
        do throws(MediaError) {
            try phone.call(target, script: script, patience: patience, at: now)
        } catch {
            conclude(nil, "no port for media: \(error)", at: now)
        }
    }

    private func receive(_ event: RegistrationEvent, at now: Instant) {
        switch event {
        case .registered(let seconds, _):
            onEvent?(.registered(seconds: seconds), now)
            if phone.calls.isEmpty, outcome == nil { call(at: now) }
        case .failed(let status, _, _):
            if phone.calls.isEmpty, outcome == nil { conclude(nil, "registration failed with \(status)", at: now) }
        case .unregistered: finish(at: now)
        }
    }

    private func receive(_ event: PhoneCall.Event, at now: Instant) {
        guard case .ended(let record) = event else {
            onEvent?(.call(event), now)
            return
        }
        conclude(record, nil, at: now)
    }

    private func conclude(_ record: CallRecord?, _ failure: String?, at now: Instant) {
        guard outcome == nil else { return }
        outcome = (record, failure)
        guard let registration, registration.isRegistered else { return finish(at: now) }
        registration.unregister(at: now)
    }

    private func finish(at now: Instant) {
        guard !isFinished, let outcome else { return }
        isFinished = true
        onEvent?(.finished(outcome.record, failure: outcome.failure), now)
        onFinish?()
    }
}
