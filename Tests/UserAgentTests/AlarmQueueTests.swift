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
}
