import Audio
import Media
import Primitives
import SDP
import SIP
import Testing
import UserAgent
import Workbench

@Suite struct RefusalTests {
    private func neverHadMedia(_ pair: Pair) -> Bool { !pair.room.log.contains { $0.hasSuffix("bind") || $0.hasSuffix("rtp") } }

    @Test(arguments: [486, 603, 404, 302]) func `a refused call has its status and never had media`(status: Int) throws {
        let pair = Pair { $0.refusal = status }
        pair.start()
        pair.room.run(seconds: 40)
        let result = try #require(pair.finished?.record).result()
        #expect(result.status == status && result.endedBy == .them && result.verdict == .notConnected && !result.isGood)
        #expect(result.packets == nil && result.audio == nil && result.answerTime == nil)
        #expect(try #require(pair.answered.first).status == status)
        #expect(neverHadMedia(pair) && pair.leftovers == [])
    }

    @Test func `what a stranger says of a refusal is text, and no command to a terminal`() throws {
        let pair = Pair()
        pair.room.place(at: Room.address(2)) { request, _ in
            var response = Message.response(to: request, status: 486, toTag: "x")
            response.headers.append(.warning, "399 h \"a\u{1B}[2Jb\"")
            return request.method == .ack ? nil : response
        }
        pair.start()
        pair.room.run(seconds: 40)
        #expect(try #require(pair.finished?.record).result().reason == "Busy Here (a [2Jb)")
    }

    @Test func `nobody answers: the caller's timeout ends it, and neither had media`() throws {
        let pair = Pair(timeout: .seconds(3)) { $0.answersAfter = nil }
        pair.start()
        pair.room.run(seconds: 40)
        let result = try #require(pair.finished?.record).result()
        #expect(result.status == 487 && result.endedBy == .us)
        #expect(try #require(pair.answered.first).endedBy == .them)
        #expect(neverHadMedia(pair) && pair.leftovers == [])
    }

    @Test func `a hang-up that crosses the answer wins, and the caller opens nothing`() throws {
        let pair = Pair { $0.answersAfter = .milliseconds(200) }
        pair.start()
        pair.room.run(seconds: 0.207)   // the 200 is on its way
        pair.caller.stop(at: pair.room.now)
        pair.room.run(seconds: 40)
        #expect(pair.room.log.contains("callee 200 INVITE") && pair.room.log.contains("caller BYE"))
        #expect(!pair.room.log.contains("caller bind"))
        #expect(try #require(pair.finished?.record).endedBy == .us)
        #expect(pair.leftovers == [])
    }

    @Test func `a ringing call that we hang up is over`() throws {
        let pair = Pair { $0.answersAfter = nil }
        pair.start()
        pair.room.run(seconds: 1)
        pair.callee.stop(at: pair.room.now)
        pair.room.run(seconds: 1)
        let result = try #require(pair.answered.first).result()
        #expect(result.status == 480 && result.endedBy == .us && pair.calleeFinished)
        #expect(try #require(pair.finished?.record).status == 480)
        #expect(neverHadMedia(pair) && pair.leftovers == [])
    }

    @Test func `nobody is there: over after half a minute, without a status that nobody sent`() throws {
        let pair = Pair(timeout: .seconds(60))
        pair.room.place(at: Room.address(2)) { _, _ in nil }
        pair.start()
        pair.room.run(seconds: 40)
        let result = try #require(pair.finished?.record).result()
        #expect(result.status == nil && result.endedBy == .nobody)
        #expect(result.failure == "no answer from udp 10.0.0.2:5060 within 32.0 s", "\(result.failure ?? "")")
        #expect(neverHadMedia(pair))
    }

    @Test func `nobody is there: the call ends with the caller's timeout, not with the transaction's`() throws {
        let pair = Pair(timeout: .seconds(2))
        pair.room.place(at: Room.address(2)) { _, _ in nil }
        pair.start()
        pair.room.run(seconds: 2.2)
        let result = try #require(pair.finished?.record).result()
        #expect(result.status == nil && result.failure == "no answer from udp 10.0.0.2:5060 within 2.0 s" && result.endedBy == .nobody)
        pair.room.run(seconds: 40)
        #expect(neverHadMedia(pair) && pair.leftovers == [])
    }

