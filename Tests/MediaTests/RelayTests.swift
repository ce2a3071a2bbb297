import Media
import Primitives
import RTP
import SDP
import Testing

@Suite struct RelayTests {
    private let bench = Bench()
    private var alice = FarEnd("198.51.100.1", port: 4_000, ssrc: 0xA11CE)
    private var bob = FarEnd("198.51.100.2", port: 5_000, ssrc: 0xB0B)

    /// Alice talks PCMU as 0, Bob wants it as 96; both know keys under numbers of their own.
    private func bridge() throws -> (a: MediaLegID, b: MediaLegID) {
        let a = try bench.open(1, port: 20_000, far: alice.address, keys: [.keys(101, 101)])
        let b = try bench.open(2, port: 20_002, far: bob.address, codecs: [.pcmu(97, 96)], keys: [.keys(110, 112)])
        try bench.engine.link(a, b, at: bench.now)
        try bench.start(a, b)
        return (a, b)
    }

    @Test mutating func `a packet leaves on the other side with that side's source and number and the same sound`() throws {
        _ = try bridge()
        let sound = (0..<160).map { UInt8($0) }
        bench.arrive(alice.packet(0, sound), from: alice.address, at: 20_000)
        let relayed = try #require(bench.heard(by: bob.address).first)
        #expect(try payload(relayed) == sound)
        #expect(try header(relayed).payloadType == 96)
        #expect(try header(relayed).ssrc != alice.ssrc)
        #expect(bench.heard(by: alice.address).isEmpty)

        bench.arrive(bob.packet(97, sound), from: bob.address, at: 20_002)
        #expect(try header(#require(bench.heard(by: alice.address).first)).payloadType == 0)
    }

    @Test mutating func `a lost packet stays lost and order stays as it came`() throws {
        _ = try bridge()
        let packets = (0..<6).map { _ in alice.packet(0) }
        for index in [0, 1, 3, 2, 5] { bench.arrive(packets[index], from: alice.address, at: 20_000) }
        let numbers = try bench.heard(by: bob.address).map { try header($0).sequence.rawValue }
        #expect(numbers.map { $0 &- numbers[0] } == [0, 1, 3, 2, 5])
    }

