import CallApp
import CallKit
import Foundation
import Gateway
@preconcurrency import HotlineCalls
import Media
import Primitives
import SIP
import Testing

@testable import Rehearsal

/// Hotline (C), without its call directory.
@Suite(.serialized) struct HotlineTests {
    @Test func `HL-1 the provider is built from the static configuration`() {
        let configuration = HotlineCalls.ProviderDelegate.providerConfiguration
        #expect(configuration.localizedName == "Hotline" && configuration.supportsVideo)
        #expect(configuration.maximumCallsPerCallGroup == 1 && configuration.supportedHandleTypes == [.phoneNumber])
    }

    @Test func `HL-2 an incoming call is reported, added without an error, and its completion comes once`() {
        let stage = Stage(), app = HotlineApp(stage)
        stage.system.filter = { _, update in update.remoteHandle?.value == "666" ? .filteredByBlockList : nil }
        stage.far.call(from: "666")
        let call = stage.ring().uuid
        #expect(app.errors.map { $0 == nil } == [false, true] && app.manager.calls.map(\.uuid) == [call])
        stage.end(call)
        #expect(stage.leftovers() == [])
    }

    @Test func `HL-3 a reset stops the sound, ends every call and forgets it`() {
        let stage = Stage(), app = HotlineApp(stage)
        let first = stage.takeCall(), second = stage.takeCall()
        stage.host.now = stage.now
        stage.system.reset()
        stage.run(2)
        #expect(app.manager.calls.isEmpty && first.far.isOver && second.far.isOver && stage.sent("app BYE").count == 2)
        #expect(stage.story(of: second.uuid).haveInOrder(["media.stopped", "sip.tx BYE", "media.closed"]))
        #expect(stage.leftovers() == [])
    }

    @MainActor @Test func `HL-4 a report that is made 1.5 s later is taken, the 100 is out, and the process is kept awake for it`() throws {
        let stage = Stage(), app = try #require(Launcher.hotline(stage))
        let far = stage.far.call()
        stage.run(1.5)
        #expect(stage.traffic == ["far INVITE", "app 100 INVITE"])
        guard case .incoming(let uuid, let caller)? = stage.events.first else { return #expect(Bool(false), "the app was told") }
        var completions = 0, awake: [Int] = []
        stage.host.now = stage.now
        // The system asks what it thinks of the caller while the report is under way.
        stage.system.filter = { _, _ in
            awake.append(Launcher.backgroundTasks)
            return nil
        }
        stage.after(.milliseconds(1_500)) {
            app.displayIncomingCall(uuid: uuid, handle: caller.handle) { error in
                #expect(error == nil)
                completions += 1
            }
        }
        stage.run(1.4)
        #expect(stage.traffic == ["far INVITE", "app 100 INVITE"] && completions == 0 && stage.openLegs == 0)
        stage.run(0.2)
        #expect(far.statuses == [180] && completions == 1 && awake == [1] && Launcher.backgroundTasks == 0)
        let rung = try #require(stage.sent("app 180 INVITE").first), called = try #require(stage.sent("far INVITE").first)
        #expect(abs((rung.time - called.time) / .seconds(1) - 3) < 0.01, "3 s after the INVITE, by the clock of the wire")
        stage.end(uuid)
        #expect(stage.leftovers() == [])
    }

    @Test func `HL-5 an answer of an unknown call fails, and a known one is configured, active and fulfilled`() {
        let stage = Stage(), app = HotlineApp(stage)
        let ringing = stage.ring()
        stage.request(CXAnswerCallAction(call: ringing.uuid))
        stage.run(0.1)
        #expect(app.manager.callWithUUID(uuid: ringing.uuid)?.state == .active)
        #expect(stage.story(of: ringing.uuid).haveInOrder(["media.configured", "media.opened", "action.fulfilled answer"]))
        stage.end(ringing.uuid)
        let lost = stage.ring()
        app.delegate.networkEnds(uuid: UUID(), reason: .failed)
        app.delegate.providerDidReset(CXProvider(configuration: CXProviderConfiguration(), system: stage.system))
        stage.request(CXAnswerCallAction(call: lost.uuid))
        #expect(stage.story(of: lost.uuid).contains("action.failed answer"))
        #expect(stage.leftovers() == [])
    }

    @Test func `HL-6 sound starts in didActivate`() {
        let stage = Stage(), app = HotlineApp(stage)
        let call = stage.takeCall().uuid
        stage.run(1)
        #expect(
            stage.story(of: call).haveInOrder(["session.activated", "media.started"]) && stage.media.counts(at: stage.now).started == 1)
        stage.end(call)
        #expect(stage.packets > 40 && stage.leftovers() == [])
        withExtendedLifetime(app) {}
    }

