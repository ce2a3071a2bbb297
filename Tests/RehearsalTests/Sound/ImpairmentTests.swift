import Audio
import Glibc
import Media
import Primitives
import RTP
import SDP
import Testing

@testable import Rehearsal

/// Between two telephones of ours, through a whole gateway, over a bad network: what is measured is what was injected, and nothing else
/// gives way.
@Suite struct ImpairmentTests {
    struct Weather: CustomTestStringConvertible, Sendable {
        var name: String
        var settings: Impairment.Settings
        var testDescription: String { name }
    }

    static let weathers = [
        Weather(name: "clear", settings: .init()),
        Weather(name: "1 % loss", settings: .init(loss: 0.01)), Weather(name: "5 % loss", settings: .init(loss: 0.05)),
        Weather(name: "10 % loss", settings: .init(loss: 0.1)), Weather(name: "20 % loss", settings: .init(loss: 0.2)),
        Weather(name: "5 % loss in bursts of 4", settings: .init(loss: 0.05, burst: 4)),
        Weather(name: "10 % loss in bursts of 8", settings: .init(loss: 0.1, burst: 8)),
        Weather(name: "30 ms jitter", settings: .init(jitter: .milliseconds(30))),
        Weather(name: "100 ms jitter", settings: .init(jitter: .milliseconds(100))),
        Weather(name: "100 ms jitter in order", settings: .init(jitter: .milliseconds(100), reorders: false)),
        Weather(name: "5 % loss, 60 ms jitter, 3 % copies", settings: .init(loss: 0.05, jitter: .milliseconds(60), duplicated: 0.03)),
        Weather(name: "20 % loss, 100 ms jitter, 5 % copies", settings: .init(loss: 0.2, jitter: .milliseconds(100), duplicated: 0.05)),
    ]

    /// ITU-T G.107 and its Annex B by themselves, from what was injected: `Bpl` 25.1 for G.711 with concealment (G.113).
    private static func score(loss: Double, burstRatio: Double, delay: Double, robustness: Double) -> (rating: Double, mos: Double) {
        let percent = 100 * loss
        let rating =
            93.2 - (0.024 * delay + (delay > 177.3 ? 0.11 * (delay - 177.3) : 0)) - 95 * percent / (percent / burstRatio + robustness)
        let bounded = max(0, min(100, rating))
        return (bounded, max(1, 1 + 0.035 * bounded + 7e-6 * bounded * (bounded - 60) * (100 - bounded)))
    }

