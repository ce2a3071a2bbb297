import Foundation
import Primitives
import SIP
import Synchronization
import Testing
import UserAgent

@testable import Gateway
@testable import Rehearsal

/// Rows of the calls of a gateway, and another gateway that ends the calls by them.
@Suite struct LostGatewayTests: TrunkSuite {
    private let rows = SharedRows()

    /// - Parameter seed: of what is random; gateways with the same draw the same UUIDs.
    private func start(seed: UInt64 = 3) -> Stage {
        Stage { (_, environment: inout Gateway.Environment) in (environment.store, environment.random) = (rows, SeededRandom(seed: seed)) }
    }

    private func startWithTrunk() -> Stage {
        Stage { configuration, environment in
            var trunk = TrunkConfiguration(targets: [.init(host: "192.0.2.50", port: 5060)]), line = LineConfiguration(number: "carrier")
            (trunk.user, trunk.password) = ("account", "secret")
            (line.match, line.endpoint) = (NumberPattern("^+"), .trunk(trunk))
            configuration.lines.append(line)
            environment.store = rows
        }
    }

    @Test func `a call that is up has a row for each of its dialogs, and one that is over has none`() throws {
        let stage = start(), call = try stage.bridge(headers: ["Record-Route: <sip:192.0.2.7;lr>, <sip:192.0.2.8;lr>"])
        let caller = try #require(rows.of(call.caller)), device = try #require(rows.of(call.device))
        #expect(rows.all.count == 2 && caller.line == "2000" && device.line == "2000")
        #expect(caller.peer == device.call && device.peer == caller.call)
        #expect(caller.callID == "bridged" && caller.local.contains("tag=\(call.tag)") && caller.remote.contains("tag=bridged"))
        #expect(caller.routes == ["<sip:192.0.2.7;lr>", "<sip:192.0.2.8;lr>"] && device.routes.isEmpty)
        #expect(device.target == "sip:peer@192.0.2.2:5060" && device.transport == "udp" && device.address == "192.0.2.2:5060")
        #expect(device.sequence == call.invite.cseq.number)
        call.fromDevice("BYE")
        #expect(rows.all.isEmpty)
        stage.expectQuiet()
    }

    /// A call that rings at a device.
    private struct Ringing {
        let caller: RawPeer, device: RawPeer, invite: Message

        init(_ stage: Stage) throws {
            (caller, device) = (RawPeer(stage, 1), RawPeer(stage, 2))
            device.request("REGISTER", BridgedCall.line, call: "register", 1)
            caller.request("INVITE", BridgedCall.line, call: "rings", 1, body: caller.description())
            invite = try #require(device.request(.invite))
            device.answer(invite, 180)
        }
    }

