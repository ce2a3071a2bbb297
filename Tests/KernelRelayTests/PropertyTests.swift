import Media
import Primitives
import Testing

@testable import RTP

/// The program beside `RTPRewriter` and `ReceiverStatistics`, packet for packet, on streams of which each seed makes another.
@Suite(.enabled(if: Permission.isThere, "\(Permission.refusal ?? "")")) struct PropertyTests {
    struct Run {
        let device: KernelRelayDevice
        var farEnd: FarEnd
        var oracle: Oracle
        /// The values of user space when it armed the entry.
        var armed: Direction
        var relayed = 0, holds: [RelayEntry.Hold: Int] = [:]

        init(seed: UInt64, on device: KernelRelayDevice) throws {
            self.device = device
            farEnd = FarEnd(seed: seed)
            var map = PayloadTypeMap()
            (map[0], map[8], map[127]) = (0, 18, 126)
            var direction = Direction(seed % 2 == 0 ? .v4 : .v6, map: map, types: [0, 8])
            direction.key.remote.port = UInt16(truncatingIfNeeded: seed &+ 10_000)
            (armed, oracle) = (direction, Oracle(direction))
            try rearm()
        }

        /// Hands the direction over as soon as user space has seen something ordinary of it.
        mutating func rearm() throws {
            var direction = oracle.direction
            // One with wrong padding is none.
            repeat {
                _ = try? direction.take(farEnd.next(), at: .kernelNow)
            } while RelayedStream(direction.statistics, direction.rewriter) == nil
            (oracle, armed) = (Oracle(direction), direction)
            try device.arm(direction.key, direction.entry())
        }

        /// Lets time pass in both.
        mutating func wait(_ duration: Duration) throws {
            oracle.wait(duration)
            var entry = try #require(device.take(armed.key))
            entry.stream.reception.transit? &-= UInt32(duration.wholeMilliseconds) * 8
            entry.stream.source.sentAt = entry.stream.source.sentAt - duration
            if let last = entry.stream.last { entry.stream.last?.at = last.at - duration }
            try device.arm(armed.key, entry)
        }

        /// One packet through both.
        mutating func step() throws {
            if farEnd.chance(9, of: 10) {
                try wait(.milliseconds(farEnd.chance(1, of: 50) ? 3_000 : Int.random(in: 0...40, using: &farEnd.random)))
            }
            let packet = farEnd.any(), frame = armed.incoming(packet), before = device.read(armed.key)?.stream.last?.at
            let run = try device.run(frame.bytes)
            let entry = try #require(device.read(armed.key))
            let now = entry.stream.last?.at == before ? Instant.kernelNow : entry.stream.last?.at ?? .kernelNow
            let outcome = try oracle.take(packet, at: now)
            #expect(try entry == oracle.entry(hold: entry.hold), "seed \(farEnd.random.seed)")
            #expect((entry.hold != nil) == (outcome == .held))
            #expect(run.verdict == .up)
            if case .relayed(let sent) = outcome {
                relayed += 1
                #expect(run.frame == armed.outgoing(sent).bytes)
                #expect(Frame(bytes: run.frame).isIntact)
            } else {
                #expect(run.frame == frame.bytes)
            }
            if let hold = entry.hold {
                holds[hold, default: 0] += 1
                try takeBack(packet)
            }
        }

        /// User space goes on where the kernel stopped, with the packet that came up and those behind it.
        mutating func takeBack(_ packet: [UInt8]) throws {
            let taken = try #require(device.take(armed.key))
            var resumed = armed
            resumed.statistics.resume(from: taken.stream)
            resumed.sender.resume(from: taken.stream)
            resumed.rewriter.resume(from: taken.stream)
            // The oracle's packets are all real ones; `wait` moved its times and those of the entry alike.
            let expected = try oracle.direction.entry().stream
            #expect(try resumed.entry().stream == expected)
            #expect(resumed.statistics.figures == oracle.direction.statistics.figures)
            #expect(resumed.sender.figures == oracle.direction.sender.figures)
            #expect(resumed.sender.last?.timestamp == oracle.direction.sender.last?.timestamp)
            #expect(resumed.statistics.reportBlock(at: .kernelNow) == oracle.direction.statistics.reportBlock(at: .kernelNow))
            if farEnd.chance(2, of: 3) { _ = try oracle.direction.take(packet, at: .kernelNow) }
            try rearm()
        }
    }

    /// Other seeds than these: HOOKSWITCH_SEED.
    @Test(arguments: Permission.seeds) func `the kernel relays, refuses and counts as user space does`(seed: UInt64) throws {
        var run = try Run(seed: seed, on: Self.device.get())
        for _ in 0..<1_500 { try run.step() }
        #expect(run.relayed > 700, "seed \(seed)")
        #expect(Set(run.holds.keys).isSuperset(of: [.ssrc, .fresh, .sequence, .timestamp, .type]), "seed \(seed): \(run.holds)")
        _ = run.device.take(run.armed.key)
    }

    static let device = Result { try KernelRelayDevice.awake() }
}
