import CallApp
import CallKit
import Foundation
import Gateway
import Media
import MonkeyCalls
import Primitives
import SIP
import Testing

@testable import Rehearsal

/// MonkeyCall: architecture, calls, their life cycle (A1, A2, A4, A6, A8).
@Suite struct MonkeyCallFlowTests {
    // MARK: A1

    @Test func `MC-1 CallKit knows no SIP, and call code needs CallKit and the shims alone`() throws {
        let own = try Sources.imports(of: "Apple/CallKit")
        #expect(own.contains("Foundation") && own.isDisjoint(with: ["SIP", "SDP", "UserAgent", "Media", "Gateway"]))
        let allowed: Set = ["CallKit", "AVFoundation", "Intents", "PushKit", "UIKit", "Foundation"]
        for app in ["HotlineCalls", "MonkeyCalls", "OFreeCalls"] {
            let imports = try Sources.imports(of: "Apps/Samples/\(app)")
            #expect(imports.contains("CallKit") && imports.isSubset(of: allowed), "\(app): \(imports)")
        }
    }

    @Test func `MC-2 incoming, connected and ended are reported once each`() {
        let stage = Stage(), app = MonkeyApp(stage)
        let taken = stage.takeCall()
        taken.far.bye()
        stage.run(1)
        let made = stage.makeCall()
        made.far.bye()
        stage.run(1)
        #expect(stage.story(of: taken.uuid).count(of: "report.incoming") == 1)
        #expect(stage.story(of: made.uuid).count(of: "report.connected") == 1)
        for call in [taken.uuid, made.uuid] { #expect(stage.story(of: call).count(of: "report.ended") == 1) }
        #expect(stage.leftovers() == [])
        withExtendedLifetime(app) {}
    }

    @Test func `MC-3 what the user does is requested, accepted and performed`() throws {
        let stage = Stage(), app = MonkeyApp(stage)
        let call = stage.makeCall().uuid
        stage.hold(call)
        stage.end(call)
        let other = stage.takeCall().uuid
        for (uuid, steps) in [(call, ["perform.start", "perform.held", "perform.end"]), (other, ["perform.answer"])] {
            let wanted = steps.flatMap { ["tx.requested", "tx.accepted", $0] }
            #expect(stage.story(of: uuid).haveInOrder(wanted), "\(stage.story(of: uuid))")
        }
        stage.end(other)
        stage.run(1)
        let journal = stage.journal, performed = journal.filter { $0.kind.rawValue.hasPrefix("perform.") }
        #expect(performed.count == 5)
        for event in performed {
            // What is performed is an action of the very transaction that was requested and accepted.
            let action = try #require(event.details[.action]?.text).description
            let listed = journal.filter { $0.details[.actions]?.text.description.contains(action) == true }
            #expect(listed.map(\.kind.rawValue) == ["tx.requested", "tx.accepted"] && listed.allSatisfy { $0.sequence < event.sequence })
            #expect(listed.count == 2 && listed[0].details[.transaction] == listed[1].details[.transaction])
        }
        let own = stage.traffic.filter { $0.hasPrefix("app ") && !$0.hasSuffix("ACK") }
        #expect(
            own.haveInOrder(["app INVITE", "app INVITE", "app BYE", "app 180 INVITE", "app 200 INVITE", "app BYE"])
                && stage.directions[1] == "sendonly")
        #expect(stage.leftovers() == [])
        withExtendedLifetime(app) {}
    }