    @Test func `a hang-up before any response waits two seconds for one`() throws {
        let pair = Pair(timeout: .seconds(20))
        pair.room.place(at: Room.address(2)) { _, _ in nil }
        pair.start()
        pair.room.run(seconds: 0.1)
        pair.caller.stop(at: pair.room.now)
        pair.room.run(seconds: 1)
        #expect(pair.finished == nil)
        pair.room.run(seconds: 1.2)
        #expect(try #require(pair.finished?.record).endedBy == .us)
    }

    @Test func `an answer to a call that was given up is acknowledged and ended`() throws {
        let pair = Pair(timeout: .seconds(2))
        pair.room.place(at: Room.address(2)) { [room = pair.room] request, _ in
            guard room.now > Instant.zero + .seconds(3) else { return nil }
            var response = Message.response(to: request, status: 200, toTag: "late")
            response.headers.append(.contact, "<sip:callee@10.0.0.2>")
            return request.method == .ack ? nil : response
        }
        pair.start()
        pair.room.run(seconds: 40)
        #expect(try #require(pair.finished?.record).status == 408)
        #expect(pair.room.log.contains("caller ACK") && pair.room.log.contains("caller BYE"))
        #expect(neverHadMedia(pair) && pair.leftovers == [])
    }

    @Test(arguments: [
        ("", "the 200 has no description"), ("hello", "the description of the 200 cannot be read: it does not begin with v=0"),
        ("v=0\r\no=- 1 1 IN IP4 h\r\nnonsense\r\n", "the description of the 200 cannot be read: line 3 is no line of SDP"),
        ("v=0\r\no=- 1 1 IN IP4 h\r\ns=-\r\nc=IN IP4 10.0.0.2\r\nt=0 0\r\nm=audio 4000 RTP/AVP 18\r\n", "no media: No common codec"),
    ])
    func `an answer that makes no media is told in words, and we have ended the call`(body: String, failure: String) throws {
        let pair = Pair()
        pair.room.place(at: Room.address(2)) { request, _ in
            var response = Message.response(to: request, status: 200, toTag: "far")
            response.headers.append(.contact, "<sip:callee@10.0.0.2>")
            if request.method == .invite, !body.isEmpty {
                response.headers.append(.contentType, "application/sdp")
                response.body = Array(body.utf8)
            }
            return request.method == .ack ? nil : response
        }
        pair.start()
        pair.room.run(seconds: 2)
        let result = try #require(pair.finished?.record).result()
        #expect(result.failure == failure && result.endedBy == .us && result.status == 200)
        #expect(pair.room.log.contains("caller ACK") && pair.room.log.contains("caller BYE") && neverHadMedia(pair) && pair.leftovers == [])
    }

    @Test func `every third call is busy`() throws {
        let pair = Pair { $0.busyEvery = 3 }
        var statuses: [Int] = []
        pair.callerSeat.phone.onEvent = { _, event, _ in if case .ended(let record) = event { statuses.append(record.status) } }
        for _ in 0..<6 {
            var script = CallScript()
            script.duration = .milliseconds(300)
            try pair.callerSeat.phone.call(pair.target, script: script, at: pair.room.now)
            pair.room.run(seconds: 2)
        }
        #expect(statuses == [200, 200, 486, 200, 200, 486])
        #expect(pair.leftovers == [])
    }

    @Test func `more calls than allowed at once are busy, and after the last of the total it is finished`() throws {
        let pair = Pair { ($0.maximumCalls, $0.totalCalls) = (2, 4) }
        var statuses: [Int] = []
        pair.callerSeat.phone.onEvent = { _, event, _ in if case .ended(let record) = event { statuses.append(record.status) } }
        var script = CallScript()
        script.duration = .seconds(1)
        for _ in 0..<5 { try pair.callerSeat.phone.call(pair.target, script: script, at: pair.room.now) }
        pair.room.run(seconds: 40)
        #expect(statuses.sorted() == [200, 200, 480, 486, 486])
        #expect(pair.calleeFinished && pair.leftovers == [])
    }

