import Gateway
import Media
import Primitives
import SIP
import Testing

@testable import Rehearsal

/// Several early dialogs and several answers, on either side of the gateway (RFC 3261 §12.1, §13.2.2.4, RFC 6228).
@Suite struct ForkingTests {
    let play = MappingPlay()

    /// The responses to the caller's INVITE: status and tag.
    private func early(_ status: Int) -> [Message] { play.caller.heard.filter { $0.status == status && $0.method == .invite } }

    private func ring(_ headers: [String]) throws -> (Message, Message) {
        play.registerSecond()
        play.invite(headers: headers)
        let invites = (try play.called, try #require(play.second.request(.invite)))
        play.device.answer(invites.0, 180)
        play.second.answer(invites.1, 180)
        return invites
    }

    @Test func `a caller that knows 199 has an early dialog with each fork, and is told which one ends`() throws {
        let invites = try ring(["Supported: 199"])
        let tags = early(180).compactMap(\.to.tag)
        #expect(tags.count == 3 && Set(tags).count == 3, "the line's own, and those of two devices")
        play.second.answer(invites.1, 486)
        let ended = try #require(early(199).first)
        #expect(early(199).count == 1 && tags.dropFirst().contains(ended.to.tag ?? ""))
        #expect(ended.headers[.reason] == "Q.850;cause=17" && ended.headers[.rseq] == nil)
        play.device.answer(invites.0, 200, body: play.device.description("0"))
        #expect(play.answer?.status == 200 && play.tag == tags[0], "the call itself is the line's dialog")
        play.acknowledge()
        play.hangUp()
        play.finish()
    }

    @Test(arguments: [[], ["Supported: timer"], ["Supported: 199", "Require: 100rel"]])
    func `others are told of no fork`(headers: [String]) throws {
        let invites = try ring(headers)
        play.second.answer(invites.1, 486)
        #expect(Set(early(180).compactMap(\.to.tag)).count == 1 && early(199).isEmpty)
        play.cancel()
        play.device.answer(invites.0, 487)
        play.finish()
    }

    @Test func `the last fork to end ends the call, and is not told of before`() throws {
        let invites = try ring(["Supported: 199"])
        play.second.answer(invites.1, 486)
        play.device.answer(invites.0, 486)
        #expect(early(199).count == 1 && play.answer?.status == 486)
        play.finish()
    }

    @Test func `a single callee is no fork`() throws {
        play.invite(headers: ["Supported: 199"])
        play.device.answer(try play.called, 180)
        #expect(Set(early(180).compactMap(\.to.tag)).count == 1)
        play.device.answer(try play.called, 486)
        #expect(early(199).isEmpty)
        play.finish()
    }

    @Test func `a far end that forks: several ring, one is over, two answer, and one call is up`() throws {
        play.invite()
        let invite = try play.called
        #expect(invite.headers.lists("199", in: .supported))
        for tag in ["one", "two", "three"] as [Text] { play.device.answer(invite, 180, tag: tag) }
        play.device.answer(invite, 199, tag: "three")
        play.device.answer(invite, 200, body: play.device.description("0"), tag: "one")
        play.device.answer(invite, 200, body: play.device.description("0"), tag: "two")
        #expect(play.device.heard.filter { $0.isRequest && $0.method == .ack }.map(\.to.tag) == ["one", "two"])
        let byes = play.device.heard.filter { $0.isRequest && $0.method == .bye }
        #expect(byes.map(\.to.tag) == ["two"])
        play.device.answer(byes.first, 200)
        #expect(play.answer?.status == 200 && play.stage.gateway.counts(at: play.stage.world.now).media.started == 2)
        play.acknowledge()
        play.hangUp()
        play.finish()
    }

    @Test func `what forks said is forgotten with them: many come and go, and the last one's answer counts`() throws {
        play.invite()
        let invite = try play.called
        for fork in 0..<20 {
            play.device.answer(invite, 183, body: play.device.description("8"), tag: Text("gone\(fork)"))
            play.device.answer(invite, 199, tag: Text("gone\(fork)"))
        }
        play.device.answer(invite, 183, body: play.device.description("0"), tag: "last")
        play.device.answer(invite, 200, tag: "last")
        #expect(play.answer?.status == 200)
        play.acknowledge()
        play.hangUp()
        play.finish()
    }

    @Test func `one INVITE that comes by two ways rings once`() throws {
        play.invite()
        #expect(try play.called.method == .invite)
        let calls = play.device.heard.count { $0.isRequest && $0.method == .invite }
        // The same Call-ID, From tag and CSeq on another branch (RFC 3261 §8.2.2.2).
        play.caller.request("INVITE", MappingPlay.line, call: "row", 1, body: play.caller.description("0 8"))
        #expect(play.answer?.status == 482)
        #expect(play.device.heard.count { $0.isRequest && $0.method == .invite } == calls)
        play.device.answer(try play.called, 486)
        play.finish()
    }

    // MARK: Room

    /// How many legs there may be, and how many of two telephones ring.
    @Test(arguments: [(1, 0), (2, 1), (3, 2), (4, 2)])
    func `as many ring as there is room for, and a call that nobody could ring for gets 503`(legs: Int, ringing: Int) throws {
        let play = MappingPlay { $0.limits.legs = legs }
        play.registerSecond()
        play.invite()
        let invites = [play.device, play.second].compactMap { peer in peer.request(.invite).map { (peer, $0) } }
        #expect(invites.count == ringing && play.stage.gateway.counts(at: play.stage.world.now).legs == (ringing == 0 ? 0 : ringing + 1))
        #expect(play.stage.gateway.refusals.contains { $0.cause == "legs" } == (legs < 3))
        guard ringing > 0 else {
            #expect(play.answer?.status == 503 && play.answer?.headers[.retryAfter] == "5")
            return play.finish()
        }
        let other = RawPeer(play.stage, 9)
        other.request("INVITE", MappingPlay.line, call: "other", 1, body: other.description("0"))
        #expect(other.final(.invite, 1)?.status == 503)
        for (peer, invite) in invites { peer.answer(invite, 486) }
        #expect(play.answer?.status == 486)
        play.finish()
    }

    @Test func `a member of a group rings when its turn comes, where there is room`() throws {
        let play = MappingPlay { configuration in
            var group = LineConfiguration(number: "4000"), member = LineConfiguration(number: "2001")
            (member.isOpen, group.endpoint) = (true, .group(RingGroup([.init("2000"), .init("2001", delay: .seconds(5))])))
            configuration.lines += [member, group]
            configuration.limits.legs = 2
        }
        play.second.request("REGISTER", "sip:2001@hookswitch.test", call: "member", 1)
        play.invite("sip:4000@hookswitch.test")
        play.stage.run(seconds: 6)
        #expect(play.device.request(.invite) != nil && play.second.request(.invite) == nil)
        play.device.answer(try play.called, 486)
        #expect(play.answer?.status == 486)
        play.finish()
    }
}
