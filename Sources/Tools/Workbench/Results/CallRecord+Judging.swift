import Audio
import Media
import Primitives
import RTP

extension CallRecord {
    /// Judges the sound and puts the figures together. Up to a second of work for a long call.
    public func result() -> CallResult {
        let audio = answered == nil ? nil : listen()
        return CallResult(
            peer: "\(peer)", direction: isOutgoing ? .outgoing : .incoming, callID: "\(callID)", status: status, reason: "\(reason)",
            endedBy: endedBy, failure: failure.map { "\($0)" } ?? brokenEnd, setupTime: ringing.map { milliseconds(began, $0) },
            answerTime: answered.map { milliseconds(began, $0) }, duration: answered.map { milliseconds($0, ended) },
            earlyMediaIgnored: earlyMediaIgnored, codec: codec.map { "\($0)" }, encryption: encryption, packets: packets,
            audio: audio.map(told),
            digitsReceived: String(digits.map(\.character)), timesHeld: timesHeld, verdict: verdict(audio))
    }

    /// The result with the best that can be said: heard back what we played, for a while at least, or else any sound.
    ///
    /// - Parameter echo: what that is heard as; nil where it cannot be told.
    public func result(ifEchoed echo: CallScript.Expectation?) -> CallResult {
        var record = self
        if let echo {
            record.script.expectation = echo
            let result = record.result()
            if result.verdict.isGood || result.verdict == .cutShort { return result }
        }
        record.script.expectation = .sound
        return record.result()
    }

    /// Whether each of two records of one bridged call holds what the other sent.
    public static func bothWays(_ one: CallRecord, _ other: CallRecord) -> (there: Double, back: Double, isGood: Bool) {
        func score(from sender: CallRecord, to receiver: CallRecord) -> Double {
            guard let sent = sender.sent(upTo: receiver.heard.samples.count) else { return 0 }
            return (try? SignalCorrelation(sent: sent, received: receiver.heard.samples, sampleRate: Heard.rate).score) ?? 0
        }
        let (there, back) = (score(from: one, to: other), score(from: other, to: one))
        return (there, back, there >= SignalCorrelation.threshold && back >= SignalCorrelation.threshold)
    }

    /// What nobody says of a far end that went away in the middle of a call: no status, and no loss, for RTP counts none behind the last
    /// packet.
    private var brokenEnd: String? {
        guard answered != nil else { return nil }
        if let silence { return "nothing came in the last \(Double(silence.wholeMilliseconds / 100) / 10) s" }
        return endedBy == .us && disconnected == nil ? brokenBye : nil
    }

    /// For how long nothing came at the end of a call in which something always should have: a tone, or what we sent ourselves.
    private var silence: Duration? {
        guard let statistics, let last = statistics.lastReceived, interruptions == 0 else { return nil }
        let end: Instant? =
            switch script.expectation {
            case .echo: statistics.lastSent
            case .tone: ended
            case .sound, .nothing, .recording: nil
            }
        return end.flatMap { $0 - last > .seconds(2) ? $0 - last : nil }
    }

    private var packets: PacketFigures? {
        guard let statistics else { return nil }
        let (sending, receiving) = (statistics.sending, statistics.receiving)
        return PacketFigures(
            sent: sending.packets, received: receiving.packets, lost: receiving.lost, lossPercent: receiving.lossFraction.map { 100 * $0 },
            jitter: receiving.jitter, roundTrip: statistics.roundTrip.map(milliseconds), remoteLost: sending.lost,
            firstReceivedAfter: statistics.firstReceived.flatMap { first in answered.map { milliseconds($0, first) } },
            refused: statistics.refused.total, incoming: statistics.incoming?.sound, outgoing: statistics.outgoing?.sound,
            jitters: receiving.jitters,
            roundTrips: statistics.roundTrips)
    }

