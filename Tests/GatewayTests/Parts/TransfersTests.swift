import CallKit
import Foundation
import Primitives
import SIP
import Testing
import UserAgent

@testable import Gateway

/// Transfers by REFER: the transferor, its request, and the outcome.
@Suite struct TransfersTests {
    /// A REFER is dealt with when it comes.
    private static func parts(_ change: (inout GatewayConfiguration) -> Void = { _ in }) -> Parts {
        let parts = Parts(change)
        parts.onLegEvent = { [unowned parts] leg, event in
            if case .transferRequested(let request) = event { parts.transfers.transfer(request, by: leg) }
        }
        return parts
    }

    private static func refer(_ parts: Parts, _ leg: Leg, to target: String = "sip:3000@gateway.test", _ sequence: UInt32 = 2) {
        parts.inDialog(leg, .refer, sequence, headers: [(.referTo, Text("<\(target)>"))])
    }

    /// The statuses in the NOTIFYs.
    private static func told(_ parts: Parts) -> [Int] {
        parts.wire.requests(.notify).compactMap { Text($0.body.dropFirst(8).prefix(3)).integer(Int.self) }
    }

    // MARK: Requests

    @Test(arguments: [
        ("talks", 202), ("has no partner", 603), ("is transferring already", 603), ("is being transferred", 491),
        ("is not answered yet", 491), ("may not", 403),
    ])
    func `a transfer needs a leg that talks and may transfer`(who: String, status: Int) throws {
        let parts = Self.parts()
        try parts.register("3000", over: .peer(3))
        let leg: Leg
        if who == "has no partner" {
            leg = try #require(try parts.call("9196"))
        } else {
            let (caller, callee) = try parts.talk()
            leg = caller
            switch who {
            case "is transferring already": Self.refer(parts, caller)
            case "is being transferred": _ = parts.table.bridges[caller.uuid]?.receive(.transfer(by: callee.uuid))
            case "is not answered yet": parts.table.open(Self.answering(caller, callee))
            case "may not": leg.mayTransfer = false
            default: break
            }
        }
        Self.refer(parts, leg, 3)
        #expect(parts.wire.statuses(.refer).last == status)
    }

    /// A bridge whose callee has connected, and whose caller has not.
    private static func answering(_ caller: Leg, _ callee: Leg) -> Bridge {
        let bridge = Bridge(caller: caller.uuid)
        bridge.add(callee: callee.uuid)
        _ = bridge.receive(.calleeConnected(callee.uuid))
        return bridge
    }

    // MARK: Blind

    @Test(arguments: [
        ("sip:8888@gateway.test", 404), ("sip:3000@gateway.test", 480), ("sip:4000@gateway.test", 480), ("sip:5000@gateway.test", 486),
        ("sips:6000@gateway.test", 480),
    ])
    func `a transfer to a target that cannot be called fails, and the two talk on`(target: String, status: Int) throws {
        let parts = Self.parts { configuration in
            configuration.lines += [
                .devices("4000"), .devices("5000") { $0.maximumCalls = 1 },
                .devices("6000") { $0.endpoint = .group(RingGroup([.init("2000")])) },
            ]
        }
        let caller = try parts.talk().caller
        for number in ["4000", "5000"] as [Text] { try parts.register(number, over: .peer(4)) }
        _ = parts.line("4000").features.setDoNotDisturb(true)
        parts.table.add(parts.leg(on: "5000"))
        Self.refer(parts, caller, to: target)
        #expect(parts.wire.statuses(.refer) == [202] && Self.told(parts) == [100, status])
        #expect(caller.transfer == nil && caller.state == .connected && parts.wire.requests(.invite).count == 1)
        #expect(parts.events(.transferFailed).map { $0.details.number(.status) } == [Int64(status)])
    }

    @Test func `a transfer needs room for one more leg`() throws {
        let parts = Self.parts { $0.limits.legs = 2 }, caller = try parts.talk().caller
        try parts.register("3000", over: .peer(3))
        Self.refer(parts, caller)
        #expect(Self.told(parts) == [100, 503])
    }

