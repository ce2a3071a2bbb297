import CallKit
import Foundation
import Primitives
import SIP
import Testing

@testable import Gateway
@testable import Rehearsal

/// The recents of lines, and calls that start from them, over the virtual network.
@Suite struct RecentsTests {
    let stage: Stage
    let caller: RawPeer, first: RawPeer, second: RawPeer

    init() {
        stage = Stage { configuration, _ in
            var other = LineConfiguration(number: "2001")
            (other.isOpen, other.name, other.handles) = (true, "Bob", [.phoneNumber])
            var third = LineConfiguration(number: "2002")
            third.isOpen = true
            configuration.lines += [other, third]
        }
        (caller, first, second) = (RawPeer(stage, 1), RawPeer(stage, 2), RawPeer(stage, 3))
        first.request("REGISTER", "sip:2000@hookswitch.test", call: "register", 1)
        second.request("REGISTER", "sip:2001@hookswitch.test", call: "register-2001", 1)
    }

    private func over(_ location: SourceLocation = #_sourceLocation) {
        stage.run(seconds: 200)
        #expect(stage.gateway.counts(at: stage.world.now).isIdle, sourceLocation: location)
        #expect(stage.gateway.originations.isEmpty, sourceLocation: location)
        #expect(stage.violations.isEmpty, sourceLocation: location)
    }

    private func recent(_ line: Text) throws -> RecentCall { try #require(stage.gateway.recents(ofLine: line)?.first) }

    /// From a line's device to the other line.
    private func dial(
        _ call: String, from sender: String = "Carol <sip:+390551234@192.0.2.9>", by peer: RawPeer? = nil, to number: String = "2000"
    ) {
        let peer = peer ?? caller
        peer.request("INVITE", "sip:\(number)@hookswitch.test", call: call, 1, body: peer.description(), from: sender)
    }

    @Test func `OF-24, AD-9: an answered call is in the recents of both lines, with its talking time`() throws {
        dial("answered", from: "<sip:2001@hookswitch.test>", by: second)
        stage.run(seconds: 5)
        first.answer(first.request(.invite), 200, body: first.description())
        let answer = try #require(second.final(.invite, 1))
        second.request("ACK", "sip:2000@hookswitch.test", call: "answered", 1, toTag: answer.to.tag, from: "<sip:2001@hookswitch.test>")
        stage.run(seconds: 10)
        first.hangUp(first.request(.invite))
        let incoming = try recent("2000"), outgoing = try recent("2001")
        #expect(
            incoming.direction == .incoming && incoming.outcome == .answered && incoming.handle == "2001"
                && incoming.handleType == .phoneNumber)
        #expect(incoming.name == "Bob")
        #expect(outgoing.direction == .outgoing && outgoing.outcome == .answered && outgoing.handle == "2000")
        for call in [incoming, outgoing] {
            #expect((10...10.5).contains(call.duration), "the ringing does not count: \(call.duration)")
            #expect((15...16).contains(call.ended.timeIntervalSince(call.began)))
            #expect(call.reason == "remoteEnded" || call.reason == "action")
        }
        second.answer(second.request(.bye), 200)
        over()
    }

    @Test(arguments: [
        (486, RecentCall.Outcome.declined, RecentCall.Outcome.busy), (603, .declined, .declined), (480, .missed, .unanswered),
        (500, .failed, .failed),
    ])
    func `what the device said is what the recents say`(status: Int, incoming: RecentCall.Outcome, outgoing: RecentCall.Outcome) throws {
        dial("refused", from: "<sip:2001@hookswitch.test>", by: second)
        first.answer(first.request(.invite), status)
        #expect(try recent("2000").outcome == incoming && recent("2001").outcome == outgoing)
        #expect(try recent("2000").connected == nil && recent("2000").duration == 0)
        over()
    }

    @Test(arguments: [
        ("", RecentCall.Outcome.missed), ("SIP;cause=200;text=\"Call completed elsewhere\"", .answeredElsewhere),
        ("SIP;cause=603", .declinedElsewhere),
    ])
    func `a call that the caller gave up is missed, unless somebody took it elsewhere`(reason: String, outcome: RecentCall.Outcome) throws {
        dial("given-up")
        first.answer(first.request(.invite), 180)
        caller.cancel("given-up", reason: reason)
        first.answer(first.request(.invite), 487)
        #expect(try recent("2000").outcome == outcome)
        #expect(try recent("2000").name == "Carol")
        over()
    }

    @Test func `the ring limit makes a missed call`() throws {
        dial("limit")
        first.answer(first.request(.invite), 180)
        stage.run(seconds: 70)
        #expect(try recent("2000").outcome == .missed)
        over()
    }

