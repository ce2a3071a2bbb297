import CallApp
import CallKit
import Dispatch
import Foundation
import Gateway
import Intents
import Media
import MonkeyCalls
import Primitives
import SIP
import Testing
import UserAgent

@testable import Rehearsal

/// MonkeyCall: start requests, the provider's delegate, several calls, details (A3, A5, A7, A9).
@Suite(.serialized) struct MonkeyCallSystemTests {
    // MARK: A3

    private static func activity(_ type: INPersonHandleType, _ handles: [String]) -> NSUserActivity {
        let contacts = handles.map {
            INPerson(
                personHandle: INPersonHandle(value: $0, type: type), nameComponents: nil, displayName: nil, image: nil,
                contactIdentifier: nil,
                customIdentifier: nil)
        }
        let intent = INStartAudioCallIntent(destinationType: .normal, contacts: contacts)
        return NSUserActivity(hookswitch: INInteraction(intent: intent, response: nil))
    }

    @MainActor @Test func `MC-20 a URL of the app's scheme calls its host, and others do not`() {
        let stage = Stage(), app = Launcher.monkeyCall(stage)
        #expect(Launcher.open("monkeycall://+390123"))
        #expect(!Launcher.open("https://x"))
        stage.run(0.1)
        #expect(stage.sent("app INVITE").map { $0.message.requestURI?.text } == ["sip:+390123@app.test"])
        stage.end(stage.calls[0])
        #expect(stage.leftovers() == [])
        withExtendedLifetime(app) {}
    }

    @MainActor @Test func `MC-21 an activity calls its first contact, and without one nobody`() {
        let stage = Stage(), app = Launcher.monkeyCall(stage)
        #expect(!Launcher.continue(Self.activity(.phoneNumber, [])))
        #expect(!Launcher.continue(NSUserActivity(activityType: INStartAudioCallIntentIdentifier)))
        #expect(stage.wire.isEmpty)
        #expect(Launcher.continue(Self.activity(.phoneNumber, ["2002", "2003"])))
        stage.run(0.1)
        #expect(stage.sent("app INVITE").map { $0.message.requestURI?.text } == ["sip:2002@app.test"])
        stage.end(stage.calls[0])
        #expect(stage.leftovers() == [])
        withExtendedLifetime(app) {}
    }

    @MainActor @Test func `MC-22 whoever opens a URL or an activity hears whether a call was asked for`() {
        let stage = Stage(), app = Launcher.monkeyCall(stage)
        #expect([Launcher.open("monkeycall:nobody"), Launcher.open("monkeycall://2002")] == [false, true])
        stage.end(stage.calls[0])
        #expect([Launcher.continue(Self.activity(.unknown, [])), Launcher.continue(Self.activity(.unknown, ["2002"]))] == [false, true])
        stage.end(stage.calls[0])
        #expect(stage.leftovers() == [])
        withExtendedLifetime(app) {}
    }

    @MainActor @Test func `MC-23 a call that comes before the launch is over waits, and is refused when there is no launch`() {
        let stage = Stage(), early = stage.far.call()
        stage.run(2)
        #expect(stage.traffic == ["far INVITE", "app 100 INVITE"] && early.statuses.isEmpty)
        let app = MonkeyApp(stage)
        for case .incoming(let call, let caller) in stage.events { app.incoming(call, caller) }
        stage.run(0.1)
        #expect(early.statuses == [180])
        stage.end(stage.calls[0])
        #expect(stage.leftovers() == [])
        let dead = Stage(), unheard = dead.far.call()
        #expect(!Launcher.launchesWithoutNetwork, "it has no network")
        dead.line.launchFailed(at: dead.now)
        let late = dead.far.call()
        dead.run(1)
        #expect(unheard.statuses == [503] && late.statuses == [503] && dead.leftovers() == [])
        let slow = Stage(), unreported = slow.far.call()
        slow.run(8)
        #expect(unreported.statuses == [480] && slow.leftovers() == [])
    }

