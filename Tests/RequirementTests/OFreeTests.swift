import CallApp
import CallKit
import Foundation
import Gateway
import Intents
import Media
import MonkeyCalls
import OFreeCalls
import Primitives
import PushKit
import SDP
import SIP
import Testing

@testable import Rehearsal

/// OFree (D).
@Suite(.serialized) struct OFreeTests {
    @Test func `OF-1 a call from the link is reported with its identity and rings`() {
        let stage = Stage(), app = OFreeApp(stage)
        let call = stage.ring().uuid
        #expect(app.steps.first == "incoming" && stage.call(call)?.handle == CXHandle(type: .phoneNumber, value: "2001"))
        #expect(stage.story(of: call).haveInOrder(["report.incoming", "report.incoming.ok", "sip.tx 180"]))
        stage.end(call)
        #expect(stage.leftovers() == [])
    }

    @Test func `OF-2 an answer and a refusal both come as actions`() {
        let stage = Stage(), app = OFreeApp(stage)
        stage.end(stage.ring().uuid)
        #expect(app.steps.filter { $0.hasPrefix("perform") } == ["performEnd"])
        let call = stage.takeCall().uuid
        #expect(
            app.steps.filter { $0.hasPrefix("perform") } == ["performEnd", "performAnswer"]
                && app.steps.suffix(3) == ["didActivate", "configAudio", "startAudio"])
        stage.end(call)
        #expect(stage.leftovers() == [])
    }

    @Test func `OF-3 media is not released before the system has ended the call, though the app asks for it`() {
        let stage = Stage(), app = OFreeApp(stage), link = StageLink(stage)
        let call = stage.takeCall().uuid
        stage.run(1)
        #expect(!link.releaseAudio() && stage.line.refusals == 1 && stage.openLegs == 1)
        let packets = stage.packets
        stage.run(1)
        app.controller.hangUp(call)
        stage.run(1)
        #expect(stage.packets > packets && stage.openLegs == 0)
        #expect(stage.story(of: call).haveInOrder(["tx.requested", "perform.end", "call.ended", "media.closed", "media.released"]))
        #expect(stage.leftovers() == [])
    }

    @Test func `OF-4 an outgoing call is prepared and configured in the system's callback`() {
        let stage = Stage(), app = OFreeApp(stage)
        let call = stage.makeCall().uuid
        #expect(Array(app.steps.prefix(4)) == ["performStart", "unprepareSDK", "prepareSDK", "configAudio"])
        #expect(stage.story(of: call).haveInOrder(["perform.start", "media.reserved", "media.configured", "sip.tx INVITE"]))
        stage.end(call)
        #expect(stage.leftovers() == [])
    }

    @Test func `OF-5 nothing is configured before the system has asked for it`() {
        let stage = Stage(), app = ProbeApp(stage), link = StageLink(stage)
        let call = stage.ring().uuid
        #expect(!link.configAudio() && !link.startAudio() && stage.line.refusals == 2)
        #expect(!stage.story(of: call).contains { ["media.configured", "media.opened", "media.started"].contains($0) })
        stage.end(call)
        #expect(stage.leftovers() == [])
        withExtendedLifetime(app) {}
    }

    @Test func `OF-6 sockets are closed after the system has taken the session back`() {
        let stage = Stage(), app = OFreeApp(stage)
        let call = stage.takeCall().uuid
        stage.end(call)
        #expect(stage.story(of: call).haveInOrder(["call.ended", "session.deactivated", "media.closed", "media.released"]))
        #expect(stage.leftovers() == [], "M5s is in the audit")
        withExtendedLifetime(app) {}
    }

    @Test func `OF-7 a configuration that fails fails the action, and codecs that do not fit are 488`() {
        let stage = Stage(ports: 1), app = OFreeApp(stage)
        let call = stage.takeCall().uuid
        stage.dial("2002")
        stage.run(0.2)
        #expect(stage.calls == [call] && stage.story.contains("action.failed start") && stage.story.contains("media.refused"))
        #expect(stage.sent("app INVITE").allSatisfy { $0.body.contains("a=sendonly") }, "but the hold of the first nothing left")
        #expect(app.steps.contains("configAudio") && stage.openLegs == 1)
        stage.end(call)
        stage.run(2)
        let before = stage.traffic.count, odd = stage.far.call(codecs: [Codec(name: "GSM", clockRate: 8_000)])
        stage.run(0.2)
        #expect(Array(stage.traffic.dropFirst(before)) == ["far INVITE", "app 100 INVITE", "app 488 INVITE", "far ACK"])
        #expect(odd.statuses == [488] && stage.calls.isEmpty)
        let story = stage.story
        #expect(story.count(of: "media.reserved") == story.count(of: "media.released") && story.count(of: "media.opened") == 1)
        #expect(stage.leftovers() == [])
        withExtendedLifetime(app) {}
    }

    @Test func `OF-8 sound that cannot start ends the call as failed`() throws {
        let stage = Stage(), link = DumbLink(stage)
        let controller = CallSystem.$current.withValue(stage.system) { CallController(link: StageLink(stage), media: link) }
        let app = LinkedApp(controller, stage)
        let taken = stage.takeCall()
        stage.run(1)
        let reported = try #require(stage.journal.first { $0.words == "report.ended" })
        #expect(taken.far.isOver && stage.sent("app BYE").count == 1 && reported.details.text(.reason) == "failed" && stage.packets == 0)
        #expect(stage.leftovers() == [])
        withExtendedLifetime((app, link)) {}
    }

    /// A media library without a sound card.
    private final class DumbLink: MediaLibrary {
        private let link: StageLink
        init(_ stage: Stage) { link = StageLink(stage) }
        func configAudio() -> Bool { link.configAudio() }
        func startAudio() -> Bool { false }
        func stopAudio() { link.stopAudio() }
        func releaseAudio() -> Bool { link.releaseAudio() }
    }

    private final class LinkedApp: StageApp {
        let controller: CallController
        init(_ controller: CallController, _ stage: Stage) {
            self.controller = controller
            stage.app = self
        }
        func incoming(_ call: UUID, _ caller: AppCaller) { controller.linkHasCall(call, from: caller.handle, isNumber: caller.isNumber) }
        func connecting(_ call: UUID) { controller.linkIsConnecting(call) }
        func connected(_ call: UUID) { controller.linkConnected(call) }
        func ended(_ call: UUID, _ reason: CXCallEndedReason) { controller.linkEnded(call, reason) }
        func dial(_ handle: String) { controller.startCall(to: handle) }
    }

    @Test func `OF-9 sound may be stopped twice, and nothing leaves after the first time`() {
        let stage = Stage(), app = OFreeApp(stage), link = StageLink(stage)
        let call = stage.takeCall().uuid
        stage.run(1)
        link.stopAudio()
        let packets = stage.packets
        link.stopAudio()
        stage.run(1)
        #expect(stage.packets == packets && packets > 0 && stage.story(of: call).count(of: "media.stopped") == 1)
        stage.end(call)
        link.stopAudio()
        #expect(stage.leftovers() == [])
        withExtendedLifetime(app) {}
    }

    @Test func `OF-10 media may be released twice, and is released once`() {
        let stage = Stage(), app = ProbeApp(stage), link = StageLink(stage)
        let call = stage.takeCall().uuid
        app.does(CXEndCallAction.self) { action in
            _ = link.end(action.callUUID)
            #expect(link.releaseAudio() && link.releaseAudio())
            action.fulfill()
        }
        stage.end(call)
        #expect(link.releaseAudio() && stage.line.refusals == 0)
        #expect(stage.story(of: call).count(of: "media.released") == 1 && stage.leftovers() == [])
    }

    @Test func `OF-11 without its link the line takes no call, and nothing is reported`() {
        let stage = Stage(), app = OFreeApp(stage)
        stage.line.leave(at: stage.now)
        let far = stage.far.call()
        stage.run(1)
        #expect(far.statuses == [480] && app.steps.isEmpty && !stage.story.contains("report.incoming"))
        #expect(stage.leftovers() == [])
    }

    @Test func `OF-12 the foreground sequence runs step by step, whoever hangs up`() {
        let steps = ["incoming", "unprepareSDK", "prepareSDK", "performAnswer", "didActivate", "configAudio", "startAudio"]
        let stage = Stage(), app = OFreeApp(stage)
        let call = stage.takeCall().uuid
        app.controller.hangUp(call)
        #expect(app.steps == steps + ["end requested", "performEnd", "releaseAudio", "unprepareSDK", "didDeactivate"])
        let remote = Stage(), other = OFreeApp(remote)
        remote.takeCall().far.bye()
        remote.run(1)
        #expect(
            other.steps.filter { $0 != "didDeactivate" } == steps + ["releaseAudio", "unprepareSDK"]
                && other.steps.contains("didDeactivate"))
        for stage in [stage, remote] { #expect(stage.leftovers() == [] && stage.line.refusals == 0) }
    }

    @Test func `what an earlier call left is taken down before the next is prepared`() {
        let stage = Stage(), app = OFreeApp(stage)
        for _ in 0..<2 {
            stage.takeCall().far.bye()
            stage.run(1)
        }
        let preparations = app.steps.filter { $0.hasSuffix("prepareSDK") }
        #expect(preparations == ["unprepareSDK", "prepareSDK", "unprepareSDK", "unprepareSDK", "prepareSDK", "unprepareSDK"])
        #expect(app.controller.providerDelegate.sdk.preparedCall == nil && stage.leftovers() == [])
    }

    @Test func `OF-13 an app that is killed in a call leaves nothing, and the next one prepares once`() {
        let stage = Stage()
        let talking: FarCall = {
            let killed = OFreeApp(stage), call = stage.takeCall()
            stage.run(1)
            #expect(stage.media.sendingLegs == 1 && killed.controller.providerDelegate.sdk.preparedCall == call.uuid)
            stage.app = nil
            return call.far
        }()
        stage.run(1)
        #expect(talking.isOver && stage.calls.isEmpty && stage.openLegs == 0 && stage.sent("app BYE").count == 1)
        let app = OFreeApp(stage), call = stage.takeCall()
        #expect(
            app.steps == ["incoming", "unprepareSDK", "prepareSDK", "performAnswer", "didActivate", "configAudio", "startAudio"]
                && call.far.statuses == [180, 200] && stage.media.sendingLegs == 1)
        stage.end(call.uuid)
        let left = stage.leftovers(), story = stage.story
        #expect(left == [])
        #expect(story.count(of: "media.reserved") == 2 && story.count(of: "media.released") == 2)
        #expect(story.count(of: "media.opened") == 2 && story.count(of: "media.closed") == 2)
    }

    @Test func `OF-14 the log has the steps of the original in their order, and takes less time than the phone by orders`() throws {
        let stage = Stage(), app = OFreeApp(stage), clock = ContinuousClock()
        let call = stage.ring().uuid
        let answer = clock.measure { _ = stage.request(CXAnswerCallAction(call: call)) }
        #expect(app.steps.last == "startAudio", "in the same moment")
        stage.run(10)
        let end = clock.measure { app.controller.hangUp(call) }
        #expect(app.steps.last == "didDeactivate")
        print("OF-14: answer to start \(answer), end to deactivation \(end); the telephone: 913 ms, 732 ms")
        #expect(answer < .milliseconds(300) && end < .milliseconds(250), "by the clock on the wall, on a busy machine")
        stage.run(1)
        #expect(
            app.steps == [
                "incoming", "unprepareSDK", "prepareSDK", "performAnswer", "didActivate", "configAudio", "startAudio", "end requested",
                "performEnd",
                "releaseAudio", "unprepareSDK", "didDeactivate",
            ])
        let journal = stage.journal.filter { $0.call == CallUUID(call) }
        func time(_ words: String) throws -> Instant { try #require(journal.first { $0.words == words }).time }
        #expect(
            try time("media.started") - time("perform.answer") < .milliseconds(9)
                && time("session.deactivated") - time("perform.end") < .milliseconds(7))
        #expect(stage.leftovers() == [])
    }

    @MainActor @Test(.timeLimit(.minutes(30)))
    func `OF-16 a push wakes the app, which registers after five seconds, and then rings and answers`() async throws {
        let stage = Stage { $0.registers = true }, phone = PushedPhone(stage)
        let registry = PKPushRegistry(queue: .main)
        registry.delegate = phone
        registry.desiredPushTypes = [.voIP]
        await withCheckedContinuation { continuation in
            #expect(registry.hookswitchDeliver(PKPushPayload(hookswitch: ["handle": "2001"])) { continuation.resume() })
        }
        #expect(phone.pushes == 1 && stage.sent("app REGISTER").isEmpty, "it is woken, and not yet launched")
        // The server has the INVITE, and lets it go when the app has registered.
        stage.far.onRegister = { stage.far.call() }
        let pushed = stage.now
        stage.run(8)
        let register = try #require(stage.sent("app REGISTER").first), ringing = try #require(stage.sent("app 180 INVITE").first)
        #expect(stage.line.isRegistered && stage.sent("app REGISTER").count == 1 && stage.traffic.first == "app REGISTER")
        #expect(register.time - pushed == .seconds(5) && ringing.time - register.time < .milliseconds(100))
        let far = try #require(stage.far.calls.first), call = try #require(stage.calls.first)
        #expect(far.statuses == [180])
        stage.request(CXAnswerCallAction(call: call))
        stage.run(0.2)
        #expect(far.statuses == [180, 200] && stage.media.sendingLegs == 1)
        stage.far.onRegister = {}
        stage.end(call)
        #expect(stage.leftovers() == [])
    }

    private final class PushedPhone: NSObject, PKPushRegistryDelegate {
        private let stage: Stage
        private let app: OFreeApp
        private(set) var pushes = 0
        init(_ stage: Stage) { (self.stage, app) = (stage, OFreeApp(stage)) }
        func pushRegistry(_ registry: PKPushRegistry, didUpdate pushCredentials: PKPushCredentials, for type: PKPushType) {}
        func pushRegistry(
            _ registry: PKPushRegistry, didReceiveIncomingPushWith payload: PKPushPayload, for type: PKPushType,
            completion: @escaping () -> Void
        ) {
            pushes += 1
            // The launch takes its time.
            stage.after(.seconds(5)) { [stage] in stage.line.register(at: stage.now) }
            completion()
        }
    }

    @Test(arguments: [1, 2, 3] as [UInt64]) func `OF-17 after hundreds of random calls no port, context or call is left`(seed: UInt64) {
        let stage = Stage(), app = HotlineApp(stage)
        var random = SeededRandom(seed: seed)
        stage.far.onInvite = { call in
            switch Int.random(in: 0..<4, using: &random) {
            case 0: call.refuse(486)
            case 1: call.ring()
            default: call.answer()
            }
        }
        for _ in 0..<120 {
            let far = Bool.random(using: &random) ? stage.far.call() : nil
            if far == nil { stage.dial("2002") }
            stage.run(0.01 * Double(Int.random(in: 0...5, using: &random)))
            if let call = stage.calls.last { stage.request(CXAnswerCallAction(call: call)) }
            stage.run(0.01 * Double(Int.random(in: 0...30, using: &random)))
            switch Int.random(in: 0..<6, using: &random) {
            case 0: far?.cancel()
            case 1: far?.bye()
            case 2: stage.far.calls.last?.bye()
            case 3: stage.calls.forEach { stage.hold($0) }
            case 4:
                // The connection to the system is lost, as when the app is killed.
                stage.host.now = stage.now
                stage.system.reset()
            default: break
            }
            stage.run(0.01 * Double(Int.random(in: 0...5, using: &random)))
            if stage.calls.count > 1 || Bool.random(using: &random) { stage.calls.forEach { stage.end($0) } }
        }
        stage.calls.forEach { stage.end($0) }
        for call in stage.far.calls where !call.isOver { call.bye() }
        #expect(stage.leftovers() == [])
        #expect(
            stage.story.count(of: "media.opened") > 20 && stage.story.count(of: "media.opened") == stage.story.count(of: "media.closed"))
        #expect(stage.story.count(of: "media.reserved") == stage.story.count(of: "media.released"))
        withExtendedLifetime(app) {}
    }

    @Test func `OF-18 the ring's clock starts at the report, however late that is`() {
        let stage = Stage { $0.reportLimit = .seconds(30) }, app = ProbeApp(stage)
        app.onIncoming = { call, caller in stage.after(.seconds(20)) { app.report(call, caller) } }
        let far = stage.far.call()
        stage.run(79)
        #expect(far.statuses == [180] && stage.calls.count == 1)
        stage.run(2)
        #expect(far.statuses == [180, 480] && stage.calls.isEmpty)
        #expect(stage.leftovers() == [])
    }

    @Test func `OF-19 from the launch to the report takes milliseconds`() {
        let clock = ContinuousClock()
        var times: [Duration] = []
        for _ in 0..<100 {
            let stage = Stage()
            let far = stage.far.call()
            stage.run(0.1)
            guard case .incoming(let call, let caller)? = stage.events.first else { continue }
            times.append(
                clock.measure {
                    let app = OFreeApp(stage)
                    app.incoming(call, caller)
                })
            #expect(stage.calls == [call])
            stage.end(call)
            withExtendedLifetime(far) {}
        }
        times.sort()
        print("OF-19: launch to report: median \(times[50]), p99 \(times[99])")
        #expect(times.count == 100 && times[50] < .milliseconds(100))
    }

    @Test func `OF-20 a call of another app leaves the first one alone until the user chooses`() {
        let stage = Stage(), app = OFreeApp(stage)
        let first = stage.takeCall().uuid
        let other = ProbeApp(stage)
        let second = stage.ring().uuid
        stage.run(5)
        #expect(stage.media.counts(at: stage.now).started == 1 && stage.call(first)?.isOnHold == false && stage.sent("app INVITE").isEmpty)
        stage.request(CXAnswerCallAction(call: second))
        stage.run(1)
        #expect(stage.call(first)?.isOnHold == true && other.heard.contains("answer"))
        for call in [second, first] { stage.end(call) }
        #expect(stage.leftovers() == [])
        withExtendedLifetime(app) {}
    }

    @Test func `OF-22 an entry whose handle type is not supported cannot be called back, and it is said why`() throws {
        for (types, works) in [([.phoneNumber], false), ([.phoneNumber, .generic], true)] as [(Set<CXHandle.HandleType>, Bool)] {
            let stage = Stage(), app = MonkeyApp(stage, types: types), recents = AppRecents(of: app.delegate.provider)
            stage.line.recents = recents
            stage.takeCall(from: "2001").far.bye()
            stage.run(1)
            let entry = try #require(recents.entries.first)
            #expect(entry.handle.type == .generic, "MonkeyCall reports generic handles")
            var refusal: String?
            do { try recents.callBack(entry) { StartCallRequest(activity: $0) != nil } } catch { refusal = error.description }
            #expect((refusal == nil) == works && refusal?.hasPrefix("handleType unsupported") != false)
            let told = stage.journal.filter { $0.words == "callback.refused" }
            #expect(told.count == (works ? 0 : 1) && told.allSatisfy { $0.details.text(.error) == "handleTypeUnsupported" })
            #expect(told.allSatisfy { $0.details.text(.remote) == "2001" } && stage.sent("app INVITE").isEmpty)
            #expect(stage.leftovers() == [])
        }
    }

    @Test func `OF-23 the configuration is made once`() {
        let configuration = OFreeCalls.ProviderDelegate.configuration
        #expect(configuration === OFreeCalls.ProviderDelegate.configuration && configuration.localizedName == "OFree")
        #expect(configuration.supportedHandleTypes == [.generic, .phoneNumber])
    }

    @Test func `OF-24 calls are in the recents, unless the provider does not want that`() {
        for included in [true, false] {
            let stage = Stage(), app = ProbeApp(stage) { $0.includesCallsInRecents = included }, recents = AppRecents(of: app.provider)
            stage.line.recents = recents
            stage.makeCall().far.bye()
            stage.run(1)
            #expect(recents.entries.count == (included ? 1 : 0))
            #expect(stage.leftovers() == [])
        }
    }
}
