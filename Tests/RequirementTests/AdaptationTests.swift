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

@testable import Rehearsal

/// The adaptation article (B).
@Suite struct AdaptationTests {
    @Test func `AD-1 a second call never drops the first by itself`() {
        let stage = Stage(), app = ProbeApp(stage)
        let first = stage.takeCall()
        let second = stage.ring()
        stage.run(30)
        #expect(!first.far.isOver && stage.media.counts(at: stage.now).started == 1 && stage.calls == [first.uuid, second.uuid])
        stage.request(CXAnswerCallAction(call: second.uuid))
        stage.run(1)
        #expect(!first.far.isOver && stage.call(first.uuid)?.isOnHold == true, "held, not dropped")
        for call in [second.uuid, first.uuid] { stage.end(call) }
        #expect(stage.leftovers() == [])
        withExtendedLifetime(app) {}
    }

    @Test func `AD-2 with two apps' providers a start goes to the app's own, and one of no app to the last that registered`() throws {
        let stage = Stage()
        let apps = ["first", "second"].map { name in
            CallSystem.$currentApp.withValue(name) { (app: ProbeApp(stage), controller: CXCallController(system: stage.system)) }
        }
        func start(_ controller: CXCallController) -> (call: UUID, code: Int?) {
            let action = CXStartCallAction(call: UUID(), handle: CXHandle(type: .generic, value: "2002"))
            var code: Int?
            controller.hookswitchRequest(CXTransaction(action: action)) {
                code = ($0 as? CXErrorCodeRequestTransactionError)?.code.rawValue
            }
            return (action.callUUID, code)
        }
        stage.far.onInvite = { $0.answer() }
        for (index, asker) in apps.enumerated() {
            let before = apps.map { $0.app.heard.count(of: "start") }, (call, code) = start(asker.controller)
            stage.run(0.5)
            let asked = zip(before, apps).map { $1.app.heard.count(of: "start") - $0 }
            #expect(code == nil && asked == (index == 0 ? [1, 0] : [0, 1]))
            #expect(stage.sent("app INVITE").count == index + 1 && stage.call(call)?.hasConnected == true)
            asker.controller.hookswitchRequest(CXTransaction(action: CXEndCallAction(call: call))) { #expect($0 == nil) }
            stage.run(0.5)
            #expect(asker.app.heard.contains("end") && stage.sent("app BYE").count == index + 1)
        }
        let stranger = CallSystem.$currentApp.withValue("third") { CXCallController(system: stage.system) }
        #expect(start(stranger).code == CXErrorCodeRequestTransactionError.Code.unknownCallProvider.rawValue)
        stage.end(stage.makeCall().uuid)
        #expect(apps.map { $0.app.heard.count(of: "start") } == [1, 2])
        #expect(stage.leftovers() == [])
    }

    @Test func `AD-3 a configuration has the documented defaults`() {
        let configuration = CXProviderConfiguration()
        #expect(configuration.maximumCallGroups == 2 && configuration.maximumCallsPerCallGroup == 5 && !configuration.supportsVideo)
        #expect(configuration.includesCallsInRecents && configuration.supportedHandleTypes.isEmpty && configuration.ringtoneSound == nil)
        #expect(configuration.localizedName == nil && configuration.iconTemplateImageData == nil)
        #expect(CXProviderConfiguration(localizedName: "A").localizedName == "A")
    }

    @MainActor @Test(.timeLimit(.minutes(30))) func `AD-4 a nil queue is the main queue, and another one is that one`() async {
        let system = CallSystem(configuration: .app, host: QueueHost())
        let onMain = await QueueProbe(system, queue: nil).firstAnswer()
        let elsewhere = await QueueProbe(system, queue: DispatchQueue(label: "own")).firstAnswer()
        #expect(onMain && !elsewhere)
    }

    @Test func `AD-5 a report without an error shows the call, and one with an error does not`() {
        let stage = Stage(), app = ProbeApp(stage), observer = CXCallObserver(system: stage.system)
        observer.setDelegate(app, queue: nil)
        stage.system.filter = { _, update in update.remoteHandle?.value == "666" ? .filteredByBlockList : nil }
        stage.far.call(from: "666")
        stage.run(0.2)
        #expect(!app.heard.contains("sees new"))
        let call = stage.ring().uuid
        #expect(app.heard.filter { $0 == "sees new" }.count == 1 && observer.calls.map(\.uuid) == [call])
        stage.end(call)
        #expect(stage.leftovers() == [])
    }

    struct Flags: Sendable, CustomTestStringConvertible {
        var holding = true, grouping = true, tones = true, video = false
        var testDescription: String { "holding \(holding), grouping \(grouping), DTMF \(tones), video \(video)" }
    }

    private static let everyFlag = [true, false].flatMap { holding in
        [true, false].flatMap { grouping in
            [true, false].flatMap { tones in
                [true, false].map { Flags(holding: holding, grouping: grouping, tones: tones, video: $0) }
            }
        }
    }

    @Test(arguments: everyFlag)
    func `AD-6 what a call supports reaches the network, and what it does not is refused and reaches nobody`(flags: Flags) {
        let stage = Stage(), app = ProbeApp(stage)
        app.update = {
            ($0.supportsHolding, $0.supportsGrouping, $0.supportsDTMF) = (flags.holding, flags.grouping, flags.tones)
            ($0.hasVideo, $0.localizedCallerName) = (flags.video, "Ada")
        }
        stage.far.call { $0 += "m=video 40010 RTP/AVP 96\r\na=rtpmap:96 H264/90000\r\n" }
        stage.run(0.1)
        let call = stage.calls[0], invalid = CXErrorCodeRequestTransactionError.Code.invalidAction.rawValue
        #expect(
            stage.call(call)?.handle?.value == "2001" && stage.call(call)?.localizedCallerName == "Ada"
                && stage.call(call)?.hasVideo == flags.video)
        stage.request(CXAnswerCallAction(call: call))
        stage.run(0.2)
        #expect(stage.sent("app 200 INVITE").map { $0.body.contains("m=video 0 ") } == [true], "sound alone, whatever the app says")
        #expect(stage.request(CXPlayDTMFCallAction(call: call, digits: "1", type: .singleTone)) == (flags.tones ? nil : invalid))
        #expect(stage.media.keys.map(\.key) == (flags.tones ? ["1"] : []))
        #expect(stage.request(CXSetHeldCallAction(call: call, onHold: true)) == (flags.holding ? nil : invalid))
        stage.run(0.5)
        #expect(stage.sent("app INVITE").map { $0.body.contains("a=sendonly") } == (flags.holding ? [true] : []))
        #expect(stage.media.sendingLegs == (flags.holding ? 0 : 1))
        app.update = { _ in }
        guard flags.holding else { return endsAndAccepts(call, stage, app) }
        let other = stage.takeCall(from: "2002").uuid
        let joins = stage.request(
            CXSetGroupCallAction(call: other, callUUIDToGroupWith: call), CXSetHeldCallAction(call: call, onHold: false))
        stage.run(0.5)
        #expect(joins == (flags.grouping ? nil : invalid) && app.heard.contains("group") == flags.grouping)
        #expect(stage.system.counts.groups == (flags.grouping ? 1 : 2) && stage.media.sendingLegs == (flags.grouping ? 2 : 1))
        finish(stage, app)
    }

