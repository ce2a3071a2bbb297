import CallJournal
import CallKit
import Foundation
import Primitives
import PushKit
import Testing

@testable import CallApp
@testable import Rehearsal

/// Habits of public apps' call code, as telephones see them every day.
@Suite struct PublicAppHabitTests {
    @Test func `an answer that is fulfilled seconds later leaves then, and not sooner nor twice`() throws {
        let stage = Stage(), app = ProbeApp(stage), call = stage.ring(), asked = stage.now
        app.does(CXAnswerCallAction.self) { action in stage.after(.seconds(3)) { action.fulfill() } }
        stage.request(CXAnswerCallAction(call: call.uuid))
        stage.run(3.5)
        let answer = try #require(stage.journal.first { $0.words == "sip.tx 200" && $0.details.text(.method) == "INVITE" })
        #expect(answer.time >= asked + .seconds(3) && stage.sent("app 200 INVITE").count == 1)
        stage.end(call.uuid)
        #expect(stage.leftovers() == [])
    }

    @Test func `a call that is reported connected as soon as it is asked for has sound when it is answered, and breaks a rule`() {
        let stage = Stage { $0.startsAudio = true }, app = ProbeApp(stage)
        app.onActivate = {}
        app.does(CXStartCallAction.self) { [unowned app] in
            app.provider.reportOutgoingCall(with: $0.callUUID, connectedAt: nil)
            $0.fulfill()
        }
        let call = stage.makeCall()
        stage.run(1)
        #expect(
            stage.media.sendingLegs == 1 && stage.story(of: call.uuid).haveInOrder(["report.connected", "media.opened", "media.started"]))
        stage.end(call.uuid)
        let faults = stage.leftovers()
        #expect(
            faults.count == 1 && faults[0].hasPrefix("R7 ")
                && faults[0].hasSuffix("connected was reported before the far end answered: no 2xx has come"))
    }

    /// The caller gives up, and the app hears of that by a push, a second later.
    @Test(arguments: [(1.0, 2.0), (3, 2), (1, 0)]) func `an app that is told of an end by a push has the time to report it`(
        delay: Double, limit: Double
    ) {
        let stage = Stage { $0.endReportLimit = .milliseconds(Int64(limit * 1_000)) }, app = ProbeApp(stage), call = stage.ring()
        app.onEnded = { [unowned app] call, _ in
            stage.after(.milliseconds(Int64(delay * 1_000))) { [unowned app] in
                app.provider.reportCall(with: call, endedAt: nil, reason: .answeredElsewhere)
            }
        }
        call.far.cancel()
        stage.run(0.5)
        #expect(stage.calls == (limit > 0 ? [call.uuid] : []) && call.far.statuses == [180, 487])
        stage.run(min(delay, limit))
        #expect(stage.calls == [])
        let ends = stage.journal.filter { $0.words == "report.ended" }
        #expect(ends.map { $0.details.text(.reason) } == [delay < limit ? "answeredElsewhere" : "remoteEnded"])
        stage.run(3)
        #expect(stage.leftovers() == [] && stage.violations == [])
    }

    @Test func `a second report of a call that rings, as for the push that cancels it, is refused, and breaks R1 alone`() {
        let stage = Stage { $0.endReportLimit = .seconds(2) }, app = ProbeApp(stage), call = stage.ring()
        app.onEnded = { [unowned app] call, reason in
            stage.after(.milliseconds(100)) { [unowned app] in
                app.provider.hookswitchReport(call, update: CXCallUpdate()) { error in
                    app.hear("\((error as? CXErrorCodeIncomingCallError)?.code == .callUUIDAlreadyExists)")
                    app.provider.reportCall(with: call, endedAt: nil, reason: reason)
                }
            }
        }
        call.far.cancel()
        stage.run(1)
        #expect(app.heard.last == "true" && stage.calls == [])
        #expect(stage.leftovers().map { $0.prefix(3) } == ["R1 "] && stage.advice == [])
    }

    @Test func `a call for which two pushes came is answered like any other`() {
        let stage = Stage(), app = ProbeApp(stage), call = stage.ring()
        app.provider.hookswitchReport(call.uuid, update: CXCallUpdate()) { [unowned app] error in app.hear("\(error == nil)") }
        stage.run(0.1)
        stage.request(CXAnswerCallAction(call: call.uuid))
        stage.run(0.5)
        #expect(app.heard.contains("false") && call.far.statuses == [180, 200] && stage.media.sendingLegs == 1)
        stage.end(call.uuid)
        #expect(stage.leftovers().map { $0.prefix(3) } == ["R1 "], "it was reported twice")
    }

    @Test func `what the app does not ask for is not sent where the line is to fill no gaps`() {
        let stage = Stage { $0.fillsGaps = false }, app = ProbeApp(stage), call = stage.ring()
        app.does(CXAnswerCallAction.self) { $0.fulfill() }
        stage.request(CXAnswerCallAction(call: call.uuid))
        stage.run(1)
        #expect(call.far.statuses == [180] && stage.openLegs == 0)
        stage.end(call.uuid)
        app.does(CXStartCallAction.self) { $0.fulfill() }
        app.dial("2002")
        stage.run(1)
        #expect(!stage.traffic.contains("app INVITE"))
        stage.calls.forEach(stage.end)
        app.instead = [:]
        app.onConnected = { _ in }
        let silent = stage.makeCall()
        stage.run(1)
        #expect(stage.call(silent.uuid)?.hasConnected == false && stage.media.sendingLegs == 0)
        stage.end(silent.uuid)
        #expect(Set(stage.leftovers().map { $0.prefix(3) }).isSuperset(of: ["R3 ", "R6 ", "R7 "]))
    }

    @Test func `what the telephone refuses is told with its likely reason`() {
        let hold = CXSetHeldCallAction(call: UUID(), onHold: true), answer = CXAnswerCallAction(call: UUID())
        #expect(ScenarioUser.reason(.invalidAction, of: [hold, answer]).contains("supportsHolding false"))
        #expect(ScenarioUser.reason(.invalidAction, of: [CXSetHeldCallAction(call: UUID(), onHold: false), answer]) == "")
        #expect(ScenarioUser.reason(.unknownCallUUID, of: [hold]) == "")
        #expect(ScenarioUser.reason(.maximumCallGroupsReached, of: [answer]).contains("maximumCallGroups"))
        let keys = CXPlayDTMFCallAction(call: UUID(), digits: "1", type: .singleTone)
        #expect(ScenarioUser.reason(.invalidAction, of: [keys]).contains("supportsDTMF false"))
    }

    @MainActor @Test(.timeLimit(.minutes(30))) func `a scenario's user acts when the app has heard that its report was accepted`() async {
        let system = CallSystem(configuration: .app, host: QueueHost()), goesOn = DispatchSemaphore(value: 0), order = Order()
        let provider = CXProvider(configuration: CXProviderConfiguration(), system: system)
        provider.reportNewIncomingCall(with: UUID(), update: CXCallUpdate()) { _ in
            goesOn.wait()
            order.add("reported")
        }
        await withCheckedContinuation { continuation in
            ScenarioUser.afterReports(to: system) {
                order.add("user")
                continuation.resume()
            }
            DispatchQueue.main.async { goesOn.signal() }
        }
        await withCheckedContinuation { continuation in system.host.run(on: .private) { continuation.resume() } }
        #expect(order.words == ["reported", "user"])
        provider.invalidate()
    }

    private final class Order: @unchecked Sendable {
        private let lock = NSLock()
        private var held: [String] = []
        var words: [String] { lock.withLock { held } }
        func add(_ word: String) { lock.withLock { held.append(word) } }
    }

    /// Has the `async` method for a push alone, as apps with LiveCommunicationKit do.
    private class AsyncApp: NSObject, PKPushRegistryDelegate, @unchecked Sendable {
        let provider: CXProvider
        private(set) var heard: [String] = []
        init(_ system: CallSystem) { provider = CXProvider(configuration: CXProviderConfiguration(), system: system) }
        func hear(_ word: String) { heard.append(word) }
        func pushRegistry(_ registry: PKPushRegistry, didUpdate pushCredentials: PKPushCredentials, for type: PKPushType) {}
        func pushRegistry(_ registry: PKPushRegistry, didReceiveIncomingPushWith payload: PKPushPayload, for type: PKPushType) async {
            await Task.yield()
            hear("push")
            try? await provider.reportNewIncomingCall(with: UUID(), update: CXCallUpdate())
        }
    }

    @MainActor
    @Test(.timeLimit(.minutes(30))) func `the async method for a push is called, and has reported when it returns`() async {
        let system = CallSystem(configuration: .app, host: QueueHost()), app = AsyncApp(system), registry = PKPushRegistry(queue: .main)
        registry.delegate = app
        let type = PKPushType(rawValue: "test async")
        registry.desiredPushTypes = [type, .voIP]
        let outcome = await withCheckedContinuation { continuation in
            VoIPPush.deliver(PKPushPayload(hookswitch: [:], type: type), system: system) { continuation.resume(returning: $0) }
        }
        #expect(outcome == .reported && app.heard == ["push"])
        await withCheckedContinuation { continuation in
            registry.hookswitchDeliver(PKPushPayload(hookswitch: [:])) { continuation.resume() }
        }
        #expect(app.heard == ["push", "push"] && system.incomingReports == 2)
        app.provider.invalidate()
    }

    /// Has both methods of before iOS 11, of which the one with a completion is the newer.
    private final class OldApp: NSObject, PKPushRegistryDelegate, @unchecked Sendable {
        private(set) var heard = 0
        func pushRegistry(_ registry: PKPushRegistry, didUpdate pushCredentials: PKPushCredentials, for type: PKPushType) {}
        func pushRegistry(_ registry: PKPushRegistry, didReceiveIncomingPushWith payload: PKPushPayload, for type: PKPushType) {
            heard += 1
        }
    }

    @MainActor @Test(.timeLimit(.minutes(30))) func `the oldest method for a push is called once, before anything else`() async {
        let app = OldApp(), registry = PKPushRegistry(queue: .main)
        registry.delegate = app
        registry.desiredPushTypes = [.fileProvider]
        await withCheckedContinuation { continuation in
            _ = registry.hookswitchDeliver(PKPushPayload(hookswitch: [:], type: .fileProvider), mustReport: false) {
                continuation.resume()
            } completion: {
            }
        }
        #expect(app.heard == 1)
    }
}