    /// What ends the unanswered calls that have rows: the CANCEL, and the refusal.
    private func lastWords() throws -> (cancel: Message, refusal: Message) {
        let words = try rows.all.compactMap(\.lastWord).map { try Message(parsing: Array($0.utf8)) }
        #expect(words.count == 2)
        return (try #require(words.first { $0.method == .cancel }), try #require(words.first { $0.status == 503 }))
    }

    @Test(arguments: ["busy", "cancelled", "answered"]) func `a call that rings has a row for each leg, until it has an end`(end: String)
        throws
    {
        let stage = start(), call = try Ringing(stage), (cancel, refusal) = try lastWords()
        #expect(cancel.via.branch == call.invite.via.branch && cancel.callID == call.invite.callID && refusal.callID == "rings")
        #expect(rows.all.allSatisfy { $0.line == "2000" } && Set(rows.all.map(\.address)) == ["192.0.2.1:5060", "192.0.2.2:5060"])
        switch end {
        case "busy": call.device.answer(call.invite, 486)
        case "cancelled":
            call.caller.cancel("rings")
            call.device.answer(call.invite, 487)
        default:
            call.device.answer(call.invite, 200, body: call.device.description())
            #expect(rows.all.count == 2 && rows.all.allSatisfy { $0.lastWord == nil && $0.local.contains("tag=") }, "rows of dialogs now")
            call.device.hangUp(call.invite)
        }
        #expect(rows.all.isEmpty)
    }

    @Test func `a caller that waits for a device to wake has a row, and none after it has given up`() throws {
        let stage = Stage { configuration, environment in
            configuration.push.isOn = true
            environment.push = { _ in }
            environment.store = rows
        }
        let caller = RawPeer(stage, 1), device = RawPeer(stage, 2)
        device.request(
            "REGISTER", BridgedCall.line, call: "register", 1, headers: ["Expires: 60"],
            contact: "<sip:peer@192.0.2.2:5060;pn-provider=acme;pn-param=app;pn-prid=token-1>")
        stage.run(seconds: 61)
        caller.request("INVITE", BridgedCall.line, call: "waits", 1, body: caller.description())
        #expect(stage.gateway.waking.count == 1 && rows.all.count == 1 && rows.all.first?.lastWord?.hasPrefix("SIP/2.0 503 ") == true)
        caller.cancel("waits")
        #expect(stage.gateway.waking.isEmpty && rows.all.isEmpty)
        stage.expectQuiet()
    }

    @Test func `what ends an INVITE that was challenged is the CANCEL of the one that followed`() throws {
        let stage = startWithTrunk(), carrier = RawPeer(stage, 50), caller = RawPeer(stage, 9)
        caller.request("INVITE", "sip:+39055@gateway.test", call: "one", 1, body: caller.description())
        let first = try #require(carrier.request(.invite))
        #expect(try lastWords().cancel.via.branch == first.via.branch)
        Self.challenge(carrier, first)
        let second = try #require(carrier.request(.invite)), cancel = try lastWords().cancel
        #expect(second.via.branch != first.via.branch && cancel.via.branch == second.via.branch && cancel.cseq.number == second.cseq.number)
        #expect(rows.all.allSatisfy { $0.lastWord?.contains("uthorization") == false })
    }

    @Test(arguments: ["INVITE", "UPDATE"]) func `a refresh that moves the far end moves its row`(method: String) throws {
        let stage = start(), call = try stage.bridge()
        let before = try #require(rows.of(call.caller))
        let body = method == "INVITE" ? call.caller.description(version: 2) : ""
        call.caller.request(
            method, BridgedCall.line, call: "bridged", 2, toTag: call.tag, body: body, contact: "<sip:moved@192.0.2.1:5070>")
        let after = try #require(rows.all.first { $0.call == before.call })
        #expect(before.target == "sip:peer@192.0.2.1:5060" && after.target == "sip:moved@192.0.2.1:5070")
    }

    /// The calls of a gateway as another one gets them.
    private func orphans(_ rows: [SavedDialog], recents: [RecentCall] = []) -> OrphanedCalls {
        OrphanedCalls(dialogs: rows.map { OrphanedDialog($0, node: "a") }, recents: recents)
    }

    @Test func `another gateway ends both dialogs, along their route sets, and writes it`() throws {
        let lost = start(), call = try lost.bridge(headers: ["Record-Route: <sip:192.0.2.7;lr>, <sip:192.0.2.8;lr>"])
        let (caller, device) = (try #require(rows.of(call.caller)), try #require(rows.of(call.device)))
        let recents = rows.recents.filter { $0.reason == RecentCall.gatewayKilled }.suffix(1)
        #expect(recents.allSatisfy { caller.recentIDs.subtracting([caller.call]).contains($0.id) })

        let survivor = start(), proxy = RawPeer(survivor, 7), far = RawPeer(survivor, 2)
        survivor.gateway.end(orphans([caller, device], recents: Array(recents)), at: survivor.world.now)
        survivor.run(seconds: 0.1)
        let first = try #require(proxy.request(.bye)), second = try #require(far.request(.bye))
        for (bye, row) in [(first, caller), (second, device)] {
            #expect(bye.headers[.reason] == "Q.850;cause=41;text=\"gateway lost\"")
            #expect(bye.callID.description == row.callID && "\(bye.from)" == row.local && "\(bye.to)" == row.remote)
            #expect(bye.cseq.number == row.sequence + 1_001)
        }
        #expect(first.requestURI?.text == "sip:peer@192.0.2.1:5060")
        #expect(first.routes.map(\.description) == ["<sip:192.0.2.7;lr>", "<sip:192.0.2.8;lr>"])
        #expect(rows.all.count == 2 && survivor.events(.callOrphanEnded).isEmpty, "until the far ends have answered")
        proxy.answer(first, 200)
        far.answer(second, 481)
        #expect(rows.all.isEmpty)
        let events = survivor.events(.callOrphanEnded)
        #expect(events.map { $0.details.number(.status) } == [200, 481] && events.allSatisfy { $0.line == "2000" && $0.call == nil })
        #expect(events.map { $0.details.text(.callid)?.description } == [caller.callID, device.callID])
        #expect(events.allSatisfy { $0.details.text(.node) == "a" })
        let ended = survivor.gateway.recents(ofLine: "2000") ?? []
        #expect(ended.map(\.id) == recents.map(\.id) && ended.first?.reason == "failed" && ended.first?.outcome == .answered)
        #expect(rows.recents.last == ended.first)
        survivor.expectQuiet()
    }

    @Test func `another gateway cancels what rings, and refuses its caller`() throws {
        let call = try Ringing(start()), unanswered = rows.all
        let survivor = start(), caller = RawPeer(survivor, 1), device = RawPeer(survivor, 2)
        survivor.gateway.end(orphans(unanswered), at: survivor.world.now)
        survivor.run(seconds: 0.1)
        let cancel = try #require(device.request(.cancel)), refusal = try #require(caller.final(.invite, 1))
        #expect(cancel.requestURI?.text == call.invite.requestURI?.text && "\(cancel.via)" == "\(call.invite.via)")
        #expect(cancel.callID == call.invite.callID && cancel.cseq.number == call.invite.cseq.number)
        #expect("\(cancel.from)" == "\(call.invite.from)" && "\(cancel.to)" == "\(call.invite.to)")
        #expect(refusal.status == 503 && refusal.callID == "rings" && refusal.to.tag != nil)
        #expect(refusal.to.tag == call.caller.heard.last { $0.status == 180 }?.to.tag)
        for message in [cancel, refusal] { #expect(message.headers[.reason] == "Q.850;cause=41;text=\"gateway lost\"") }
        #expect(rows.all.count == 1, "until the device has answered")
        device.answer(cancel, 200)
        let events = survivor.events(.callOrphanEnded)
        #expect(rows.all.isEmpty && events.map { $0.details.number(.status) } == [nil, 200])
        #expect(events.map { $0.details.text(.callid)?.description } == ["rings", call.invite.callID.description])
        survivor.run(seconds: 2)
        #expect(caller.heard.count { $0.status == 503 } == 3 && device.heard.count { $0.method == .cancel } == 1)
        survivor.expectQuiet()
    }

    @Test func `a call that a proxy sends on is one entry of the recents, and the next one with its Call-ID another`() throws {
        _ = try Ringing(start())
        let survivor = start(seed: 4), calls = rows.recents.filter { $0.reason == RecentCall.gatewayKilled }
        func recents() -> [String] { survivor.gateway.recents(ofLine: "2000")?.map { "\($0.outcome) \($0.reason)" } ?? [] }
        survivor.gateway.end(orphans(rows.all, recents: calls), at: survivor.world.now)
        survivor.run(seconds: 0.1)
        #expect(recents() == ["missed failed"])
        let call = try Ringing(survivor)
        call.device.answer(call.invite, 200, body: call.device.description())
        call.device.hangUp(call.invite)
        #expect(recents() == ["answered action"])
        call.caller.request("INVITE", BridgedCall.line, call: "rings", 7, body: call.caller.description())
        call.device.answer(call.device.request(.invite), 486)
        #expect(recents().count == 2 && recents().last == "answered action")
    }

    @Test(arguments: [401, 407]) func `a trunk that asks who ends its call is told`(status: Int) throws {
        let lost = startWithTrunk(), carrier = RawPeer(lost, 50), caller = RawPeer(lost, 9)
        caller.request("INVITE", "sip:+39055@gateway.test", call: "one", 1, body: caller.description())
        carrier.answer(carrier.request(.invite), 200, body: carrier.description())
        let row = try #require(rows.of(carrier))
        #expect(row.trunk == "carrier" && rows.of(caller)?.trunk == nil && rows.all.count == 2)

        let survivor = startWithTrunk(), far = RawPeer(survivor, 50)
        survivor.gateway.end(orphans([row]), at: survivor.world.now)
        survivor.run(seconds: 0.1)
        let first = try #require(far.request(.bye))
        Self.challenge(far, first, status)
        let second = try #require(far.request(.bye))
        #expect(Self.isProven(second, status == 401 ? .authorization : .proxyAuthorization) && second.cseq.number == first.cseq.number + 1)
        #expect(second.headers[.reason] == first.headers[.reason] && second.callID == first.callID)
        far.answer(second, 200)
        #expect(survivor.events(.callOrphanEnded).map { $0.details.number(.status) } == [200])
        survivor.expectQuiet()
    }

    @Test func `a dialog whose far end is gone, or that cannot be read, leaves its row`() throws {
        let lost = start(), call = try lost.bridge()
        let device = try #require(rows.of(call.device))
        var broken = try #require(rows.of(call.caller))
        broken.target = "nowhere"
        var unanswered = broken
        unanswered.lastWord = "neither a CANCEL nor a refusal"
        let survivor = start()
        survivor.gateway.end(orphans([device, broken, unanswered]), at: survivor.world.now)
        #expect(survivor.events(.callOrphanEnded).map { $0.details.number(.status) } == [503, 503])
        survivor.run(seconds: 40)
        #expect(survivor.events(.callOrphanEnded).map { $0.details.number(.status) } == [503, 503, 408])
        #expect(rows.all.isEmpty)
        survivor.expectQuiet()
    }
}