    @Test func `a caller that cannot bind acknowledges and says BYE`() throws {
        let pair = Pair()
        pair.room.unbindable = ["caller"]
        pair.start()
        pair.room.run(seconds: 2)
        let record = try #require(pair.finished?.record)
        #expect(record.failure != nil && !record.result().isGood)
        #expect(pair.room.log.contains("caller ACK") && pair.room.log.contains("caller BYE"))
        #expect(pair.leftovers == [])
    }

    @Test func `a callee that cannot bind refuses before it answers`() throws {
        let pair = Pair()
        pair.room.unbindable = ["callee"]
        pair.start()
        pair.room.run(seconds: 2)
        #expect(try #require(pair.finished?.record).status == 503)
        #expect(!pair.room.log.contains("callee 200 INVITE") && pair.leftovers == [])
    }

    @Test func `no common codec is 488`() throws {
        let pair = Pair(codecs: [Codec(name: "GSM", clockRate: 8_000)])
        pair.start()
        pair.room.run(seconds: 2)
        let record = try #require(pair.finished?.record)
        #expect(record.status == 488 && record.reason == "Not Acceptable Here (No common codec)")
        #expect(neverHadMedia(pair) && pair.leftovers == [])
    }

    @Test func `an offer in a provisional response opens nothing`() throws {
        let pair = Pair(timeout: .seconds(2))
        pair.room.place(at: Room.address(2)) { request, _ in
            guard request.method == .invite else { return Message.response(to: request, status: 200, toTag: "far") }
            var early = Message.response(to: request, status: 183, toTag: "far")
            early.headers.append(.contact, "<sip:callee@10.0.0.2>")
            early.headers.append(.contentType, "application/sdp")
            early.body = Array("v=0\r\no=- 1 1 IN IP4 10.0.0.2\r\ns=-\r\nc=IN IP4 10.0.0.2\r\nt=0 0\r\nm=audio 4000 RTP/AVP 0\r\n".utf8)
            return early
        }
        pair.start()
        pair.room.run(seconds: 60)
        #expect(try #require(pair.finished?.record).result().earlyMediaIgnored)
        #expect(neverHadMedia(pair) && pair.leftovers == [])
    }

    @Test func `an INVITE without an offer gets one, and its media opens with the ACK`() throws {
        let pair = Pair { $0.script.source = .tone(Tone(1_000)) }
        let late = LateOfferer()
        var invite = OutgoingInvite(
            target: pair.target, flow: pair.callerSeat.phone.identity.flow, from: NameAddress(uri: URI(user: "late", host: "example.test")),
            to: NameAddress(uri: pair.target))
        invite.body = []
        let session = pair.callerSeat.phone.agent.invite(invite, delegate: late, at: pair.room.now)
        pair.room.run(seconds: 1)
        let log = pair.room.log
        #expect(try #require(log.firstIndex(of: "callee bind")) > #require(log.firstIndex(of: "caller ACK")))
        #expect(log.contains("callee rtp"))
        session.bye(at: pair.room.now)
        pair.room.run(seconds: 1)
        #expect(try #require(pair.answered.first).status == 200)
        #expect(pair.leftovers == [])
    }
}

/// An answer that comes before the 2xx, and an offer that gets none.
@Suite struct EarlyAnswerTests {
    private let far = Flow(transport: .udp, local: Room.address(1), remote: Room.address(2))

    private var pair: Pair {
        var script = CallScript()
        script.source = .tone(Tone(440))
        return Pair(calling: script)
    }

    private func description(_ port: Int) -> [UInt8] {
        Array("v=0\r\no=- 1 1 IN IP4 10.0.0.2\r\ns=-\r\nc=IN IP4 10.0.0.2\r\nt=0 0\r\nm=audio \(port) RTP/AVP 0\r\na=sendrecv\r\n".utf8)
    }

