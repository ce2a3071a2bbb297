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
        let pair = Pair(registers: true, patience: .seconds(2)), seen = Seen()
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

    @Test func `a registrar that does not answer has the caller's patience, too`() throws {
        let pair = Pair(registers: true, patience: .seconds(2))
        pair.room.place(at: Room.address(3)) { _, _ in nil }
        pair.caller.start(at: pair.room.now)
        pair.room.run(seconds: 2.2)
        let finished = try #require(pair.finished)
        #expect(finished.record == nil && finished.failure == "the registration of caller failed with 408: no answer in time")
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