    @Test func `the target is called from the transferee, with Referred-By`() throws {
        let parts = Self.parts(), (caller, callee) = try parts.talk()
        try parts.register("3000", over: .peer(3))
        Self.refer(parts, caller)
        let invite = try #require(parts.wire.requests(.invite).last), target = try #require(parts.table.callees(of: caller.uuid).last)
        #expect(invite.to.uri.user == "3000" && invite.from.uri.user == "2000" && invite.headers[.referredBy] == "<sip:1000@gateway.test>")
        guard case .transferring(let transfer) = parts.table.bridges[caller.uuid]?.state else {
            Issue.record("no transfer is under way")
            return
        }
        #expect(transfer.staying == callee.uuid && transfer.leaving == caller.uuid && transfer.targets != [target])
        let leg = try #require(transfer.targets.first.flatMap(parts.table.leg))
        #expect(leg.lines.called === parts.line("3000") && leg.line === parts.line("2000"))
    }

    @Test(arguments: [(false, "<sip:1000@gateway.test>"), (true, "<sip:anonymous@anonymous.invalid>")] as [(Bool, Text)])
    func `a private transferor is anonymous in Referred-By`(isPrivate: Bool, name: Text) throws {
        let parts = Self.parts(), caller = try parts.talk().caller
        try parts.register("3000", over: .peer(3))
        caller.party.isPrivate = isPrivate
        Self.refer(parts, caller)
        #expect(parts.wire.requests(.invite).last?.headers[.referredBy] == name)
    }

    @Test func `the transferor hears of the first target that rings`() throws {
        let parts = Self.parts(), (caller, callee) = try parts.talk()
        for last in 3...4 as ClosedRange<UInt32> { try parts.register("3000", over: .peer(last)) }
        Self.refer(parts, caller)
        let targets = parts.table.legs.values.filter { $0.state == .calling }
        parts.transfers.tellTransferor(ofTarget: callee, 180)
        #expect(Self.told(parts) == [100], "the callee is no target")
        parts.transfers.tellTransferor(ofTarget: targets[0], 180)
        targets[0].call.enter(.early)
        parts.transfers.tellTransferor(ofTarget: targets[1], 183)
        #expect(Self.told(parts) == [100, 180])
    }