    /// As Siri asks since iOS 13.
    private static func startCall(_ handle: String) -> NSUserActivity {
        let person = INPerson(
            personHandle: INPersonHandle(value: handle, type: .phoneNumber), nameComponents: nil, displayName: nil, image: nil,
            contactIdentifier: nil, customIdentifier: nil)
        let intent = INStartCallIntent(
            callRecordFilter: nil, callRecordToCallBack: nil, audioRoute: .unknown, destinationType: .normal, contacts: [person],
            callCapability: .audioCall)
        return NSUserActivity(hookswitch: INInteraction(intent: intent, response: nil))
    }

    @MainActor @Test func `MC-24 Siri, a contact card and the recents lead the same way`() throws {
        var stories: [[String]] = []
        for origin in ["Siri", "contact card", "recents", "URL"] {
            let stage = Stage(), app = try #require(Launcher.monkeyCall(stage))
            let recents = AppRecents(of: app.providerDelegate.provider)
            stage.line.recents = recents
            stage.far.onInvite = { $0.ring() }
            switch origin {
            case "Siri": #expect(Launcher.continue(Self.startCall("2002")))
            case "contact card": #expect(Launcher.continue(Self.activity(.phoneNumber, ["2002"])))
            case "recents":
                app.callManager.startCall("2002", type: .phoneNumber)
                stage.run(0.5)
                stage.end(stage.calls[0])
                stage.run(0.5)
                try recents.callBack(try #require(recents.entries.first)) { Launcher.continue($0) }
            default: #expect(Launcher.open("monkeycall://2002"))
            }
            stage.run(0.5)
            let call = try #require(stage.calls.first)
            stories.append(stage.story(of: call))
            #expect(stage.calls.count == 1 && stage.far.calls.last?.session?.request.requestURI?.user == "2002", "\(origin)")
            #expect(app.callManager.calls.map(\.handle) == ["2002"] && app.callManager.calls.allSatisfy(\.isOutgoing))
            stage.end(call)
            #expect(stage.leftovers() == [])
        }
        let order = ["tx.requested", "tx.accepted", "perform.start", "media.reserved", "media.configured", "sip.tx INVITE"]
        #expect(Set(stories).count == 1 && stories[0].haveInOrder(order), "\(stories)")
    }

    // MARK: A5

    @Test func `MC-40 the provider is what the app configured, and a group takes one call`() {
        let stage = Stage(), app = MonkeyApp(stage), configuration = app.delegate.provider.configuration
        #expect(configuration.localizedName == "MonkeyCall" && configuration.maximumCallsPerCallGroup == 1)
        #expect(configuration.supportedHandleTypes == [.phoneNumber] && configuration.ringtoneSound == "musicloop01.wav")
        // The app's own picture is in its bundle, and a test has none: one of the same kind.
        configuration.iconTemplateImageData = Launcher.icon
        app.delegate.provider.configuration = configuration
        configuration.iconTemplateImageData = nil
        let registered = app.delegate.provider.configuration
        #expect(registered.iconTemplateImageData == Launcher.icon && Launcher.icon?.starts(with: [0x89, 0x50, 0x4e]) == true)
        #expect(registered.localizedName == "MonkeyCall" && registered.maximumCallsPerCallGroup == 1, "the rest is as it was")
        let first = stage.takeCall().uuid, second = stage.takeCall().uuid, before = stage.traffic.count
        let code = stage.request(CXSetGroupCallAction(call: second, callUUIDToGroupWith: first))
        #expect(code == CXErrorCodeRequestTransactionError.Code.invalidAction.rawValue)
        stage.run(1)
        #expect(stage.system.counts.groups == 2 && !stage.story.contains("perform.group") && stage.traffic.count == before)
        #expect(stage.media.sendingLegs == 1, "nobody is joined")
        for call in [second, first] { stage.end(call) }
        #expect(stage.leftovers() == [])
    }

    @MainActor @Test(.timeLimit(.minutes(30))) func `MC-41 a delegate without a queue is called on the main queue`() async {
        let system = CallSystem(configuration: .app, host: QueueHost())
        let app = QueueProbe(system, queue: nil)
        for other in 0..<100 { DispatchQueue.main.async { _ = other } }
        let onMain = await app.firstAnswer()
        #expect(onMain)
    }

    @Test func `MC-42 a reset ends five calls in five states, and nothing is performed after it`() throws {
        let stage = Stage(), app = ProbeApp(stage) { $0.maximumCallGroups = 9 }
        let held = stage.takeCall(), connected = stage.takeCall()
        let ringing = stage.ring()
        var silent: FarCall?, early: FarCall?
        stage.far.onInvite = { silent = $0 }
        stage.dial("2003")
        stage.run(0.1)
        stage.far.onInvite = {
            early = $0
            $0.ring()
        }
        stage.dial("2004")
        stage.run(0.5)
        #expect(stage.calls.count == 5 && held.far.isOver == false)
        let before = app.heard.count
        stage.host.now = stage.now
        stage.system.reset()
        stage.run(1)
        // A CANCEL waits for the first response (RFC 3261 §9.1).
        #expect(stage.sent("app CANCEL").count == 1 && silent?.isOver == false)
        silent?.ring()
        stage.run(39)
        let after = app.heard.dropFirst(before)
        #expect(after.filter { $0 == "reset" }.count == 1 && !after.contains { ["start", "answer", "end", "hold"].contains($0) })
        #expect([held.far, connected.far, ringing.far, early, silent].allSatisfy { $0?.isOver == true })
        #expect(stage.sent("app BYE").count == 2 && stage.sent("app CANCEL").count == 2 && ringing.far.statuses.last == 500)
        #expect(stage.openLegs == 0 && stage.calls.isEmpty)
        let story = stage.story, reset = try #require(story.firstIndex(of: "provider.reset"))
        #expect(!story[reset...].contains { $0.hasPrefix("perform.") } && story[reset...].filter { $0 == "call.ended" }.count == 5)
        #expect(stage.leftovers() == [])
    }

    @Test func `MC-43 an end right after the start was fulfilled leaves nobody in the call, though the app does not know it yet`() {
        let stage = Stage(), app = ProbeApp(stage)
        app.does(CXStartCallAction.self) { action in
            #expect(app.link.start(action.callUUID, to: action.handle.value))
            action.fulfill()
            app.does(CXEndCallAction.self) { $0.fail() }
        }
        stage.far.onInvite = { $0.ring() }
        stage.dial("2002")
        stage.end(stage.calls[0])
        stage.run(5)
        #expect(stage.calls.isEmpty && stage.far.calls[0].isOver)
        #expect(stage.leftovers() == [])
    }

    @Test func `MC-44 an app that has forgotten the call fails its actions, and no dialog stays up`() {
        let ringing = Stage(), forgetful = MonkeyApp(ringing)
        let call = ringing.ring()
        forgetful.delegate.providerDidReset(forgetful.delegate.provider)
        ringing.request(CXAnswerCallAction(call: call.uuid))
        ringing.run(1)
        #expect(call.far.statuses.last == 500 && ringing.calls.isEmpty && ringing.leftovers() == [])

        let stage = Stage(), app = MonkeyApp(stage)
        let taken = stage.takeCall()
        app.delegate.providerDidReset(app.delegate.provider)
        stage.hold(taken.uuid)
        #expect(stage.call(taken.uuid)?.isOnHold == false && stage.sent("app INVITE").isEmpty)
        stage.end(taken.uuid)
        stage.run(5)
        #expect(taken.far.isOver && stage.calls.isEmpty && stage.leftovers() == [])
    }

    @Test func `MC-45 an end that is fulfilled after the app forgot the call sends one BYE`() {
        let stage = Stage(), app = MonkeyApp(stage)
        let call = stage.takeCall().uuid
        stage.end(call)
        stage.run(1)
        #expect(app.manager.calls.isEmpty && stage.sent("app BYE").count == 1)
        #expect(stage.leftovers() == [])
    }

    @Test func `MC-46 a hold is fulfilled before the far end agrees, and the media has stopped by then`() {
        let stage = Stage(), app = MonkeyApp(stage)
        let taken = stage.takeCall()
        taken.far.offerStatus = nil
        stage.run(1)
        stage.hold(taken.uuid)
        #expect(app.manager.findCall(taken.uuid)?.isOnHold == true && stage.call(taken.uuid)?.isOnHold == true)
        #expect(stage.story(of: taken.uuid).haveInOrder(["media.stopped", "sip.tx INVITE", "action.fulfilled held"]))
        let packets = stage.packets
        stage.run(10)
        taken.far.answerOffer()
        stage.run(1)
        #expect(stage.packets == packets && !stage.story.contains("action.timeout held"))
        stage.end(taken.uuid)
        #expect(stage.leftovers() == [])
    }

    @Test func `MC-47 an answer times out after 60 s and an end after 5, and the call is over all the same`() throws {
        let stage = Stage(), app = ProbeApp(stage)
        app.does(CXAnswerCallAction.self) { _ in }
        let ringing = stage.ring()
        let asked = stage.now
        stage.request(CXAnswerCallAction(call: ringing.uuid))
        stage.run(61)
        let timeout = try #require(stage.journal.first { $0.words == "action.timeout answer" })
        #expect(abs((timeout.time - asked) / .seconds(1) - 60) < 0.1)
        #expect(app.heard.suffix(2) == ["execute 1", "end"] && app.heard.contains("timed out") && ringing.far.statuses.last == 504)
        app.instead = [:]
        let taken = stage.takeCall()
        app.does(CXEndCallAction.self) { _ in }
        stage.end(taken.uuid)
        stage.run(4.9)
        #expect(stage.calls == [taken.uuid])
        stage.run(0.2)
        #expect(stage.calls.isEmpty && taken.far.isOver)
        #expect(stage.leftovers() == [])
    }

    @Test func `MC-48 sound begins when the system has activated the session`() {
        let stage = Stage(), app = ProbeApp(stage)
        app.onActivate = {}
        let call = stage.takeCall().uuid
        stage.run(1)
        #expect(app.heard.contains("activate") && stage.media.counts(at: stage.now).started == 0 && stage.packets == 0)
        #expect(app.link.startAudio())
        stage.run(1)
        #expect(stage.story(of: call).haveInOrder(["perform.answer", "action.fulfilled answer", "session.activated", "media.started"]))
        stage.end(call)
        #expect(stage.packets > 40 && stage.leftovers() == [])
    }

    @Test func `MC-49 no packet leaves after the session is off, and a port number rests before it is used again`() {
        let stage = Stage(ports: 1), app = MonkeyApp(stage)
        stage.end(stage.takeCall().uuid)
        let packets = stage.packets
        #expect(stage.story.haveInOrder(["media.stopped", "session.deactivated", "media.closed", "media.released"]))
        let early = stage.far.call()
        stage.run(0.5)
        #expect(early.statuses == [503])
        stage.run(1)
        #expect(stage.packets == packets)
        let late = stage.ring()
        #expect(late.far.statuses == [180])
        stage.end(late.uuid)
        #expect(stage.leftovers() == [])
        withExtendedLifetime(app) {}
    }

    @Test func `MC-50 180 leaves only after a report without an error`() {
        let stage = Stage(), app = MonkeyApp(stage)
        stage.system.filter = { _, update in update.remoteHandle?.value == "666" ? .filteredByBlockList : nil }
        let blocked = stage.far.call(from: "666")
        stage.run(0.5)
        #expect(blocked.statuses == [607] && app.manager.calls.isEmpty && app.delegate.notes.count == 1)
        let welcome = stage.ring()
        #expect(welcome.far.statuses == [180] && stage.story(of: welcome.uuid).haveInOrder(["report.incoming.ok", "sip.tx 180"]))
        stage.end(welcome.uuid)
        #expect(stage.leftovers() == [])
    }

    // MARK: A7

    @Test(arguments: [2, 1])
    func `MC-70 a second call rings where there is room for it, and is busy where there is not`(groups: Int) {
        let stage = Stage(), app = ProbeApp(stage) { $0.maximumCallGroups = groups }
        let first = stage.takeCall()
        let second = stage.far.call()
        stage.run(0.5)
        #expect(second.statuses == [groups == 2 ? 180 : 486])
        #expect(app.errors.map { $0 == nil } == [true, groups == 2] && !first.far.isOver)
        for call in stage.calls.reversed() { stage.end(call) }
        #expect(stage.leftovers() == [])
    }

    @Test func `MC-71 end and answer, hold and answer, and all three come in one transaction, in order on the wire`() {
        let stage = Stage(), app = ProbeApp(stage)
        let first = stage.takeCall().uuid, second = stage.ring().uuid
        stage.request(CXSetHeldCallAction(call: first, onHold: true), CXAnswerCallAction(call: second))
        stage.run(1)
        #expect(
            app.heard.suffix(5).contains("execute 2")
                && app.heard.filter { ["hold", "answer"].contains($0) } == ["answer", "hold", "answer"])
        #expect(stage.traffic.haveInOrder(["app INVITE", "app 200 INVITE"]), "the hold is on its way before the answer")
        stage.end(first)
        let third = stage.ring().uuid
        let before = stage.wire.count
        stage.request(CXEndCallAction(call: second), CXAnswerCallAction(call: third))
        stage.run(1)
        #expect(stage.wire.dropFirst(before).map(\.text).haveInOrder(["app BYE", "app 200 INVITE"]))
        let held = third
        stage.hold(held)
        let active = stage.takeCall().uuid, waiting = stage.far.call()
        stage.run(0.1)
        #expect(waiting.statuses == [486], "two groups are two")
        stage.end(active)
        stage.run(0.1)
        let more = Stage(), other = ProbeApp(more) { $0.maximumCallGroups = 3 }
        let a = more.takeCall().uuid, b = more.takeCall().uuid, c = more.ring().uuid
        more.request(CXEndCallAction(call: a), CXSetHeldCallAction(call: b, onHold: true), CXAnswerCallAction(call: c))
        more.run(1)
        #expect(other.heard.contains("execute 3") && more.traffic.haveInOrder(["app BYE", "app INVITE", "app 200 INVITE"]))
        for stage in [stage, more] {
            for call in stage.calls { stage.end(call) }
            #expect(stage.leftovers() == [])
        }
    }

