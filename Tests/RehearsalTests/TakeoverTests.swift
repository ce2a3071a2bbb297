import CallKit
import Foundation
import Primitives
import SDP
import SIP
import Testing
import UserAgent

@testable import Gateway
@testable import Rehearsal

/// Calls that go on over another gateway when theirs has died.
@Suite struct TakeoverTests {
    private let rows = SharedRows()

    private func start(_ configure: (inout GatewayConfiguration) -> Void = { _ in }) -> Stage {
        Stage { configuration, environment in
            configuration.takeover = .reinvite
            configure(&configuration)
            environment.store = rows
        }
    }

    /// A call that was up at a gateway that died, with both far ends at another one that has got its rows.
    private struct Taken {
        let stage: Stage, caller: RawPeer, device: RawPeer, callerRow: SavedDialog, deviceRow: SavedDialog

        init(_ rows: SharedRows, _ lost: Stage, by stage: Stage, _ prepare: (BridgedCall) throws -> Void = { _ in }) throws {
            let call = try lost.bridge()
            try prepare(call)
            self.stage = stage
            (callerRow, deviceRow) = (try #require(rows.of(call.caller)), try #require(rows.of(call.device)))
            (caller, device) = (RawPeer(stage, 1), RawPeer(stage, 2))
            stage.gateway.end(rows.orphans(), at: stage.world.now)
            stage.run(seconds: 0.1)
        }

        /// Each answers the re-INVITE that it got.
        func answer(_ status: Int = 200) {
            for peer in [caller, device] {
                peer.answer(peer.request(.invite), status, body: status == 200 ? peer.description(version: 2) : "")
            }
        }

        /// The far end hangs up in the dialog that its row names.
        func hangUp(_ peer: RawPeer, _ row: SavedDialog, sequence: Int = 50) {
            let uri = "sip:2000@hookswitch.test"
            let headers = ["From: \(row.remote)", "To: \(row.local)", "Call-ID: \(row.callID)"]
            peer.say("BYE", uri, sequence, headers)
        }
    }

    private func description(_ message: Message) throws -> SessionDescription { try SessionDescription(parsing: Text(message.body)) }

    @Test func `both far ends are asked again, and talk over the survivor until one hangs up`() throws {
        let lost = start(), survivor = start()
        let call = try Taken(rows, lost, by: survivor)
        let asked = [try call.caller.received(.invite), try call.device.received(.invite)]
        for (invite, row) in zip(asked, [call.callerRow, call.deviceRow]) {
            #expect(invite.callID.description == row.callID && "\(invite.from)" == row.local && "\(invite.to)" == row.remote)
            #expect(invite.cseq.number == row.sequence + 1_001 && invite.contact?.uri.host.description == "\(Cast.gateway.address)")
            let offer = try description(invite), saved = try #require(row.answered)
            #expect(offer.origin.sessionID == Text(saved.session) && offer.origin.version == Text(saved.version + 1_001))
            #expect(offer.media.map(\.formats) == [["0"] + offer.media[0].formats.dropFirst()] && saved.codecs.first == "PCMU/8000")
        }
        #expect(survivor.events(.mediaOpened).isEmpty && survivor.media.openLegs == 0, "nothing before the answer")
        let adopted = survivor.events(.callAdopted)
        #expect(Set(adopted.compactMap { $0.call?.uuid }) == [call.callerRow.call, call.deviceRow.call])
        #expect(adopted.allSatisfy { $0.details.text(.node) == "a" } && adopted.contains { $0.details.text(.callid) == "bridged" })

        call.answer()
        #expect(call.caller.request(.ack) != nil && call.device.request(.ack) != nil)
        #expect(survivor.media.openLegs == 2 && survivor.media.linkedLegs == 2 && survivor.media.sendingLegs == 2)
        #expect(rows.all.count == 2 && rows.of(call.caller)?.answered?.answered == call.callerRow.answered?.answered)
        #expect(rows.of(call.device)?.sequence == call.deviceRow.sequence + 1_001)
        survivor.run(seconds: 60)
        call.hangUp(call.caller, call.callerRow)
        #expect(call.caller.final(.bye, 50)?.status == 200)
        let bye = try call.device.received(.bye)
        #expect(bye.cseq.number == call.deviceRow.sequence + 1_002 && bye.headers[.reason]?.description.contains("gateway lost") != true)
        call.device.answer(bye, 200)
        #expect(rows.all.isEmpty && survivor.events(.callOrphanEnded).isEmpty && survivor.endReasons.count == 2)
        survivor.expectQuiet()
    }

