import CallKit
import Foundation
import Primitives
import Testing

@testable import CallApp
@testable import Rehearsal

/// Apps that report calls under UUIDs of their own: from a push, or because they make one.
@Suite struct AdoptionTests {
    private let stage: Stage
    private let app: ProbeApp

    init() {
        stage = Stage()
        app = Self.app(on: stage)
    }

    /// It reports nothing by itself.
    private static func app(on stage: Stage) -> ProbeApp {
        let app = ProbeApp(stage) { $0.maximumCallGroups = 4 }
        app.onIncoming = { _, _ in }
        return app
    }

    /// What app code does that knows of no line.
    @discardableResult
    private func report(_ call: UUID = UUID(), from handle: String? = nil, by app: ProbeApp? = nil) -> UUID {
        let update = CXCallUpdate(), app = app ?? self.app
        update.remoteHandle = handle.map { CXHandle(type: .generic, value: $0) }
        app.provider.hookswitchReport(call, update: update) { _ in }
        return call
    }

    private func adopted(_ stage: Stage) -> [UUID] {
        stage.events.compactMap { if case .adopted(_, let own) = $0 { own } else { nil } }
    }

    private func unknown(_ stage: Stage) -> [UUID] {
        stage.events.compactMap { if case .reportedUnknown(let own) = $0 { own } else { nil } }
    }

    private var invited: [UUID] { stage.events.compactMap { if case .incoming(let call, _) = $0 { call } else { nil } } }

