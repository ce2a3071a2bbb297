import Primitives
import Testing

@testable import UserAgent

@Suite struct AlarmQueueTests {
    @Test(arguments: [1, 2, 3, 4] as [UInt64])
    func `alarms ring in the order of their times however they are set, moved and cleared`(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        var queue = AlarmQueue()
        var rung: [Int] = []
        let alarms = (0..<200).map { _ in Alarm { now in rung.append(Int(now.nanoseconds)) } }
        var model: [Int: UInt64] = [:]
        for _ in 0..<3_000 {
            let index = Int(random.next() % 200)
            let due: UInt64? = random.next() % 4 == 0 ? nil : random.next() % 1_000
            queue.set(alarms[index], to: due.map(Instant.init(nanoseconds:)))
            model[index] = due
            #expect(queue.count == model.count && queue.deadline?.nanoseconds == model.values.min(), "seed \(seed)")
        }
        let expected = model.values.sorted().map(Int.init)
        while let due = queue.deadline {
            while let alarm = queue.popDue(at: due) { alarm.ring(due) }
        }
        #expect(rung == expected, "seed \(seed)")
        #expect(queue.count == 0 && alarms.allSatisfy { !$0.isSet })
    }

    @Test func `nothing rings before its time`() {
        var queue = AlarmQueue()
        queue.set(Alarm { _ in }, to: Instant(nanoseconds: 10))
        #expect(queue.popDue(at: Instant(nanoseconds: 9)) == nil)
        #expect(queue.popDue(at: Instant(nanoseconds: 10)) != nil)
        #expect(queue.deadline == nil)
    }

    @Test func `transactions that are only to be forgotten go together, and none before its time`() {
        let bench = Bench()
        bench.phone.onIncoming = { session, now in session.respond(status: 486, at: now) }
        let branches = ["z9hG4bK1", "z9hG4bK2"]
        func request(_ method: String, _ branch: String) -> RawRequest {
            RawRequest(method: method, via: "SIP/2.0/UDP 198.51.100.7:5070;branch=\(branch);rport", callID: branch)
        }
        for branch in branches { bench.send(request("INVITE", branch).text) }
        for (branch, session) in zip(branches, bench.phone.sessions) {
            var acknowledgement = request("ACK", branch)
            acknowledgement.to += ";tag=\(session.localTag)"
            bench.send(acknowledgement.text)
        }
        let (agent, end) = (bench.phone.agent, bench.link.now)
        #expect(bench.statuses == [486, 486] && agent.counts.serverTransactions == 2)
        agent.advance(to: end + .milliseconds(4_899))
        #expect(agent.counts.serverTransactions == 2)
        bench.link.run(until: agent.deadline ?? .zero)
        #expect(bench.link.now >= end + .milliseconds(4_950) && agent.counts.serverTransactions == 0)
    }
}
