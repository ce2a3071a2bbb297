import Media
import Primitives
import RTP
import SDP
import Testing

@testable import Gateway
@testable import Rehearsal

/// The quality of each direction in the journal, through a whole gateway: what was lost on one way is said of that way alone.
@Suite struct QualityJournalTests {
    private let stage = SoundStage(telephones: 2)

    /// Details of the last `media.stopped` of each leg: the caller's, and the callee's.
    private func stopped() throws -> (caller: JournalEvent.Details, callee: JournalEvent.Details) {
        let events = stage.journal, calls = events.filter { $0.kind == .mediaOpened }.compactMap(\.call)
        func last(_ call: CallUUID?) throws -> JournalEvent.Details {
            try #require(events.last { $0.kind == .mediaStopped && $0.call == call }).details
        }
        #expect(calls.count == 2, "the callee's media opens first")
        return (try last(calls.last), try last(calls.first))
    }

    private func end(_ telephone: Telephone) {
        telephone.hangUp()
        let left = stage.leftovers()
        #expect(left.isEmpty, "\(left)")
    }

    /// What is injected is told within a percent: the figures of the far end are those of its last report.
    @Test(arguments: [true, false]) func `loss on one way is told of that way, and of no other`(isCallees: Bool) throws {
        let (caller, callee) = (stage.telephones[0], stage.telephones[1])
        stage.impair(from: isCallees ? callee : caller, .init(loss: 0.1))
        _ = stage.connect(.pcmu)
        stage.run(seconds: 60)
        let injected = try #require(stage.impairment(from: isCallees ? callee : caller))
        end(caller)
        let legs = try stopped(), (lossy, whole) = isCallees ? (legs.callee, legs.caller) : (legs.caller, legs.callee)
        let share = Int64(injected.lossFraction * 10_000)
        // Of the leg whose far end was not heard whole, and of the one whose far end hears what is left of that.
        let loss = try figure(.loss, lossy), remoteLoss = try figure(.remoteLoss, whole), expected = try figure(.expected, lossy)
        #expect(abs(loss - share) < 100 && abs(remoteLoss - share) < 100, "\(loss), \(remoteLoss), not \(share)")
        // Nobody misses what was sent before the first that came, and behind the last.
        #expect(try abs(figure(.lost, lossy) - Int64(injected.lost)) <= 5 && abs(expected - Int64(injected.offered)) <= 5)
        for details in [whole, lossy] {
            #expect(try figure(.remoteLost, details) <= figure(.remoteExpected, details))
            #expect(try (3_000...6_000).contains(figure(.roundTrip, details)), "2 ms each way")
        }
        #expect(whole.number(.loss) == 0 && whole.number(.lost) == 0 && lossy.number(.remoteLost) == 0 && lossy.number(.remoteLoss) == 0)
        let score = try figure(.mos, whole), remoteScore = try figure(.remoteMOS, whole)
        #expect(try score > 430 && remoteScore < 360 && figure(.mos, lossy) < 360 && figure(.remoteMOS, lossy) > 430)
        let words = ["; loss in 0.00 % out \(text(remoteLoss)) %,", "  MOS in \(text(score)) out \(text(remoteScore))"]
        #expect(words.allSatisfy(stage.ladder.contains), "\(stage.ladder)")
    }

    private func figure(_ key: JournalEvent.Key, _ details: JournalEvent.Details) throws -> Int64 {
        try #require(details.number(key), "\(key)")
    }

    private func text(_ value: Int64) -> String { "\(value / 100)." + (value % 100 < 10 ? "0" : "") + "\(value % 100)" }

    @Test func `jitter is in microseconds`() throws {
        stage.impair(from: stage.telephones[1], .init(jitter: .milliseconds(30)))
        _ = stage.connect(.pcmu)
        stage.run(seconds: 30)
        end(stage.telephones[0])
        let legs = try stopped()
        #expect(try figure(.jitter, legs.callee) > 5_000 && figure(.remoteJitter, legs.caller) > 5_000)
        #expect(try figure(.jitter, legs.caller) < 1_000 && figure(.remoteJitter, legs.callee) < 1_000)
    }

    /// A call of a second: no report is due before its end, and whoever hangs up sends its last one with that.
    @Test func `a call without any report but the last one has that one`() throws {
        stage.impair(from: stage.telephones[1], .init(loss: 0.3))
        let (caller, _) = stage.connect(.pcmu)
        stage.run(seconds: 1)
        caller.fallSilent()
        stage.run(seconds: 0.005)
        end(caller)
        let legs = try stopped()
        #expect(try figure(.remoteLoss, legs.caller) > 1_000, "the caller hung up, and said what it had heard")
        #expect(legs.callee.number(.remoteLoss) == nil && legs.callee.number(.remoteMOS) == nil, "nobody waits for whom we hang up on")
        #expect(try figure(.loss, legs.callee) > 1_000)
    }

    @Test func `what a held far end reports of what it heard before is in the last line of its leg`() throws {
        let caller = stage.telephones[0]
        stage.impair(from: caller, .init(loss: 0.3))
        _ = stage.connect(.pcmu)
        stage.run(seconds: 1)
        caller.hold()
        stage.run(seconds: 10)
        end(caller)
        let legs = try stopped(), closed = stage.journal.filter { $0.kind == .mediaClosed }.map(\.details)
        #expect(legs.callee[.remoteLoss] == nil, "it was put on hold before it had reported")
        let told = closed.filter { $0[.remoteLoss] != nil }
        #expect(told.count == 1 && closed.count == 2, "\(closed)")
        #expect(try figure(.remoteLoss, #require(told.first)) > 1_000 && figure(.remoteMOS, #require(told.first)) < 350)
    }

    @Test func `a call without media has no figures, and is audited as ever`() throws {
        for telephone in stage.telephones { (telephone.signature, telephone.source) = (nil, .silence) }
        _ = stage.connect(.pcmu)
        stage.run(seconds: 10)
        end(stage.telephones[0])
        let keys: [JournalEvent.Key] = [
            .lost, .expected, .loss, .jitter, .mos, .remoteLost, .remoteExpected, .remoteLoss, .remoteJitter, .remoteMOS,
        ]
        let legs = try stopped()
        #expect(keys.allSatisfy { legs.caller[$0] == nil && legs.callee[$0] == nil })
    }
}