    @Test(arguments: weathers) func `a relayed call measures the loss that there was, and its score is G.107's`(weather: Weather) throws {
        let stage = SoundStage(telephones: 2)
        stage.impair(from: stage.telephones[1], weather.settings)
        let (caller, callee) = stage.connect(.pcmu)
        stage.run(seconds: 120)
        let figures = try stage.statistics(ofLeg: 2), injected = try #require(stage.impairment(from: callee))
        let loss = try #require(figures.receiving.lossFraction), quality = try #require(figures.receivingQuality)
        #expect(injected.offered > 5_900 && figures.refused.total <= UInt64(injected.copies + 10), "\(figures.refused)")
        #expect(abs(loss - injected.lossFraction) < 0.005, "measured \(loss), injected \(injected.lossFraction)")
        let expected = Self.score(loss: injected.lossFraction, burstRatio: max(1, injected.burstRatio), delay: 2, robustness: 25.1)
        #expect(
            abs(quality.rFactor - expected.rating) < 1.5 && abs(quality.meanOpinionScore - expected.mos) < 0.05, "\(quality), \(expected)")
        // The other telephone hears the same through the relay, and reports it.
        let heard = try caller.statistics()
        #expect(abs(try #require(heard.receiving.lossFraction) - injected.lossFraction) < 0.005)
        let reported = try stage.statistics(ofLeg: 1).sending
        // A copy counts as received there, and makes up for a loss (RFC 3550 §6.4.1).
        let fraction = try #require(reported.lossFraction), copied = Double(injected.copies) / Double(injected.offered)
        #expect(
            fraction > injected.lossFraction - copied - 0.01 && fraction < injected.lossFraction + 0.01, "by the last report: \(reported)")
        // Spreads are there, and hold what an average would hide.
        let jitters = try #require(figures.receiving.jitters), losses = try #require(figures.receiving.losses)
        #expect(jitters.count > 3_000 && jitters.steps.reduce(0) { $0 + $1.count } == jitters.count && losses.count > 10)
        let most = Double(weather.settings.jitter.wholeMilliseconds)
        #expect(jitters.greatest <= most * 1.05 + 0.2 && jitters.p99 >= most * 0.5)
        #expect(weather.settings.loss > 0 ? losses.greatest > 0 && losses.p95 >= losses.median : losses.greatest <= 1, "\(losses)")
        #expect(try #require(figures.roundTrips).greatest < 10)
        caller.hangUp()
        #expect(stage.leftovers().isEmpty)
    }

    @Test(arguments: weathers) func `a transcoded call conceals it, without storms and without growth`(weather: Weather) throws {
        let stage = SoundStage(telephones: 2)
        stage.impair(from: stage.telephones[1], weather.settings)
        let (caller, callee) = stage.connect(.pcmu, .opus)
        stage.run(seconds: 30)
        let early = try #require(stage.statistics(ofLeg: 2).playout)
        stage.run(seconds: 90)
        let figures = try stage.statistics(ofLeg: 2), playout = try #require(figures.playout),
            injected = try #require(stage.impairment(from: callee))
        #expect(abs(try #require(figures.receiving.lossFraction) - injected.lossFraction) < 0.005)
        let packets = playout.packets, offered = Double(injected.offered)
        #expect(playout.wait <= 200 && packets.restarts == 0 && packets.strayed == 0, "\(playout)")
        #expect(Double(packets.underruns) < 0.02 * offered + 5, "no storm: \(playout)")
        #expect(Double(packets.late + packets.overflowed) < 0.02 * offered + 5, "\(playout)")
        #expect(Double(packets.played) > 0.96 * (offered - Double(injected.lost)) - 60, "\(playout) of \(injected.offered)")
        #expect(packets.duplicate <= UInt64(injected.copies) && packets.duplicate + 5 >= UInt64(injected.copies * 9 / 10))
        // What is made up grows with the loss, and not with time.
        let rate = Double(playout.concealed - early.concealed) / 90_000
        #expect(rate < injected.lossFraction * 1.3 + 0.02, "concealed \(rate)")
        // What leaves is whole: the next one hears no loss, a packet every 20 ms.
        let heard = try caller.statistics()
        #expect(heard.receiving.lost == 0 && abs(Double(heard.receiving.packets) - 120 * 50) < 60)
        caller.hangUp()
        #expect(stage.leftovers().isEmpty)
    }

    @Test(arguments: UInt64(1)...5) func `an impairment does what it was set to`(seed: UInt64) {
        for (loss, burst) in [(0.05, nil), (0.05, 4.0), (0.2, 8.0), (0.2, nil)] as [(Double, Double?)] {
            var impairment = Impairment(.init(loss: loss, burst: burst, jitter: .milliseconds(50), duplicated: 0.02), seed: seed)
            var arrivals: [Instant] = []
            for packet in 0..<50_000 { arrivals += impairment.pass(at: Instant(nanoseconds: UInt64(packet) * 20_000_000)) }
            // Losses that follow each other tell less than as many apart: four standard deviations of a Markov chain's mean.
            let memory = burst.map { 1 - 1 / $0 - loss / ($0 * (1 - loss)) } ?? 0,
                deviation = sqrt(loss * (1 - loss) / 50_000 * (1 + memory) / (1 - memory))
            #expect(abs(impairment.lossFraction - loss) < 4 * deviation, "\(impairment.lossFraction)")
            #expect(arrivals.count == 50_000 - impairment.lost + impairment.copies)
            #expect(abs(Double(impairment.lost) / Double(impairment.stretches) - (burst ?? 1 / (1 - loss))) < 0.6)
            #expect(zip(arrivals, arrivals.dropFirst()).contains { $0 > $1 }, "some overtake others")
        }
    }
}