    /// A call that cannot be held is ended for the next one, and before it.
    private func endsAndAccepts(_ call: UUID, _ stage: Stage, _ app: ProbeApp) {
        let other = stage.takeCall(from: "2002").uuid
        #expect(stage.calls == [other] && stage.call(call) == nil && stage.media.sendingLegs == 1)
        #expect(stage.traffic.filter { ["app BYE", "app 200 INVITE"].contains($0) } == ["app 200 INVITE", "app BYE", "app 200 INVITE"])
        finish(stage, app)
    }

    private func finish(_ stage: Stage, _ app: ProbeApp) {
        for call in stage.calls.reversed() { stage.end(call) }
        #expect(stage.leftovers().allSatisfy { $0.contains("R16") })
        withExtendedLifetime(app) {}
    }

    @Test(arguments: [Flags(), Flags(holding: false), Flags(grouping: false), Flags(tones: false)])
    func `a call that cannot be held is ended for the next`(flags: Flags) {
        let stage = Stage(), app = ProbeApp(stage)
        app.update = { ($0.supportsHolding, $0.supportsGrouping, $0.supportsDTMF) = (flags.holding, flags.grouping, flags.tones) }
        let call = stage.takeCall().uuid
        let other = stage.ring().uuid
        stage.request(CXAnswerCallAction(call: other))
        stage.run(1)
        #expect(stage.calls.contains(call) == flags.holding && stage.sent("app BYE").count == (flags.holding ? 0 : 1))
        for call in stage.calls.reversed() { stage.end(call) }
        #expect(stage.leftovers() == [])
    }