    @Test func `MC-72 a transaction is pending until each of its actions is complete`() {
        let stage = Stage(), app = ProbeApp(stage)
        let first = stage.takeCall().uuid, second = stage.ring().uuid
        app.does(CXSetHeldCallAction.self) { _ in }
        stage.request(CXSetHeldCallAction(call: first, onHold: true), CXAnswerCallAction(call: second))
        #expect(app.provider.pendingTransactions.count == 1)
        stage.run(4.9)
        #expect(app.provider.pendingTransactions.map { $0.actions.map(\.isComplete) } == [[false, true]])
        stage.run(0.2)
        #expect(app.provider.pendingTransactions.isEmpty && app.heard.contains("timed out"))
        app.instead = [:]
        for call in stage.calls { stage.end(call) }
        // The app kept two calls in its one session: that is what the audit has to say, and nothing else.
        #expect(stage.leftovers().allSatisfy { $0.contains("R16") })
    }

    // MARK: A9

    @Test func `MC-90 the provider has its name and icon, and video is answered with port 0`() {
        let stage = Stage { $0.displayName = "Monkey" }, app = MonkeyApp(stage)
        stage.far.call { $0 += "m=video 40010 RTP/AVP 96\r\na=rtpmap:96 H264/90000\r\n" }
        stage.run(0.1)
        stage.request(CXAnswerCallAction(call: stage.calls[0]))
        stage.run(0.1)
        let answer = stage.sent("app 200 INVITE").first?.body ?? ""
        #expect(answer.contains("m=video 0 ") && !answer.contains("m=audio 0 "))
        let configuration = app.delegate.provider.configuration
        #expect(configuration.supportsVideo == false && configuration.localizedName == "MonkeyCall")
        configuration.iconTemplateImageData = Launcher.icon
        app.delegate.provider.configuration = configuration
        #expect(app.delegate.provider.configuration.iconTemplateImageData == Launcher.icon)
        #expect(answer.components(separatedBy: "\r\nm=").count == 3, "one answer for each medium")
        stage.end(stage.calls[0])
        stage.run(0.1)
        let call = stage.makeCall().uuid
        #expect(stage.sent("app INVITE").last?.message.from.displayName == "Monkey")
        // An app's picture has no address, and so the network is told of none.
        #expect(stage.wire.allSatisfy { $0.message.headers["Call-Info"] == nil })
        stage.end(call)
        #expect(stage.leftovers() == [])
    }

