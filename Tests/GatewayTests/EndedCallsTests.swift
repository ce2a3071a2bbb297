import Foundation
import Testing

@testable import Gateway

@Suite struct EndedCallsTests {
    @Test func `so many UUIDs are remembered, and the oldest is forgotten for one more`() {
        var ended = EndedCalls()
        let calls = (0...EndedCalls.maximum).map { _ in UUID() }
        for call in calls.dropLast() + [calls[1]] { ended.add(call) }
        #expect(ended.contains(calls[0]) && !ended.contains(calls[EndedCalls.maximum]))
        ended.add(calls[EndedCalls.maximum])
        #expect(!ended.contains(calls[0]) && ended.contains(calls[1]) && ended.contains(calls[EndedCalls.maximum]))
    }
}
