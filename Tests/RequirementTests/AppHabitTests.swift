import CallKit
import Foundation
import Intents
import Primitives
import PushKit
import SDP
import Testing

@testable import CallApp
@testable import Rehearsal

/// What apps do otherwise than the samples, and may.
@Suite struct AppHabitTests {
    @Test func `an app may fulfil first and act then: the line says that it is done, and counts no mistake`() {
        let stage = Stage(), app = ProbeApp(stage), link = app.link
        var results: [Bool] = []
        app.does(CXStartCallAction.self) {
            $0.fulfill()
            results.append(link.start($0.callUUID, to: $0.handle.value))
        }
        app.does(CXAnswerCallAction.self) { $0.fulfill() }
        app.does(CXSetMutedCallAction.self) {
            $0.fulfill()
            results.append(link.setMuted($0.callUUID, $0.isMuted))
        }
        app.does(CXSetHeldCallAction.self) { action in
            action.fulfill()
            stage.line.setHeld(action.callUUID, action.isOnHold, at: stage.now) { results.append($0) }
        }
        let outgoing = stage.makeCall().uuid
        stage.request(CXSetMutedCallAction(call: outgoing, muted: true))
        stage.hold(outgoing)
        stage.run(0.2)
        stage.hold(outgoing, false)
        stage.run(0.5)
        #expect(results == [true, true, true, true])
        stage.end(outgoing)
        stage.run(0.5)
        var incoming: UUID?
        app.onActivate = { results.append(incoming.map(link.answer) ?? false) }
        incoming = stage.ring().uuid
        stage.request(CXAnswerCallAction(call: incoming ?? UUID()))
        stage.run(0.2)
        #expect(results.last == true && stage.line.refusals == 0)
        #expect(!link.answer(UUID()) && !link.start(UUID(), to: "1") && stage.line.refusals == 2)
        _ = link.startAudio()
        stage.end(incoming ?? UUID())
        #expect(stage.leftovers() == [])
    }

    @Test(arguments: [false, true]) func `an app may take whole transactions, and act there or later`(isLater: Bool) {
        let stage = Stage(), app = ProbeApp(stage) { $0.maximumCallGroups = 3 }, link = app.link, recents = AppRecents(of: app.provider)
        stage.line.recents = recents
        app.onExecute = { [unowned app] transaction in
            if isLater { stage.after(.milliseconds(10)) { [unowned app] in app.perform(transaction) } } else { app.perform(transaction) }
            return true
        }
        app.does(CXAnswerCallAction.self) { link.configAudio() && link.answer($0.callUUID) ? $0.fulfill() : $0.fail() }
        app.does(CXEndCallAction.self) {
            link.stopAudio()
            link.end($0.callUUID) && link.releaseAudio() ? $0.fulfill() : $0.fail()
        }
        let outgoing = stage.makeCall().uuid
        stage.request(
            CXPlayDTMFCallAction(call: outgoing, digits: "1", type: .singleTone), CXSetMutedCallAction(call: outgoing, muted: true))
        stage.run(0.2)
        #expect(stage.media.keys.map(\.key) == ["1"] && stage.call(outgoing)?.isMuted == true)
        let second = stage.ring().uuid
        stage.request(CXSetHeldCallAction(call: outgoing, onHold: true), CXAnswerCallAction(call: second))
        stage.run(0.2)
        #expect(stage.call(outgoing)?.isOnHold == true && stage.call(second)?.hasConnected == true && stage.media.sendingLegs == 1)
        let third = stage.ring(from: "2003").uuid
        stage.request(CXEndCallAction(call: outgoing), CXEndCallAction(call: second), CXAnswerCallAction(call: third))
        stage.run(0.2)
        #expect(stage.calls == [third] && stage.media.sendingLegs == 1)
        stage.end(third)
        stage.run(0.2)
        #expect(stage.calls == [] && stage.line.refusals == 0)
        #expect(recents.entries.count == 3 && recents.entries.count { $0.isOutgoing } == 1)
        #expect(stage.leftovers() == [])
    }

    @Test func `an app that does not take a transaction has its actions one by one, whatever it did when it was asked for the whole`() {
        let stage = Stage(), app = ProbeApp(stage), link = app.link, call = stage.takeCall().uuid
        var results: [Bool] = []
        app.onExecute = { _ in
            results.append(link.setMuted(call, true))
            return false
        }
        app.does(CXSetMutedCallAction.self) { action in
            stage.line.setHeld(call, true, at: stage.now) { results.append($0) }
            link.setMuted(call, action.isMuted) ? action.fulfill() : action.fail()
        }
        stage.request(CXSetMutedCallAction(call: call, muted: true), CXSetHeldCallAction(call: call, onHold: true))
        #expect(results == [true, false] && stage.line.refusals == 1)
        #expect(stage.call(call)?.isMuted == true && stage.call(call)?.isOnHold == true)
        #expect(stage.story(of: call).count(of: "perform.muted") == 1 && stage.story(of: call).count(of: "perform.held") == 1)
        app.onExecute = nil
        stage.end(call)
        #expect(stage.leftovers() == [])
    }