    @Test func `MC-91 a start for which the network has no port fails, nothing is sent, and the call ends as failed at once`() throws {
        let stage = Stage(ports: 1), app = ProbeApp(stage), first = stage.takeCall().uuid, before = stage.traffic.count
        let observer = CXCallObserver(system: stage.system)
        stage.dial("2002")
        #expect(stage.calls == [first] && observer.calls.map(\.uuid) == [first] && app.heard.contains("start"))
        stage.run(0.1)
        #expect(stage.sent("app INVITE").allSatisfy { $0.body.contains("a=sendonly") }, "the hold of the first, and no call")
        #expect(stage.traffic.dropFirst(before).filter { $0.hasPrefix("app ") } == ["app INVITE", "app ACK"])
        #expect(stage.story.contains("media.refused") && stage.story.contains("action.failed start"))
        let journal = stage.journal
        let failed = try #require(journal.first { $0.words == "action.failed start" }),
            ended = try #require(journal.first { $0.words == "call.ended" })
        #expect(ended.time - failed.time < .milliseconds(100) && ended.details.text(.reason) == "startFailed")
        stage.end(first)
        #expect(stage.leftovers() == [])
    }

    @Test(arguments: [("start", 600.0), ("answer", 60), ("end", 5), ("hold", 5), ("mute", 5), ("tones", 5)])
    func `MC-92 each class of action has its own time`(name: String, limit: Double) {
        let stage = Stage(), app = ProbeApp(stage)
        let call = name == "start" ? UUID() : name == "answer" ? stage.ring().uuid : stage.takeCall().uuid
        app.does(CXStartCallAction.self) { _ in }
        app.does(CXAnswerCallAction.self) { _ in }
        app.does(CXEndCallAction.self) { _ in }
        app.does(CXSetHeldCallAction.self) { _ in }
        app.does(CXSetMutedCallAction.self) { _ in }
        app.does(CXPlayDTMFCallAction.self) { _ in }
        let action: CXAction =
            switch name {
            case "start": CXStartCallAction(call: call, handle: CXHandle(type: .generic, value: "2002"))
            case "answer": CXAnswerCallAction(call: call)
            case "end": CXEndCallAction(call: call)
            case "hold": CXSetHeldCallAction(call: call, onHold: true)
            case "mute": CXSetMutedCallAction(call: call, muted: true)
            default: CXPlayDTMFCallAction(call: call, digits: "1", type: .singleTone)
            }
        #expect(stage.request(action) == nil)
        stage.run(limit * 0.99)
        #expect(!app.heard.contains("timed out"))
        stage.run(limit * 0.02)
        #expect(app.heard.contains("timed out"))
        app.instead = [:]
        for call in stage.calls { stage.end(call) }
        #expect(stage.leftovers() == [])
    }

