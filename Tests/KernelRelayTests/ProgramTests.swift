import CKernelRelay
import Primitives
import RTP
import Testing

@testable import Media

/// The program itself on frames that are made: nothing is sent.
@Suite(.enabled(if: Permission.isThere, "\(Permission.refusal ?? "")")) struct ProgramTests {
    static let map: PayloadTypeMap = {
        var map = PayloadTypeMap()
        (map[0], map[8], map[101]) = (0, 96, 100)
        return map
    }()
    /// Digits have a number there, but are user space's.
    static let types: PayloadTypeSet = [0, 8]

    /// A direction that user space has relayed three packets of: 100 to 102.
    static func started(_ family: IPAddress.Family, interface: UInt32? = nil) throws -> Direction {
        var direction = Direction(family, map: map, types: types, interface: interface)
        let now = Instant.kernelNow
        for number in 0..<3 {
            _ = try direction.take(
                rtp(sequence: 100 + UInt16(number), timestamp: UInt32(number) * 160), at: now + .milliseconds(20 * number - 60))
        }
        return direction
    }

    static let shapes: [[UInt8]] = [
        rtp(sequence: 103, timestamp: 480), rtp(type: 8, sequence: 103, timestamp: 480, marker: true),
        rtp(sequence: 103, timestamp: 480, contributors: 15), rtp(sequence: 103, timestamp: 480, extensionWords: 0),
        rtp(sequence: 103, timestamp: 480, contributors: 2, extensionWords: 7, payload: 33, padding: 200),
        rtp(sequence: 103, timestamp: 480, payload: 0), rtp(sequence: 103, timestamp: 480, payload: 1),
        rtp(sequence: 103, timestamp: 480, payload: 0, padding: 1), rtp(sequence: 103, timestamp: 480, payload: 1_411),
    ]

    @Test(arguments: [IPAddress.Family.v4, .v6], shapes)
    func `a packet leaves as user space would send it`(family: IPAddress.Family, packet: [UInt8]) throws {
        let device = try KernelRelayDevice.awake()
        for (interface, verdict) in [(nil, KernelRelayDevice.Run.Verdict.up), (UInt32(1), .sent)] {
            for isSummed in [false, true] {
                var direction = try Self.started(family, interface: interface)
                direction.plan.trafficClass = 0xB9
                try device.arm(direction.key, direction.entry())
                let run = try device.run(direction.incoming(packet).bytes, isSummed: isSummed)
                let sent = try #require(try direction.take(packet, at: .kernelNow))
                #expect(run.verdict == verdict)
                #expect(run.frame == direction.outgoing(sent).bytes)
                #expect(Frame(bytes: run.frame).isIntact)
                #expect(device.take(direction.key)?.stream.packets == 1)
            }
        }
    }

    @Test func `a UDP checksum that was left out stays out, and wrong checksums stay wrong`() throws {
        let device = try KernelRelayDevice.awake(), direction = try Self.started(.v4), packet = Self.shapes[0]
        func relayed(_ frame: Frame) throws -> Frame {
            try device.arm(direction.key, direction.entry())
            return Frame(bytes: try device.run(frame.bytes).frame)
        }
        let (from, to) = (direction.key.remote, direction.key.local)
        let unsummed = try relayed(Frame(from: from, to: to, packet, ttl: 9, hasChecksum: false))
        #expect(unsummed.ttl == 64 && unsummed.isIntact && Array(unsummed.bytes[40..<42]) == [0, 0])
        for offset in [18, 60] {
            var damaged = direction.incoming(packet)
            damaged.bytes[offset] ^= 0x10
            let after = try relayed(damaged)
            #expect(after.ttl == 64 && !after.isIntact)
        }
    }

    /// Frames of our addresses that are none of an ordinary packet: the program does not even count them.
    static func strange(_ direction: Direction) -> [(String, Frame)] {
        let (from, to, packet) = (direction.key.remote, direction.key.local, shapes[0])
        let stun: [UInt8] = [0, 1, 0, 8, 0x21, 0x12, 0xA4, 0x42] + [UInt8](repeating: 7, count: 20)
        var other = SocketAddress(from.address, port: from.port &+ 1), cut = direction.incoming(packet), long = cut, tcp = cut
        var frames = [
            ("STUN", direction.incoming(stun)), ("DTLS", direction.incoming([22, 254, 253] + stun)),
            ("short", direction.incoming(Array(packet[..<11]))), ("empty", direction.incoming([])),
            ("version", direction.incoming([0x40] + packet.dropFirst())),
            ("from another port", Frame(from: other, to: to, packet, ttl: 9)),
        ]
        var foreign = direction.incoming(packet)
        foreign.bytes[0] = 2
        frames.append(("to another machine's Ethernet address", foreign))
        other.port = to.port &+ 1
        frames.append(("to another port", Frame(from: from, to: SocketAddress(to.address, port: other.port), packet, ttl: 9)))
        cut.bytes.removeLast(3)
        long.put(UInt16(packet.count + 9), at: long.udpOffset + 4)
        tcp.bytes[tcp.isV6 ? 20 : 23] = 6
        frames += [("cut short", cut), ("two lengths", long), ("TCP", tcp)]
        if from.address.family == .v4 {
            frames.append(("options", Frame(from: from, to: to, packet, ttl: 9, options: 2)))
            frames.append(("first fragment", Frame(from: from, to: to, packet, ttl: 9, fragment: 0x2000)))
            frames.append(("last fragment", Frame(from: from, to: to, packet, ttl: 9, fragment: 0x0020)))
        } else {
            frames.append(("no checksum", Frame(from: from, to: to, packet, ttl: 9, hasChecksum: false)))
        }
        return frames
    }

    @Test(arguments: [IPAddress.Family.v4, .v6]) func `nothing else is touched`(family: IPAddress.Family) throws {
        let device = try KernelRelayDevice.awake(), direction = try Self.started(family)
        try device.arm(direction.key, direction.entry())
        for (name, frame) in Self.strange(direction) {
            let run = try device.run(frame.bytes)
            #expect(run.verdict == .up && run.frame == frame.bytes, "\(name)")
        }
        #expect(try device.take(direction.key) == direction.entry(), "and nothing was counted")
    }

    @Test func `RTCP and damaged packets go up and are counted`() throws {
        let device = try KernelRelayDevice.awake(), direction = try Self.started(.v6)
        try device.arm(direction.key, direction.entry())
        let report: [UInt8] = [0x81, 201, 0, 7] + [UInt8](repeating: 1, count: 28)
        let cutExtension = rtp(sequence: 103, timestamp: 480, extensionWords: 0, payload: 0).dropLast(1)
        var farExtension = rtp(sequence: 103, timestamp: 480, extensionWords: 3, payload: 0), padded = Self.shapes[0]
        farExtension[15] = 4
        padded[0] |= 0x20
        padded[padded.count - 1] = 161
        let damaged = [
            Array(cutExtension), farExtension, padded, rtp(sequence: 103, timestamp: 480, padding: 0), Array(Self.shapes[2].prefix(70)),
        ]
        for packet in [report] + damaged {
            let frame = direction.incoming(packet)
            let run = try device.run(frame.bytes)
            #expect(run.verdict == .up && run.frame == frame.bytes)
        }
        var expected = try direction.entry()
        (expected.left.control, expected.left.malformed) = (1, 5)
        #expect(device.take(direction.key) == expected)
    }

    static let unusual: [(RelayEntry.Hold, [UInt8])] = [
        (.ssrc, rtp(sequence: 103, timestamp: 480, ssrc: 9)), (.fresh, rtp(sequence: 104, timestamp: 640)),
        (.fresh, rtp(sequence: 102, timestamp: 320)),
    ]

    @Test(arguments: unusual) func `the first packet after arming is the very next one`(reason: RelayEntry.Hold, packet: [UInt8]) throws {
        let device = try KernelRelayDevice.awake(), direction = try Self.started(.v4), frame = direction.incoming(packet)
        try device.arm(direction.key, direction.entry())
        #expect(try device.run(frame.bytes).frame == frame.bytes)
        // It stays held, for the very next one, too.
        let next = direction.incoming(Self.shapes[0])
        #expect(try device.run(next.bytes).frame == next.bytes)
        var expected = try direction.entry()
        (expected.hold, expected.left.held) = (reason, 2)
        #expect(device.take(direction.key) == expected)
        #expect(device.take(direction.key) == nil)
    }

    static let jumps: [(RelayEntry.Hold?, [UInt8])] = [
        (.type, rtp(type: 101, sequence: 104, timestamp: 640, payload: 4)), (.type, rtp(type: 13, sequence: 104, timestamp: 640)),
        (.ssrc, rtp(sequence: 104, timestamp: 640, ssrc: 9)), (nil, rtp(sequence: 103 + 2_999, timestamp: 640)),
        (.sequence, rtp(sequence: 103 + 3_000, timestamp: 640)), (.sequence, rtp(sequence: 3, timestamp: 640)),
        (nil, rtp(sequence: 100, timestamp: 0)), (.stale, rtp(sequence: 99, timestamp: 0)), (.stale, rtp(sequence: 4, timestamp: 0)),
        (nil, rtp(sequence: 104, timestamp: 480 + 80_000)), (.timestamp, rtp(sequence: 104, timestamp: 480 + 800_000)),
        (nil, rtp(sequence: 104, timestamp: 480 &- 80_000)), (.timestamp, rtp(sequence: 104, timestamp: 480 &- 80_001)),
        (.length, rtp(sequence: 104, timestamp: 640, payload: 261)), (nil, rtp(sequence: 104, timestamp: 640, payload: 260)),
    ]

    @Test(arguments: jumps) func `far steps, new clocks and other types hold the entry`(reason: RelayEntry.Hold?, packet: [UInt8]) throws {
        let device = try KernelRelayDevice.awake()
        var direction = try Self.started(.v4)
        direction.plan.longest = 300
        try device.arm(direction.key, direction.entry())
        _ = try device.run(direction.incoming(Self.shapes[0]).bytes)
        let frame = direction.incoming(packet)
        let run = try device.run(frame.bytes)
        #expect((run.frame == frame.bytes) == (reason != nil))
        let entry = try #require(device.take(direction.key))
        #expect(entry.hold == reason)
        #expect(entry.stream.packets == (reason == nil ? 2 : 1))
    }

    @Test func `more packets in a second than allowed are dropped`() throws {
        let device = try KernelRelayDevice.awake()
        var direction = try Self.started(.v4)
        direction.plan.rateLimit = 5
        try device.arm(direction.key, direction.entry())
        let verdicts = try (0..<50).map { number in
            try device.run(direction.incoming(rtp(sequence: 103 + UInt16(number), timestamp: 480)).bytes).verdict
        }
        let entry = try #require(device.take(direction.key))
        #expect(entry.stream.packets + entry.left.overRate == 50)
        #expect(verdicts.prefix(5).allSatisfy { $0 == .up })
        #expect(verdicts.filter { $0 == .dropped }.count == Int(entry.left.overRate) && entry.left.overRate > 0)
    }

    @Test func `a second that user space has begun goes on, and one packet that is held does not count`() throws {
        let device = try KernelRelayDevice.awake()
        var direction = try Self.started(.v4)
        direction.plan.rateLimit = 6
        var entry = try direction.entry()
        (entry.second, entry.secondPackets) = (.kernelNow, 3)
        try device.arm(direction.key, entry)
        let verdicts = try (0..<5).map { number in
            try device.run(direction.incoming(rtp(sequence: 103 + UInt16(number), timestamp: 480)).bytes).verdict
        }
        let taken = try #require(device.take(direction.key))
        guard taken.second == entry.second else { return #expect(.kernelNow >= entry.second + .seconds(1), "a new second had begun") }
        #expect(verdicts == [.up, .up, .up, .dropped, .dropped] && taken.secondPackets == 6)

        (entry.second, entry.secondPackets) = (.kernelNow, 3)
        try device.arm(direction.key, entry)
        for sequence in [103, 30_000] as [UInt16] { _ = try device.run(direction.incoming(rtp(sequence: sequence, timestamp: 480)).bytes) }
        let held = try #require(device.take(direction.key))
        #expect(held.hold == .sequence && (held.secondPackets == 4 || held.second != entry.second))
    }

    @Test func `without user space's sign of life it holds`() throws {
        let device = try KernelRelayDevice(mostEntries: 4), direction = try Self.started(.v4)
        let frame = direction.incoming(Self.shapes[0])
        for age in [Duration.seconds(1), .seconds(5) + .milliseconds(1)] {
            try device.renew(at: .kernelNow - age)
            try device.arm(direction.key, direction.entry())
            #expect(try (device.run(frame.bytes).frame == frame.bytes) == (age > .seconds(5)))
            #expect(device.take(direction.key)?.hold == (age > .seconds(5) ? .overdue : nil))
        }
    }

    /// As where the memory of an entry was given to another one between the look-up and the sending.
    @Test(arguments: [false, true]) func `a packet leaves by its own entry's route only`(isOther: Bool) throws {
        let direction = try Self.started(.v4), frame = direction.incoming(Self.shapes[0]).bytes, key = direction.key.kernel
        var relay = kernel_relay(), its = key, run = kernel_relay_run(), result = [UInt8](repeating: 0, count: 400)
        try #require(kernel_relay_open(&relay, 4) == 0)
        defer { kernel_relay_close(&relay) }
        try #require(kernel_relay_renew([relay], Instant.kernelNow.nanoseconds) == 0)
        if isOther { its.remote_port = 1 }
        try #require(kernel_relay_arm([relay], [key], [direction.entry().kernel(for: its)]) == 0)
        frame.withUnsafeBytes { bytes in
            result.withUnsafeMutableBytes { room in
                (run.frame, run.size, run.result, run.result_size) = (bytes.baseAddress, UInt32(bytes.count), room.baseAddress, 400)
                #expect(kernel_relay_try([relay], &run) == 0)
            }
        }
        #expect((Array(result[..<frame.count]) == frame) == isOther)
    }

    @Test func `directions are read one by one and all together`() throws {
        let device = try KernelRelayDevice.awake(mostEntries: 1_000)
        var direction = try Self.started(.v6)
        var keys: Set<RelayKey> = []
        for port in UInt16(1)...1_000 {
            direction.key.remote.port = port
            direction.plan.token = UInt64(port)
            try device.arm(direction.key, direction.entry())
            keys.insert(direction.key)
        }
        direction.key.remote.port = 1_001
        #expect(throws: KernelRelayDevice.Failure(code: 7)) { try device.arm(direction.key, direction.entry()) }
        #expect(device.read(direction.key) == nil)
        var seen: Set<RelayKey> = []
        try device.readAll { key, entry in
            #expect(entry.plan.token == UInt64(key.remote.port))
            seen.insert(key)
        }
        #expect(seen == keys)
    }
}

extension Instant {
    static func - (instant: Self, duration: Duration) -> Self { instant + (.zero - duration) }
}