    @Test mutating func `one stream without a jump goes through hold and resume`() throws {
        let (a, b) = try bridge()
        for _ in 0..<3 { bench.arrive(alice.packet(0), from: alice.address, at: 20_000) }
        let before = try #require(bench.heard(by: bob.address).last)
        try bench.engine.stop(b, at: bench.now)
        for _ in 0..<5 { bench.arrive(alice.packet(0), from: alice.address, at: 20_000) }
        #expect(bench.network.take(to: bob.address).isEmpty)
        #expect(try bench.statistics(a).refused.noReceiver == 5)
        bench.pass(.seconds(2))
        _ = bench.network.take(to: bob.address)

        try bench.start(b)
        bench.arrive(alice.packet(0), from: alice.address, at: 20_000)
        let after = try header(#require(bench.heard(by: bob.address).first)), last = try header(before)
        #expect(after.ssrc == last.ssrc)
        #expect(last.sequence.distance(to: after.sequence) == 1)
        #expect(after.timestamp &- last.timestamp == 16_000)
        #expect(after.marker)
    }

    @Test mutating func `what came while the far end did not listen leaves no gap in its stream`() throws {
        let (a, b) = try bridge()
        bench.arrive(alice.packet(0), from: alice.address, at: 20_000)
        let last = try header(#require(bench.heard(by: bob.address).last))
        try bench.update(b) { ($0.audio.sends, $0.audio.remoteHold) = (false, .sendonly) }
        for _ in 0..<5 { bench.arrive(alice.packet(0), from: alice.address, at: 20_000) }
        #expect(bench.heard(by: bob.address).isEmpty)
        #expect(try bench.statistics(a).refused.noReceiver == 5)
        try bench.update(b) { ($0.audio.sends, $0.audio.remoteHold) = (true, .none) }
        bench.arrive(alice.packet(0), from: alice.address, at: 20_000)
        let after = try header(#require(bench.heard(by: bob.address).first))
        #expect(after.ssrc == last.ssrc && after.marker)
        #expect(last.sequence.distance(to: after.sequence) == 1)
    }

    @Test mutating func `what the other side has no codec for is counted and goes nowhere`() throws {
        let gsm = NegotiatedCodec(codec: Codec(name: "GSM", clockRate: 8_000), receivePayloadType: 3, sendPayloadType: 3)
        let a = try bench.open(1, port: 20_000, far: alice.address, codecs: [gsm, .pcmu()])
        let b = try bench.open(2, port: 20_002, far: bob.address, codecs: [.pcmu()])
        try bench.engine.link(a, b, at: bench.now)
        try bench.start(a, b)
        bench.arrive(alice.packet(3), from: alice.address, at: 20_000)
        bench.arrive(alice.packet(0), from: alice.address, at: 20_000)
        bench.arrive(alice.packet(33), from: alice.address, at: 20_000)
        #expect(bench.heard(by: bob.address).count == 1)
        #expect(try bench.statistics(a).refused.payloadType == 2)
    }

    @Test mutating func `nothing passes before both are started and nothing after one is stopped`() throws {
        let a = try bench.open(1, port: 20_000, far: alice.address)
        let b = try bench.open(2, port: 20_002, far: bob.address)
        try bench.engine.link(a, b, at: bench.now)
        bench.arrive(alice.packet(0), from: alice.address, at: 20_000)
        try bench.start(a)
        bench.arrive(alice.packet(0), from: alice.address, at: 20_000)
        #expect(bench.heard(by: bob.address).isEmpty)
        #expect(try bench.statistics(a).refused.notStarted == 1)
        #expect(try bench.statistics(a).refused.noReceiver == 1)
        try bench.start(b)
        bench.arrive(alice.packet(0), from: alice.address, at: 20_000)
        #expect(bench.heard(by: bob.address).count == 1)
        try bench.engine.stop(a, at: bench.now)
        bench.arrive(alice.packet(0), from: alice.address, at: 20_000)
        #expect(bench.heard(by: bob.address).isEmpty)
        #expect(try bench.statistics(a).refused.notStarted == 2)
    }

    @Test(arguments: [(true, false, 1, 0), (false, true, 0, 1), (false, false, 0, 0)])
    mutating func `direction is kept`(sends: Bool, receives: Bool, toBob: Int, toAlice: Int) throws {
        let (_, b) = try bridge()
        try bench.update(b) { ($0.audio.sends, $0.audio.receives) = (sends, receives) }
        bench.arrive(alice.packet(0), from: alice.address, at: 20_000)
        bench.arrive(bob.packet(97), from: bob.address, at: 20_002)
        #expect(bench.heard(by: bob.address).count == toBob)
        #expect(bench.heard(by: alice.address).count == toAlice)
    }

    @Test mutating func `a stranger is refused and counted and the far end stays who it was`() throws {
        let (a, _) = try bridge()
        let stranger = SocketAddress("203.0.113.9:4000")!
        bench.network.heedsLocks = false   // only the latch stands between
        bench.arrive(alice.packet(0), from: alice.address, at: 20_000)
        bench.arrive(alice.packet(0), from: stranger, at: 20_000)
        #expect(try bench.statistics(a).refused.stranger == 1)
        #expect(bench.heard(by: bob.address).count == 1)
        bench.arrive(bob.packet(97), from: bob.address, at: 20_002)
        #expect(bench.heard(by: alice.address).count == 1)
        #expect(bench.heard(by: stranger).isEmpty)
    }

    @Test mutating func `a far end behind a NAT is answered where it sends from`() throws {
        _ = try bridge()
        let mapped = SocketAddress("203.0.113.7:61000")!
        bench.arrive(alice.packet(0), from: mapped, at: 20_000)
        bench.arrive(bob.packet(97), from: bob.address, at: 20_002)
        #expect(bench.heard(by: mapped).count == 1)
        #expect(bench.heard(by: alice.address).isEmpty)
    }

    @Test mutating func `a new address in a re-INVITE is sent to at once and latched anew`() throws {
        let (a, _) = try bridge()
        bench.arrive(alice.packet(0), from: alice.address, at: 20_000)
        let moved = SocketAddress("198.51.100.77:4400")!
        try bench.update(a) { ($0.audio.remoteRTP, $0.audio.remoteRTCP) = (moved, moved) }
        bench.arrive(bob.packet(97), from: bob.address, at: 20_002)
        #expect(bench.heard(by: moved).count == 1)
        bench.arrive(alice.packet(0), from: moved, at: 20_000)
        #expect(try bench.statistics(a).receiving.packets == 2)
        #expect(bench.heard(by: alice.address).isEmpty)
    }

    @Test mutating func `keys pass to the other side and are told once`() throws {
        let (a, b) = try bridge()
        var press = alice
        for number in 0..<8 {
            let event = TelephoneEvent(event: 5, isEnd: number > 4, duration: UInt16(160 * (number + 1)))
            var bytes = [UInt8](repeating: 0, count: 4)
            bytes.withUnsafeMutableBytes { event.write(to: $0) }
            bench.arrive(press.packet(101, bytes, step: 0, marker: number == 0), from: alice.address, at: 20_000)
        }
        #expect(bench.digits == [a: "5"])
        let relayed = bench.heard(by: bob.address)
        #expect(relayed.count == 8)
        #expect(try relayed.allSatisfy { try header($0).payloadType == 112 })
        #expect(try Set(relayed.map { try header($0).timestamp }).count == 1)
        #expect(bench.digits[b] == nil)
    }

    /// RFC 4733 §2.1: the length of a key counts in the clock of the payload type that it came under.
    @Test(arguments: [(110, 4_800, 101), (101, 800, 110)] as [(UInt8, UInt16, UInt8)])
    mutating func `a key is as long on the other side, whichever of its clocks it came in`(came: UInt8, duration: UInt16, leaves: UInt8)
        throws
    {
        let both: [NegotiatedCodec] = [.keys(101, 101), .keys(110, 110, rate: 48_000)]
        let a = try bench.open(1, port: 20_000, far: alice.address, codecs: came == 110 ? [.pcmu()] : [.opus()], keys: both)
        let b = try bench.open(
            2, port: 20_002, far: bob.address, codecs: leaves == 110 ? [.opus()] : [.pcmu()],
            keys: [leaves == 110 ? .keys(110, 110, rate: 48_000) : .keys()])
        try bench.engine.link(a, b, at: bench.now)
        try bench.start(a, b)
        let event = TelephoneEvent(event: 5, isEnd: true, duration: duration)
        var bytes = [UInt8](repeating: 0, count: 4)
        bytes.withUnsafeMutableBytes { event.write(to: $0) }
        bench.arrive(alice.packet(came, bytes, step: 0, marker: true), from: alice.address, at: 20_000)
        let relayed = try #require(bench.heard(by: bob.address).first), told = try payload(relayed)
        #expect(try header(relayed).payloadType == leaves)
        #expect(UInt16(told[2]) << 8 | UInt16(told[3]) == (leaves == 110 ? 4_800 : 800))
    }

    @Test mutating func `a key that is down while the codec changes, and the clock of keys with it, is one key`() throws {
        let both: [NegotiatedCodec] = [.keys(101, 101), .keys(110, 110, rate: 48_000)]
        let leg = try bench.open(1, port: 20_000, far: alice.address, keys: both, source: .silence)
        try bench.start(leg)
        for duration in [160, 320] as [UInt16] {
            var bytes = [UInt8](repeating: 0, count: 4)
            bytes.withUnsafeMutableBytes { TelephoneEvent(event: 5, isEnd: duration == 320, duration: duration).write(to: $0) }
            bench.arrive(alice.packet(101, bytes, step: 0), from: alice.address, at: 20_000)
            try bench.update(leg) { $0.audio.codecs = [.opus()] }
        }
        #expect(bench.digits == [leg: "5"])
    }

    @Test mutating func `a key that is down while the plan changes is one key, whichever of its clocks it came in`() throws {
        let both: [NegotiatedCodec] = [.keys(101, 101), .keys(110, 110, rate: 48_000)]
        let leg = try bench.open(1, port: 20_000, far: alice.address, keys: both, source: .silence)
        try bench.start(leg)
        func press(_ end: Bool, _ duration: UInt16) -> [UInt8] {
            var bytes = [UInt8](repeating: 0, count: 4)
            bytes.withUnsafeMutableBytes { TelephoneEvent(event: 5, isEnd: end, duration: duration).write(to: $0) }
            return alice.packet(110, bytes, step: 0)
        }
        bench.arrive(press(false, 960), from: alice.address, at: 20_000)
        try bench.update(leg) {
            $0.sink = .none; $0.silenceLimit = .seconds(60)
        }
        bench.arrive(press(true, 4_800), from: alice.address, at: 20_000)
        #expect(bench.digits == [leg: "5"])
    }

    @Test mutating func `digits are sent in place of the sound that is relayed`() throws {
        let (a, b) = try bridge()
        bench.arrive(alice.packet(0), from: alice.address, at: 20_000)
        _ = bench.heard(by: bob.address)
        try bench.engine.send([DTMFDigit("4")!, DTMFDigit("#")!], on: b, at: bench.now)
        var receiver = TelephoneEventReceiver(clockRate: 8_000)
        var pressed = "", sounds = 0
        for _ in 0..<60 {
            bench.pass(.milliseconds(10))
            bench.arrive(alice.packet(0), from: alice.address, at: 20_000)
            for packet in bench.heard(by: bob.address) {
                let header = try header(packet)
                guard header.payloadType == 112 else { sounds += 1; continue }
                let outputs = try payload(packet).withUnsafeBytes { receiver.receive($0, header: header, at: bench.now) }
                for case .began(let digit) in outputs { pressed.append(digit.character) }
            }
        }
        #expect(pressed == "4#")
        #expect(sounds > 5 && sounds < 60)
        #expect(bench.events[b]?.contains(.digitsSent) == true)
        #expect(try bench.statistics(a).refused.noReceiver > 10)
    }

    @Test mutating func `keys that are pressed while others are sent from here wait for them`() throws {
        let (_, b) = try bridge()
        bench.arrive(alice.packet(0), from: alice.address, at: 20_000)
        try bench.engine.send([DTMFDigit("1")!], on: b, at: bench.now)
        for key: UInt8 in 2...4 {
            for number in 0..<10 {
                let event = TelephoneEvent(event: key, isEnd: number > 6, duration: UInt16(160 * (number + 1)))
                var bytes = [UInt8](repeating: 0, count: 4)
                bytes.withUnsafeMutableBytes { event.write(to: $0) }
                bench.arrive(alice.packet(101, bytes, step: 0, marker: number == 0), from: alice.address, at: 20_000)
                bench.pass(.milliseconds(20))
            }
            alice.timestamp &+= 1_600
            bench.pass(.milliseconds(60))
        }
        bench.pass(.seconds(2))
        var receiver = TelephoneEventReceiver(clockRate: 8_000), pressed = "", headers: [RTPHeader] = []
        for packet in bench.heard(by: bob.address) {
            headers.append(try header(packet))
            guard headers.last?.payloadType == 112 else { continue }
            let outputs = try payload(packet).withUnsafeBytes { receiver.receive($0, header: headers[headers.count - 1], at: bench.now) }
            for case .began(let digit) in outputs { pressed.append(digit.character) }
        }
        #expect(pressed == "1234")
        #expect(headers.last?.payloadType == 112 && receiver.deadline == nil, "the last one is up again")
    }

    @Test(arguments: [(nil, 160), (Duration.milliseconds(500), 500), (.milliseconds(1), 40), (.seconds(60), 5_000)] as [(Duration?, Int)])
    mutating func `a key is sent as long as is asked for, within bounds`(length: Duration?, milliseconds: Int) throws {
        let (_, b) = try bridge()
        try bench.engine.send([DTMFDigit("4")!], lasting: length, on: b, at: bench.now)
        bench.pass(.seconds(6))
        let events = try bench.heard(by: bob.address).filter { try header($0).payloadType == 112 }
        #expect(events.count == milliseconds / 20 + 2, "the end comes three times")
        var receiver = TelephoneEventReceiver(clockRate: 8_000)
        var lengths: [Duration] = []
        for packet in events {
            let header = try header(packet)
            for case .ended(_, let length) in try payload(packet).withUnsafeBytes({ receiver.receive($0, header: header, at: bench.now) }) {
                lengths.append(length)
            }
        }
        #expect(lengths == [.milliseconds(milliseconds)])
    }

    @Test mutating func `an unlinked pair hears nothing and a third can be linked`() throws {
        let (a, b) = try bridge()
        let carol = FarEnd("198.51.100.3", port: 6_000, ssrc: 3)
        let c = try bench.open(3, port: 20_004, far: carol.address)
        try bench.start(c)
        #expect(throws: MediaError.cannotLink(a, c)) { try bench.engine.link(a, c, at: bench.now) }
        try bench.engine.unlink(b)
        bench.arrive(alice.packet(0), from: alice.address, at: 20_000)
        #expect(bench.heard(by: bob.address).isEmpty)
        try bench.engine.link(a, c, at: bench.now)
        bench.arrive(alice.packet(0), from: alice.address, at: 20_000)
        #expect(bench.heard(by: carol.address).count == 1)
        #expect(throws: MediaError.cannotLink(b, b)) { try bench.engine.link(b, b, at: bench.now) }
    }

    @Test mutating func `the figures are those of the packets`() throws {
        let (a, b) = try bridge()
        var packets = (0..<10).map { _ in alice.packet(0) }
        packets.remove(at: 4)
        let first = bench.now
        for packet in packets {
            bench.arrive(packet, from: alice.address, at: 20_000)
            bench.pass(.milliseconds(20))
        }
        let last = first + .milliseconds(20 * 8)
        let (receiving, sending) = (try bench.statistics(a), try bench.statistics(b))
        #expect(receiving.receiving.packets == 9 && receiving.receiving.octets == 9 * 160 && receiving.receiving.lost == 1)
        #expect(receiving.firstReceived == first && receiving.lastReceived == last)
        #expect(receiving.firstSent == nil && receiving.sending.packets == 0 && receiving.roundTrip == nil)
        #expect(sending.sending.packets == 9 && sending.firstSent == first && sending.lastSent == last)
        let interval = try bench.engine.stop(b, at: bench.now)
        #expect(interval.packetsSent == 9 && interval.firstSent == first && interval.lastSent == last && interval.stopped == bench.now)
        #expect(bench.events[a]?.first == .firstReceived(first))
        #expect(bench.events[b]?.first == .firstSent(first))
    }
}
