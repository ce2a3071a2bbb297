import Audio
import Media
import Primitives
import RTP

/// Makes figures of a call that is over. Takes its time where the call was listened to; needs no lane.
public struct CallJudge: Sendable {
    /// In milliseconds; a jitter buffer that waits for more makes a conversation impossible (ITU-T G.114).
    private static let longestPause = 400.0
    /// A call may end while a re-INVITE is under way.
    private static let timeoutForOffers = Duration.milliseconds(500)

    private let call: LoadedCall
    private var findings: [Finding] = []

    /// Puts the figures of a call together. Decodes nothing; up to a second of work for a long call that was listened to.
    public static func figures(of call: LoadedCall) -> CallFigures {
        var judge = CallJudge(call)
        return judge.figures()
    }

    private init(_ call: LoadedCall) { self.call = call }

    private mutating func figures() -> CallFigures {
        let (caller, callee) = (call.caller, call.callee)
        let ends = (caller: end(caller, peer: callee, side: .caller), callee: callee.flatMap { end($0, peer: caller, side: .callee) })
        switch outcome {
        case .cutOff: break
        case .notTried: note(.failure, ownFailure)
        case .good, .faulty, .failed:
            judgeSignalling()
            judgeMedia(ends.caller, ends.callee)
        }
        let final = caller.answered ?? (caller.status >= 300 && !caller.isUnheard && outcome != .cutOff ? caller.ended : nil)
        return CallFigures(
            number: call.number, kind: call.kind, step: call.step, began: call.began.inSeconds, callID: "\(caller.callID)",
            outcome: outcome,
            status: caller.isUnheard ? 0 : caller.status,
            setup: (caller.ringing ?? final).map { ($0 - caller.began).inMilliseconds },
            ring: caller.answered.flatMap { answered in caller.ringing.map { (answered - $0).inMilliseconds } },
            answer: caller.answered.map { ($0 - caller.began).inMilliseconds },
            media: firstPacket,
            end: caller.endedBy == .us ? caller.disconnected.map { ($0 - caller.ended).inMilliseconds } : nil,
            duration: caller.answered.map { (caller.ended - $0).inMilliseconds },
            inviteTransit: callee.map { ($0.began - caller.began).inMilliseconds },
            answerTransit: callee?.answered.flatMap { left in caller.answered.map { ($0 - left).inMilliseconds } },
            byeTransit: caller.answered != nil && caller.endedBy == .us && callee?.endedBy == .them
                ? callee.map { ($0.ended - caller.ended).inMilliseconds } : nil,
            retransmissions: caller.retransmissions + (callee?.retransmissions ?? 0), caller: ends.caller, callee: ends.callee,
            reported: ends.callee == nil ? ReportedFigures(caller) : nil, findings: Finding.folded(findings))
    }

    /// From the 200, or from where the sound that comes back began, which waits up to 20 ms for its place among the others of the tool.
    private var firstPacket: Double? {
        guard let answered = call.caller.answered, let received = call.caller.statistics?.firstReceived else { return nil }
        let sender = call.callee ?? (call.expects == .echo ? call.caller : nil)
        return max(.zero, received - max(answered, sender?.statistics?.firstSent ?? answered)).inMilliseconds
    }

    private var outcome: CallFigures.Outcome {
        if call.caller.couldNotBind || call.callee?.couldNotBind == true { return .notTried }
        if call.caller.status == 0, call.caller.answered == nil, call.caller.failure != nil { return .notTried }
        if isAsPlanned { return findings.isEmpty ? .good : .faulty }
        return call.wasStopped && call.caller.answered == nil ? .cutOff : .failed
    }

    /// Why the tool could not make it.
    private var ownFailure: String {
        let ends = [call.caller, call.callee].compactMap(\.self), end = ends.first(where: \.couldNotBind) ?? call.caller
        return end.failure.map { "\($0)" } ?? "the tool has no port for its media"
    }

    /// Whether the INVITE ended as this kind of call wants it.
    private var isAsPlanned: Bool {
        switch call.kind {
        // A 200 may cross the CANCEL (RFC 3261 §9.1), and is ended then.
        case .cancel: call.caller.status == 487 || 200..<300 ~= call.caller.status
        case .busy where call.calleeExpected: call.caller.status == 486
        case .plain, .hold, .dtmf, .reinvite, .busy: call.caller.answered != nil
        }
    }

    private mutating func note(_ kind: Finding.Kind, _ text: String) { findings.append(Finding(kind, text)) }
}

// Signalling.
extension CallJudge {
    private mutating func judgeSignalling() {
        let caller = call.caller
        guard caller.answered != nil else { return judgeRefusal() }
        if let failure = caller.failure { note(.failure, "\(failure)") }
        if call.calleeExpected, call.callee?.answered == nil {
            note(
                .notConnectedThrough,
                "answered, but not by the callee: its INVITE \(call.callee == nil ? "did not come" : "was not answered")")
        }
        if call.calleeWasForgotten { note(.forgottenEnd, "the callee was not told of the end within \(LoadClient.timeoutForCallee)") }
        if caller.endedBy == .them {
            note(.endedEarly, "the target ended it after \(text(((caller.ended - (caller.answered ?? caller.ended)).inSeconds))) s")
        }
        if caller.endedBy == .us, caller.disconnected == nil { note(.noEnd, caller.brokenBye) }
        if let status = caller.offers.refusal { note(.offerRefused, "re-INVITE answered \(status)") }
        if let wait = caller.offers.pending.map({ caller.ended - $0 }), wait > Self.timeoutForOffers {
            note(.offerRefused, "re-INVITE not answered in \(text(wait.inSeconds)) s")
        }
        judgeKeys()
    }