    @Test func `HL-7 an end from the system and an end from the app are one BYE each`() throws {
        let stage = Stage(), app = HotlineApp(stage)
        // The telephone's own screen: a controller that is not the app's.
        let shown = stage.takeCall()
        stage.end(shown.uuid)
        stage.run(1)
        #expect(stage.sent("app BYE").count == 1 && stage.sent("far 200 BYE").count == 1 && app.manager.calls.isEmpty)
        #expect(stage.story(of: shown.uuid).count(of: "perform.end") == 1 && shown.far.isOver)
        let call = stage.takeCall().uuid
        app.manager.end(call: try #require(app.manager.callWithUUID(uuid: call)))
        stage.run(1)
        #expect(stage.sent("app BYE").count == 2 && stage.story(of: call).haveInOrder(["tx.requested", "tx.accepted", "perform.end"]))
        let ringing = stage.ring()
        stage.run(61)
        #expect(
            ringing.far.statuses.last == 480 && stage.story(of: ringing.uuid).haveInOrder(["sys.action", "perform.end"]),
            "the system asks for it by itself")
        #expect(stage.leftovers() == [])
    }

    @Test func `HL-8 the sound stops before the BYE, and the call is forgotten after the end was fulfilled`() throws {
        let stage = Stage(), app = HotlineApp(stage)
        let call = stage.takeCall().uuid, onSend = stage.network.onSend
        stage.run(1)
        var atBye: [(packets: UInt64, sending: Int)] = []
        stage.network.onSend = { [stage] bytes, source, target in
            if String(decoding: bytes.prefix(4), as: UTF8.self) == "BYE " { atBye.append((stage.packets, stage.media.sendingLegs)) }
            onSend(bytes, source, target)
        }
        stage.end(call)
        let order = ["perform.end", "media.stopped", "sip.tx BYE", "action.fulfilled end", "call.ended"]
        #expect(stage.story(of: call).haveInOrder(order) && app.manager.calls.isEmpty)
        stage.run(2)
        stage.network.onSend = onSend
        #expect(atBye.count == 1 && atBye[0].sending == 0 && atBye[0].packets > 40 && stage.packets == atBye[0].packets)
        let stopped = try #require(stage.journal.first { $0.words == "media.stopped" }), bye = try #require(stage.sent("app BYE").first)
        #expect(stopped.details.number(.lastSent).map { $0 <= Int64(bye.time.nanoseconds) } == true, "the last packet is before the BYE")
        #expect(stage.leftovers() == [])
    }

