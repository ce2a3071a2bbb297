import Audio
import Primitives
import RTP
import SDP

// The quality, from what was measured and from nothing else.
extension MediaLeg {
    /// Fills in the quality of both directions.
    func judge(_ statistics: inout MediaStatistics) {
        let trip = statistics.roundTrip.map { $0 / 2 }
        statistics.sendingQuality = CallQuality(sendingImpairment, loss: statistics.sending.lossFraction, delay: trip)
        let late =
            statistics.playout.map {
                Double($0.packets.late) / Double(max(1, statistics.receiving.packets + (statistics.receiving.lost ?? 0)))
            } ?? 0
        let delay = trip.map { $0 + .milliseconds(statistics.playout?.wait ?? 0) }
        statistics.receivingQuality = CallQuality(
            receivingImpairment, loss: statistics.receiving.lossFraction.map { $0 + late }, burstRatio: rtcp.receiver.bursts.burstRatio,
            delay: delay)
    }

    /// The same as the far end is told (RFC 3611); nil before anything came.
    func metrics(_ statistics: MediaStatistics) -> VoIPMetrics? {
        guard let loss = statistics.receiving.lossFraction else { return nil }
        var metrics = VoIPMetrics(ssrc: 0, lossRate: loss)
        let expected = Double(max(1, statistics.receiving.packets + (statistics.receiving.lost ?? 0)))
        metrics.discardRate = statistics.playout.map { Double($0.packets.late) / expected } ?? 0
        if let bursts = rtcp.receiver.bursts.figures {
            (metrics.burstDensity, metrics.gapDensity) = (bursts.burstDensity, bursts.gapDensity)
            metrics.burstDuration = Int(bursts.burstLength) * plan.audio.ptime
            metrics.gapDuration = Int(bursts.gapLength) * plan.audio.ptime
        }
        metrics.roundTrip = statistics.roundTrip.map { Int($0.wholeMilliseconds) } ?? 0
        metrics.rFactor = statistics.receivingQuality.map { Int($0.rFactor.rounded()) }
        metrics.conversation = statistics.receivingQuality?.meanOpinionScore
        metrics.listening =
            CallQuality(receivingImpairment, loss: loss + metrics.discardRate, burstRatio: rtcp.receiver.bursts.burstRatio, delay: nil)?
            .meanOpinionScore
        if receiver != nil, let wait = statistics.playout?.wait {
            (metrics.endSystemDelay, metrics.bufferNominal, metrics.bufferMaximum) = (wait, wait, wait)
            metrics.bufferLimit = 200
        }
        return metrics
    }

    /// Sets the loss that our encoders expect from now on to that which the far end reports: without loss no bit goes into in-band error
    /// correction.
    func guardAgainstLoss() {
        guard let percent = rtcp.sender.lastLossPercent else { return }
        transcoding.transcoder?.expect(lossPercent: percent)
        sound.player?.expect(lossPercent: percent)
        member?.expect(lossPercent: percent)
    }

    private var receivingImpairment: CallQuality.Impairment? {
        impairment(corrects: opus.forwardErrorCorrection)
    }

    private var sendingImpairment: CallQuality.Impairment? {
        impairment(corrects: opus.forwardErrorCorrection && OpusParameters(plan.audio.primary.codec.fmtp).usesForwardErrorCorrection)
    }

    /// Nil for a codec that is only passed on: nothing is known of how it stands losses.
    private func impairment(corrects: Bool) -> CallQuality.Impairment? {
        switch AudioCodec(plan.audio.primary.codec) {
        case .opus: corrects ? .opus : .opusWithoutCorrection
        case .g722: .g722
        case .pcmu, .pcma, .linear8, .linear16, .linear44, .linear48: .g711
        case nil: nil
        }
    }
}