    struct End: Sendable, CustomTestStringConvertible {
        let reason: CXCallEndedReason
        /// How the far end does it; ringing calls are cancelled, made calls are refused.
        let cancel: String?, status: Int?
        var testDescription: String { "\(reason)" }
    }

    static let ends = [
        End(reason: .remoteEnded, cancel: "", status: nil), End(reason: .answeredElsewhere, cancel: "SIP;cause=200", status: nil),
        End(reason: .declinedElsewhere, cancel: "SIP;cause=603", status: nil), End(reason: .unanswered, cancel: nil, status: 486),
        End(reason: .failed, cancel: nil, status: 404),
    ]

    @Test(arguments: ends) func `AD-7 an end that is not the user's is reported with its reason`(end: End) throws {
        let stage = Stage(), app = ProbeApp(stage), recents = AppRecents(of: app.provider)
        stage.line.recents = recents
        if let cancel = end.cancel {
            stage.ring().far.cancel(cancel.isEmpty ? [] : [Reason(protocol: "SIP", cause: Int(cancel.suffix(3))!)])
        } else if let status = end.status {
            stage.far.onInvite = { $0.refuse(status) }
            stage.dial("2002")
        }
        stage.run(1)
        let reported = try #require(stage.journal.first { $0.words == "report.ended" })
        #expect(reported.details.text(.reason)?.description == "\(end.reason)")
        let entry = try #require(recents.entries.first)
        #expect(recents.entries.count == 1 && entry.connected == nil && entry.duration == 0 && entry.isOutgoing == (end.cancel == nil))
        #expect(entry.ended == stage.host.date(at: reported.time), "without a date it is now")
        #expect(stage.leftovers() == [])
    }

    @Test(arguments: zip(1...5, [CXCallEndedReason.failed, .remoteEnded, .unanswered, .answeredElsewhere, .declinedElsewhere]))
    func `an end with a date is in the recents with that date, and each reason has its number`(
        number: Int, reason: CXCallEndedReason
    ) throws {
        let stage = Stage(), app = ProbeApp(stage), recents = AppRecents(of: app.provider)
        stage.line.recents = recents
        let call = stage.takeCall(), date = stage.host.date(at: stage.now).addingTimeInterval(-0.05)
        app.provider.reportCall(with: call.uuid, endedAt: date, reason: reason)
        stage.run(0.5)
        let entry = try #require(recents.entries.first), ended = try #require(stage.journal.first { $0.words == "call.ended" })
        #expect(reason.rawValue == number && entry.ended == date && ended.details.text(.reason)?.description == "\(reason)")
        #expect(call.far.isOver && stage.sent("app BYE").count == 1)
        #expect(stage.leftovers() == [])
    }

    @Test func `AD-8 an update changes what it sets and keeps the rest`() {
        let stage = Stage(), app = ProbeApp(stage), call = stage.takeCall().uuid
        let update = CXCallUpdate()
        update.localizedCallerName = "Carol"
        app.provider.reportCall(with: call, updated: update)
        #expect(stage.call(call)?.localizedCallerName == "Carol" && stage.call(call)?.handle?.value == "2001")
        stage.end(call)
        #expect(stage.leftovers() == [])
    }