    @Test func `MC-93 a blocked caller hears no ring, and the app hears why`() {
        let stage = Stage(), app = ProbeApp(stage)
        stage.system.filter = { _, _ in .filteredByBlockList }
        let blocked = stage.far.call()
        stage.run(0.5)
        #expect(blocked.statuses == [607] && app.heard.isEmpty && stage.calls.isEmpty)
        #expect(app.errors.compactMap { ($0 as? CXErrorCodeIncomingCallError)?.code } == [.filteredByBlockList])
        #expect(stage.traffic == ["far INVITE", "app 100 INVITE", "app 607 INVITE", "far ACK"] && stage.openLegs == 0)
        #expect(stage.sent("app 607 INVITE").first?.reason.contains("Q.850") == true)
        #expect(!stage.story.contains { $0.hasPrefix("perform.") || $0 == "media.opened" })
        #expect(stage.leftovers() == [])
    }

    @Test func `MC-94 do not disturb turns callers away but VIPs`() {
        let stage = Stage(), app = ProbeApp(stage)
        stage.system.filter = { _, update in update.remoteHandle?.value == "112" ? nil : .filteredByDoNotDisturb }
        let other = stage.far.call(from: "2001")
        stage.run(0.5)
        let vip = stage.ring(from: "112")
        #expect(other.statuses == [480] && vip.far.statuses == [180])
        #expect(stage.wire.first { $0.text == "app 480 INVITE" }?.message.reasonPhrase == "Do Not Disturb")
        #expect(app.errors.map { ($0 as? CXErrorCodeIncomingCallError)?.code } == [.filteredByDoNotDisturb, nil])
        #expect(stage.sent("app 180 INVITE").count == 1 && stage.calls == [vip.uuid] && app.heard.isEmpty, "the first never rang")
        #expect(stage.sent("app 480 INVITE").first?.reason.contains("Q.850") == true)
        stage.request(CXAnswerCallAction(call: vip.uuid))
        stage.run(0.5)
        #expect(vip.far.statuses == [180, 200] && stage.media.sendingLegs == 1)
        stage.end(vip.uuid)
        #expect(stage.leftovers() == [])
    }