    /// Judges the keys. In a script that the end of the call cut short, only the keys that were pressed until then are due.
    private mutating func judgeKeys() {
        guard call.judgesKeys, !call.wasStopped, !call.calleeExpected || call.callee != nil else { return }
        let pressed = String(call.caller.pressed.map(\.character)), heard = String((call.callee ?? call.caller).digits.map(\.character))
        if !pressed.isEmpty, heard != pressed { note(.keysLost, "pressed \(pressed), heard '\(heard)'") }
    }

    private mutating func judgeRefusal() {
        let caller = call.caller
        if isAsPlanned { return }
        if caller.status == 0 {
            note(.failure, caller.failure.map { "\($0)" } ?? "no final response")
        } else if caller.isUnheard, caller.status == 503 {
            note(.noAnswer, caller.failure.map { "\($0)" } ?? "nothing can be sent there")
        } else if caller.endedBy == .us || caller.endedBy == .nobody {
            note(
                .noAnswer,
                "given up after \(text((caller.ended - caller.began).inSeconds)) s, \(caller.ringing == nil ? "nothing came" : "it rang")")
        } else {
            note(.refused, "\(caller.status) \(caller.reason)")
        }
    }

    private func text(_ value: Double) -> String { "\((value * 10).rounded() / 10)" }
}

// Media.
extension CallJudge {
    private func end(_ record: CallRecord, peer: CallRecord?, side: SoundSignature.Side) -> EndFigures? {
        guard let statistics = record.statistics else { return nil }
        var figures = EndFigures(
            codec: record.codec.map { "\($0)" }, encryption: record.encryption, sent: statistics.sending.packets,
            received: statistics.receiving.packets)
        (figures.jitter, figures.roundTrip) = (statistics.receiving.jitter, statistics.roundTrip.map(\.inMilliseconds))
        if call.isListenedTo, ran(record) { hear(record, peer?.statistics, statistics, side, &figures) }
        if ran(record), let arrival = arrival(at: record, from: peer, figures) {
            figures.note(arrival, statistics, codec: record.codec)
        } else {
            figures.lossPercent = statistics.receiving.lossFraction.map { 100 * $0 }
            (figures.rating, figures.mos) = (statistics.receivingQuality?.rFactor, statistics.receivingQuality?.meanOpinionScore)
        }
        figures.noteDelay(codec: record.codec)
        return figures
    }

    /// Nil where there was no media.
    private func arrival(at record: CallRecord, from peer: CallRecord?, _ figures: EndFigures) -> SoundArrival? {
        guard let here = record.media else { return nil }
        return SoundArrival(
            at: here, from: peer?.media, expecting: call.expects, interruptions: call.caller.interruptions,
            delay: figures.longestDelay.map { .nanoseconds(Int64($0 * 1e6)) })
    }

    /// Notes the source of the sound, and its delay.
    private func hear(
        _ record: CallRecord, _ there: MediaStatistics?, _ here: MediaStatistics, _ side: SoundSignature.Side, _ figures: inout EndFigures
    ) {
        let own = side == .caller ? call.signatures.caller : call.signatures.callee
        let other = side == .caller ? call.signatures.callee : call.signatures.caller
        let context = SignatureContext(
            own: own, upAtBeginning: call.upAtBeginning, began: began(record, here, there), beganByEnd: beganByEnd(record, here, there),
            hearsBeginning: true)
        let verdict = SignatureHearing(record.heard.samples).verdict(expecting: there == nil ? own : other, context: context)
        figures.audio =
            here.receiving.packets == 0
            ? .nothing : verdict.sound == .unsigned && !holdsWholeRound(record) ? nil : HeardSound(verdict.sound)
        (figures.delay, figures.lastDelay) = (verdict.delay, context.beganByEnd == nil ? nil : verdict.lastDelay)
    }

    /// Whether its media ran long enough to say something.
    private func ran(_ record: CallRecord) -> Bool { record.answered.map { record.ended - $0 >= SoundArrival.shortest } ?? false }

    /// Whether what was heard is so long that a signature in it can be read, whatever keys and holds have cut out: a whole round of it lies
    /// in any part that is two rounds long.
    private func holdsWholeRound(_ record: CallRecord) -> Bool {
        record.heard.samples.count >= 2 * SoundSignature.roundLength * (1 + call.caller.interruptions)
    }

    /// Whether the sound that is played goes on from its first packet to the last.
    private var isSteady: Bool { call.caller.interruptions == 0 }