    @Test(arguments: [false, true]) func `a resume that was given up does not come back when the far end agrees at last`(
        isFailedByApp: Bool
    ) {
        let stage = Stage(), app = ProbeApp(stage), first = stage.takeCall(), second = stage.takeCall(from: "2002")
        stage.run(1)
        first.far.offerStatus = nil
        stage.hold(first.uuid, false)
        if isFailedByApp {
            stage.after(.seconds(3)) { [unowned app] in
                for action in app.provider.pendingCallActions(of: CXSetHeldCallAction.self, withCall: first.uuid) { action.fail() }
            }
        }
        stage.run(6)
        #expect(app.heard.contains("timed out") != isFailedByApp && stage.call(first.uuid)?.isOnHold == true)
        stage.hold(second.uuid, false)
        stage.run(2)
        first.far.offerStatus = 200
        first.far.answerOffer()
        stage.run(1)
        #expect(
            stage.media.sendingLegs == 1 && first.far.isHeld && stage.call(first.uuid)?.isOnHold == true
                && stage.call(second.uuid)?.isOnHold == false)
        stage.hold(first.uuid, false)
        stage.run(1)
        #expect(stage.media.sendingLegs == 1 && !first.far.isHeld && stage.call(first.uuid)?.isOnHold == false)
        stage.end(first.uuid)
        stage.end(second.uuid)
        #expect(stage.leftovers() == [])
    }

    @Test(arguments: [false, true]) func `who waits for a resume hears that there is none when the call ends`(isEndedByUser: Bool) {
        let stage = Stage(), app = ProbeApp(stage), call = stage.takeCall()
        stage.hold(call.uuid)
        stage.run(1)
        var results: [Bool] = []
        app.does(CXSetHeldCallAction.self) { action in
            stage.line.setHeld(action.callUUID, action.isOnHold, at: stage.now) {
                results.append($0)
                $0 ? action.fulfill() : action.fail()
            }
        }
        call.far.offerStatus = nil
        stage.hold(call.uuid, false)
        stage.run(1)
        #expect(results == [])
        if isEndedByUser { stage.end(call.uuid) } else { call.far.bye() }
        stage.run(1)
        #expect(results == [false])
        #expect(stage.leftovers() == [])
    }

    @Test func `a call that is reported and ended before the line's queue hears of it is in the recents`() {
        let stage = Stage(), app = ProbeApp(stage), recents = AppRecents(of: app.provider), scribe = stage.line.scribe
        stage.line.recents = recents
        app.onIncoming = { call, _ in
            scribe.isHere = { false }
            let update = CXCallUpdate()
            update.remoteHandle = CXHandle(type: .phoneNumber, value: "2001")
            app.provider.hookswitchReport(call, update: update) { _ in }
            app.provider.reportCall(with: call, endedAt: nil, reason: .declinedElsewhere)
            scribe.isHere = { true }
        }
        stage.far.call()
        stage.run(1)
        #expect(recents.entries.map(\.handle.value) == ["2001"])
        #expect(stage.leftovers() == [])
    }

    @Test func `a start that names nobody is told, and released`() {
        let stage = Stage(), app = ProbeApp(stage)
        stage.dial("mailto:bob@example.test")
        stage.run(1)
        let told = stage.events.map { event in
            switch event {
            case .cannotCall(_, let handle): "cannot call \(handle)"
            case .released: "released"
            default: "other"
            }
        }
        #expect(told == ["cannot call mailto:bob@example.test", "released"])
        #expect(stage.calls.isEmpty && stage.traffic.isEmpty && stage.line.refusals == 0)
        #expect(stage.leftovers() == [])
        withExtendedLifetime(app) {}
    }

    @Test func `the recents have the dates and the kind of call that the app gave`() throws {
        let stage = Stage(), app = ProbeApp(stage), recents = AppRecents(of: app.provider)
        stage.line.recents = recents
        let began = stage.host.date(at: stage.now), (dialled, ended) = (began.addingTimeInterval(-3), began.addingTimeInterval(7))
        app.does(CXStartCallAction.self) {
            app.link.start($0.callUUID, to: $0.handle.value) ? $0.fulfill(withDateStarted: dialled) : $0.fail()
        }
        app.does(CXEndCallAction.self) { app.link.end($0.callUUID) ? $0.fulfill(withDateEnded: ended) : $0.fail() }
        stage.end(stage.makeCall().uuid)
        app.update = { $0.hasVideo = true }
        stage.run(1)
        stage.end(stage.takeCall().uuid)
        let entries = recents.entries
        #expect(
            entries.map(\.isVideo) == [true, false] && entries.map(\.isOutgoing) == [false, true]
                && entries.allSatisfy { $0.ended == ended })
        var offered: [String] = []
        for isOlder in [false, true] {
            recents.usesOlderIntents = isOlder
            #expect(throws: CallBackRefusal.notTaken) {
                try recents.callBack(try #require(entries.first)) { activity in
                    offered.append(activity.activityType)
                    return false
                }
            }
        }
        #expect(offered == ["INStartCallIntent", "INStartVideoCallIntent"])
        #expect(entries.last?.started == dialled && entries.first.map { $0.started > began.addingTimeInterval(1) } == true)
        #expect(stage.leftovers() == [])
    }

    @Test(arguments: [SDP.Direction.sendonly, .inactive]) func `packets stop before the 200 that agrees to silence`(
        direction: SDP.Direction
    ) {
        let stage = Stage(), app = ProbeApp(stage), call = stage.takeCall(), onSend = stage.network.onSend
        var sending: [Int] = []
        stage.network.onSend = { [stage] bytes, source, target in
            if source == Stage.address, String(decoding: bytes, as: UTF8.self).hasPrefix("SIP/2.0 200") {
                sending.append(stage.media.sendingLegs)
            }
            onSend(bytes, source, target)
        }
        #expect(stage.media.sendingLegs == 1)
        call.far.hold(direction)
        stage.run(0.5)
        #expect(sending == [0])
        stage.network.onSend = onSend
        stage.end(call.uuid)
        #expect(stage.leftovers() == [])
        withExtendedLifetime(app) {}
    }

    @Test func `a dial string pauses, and waits for the user`() {
        let stage = Stage(), app = ProbeApp(stage), call = stage.takeCall().uuid
        func keys() -> String { String(stage.media.keys.map(\.0)) }
        #expect(stage.request(CXPlayDTMFCallAction(call: call, digits: "12,3;45", type: .softPause)) == nil)
        #expect(keys() == "12")
        stage.run(2.4)
        #expect(keys() == "12")
        stage.run(0.1)
        #expect(keys() == "123")
        stage.run(60)
        #expect(keys() == "123")
        stage.request(CXPlayDTMFCallAction(call: call, digits: "#", type: .hardPause))
        #expect(keys() == "12345#")
        stage.request(CXPlayDTMFCallAction(call: call, digits: ",,9", type: .softPause))
        stage.end(call)
        #expect(stage.leftovers() == [] && keys() == "12345#")
        withExtendedLifetime(app) {}
    }

    @Test func `keys whose pause ends while the call is held wait for the next ones`() {
        let stage = Stage(), app = ProbeApp(stage), call = stage.takeCall().uuid
        stage.request(CXPlayDTMFCallAction(call: call, digits: "1,2", type: .softPause))
        stage.hold(call)
        stage.run(5)
        #expect(stage.media.keys.map(\.key) == ["1"])
        stage.hold(call, false)
        stage.run(1)
        stage.request(CXPlayDTMFCallAction(call: call, digits: "3", type: .singleTone))
        #expect(stage.media.keys.map(\.key) == ["1", "2", "3"])
        stage.end(call)
        #expect(stage.leftovers() == [])
        withExtendedLifetime(app) {}
    }

    enum Habit { case prompt, late, silent }

    /// Reports a call when a push comes, or when its method has returned, or not at all.
    private final class PushedApp: NSObject, PKPushRegistryDelegate, @unchecked Sendable {
        let provider: CXProvider
        let habit: Habit
        init(_ system: CallSystem, _ habit: Habit) {
            (provider, self.habit) = (CXProvider(configuration: CXProviderConfiguration(), system: system), habit)
        }
        func report() { provider.reportNewIncomingCall(with: UUID(), update: CXCallUpdate()) { _ in } }
        func pushRegistry(_ registry: PKPushRegistry, didUpdate pushCredentials: PKPushCredentials, for type: PKPushType) {}
        func pushRegistry(
            _ registry: PKPushRegistry, didReceiveIncomingPushWith payload: PKPushPayload, for type: PKPushType,
            completion: @escaping () -> Void
        ) {
            if habit == .prompt { report() }
            if habit == .late { DispatchQueue.main.async { self.report() } }
            completion()
        }
    }

    @MainActor
    @Test(
        .timeLimit(.minutes(30)),
        arguments: [
            (Habit.prompt, true, VoIPPush.Outcome.reported), (.late, true, .reportedLate), (.silent, true, .unreported),
            (.silent, false, .excused),
        ])
    func `a push for which no call is reported is told`(habit: Habit, mustReport: Bool, outcome: VoIPPush.Outcome) async {
        let system = CallSystem(configuration: .app, host: QueueHost()), app = PushedApp(system, habit)
        let registry = PKPushRegistry(queue: .main)
        registry.delegate = app
        let type = PKPushType(rawValue: "test \(outcome)"), payload = PKPushPayload(hookswitch: [:], type: type)
        registry.desiredPushTypes = [type]
        let told = await withCheckedContinuation { continuation in
            VoIPPush.deliver(payload, system: system, mustReport: mustReport, limit: habit == .late ? .seconds(3) : .milliseconds(10)) {
                continuation.resume(returning: $0)
            }
        }
        #expect(told == outcome)
        let nobody = await withCheckedContinuation { continuation in
            VoIPPush.deliver(PKPushPayload(hookswitch: [:], type: PKPushType(rawValue: "nobody's")), system: system) {
                continuation.resume(returning: $0)
            }
        }
        #expect(nobody == .unwanted)
        app.provider.invalidate()
    }
}