    @Test func `a call under a UUID of the app's own rings, is answered, held and ended, and its journal is one call's`() throws {
        let far = stage.far.call()
        stage.run(0.5)
        let own = report(from: "2001")
        stage.run(0.5)
        #expect(far.statuses == [180] && stage.calls == [own])
        #expect(stage.request(CXAnswerCallAction(call: own)) == nil)
        stage.run(0.5)
        #expect(far.statuses == [180, 200] && stage.media.sendingLegs == 1)
        stage.hold(own)
        stage.run(0.5)
        #expect(far.isHeld && stage.media.sendingLegs == 0)
        stage.hold(own, false)
        stage.request(CXPlayDTMFCallAction(call: own, digits: "7", type: .singleTone))
        stage.run(0.5)
        #expect(!far.isHeld && stage.media.sendingLegs == 1)
        stage.end(own)
        stage.run(0.5)
        #expect(far.isOver && stage.calls.isEmpty && stage.line.refusals == 0 && adopted(stage) == [own] && unknown(stage) == [])
        let first = try #require(invited.first)
        #expect(stage.story(of: own).isEmpty, "the journal has the call under the UUID of its INVITE")
        #expect(
            stage.story(of: first).haveInOrder([
                "sip.rx INVITE", "sip.tx 100", "media.reserved", "report.adopted", "report.incoming", "report.incoming.ok", "sip.tx 180",
                "perform.answer", "media.opened", "sip.tx 200", "action.fulfilled answer", "media.started", "perform.held",
                "media.stopped", "perform.held", "media.started", "perform.end", "media.stopped", "sip.tx BYE", "call.ended",
                "media.closed", "media.released",
            ]), "\(stage.story(of: first))")
        #expect(stage.leftovers() == [])
    }

    @Test func `of several INVITEs that wait a report means the one of its handle`() {
        let calls = ["2001", "2002", "2003"].map { stage.far.call(from: Text($0), name: $0 == "2003" ? "Carol" : nil) }
        stage.run(0.5)
        let own = [report(from: "+2002"), report(from: "Carol"), report(from: "sip:2001@far.test")]
        for (call, far) in [(own[0], calls[1]), (own[1], calls[2]), (own[2], calls[0])] {
            stage.end(call)
            stage.run(0.5)
            #expect(far.statuses.last == 486)
        }
        #expect(!stage.story.contains("report.ambiguous") && stage.story.count(of: "report.adopted") == 3)
        #expect(stage.leftovers() == [])
    }

    @Test func `where nothing tells which is meant it is the oldest that is not over, and the journal says that it was a guess`() {
        let gone = stage.far.call(), first = stage.far.call(from: "2002"), second = stage.far.call(from: "2003")
        stage.run(0.5)
        gone.cancel()
        stage.run(0.5)
        let own = [report(), report(from: "nobody@elsewhere.test"), report()]
        stage.run(0.5)
        #expect(stage.calls == Array(own[..<2]) && stage.story.count(of: "report.ambiguous") == 2)
        #expect(first.statuses == [180] && second.statuses == [180])
        stage.request(CXAnswerCallAction(call: own[1]))
        stage.run(0.5)
        #expect(first.statuses.last == 180 && second.statuses.last == 200)
        for call in stage.calls { stage.end(call) }
        #expect(stage.leftovers() == [])
    }

    @Test(arguments: [AppLineSettings.Adoption.certain, .never])
    func `a line that is to be strict takes no guess`(adoption: AppLineSettings.Adoption) {
        let stage = Stage { $0.adoption = adoption }, app = Self.app(on: stage)
        let calls = ["2001", "2002"].map { stage.far.call(from: Text($0)) }
        stage.run(0.5)
        let guess = report(by: app)
        stage.run(0.5)
        #expect(adopted(stage) == [] && unknown(stage) == [guess] && stage.calls == [])
        #expect(stage.story.contains("report.ambiguous") == (adoption == .certain))
        let named = report(from: "2002", by: app), last = report(from: "1", by: app)
        stage.run(0.5)
        #expect(adopted(stage) == (adoption == .certain ? [named, last] : []) && calls[1].statuses.contains(180) == (adoption == .certain))
        for call in stage.calls { stage.end(call) }
        stage.run(10)
        #expect(calls.map(\.statuses.last) == (adoption == .certain ? [486, 486] : [480, 480]))
        #expect(stage.leftovers().allSatisfy { $0.hasPrefix("R1 ") }, "a report of no call at all")
    }

    @Test func `a caller who gave up before the report is told to the app under its own UUID`() {
        let far = stage.far.call()
        stage.run(0.5)
        far.cancel()
        stage.run(0.5)
        var ends: [UUID] = []
        app.onEnded = { [app] call, reason in
            ends.append(call)
            app.provider.reportCall(with: call, endedAt: nil, reason: reason)
        }
        let own = report(from: "2001")
        stage.run(0.5)
        #expect(ends == [own] && stage.calls.isEmpty && adopted(stage) == [own] && far.statuses.last == 487)
        #expect(stage.leftovers() == [])
    }

    @Test func `a refused report refuses the INVITE that it means`() {
        let first = stage.far.call(), second = stage.far.call(from: "2002")
        stage.run(0.5)
        stage.system.filter = { _, update in update.remoteHandle?.value == "2002" ? .filteredByDoNotDisturb : nil }
        report(from: "2002")
        stage.run(0.5)
        #expect(second.statuses == [480] && first.statuses == [] && stage.calls.isEmpty)
        stage.end(report(from: "2001"))
        stage.run(0.5)
        #expect(first.statuses.last == 486)
        #expect(stage.leftovers() == [])
    }

    @Test func `a second report under the same UUID means no other INVITE`() {
        let own = UUID(), first = stage.far.call(), second = stage.far.call(from: "2002")
        stage.run(0.5)
        for _ in 0..<2 { report(own) }
        stage.run(0.5)
        #expect(first.statuses == [180] && second.statuses == [] && stage.calls == [own] && adopted(stage) == [own])
        stage.end(own)
        stage.run(10)
        #expect(second.statuses == [480] && stage.line.counts(at: stage.now).calls == 0)
    }

    @Test func `a report while nothing waits is of a call that the line does not have`() {
        let own = report(from: "2001")
        stage.run(0.5)
        #expect(unknown(stage) == [own] && stage.calls.isEmpty && adopted(stage) == [])
        #expect(!stage.violations.isEmpty && stage.violations.allSatisfy { $0.hasPrefix("R1 ") })
    }

    @Test func `an adapter may go on to use the UUID of the INVITE`() throws {
        let far = stage.far.call()
        stage.run(0.5)
        let own = report(from: "2001"), first = try #require(invited.first), link = app.link
        app.does(CXAnswerCallAction.self) { link.answer(first) ? $0.fulfill() : $0.fail() }
        app.does(CXEndCallAction.self) { link.end(first) ? $0.fulfill() : $0.fail() }
        #expect(link.ring(first))
        stage.request(CXAnswerCallAction(call: own))
        stage.run(0.5)
        #expect(far.statuses.last == 200 && stage.line.statistics(of: first, at: stage.now) != nil)
        stage.end(own)
        stage.run(0.5)
        #expect(far.isOver && stage.line.refusals == 0)
        #expect(stage.leftovers() == [])
    }

    @Test func `the calls of two apps are each app's own`() {
        let other = Self.app(on: stage), calls = ["2001", "2002"].map { stage.far.call(from: Text($0)) }
        stage.run(0.5)
        let theirs = report(from: "2002", by: other), ours = report(from: "2001")
        stage.run(0.5)
        stage.request(CXAnswerCallAction(call: theirs))
        stage.run(0.5)
        #expect(calls[1].statuses.last == 200 && calls[0].statuses.last == 180)
        #expect(other.heard.contains("answer") && !app.heard.contains("answer"))
        stage.end(theirs)
        stage.run(0.5)
        stage.request(CXAnswerCallAction(call: ours))
        stage.run(0.5)
        #expect(calls[0].statuses.last == 200 && app.heard.contains("answer"))
        stage.end(ours)
        #expect(stage.leftovers() == [])
    }
}