    private func listen() -> AudioFigures {
        var figures = AudioFigures(secondsHeard: heard.seconds, level: heard.level)
        switch script.expectation {
        case .sound, .nothing: break
        case .tone(let frequency):
            var detector = ToneDetector(frequency: frequency, sampleRate: Heard.rate)
            detector.listen(to: heard.samples.span)
            (figures.tonePresence, figures.toneGaps) = (detector.presence, detector.gaps)
        case .echo:
            // An echo that stopped is one of the beginning alone, and the rest only has more places where a second of it may seem to lie.
            let sent = sent(upTo: heard.samples.count)
            compare(silence == nil ? sent : sent.map { Array($0.prefix(heard.samples.count)) }, &figures)
            // What was played before the keys were agreed was never sent, and nobody knows how much: nothing comes back before it leaves.
            figures.delay = figures.delay.flatMap { delay in lead.map { delay + $0 } }.flatMap { $0 < 0 ? nil : $0 }
        case .recording(let samples, let rate):
            compare(try? WAV(sampleRate: rate, samples: samples).resampled(to: Heard.rate).samples, &figures)
        }
        return figures
    }

    /// From our first packet to the first that came back, in milliseconds: what is heard begins with that one, which need not be the echo
    /// of ours.
    private var lead: Double? {
        guard let sent = statistics?.firstSent, let came = statistics?.firstReceived else { return nil }
        return milliseconds(sent, came)
    }

    /// Likeness and delay would be those of what was played without a pause.
    private func told(_ figures: AudioFigures) -> AudioFigures {
        guard case .echo = script.expectation, playedWithPauses else { return figures }
        var figures = figures
        (figures.correlation, figures.delay) = (nil, nil)
        return figures
    }

    private func compare(_ expected: [Int16]?, _ figures: inout AudioFigures) {
        guard let expected, let match = try? SignalCorrelation(sent: expected, received: heard.samples, sampleRate: Heard.rate) else {
            return
        }
        (figures.correlation, figures.delay) = (match.score, match.delayMilliseconds)
    }

    /// What we played, at 8 kHz: the recording, as often as it was repeated; nil when it was none.
    private func sent(upTo count: Int) -> [Int16]? {
        guard case .samples(let samples, let rate, let loops) = script.source, !samples.isEmpty else { return nil }
        guard let played = try? WAV(sampleRate: rate, samples: samples).resampled(to: Heard.rate).samples, !played.isEmpty else {
            return nil
        }
        guard loops else { return Array(played.prefix(Heard.longest)) }
        return (0..<min(max(count, played.count), Heard.longest)).map { played[$0 % played.count] }
    }

    private func verdict(_ audio: AudioFigures?) -> AudioVerdict {
        guard let audio, answered != nil, !couldNotBind else { return .notConnected }
        if case .nothing = script.expectation { return .notExpected }
        guard let statistics, statistics.receiving.packets > 0, audio.secondsHeard > 0 else { return .nothing }
        guard let level = audio.level, level > -60 else { return .silence }
        guard isExpected(audio) else { return .unexpected }
        guard silence == nil else { return .cutShort }
        return isOursHeard(audio, statistics) ? .bothWays : .received
    }

    private func isExpected(_ audio: AudioFigures) -> Bool {
        switch script.expectation {
        case .sound, .nothing: true
        case .tone: (audio.tonePresence ?? 0) > 0.5
        case .echo, .recording: (audio.correlation ?? 0) >= SignalCorrelation.threshold
        }
    }

    private func isOursHeard(_ audio: AudioFigures, _ statistics: MediaStatistics) -> Bool {
        if case .echo = script.expectation { return true }
        guard let lost = statistics.sending.lost else { return false }
        return lost < statistics.sending.packets
    }
}

private func milliseconds(_ from: Instant, _ to: Instant) -> Double { milliseconds(to - from) }
private func milliseconds(_ duration: Duration) -> Double { Double(duration.wholeNanoseconds / 1_000) / 1_000 }
