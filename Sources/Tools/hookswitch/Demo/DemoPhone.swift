import Dispatch
import Gateway
import Media
import Primitives
import Runtime
import SDP
import SIP
import Synchronization
import UserAgent
import Workbench

/// One of the demo's two telephones, and what it has to tell.
final class DemoPhone: Sendable {
    private let phone: LivePhone<LoadClient>
    private let notes: DemoNotes

    fileprivate init(_ phone: LivePhone<LoadClient>, _ notes: DemoNotes) { (self.phone, self.notes) = (phone, notes) }

    func stop() { phone.stop() }
    func post(_ work: @escaping @Sendable (LoadClient, Instant) -> Void) { phone.post(work) }
    var record: CallRecord? { notes.value.withLock { $0.record } }
    var failure: String? { notes.value.withLock { $0.failure } }

    /// False when there was no registration in time.
    func waitUntilRegistered() -> Bool {
        notes.registered.wait(timeout: .now() + 5) == .success && notes.value.withLock { $0.failure } == nil
    }

    /// False when it is not over in time.
    func waitUntilOver(_ timeout: Duration) -> Bool {
        notes.over.wait(timeout: .now() + .milliseconds(Int(timeout.wholeMilliseconds))) == .success
    }

    func close() { phone.close() }
}

/// The telephones of a demo, for whoever stops it. Thread-safe.
final class DemoPhones: Sendable {
    private struct State {
        var phones: [DemoPhone] = []
        var areStopped = false
    }

    private let state = Mutex(State())

    var areStopped: Bool { state.withLock(\.areStopped) }

    /// One that comes after the stop is stopped at once.
    func add(_ phone: DemoPhone) {
        let isLate = state.withLock { state in
            state.phones.append(phone)
            return state.areStopped
        }
        if isLate { phone.stop() }
    }

    func stop() {
        let phones = state.withLock { state in
            state.areStopped = true
            return state.phones
        }
        for phone in phones { phone.stop() }
    }
}

final class DemoNotes: Sendable {
    struct Value {
        var record: CallRecord?
        var failure: String?
    }

    let value = Mutex(Value())
    let registered = DispatchSemaphore(value: 0), over = DispatchSemaphore(value: 0)
}

extension DemoPhone {
    /// 1001 registers, and calls.
    static func caller(_ gateway: DemoGateway, _ settings: DemoSettings, source: MediaSource, _ reporter: ProgressReporter) throws
        -> DemoPhone
    {
        let line = DemoGateway.lines[0], target = URI(user: DemoGateway.lines[1].number, address: gateway.address)
        var script = CallScript()
        (script.source, script.duration) = (source, settings.duration)
        return try make(gateway, line, settings, .call(target, script, as: account(of: line), timeout: .seconds(10))) { event, notes in
            switch event {
            case .registered: reporter.say("\(line.number) \(line.name) is registered, and calls 1002")
            case .leg(_, .ringing): reporter.say("\(line.number) hears ringing")
            case .leg(_, .connected): reporter.say("\(line.number) is connected: both speak for \(CallText.seconds(settings.duration))")
            case .call(let call): notes.value.withLock { $0.record = call.caller }
            case .finished(let failure):
                notes.value.withLock { $0.failure = failure }
                notes.over.signal()
            case .began, .registrationFailed, .leg, .step: break
            }
        }
    }

    /// 1002 registers, and answers one call.
    static func callee(_ gateway: DemoGateway, _ settings: DemoSettings, source: MediaSource, _ reporter: ProgressReporter) throws
        -> DemoPhone
    {
        let line = DemoGateway.lines[1]
        var policy = AnswerPolicy()
        (policy.answersAfter, policy.totalCalls, policy.script.source) = (settings.answersAfter, 1, source)
        return try make(gateway, line, settings, .answering(policy, as: account(of: line))) { event, notes in
            switch event {
            case .registered: notes.registered.signal()
            case .registrationFailed(let failure, _):
                notes.value.withLock { $0.failure = "the registration failed\(failure.suffix)" }
                notes.registered.signal()
            case .leg(_, .ringing): reporter.say("\(line.number) \(line.name) rings")
            case .leg(_, .ended(let record)): notes.value.withLock { $0.record = record }
            case .finished:
                notes.registered.signal()
                notes.over.signal()
            case .began, .call, .leg, .step: break
            }
        }
    }

    private static func account(of line: (number: Text, password: Text, name: Text)) -> LoadAccount {
        LoadAccount(user: line.number, credentials: Credentials(username: line.number, password: line.password))
    }

    private static func make(
        _ gateway: DemoGateway, _ line: (number: Text, password: Text, name: Text), _ settings: DemoSettings, _ plan: LoadPlan,
        hear: @escaping @Sendable (LoadClient.Event, DemoNotes) -> Void
    ) throws -> DemoPhone {
        let notes = DemoNotes()
        var phone = LivePhoneSettings(user: line.number, server: gateway.address)
        (phone.displayName, phone.domain, phone.codecs) = (line.name, "demo.test", settings.codecs)
        phone.mediaPorts = try FreePorts.block(of: 8, .v4)
        do throws(LivePhoneError) {
            let made = try LivePhone(phone) { phone in
                let client = LoadClient(phone: phone, plan: plan)
                client.onEvent = { event, _ in hear(event, notes) }
                return client
            }
            return DemoPhone(made, notes)
        } catch { throw Failure.cannotRun(error.description) }
    }
}
