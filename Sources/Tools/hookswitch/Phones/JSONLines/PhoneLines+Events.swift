import Media
import Primitives
import RTP
import Runtime
import SIP
import UserAgent
import Workbench

// Lines of what the client tells. On its lane.
extension PhoneLines {
    func hear(_ event: LoadClient.Event, of client: LoadClient, at now: Instant) {
        switch event {
        case .registered(let seconds): tell(.registered, at: now) { $0.seconds = Int64(seconds) }
        case .registrationFailed(let failure, let retry):
            tell(.registrationFailed, at: now) { line in
                (line.status, line.failure) = (failure.status, failure.words.map { "\($0)" })
                line.seconds = Int64(retry.wholeMilliseconds) / 1_000
            }
        case .leg(let leg, let event): hear(event, of: leg.rawValue, client.phone.calls[leg], at: now)
        case .began, .call, .step, .finished: break
        }
    }

    /// A text that came outside of every call, or in one.
    func hear(_ message: Message, of client: LoadClient, at now: Instant) {
        let call = client.phone.calls.first { $0.value.session?.callID == message.callID && $0.value.session?.localTag == message.to.tag }
        tell(.message, of: call?.key.rawValue, at: now) {
            ($0.from, $0.text) = ("\(message.from.uri)", String(decoding: message.body, as: UTF8.self))
            $0.contentType = message.headers[.contentType].map { "\($0)" }
        }
    }

    private func hear(_ event: PhoneCall.Event, of number: UInt64, _ call: PhoneCall?, at now: Instant) {
        if let call { begin(call, number, event, at: now) }
        switch event {
        case .ringing(let status): tell(.ringing, of: number, at: now) { $0.status = status }
        case .answered(let codec, let encryption, let local, let remote):
            tell(.answered, of: number, at: now) {
                ($0.codec, $0.encryption, $0.local, $0.remote) = ("\(codec)", encryption.rawValue, "\(local)", "\(remote)")
            }
        case .mediaStarted: tell(.mediaStarted, of: number, at: now)
        case .mediaStopped(let interval): tell(.mediaStopped, of: number, at: now) { $0.packets = StreamFigures(interval) }
        case .digit(let digit): tell(.digit, of: number, at: now) { $0.digit = String(digit.character) }
        case .digitsSent: tell(.digitsSent, of: number, at: now)
        case .held: tell(.remoteHold, of: number, at: now)
        case .resumed: tell(.remoteResume, of: number, at: now)
        case .holdChanged(let isHolding): tell(isHolding ? .holdDone : .resumeDone, of: number, at: now)
        case .holdRefused(let status):
            tell(call?.isHolding == true ? .resumeFailed : .holdFailed, of: number, at: now) { $0.status = status }
        case .transferProgress(let status):
            let event: PhoneLine.Event = status < 200 ? .transferProgress : status < 300 ? .transferDone : .transferFailed
            tell(event, of: number, at: now) { $0.status = status }
        case .muted(let isMuted): tell(isMuted ? .muted : .unmuted, of: number, at: now)
        case .ended(let record): end(record, number)
        case .traced, .connected, .recorded: break
        }
    }

    /// The first that is heard of a call.
    private func begin(_ call: PhoneCall, _ number: UInt64, _ event: PhoneCall.Event, at now: Instant) {
        // The trace of an INVITE of ours comes before its call has the Call-ID.
        var callID = call.record.callID
        if case .traced(_, let message, _) = event { callID = message.callID }
        guard !callID.isEmpty, learn("\(callID)", of: number) else { return }
        tell(call.record.isOutgoing ? .calling : .incoming, of: number, at: now) { $0.peer = "\(call.record.peer)" }
    }

    /// Told a moment after it happened, for what media had heard before.
    private func end(_ record: CallRecord, _ number: UInt64) {
        tell(.ended, of: number, at: record.disconnected ?? record.ended) { line in
            line.callID = record.callID.isEmpty ? nil : "\(record.callID)"
            (line.status, line.reason, line.endedBy) = (record.sentStatus, "\(record.reason)", record.endedBy.rawValue)
            (line.cause, line.causeText) = (record.cause?.cause, record.cause?.text.map { "\($0)" })
            line.failure = record.failure.map { "\($0)" }
            line.duration = record.answered.map { Double((record.ended - $0).wholeNanoseconds / 1_000) / 1_000 }
        }
    }

    /// - Parameter object: as `--json` prints it.
    func tellResult(_ object: some Encodable & Sendable, of call: UInt64?, recordedIn file: String?) {
        tell(.result, of: call, at: MonotonicClock.now) { ($0.result, $0.recordedIn) = (CallObject(object), file) }
        if let call { forget(call) }
    }

    func tell(_ event: PhoneLine.Event, of call: UInt64? = nil, at now: Instant, _ fill: (inout PhoneLine) -> Void = { _ in }) {
        var line = PhoneLine(event)
        line.call = call
        fill(&line)
        tell(line, at: now)
    }
}
