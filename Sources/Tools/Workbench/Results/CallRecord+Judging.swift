import Audio
import Media
import Primitives
import RTP

extension CallRecord {
    /// Judges the sound and puts the figures together. Up to a second of work for a long call.
    public func result() -> CallResult {
        let audio = answered == nil ? nil : listen()
        return CallResult(
            peer: "\(peer)", direction: isOutgoing ? .outgoing : .incoming, callID: "\(callID)", status: sentStatus, reason: "\(reason)",
            endedBy: endedBy, failure: failure.map { "\($0)" } ?? brokenEnd, setupTime: ringing.map { milliseconds(began, $0) },
            answerTime: answered.map { milliseconds(began, $0) }, duration: answered.map { milliseconds($0, ended) },
            earlyMediaIgnored: earlyMediaIgnored, codec: codec.map { "\($0)" }, encryption: encryption, packets: packets,
            audio: audio.map(told),
            digitsReceived: String(digits.map(\.character)), timesHeld: timesHeld, verdict: verdict(audio))
    }

    /// The result with the best that can be said where any sound is expected: heard back what we played, for a while at least, or else any.
    ///
    /// - Parameter echo: what that is heard as; nil where it cannot be told.
    public func result(ifEchoed echo: CallScript.Expectation?) -> CallResult {
        guard case .sound = script.expectation, let echo else { return result() }
        var record = self
        record.script.expectation = echo
        let echoed = record.result()
        return echoed.verdict.isGood || echoed.verdict == .cutShort ? echoed : result()
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

    /// The failure of a far end that went away in the middle of a call. No status tells it, and no numbers behind the last packet.
    private var brokenEnd: String? {
        guard answered != nil else { return nil }
        if let stop { return stop }
        return endedBy == .us && disconnected == nil ? brokenBye : nil
    }

    /// The sound that came, compared with what is expected.
    private var arrival: SoundArrival? {
        let sound: ExpectedSound =
            switch script.expectation {
            case .echo: .echo
            case .sound, .tone: .sound
            case .prompt, .recording: .prompt
            case .nothing: .nothing
            }
        return media.map { SoundArrival(at: $0, from: nil, expecting: sound, interruptions: interruptions) }
    }

    /// Sound that should have gone on to the end stopped before it.
    private var stop: String? {
        switch script.expectation {
        case .prompt, .recording, .nothing: return nil
        case .sound, .tone, .echo: break
        }
        guard let arrival, let stopped = arrival.stopped else { return nil }
        func tenths(_ time: Duration) -> Double { (time.inSeconds * 10).rounded() / 10 }
        return "nothing came in the last \(tenths(arrival.silence)) s: the sound stopped \(tenths(stopped)) s after the answer"
    }

    private var packets: PacketFigures? {
        guard let statistics else { return nil }
        let (sending, receiving, arrival) = (statistics.sending, statistics.receiving, arrival)
        let quality = arrival?.quality(of: statistics, codec: codec), missing = arrival?.missing ?? 0
        return PacketFigures(
            sent: sending.packets, received: receiving.packets, lost: missing > 0 ? missing : receiving.lost,
            lossPercent: arrival?.lossPercent, stoppedAfter: arrival?.stopped.map(milliseconds),
            jitter: receiving.jitter, roundTrip: statistics.roundTrip.map(milliseconds), remoteLost: sending.lost, mos: quality?.mos,
            firstReceivedAfter: statistics.firstReceived.flatMap { first in answered.map { milliseconds($0, first) } },
            refused: statistics.refused.total, incoming: statistics.incoming?.sound, outgoing: statistics.outgoing?.sound,
            jitters: receiving.jitters,
            roundTrips: statistics.roundTrips)
    }

    private func listen() -> AudioFigures {
        var figures = AudioFigures(secondsHeard: heard.seconds, level: heard.level)
        switch script.expectation {
        case .sound, .prompt, .nothing: break
        case .tone(let frequency):
            var detector = ToneDetector(frequency: frequency, sampleRate: Heard.rate)
            detector.listen(to: heard.samples.span)
            (figures.tonePresence, figures.toneGaps) = (detector.presence, detector.gaps)
        case .echo:
            // An echo that stopped is one of the beginning alone, and the rest only has more places where a second of it may seem to lie.
            let sent = sent(upTo: heard.samples.count)
            compare(stop == nil ? sent : sent.map { Array($0.prefix(heard.samples.count)) }, &figures)
            // Sound played before the keys were agreed was never sent, and nobody knows how much. Nothing comes back before it leaves.
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

    /// Makes the sound that we played, at 8 kHz: the recording, as often as it was repeated; nil when it was none.
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
        guard stop == nil else { return .cutShort }
        return isOursHeard(audio, statistics) ? .bothWays : .received
    }

    /// Ten seconds of them.
    private static let packetsBetweenReports: UInt64 = 500

    private func isExpected(_ audio: AudioFigures) -> Bool {
        switch script.expectation {
        case .sound, .prompt, .nothing: true
        case .tone: (audio.tonePresence ?? 0) > 0.5
        case .echo, .recording: (audio.correlation ?? 0) >= SignalCorrelation.threshold
        }
    }

    private func isOursHeard(_ audio: AudioFigures, _ statistics: MediaStatistics) -> Bool {
        if case .echo = script.expectation { return true }
        let sending = statistics.sending
        guard let lost = sending.lost, let reported = sending.expected else { return false }
        // Reports come every few seconds. One that is older says nothing of what was sent since.
        return lost < reported && reported + Self.packetsBetweenReports >= sending.packets
    }
}

private func milliseconds(_ from: Instant, _ to: Instant) -> Double { milliseconds(to - from) }
private func milliseconds(_ duration: Duration) -> Double { Double(duration.wholeNanoseconds / 1_000) / 1_000 }
