import Dispatch
import Media
import Primitives
import RTP
import SDP
import SIP
import Synchronization
import UserAgent
import Workbench

/// The evidence of one call of the probe.
struct ProbeEvidence: Sendable, Equatable {
    var number: String
    /// Nobody listens there, or no way leads there: in words.
    var unreachable: String?
    /// Any response came.
    var hasAnswer = false
    /// The final status of the INVITE; 0 where the gateway sent none.
    var status = 0
    /// Its 200 came when we had given the call up.
    var isLate = false
    /// Why an answered call has no media.
    var failure: String?
    /// The 200 came again and again: our ACK did not arrive.
    var repeatedAcceptances = 0
    /// In any way: it has arrived.
    var isByeAnswered = false
    /// A BYE of theirs waits for our ACK (RFC 3261 §15).
    var endedBy = CallEnder.us
    /// The addresses that the gateway gave as its own, in its Contact and in its SDP.
    var contact: SocketAddress?
    var media: SocketAddress?
    /// Media was open: what came then, or did not, says something of RTP.
    var hasMedia = false
    var sent: UInt64 = 0
    var received: UInt64 = 0
    /// Our own sound came back.
    var isOwnHeard = false
    /// The gateway reports, by RTCP, that ours arrives.
    var isOursReported = false

    /// There was a dialog, whatever became of its media.
    var isAccepted: Bool { (200..<300).contains(status) }
    var isConnected: Bool { isAccepted && hasMedia }

    /// Why it is not connected.
    var refusal: String {
        guard hasAnswer else { return "\(number) was not answered" }
        if isLate { return "\(number) was answered too late (--timeout)" }
        if status == 0 { return "\(number) was not answered in time (--timeout)" }
        return failure.map { "\(number): \($0)" } ?? "\(number) was answered \(status)"
    }
}

/// One call of three seconds, and what it shows.
struct ProbeCall {
    var number: String
    var server: SocketAddress
    var usesTCP: Bool
    var timeout: Duration
    var reporter: ProgressReporter

    /// SIGINT and SIGTERM hang up.
    /// - Throws: exit code 3 when it was stopped: what it would show then is nobody's fault.
    func evidence() throws -> ProbeEvidence {
        let ending = DispatchSemaphore(value: 0), shared = Shared(number, reporter), wasStopped = Mutex(false)
        let signals = HangupSignals(reporter, exitCodeAtOnce: 3), phone = try start(shared, ending)
        signals.whenAsked {
            wasStopped.withLock { $0 = true }
            phone.stop()
        }
        if ending.wait(timeout: .now() + .milliseconds(Int(timeout.wholeMilliseconds) + 40_000)) == .timedOut { phone.stop() }
        withExtendedLifetime(signals) {}
        phone.close()
        if wasStopped.withLock(\.self) { throw Failure.cannotRun("the probe was stopped") }
        return shared.told()
    }

    /// Heard on the lane, read when the call is over.
    private final class Shared: Sendable {
        private let state: Mutex<ProbeEvidence>
        private let record = Mutex<CallRecord?>(nil)
        private let number: String
        private let reporter: ProgressReporter

        init(_ number: String, _ reporter: ProgressReporter) {
            state = Mutex(ProbeEvidence(number: number))
            (self.number, self.reporter) = (number, reporter)
        }

        func hear(_ event: LoadClient.Event) {
            switch event {
            case .leg(_, .traced(.received, let message, let isRepeated)): state.withLock { Self.note(message, isRepeated, in: &$0) }
            case .leg(_, .traced(.sent, let message, retransmission: false)) where message.method == .cancel:
                reporter.say("\(number) is not answered: waiting for the end of its call")
            case .call(let call): self.record.withLock { $0 = call.caller }
            default: break
            }
        }

        private static func note(_ message: Message, _ isRepeated: Bool, in evidence: inout ProbeEvidence) {
            guard let status = message.status else { return }
            evidence.hasAnswer = true
            if message.method == .bye, status >= 200 { evidence.isByeAnswered = true }
            guard message.method == .invite, (200..<300).contains(status) else { return }
            if isRepeated { evidence.repeatedAcceptances += 1 }
            evidence.contact = message.contact.flatMap { contact in
                contact.uri.address.map { SocketAddress($0, port: contact.uri.port ?? 5060) }
            }
            guard let description = try? SessionDescription(parsing: message.body), let media = description.media.first else { return }
            evidence.media = (media.connection ?? description.connection)?.address.map { SocketAddress($0, port: media.port) }
        }

        func told() -> ProbeEvidence {
            var evidence = state.withLock { $0 }
            guard let record = record.withLock({ $0 }) else { return evidence }
            // A call that we have cancelled ends with a status that says nothing of its own, if with any.
            let isOurs = record.isUnheard || record.status == 487 && record.endedBy == .us
            (evidence.status, evidence.endedBy, evidence.failure) = (
                isOurs ? 0 : record.status, record.endedBy, record.failure.map { "\($0)" }
            )
            if record.isUnheard, record.status == 503 { evidence.unreachable = evidence.failure }
            evidence.isLate = evidence.isAccepted && record.answered == nil
            evidence.hasMedia = record.answered != nil && record.statistics != nil
            guard let statistics = record.statistics else { return evidence }
            (evidence.sent, evidence.received) = (statistics.sending.packets, statistics.receiving.packets)
            evidence.isOursReported = statistics.sending.lost.map { $0 < statistics.sending.packets } ?? false
            evidence.isOwnHeard = record.judged(.speech).verdict == .bothWays && record.judgedAsEcho
            return evidence
        }
    }

    private func start(_ shared: Shared, _ ending: DispatchSemaphore) throws -> LivePhone<LoadClient> {
        reporter.say("calling \(number)")
        var settings = LivePhoneSettings(user: "probe", server: server)
        (settings.transport, settings.codecs) = (usesTCP ? .tcp : .udp, [.pcmu, .pcma])
        settings.mediaPorts = try FreePorts.block(of: 8, server.address.family)
        let plan = (settings: settings, target: URI(user: Text(number), address: server), timeout: timeout)
        do throws(LivePhoneError) {
            return try LivePhone(settings) { phone in
                var script = CallScript()
                (script.source, script.expectation, script.duration) = (Sound.speech.source(repeats: true), .echo, .seconds(3))
                let client = LoadClient(phone: phone, plan: .call(plan.target, script, timeout: plan.timeout))
                client.onEvent = { event, _ in
                    shared.hear(event)
                    if case .finished = event { ending.signal() }
                }
                return client
            }
        } catch { throw Failure.cannotRun(error.description) }
    }
}

extension CallRecord {
    /// Whether the sound that came is the sound that we played.
    fileprivate var judgedAsEcho: Bool { (result().audio?.correlation ?? 0) >= 0.5 }
}
