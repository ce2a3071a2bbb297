import CallJournal
import Primitives
import Testing

@testable import Workbench

@Suite final class AppTimelineTests {
    private var timeline = AppTimeline()
    private var now = Instant(nanoseconds: 1_000_000_000)

    private func come(_ texts: String...) {
        for text in texts {
            now = now + .milliseconds(1)
            timeline.note(AppTimeline.Entry(text.hasPrefix("far ") ? .far : .app, text, at: now))
        }
    }

    private func step() { timeline.note(step: "user answers", opensWindow: true, at: now) }

    private func unmet(_ texts: String...) -> String? { timeline.unmet(texts.map { AppExpectation($0) })?.description }

    @Test func `expectations are met in their order, with anything between`() {
        come("perform.answer", "media.opened", "sip.tx 200 INVITE", "session.activated", "media.started")
        #expect(unmet("perform.answer", "sip.tx 200", "media.started") == nil)
        #expect(unmet("session.activated", "perform.answer") == "perform.answer")
        #expect(timeline.hasCome(AppExpectation("perform.answer")))
    }

    @Test func `words are whole: a longer status is another one`() {
        come("sip.tx 180 INVITE", "perform.held on")
        #expect(unmet("sip.tx 18") == "sip.tx 18" && unmet("perform.held off") == "perform.held off" && unmet("perform.held") == nil)
    }

    @Test func `the app's order and the far end's are two, for their news come by two ways`() {
        come("far connected", "sip.tx 200 INVITE", "media.started")
        #expect(unmet("sip.tx 200", "media.started", "far connected") == nil)
        come("far held", "far resumed")
        #expect(unmet("far resumed", "far held") == "far held")
    }

    @Test func `a step that does something begins anew, and a wait does not`() {
        come("media.started")
        step()
        #expect(unmet("media.started") == "media.started" && !timeline.hasCome(AppExpectation("media.started")))
        come("media.stopped")
        timeline.note(step: "wait: 1", opensWindow: false, at: now)
        #expect(unmet("media.stopped") == nil)
    }

    @Test func `a sound is told once in a window, with its pitch, and not where it began before`() {
        func sound(_ pitch: Double) -> AppTimeline.Entry {
            var entry = AppTimeline.Entry(.far, "far hears sound", at: now)
            entry.pitch = pitch
            return entry
        }
        for pitch in [440.0, 441, 1_000] { timeline.noteSound(sound(pitch), began: now) }
        #expect(timeline.entries.map(\.pitch) == [440, 1_000])
        #expect(unmet("far hears 1000 Hz") == nil && unmet("far hears 800 Hz") == "far hears 800 Hz" && unmet("far hears sound") == nil)
        let before = now
        now = now + .seconds(1)
        step()
        timeline.noteSound(sound(440), began: before)
        #expect(unmet("far hears sound") == "far hears sound")
        timeline.noteSound(sound(440), began: now)
        #expect(unmet("far hears sound") == nil)
    }

    @Test func `the order of a call is that of its events, whatever came first by the socket`() throws {
        let call = try #require(CallUUID("5B4E7C36-0000-4000-8000-000000000001")),
            kinds: [(JournalEvent.Kind, JournalEvent.Details)] = [
                (.sipReceived, [.method: "INVITE", .callid: "a"]), (.performAnswer, [.action: "x"]), (.mediaOpened, [.codec: "opus"]),
                (.sipSent, [.method: "INVITE", .status: 200, .callid: "a"]), (.actionFulfilled, [.class: "answer"]),
                (.sessionActivated, [:]), (.mediaStarted, [:]), (.sipReceived, [.method: "INVITE", .status: 200, .callid: "a"]),
            ]
        timeline.note(AppTimeline.Entry(.app, "app hears sound", call: call, at: now + .seconds(1)))
        timeline.name("a", "2001")
        for (number, (kind, details)) in kinds.enumerated() {
            timeline.note(
                JournalEvent(sequence: UInt64(number + 1), time: now + .milliseconds(number), call: call, kind: kind, details: details))
        }
        let order = try #require(timeline.orders.first)
        #expect(
            order.steps.map(\.event) == [
                "perform.answer", "media.opened opus", "sip.tx 200 INVITE", "action.fulfilled answer", "session.activated",
                "media.started",
            ])
        #expect(order.call == "2001" && order.steps.map(\.ms) == [0, 1, 2, 3, 4, 5] && timeline.call(of: "a") == call)
    }
}