    @Test func `AD-9 the duration runs from connected to ended, without the ringing`() throws {
        let stage = Stage(), app = ProbeApp(stage), recents = AppRecents(of: app.provider)
        stage.line.recents = recents
        stage.far.onInvite = { call in
            call.ring()
            stage.after(.seconds(7)) { call.answer() }
            stage.after(.seconds(12)) { call.bye() }
        }
        stage.dial("2002")
        stage.run(20)
        let entry = try #require(recents.entries.first)
        #expect(abs(entry.duration - 5) < 0.1 && entry.isOutgoing)
        #expect(stage.leftovers() == [])
    }

    @Test(.timeLimit(.minutes(30))) func `AD-10 a controller answers on a private serial queue, or on the one that it was given`() async {
        let system = CallSystem(configuration: .app, host: QueueHost())
        let key = DispatchSpecificKey<Bool>(), queue = DispatchQueue(label: "given")
        queue.setSpecific(key: key, value: true)
        for (given, expected) in [(nil, false), (queue, true)] as [(DispatchQueue?, Bool)] {
            let controller = CXCallController(system: system, queue: given)
            let isThere = await withCheckedContinuation { continuation in
                controller.request(CXTransaction()) { _ in continuation.resume(returning: DispatchQueue.getSpecific(key: key) ?? false) }
            }
            #expect(isThere == expected)
        }
    }