    @Test func `a line without recents has none, and the list has an end`() throws {
        let stage = Stage { configuration, _ in
            configuration.limits.recents = 3
            configuration.lines[1].recents = nil
        }
        let caller = RawPeer(stage, 1), device = RawPeer(stage, 2)
        device.request("REGISTER", "sip:2000@hookswitch.test", call: "register", 1)
        for number in 1...5 {
            caller.request(
                "INVITE", "sip:2000@hookswitch.test", call: "c\(number)", 1, body: caller.description(),
                from: "<sip:+39\(number)@192.0.2.9>")
            device.answer(device.request(.invite), 486)
        }
        #expect(stage.gateway.recents(ofLine: "2000")?.map(\.handle) == ["+395", "+394", "+393"])
        caller.request("INVITE", "sip:9196@hookswitch.test", call: "echo", 1, body: caller.description())
        stage.gateway.endAll(at: stage.world.now)
        #expect(stage.gateway.recents(ofLine: "9196")?.isEmpty == true, "an application keeps none unless it is told to")
        #expect(stage.gateway.recents(ofLine: "4040") == nil)
    }

    // MARK: Calls from the recents

    @Test func `a call back rings the line's device, then whom it calls, and both talk`() throws {
        dial("missed", from: "<sip:2001@hookswitch.test>", by: second)
        first.answer(first.request(.invite), 480)
        let missed = try recent("2000")
        try stage.gateway.callBack(missed.id, ofLine: "2000", at: stage.world.now)
        stage.run(seconds: 1)
        let own = try #require(first.request(.invite))
        #expect(own.from.uri.user == "2001" && own.from.displayName == "Bob", "the device sees whom it is about to call")
        let before = second.request(.invite)
        #expect(before == nil, "nobody else rings before the device answers")
        first.answer(own, 200, body: first.description())
        let far = try #require(second.request(.invite))
        #expect(far.from.uri.user == "2000")
        second.answer(far, 200, body: second.description())
        stage.run(seconds: 3)
        #expect(stage.media.openLegs == 4, "two of the call from the device, two of the call that it makes")
        #expect(try recent("2001").direction == .incoming && recent("2001").ended < recent("2001").began || recent("2000").id == missed.id)
        second.hangUp(far)
        stage.run(seconds: 1)
        #expect(first.request(.bye) != nil)
        first.answer(first.request(.bye), 200)
        #expect(try recent("2000").direction == .outgoing && recent("2000").outcome == .answered && recent("2000").handle == "2001")
        #expect(try recent("2001").direction == .incoming && recent("2001").handle == "2000")
        over()
    }

