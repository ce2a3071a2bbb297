import Primitives
import Testing

@Suite struct FIFOTests {
    /// Against an array that is shifted at each step.
    @Test(arguments: 0..<8 as Range<UInt64>) func `agrees with an array`(seed: UInt64) {
        var random = SeededRandom(seed: seed), queue = FIFO<Int>(), model: [Int] = []
        for step in 0..<20_000 {
            // It grows and shrinks in waves, past the length from which popped places are given back.
            let appends = Int.random(in: 0..<100, using: &random) < (step / 500 % 2 == 0 ? 70 : 30)
            if appends {
                queue.append(step)
                model.append(step)
            } else {
                #expect(queue.popFirst() == (model.isEmpty ? nil : model.removeFirst()), "seed \(seed), step \(step)")
            }
            #expect(queue.count == model.count && queue.isEmpty == model.isEmpty && queue.first == model.first)
            if step.isMultiple(of: 97) { #expect(queue.contains { $0 == step - 50 } == model.contains(step - 50)) }
        }
        while let next = queue.popFirst() { #expect(next == model.removeFirst()) }
        #expect(model.isEmpty)
    }

    @Test func `what was popped is not found, and a copy goes its own way`() {
        var queue = FIFO<Int>()
        #expect(queue.isEmpty && queue.first == nil && queue.popFirst() == nil)
        for number in 1...3 { queue.append(number) }
        var copy = queue
        #expect(copy.popFirst() == 1 && !copy.contains { $0 == 1 } && copy.contains { $0 == 3 })
        copy.append(4)
        #expect(queue.count == 3 && queue.first == 1 && !queue.contains { $0 == 4 })
    }
}
