import Foundation
import Primitives
import Testing

@testable import CallKit

@Suite struct ActionClockTests {
    private func seconds(_ seconds: Int) -> Instant { Instant.zero + .seconds(seconds) }
    private let subjects = (0..<40).map { _ in ActionClock.Subject.ring(UUID()) }

    @Test func `equal deadlines come in the order they were set`() {
        var clock = ActionClock()
        for subject in subjects { clock.set(subject, at: seconds(5)) }
        #expect(clock.next(at: seconds(4)) == nil)
        #expect(subjects.map { _ in clock.next(at: seconds(5)) } == subjects)
        #expect(clock.deadline == nil)
    }

    @Test func `setting again moves, cancelling forgets`() {
        var clock = ActionClock()
        clock.set(subjects[0], at: seconds(5))
        clock.set(subjects[1], at: seconds(6))
        clock.set(subjects[0], at: seconds(7))
        #expect(clock.deadline == seconds(6))
        clock.cancel(subjects[1])
        clock.cancel(subjects[1])
        #expect(clock.deadline == seconds(7))
        #expect(clock.count == 1)
        #expect(clock.next(at: seconds(9)) == subjects[0])
        #expect(clock.next(at: seconds(9)) == nil)
    }

    /// Against a plain dictionary.
    @Test(arguments: 1...5 as ClosedRange<UInt64>)
    func `agrees with a sorted list`(seed: UInt64) {
        var (clock, model, random) = (ActionClock(), [ActionClock.Subject: Instant](), SeededRandom(seed: seed))
        var fired = 0
        for now in 0..<3_000 {
            let subject = subjects.randomElement(using: &random)!
            if Bool.random(using: &random) {
                let deadline = seconds(now + .random(in: 1...50, using: &random))
                clock.set(subject, at: deadline)
                model[subject] = deadline
            } else {
                clock.cancel(subject)
                model[subject] = nil
            }
            while let due = clock.next(at: seconds(now)) {
                fired += 1
                #expect(model[due] == model.values.min())
                model[due] = nil
            }
            #expect(clock.deadline == model.values.min())
            #expect(clock.count == model.count)
        }
        #expect(fired > 100)
    }
}