    @Test func `OF-22: a handle that the provider does not take is not called, and the journal says why`() throws {
        dial("generic", from: "<sip:alice@192.0.2.9>", to: "2001")
        second.answer(second.request(.invite), 486)
        let entry = try recent("2001")
        #expect(entry.handleType == .generic && entry.handle == "sip:alice@192.0.2.9")
        #expect(throws: CallRequestError.handleTypeUnsupported(.generic)) {
            try stage.gateway.callBack(entry.id, ofLine: "2001", at: stage.world.now)
        }
        let refusal = try #require(stage.events(.callBackRefused).first)
        #expect(
            refusal.details.text(.error) == "handleTypeUnsupported" && refusal.details.text(.class) == "generic" && refusal.line == "2001")
        over()
    }

    @Test
    func `a call by URL or activity to somebody whom nobody has, of a line without a device, with video or over TLS alone is refused`() {
        let now = stage.world.now
        #expect(throws: CallRequestError.noRoute) {
            try stage.gateway.start(CallRequest(url: URL(string: "tel:+39-055-99")!)!, ofLine: "2000", at: now)
        }
        #expect(throws: CallRequestError.noLine) {
            try stage.gateway.start(CallRequest(url: URL(string: "hookswitch://9196")!)!, ofLine: "4040", at: now)
        }
        #expect(throws: CallRequestError.noDevice) {
            try stage.gateway.start(CallRequest(url: URL(string: "tel:2000")!)!, ofLine: "9196", at: now)
        }
        let video = CallRequest(handle: CXHandle(type: .phoneNumber, value: "9196"), isVideo: true)
        #expect(throws: CallRequestError.video) { try stage.gateway.start(video, ofLine: "2000", at: now) }
        for url in ["sips:9196@hookswitch.test", "SIPS:2000@hookswitch.test"] {
            #expect(throws: CallRequestError.secure) {
                try stage.gateway.start(CallRequest(url: URL(string: url)!)!, ofLine: "2000", at: now)
            }
        }
        #expect(throws: CallRequestError.noRecentCall) { try stage.gateway.callBack(UUID(), ofLine: "2000", at: now) }
    }

    @Test func `a call that is taken over while it rings is neither missed nor unanswered`() throws {
        dial("first")
        let invite = try first.received(.invite)
        first.answer(invite, 200, body: first.description())
        let tag = try #require(caller.final(.invite, 1)?.to.tag)
        caller.request("ACK", "sip:2000@hookswitch.test", call: "first", 1, toTag: tag)
        dial("consult", from: "<sip:2000@hookswitch.test>", by: first, to: "2001")
        second.answer(try second.received(.invite), 180)
        let ringing = try #require(first.heard.last { $0.status == 180 && $0.callID == "consult" }?.to.tag)
        first.request(
            "REFER", in: invite, 2,
            headers: ["Refer-To: <sip:2001@hookswitch.test?Replaces=consult%3Bto-tag%3D\(ringing)%3Bfrom-tag%3Dconsult>"])
        #expect(first.final(.refer, 2)?.status == 202)
        second.answer(try second.received(.invite), 200, body: second.description())
        stage.run(seconds: 1)
        for notify in first.heard where notify.isRequest && notify.method == .notify { first.answer(notify, 200) }
        first.answer(try first.received(.bye), 200)
        #expect(stage.gateway.recents(ofLine: "2001")?.isEmpty == true && stage.gateway.recents(ofLine: "2000")?.isEmpty == true)
        #expect(stage.gateway.lines[0].features.outgoing.isEmpty)
        second.hangUp(second.request(.invite))
        caller.answer(try caller.received(.bye), 200)
        #expect(try recent("2000").outcome == .answered)
        over()
    }

    @Test func `who was called back first may have the other end transferred`() throws {
        caller.request("REGISTER", "sip:2002@hookswitch.test", call: "register-2002", 1)
        try stage.gateway.start(CallRequest(url: URL(string: "tel:2001")!)!, ofLine: "2000", at: stage.world.now)
        stage.run(seconds: 1)
        let own = try first.received(.invite)
        first.answer(own, 200, body: first.description())
        second.answer(try second.received(.invite), 200, body: second.description())
        stage.run(seconds: 1)
        first.request("REFER", in: own, 2, headers: ["Refer-To: <sip:2002@hookswitch.test>"])
        #expect(first.final(.refer, 2)?.status == 202)
        caller.answer(try caller.received(.invite), 200, body: caller.description())
        for notify in first.heard where notify.isRequest && notify.method == .notify { first.answer(notify, 200) }
        first.answer(try first.received(.bye), 200)
        #expect(second.request(.bye) == nil)
        second.hangUp(second.request(.invite))
        stage.run(seconds: 1)
        caller.answer(try caller.received(.bye), 200)
        over()
    }

    @Test func `of a line with room for one call all devices ring for it, and no other is begun`() throws {
        let stage = Stage { configuration in configuration.lines[0].maximumCalls = 1 }
        let (one, two) = (RawPeer(stage, 1), RawPeer(stage, 2)), echo = CallRequest(url: URL(string: "tel:9196")!)!
        for (peer, call) in [(one, "one"), (two, "two")] { peer.request("REGISTER", BridgedCall.line, call: call, 1) }
        try stage.gateway.start(echo, ofLine: "2000", at: stage.world.now)
        stage.run(seconds: 1)
        let invite = try one.received(.invite)
        two.answer(try two.received(.invite), 180)
        one.answer(invite, 200, body: one.description())
        stage.run(seconds: 1)
        #expect(two.request(.cancel) != nil)
        #expect(throws: CallRequestError.noRoom) { try stage.gateway.start(echo, ofLine: "2000", at: stage.world.now) }
    }

    @Test func `a call by URL that the device declines ends there`() throws {
        try stage.gateway.start(CallRequest(url: URL(string: "sip:9196@hookswitch.test")!)!, ofLine: "2000", at: stage.world.now)
        stage.run(seconds: 1)
        first.answer(first.request(.invite), 603)
        #expect(stage.media.openLegs == 0)
        over()
    }

    @Test func `of two devices the one that answers makes the call, and the other stops ringing`() throws {
        caller.request("REGISTER", "sip:2000@hookswitch.test", call: "second-device", 1)
        try stage.gateway.start(CallRequest(url: URL(string: "hookswitch://9196")!)!, ofLine: "2000", at: stage.world.now)
        stage.run(seconds: 1)
        caller.answer(caller.request(.invite), 180)
        first.answer(first.request(.invite), 200, body: first.description())
        stage.run(seconds: 2)
        #expect(stage.media.openLegs == 3)
        #expect(caller.request(.cancel) != nil)
        caller.answer(caller.request(.invite), 487)
        first.hangUp(first.request(.invite))
        over()
    }

    @Test func `the end of the near side while the far side rings ends the far side`() throws {
        try stage.gateway.start(CallRequest(url: URL(string: "tel:2001")!)!, ofLine: "2000", at: stage.world.now)
        stage.run(seconds: 1)
        first.answer(first.request(.invite), 200, body: first.description())
        second.answer(second.request(.invite), 180)
        first.hangUp(first.request(.invite))
        #expect(second.request(.cancel) != nil)
        second.answer(second.request(.invite), 487)
        #expect(try recent("2000").outcome == .cancelled)
        over()
    }
}
