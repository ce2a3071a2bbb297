import Foundation
import Primitives
import SIP
import Testing
import UserAgent
import Workbench

@Suite struct RegistrationTests {
    /// A registrar that takes everything, and a proxy to nobody.
    private func registrar(_ status: Int, _ seen: Seen) -> (Message, Flow) -> Message? {
        { request, _ in
            guard request.method == .register else { return nil }
            seen.expirations.append(request.expires ?? 0)
            var response = Message.response(to: request, status: status, toTag: "registrar")
            for contact in request.headers.all(.contact) { response.headers.append(.contact, contact) }
            response.headers.append(.expires, Text(request.expires ?? 0))
            return response
        }
    }

    private final class Seen { var expirations: [UInt32] = [] }

    @Test func `the caller registers first, and takes that back at the end`() throws {
        let pair = Pair(registers: true, timeout: .seconds(2)), seen = Seen()
        pair.room.place(at: Room.address(3), registrar(200, seen))
        pair.start()
        pair.room.run(seconds: 40)
        #expect(pair.events.contains("caller registered") && pair.events.contains("callee registered"))
        let log = pair.room.log
        #expect(try #require(log.firstIndex(of: "caller REGISTER")) < #require(log.firstIndex(of: "caller INVITE")))
        #expect(try #require(pair.finished?.record).status != 200)
        #expect(seen.expirations.filter { $0 == 0 }.count == 1)   // the caller's; the callee stays
        pair.callee.stop(at: pair.room.now)
        pair.room.run(seconds: 1)
        #expect(pair.calleeFinished && seen.expirations.filter { $0 == 0 }.count == 2)
    }

    @Test func `a refused registration is the end of the caller, and why`() throws {
        let pair = Pair(registers: true), seen = Seen()
        pair.room.place(at: Room.address(3), registrar(403, seen))
        pair.start()
        pair.room.run(seconds: 2)
        let finished = try #require(pair.finished)
        #expect(finished.record == nil && finished.failure == "the registration of caller failed with 403")
        #expect(!pair.room.log.contains("caller INVITE"))
    }

    @Test func `a registrar that does not answer has the caller's timeout, too`() throws {
        let pair = Pair(registers: true, timeout: .seconds(2))
        pair.room.place(at: Room.address(3)) { _, _ in nil }
        pair.caller.start(at: pair.room.now)
        pair.room.run(seconds: 2.2)
        let finished = try #require(pair.finished)
        #expect(finished.record == nil && finished.failure == "the registration of caller failed: no answer in time")
    }

    @Test(arguments: [(3, true), (4, false)] as [(UInt32, Bool)])
    func `a telephone proves who it is to its server, and not to others who call it`(caller: UInt32, isProven: Bool) throws {
        let room = Room(), peer = Room.address(caller)
        let seat = room.seat("callee", 2, server: Room.address(3), credentials: Credentials(username: "callee", password: "secret"))
        var script = CallScript(), byes: [Message] = [], tag: Text?
        script.duration = .seconds(1)
        seat.phone.onIncoming = { [unowned seat] session, now in seat.phone.ring(session, answeringAfter: .zero, script: script, at: now) }
        room.place(at: peer) { message, _ in
            tag = message.to.tag ?? tag
            guard message.isRequest, message.method == .bye else { return nil }
            byes.append(message)
            var response = Message.response(to: message, status: 407, toTag: nil)
            response.headers.append(.proxyAuthenticate, DigestChallenge(realm: "peer", nonce: "n", algorithm: .md5).value)
            return response
        }
        func send(_ method: String, _ description: String = "") {
            let lines = [
                "\(method) sip:callee@\(seat.address) SIP/2.0", "Via: SIP/2.0/UDP \(peer);branch=z9hG4bK\(method)", "Max-Forwards: 70",
                "From: <sip:a@\(peer)>;tag=a",
                "To: <sip:callee@example.test>\(tag.map { ";tag=\($0)" } ?? "")", "Call-ID: c", "CSeq: 1 \(method)",
                "Contact: <sip:a@\(peer)>",
                "Content-Type: application/sdp", "Content-Length: \(description.utf8.count)", "", description,
            ]
            let flow = Flow(transport: .udp, local: seat.address, remote: peer)
            seat.phone.agent.receive(Array(lines.joined(separator: "\r\n").utf8), over: flow, at: room.now)
            room.run(seconds: 0.5)
        }
        send("INVITE", "v=0\r\no=- 1 1 IN IP4 10.0.0.9\r\ns=-\r\nc=IN IP4 10.0.0.9\r\nt=0 0\r\nm=audio 4000 RTP/AVP 0\r\n")
        send("ACK")
        room.run(seconds: 2)
        #expect(!byes.isEmpty && byes.contains { $0.headers.contains(.proxyAuthorization) } == isProven)
    }

    @Test func `a result is JSON and comes back from it`() throws {
        let pair = Pair { $0.refusal = 486 }
        pair.start()
        pair.room.run(seconds: 1)
        let result = try #require(pair.finished?.record).result()
        let data = try JSONEncoder().encode(result)
        #expect(try JSONDecoder().decode(CallResult.self, from: data) == result)
    }
}
