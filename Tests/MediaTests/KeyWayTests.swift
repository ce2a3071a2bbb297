import Media
import Primitives
import RTP
import SDP
import Testing

/// A key is one event under one timestamp, whatever happens to the sound and to the plan meanwhile (RFC 4733 §2.2.1).
@Suite struct KeyWayTests {
    private let bench = Bench()
    private var alice = FarEnd("198.51.100.1", port: 4_000, ssrc: 0xA11CE)
    private var bob = FarEnd("198.51.100.2", port: 5_000, ssrc: 0xB0B)

    private func bridge(_ first: [NegotiatedCodec], _ second: [NegotiatedCodec]) throws -> (MediaLegID, MediaLegID) {
        let a = try bench.open(1, port: 20_000, far: alice.address, codecs: first, keys: [.keys()])
        let b = try bench.open(2, port: 20_002, far: bob.address, codecs: second, keys: [.keys()])
        try bench.engine.link(a, b, at: bench.now)
        try bench.start(a, b)
        return (a, b)
    }

    /// A packet of a key of Alice's that began at `start` and has lasted so many packets.
    private mutating func press(_ packets: Int, end: Bool = false, since start: UInt32) {
        var bytes = [UInt8](repeating: 0, count: 4)
        bytes.withUnsafeMutableBytes { TelephoneEvent(event: 5, isEnd: end, duration: UInt16(160 * packets)).write(to: $0) }
        let ahead = alice.timestamp
        alice.timestamp = start
        bench.arrive(alice.packet(101, bytes, step: 0, marker: packets == 1), from: alice.address, at: 20_000)
        alice.timestamp = ahead
    }

    private mutating func talk(_ packets: Int, _ payloadType: UInt8 = 8) {
        for _ in 0..<packets {
            bench.arrive(alice.packet(payloadType), from: alice.address, at: 20_000)
            bench.pass(.milliseconds(20))
        }
    }

    /// The headers of what Bob was sent, of which the events must be one key.
    @discardableResult private func expectOneKey(_ packets: Int) throws -> [RTPHeader] {
        let headers = try bench.heard(by: bob.address).map(header), keys = headers.filter { $0.payloadType == 101 }
        #expect(keys.count == packets)
        #expect(Set(keys.map(\.timestamp)).count == 1 && keys[0].marker && !keys.dropFirst().contains(where: \.marker))
        #expect(zip(headers, headers.dropFirst()).allSatisfy { $0.sequence.distance(to: $1.sequence) == 1 })
        return headers
    }

    @Test mutating func `a key over a transcoded bridge is one key, however long nothing is said meanwhile`() throws {
        _ = try bridge([.pcma()], [.pcmu()])
        talk(50)
        let start = alice.timestamp
        for packet in 1...150 {
            press(packet, since: start)
            bench.pass(.milliseconds(20))
        }
        for _ in 0..<3 { press(150, end: true, since: start) }
        try expectOneKey(153)
    }

    @Test mutating func `a key over a transcoded bridge is one key, though sound comes before its last packet`() throws {
        _ = try bridge([.pcma()], [.pcmu()])
        let start = alice.timestamp
        for packet in 1...5 {
            press(packet, end: packet == 5, since: start)
            bench.pass(.milliseconds(20))
        }
        alice.timestamp = start &+ 800
        talk(10)
        press(5, end: true, since: start)
        try expectOneKey(6)
    }

    @Test(arguments: [true, false])
    mutating func `a key beside sound that passes as it is is one key, on a leg that might send other sound`(speaksFirst: Bool) throws {
        _ = try bridge([.opus(), .pcma()], [.pcma()])
        if speaksFirst { talk(10) }
        let start = alice.timestamp
        for packet in 1...20 {
            press(packet, end: packet > 17, since: start)
            talk(1)
        }
        let sound = try expectOneKey(20).filter { $0.payloadType == 8 }
        #expect(!speaksFirst || sound.count { $0.marker } == 1, "its stream is whole")
    }

    // MARK: Those that are sent from here

    private func key(_ characters: String) -> [DTMFDigit] { characters.map { DTMFDigit($0)! } }