    @Test func `MC-95 the errors of an incoming call are told apart by their codes`() {
        let codes: [(CXErrorCodeIncomingCallError.Code, Int)] = [
            (.unknown, 0), (.callUUIDAlreadyExists, 2), (.filteredByDoNotDisturb, 3), (.filteredByBlockList, 4),
        ]
        for (code, value) in codes {
            let error: (any Error)? = CXErrorCodeIncomingCallError(code)
            let bridged = error as NSError?
            #expect(bridged?.domain == "com.apple.CallKit.error.incomingcall" && bridged?.code == value && code.rawValue == value)
        }
    }

    @Test func `MC-96 no other provider takes the session of an active call`() {
        let stage = Stage(), app = ProbeApp(stage)
        let call = stage.takeCall().uuid
        let other = ProbeApp(stage)
        let waiting = stage.ring()
        stage.run(1)
        #expect(stage.media.counts(at: stage.now).started == 1 && !app.heard.contains("deactivate") && !other.heard.contains("activate"))
        stage.end(waiting.uuid)
        stage.run(1)
        #expect(!app.heard.contains("deactivate") && stage.story(of: call).count(of: "media.started") == 1)
        stage.end(call)
        #expect(stage.packets > 90 && stage.leftovers() == [])
    }

    @Test func `MC-98 configured, fulfilled, activated, started: strictly in this order`() {
        let stage = Stage(), app = OFreeApp(stage)
        let taken = stage.takeCall().uuid
        stage.end(taken)
        stage.run(1)
        let made = stage.makeCall().uuid
        for (call, action) in [(taken, "answer"), (made, "start")] {
            let order = ["perform.\(action)", "media.configured", "action.fulfilled \(action)", "session.activated", "media.started"]
            #expect(stage.story(of: call).haveInOrder(order), "\(stage.story(of: call))")
        }
        stage.end(made)
        #expect(stage.leftovers() == [])
        withExtendedLifetime(app) {}
    }
}