    /// Seconds from the other end's first packet to the first one here; nil where the sound was held meanwhile.
    private func began(_ record: CallRecord, _ here: MediaStatistics, _ there: MediaStatistics?) -> Double? {
        guard isSteady, let sent = there?.firstSent, let first = here.firstReceived else { return nil }
        return (first - sent).inSeconds
    }

    /// The same, by the last packet here, which holds the last 20 ms of the recording; nil where not all was kept.
    private func beganByEnd(_ record: CallRecord, _ here: MediaStatistics, _ there: MediaStatistics?) -> Double? {
        let count = record.heard.samples.count, rate = Double(SoundSignature.sampleRate)
        guard isSteady, let sent = there?.firstSent, let last = here.lastReceived, record.heard.seconds * rate == Double(count) else {
            return nil
        }
        return (last - sent).inSeconds - (Double(count) / rate - 0.02)
    }

    private mutating func judgeMedia(_ caller: EndFigures?, _ callee: EndFigures?) {
        guard call.caller.answered != nil, ran(call.caller), let caller, call.expects != .nothing, call.kind != .cancel else { return }
        var back = arrival(at: call.caller, from: callee == nil ? nil : call.callee, caller).flatMap {
            fault(of: $0, caller, hasPeer: callee != nil)
        }
        var there = callee.flatMap { callee in
            call.callee.flatMap { arrival(at: $0, from: call.caller, callee) }.flatMap { fault(of: $0, callee, hasPeer: true) }
        }
        if back?.kind == .oneWay, there?.kind == .oneWay {
            back?.kind = .noAudio
            there?.kind = .noAudio
        }
        let delays = [caller, callee].map { $0?.longDelay }
        note([back, delays[0], bursts(at: call.caller)], .in, callee == nil ? "from the target to the caller" : "from callee to caller")
        note([there, delays[1], call.callee.flatMap(bursts)], .out, "from caller to callee")
    }

    private mutating func note(_ found: [Finding?], _ direction: Finding.Direction, _ words: String) {
        for case var finding? in found {
            (finding.text, finding.direction) = ("\(words): \(finding.text)", direction)
            findings.append(finding)
        }
    }

    /// Nil where the sound came evenly enough for the jitter buffer of a telephone.
    private func bursts(at record: CallRecord) -> Finding? {
        guard isSteady, let statistics = record.statistics, let pause = statistics.receiving.jitters?.greatest, pause > Self.longestPause,
            statistics.receiving.packets > SoundArrival.inFlight
        else { return nil }
        return Finding(.bursts, "packets waited \(Number.text(pause)) ms longer than others, and then came together")
    }

    /// Finds the fault in the sound that came to an end; nil: none, as far as it was looked at.
    private func fault(of arrival: SoundArrival, _ end: EndFigures, hasPeer: Bool) -> Finding? {
        if end.received == 0, let fault = arrival.fault() { return fault }
        switch end.audio {
        case .silence: return Finding(.silence, "packets came, with silence in them")
        case .crossTalk: return Finding(.crossTalk, "the sound of another call of the same time")
        case .stale: return Finding(.stale, "the sound of an earlier call")
        case .foreign: return Finding(.stale, "the sound of an earlier run")
        case .own: return Finding(.wrongSound, "its own sound instead of the other end's")
        case .unsigned where hasPeer || call.expects == .echo: return Finding(.wrongSound, "sound, but not what was played")
        case .right, .unsigned, .nothing, nil: break
        }
        return arrival.fault()
    }
}

extension EndFigures {
    /// Notes the loss, the moment at which the sound stopped, and the quality that follows from them.
    mutating func note(_ arrival: SoundArrival, _ statistics: MediaStatistics, codec: Text?) {
        lossPercent = arrival.lossPercent
        stoppedAfter = arrival.stopped.map(\.inMilliseconds)
        let quality = arrival.quality(of: statistics, codec: codec)
        (rating, mos) = (quality?.rating, quality?.mos)
    }
}

extension EndFigures {
    /// ITU-T G.114: more is too much for a conversation.
    private static let greatestDelay = 400.0

    fileprivate var longDelay: Finding? {
        guard let longest = longestDelay, longest > Self.greatestDelay else { return nil }
        return Finding(.longDelay, "\(Number.text(longest)) ms from mouth to ear (ITU-T G.114: 400 at most)")
    }

    /// A delay that was measured goes before half of a round trip.
    fileprivate mutating func noteDelay(codec: Text?) {
        guard let longest = longestDelay, let loss = lossPercent, longest > (roundTrip ?? 0) / 2,
            let quality = CallQuality(.of(codec), loss: loss / 100, delay: .nanoseconds(Int64(longest * 1e6)))
        else { return }
        (rating, mos) = (min(rating ?? 100, quality.rFactor), min(mos ?? 5, quality.meanOpinionScore))
    }
}

extension ReportedFigures {
    /// Nil where nothing was reported.
    init?(_ record: CallRecord) {
        guard let sending = record.statistics?.sending, sending.lost != nil else { return nil }
        let quality = record.statistics?.sendingQuality
        self.init(
            lossPercent: sending.lossFraction.map { 100 * $0 }, jitter: sending.jitter, rating: quality?.rFactor,
            mos: quality?.meanOpinionScore)
    }
}