    @Test func `MC-4 updates go to the system, actions come from it, and nothing else`() throws {
        let delegate = try Sources.text("Apple/CallKit/Vocabulary/CXProviderDelegate.swift")
        let protocolText = delegate.components(separatedBy: "extension CXProviderDelegate")[0]
        let types = Set(protocolText.matches(of: /_ provider: CXProvider, \w+ \w+: (\w+)/).map { String($0.output.1) })
        let carried = types.subtracting(["CXTransaction", "AVAudioSession"])
        #expect(carried.count == 9 && carried.allSatisfy { $0.hasPrefix("CX") && $0.hasSuffix("Action") }, "\(types)")
        let provider = try Sources.text("Apple/CallKit/Vocabulary/CXProvider.swift")
        let reported = Set(provider.matches(of: /func report\w+\(\s*with uuid: UUID, \w+(?: \w+)?: (\w+)/).map { String($0.output.1) })
        #expect(reported == ["CXCallUpdate", "Date"])
    }

    @Test func `MC-5 a call of another provider is held before the new one starts`() {
        let stage = Stage(), first = ProbeApp(stage)
        let held = stage.takeCall().uuid
        let second = ProbeApp(stage)
        let started = stage.makeCall().uuid
        #expect(started != held && first.heard.contains("hold") && !second.heard.contains("hold") && second.heard.contains("start"))
        #expect(stage.story.haveInOrder(["perform.answer", "sys.action", "perform.held", "perform.start"]))
        let invites = stage.sent("app INVITE")
        #expect(invites.count == 2 && invites[0].body.contains("a=sendonly") && !invites[1].body.contains("a=sendonly"))
        stage.end(started)
        stage.run(1)
        #expect(stage.call(held)?.isOnHold == false, "the user's end brings the held one back")
        stage.end(held)
        #expect(stage.leftovers() == [])
    }

    @Test func `MC-6 every app of the telephone sees the call appear, connect, be held and end`() {
        let stage = Stage(), app = ProbeApp(stage)
        let observer = CXCallObserver(system: stage.system)
        observer.setDelegate(app, queue: nil)
        let call = stage.takeCall().uuid
        #expect(observer.calls.map(\.uuid) == [call])
        stage.hold(call)
        stage.run(1)
        stage.end(call)
        #expect(app.heard.filter { $0.hasPrefix("sees") } == ["sees new", "sees connected", "sees held", "sees ended"])
        #expect(stage.leftovers() == [])
    }

    @Test func `MC-7 a ringing call has what a screen shows, and can be answered from there`() {
        let stage = Stage(), app = MonkeyApp(stage)
        stage.system.contacts = { $0.value == "2001" ? "Grandmother" : nil }
        stage.far.call(from: "2001", name: "Anna")
        stage.run(0.1)
        let call = stage.system.calls[0]
        #expect(
            call.handle?.value == "2001" && call.displayName == "Grandmother" && !call.hasConnected
                && stage.sent("app 180 INVITE").count == 1)
        #expect(app.delegate.provider.configuration.ringtoneSound == "musicloop01.wav")
        #expect(stage.request(CXAnswerCallAction(call: call.uuid)) == nil)
        stage.end(call.uuid)
        #expect(stage.leftovers() == [])
    }

    // MARK: A2

    @Test func `MC-10 a call has the identity, the direction and the handle of its report or action`() {
        let stage = Stage(), app = MonkeyApp(stage)
        let taken = stage.takeCall(from: "2001").uuid
        let made = stage.makeCall("2002").uuid
        #expect(app.manager.calls.map(\.uuid) == [taken, made])
        #expect(app.manager.calls.map(\.isOutgoing) == [false, true])
        #expect(app.manager.calls.map(\.handle) == ["2001", "2002"])
        #expect(stage.system.calls.map { $0.handle?.value } == ["2001", "2002"] && stage.system.calls.map(\.isOutgoing) == [false, true])
        for call in [made, taken] { stage.end(call) }
        #expect(stage.leftovers() == [])
    }

