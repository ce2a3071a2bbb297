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
final class DemoPhone<Client: PhoneClient>: Sendable {
    private let phone: LivePhone<Client>
    private let notes: DemoNotes

    fileprivate init(_ phone: LivePhone<Client>, _ notes: DemoNotes) { (self.phone, self.notes) = (phone, notes) }

    func stop() { phone.stop() }
    func post(_ work: @escaping @Sendable (Client, Instant) -> Void) { phone.post(work) }
    var record: CallRecord? { notes.value.withLock { $0.record } }
    var failure: String? { notes.value.withLock { $0.failure } }

    /// False when there was no registration in time.
    func waitUntilRegistered() -> Bool { notes.registered.wait(timeout: .now() + 5) == .success && notes.value.withLock { $0.failure } == nil }

    /// False when it is not over in time.
    func waitUntilOver(_ patience: Duration) -> Bool { notes.over.wait(timeout: .now() + .milliseconds(Int(patience.wholeMilliseconds))) == .success }

    func close() { phone.close() }
}

final class DemoNotes: Sendable {
    struct Value {
        var record: CallRecord?
        var failure: String?
    }

    let value = Mutex(Value())
    let registered = DispatchSemaphore(value: 0), over = DispatchSemaphore(value: 0)
}

extension DemoPhone where Client == CallClient {
    /// 1001 registers, and calls.
    static func caller(_ gateway: DemoGateway, _ settings: DemoSettings, source: MediaSource, _ teller: Teller) throws -> DemoPhone {
        let line = DemoGateway.lines[0], notes = DemoNotes(), target = URI(user: DemoGateway.lines[1].number, address: gateway.address)
        var script = CallScript()
        (script.source, script.duration) = (source, settings.duration)
        let made = script
        return try make(gateway, line: line, settings, notes) { phone in
            let client = CallClient(phone: phone, target: target, script: made, registers: true, patience: .seconds(10))
            client.onEvent = { event, _ in
                switch event {
                case .registered: teller.say("\(line.number) \(line.name) is registered, and calls 1002")
                case .call(.ringing): teller.say("\(line.number) hears ringing")
                case .call(.connected): teller.say("\(line.number) is connected: both speak for \(CallText.seconds(settings.duration))")
                case .call: break
                case .finished(let record, let failure):
                    notes.value.withLock { ($0.record, $0.failure) = (record, failure) }
                    notes.over.signal()
                }
            }
            return client
        }
    }
}

extension DemoPhone where Client == AnswerClient {
    /// 1002 registers, and answers one call.
    static func callee(_ gateway: DemoGateway, _ settings: DemoSettings, source: MediaSource, _ teller: Teller) throws -> DemoPhone {
        let line = DemoGateway.lines[1], notes = DemoNotes()
        var policy = AnswerPolicy()
        (policy.answersAfter, policy.totalCalls, policy.script.source) = (.milliseconds(300), 1, source)
        let made = policy
        return try make(gateway, line: line, settings, notes) { phone in
            let client = AnswerClient(phone: phone, policy: made, registers: true)
            client.onEvent = { event, _ in
                switch event {
                case .registered: notes.registered.signal()
                case .registrationFailed(let status, _):
                    notes.value.withLock { $0.failure = "the registration failed with \(status)" }
                    notes.registered.signal()
                case .call(_, .ringing): teller.say("\(line.number) \(line.name) rings")
                case .call(_, .ended(let record)): notes.value.withLock { $0.record = record }
                case .call: break
                case .finished: notes.over.signal()
                }
            }
            return client
        }
    }
}

extension DemoPhone {
    private static func make(
        _ gateway: DemoGateway, line: (number: Text, password: Text, name: Text), _ settings: DemoSettings, _ notes: DemoNotes,
        client: @escaping @Sendable (Phone) -> Client
    ) throws -> DemoPhone {
        var phone = LivePhoneSettings(user: line.number, server: gateway.address)
        (phone.displayName, phone.domain, phone.codecs) = (line.name, "demo.test", settings.codecs)
        phone.credentials = Credentials(username: line.number, password: line.password)
        phone.mediaPorts = try FreePorts.block(of: 8, .v4)
        do throws(LivePhoneError) { return DemoPhone(try LivePhone(phone, make: client), notes) } catch { throw Failure.cannotRun(error.description) }
    }
}