    @Test func `keys that wait leave under the number that was agreed on last, and the one that is down stays one`() throws {
        let leg = try bench.open(1, port: 20_000, far: alice.address, keys: [.keys(101, 101)], source: .silence)
        try bench.start(leg)
        try bench.engine.send(key("12"), on: leg, at: bench.now)
        bench.pass(.milliseconds(50))
        let before = try bench.heard(by: alice.address).map(header)
        try bench.update(leg) { $0.audio.telephoneEvents = [.keys(96, 96)] }
        bench.pass(.seconds(2))
        let after = try bench.heard(by: alice.address).map(header)
        #expect(
            before.count + after.count == 20 && before.allSatisfy { $0.payloadType == 101 } && after.allSatisfy { $0.payloadType == 96 })
        #expect(Set((before + after).map(\.timestamp)).count == 2)
    }

    @Test(arguments: [[], [.keys(96, 96, rate: 48_000)]] as [[NegotiatedCodec]])
    func `keys that wait are dropped where their clock was not agreed on again`(events: [NegotiatedCodec]) throws {
        let leg = try bench.open(1, port: 20_000, far: alice.address, keys: [.keys()], source: .silence)
        try bench.start(leg)
        try bench.engine.send(key("12"), on: leg, at: bench.now)
        bench.pass(.milliseconds(50))
        _ = bench.heard(by: alice.address)
        try bench.update(leg) { $0.audio.telephoneEvents = events }
        bench.pass(.seconds(2))
        #expect(bench.heard(by: alice.address).isEmpty && bench.events[leg]?.contains(.digitsSent) != true)
    }

    @Test func `keys as sound are dropped with the codec that they are coded in`() throws {
        let leg = try bench.open(1, port: 20_000, far: alice.address, source: .silence)
        try bench.start(leg)
        try bench.engine.send(key("12"), on: leg, at: bench.now)
        bench.pass(.milliseconds(50))
        #expect(bench.heard(by: alice.address).count == 3)
        try bench.update(leg) { $0.audio.codecs = [.pcma()] }
        bench.pass(.seconds(2))
        #expect(bench.heard(by: alice.address).isEmpty)
    }

    @Test(arguments: [true, false]) mutating func `a key that is down while the stream gives way to another has that one's timestamps`(
        isOurs: Bool
    ) throws {
        let (_, b) = try bridge([.pcma()], [.pcmu()]), start = alice.timestamp
        if isOurs { try bench.engine.send(key("1"), lasting: .milliseconds(400), on: b, at: bench.now) }
        for packet in 1...20 {
            if packet == 10 { try bench.update(b) { $0.audio.codecs = [.opus()] } }
            if !isOurs { press(packet, since: start) }
            bench.pass(.milliseconds(20))
        }
        if !isOurs { for _ in 0..<3 { press(20, end: true, since: start) } }
        bench.pass(.milliseconds(100))
        talk(20)
        let headers = try bench.heard(by: bob.address).map(header), new = headers.filter { $0.ssrc != headers[0].ssrc }
        let keys = new.filter { $0.payloadType == 101 }, sound = try #require(new.first { $0.payloadType == 111 })
        #expect(keys.count >= 12 && Set(keys.map(\.timestamp)).count == 1)
        #expect((1...48_000).contains(sound.timestamp &- keys[0].timestamp))
    }

    @Test mutating func `a key that ends during a hold is not down after it`() throws {
        let a = try bench.open(1, port: 20_000, far: alice.address, codecs: [.pcma()], keys: [.keys()])
        let b = try bench.open(2, port: 20_002, far: bob.address, codecs: [.pcma()])
        try bench.engine.link(a, b, at: bench.now)
        try bench.start(a, b)
        let start = alice.timestamp
        for packet in 1...5 {
            press(packet, since: start)
            bench.pass(.milliseconds(20))
        }
        try bench.update(b) { ($0.audio.sends, $0.audio.remoteHold) = (false, .sendonly) }
        for _ in 0..<3 { press(6, end: true, since: start) }
        bench.pass(.seconds(1))
        _ = bench.heard(by: bob.address)
        try bench.update(b) { ($0.audio.sends, $0.audio.remoteHold) = (true, .none) }
        bench.pass(.seconds(3))
        #expect(bench.heard(by: bob.address).count < 25, "the rest of the key, and not five seconds of it")
    }

    /// As it is without the hold; the far end knows a key that was down by its timestamp.
    @Test(arguments: [true, false]) func `keys wait while the far end does not listen, and none is lost`(asSound: Bool) throws {
        let held = try bench.open(1, port: 20_000, far: alice.address, keys: asSound ? [] : [.keys()], source: .silence)
        let other = try bench.open(2, port: 20_002, far: bob.address, keys: asSound ? [] : [.keys()], source: .silence)
        try bench.start(held, other)
        for leg in [held, other] { try bench.engine.send(key("12"), on: leg, at: bench.now) }
        bench.pass(.milliseconds(50))
        let before = bench.heard(by: alice.address)
        try bench.update(held) { ($0.audio.sends, $0.audio.remoteHold) = (false, .sendonly) }
        bench.pass(.seconds(10))
        #expect(bench.heard(by: alice.address).isEmpty && bench.events[held]?.contains(.digitsSent) != true)
        try bench.update(held) { ($0.audio.sends, $0.audio.remoteHold) = (true, .none) }
        bench.pass(.seconds(2))
        let all = before + bench.heard(by: alice.address), headers = try all.map(header)
        #expect(try all.map(payload) == bench.heard(by: bob.address).map(payload))
        #expect(zip(headers, headers.dropFirst()).allSatisfy { $0.sequence.distance(to: $1.sequence) == 1 })
        #expect(asSound || Set(headers.map(\.timestamp)).count == 2)
        #expect(bench.events[held]?.count { $0 == .digitsSent } == 1)
    }
}