    @Test func `far ends that answer at once are relayed after one round trip`() throws {
        let lost = start(), survivor = start()
        _ = try lost.bridge()
        survivor.network.faults.delay = 40...40
        let peers = [RawPeer(survivor, 1), RawPeer(survivor, 2)], begun = survivor.world.now
        for peer in peers { peer.answersAtOnce = true }
        survivor.gateway.end(rows.orphans(), at: begun)
        survivor.run(seconds: 1)
        #expect(survivor.events(.mediaStarted).map { $0.time - begun } == [.milliseconds(80), .milliseconds(80)])
        #expect(survivor.media.linkedLegs == 2)
    }

    @Test func `the recents have the call once, as long as it was`() throws {
        let lost = start(), survivor = start(), call = try Taken(rows, lost, by: survivor)
        #expect(rows.calls.map(\.reason) == [RecentCall.gatewayKilled], "not over yet")
        let begun = try #require(rows.calls.first?.connected)
        call.answer()
        survivor.run(seconds: 90)
        survivor.gateway.adopt([.recents(line: "2000", rows.calls)], at: survivor.world.now)
        #expect(survivor.gateway.recents(ofLine: "2000")?.isEmpty == true, "read again, and not over yet")
        call.hangUp(call.device, call.deviceRow)
        call.caller.answer(call.caller.request(.bye), 200)
        let recents = survivor.gateway.recents(ofLine: "2000") ?? []
        #expect(recents.count == 1 && recents.allSatisfy { call.callerRow.recentIDs.contains($0.id) } && recents == rows.calls)
        #expect(recents.first?.outcome == .answered && recents.first?.direction == .incoming && recents.first?.connected == begun)
        #expect((recents.first?.duration ?? 0) > 90 && recents.first?.reason != RecentCall.gatewayKilled)
        survivor.expectQuiet()
    }

    @Test(arguments: [481, 488, 500, 503, 408], [true, false]) func `where one far end refuses the call ends at both`(
        status: Int, isCaller: Bool
    ) throws {
        let lost = start(), survivor = start(), call = try Taken(rows, lost, by: survivor)
        let (one, other) = isCaller ? (call.caller, call.device) : (call.device, call.caller)
        other.answer(other.request(.invite), 200, body: other.description(version: 2))
        one.answer(one.request(.invite), status)
        for peer in [one, other] {
            let bye = try peer.received(.bye)
            #expect(bye.headers[.reason] == "Q.850;cause=41;text=\"gateway lost\"")
            peer.answer(bye, peer === one ? 481 : 200)
        }
        #expect(rows.all.isEmpty && survivor.media.openLegs == 0)
        #expect(rows.calls.map(\.reason) == ["failed"] || rows.calls.map(\.reason) == ["action"])
        survivor.expectQuiet()
    }

    @Test func `a far end that says nothing is waited for eight seconds`() throws {
        let lost = start(), survivor = start(), call = try Taken(rows, lost, by: survivor)
        call.caller.answer(call.caller.request(.invite), 200, body: call.caller.description(version: 2))
        survivor.run(seconds: 7.5)
        #expect(call.caller.request(.bye) == nil && call.device.heard.count { $0.method == .invite } == 5)
        survivor.run(seconds: 0.5)
        #expect(call.caller.request(.bye)?.headers[.reason] == "Q.850;cause=41;text=\"gateway lost\"")
        #expect(survivor.events(.inviteUnanswered).map { $0.details.number(.status) } == [408])
        call.caller.answer(call.caller.request(.bye), 200)
        survivor.expectQuiet()
        #expect(rows.all.isEmpty)
    }

    @Test func `a far end that hangs up meanwhile ends the call at the other`() throws {
        let lost = start(), survivor = start(), call = try Taken(rows, lost, by: survivor)
        call.hangUp(call.caller, call.callerRow)
        let bye = try call.device.received(.bye)
        call.device.answer(call.device.request(.invite), 200, body: call.device.description(version: 2))
        #expect(call.device.request(.ack) != nil && survivor.media.openLegs == 0, "a 200 that crosses the BYE opens nothing")
        call.device.answer(bye, 200)
        survivor.expectQuiet()
        #expect(rows.all.isEmpty)
    }