    @Test func `AD-11 a transaction is made of actions, of one action, or bit by bit`() {
        let stage = Stage(), app = ProbeApp(stage), call = stage.takeCall().uuid
        let bitByBit = CXTransaction()
        bitByBit.addAction(CXSetMutedCallAction(call: call, muted: true))
        bitByBit.addAction(CXSetMutedCallAction(call: call, muted: false))
        let transactions = [
            bitByBit, CXTransaction(action: CXSetMutedCallAction(call: call, muted: true)),
            CXTransaction(actions: [CXEndCallAction(call: call)]),
        ]
        #expect(transactions.map(\.actions.count) == [2, 1, 1])
        for transaction in transactions { stage.controller.request(transaction) { #expect($0 == nil) } }
        #expect(app.heard.filter { $0.hasPrefix("execute") }.suffix(3) == ["execute 2", "execute 1", "execute 1"])
        #expect(stage.leftovers() == [])
    }

    /// What one action of a connected call, or of a fresh stage, did on the wire and to the media.
    @Test(arguments: ["answer", "start", "end", "held", "group", "muted", "dtmf"])
    func `AD-12 an action of each class alone does its work on the network, and nothing else`(name: String) {
        let stage = Stage(), app = ProbeApp(stage)
        stage.far.onInvite = { $0.answer() }
        let other = name == "group" ? stage.takeCall(from: "2009").uuid : nil
        let call = name == "start" ? UUID() : name == "answer" ? stage.ring().uuid : stage.takeCall().uuid
        let before = stage.traffic.count, groups = stage.system.counts.groups
        let action: CXCallAction =
            switch name {
            case "answer": CXAnswerCallAction(call: call)
            case "start": CXStartCallAction(call: call, handle: CXHandle(type: .generic, value: "2002"))
            case "end": CXEndCallAction(call: call)
            case "held": CXSetHeldCallAction(call: call, onHold: true)
            case "group": CXSetGroupCallAction(call: call, callUUIDToGroupWith: other)
            case "muted": CXSetMutedCallAction(call: call, muted: true)
            default: CXPlayDTMFCallAction(call: call, digits: "12#", type: .singleTone)
            }
        #expect(stage.request(action) == nil)
        stage.run(0.5)
        let messages = stage.traffic.dropFirst(before).filter { !$0.contains(" 100 ") }, packets = stage.packets
        stage.run(0.5)
        switch name {
        case "answer": #expect(messages == ["app 200 INVITE", "far ACK"] && stage.media.sendingLegs == 1)
        case "start": #expect(messages == ["app INVITE", "far 200 INVITE", "app ACK"] && stage.media.sendingLegs == 1)
        case "end": #expect(messages == ["app BYE", "far 200 BYE"] && stage.packets == packets && stage.openLegs == 0)
        case "held": #expect(messages == ["app INVITE", "far 200 INVITE", "app ACK"] && stage.directions.last == "sendonly")
        case "group": #expect(messages == [] && stage.system.counts.groups == groups - 1)
        case "muted": #expect(messages == [] && stage.call(call)?.isMuted == true)
        default: #expect(messages == [] && stage.media.keys.map(\.key) == ["1", "2", "#"])
        }
        if name == "held" { #expect(stage.packets == packets && stage.media.sendingLegs == 0) }
        for call in stage.calls.reversed() { stage.end(call) }
        #expect(stage.leftovers().allSatisfy { $0.contains("R16") })
        withExtendedLifetime(app) {}
    }

    @Test func `all classes of action in one run do their work`() {
        let stage = Stage(), app = ProbeApp(stage)
        let first = stage.takeCall(), second = stage.makeCall()
        #expect(stage.traffic.haveInOrder(["app 200 INVITE", "app INVITE", "app INVITE"]), "answer, the first one's hold, start")
        #expect(
            stage.request(
                CXSetGroupCallAction(call: second.uuid, callUUIDToGroupWith: first.uuid),
                CXSetHeldCallAction(call: first.uuid, onHold: false)) == nil)
        stage.run(1)
        #expect(stage.media.counts(at: stage.now).started == 2 && app.heard.contains("group") && first.far.isHeld == false)
        #expect(stage.request(CXPlayDTMFCallAction(call: second.uuid, digits: "12#", type: .singleTone)) == nil)
        #expect(stage.request(CXSetMutedCallAction(call: second.uuid, muted: true)) == nil)
        #expect(stage.request(CXSetGroupCallAction(call: second.uuid, callUUIDToGroupWith: nil)) == nil)
        stage.run(1)
        let done = stage.story.filter { $0.hasPrefix("action.fulfilled") }.map { $0.dropFirst("action.fulfilled ".count) }
        #expect(Set(done).isSuperset(of: ["answer", "held", "start", "group", "dtmf", "muted"]), "\(done)")
        for call in [second.uuid, first.uuid] { stage.end(call) }
        stage.run(1)
        #expect(stage.sent("app BYE").count == 2)
        // Two calls that were parted run on until one is held: R16 has a word to say about that, and about nothing else.
        #expect(stage.leftovers().allSatisfy { $0.contains("R16") })
    }

    @Test func `AD-13 an end is performed when the user declines or hangs up, and not when the far end does`() {
        let stage = Stage(), app = ProbeApp(stage)
        stage.end(stage.ring().uuid)
        #expect(app.heard.filter { $0 == "end" }.count == 1)
        let taken = stage.takeCall()
        stage.request(CXSetMutedCallAction(call: taken.uuid, muted: true))
        taken.far.bye()
        stage.run(1)
        #expect(app.heard.filter { $0 == "end" }.count == 1 && app.heard.contains("mute") && app.heard.contains("answer"))
        stage.makeCall().far.bye()
        stage.run(1)
        #expect(app.heard.filter { $0 == "end" }.count == 1 && app.heard.contains("start"))
        #expect(stage.leftovers() == [])
    }

    @Test func `AD-14 the classic flow, event by event`() {
        let stage = Stage(), app = ProbeApp(stage)
        let call = stage.takeCall().uuid
        stage.end(call)
        stage.run(1)
        #expect(
            stage.story(of: call) == [
                "sip.rx INVITE", "sip.tx 100", "media.reserved", "report.incoming", "report.incoming.ok", "sip.tx 180", "tx.requested",
                "tx.accepted",
                "perform.answer", "media.configured", "media.opened", "sip.tx 200", "action.fulfilled answer", "session.activated",
                "media.started",
                "sip.rx ACK", "tx.requested", "tx.accepted", "perform.end", "media.stopped", "sip.tx BYE", "action.fulfilled end",
                "call.ended",
                "session.deactivated", "media.closed", "media.released", "sip.rx 200",
            ])
        #expect(stage.leftovers() == [])
        withExtendedLifetime(app) {}
    }

    @Test func `AD-15 an app that activates the session itself sends nothing before the system does`() throws {
        let stage = Stage(), app = ProbeApp(stage), recents = AppRecents(of: app.provider)
        stage.line.recents = recents
        var packetsBefore: UInt64?
        app.onActivate = {
            packetsBefore = stage.packets
            _ = app.link.startAudio()
        }
        app.does(CXAnswerCallAction.self) { action in
            try? AVAudioSession.sharedInstance().setActive(true)
            #expect(!app.link.startAudio(), "there is no session yet")
            app.link.answer(action.callUUID) ? action.fulfill() : action.fail()
        }
        let call = stage.takeCall().uuid
        stage.run(5)
        #expect(stage.line.refusals == 1)
        #expect(stage.story(of: call).haveInOrder(["session.activated", "media.started"]))
        stage.end(call)
        let journal = stage.journal.filter { $0.call == CallUUID(call) }
        let connected = try #require(journal.first { $0.words == "action.fulfilled answer" }),
            ended = try #require(journal.first { $0.words == "call.ended" })
        #expect(abs((ended.time - connected.time) / .seconds(1) - 5.1) < 0.2)
        let answered = try #require(stage.sent("app 200 INVITE").first), bye = try #require(stage.sent("app BYE").first)
        let entry = try #require(recents.entries.first)
        #expect(abs(entry.duration - (bye.time - answered.time) / .seconds(1)) < 0.005, "the recents have the time on the wire")
        let stopped = try #require(journal.first { $0.words == "media.stopped" }),
            activated = try #require(journal.first { $0.words == "session.activated" })
        #expect(packetsBefore == 0 && stopped.details.number(.firstSent).map { $0 >= Int64(activated.time.nanoseconds) } == true)
        #expect(stage.leftovers() == [])
    }

    @Test func `AD-16 a number is called back by apps that support numbers`() throws {
        for (types, works) in [([.phoneNumber], true), ([.generic], false)] as [(Set<CXHandle.HandleType>, Bool)] {
            let stage = Stage(), app = ProbeApp(stage) { $0.supportedHandleTypes = types }, recents = AppRecents(of: app.provider)
            stage.line.recents = recents
            stage.takeCall(from: "2001").far.bye()
            stage.run(1)
            let entry = try #require(recents.entries.first)
            var offered = false
            try? recents.callBack(entry) { _ in
                offered = true
                return true
            }
            #expect(entry.handle.type == .phoneNumber && offered == works)
            #expect(stage.leftovers() == [])
        }
    }

    @Test func `AD-17 an intent says whether there is video, and its handle's type is the call's`() throws {
        let person = INPerson(
            personHandle: INPersonHandle(value: "2002", type: .phoneNumber), nameComponents: nil, displayName: nil, image: nil,
            contactIdentifier: nil,
            customIdentifier: nil)
        let audio = INStartAudioCallIntent(destinationType: .normal, contacts: [person])
        for (intent, video) in [(audio, false), (INStartVideoCallIntent(contacts: [person]), true)] as [(INIntent, Bool)] {
            let request = try #require(StartCallRequest(activity: NSUserActivity(hookswitch: INInteraction(intent: intent, response: nil))))
            #expect(request.isVideo == video && request.type == .phoneNumber)
            let stage = Stage(), app = MonkeyApp(stage)
            let recents = AppRecents(of: app.delegate.provider)
            stage.line.recents = recents
            app.manager.startCall(request.handle, type: request.type, isVideo: request.isVideo)
            #expect(stage.system.calls.first?.handle == CXHandle(type: .phoneNumber, value: "2002"))
            #expect(stage.sent("app INVITE").first?.body.contains("m=audio") == true)
            stage.end(stage.calls[0])
            #expect(recents.entries.map(\.isVideo) == [video])
            #expect(stage.leftovers() == [])
        }
    }

    @Test func `AD-18 a remote end that the app takes for the user's sends no second BYE, and is noticed`() {
        let stage = Stage(), app = ProbeApp(stage)
        app.onEnded = { call, _ in stage.end(call) }
        let taken = stage.takeCall()
        taken.far.bye()
        stage.run(1)
        #expect(stage.sent("app BYE").isEmpty && stage.calls.isEmpty && app.heard.contains("end"))
        #expect(stage.leftovers() == [] && stage.advice.map { $0.prefix(3) } == ["R9 "], "the audit advises against it")
    }
}
