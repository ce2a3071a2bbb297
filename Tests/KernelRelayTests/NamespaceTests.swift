import CKernelRelay
import CNetworkNamespace
import Foundation
import Media
import Primitives
import RTP
import Testing

extension RealTime {
    /// Packets that really go through the kernel, in networks that are made here.
    @Suite(.enabled(if: Permission.hasNamespaces, "no root, or \(Permission.refusal ?? "")")) struct NamespaceTests {
        /// Two far ends, each with a cable to the relay, or all three in one network.
        struct Network {
            let relay: Namespace, first: Namespace, second: Namespace
            let isLocal: Bool

            init(isLocal: Bool, sumsInSoftware: Bool = false) throws {
                self.isLocal = isLocal
                relay = try Namespace()
                (first, second) = isLocal ? (relay, relay) : (try Namespace(), try Namespace())
                guard !isLocal else { return }
                try relay.connect("left", ["10.1.0.1/24", "fd01::1/64"], to: first, ["10.1.0.2/24", "fd01::2/64"])
                try relay.connect("right", ["10.2.0.1/24", "fd02::1/64"], to: second, ["10.2.0.2/24", "fd02::2/64"])
                guard sumsInSoftware else { return }
                for (namespace, interface) in [(relay, "left"), (relay, "right"), (first, "eth0"), (second, "eth0")] {
                    #expect(try namespace.within { network_namespace_sum_in_software(interface) } == 0)
                }
            }

            /// The first far end, ours towards it, ours towards the second, and that.
            func ends(_ family: IPAddress.Family) throws -> [End] {
                let hosts: [String]
                switch (isLocal, family) {
                case (true, .v4): hosts = ["127.0.0.1", "127.0.0.1", "127.0.0.1", "127.0.0.1"]
                case (true, .v6): hosts = ["[::1]", "[::1]", "[::1]", "[::1]"]
                case (false, .v4): hosts = ["10.1.0.2", "10.1.0.1", "10.2.0.1", "10.2.0.2"]
                case (false, .v6): hosts = ["[fd01::2]", "[fd01::1]", "[fd02::1]", "[fd02::2]"]
                }
                return try zip(hosts, zip([4_000, 5_000, 5_002, 4_002], [first, relay, relay, second])).map { host, place in
                    try End("\(host):\(place.0)", in: place.1)
                }
            }
        }

        /// A call through that network, with the program before the relay's interfaces.
        struct Call {
            let device = Result { try KernelRelayDevice.awake() }, ends: [End]
            var direction: Direction
            var sequence: UInt16 = 100, timestamp: UInt32 = 7

            init(over network: Network, _ family: IPAddress.Family) throws {
                ends = try network.ends(family)
                let device = try device.get()
                let interfaces = network.isLocal ? ["lo"] : ["left", "right"]
                try network.relay.within { for interface in interfaces { try device.attach(to: if_nametoindex(interface)) } }
                direction = Direction(family, map: ProgramTests.map, types: ProgramTests.types)
                direction.key = RelayKey(local: ends[1].address, remote: ends[0].address)
                direction.plan.source = ends[2].address
                direction.plan.destination = ends[3].address
                direction.plan.interface = network.isLocal ? nil : try network.relay.index(of: "right")
            }

            /// A packet from the first far end.
            mutating func send(_ step: UInt16 = 1, ssrc: UInt32 = 0x1111_2222, payload: Int = 160) throws -> [UInt8] {
                sequence &+= step
                timestamp &+= 160 * UInt32(step)
                let packet = rtp(sequence: sequence, timestamp: timestamp, ssrc: ssrc, payload: payload)
                try ends[0].send(packet, to: ends[1].address)
                return packet
            }

            /// Three packets by user space, and then the kernel's.
            mutating func begin() throws {
                for _ in 0..<3 {
                    let packet = try send()
                    #expect(ends[1].receive() == packet)
                    let sent = try #require(try direction.take(packet, at: .kernelNow))
                    try ends[2].send(sent, to: ends[3].address)
                    #expect(ends[3].receive() == sent)
                }
                try device.get().arm(direction.key, direction.entry())
            }
        }

        @Test(arguments: [(false, false), (false, true), (true, false)], [IPAddress.Family.v4, .v6])
        func `packets are relayed without user space`(network: (isLocal: Bool, sumsInSoftware: Bool), family: IPAddress.Family) throws {
            let network = try Network(isLocal: network.isLocal, sumsInSoftware: network.sumsInSoftware)
            var call = try Call(over: network, family)
            try call.begin()
            for number in 0..<300 {
                let packet = try call.send(number % 50 == 49 ? 3 : 1, payload: number)
                let expected = try #require(try call.direction.take(packet, at: .kernelNow))
                #expect(call.ends[3].receive() == expected, "packet \(number)")
            }
            #expect(call.ends[1].receive(within: 0) == nil, "none came up")
            let entry = try #require(try call.device.get().take(call.direction.key))
            #expect(entry.stream.packets == 300 && entry.hold == nil && entry.left == RelayEntry.Left())
            // Taken back: the next is user space's again.
            let next = try call.send()
            #expect(call.ends[1].receive() == next)
            #expect(call.ends[3].receive(within: 0) == nil)
        }

        @Test(arguments: [true, false]) func `what is unusual comes up, with all that follows it`(isLocal: Bool) throws {
            var call = try Call(over: Network(isLocal: isLocal), .v4)
            try call.begin()
            _ = try call.send()
            #expect(call.ends[3].receive() != nil)
            for ssrc in [5, 5, 0x1111_2222] as [UInt32] {
                let packet = try call.send(ssrc: ssrc)
                #expect(call.ends[1].receive() == packet)
            }
            let report: [UInt8] = [0x80, 201, 0, 1] + [UInt8](repeating: 1, count: 12)
            try call.ends[0].send(report, to: call.ends[1].address)
            #expect(call.ends[1].receive() == report)
            #expect(call.ends[3].receive(within: 0) == nil)
            let entry = try #require(try call.device.get().take(call.direction.key))
            #expect(entry.hold == .ssrc && entry.left.held == 3 && entry.left.control == 1 && entry.stream.packets == 1)
        }

        @Test func `the program leaves with its process`() throws {
            let network = try Namespace()
            let child = try network.within { network_namespace_fork_relay(1) }
            try #require(child > 0, "errno \(-child)")
            #expect(try network.within { kernel_relay_attached(1) } == 1)
            kill(child, SIGKILL)
            waitpid(child, nil, 0)
            #expect(try isGone(from: network))
        }

        @Test func `the program leaves with its device`() throws {
            let network = try Namespace()
            var device: KernelRelayDevice? = try .awake()
            try network.within { [device] in try device?.attach(to: 1) }
            #expect(try network.within { kernel_relay_attached(1) } == 1)
            device?.detach(from: 1)
            #expect(try isGone(from: network))
            try network.within { [device] in try device?.attach(to: 1) }
            device = nil
            #expect(try isGone(from: network))
        }

        /// The kernel takes it away a moment after the last descriptor is closed.
        private func isGone(from network: Namespace) throws -> Bool {
            let end = Instant.kernelNow + .seconds(10)
            while Instant.kernelNow < end {
                if try network.within({ kernel_relay_attached(1) }) == 0 { return true }
                sched_yield()
            }
            return false
        }

        /// Copies of one packet, which go back where they came from, so that each run finds what the one before left.
        @Test(arguments: [IPAddress.Family.v4, .v6]) func `the program alone takes less than twenty microseconds`(family: IPAddress.Family)
            throws
        {
            let device = try KernelRelayDevice.awake()
            var direction = try ProgramTests.started(family)
            (direction.plan.source, direction.plan.destination) = (direction.key.remote, direction.key.local)
            var entry = try direction.entry()
            entry.isFresh = false
            entry.stream.sendingSSRC = entry.stream.ssrc
            (entry.stream.source.sequenceOffset, entry.stream.source.timestampOffset) = (0, 0)
            func cost(_ packet: [UInt8]) throws -> UInt32 { try device.run(direction.incoming(packet).bytes, times: 100_000).nanoseconds }
            let none = try cost(rtp(sequence: 102, timestamp: 320))
            try device.arm(direction.key, entry)
            let relayed = try cost(rtp(sequence: 102, timestamp: 320)), other = try cost([0, 1] + rtp(sequence: 102, timestamp: 320))
            #expect(device.take(direction.key)?.stream.reception.copies == 100_000)
            print(
                "\(KernelRelayDevice.instructions) instructions; \(family): \(relayed) ns a packet, \(none) without an entry, \(other) for STUN"
            )
            #expect(relayed < 20_000)
        }

        @Test func `without capabilities it is refused`() { #expect(network_namespace_open_as_nobody() == -EPERM) }
    }
}