    @Test func `an offer of a far end that crosses ours is asked to come again, and ours does`() throws {
        let lost = start(), survivor = start(), call = try Taken(rows, lost, by: survivor)
        let headers = ["From: \(call.callerRow.remote)", "To: \(call.callerRow.local)", "Call-ID: \(call.callerRow.callID)"]
        call.caller.say("INVITE", BridgedCall.line, 7, headers, body: call.caller.description(version: 2))
        #expect(call.caller.final(.invite, 7)?.status == 491)
        let first = try call.caller.received(.invite)
        call.caller.answer(first, 491)
        call.device.answer(call.device.request(.invite), 200, body: call.device.description(version: 2))
        survivor.run(seconds: 4.1)
        let second = try call.caller.received(.invite)
        #expect(second.cseq.number > first.cseq.number)
        call.caller.answer(second, 200, body: call.caller.description(version: 3))
        #expect(survivor.media.linkedLegs == 2)
        call.hangUp(call.device, call.deviceRow)
        call.caller.answer(call.caller.request(.bye), 200)
        survivor.expectQuiet()
    }

    @Test func `when the survivor dies, too, a third one goes on`() throws {
        let lost = start(), second = start(), call = try Taken(rows, lost, by: second)
        call.answer()
        let (caller, device) = (try #require(rows.of(call.caller)), try #require(rows.of(call.device)))
        let third = start(), far = RawPeer(third, 1), other = RawPeer(third, 2)
        third.gateway.end(rows.orphans(of: "b"), at: third.world.now)
        third.run(seconds: 0.1)
        for (peer, row) in [(far, caller), (other, device)] {
            let invite = try peer.received(.invite)
            #expect(invite.cseq.number == row.sequence + 1_001 && row.sequence > 1_000 && row.answered?.isFirst == (peer === far))
            peer.answer(invite, 200, body: peer.description(version: 3))
        }
        #expect(third.media.linkedLegs == 2)
        other.say("BYE", BridgedCall.line, 60, ["From: \(device.remote)", "To: \(device.local)", "Call-ID: \(device.callID)"])
        far.answer(far.request(.bye), 200)
        third.expectQuiet()
        #expect(rows.all.isEmpty && third.gateway.recents(ofLine: "2000")?.map { caller.recentIDs.contains($0.id) } == [true])
    }

    @Test func `a call that is held, or with an application, is ended, and the journal says why`() throws {
        let lost = start(), held = try lost.bridge(), echo = RawPeer(lost, 3)
        held.callerOffers("sendonly")
        echo.request("INVITE", "sip:9196@hookswitch.test", call: "echo", 1, body: echo.description())
        #expect(rows.all.count == 3)
        let survivor = start(), peers = [RawPeer(survivor, 1), RawPeer(survivor, 2), RawPeer(survivor, 3)]
        survivor.gateway.end(rows.orphans(), at: survivor.world.now)
        survivor.run(seconds: 0.1)
        for peer in peers {
            #expect(peer.request(.invite) == nil)
            peer.answer(try peer.received(.bye), 200)
        }
        let ended = survivor.events(.callOrphanEnded)
        #expect(ended.compactMap { $0.details.text(.cause)?.description }.sorted() == ["application", "held", "held"])
        #expect(rows.all.isEmpty && survivor.events(.callAdopted).isEmpty)
        survivor.expectQuiet()
    }

    @Test func `a call that was grouped or transferred has a row that says with whom it talks`() throws {
        let lost = start(), call = try lost.bridge(), other = RawPeer(lost, 3)
        #expect(rows.all.allSatisfy { $0.answered?.obstacle == nil } && rows.all.count { $0.answered?.isFirst == true } == 1)
        other.request("INVITE", BridgedCall.line, call: "second", 1, body: other.description())
        call.device.answer(call.device.request(.invite), 200, body: call.device.description())
        let third = try #require(rows.of(other)), first = try #require(rows.of(call.caller))
        let legs = lost.gateway.table
        lost.gateway.enter(lost.world.now)
        #expect(lost.gateway.group(try #require(legs.leg(third.call)), with: try #require(legs.leg(first.call))))
        lost.gateway.settle()
        let grouped = rows.all.filter { $0.answered?.obstacle == .conference }
        #expect(Set(grouped.map(\.call)).isSuperset(of: [third.call, first.call]) && grouped.count == 3, "\(grouped.count)")
    }

    /// An answer over SAVP with the first key that was offered.
    private func encrypted(_ peer: RawPeer, _ offer: Message, version: Int = 1) throws -> String {
        let key = try #require(String(decoding: offer.body, as: UTF8.self).split(separator: "\r\n").first { $0.hasPrefix("a=crypto:") })
        return peer.description("0", version: version).replacing("RTP/AVP", with: "RTP/SAVP") + key + "\r\n"
    }

    @Test func `keys of SDES are new`() throws {
        let lost = start { $0.lines[0].srtp = .required }, caller = RawPeer(lost, 1), device = RawPeer(lost, 2)
        device.request("REGISTER", BridgedCall.line, call: "register", 1)
        let key = "a=crypto:1 AES_CM_128_HMAC_SHA1_80 inline:\(Data(repeating: 7, count: 30).base64EncodedString())\r\n"
        let offer = caller.description("0").replacing("RTP/AVP", with: "RTP/SAVP") + key
        caller.request("INVITE", BridgedCall.line, call: "bridged", 1, body: offer)
        let invite = try device.received(.invite)
        device.answer(invite, 200, body: try encrypted(device, invite))
        #expect(rows.all.count == 2 && rows.all.allSatisfy { $0.answered?.isEncrypted == true && $0.answered?.obstacle == nil })
        // The line may take calls in the clear by now; this one stays as it is.
        let survivor = start { $0.lines[0].srtp = .off }, far = RawPeer(survivor, 1), other = RawPeer(survivor, 2)
        survivor.gateway.end(rows.orphans(), at: survivor.world.now)
        survivor.run(seconds: 0.1)
        for peer in [far, other] {
            let again = try peer.received(.invite), body = String(decoding: again.body, as: UTF8.self)
            #expect(body.contains("RTP/SAVP ") && !String(decoding: invite.body, as: UTF8.self).contains(body.keys))
            peer.answer(again, 200, body: try encrypted(peer, again, version: 2))
        }
        #expect(survivor.media.linkedLegs == 2)
    }

    @Test func `a caller whose ACK has the answer can go on, too`() throws {
        let lost = start(), caller = RawPeer(lost, 1), device = RawPeer(lost, 2)
        device.request("REGISTER", BridgedCall.line, call: "register", 1)
        caller.request("INVITE", BridgedCall.line, call: "late", 1)
        device.answer(device.request(.invite), 200, body: device.description())
        #expect(rows.of(caller)?.answered?.obstacle == .noAudio)
        caller.request("ACK", BridgedCall.line, call: "late", 1, toTag: caller.final(.invite, 1)?.to.tag, body: caller.description())
        #expect(rows.all.count == 2 && rows.all.allSatisfy { $0.answered?.obstacle == nil })
    }

    @Test func `the longest duration of a call counts from its answer`() throws {
        func limit(_ configuration: inout GatewayConfiguration) { configuration.lines[0].maximumDuration = .seconds(100) }
        let lost = start(limit), survivor = start(limit)
        survivor.run(seconds: 40)
        let call = try Taken(rows, lost, by: survivor)
        call.answer()
        survivor.run(seconds: 58)
        #expect(call.caller.request(.bye) == nil)
        survivor.run(seconds: 2)
        for peer in [call.caller, call.device] { peer.answer(try peer.received(.bye), 200) }
        survivor.expectQuiet()
    }

    @Test func `the session is refreshed as before`() throws {
        let lost = start(), survivor = start(), call = try Taken(rows, lost, by: survivor)
        let invite = try call.caller.received(.invite)
        #expect(invite.headers[.sessionExpires] == "1800")
        call.answer()
        call.caller.answer(invite, 200)
        survivor.run(seconds: 901)
        let refresh = try call.caller.received(.invite)
        #expect(refresh.cseq.number > invite.cseq.number)
    }

    @Test func `without the setting, and while it drains, a gateway ends the calls`() throws {
        for isDraining in [true, false] {
            let lost = start(), survivor = start { if !isDraining { $0.takeover = .end } }
            if isDraining { survivor.gateway.drain(at: survivor.world.now) }
            let call = try Taken(rows, lost, by: survivor)
            for peer in [call.caller, call.device] {
                #expect(peer.request(.invite) == nil)
                peer.answer(try peer.received(.bye), 200)
            }
            survivor.expectQuiet()
        }
    }
}

extension String {
    fileprivate var keys: Substring { self[(range(of: "inline:")?.upperBound ?? startIndex)...].prefix(40) }
}

extension RawPeer {
    /// A request with these headers of its dialog.
    fileprivate func say(_ method: String, _ uri: String, _ sequence: Int, _ dialog: [String], body: String = "") {
        write(method, uri, sequence, dialog, body, [])
    }
}