    @Test func `HL-9 whatever the manager does is a transaction`() throws {
        let stage = Stage(), app = HotlineApp(stage)
        stage.far.onInvite = { $0.answer() }
        app.manager.startCall(handle: "2002", videoEnabled: false)
        stage.run(0.2)
        let call = try #require(app.manager.calls.first)
        app.manager.setHeld(call: call, onHold: true)
        app.manager.end(call: call)
        #expect(
            stage.story.filter { $0 == "tx.accepted" }.count == 3
                && stage.story.filter { $0.hasPrefix("perform.") } == ["perform.start", "perform.held", "perform.end"])
        #expect(stage.leftovers() == [])
    }

    @Test func `HL-10 deleting a row ends its call`() {
        let stage = Stage(), app = HotlineApp(stage)
        let first = stage.takeCall(), second = stage.takeCall()
        app.manager.end(call: app.manager.calls[0])
        stage.run(1)
        #expect(
            first.far.isOver && !second.far.isOver && app.manager.calls.map(\.uuid) == [second.uuid] && stage.sent("app BYE").count == 1)
        stage.end(second.uuid)
        #expect(stage.leftovers() == [])
    }

    @Test func `HL-11 hold stops the sound and resume starts it, and each is fulfilled`() throws {
        let stage = Stage(), app = HotlineApp(stage)
        let uuid = stage.takeCall().uuid
        let call = try #require(app.manager.callWithUUID(uuid: uuid))
        stage.run(1)
        app.manager.setHeld(call: call, onHold: true)
        stage.run(1)
        let packets = stage.packets
        #expect(call.state == .held && packets > 40)
        stage.run(1)
        #expect(stage.packets == packets)
        app.manager.setHeld(call: call, onHold: false)
        stage.run(1)
        #expect(call.state == .active)
        #expect(
            stage.story(of: uuid).haveInOrder([
                "media.stopped", "sip.tx INVITE", "action.fulfilled held", "sip.tx INVITE", "action.fulfilled held", "media.started",
            ]))
        stage.end(uuid)
        #expect(stage.packets > packets && stage.leftovers() == [])
    }

    @Test func `HL-12 the same hold twice is one re-INVITE`() throws {
        let stage = Stage(), app = HotlineApp(stage)
        let uuid = stage.takeCall().uuid
        let call = try #require(app.manager.callWithUUID(uuid: uuid))
        for _ in 0..<2 { app.manager.setHeld(call: call, onHold: true) }
        stage.run(1)
        #expect(stage.sent("app INVITE").count == 1 && stage.call(uuid)?.isOnHold == true)
        stage.end(uuid)
        #expect(stage.leftovers() == [])
    }

    @Test func `HL-13 a start is configured, sent, fulfilled, reported twice, and no provider keeps its delegate`() {
        let stage = Stage()
        weak var kept: HotlineCalls.ProviderDelegate?
        do {
            let app = HotlineApp(stage)
            kept = app.delegate
            let call = stage.makeCall().uuid
            let order = [
                "perform.start", "media.configured", "sip.tx INVITE", "action.fulfilled start", "report.connecting", "media.opened",
                "report.connected", "session.activated", "media.started",
            ]
            #expect(stage.story(of: call).haveInOrder(order), "\(stage.story(of: call))")
            stage.end(call)
            #expect(stage.leftovers() == [])
            stage.app = nil
        }
        #expect(kept == nil)
    }

    @Test func `HL-14 the handle is a phone number, and the wish for video is in the action before it is requested`() {
        for video in [true, false] {
            let stage = Stage(), books = CXProvider(configuration: CXProviderConfiguration(), system: stage.system)
            let app = HotlineApp(stage), recents = AppRecents(of: books)
            stage.line.recents = recents
            app.manager.startCall(handle: "2002", videoEnabled: video)
            stage.run(0.1)
            #expect(stage.sent("app INVITE").first?.body.contains("m=audio") == true)
            stage.end(stage.calls[0])
            #expect(recents.entries.map(\.isVideo) == [video] && recents.entries.map(\.handle.type) == [.phoneNumber])
            #expect(stage.leftovers() == [])
            withExtendedLifetime(books) {}
        }
    }

    @Test func `HL-15 calls come in and go out by the same app in one run`() {
        let stage = Stage(), app = HotlineApp(stage)
        let taken = stage.takeCall().uuid, made = stage.makeCall().uuid
        #expect(app.manager.calls.map(\.outgoing) == [false, true])
        for call in [made, taken] { stage.end(call) }
        #expect(stage.leftovers() == [])
    }

    @Test func `HL-16 the user's choice comes as one transaction of end and answer`() {
        let stage = Stage(), app = HotlineApp(stage)
        let first = stage.takeCall().uuid, second = stage.ring().uuid
        let before = stage.story.count
        stage.request(CXEndCallAction(call: first), CXAnswerCallAction(call: second))
        stage.run(1)
        let story = Array(stage.story.dropFirst(before))
        #expect(story.count(of: "tx.accepted") == 1 && story.haveInOrder(["perform.end", "sip.tx BYE", "perform.answer", "sip.tx 200"]))
        #expect(stage.media.counts(at: stage.now).started == 1, "and the new call is heard")
        stage.end(second)
        #expect(stage.leftovers() == [])
        withExtendedLifetime(app) {}
    }

    @Test func `HL-17 resuming one call holds the other first`() {
        let stage = Stage(), app = HotlineApp(stage)
        let first = stage.takeCall().uuid, second = stage.takeCall().uuid
        #expect(stage.call(first)?.isOnHold == true)
        stage.hold(first, false)
        stage.run(1)
        #expect(stage.call(first)?.isOnHold == false && stage.call(second)?.isOnHold == true)
        #expect(stage.directions.suffix(2) == ["sendonly", "sendrecv"], "B is held before A is taken back")
        #expect(stage.media.counts(at: stage.now).started == 1)
        for call in [first, second] { stage.end(call) }
        #expect(stage.leftovers() == [])
        withExtendedLifetime(app) {}
    }
}
