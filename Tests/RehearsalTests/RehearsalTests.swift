import Foundation
import Gateway
import Primitives
import Rehearsal
import Testing

@Suite struct RehearsalTests {
    /// HOOKSWITCH_SEED replays one seed; HOOKSWITCH_REHEARSALS sets how many are played (100 calls each), HOOKSWITCH_FIRST_SEED from which
    /// on.
    private static func setting(_ name: String) -> UInt64? { ProcessInfo.processInfo.environment[name].flatMap(UInt64.init) }

    private static let first = setting("HOOKSWITCH_FIRST_SEED") ?? 1
    private static let seeds: [UInt64] =
        setting("HOOKSWITCH_SEED").map { [$0] } ?? Array(first..<first + (setting("HOOKSWITCH_REHEARSALS") ?? 100))

    @Test(.timeLimit(.minutes(30)))
    func `ten thousand calls with races break no rule and leave nothing behind`() async {
        let verdicts = await Self.play(Self.seeds)
        for verdict in verdicts where !verdict.isGood { Issue.record("\(verdict.report)") }
        guard Self.seeds.count >= 20 else { return }
        let all = verdicts.reduce(into: Tally()) { $0.add($1.tally) }
        #expect(all.calls == 100 * verdicts.count)
        // Each race came about: what did not happen was not tested.
        #expect(all.answeredAfterCancel > 0 && all.crossedByes > 0 && all.byesOverOffers > 0 && all.glares > 0, "\(all)")
        #expect(all.unacknowledged > 0 && all.neverAcknowledged > 0 && all.cancelled > 0 && all.rejected > 0, "\(all)")
        #expect(
            all.updateGlares > 0 && all.vanished > 0 && all.transfers > 0 && all.failedTransfers > 0 && all.byesAfterRefers > 0, "\(all)")
        #expect(verdicts.contains { $0.expiredSessions > 0 } && verdicts.contains { $0.lostAcknowledgements > 0 })
        #expect(all.connected > all.calls / 3, "\(all)")
        #expect(
            verdicts.contains { $0.failedBinds > 0 } && verdicts.contains { $0.secondAcceptances > 0 }
                && verdicts.contains { $0.acceptancesAfterCancel > 0 })
        #expect(verdicts.reduce(0) { $0 + $1.transcoded } > 500 && verdicts.reduce(0) { $0 + $1.codecChanges } > 100)
        #expect(verdicts.reduce(0) { $0 + $1.groupedCalls } > 100 && verdicts.reduce(0) { $0 + $1.partedCalls } > 20)
        #expect(verdicts.contains { $0.lostDatagrams > 0 } && verdicts.contains { $0.cutConnections > 0 })
        #expect(verdicts.contains { ($0.killedDialogs ?? 0) > 1 } && verdicts.contains { $0.pauses > 1 })
    }

    /// Rehearsals side by side, as many as there are cores.
    private static func play(_ seeds: [UInt64]) async -> [RehearsalVerdict] {
        await withTaskGroup(of: RehearsalVerdict.self) { group in
            for seed in seeds { group.addTask { Rehearsal(RehearsalSettings(seed: seed)).run() } }
            return await group.reduce(into: []) { $0.append($1) }.sorted { $0.seed < $1.seed }
        }
    }

    @Test func `a seed replays, event for event`() {
        var settings = RehearsalSettings(seed: 7)
        settings.calls = 40
        settings.stopsEarly = true
        let stories = (1...2).map { _ in
            let rehearsal = Rehearsal(settings)
            _ = rehearsal.run()
            return rehearsal.transcript().events.map { "\($0.time.nanoseconds) \($0.kind.rawValue) \($0.call.map(\.description) ?? "-")" }
        }
        #expect(stories[0].count > 500)
        let difference = zip(stories[0], stories[1]).enumerated().first { $1.0 != $1.1 }
        #expect(difference == nil && stories[0].count == stories[1].count, "they part at \(String(describing: difference))")
    }

    /// A call is parted from a conversation whose other calls have ended, and whose INVITEs have not: it keeps the session.
    @Test func `seed 589 breaks no rule and leaves nothing behind`() {
        var settings = RehearsalSettings(seed: 589)
        settings.only = [55, 62, 76, 77, 85, 87, 89, 93, 94, 97]
        (settings.faults, settings.bindFailures, settings.stopsEarly) = (LinkFaults(), 0, false)
        let verdict = Rehearsal(settings).run()
        #expect(verdict.isGood && verdict.partedCalls > 0, "\(verdict.report)")
    }

    /// Its calls are 481 in the next one, whose devices are those that the store has.
    @Test func `a gateway that is killed among calls leaves nothing to the next one`() {
        let verdicts = (UInt64(1)...10).map { seed in
            var settings = RehearsalSettings(seed: seed)
            settings.isKilled = true
            return Rehearsal(settings).run()
        }
        for verdict in verdicts where !verdict.isGood { Issue.record("\(verdict.report)") }
        #expect(verdicts.allSatisfy { $0.killedDialogs != nil } && verdicts.reduce(0) { $0 + ($1.killedDialogs ?? 0) } > 20)
        #expect(verdicts.reduce(0) { $0 + $1.rungAfterKill } > 50)
    }

    /// Its timers ring late, and what has arrived meanwhile comes at once.
    @Test func `a gateway that stands still among calls leaves nothing behind`() {
        let verdicts = (UInt64(1)...10).map { seed in
            var settings = RehearsalSettings(seed: seed)
            settings.pauses = 4
            return Rehearsal(settings).run()
        }
        for verdict in verdicts where !verdict.isGood { Issue.record("\(verdict.report)") }
        #expect(verdicts.reduce(0) { $0 + $1.pauses } > 25 && verdicts.allSatisfy { $0.tally.connected > 10 })
    }

    /// A phone is gone while its 200 waits for a PRACK: its INVITE is never answered, and not kept.
    @Test func `seed 905 breaks no rule and leaves nothing behind`() {
        var settings = RehearsalSettings(seed: 905)
        settings.only = [81, 85, 86, 93]
        (settings.faults, settings.bindFailures, settings.stopsEarly, settings.regroups) = (LinkFaults(), 0, false, false)
        let verdict = Rehearsal(settings).run()
        #expect(verdict.isGood && verdict.tally.vanished > 0, "\(verdict.report)")
    }

    @Test(arguments: [3, 11]) func `every leg of a rehearsal is in one call of its journal`(seed: UInt64) {
        var settings = RehearsalSettings(seed: seed)
        settings.calls = 60
        let rehearsal = Rehearsal(settings)
        _ = rehearsal.run()
        let events = rehearsal.transcript().events
        var history = CallHistory()
        for event in events { history.note(event) }
        history.finish(isBeingWritten: false)
        let legs = history.calls.flatMap(\.legs).map(\.call)
        let begun = Set(
            events.compactMap { event in
                let begins: [JournalEvent.Kind] = [.inviteReceived, .reportIncoming, .performStart, .mediaReserved]
                return begins.contains(event.kind) || event.kind == .sipReceived && event.details.text(.method) == "INVITE"
                    ? event.call : nil
            })
        // A call that comes again with a password is one.
        let asked = events.filter { $0.details.text(.cause)?.description == RequestRefusal.credentialsAsked.rawValue }.compactMap(\.call)
        #expect(Set(legs) == begun.subtracting(asked) && legs.count == Set(legs).count && legs.count > 60 && !asked.isEmpty)
        // An incoming leg is a call of its own, unless it is one for which another was called.
        #expect(history.calls.allSatisfy { $0.branches.allSatisfy { $0.direction == .outgoing } })
        #expect(
            history.calls.allSatisfy { ![.up, .cutOff].contains($0.disposition) },
            "\(history.calls.filter { $0.disposition == .up }.map(\.first.call))")
        #expect(history.calls.contains { $0.disposition == .answered } && history.calls.contains(where: \.isTroubled))
    }

    @Test func `a journal that was written is judged offline as it was live`() {
        var settings = RehearsalSettings(seed: 5)
        settings.calls = 40
        let rehearsal = Rehearsal(settings)
        let verdict = rehearsal.run()
        let written = rehearsal.transcript()
        #expect(written.brokenLines.isEmpty)
        #expect(UInt64(written.events.count) == verdict.events)
        let audit = Audit()
        let violations = written.events.flatMap { audit.observe($0) } + audit.finish()
        #expect(violations == verdict.violations)
        #expect(audit.gaps.isEmpty && audit.unfinishedCalls.isEmpty, "\(audit.unfinishedCalls)")
    }

    @Test func `with few ports calls are refused, and no port is lost`() {
        var settings = RehearsalSettings(seed: 3)
        settings.portPairs = 6
        let verdict = Rehearsal(settings).run()
        #expect(verdict.isGood, "\(verdict.report)")
        #expect(verdict.tally.rejected > verdict.tally.connected)
    }

    @Test func `a stop in the middle ends every call`() {
        var settings = RehearsalSettings(seed: 9)
        settings.stopsEarly = true
        let verdict = Rehearsal(settings).run()
        #expect(verdict.isGood, "\(verdict.report)")
        #expect(verdict.tally.connected > 10)
    }
}