    private func response(_ request: Message, _ status: Int, _ headers: [(HeaderName, Text)] = [], body: [UInt8] = []) -> Message {
        var response = Message.response(to: request, status: status, toTag: "callee")
        for (name, value) in [(HeaderName.contact, "<sip:callee@10.0.0.2>" as Text)] + headers { response.headers.append(name, value) }
        if !body.isEmpty { response.headers.append(.contentType, "application/sdp") }
        response.body = body
        return response
    }

    /// A call to a callee that answers in a reliable 183 and sends an empty 200.
    private func talk(_ pair: Pair) throws -> Message {
        var invite: Message?, acknowledgements = 0
        pair.room.place(at: Room.address(2)) { request, _ in
            guard request.isRequest else { return nil }
            switch request.method {
            case .invite:
                invite = request
                return response(request, 183, [(.require, "100rel"), ("RSeq", "1")], body: description(4_000))
            case .ack:
                acknowledgements += 1
                return nil
            default: return response(request, 200)
            }
        }
        pair.start()
        pair.room.run(seconds: 1)
        let asked = try #require(invite)
        pair.callerSeat.phone.agent.receive(response(asked, 200).serialized(), over: far, at: pair.room.now)
        pair.room.run(seconds: 0.5)
        #expect(acknowledgements == 1)
        return asked
    }

    @Test func `the answer of a reliable 183 counts where the 200 has none`() throws {
        let pair = pair
        _ = try talk(pair)
        #expect(!pair.room.log.contains("caller BYE"))
        #expect(try #require(pair.room.log.firstIndex(of: "caller bind")) < #require(pair.room.log.firstIndex(of: "caller ACK")))
        #expect(pair.room.log.contains("caller PRACK") && pair.room.log.contains("caller rtp"))
    }

    @Test func `a re-INVITE without an offer whose ACK brings no answer changes nothing`() throws {
        let pair = pair, invite = try talk(pair)
        func request(_ method: String, branch: String) -> [UInt8] {
            let lines = [
                "\(method) \(invite.contact?.uri.text ?? .empty) SIP/2.0", "Via: SIP/2.0/UDP 10.0.0.2:5060;branch=z9hG4bK\(branch)",
                "From: \(invite.to.text);tag=callee",
                "To: \(invite.from.text)", "Call-ID: \(invite.callID)", "CSeq: \(method == "BYE" ? 2 : 1) \(method)",
                "Contact: <sip:callee@10.0.0.2>", "Max-Forwards: 70", "Content-Length: 0", "", "",
            ]
            return Array(lines.joined(separator: "\r\n").utf8)
        }
        pair.callerSeat.phone.agent.receive(request("INVITE", branch: "re"), over: far, at: pair.room.now)
        pair.room.run(seconds: 0.1)
        #expect(pair.room.log.contains("caller 200 INVITE"))
        pair.callerSeat.phone.agent.receive(request("ACK", branch: "ack"), over: far, at: pair.room.now)
        pair.room.run(seconds: 1)
        #expect(!pair.room.log.contains("caller BYE") && pair.finished == nil)
        pair.callerSeat.phone.agent.receive(request("BYE", branch: "bye"), over: far, at: pair.room.now)
        pair.room.run(seconds: 40)
        let record = try #require(pair.finished?.record)
        #expect(record.failure == nil && record.endedBy == .them && record.status == 200)
    }
}

/// A caller that leaves the offer to the callee and answers it in its ACK.
private final class LateOfferer: InviteSessionDelegate {
    func session(_ session: InviteSession, did event: SessionEvent, at now: Instant) {
        guard case .accepted(let response) = event else { return }
        var negotiation = OfferAnswer(local: LocalMedia(address: IPAddress(v4: 0x0A00_0001), port: 4_000), sessionID: 1)
        guard (try? negotiation.receive(offer: response.body)) != nil, let answer = try? negotiation.answer() else {
            return session.bye(at: now)
        }
        session.acknowledge(body: answer.description.serialized(), at: now)
    }
}
