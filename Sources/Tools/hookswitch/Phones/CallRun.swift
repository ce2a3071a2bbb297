import Dispatch
import Primitives
import Runtime
import SIP
import Synchronization
import Workbench

/// One call to be made.
struct CallPlan {
    var target: URI
    var settings: LivePhoneSettings
    var script: CallScript
    var sound: Sound
    var registers: Bool
    var timeout: Duration
    var recordings: CallRecordings?
}

struct CallOutcome {
    var result: CallResult
    var recordedIn: String?
    /// Another failure, with its exit code.
    var complaint: Failure?
}

/// A call of a telephone of our own, from the first packet to the verdict.
struct CallRun {
    private let plan: CallPlan
    private let reporter: ProgressReporter
    private let interface: PhoneInterface?
    private let ending = DispatchSemaphore(value: 0)
    private let story = Story()

    init(_ plan: CallPlan, reporter: ProgressReporter, interface: PhoneInterface? = nil) {
        (self.plan, self.reporter, self.interface) = (plan, reporter, interface)
    }

    /// Waits for the end of the call. SIGINT and SIGTERM hang up.
    func perform() throws -> CallOutcome {
        let signals = HangupSignals(reporter), phone = try start()
        defer { phone.close() }
        signals.whenAsked { phone.stop() }
        interface?.begin(phone, answers: false) { phone.stop() }
        ending.wait()
        withExtendedLifetime(signals) {}
        var outcome = story.told { record, failure, digitsAreSent in self.outcome(record, failure, digitsAreSent) }
        if let error = story.tlsFailure, outcome.result.status == nil {
            outcome.result.failure = "TLS: \(error)"
        }
        return outcome
    }

    private func start() throws -> LivePhone<LoadClient> {
        let (plan, reporter, story, ending, interface) = (plan, reporter, story, ending, interface)
        reporter.say("calling \(plan.target) as \(plan.settings.user)")
        var settings = plan.settings
        settings.onTLSFailure = { story.note($0) }
        let account = plan.registers ? LoadAccount(user: settings.user, credentials: settings.credentials) : nil
        do throws(LivePhoneError) {
            return try LivePhone(settings) { phone in
                let client = LoadClient(phone: phone, plan: .call(plan.target, plan.script, as: account, timeout: plan.timeout))
                interface?.attach(to: client)
                client.onEvent = { [unowned client] event, now in
                    interface?.lines.hear(event, of: client, at: now)
                    story.hear(event, at: now, recordings: plan.recordings, reporter: reporter)
                    if case .finished = event { ending.signal() }
                }
                return client
            }
        } catch { throw Failure.cannotRun(error.description) }
    }

    private func outcome(_ record: CallRecord?, _ failure: String?, _ digitsAreSent: Bool) -> CallOutcome {
        guard let record else {
            return CallOutcome(result: CallResult(notCalled: "\(plan.target)", failure: failure ?? "no call was made"))
        }
        var outcome = CallOutcome(result: record.judged(plan.sound))
        if let recordings = plan.recordings, record.answered != nil {
            if let error = recordings.finish(1) {
                outcome.result.failure = outcome.result.failure ?? error.description
                outcome.complaint = .cannotRun(error.description)
            } else {
                outcome.recordedIn = recordings.path(of: 1)
            }
        }
        if record.couldNotBind { outcome.complaint = .cannotRun(outcome.result.failure ?? "there is no media port") }
        if record.answered != nil, !plan.script.digits.isEmpty, !digitsAreSent {
            outcome.complaint =
                outcome.complaint
                ?? Failure.bad("the call ended before all keys were pressed, or the other side takes none")
        }
        return outcome
    }
}

/// The events of the call so far. Heard on the lane, read when the call is over.
private final class Story: Sendable {
    private struct State {
        var began: Instant?, connected: Instant?
        var digitsAreSent = false
        var record: CallRecord?, failure: String?, tlsFailure: TLSError?
    }

    private let state = Mutex(State())
    private let disk = DispatchQueue(label: "recording")

    func note(_ error: TLSError) { state.withLock { $0.tlsFailure = $0.tlsFailure ?? error } }
    var tlsFailure: TLSError? { state.withLock { $0.tlsFailure } }

    func hear(_ event: LoadClient.Event, at now: Instant, recordings: CallRecordings?, reporter: ProgressReporter) {
        switch event {
        case .registered(let seconds): reporter.say("registered for \(seconds) s")
        case .leg(_, .recorded(let samples, let rate)):
            disk.async { recordings?.append(samples, sampleRate: rate, of: 1) }
            guard let start = state.withLock({ $0.connected }) else { return }
            reporter.tick("talking for \((now - start).wholeMilliseconds / 1_000) s, \(CallText.level(of: samples))")
        case .leg(_, let step): hear(step, at: now, reporter)
        case .call(let call): state.withLock { $0.record = call.caller }
        case .finished(let failure): state.withLock { $0.failure = failure }
        case .began, .registrationFailed, .step: break
        }
    }

    private func hear(_ step: PhoneCall.Event, at now: Instant, _ reporter: ProgressReporter) {
        switch step {
        case .traced: state.withLock { $0.began = $0.began ?? now }
        case .ringing(let status): reporter.say("\(status == 180 ? "ringing" : "progress \(status)") after \(sinceBegin(now)) ms")
        case .connected:
            reporter.say("answered after \(sinceBegin(now)) ms")
            state.withLock { $0.connected = now }
        case .held: reporter.say("the other side holds the call")
        case .resumed: reporter.say("the other side is back")
        case .digit(let digit): reporter.say("heard key \(digit)")
        case .digitsSent:
            state.withLock { $0.digitsAreSent = true }
            reporter.say("all keys are pressed")
        case .answered, .mediaStarted, .mediaStopped, .holdChanged, .holdRefused, .transferProgress, .muted, .recorded, .ended: break
        }
    }

    private func sinceBegin(_ now: Instant) -> Int64 { Int64(state.withLock { now - ($0.began ?? now) }.wholeMilliseconds) }

    /// Makes the outcome of the call, when everything is on the disk.
    func told<Outcome>(_ make: (CallRecord?, String?, Bool) -> Outcome) -> Outcome {
        disk.sync {}
        let (record, failure, digitsAreSent) = state.withLock { ($0.record, $0.failure, $0.digitsAreSent) }
        return make(record, failure, digitsAreSent)
    }
}
