import Media
import Primitives
import RTP
import Runtime
import Testing

extension RealTime {
    /// More packets than a far end may send, over cables of networks that are made here.
    @Suite(.serialized, .enabled(if: Permission.hasNamespaces && Permission.attaches, "no root, or \(Permission.refusal ?? "")"))
    struct FloodTests {
        /// So many packets in a second, of 20 ms.
        private static let limit = 500

        private func bridge(_ device: KernelRelayDevice?) throws -> Bridge {
            let network = try NamespaceTests.Network(isLocal: false), ends = try network.ends(.v4)
            let locals = (ends[1].address.address, ends[2].address.address)
            return try Bridge(device, ends: (ends[0], ends[3]), locals: locals, in: network.relay)
        }

        /// Each says as many packets, one after the other; the first fault.
        private func exchange(_ bridge: inout Bridge, _ count: Int) throws -> String? {
            for _ in 0..<count { if let fault = try bridge.say() ?? bridge.reply() { return fault } }
            return nil
        }

        /// The most packets that pass: no second is shorter, and one has begun before.
        private func most(since begin: Instant) -> Int { Self.limit * (Int((MonotonicClock.now - begin) / .seconds(1)) + 2) }

        @Test func `a flood is cut at the limit and counted, and the call goes on in both directions`() throws {
            var bridge = try bridge(KernelRelayDevice.proven(mostEntries: 16))
            expectNone(try exchange(&bridge, 4))
            try #require(bridge.isArmed() && bridge.isArmed(bridge.b))
            // Fewer than make a jump of the sequence, which the kernel would leave alone.
            let begin = MonotonicClock.now, count = 2_500
            var heard = 0
            for number in 0..<count {
                try bridge.alice.send(bridge.alice.voice.next())
                // He keeps up, so that none is lost in his socket; and his own packets go on.
                if number % 32 == 31 { while bridge.bob.receive(within: 0) != nil { heard += 1 } }
                if number % 250 == 249 { expectNone(try bridge.reply()) }
            }
            while bridge.bob.receive(within: 200) != nil { heard += 1 }
            #expect(heard >= Self.limit - 4 && heard <= most(since: begin), "\(heard) were heard")
            let statistics = try bridge.statistics(bridge.a), relayed = bridge.relayed
            #expect(relayed.dropped.overRate == UInt64(count - heard) && relayed.dropped.overRate > 0 && relayed.dropped.noMemory == 0)
            #expect(statistics.refused.overRate == relayed.dropped.overRate && statistics.receiving.packets == UInt64(heard + 4))
            #expect(relayed.armed == 2 && relayed.armings == 2)

            // With the next second she is heard again, and each of her packets is.
            bridge.bob.ear = Ear(isLate: true)
            var isHeard = false
            for _ in 0..<200 where !isHeard {
                let packet = bridge.alice.voice.next()
                try bridge.alice.send(packet)
                if let came = bridge.bob.receive(within: 20) { isHeard = bridge.bob.ear.fault(in: came, for: packet, type: 0) == nil }
            }
            #expect(try isHeard && exchange(&bridge, 100) == nil)
            let interval = try bridge.stop(bridge.a)
            #expect(interval.relayed.number == 1 && interval.relayed.dropped == bridge.relayed.dropped.overRate)
        }

        @Test func `without a device the sockets cut the same flood`() throws {
            var bridge = try bridge(nil)
            let begin = MonotonicClock.now, count = 1_500
            expectNone(try bridge.talk(Self.limit - 100))
            var heard = Self.limit - 100
            for number in 0..<count {
                try bridge.alice.send(bridge.alice.voice.next())
                if number % 32 == 31 { while bridge.bob.receive(within: 0) != nil { heard += 1 } }
            }
            while bridge.bob.receive(within: 200) != nil { heard += 1 }
            // Some may be lost in our socket, where it is full.
            let refused = try bridge.statistics(bridge.a).refused.overRate
            #expect(heard <= most(since: begin) && refused > 0 && heard + Int(refused) <= count + Self.limit - 100)
            #expect(bridge.relayed == RelayCounts())
        }
    }
}
