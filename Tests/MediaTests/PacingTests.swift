import Audio
import Primitives
import Testing

@testable import Media

/// A load tool's legs send one after the other, and not all at once.
@Suite struct PacingTests {
    let bench = Bench()
    let far = SocketAddress(IPAddress("192.0.2.7")!, port: 30_000)

    /// The most packets that left at one instant, and how many in all.
    private func walk(_ duration: Duration) -> (most: Int, all: Int) {
        let end = bench.now + duration
        var bursts: [Int] = []
        while let due = bench.engine.deadline, due <= end {
            bench.now = max(bench.now, due)
            bench.engine.advance(to: bench.now)
            bursts.append(bench.heard(by: far).count)
        }
        bench.now = end
        return (bursts.max() ?? 0, bursts.reduce(0, +))
    }

    private func open(_ numbers: ClosedRange<UInt64>) throws -> [MediaLegID] {
        try numbers.map { number in
            let leg = try bench.open(number, port: UInt16(20_000 + 2 * number), far: far, source: .tone(Tone(440)))
            try bench.start(leg)
            return leg
        }
    }

    @Test(arguments: [(false, 120), (true, 3)])
    func `legs that begin together leave in turns, each every 20 ms`(isSpread: Bool, most: Int) throws {
        bench.engine.spreadsFrames = isSpread
        let legs = try open(1...120), first = bench.heard(by: far).count, walked = walk(.seconds(1))
        #expect(max(first, walked.most) == most)
        #expect(abs(first + walked.all - 120 * 50) <= 120)
        for leg in legs { #expect(try bench.statistics(leg).lateFrames == 0) }
    }

    @Test func `a leg that stops leaves its place to the next`() throws {
        bench.engine.spreadsFrames = true
        let legs = try open(1...80)
        #expect(walk(.milliseconds(200)).most == 2)
        for leg in legs.prefix(40) { try bench.engine.stop(leg, ending: true, at: bench.now) }
        _ = bench.heard(by: far)
        _ = try open(101...140)
        #expect(walk(.milliseconds(200)).most == 2)
    }

    @Test func `alone a leg waits for half a millisecond at most`() throws {
        bench.engine.spreadsFrames = true
        bench.now = bench.now + .nanoseconds(1)
        _ = try open(1...1)
        #expect(walk(.microseconds(500)).all == 1)
    }

    @Test func `after a long absence it goes on in its place, without a burst`() throws {
        bench.engine.spreadsFrames = true
        _ = try open(1...40)
        _ = walk(.milliseconds(100))
        bench.now = bench.now + .seconds(1)
        bench.engine.advance(to: bench.now)
        #expect(bench.heard(by: far).isEmpty)
        #expect(walk(.milliseconds(100)).most == 1)
    }
}