    @Test func `the transferee and the target are joined, and the transferor is told and ends`() throws {
        let parts = Self.parts(), (caller, callee) = try parts.talk()
        try parts.register("3000", over: .peer(3))
        Self.refer(parts, caller)
        let target = try #require(parts.table.legs.values.first { $0.state == .calling })
        parts.answer(try #require(parts.wire.requests(.invite).last), 200, body: Parts.description(), over: .peer(3))
        parts.transfers.transferred(callee, from: caller, to: target)
        #expect(Self.told(parts) == [100, 200] && caller.state == .ended && caller.endCause == .transferred)
        #expect(callee.state == .connected && target.state == .connected)
        let joined = parts.events(.transferred).map { [$0.call, $0.details.uuid(.with)] }
        #expect(joined == [[CallUUID(callee.uuid), CallUUID(target.uuid)], [CallUUID(target.uuid), CallUUID(callee.uuid)]])
    }

    @Test(arguments: [("3000", true), ("2000", false)])
    func `a caller is handed on where its new partner is of another line`(number: Text, isHandedOn: Bool) throws {
        let parts = Self.parts(), (caller, callee) = try parts.talk()
        var device = parts.device(number, over: .peer(3))
        device.line = parts.line(number)
        let target = parts.dialling.makeLeg(to: device, on: caller.line)
        (target.session, target.mayTransfer) = (parts.dialling.invite(from: target, to: device, offer: []), true)
        parts.transfers.transferred(caller, from: callee, to: target)
        #expect(caller.succession.isHandedOn == isHandedOn)
    }

    // MARK: Attended

    private static func replaces(_ leg: Leg) -> String {
        let session = leg.session!
        return "\(session.callID)%3Bto-tag%3D\(session.localTag)%3Bfrom-tag%3D\(session.remoteTag ?? "")"
    }

    @Test func `an attended transfer joins the other ends of both calls, and both calls end`() throws {
        let parts = Self.parts(), (first, stays) = try parts.talk(), (second, other) = try parts.talk("3000", call: "second", device: 3)
        Self.refer(parts, first, to: "sip:3000@gateway.test?Replaces=\(Self.replaces(second))")
        #expect(Self.told(parts) == [100, 200] && first.state == .ended && second.state == .ended)
        #expect(parts.table.peer(of: stays) === other && parts.table.peer(of: other) === stays && parts.table.bridges.count == 1)
        #expect(stays.state == .connected && other.state == .connected)
    }

    @Test(arguments: [("unknown", 481), ("its own", 481), ("another's", 481), ("transferring", 491), ("ringing", 200)])
    func `an attended transfer names another call of the same party that is up or rings`(which: String, status: Int) throws {
        let parts = Self.parts(), (first, _) = try parts.talk()
        var replaces = "gone%3Bto-tag%3Da%3Bfrom-tag%3Db"
        switch which {
        case "its own": replaces = Self.replaces(first)
        case "ringing":
            try parts.register("3000", over: .peer(3))
            let ringing = try #require(try parts.call("3000", call: "second"))
            replaces = Self.replaces(ringing)
        case "unknown": break
        default:
            let sender = which == "another's" ? "<sip:1001@192.0.2.1>" : "<sip:1000@192.0.2.1>"
            let (second, callee) = try parts.talk("3000", from: sender, call: "second", device: 3)
            if which == "transferring" { _ = parts.table.bridges[second.uuid]?.receive(.transfer(by: callee.uuid)) }
            replaces = Self.replaces(second)
        }
        Self.refer(parts, first, to: "sip:3000@gateway.test?Replaces=\(replaces)")
        // The callees of the second call ring for the transferee from here on.
        #expect(Self.told(parts) == (status == 200 ? [100] : [100, status]))
        if status == 200 {
            #expect(parts.table.leg(ofAttempt: "second|tag-second")?.state == .ended && parts.table.callees(of: first.uuid).count == 1)
        }
    }

    // MARK: From code

    @Test(arguments: [("talks", true), ("consults", true), ("no call", false), ("no other call", false), ("rings", false)])
    func `our own REFER needs a call that is up`(which: String, isAsked: Bool) throws {
        let parts = Self.parts(), target = try URI(parsing: "sip:5000@other.test")
        let leg: Leg
        if which == "rings" {
            try parts.register("2000")
            leg = try #require(try parts.call())
        } else {
            leg = try parts.talk().callee
        }
        let second = which == "consults" ? try parts.talk("3000", call: "second", device: 3).callee.uuid : UUID()
        let call = which == "no call" ? UUID() : leg.uuid
        let other = ["consults", "no other call"].contains(which) ? second : nil
        #expect(parts.transfers.refer(call, to: target, replacing: other) == isAsked)
        let refer = parts.wire.requests(.refer).last
        #expect((refer != nil) == isAsked && refer?.headers[.referredBy] ?? "<sip:2000@gateway.test>" == "<sip:2000@gateway.test>")
        if isAsked { #expect(refer?.headers[.referTo]?.description.contains("Replaces") == (which == "consults")) }
    }
}

/// INVITE with Replaces (RFC 3891).
@Suite struct ReplacesTests {
    let parts = Parts()

    /// The leg that a caller replaces, or the status that it gets.
    private func take(_ values: [Text], as user: Text, isKnown: Bool = true, line: Text? = nil) throws -> String {
        let session = try parts.session(Parts.request(.invite, call: Text("taker\(parts.sessions.count)")))
        let caller = CallerIdentity(user: user, host: Parts.domain, isKnown: isKnown)
        let call = IncomingCall(session: session, caller: caller, callingLine: line.map { parts.line($0) })
        do throws(Transfers.Refusal) {
            return try parts.transfers.legToReplace(by: call, values).direction == .incoming ? "caller" : "callee"
        } catch { return "\(error.status)" }
    }

    private static func replaces(_ leg: Leg, _ more: Text = "") -> Text {
        let session = leg.session!
        return session.callID + ";to-tag=" + session.localTag + ";from-tag=" + (session.remoteTag ?? "device") + more
    }

    @Test(
        arguments: [
            ([], "400"), (["a;to-tag=1;from-tag=2", "b;to-tag=1;from-tag=2"], "400"), (["a"], "400"), (["a;to-tag=1;from-tag=2"], "481"),
        ] as [([Text], String)])
    func `Replaces names one readable dialog of ours`(values: [Text], status: String) throws {
        #expect(try take(values, as: "2000", line: "2000") == status)
    }

    @Test(
        arguments: [
            ("1000", true, nil, "", "caller"), ("2000", true, "2000", "", "caller"), ("3000", true, "3000", "", "403"),
            ("1000", false, nil, "", "403"),
            ("1000", true, nil, ";early-only", "486"), ("3000", true, "3000", ";early-only", "486"),
            ("3000", true, nil, ";early-only", "403"),
        ] as [(Text, Bool, Text?, Text, String)])
    func `a call that is up is replaced by its own party or line, if that is proved`(
        user: Text, isKnown: Bool, line: Text?, flag: Text, expected: String
    ) throws {
        let caller = try parts.talk().caller
        #expect(try take([Self.replaces(caller, flag)], as: user, isKnown: isKnown, line: line) == expected)
    }

    @Test(
        arguments: [("3000", true, "3000", "callee"), ("1000", true, nil, "403"), ("3000", false, "3000", "403")]
            as [(Text, Bool, Text?, String)])
    func `a call that rings is picked up by any line of ours`(user: Text, isKnown: Bool, line: Text?, expected: String) throws {
        try parts.register("2000")
        let caller = try #require(try parts.call())
        parts.answer(try #require(parts.wire.requests(.invite).last), 180)
        let callee = try #require(parts.table.callees(of: caller.uuid).first.flatMap(parts.table.leg))
        #expect(try take([Self.replaces(callee)], as: user, isKnown: isKnown, line: line) == expected)
        parts.table.tell(caller.bridge, .calleeConnected(UUID()))
        parts.settle()
        #expect(try take([Self.replaces(callee)], as: "3000", line: "3000") == "481", "it was answered")
    }

    @Test func `a call without a partner cannot be replaced, and an ended one gets 603`() throws {
        let echo = try #require(try parts.call("9196"))
        #expect(try take([Self.replaces(echo)], as: "1000") == "481")
        let caller = try parts.talk(call: "other").caller, value = Self.replaces(caller)
        parts.inDialog(caller, .bye)
        parts.table.discard(caller)
        #expect(try take([value], as: "1000") == "603")
    }

    @Test(arguments: [true, false])
    func `a leg that replaces a callee stands for the called line`(isCallee: Bool) throws {
        let (caller, callee) = try parts.talk(), taker = parts.leg(on: "2000")
        taker.origin = parts.origin("taker", line: parts.line("2000"))
        taker.line.features.outgoing.insert(taker.uuid)
        parts.transfers.take(taker, inPlaceOf: isCallee ? callee : caller, callingLine: parts.line("2000"))
        #expect(taker.bridge == caller.uuid && taker.succession.replaces == (isCallee ? callee : caller).uuid)
        #expect(taker.succession.standsForCallee == isCallee && taker.origin?.isInRecents == false)
        #expect(taker.line.features.outgoing.isEmpty == isCallee, "it is a conversation of its line already")
    }
}