    @Test func `MC-11 the times of a call are set when its flags rise and fall, within 5 ms of the wire`() throws {
        let stage = Stage(), app = MonkeyApp(stage), recents = AppRecents(of: app.delegate.provider)
        stage.line.recents = recents
        stage.far.onInvite = { $0.ring() }
        stage.dial("2002")
        stage.run(1)
        let call = try #require(app.manager.calls.first)
        #expect(call.startedConnectingOn != nil && call.connectedOn == nil)
        stage.far.calls[0].answer()
        stage.run(1)
        stage.end(call.uuid)
        let times = try [#require(call.startedConnectingOn), #require(call.connectedOn), #require(call.endedOn)]
        #expect(times == times.sorted())
        let journal = stage.journal.filter { $0.call == CallUUID(call.uuid) }
        for (report, status) in [("report.connecting", "sip.rx 180"), ("report.connected", "sip.rx 200")] {
            let reported = try #require(journal.first { $0.words == report }), seen = try #require(journal.first { $0.words == status })
            #expect(reported.time - seen.time <= .milliseconds(5))
        }
        // The record of the call against the messages on the wire.
        let entry = try #require(recents.entries.first)
        for (date, text) in [(entry.started, "app INVITE"), (entry.ended, "app BYE")] {
            let onWire = stage.host.date(at: try #require(stage.sent(text).first).time)
            #expect(abs(date.timeIntervalSince(onWire)) <= 0.005, "\(text): \(date.timeIntervalSince(onWire)) s")
        }
        #expect(entry.connected == call.connectedOn, "the app's own date")
        #expect(stage.leftovers() == [])
    }

    @Test func `MC-12 both edges are told, and the falling one reports nothing`() throws {
        let stage = Stage(), app = MonkeyApp(stage)
        let made = stage.makeCall()
        let call = try #require(app.manager.findCall(made.uuid))
        var edges: [Bool] = []
        let usual = call.connectedChanged
        call.connectedChanged = {
            edges.append($0.isConnected)
            usual?($0)
        }
        made.far.bye()
        stage.run(1)
        #expect(edges == [false])
        #expect(stage.story(of: made.uuid).count(of: "report.connected") == 1)
        #expect(stage.leftovers() == [])
    }

    @Test func `MC-13 a hold that failed leaves the call as it was`() {
        let stage = Stage(), app = ProbeApp(stage)
        let call = stage.takeCall().uuid
        app.does(CXSetHeldCallAction.self) { $0.fail() }
        stage.hold(call)
        #expect(stage.call(call)?.isOnHold == false && stage.sent("app INVITE").isEmpty)
        app.instead = [:]
        stage.hold(call)
        #expect(stage.call(call)?.isOnHold == true)
        stage.end(call)
        #expect(stage.leftovers() == [])
    }

    @Test func `MC-14 the invite leaves before fulfil, and connecting comes before connected`() {
        let stage = Stage(), app = MonkeyApp(stage)
        stage.far.onInvite = { call in
            stage.after(.seconds(3)) { call.ring() }
            stage.after(.milliseconds(4_500)) { call.answer() }
        }
        stage.dial("2002")
        stage.run(5)
        let call = stage.calls[0]
        let order = ["perform.start", "sip.tx INVITE", "action.fulfilled start", "report.connecting", "report.connected"]
        #expect(stage.story(of: call).haveInOrder(order), "\(stage.story(of: call))")
        stage.end(call)
        #expect(stage.leftovers() == [])
        withExtendedLifetime(app) {}
    }

    @Test func `MC-15 the 200 leaves before the answer is fulfilled`() {
        let stage = Stage(), app = MonkeyApp(stage)
        let call = stage.takeCall().uuid
        #expect(stage.story(of: call).haveInOrder(["perform.answer", "sip.tx 200", "action.fulfilled answer"]))
        stage.end(call)
        #expect(stage.leftovers() == [])
        withExtendedLifetime(app) {}
    }

    @Test func `MC-16 an end is fulfilled at once though nobody answers the BYE`() throws {
        let stage = Stage(), app = MonkeyApp(stage)
        let call = stage.takeCall().uuid
        stage.far.isDeaf = true
        stage.end(call)
        let journal = stage.journal.filter { $0.call == CallUUID(call) }
        let begun = try #require(journal.first { $0.words == "perform.end" }),
            done = try #require(journal.first { $0.words == "action.fulfilled end" })
        #expect(done.time - begun.time <= .milliseconds(50))
        #expect(stage.leftovers() == [])
        #expect(!stage.story.contains("action.timeout end") && stage.sent("app BYE").count > 1, "it is sent again and again")
        withExtendedLifetime(app) {}
    }

    @Test func `MC-17 without a way to the callee the start fails, and nothing is on the wire`() {
        let stage = Stage(), app = MonkeyApp(stage)
        stage.dial("no such <number>")
        stage.run(1)
        #expect(stage.calls.isEmpty && app.manager.calls.isEmpty && stage.wire.isEmpty)
        #expect(stage.story.haveInOrder(["perform.start", "action.failed start", "call.ended"]))
        #expect(stage.leftovers() == [])
    }

    // MARK: A4

    @Test func `MC-30 in a thousand calls every callback names the call that it is about`() {
        let system = CallSystem(configuration: .app, host: InlineHost())
        let app = Counter(), provider = CXProvider(configuration: CXProviderConfiguration(), system: system)
        provider.setDelegate(app, queue: nil)
        let controller = CXCallController(system: system)
        let calls = (0..<1_000).map { _ in UUID() }
        for call in calls {
            provider.reportNewIncomingCall(with: call, update: CXCallUpdate()) { _ in }
            controller.request(CXTransaction(action: CXAnswerCallAction(call: call))) { _ in }
            controller.request(CXTransaction(action: CXEndCallAction(call: call))) { _ in }
        }
        #expect(app.answered == calls && app.ended == calls)
    }

    final class Counter: NSObject, CXProviderDelegate {
        private(set) var answered: [UUID] = [], ended: [UUID] = []
        func providerDidReset(_ provider: CXProvider) {}
        func provider(_ provider: CXProvider, perform action: CXAnswerCallAction) {
            answered.append(action.callUUID)
            action.fulfill()
        }
        func provider(_ provider: CXProvider, perform action: CXEndCallAction) {
            ended.append(action.callUUID)
            action.fulfill()
        }
    }

    @Test func `MC-31 a contact is called at the line's domain, as a generic handle`() {
        let stage = Stage(), app = MonkeyApp(stage)
        stage.dial("mary")
        stage.run(0.1)
        #expect(stage.sent("app INVITE").first?.message.requestURI?.text == "sip:mary@app.test")
        #expect(stage.system.calls.first?.handle == CXHandle(type: .generic, value: "mary"))
        stage.end(stage.calls[0])
        #expect(stage.leftovers() == [])
        withExtendedLifetime(app) {}
    }

    @Test func `MC-32 a request is answered exactly once, accepted or not`() {
        let stage = Stage(), app = ProbeApp(stage)
        let call = stage.takeCall().uuid
        var answers: [Bool] = []
        for uuid in [call, UUID()] {
            stage.controller.hookswitchRequest(CXTransaction(action: CXEndCallAction(call: uuid))) { answers.append($0 == nil) }
        }
        stage.run(10)
        #expect(answers == [true, false])
        #expect(stage.leftovers() == [])
        withExtendedLifetime(app) {}
    }

    /// End, hold and resume, as they show on the wire.
    private func holdAndEnd(_ stage: Stage, _ call: UUID) throws {
        stage.hold(call)
        stage.run(1)
        stage.hold(call, false)
        stage.run(1)
        stage.end(call)
        stage.run(1)
        let bodies = stage.wire.filter { $0.isFromApp && !$0.message.body.isEmpty }.map(\.body)
        #expect(stage.directions == ["sendrecv", "sendonly", "sendrecv"])
        let versions = try bodies.map { try #require($0.firstMatch(of: /o=\S+ \d+ (\d+)/).flatMap { Int($0.output.1) }) }
        #expect(versions.count == 3 && versions[1] == versions[0] + 1 && versions[2] == versions[1] + 1)
        #expect(stage.sent("app BYE").count == 1)
        #expect(stage.leftovers() == [])
    }

    @Test func `MC-33 end, hold and resume of an outgoing call are BYE and re-INVITEs`() throws {
        let stage = Stage(), app = MonkeyApp(stage)
        try holdAndEnd(stage, stage.makeCall().uuid)
        withExtendedLifetime(app) {}
    }

    @Test func `MC-34 end, hold and resume of an incoming call are BYE and re-INVITEs`() throws {
        let stage = Stage(), app = MonkeyApp(stage)
        try holdAndEnd(stage, stage.takeCall().uuid)
        withExtendedLifetime(app) {}
    }

    // MARK: A6

    @Test func `MC-60 the network tells the app, the app reports, and the system rings`() {
        let stage = Stage(), app = MonkeyApp(stage)
        let call = stage.ring().uuid
        #expect(stage.story(of: call).haveInOrder(["sip.rx INVITE", "sip.tx 100", "report.incoming", "report.incoming.ok", "sip.tx 180"]))
        #expect(Array(stage.traffic.prefix(3)) == ["far INVITE", "app 100 INVITE", "app 180 INVITE"])
        stage.end(call)
        #expect(stage.leftovers() == [])
        withExtendedLifetime(app) {}
    }

    @Test func `MC-61 the user's answer is performed, and the 200 leaves in the same moment`() throws {
        let stage = Stage(), app = MonkeyApp(stage)
        let call = stage.ring().uuid, clock = ContinuousClock()
        stage.run(3)
        #expect(stage.sent("app 200 INVITE").isEmpty, "nobody has answered")
        let taken = clock.measure { #expect(stage.request(CXAnswerCallAction(call: call)) == nil) }
        print("MC-61: from the answer to the 200: \(taken)")
        #expect(taken < .milliseconds(250) && stage.sent("app 200 INVITE").count == 1, "before the request returns")
        let order = ["tx.requested", "tx.accepted", "perform.answer", "media.opened", "sip.tx 200", "action.fulfilled answer"]
        #expect(stage.story(of: call).haveInOrder(order))
        stage.run(0.2)
        let journal = stage.journal.filter { $0.call == CallUUID(call) }
        let asked = try #require(journal.first { $0.words == "tx.requested" }),
            sent = try #require(journal.first { $0.words == "sip.tx 200" })
        #expect(sent.time == asked.time && stage.sent("app 200 INVITE").first?.time == asked.time)
        #expect(stage.sent("far ACK").count == 1 && stage.sent("app 200 INVITE").count == 1)
        stage.end(call)
        #expect(stage.leftovers() == [])
        withExtendedLifetime(app) {}
    }

    @Test func `MC-62 the system verifies an end before the network hears of it`() {
        let stage = Stage(), app = MonkeyApp(stage)
        let call = stage.takeCall().uuid
        #expect(stage.request(CXEndCallAction(call: UUID())) == CXErrorCodeRequestTransactionError.Code.unknownCallUUID.rawValue)
        stage.run(1)
        #expect(stage.sent("app BYE").isEmpty)
        #expect(stage.request(CXEndCallAction(call: call)) == nil)
        stage.run(1)
        #expect(stage.sent("app BYE").count == 1)
        #expect(stage.leftovers() == [])
        withExtendedLifetime(app) {}
    }

    @Test(arguments: [486, 603])
    func `MC-63 a declined call is refused by policy, and never with BYE`(status: Int) {
        let stage = Stage { $0.declineStatus = status }, app = MonkeyApp(stage)
        let ringing = stage.ring()
        stage.end(ringing.uuid)
        stage.run(1)
        #expect(ringing.far.statuses == [180, status] && stage.sent("app BYE").isEmpty)
        #expect(stage.wire.last { $0.text == "app \(status) INVITE" }?.reason.contains("Q.850") == true)
        #expect(stage.leftovers() == [])
        withExtendedLifetime(app) {}
    }

    // MARK: A8

    @MainActor @Test func `MC-80 a tap in the recents becomes an intent, an action, a transaction and an INVITE`() throws {
        let stage = Stage(), app = MonkeyApp(stage, types: [.phoneNumber, .generic])
        let recents = AppRecents(of: app.delegate.provider)
        stage.line.recents = recents
        stage.takeCall(from: "2001").far.bye()
        stage.run(1)
        let entry = try #require(recents.entries.first)
        try recents.callBack(entry) { activity in
            guard let request = StartCallRequest(activity: activity) else { return false }
            app.manager.startCall(request.handle, type: request.type)
            return true
        }
        stage.run(0.5)
        #expect(
            stage.story(of: stage.calls[0]).haveInOrder([
                "tx.requested", "tx.accepted", "perform.start", "sip.tx INVITE", "action.fulfilled start",
            ]))
        #expect(stage.sent("app INVITE").first?.message.requestURI?.text == "sip:2001@app.test")
        stage.end(stage.calls[0])
        #expect(stage.leftovers() == [])
    }

    @Test func `MC-81 the active call is held before the new one starts, and its far end is not waited for`() {
        let stage = Stage(), app = MonkeyApp(stage)
        let taken = stage.takeCall()
        taken.far.offerStatus = nil
        stage.dial("2002")
        stage.run(1)
        #expect(stage.traffic.filter { $0 == "app INVITE" }.count == 2, "the hold and the new call")
        #expect(stage.story.haveInOrder(["sys.action", "perform.held", "action.fulfilled held", "perform.start", "sip.tx INVITE"]))
        taken.far.answerOffer()
        for call in stage.calls { stage.end(call) }
        #expect(stage.leftovers() == [])
        withExtendedLifetime(app) {}
    }

    @Test func `MC-82 starting, started, connecting and connected come once each, in this order`() {
        let stage = Stage(), app = MonkeyApp(stage)
        let call = stage.makeCall().uuid
        let story = stage.story(of: call), steps = ["tx.accepted", "sip.tx INVITE", "report.connecting", "report.connected"]
        #expect(story.haveInOrder(steps) && steps.allSatisfy { story.count(of: $0) == 1 })
        stage.end(call)
        #expect(stage.leftovers() == [])
        withExtendedLifetime(app) {}
    }

    @Test func `MC-83 explicit dates are what the recents show, and nil is now`() throws {
        let stage = Stage(), app = ProbeApp(stage), recents = AppRecents(of: app.provider)
        stage.line.recents = recents
        let early = stage.host.date(at: stage.now).addingTimeInterval(-10)
        app.onConnected = { app.provider.reportOutgoingCall(with: $0, connectedAt: early) }
        stage.makeCall().far.bye()
        stage.run(1)
        app.onConnected = nil
        stage.makeCall().far.bye()
        stage.run(1)
        #expect(recents.entries.count == 2 && recents.entries[1].connected == early)
        #expect(try #require(recents.entries[0].connected) > early.addingTimeInterval(10))
        #expect(stage.leftovers() == [])
    }

    @Test func `MC-84 an outgoing call is ended by CANCEL, after a provisional response, or by BYE`() {
        for (step, wanted) in [
            (0, ["app INVITE", "far 180 INVITE", "app CANCEL"]), (1, ["far 180 INVITE", "app CANCEL"]),
            (2, ["far 200 INVITE", "app ACK", "app BYE"]),
        ] {
            let stage = Stage(), app = MonkeyApp(stage)
            stage.far.onInvite = { call in
                switch step {
                case 0: stage.after(.milliseconds(100)) { call.ring() }
                case 1: call.ring()
                default: call.answer()
                }
            }
            stage.dial("2002")
            if step > 0 { stage.run(0.5) }
            stage.end(stage.calls[0])
            #expect(stage.calls.isEmpty, "fulfilled at once")
            stage.run(1)
            #expect(stage.traffic.haveInOrder(wanted), "\(stage.traffic)")
            #expect(stage.leftovers() == [])
            withExtendedLifetime(app) {}
        }
    }
}
