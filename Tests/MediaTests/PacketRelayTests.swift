import Primitives
import RTP
import SDP
import Testing

@testable import Media

/// A relay that passes on packets before the sockets see them changes nothing that anybody can see.
@Suite struct PacketRelayTests {
    private let bench = Bench()
    private let relay = MemoryRelay()
    private var alice = FarEnd("198.51.100.1", port: 4_000, ssrc: 0xA11CE)
    private var bob = FarEnd("198.51.100.2", port: 5_000, ssrc: 0xB0B)

    init() { (bench.engine.packetRelay, bench.network.relay) = (relay, relay) }

    private func bridge() throws -> (a: MediaLegID, b: MediaLegID) {
        let a = try bench.open(1, port: 20_000, far: alice.address, keys: [.keys(101, 101)])
        let b = try bench.open(2, port: 20_002, far: bob.address, codecs: [.pcmu(97, 96)], keys: [.keys(110, 112)])
        try bench.engine.link(a, b, at: bench.now)
        try bench.start(a, b)
        return (a, b)
    }

    /// So many ordinary packets of hers, 20 ms apart.
    private mutating func talk(_ count: Int) {
        for _ in 0..<count {
            bench.arrive(alice.packet(0, Self.sound), from: alice.address, at: 20_000)
            bench.pass(.milliseconds(20))
        }
    }

    private static let sound = (0..<160).map { UInt8($0) }

    @Test mutating func `three packets that go on and one direction is the relay's, the other is not`() throws {
        let (a, b) = try bridge()
        talk(4)
        #expect(relay.count == 1 && relay.passed == 0)
        talk(9)
        #expect(relay.passed == 9)
        let numbers = try bench.heard(by: bob.address).map { try header($0).sequence.rawValue }
        #expect(numbers.map { $0 &- numbers[0] } == Array(0..<13))
        #expect(try bench.statistics(a).receiving.packets == 13)
        #expect(try bench.statistics(b).sending.packets == 13)
        #expect(bench.engine.relayCounts.armed == 1 && bench.engine.relayCounts.armings == 1)
    }

    @Test mutating func `a packet that is not ordinary takes the direction back, and is treated as ever`() throws {
        _ = try bridge()
        talk(5)
        alice.ssrc = 0xA11CF
        talk(1)
        #expect(relay.count == 0 && relay.left == 1)
        #expect(bench.engine.relayCounts.takenForPacket == 1)
        #expect(bench.heard(by: bob.address).count == 6)
        talk(20)
        #expect(relay.count == 0, "it rests for a second")
        talk(40)
        #expect(relay.count == 1)
    }

    @Test mutating func `both hand-overs are told, with the packets that were relayed`() throws {
        let (a, b) = try bridge()
        talk(13)
        #expect(bench.events[a]?.filter(\.isOfRelay) == [.relayArmed(RelayArming(number: 1))])
        try bench.update(b) { $0.source = .silence }
        talk(1)
        #expect(bench.events[a]?.filter(\.isOfRelay).last == .relayTaken(RelayArming(number: 1, packets: 9), .change))
        try bench.update(b) { $0.source = .relay }
        talk(60)
        let interval = try bench.engine.stop(a, at: bench.now)
        #expect(interval.relayed == RelayArming(number: 2, packets: UInt64(relay.passed - 9)) && relay.passed > 11)
        #expect(bench.engine.relayCounts.packets == UInt64(relay.passed))
        #expect(bench.events[b]?.contains(where: \.isOfRelay) != true)
    }

    @Test mutating func `a reading that is less than the one before is no trap`() throws {
        let forgetful = ForgetfulRelay(relay)
        bench.engine.packetRelay = forgetful
        let (a, b) = try bridge()
        talk(10)
        forgetful.remember()
        talk(10)
        #expect(try bench.statistics(a).receiving.packets == 20)
        try bench.update(b) { $0.source = .silence }
        #expect(try bench.statistics(a).receiving.packets == 10 && bench.engine.relayCounts.packets == 16)
    }

    @Test mutating func `a relay that sees no packet is asked less and less often`() throws {
        bench.network.relay = nil
        _ = try bridge()
        talk(50 * 60)
        #expect((5...6).contains(bench.engine.relayCounts.armings), "after 1, 2, 4, 8 … seconds: \(bench.engine.relayCounts)")
        #expect(bench.heard(by: bob.address).count == 50 * 60)
    }

    @Test mutating func `with other ways for packets all directions come back, and go again`() throws {
        _ = try bridge()
        talk(5)
        bench.engine.waysHaveChanged(at: bench.now)
        #expect(relay.count == 0 && bench.engine.relayCounts.takenForChange == 1)
        talk(60)
        #expect(relay.count == 1 && bench.heard(by: bob.address).count == 65)
    }

    @Test mutating func `a stranger does not take it back, and is refused`() throws {
        bench.network.heedsLocks = false
        let (a, _) = try bridge()
        talk(5)
        var mallory = FarEnd("203.0.113.9", port: 666, ssrc: alice.ssrc)
        bench.arrive(mallory.packet(0), from: mallory.address, at: 20_000)
        #expect(relay.count == 1)
        #expect(try bench.statistics(a).refused.stranger == 1)
    }

    @Test mutating func `nothing passes once a leg has stopped`() throws {
        let (a, b) = try bridge()
        talk(5)
        let interval = try bench.engine.stop(b, at: bench.now)
        #expect(relay.count == 0 && bench.engine.relayCounts.takenForStop == 1)
        #expect(interval.packetsSent == 5)
        _ = bench.heard(by: bob.address)
        talk(5)
        #expect(bench.heard(by: bob.address).isEmpty)
        #expect(try bench.statistics(a).refused.noReceiver == 5)
    }

    @Test mutating func `silence, what is made here, recorded or in a conference stays in the engine`() throws {
        let (a, b) = try bridge()
        for _ in 0..<10 {
            bench.arrive(alice.packet(0, Array(repeating: 0xFF, count: 160)), from: alice.address, at: 20_000)
            bench.pass(.milliseconds(20))
        }
        #expect(relay.count == 0, "whether she is heard is not known yet")
        talk(60)
        #expect(relay.count == 1)
        try bench.update(b) { $0.source = .silence }
        talk(60)
        #expect(relay.count == 0)
        try bench.update(b) { $0.source = .relay }
        try bench.update(a) { $0.sink = .record }
        talk(60)
        #expect(relay.count == 0)
    }

    @Test mutating func `a packet in the socket that the relay's would overtake goes first`() throws {
        _ = try bridge()
        talk(4)
        let (waiting, next) = (alice.packet(0, Self.sound), alice.packet(0, Self.sound))
        #expect(relay.count == 1)
        // One waits in the socket already when the direction is armed; the next comes to the relay.
        let socket = bench.network.put(waiting, from: alice.address, to: bench.address(20_000))
        bench.arrive(next, from: alice.address, at: 20_000)
        #expect(socket?.inbox.isEmpty == true)
        let numbers = try bench.heard(by: bob.address).map { try header($0).sequence.rawValue }
        #expect(numbers.map { $0 &- numbers[0] } == Array(0..<6))
        #expect(relay.passed == 0)
    }

    @Test mutating func `a far end that sends ten times what was agreed is cut, in the relay, and back from it`() throws {
        let (a, b) = try bridge()
        talk(4)
        bench.pass(.seconds(1))
        for _ in 0..<600 { bench.arrive(alice.packet(0, Self.sound), from: alice.address, at: 20_000) }
        #expect(relay.passed == 500 && relay.count == 1)
        var statistics = try bench.statistics(a)
        #expect(statistics.refused.overRate == 100 && statistics.receiving.packets == 504)
        #expect(bench.engine.relayCounts.dropped.overRate == 100)
        #expect(try bench.statistics(a).refused.overRate == 100, "none is counted twice")
        // The second is not over when the direction comes back.
        try bench.update(b) { $0.audio.ptime = 30 }
        bench.arrive(alice.packet(0, Self.sound), from: alice.address, at: 20_000)
        #expect(bench.events[a]?.filter(\.isOfRelay).last == .relayTaken(RelayArming(number: 1, packets: 500, dropped: 100), .change))
        statistics = try bench.statistics(a)
        #expect(statistics.refused.overRate == 101 && statistics.receiving.packets == 504)
        _ = bench.heard(by: bob.address)
        bench.pass(.seconds(1))
        talk(10)
        #expect(bench.heard(by: bob.address).count == 10)
        #expect(try bench.statistics(a).refused.overRate == 101)
    }

    @Test func `the limit is ten times the packets that were agreed, and no less than those of 20 ms`() {
        #expect([10, 20, 30, 60, 120].map(PacketRate.limit) == [1_000, 500, 500, 500, 500])
        #expect([0, 5].map(PacketRate.limit) == [1_000, 1_000])
        var rate = PacketRate()
        #expect((0..<2_000).allSatisfy { _ in rate.admits(.zero) }, "no limit, until one is set")
    }

    @Test(arguments: [20, 10]) mutating func `speech that a network held up for 700 ms is not cut, whichever length`(milliseconds: Int)
        throws
    {
        let (a, b) = try bridge()
        for leg in [a, b] { try bench.update(leg) { $0.audio.ptime = milliseconds } }
        for _ in 0..<20 {
            for _ in 0..<(700 / milliseconds) { bench.arrive(alice.packet(0, Self.sound), from: alice.address, at: 20_000) }
            for _ in 0..<3 { bench.arrive(alice.packet(101, [5, 0x80, 3, 0x20], step: 0), from: alice.address, at: 20_000) }
            bench.pass(.milliseconds(700))
        }
        #expect(try bench.statistics(a).refused.overRate == 0 && bench.engine.relayCounts.dropped.total == 0)
    }

    @Test(arguments: 1...40) func `far ends and figures cannot tell whether a relay was there`(seed: UInt64) throws {
        let with = try Random(seed: seed, hasRelay: true).play(), without = try Random(seed: seed, hasRelay: false).play()
        #expect(with.passed > 0 && (with.cut > 0) == Random.hasFloods(seed), "seed \(seed)")
        let difference = zip(with.log, without.log).first { $0 != $1 }
        #expect(difference == nil && with.log.count == without.log.count, "seed \(seed): \(difference as Any)")
    }
}

/// Two far ends that do all that far ends do, and a call that changes under them.
private final class Random {
    private let bench = Bench()
    private let relay: MemoryRelay?
    private var random: SeededRandom
    private var ends = [FarEnd("198.51.100.1", port: 4_000, ssrc: 0xA11CE), FarEnd("198.51.100.2", port: 5_000, ssrc: 0xB0B)]
    private var log: [String] = []
    private let ports: [UInt16] = [20_000, 20_002]
    private let legs = [MediaLegID(1), MediaLegID(2)]
    private var kept: [UInt8] = []
    private let hasFloods: Bool

    /// Not all: they take long.
    static func hasFloods(_ seed: UInt64) -> Bool { seed % 4 < 1 }

    init(seed: UInt64, hasRelay: Bool) throws {
        (random, hasFloods) = (SeededRandom(seed: seed), Self.hasFloods(seed))
        relay = hasRelay ? MemoryRelay() : nil
        (bench.engine.packetRelay, bench.network.relay) = (relay, relay)
        try bench.open(
            1, port: ports[0], far: ends[0].address, codecs: [.pcmu(), .pcma()], keys: [.keys(101, 101)], silenceLimit: .seconds(3))
        let codecs: [NegotiatedCodec] = seed % 2 == 0 ? [.pcmu(97, 96), .pcma()] : [.pcmu(97, 96)]   // PCMA is passed on, or transcoded
        try bench.open(2, port: ports[1], far: ends[1].address, codecs: codecs, keys: [.keys(110, 112)], mux: false)
        try bench.engine.link(legs[0], legs[1], at: bench.now)
        try bench.start(legs[0], legs[1])
    }

    /// As many packets as a far end may send in a second, or more.
    private func flood(_ side: Int) {
        for _ in 0..<Int.random(in: 400...700, using: &random) { say(side, step: 1, octets: 1) }
    }

    func play() throws -> (log: [String], passed: Int, cut: UInt64) {
        for _ in 0..<150 {
            try act(Int.random(in: 0..<24, using: &random))
            for _ in 0..<Int.random(in: 0...30, using: &random) {
                say(0, step: 1)
                say(1, step: 1)
                bench.pass(.milliseconds(20))
            }
            note()
        }
        return (log, relay?.passed ?? 0, try legs.reduce(0) { $0 + (try bench.engine.statistics(of: $1, at: bench.now).refused.overRate) })
    }

    private func act(_ choice: Int) throws {
        let side = Int.random(in: 0...1, using: &random), leg = legs[side]
        switch choice {
        case 0: say(side, step: UInt16.random(in: 2...40, using: &random))
        case 1: say(side, step: UInt16.random(in: 90...4_000, using: &random))
        case 2: arrive(kept, side)
        case 3: ends[side].ssrc = UInt32.random(in: 1 ... .max, using: &random)
        case 4: ends[side].timestamp &+= UInt32.random(in: 0 ... .max, using: &random)
        case 5: arrive(ends[side].packet(UInt8.random(in: 0..<128, using: &random)), side)
        case 6: arrive(Array((0..<40).map { _ in UInt8.random(in: 0...255, using: &random) }), side)
        case 7: ends[side].sequence &-= UInt16.random(in: 1...120, using: &random)
        case 8: for _ in 0..<4 { arrive(ends[side].packet(side == 0 ? 101 : 110, [5, 10, 0, 160], step: 0), side) }
        case 9: try? bench.engine.send([DTMFDigit("7")!], on: leg, at: bench.now)
        case 10:
            try bench.engine.stop(leg, at: bench.now)
            bench.pass(.milliseconds(100))
            try bench.engine.start(leg, at: bench.now)
        case 11:
            try bench.update(leg) { ($0.audio.sends, $0.audio.remoteHold) = (false, .sendonly) }
            say(1 - side, step: 1)
            try bench.update(leg) { ($0.audio.sends, $0.audio.remoteHold) = (true, .none) }
        case 12: bench.pass(.seconds(Int64.random(in: 1...7, using: &random)))
        case 13:
            try bench.engine.unlink(leg)
            say(side, step: 1)
            try bench.engine.link(legs[0], legs[1], at: bench.now)
        case 14: try bench.update(leg) { $0.source = $0.source == .relay ? .echo : .relay }
        case 15: move(side)
        case 16: arrive(ends[side].packet(8), side)
        case 17: report(side)
        case 18: arrive(ends[side].packet(side == 0 ? 0 : 97, marker: true), side)
        case 19 where hasFloods: flood(side)
        default: break
        }
    }

    /// The far end is behind a NAT that gave it another port, and says so.
    private func move(_ side: Int) {
        let host = "198.51.100.\(side + 1)", old = ends[side]
        ends[side] = FarEnd(host, port: UInt16.random(in: 4_000...9_000, using: &random), ssrc: old.ssrc)
        (ends[side].sequence, ends[side].timestamp) = (old.sequence, old.timestamp)
        let address = ends[side].address
        try? bench.update(legs[side]) { $0.audio.remoteRTP = address }
    }

    private func report(_ side: Int) {
        var session = RTCPSession(ssrc: ends[side].ssrc, cname: "far", clockRate: 8_000, seed: 1, at: .zero)
        arrive(session.goodbye(at: bench.now), side)
    }

    private func say(_ side: Int, step: UInt16, octets: Int = 160) {
        ends[side].sequence &+= step &- 1
        let packet = ends[side].packet(side == 0 ? 0 : 97, (0..<octets).map { _ in UInt8.random(in: 0...255, using: &random) })
        kept = packet
        arrive(packet, side)
    }

    private func arrive(_ bytes: [UInt8], _ side: Int) {
        guard !bytes.isEmpty else { return }
        bench.arrive(bytes, from: ends[side].address, at: ports[side])
    }

    private func note() {
        for packet in bench.network.sent { log.append("\(packet.from) \(packet.to) \(packet.bytes)") }
        bench.network.sent = []
        for leg in legs { log.append("\((try? bench.engine.statistics(of: leg, at: bench.now)) as Any)") }
        // The hand-overs themselves are no more than news.
        let events = bench.events.mapValues { $0.filter { !$0.isOfRelay } }.filter { !$0.value.isEmpty }
        log.append("\(events.sorted { $0.key.description < $1.key.description })")
        bench.events = [:]
    }
}

/// Gives back a direction as it was some time before its end.
private final class ForgetfulRelay: PacketRelay {
    private let relay: MemoryRelay
    private var route: RelayRoute?, remembered: RelayedDirection?

    init(_ relay: MemoryRelay) { self.relay = relay }

    func remember() { remembered = route.flatMap(relay.read) }

    func arm(_ route: RelayRoute, _ stream: RelayedDirection) -> Bool {
        self.route = route
        return relay.arm(route, stream)
    }

    func read(_ route: RelayRoute) -> RelayedDirection? { relay.read(route) }

    func disarm(_ route: RelayRoute) -> RelayedDirection? {
        let now = relay.disarm(route)
        return remembered ?? now
    }
}

extension MediaEvent {
    fileprivate var isOfRelay: Bool {
        switch self {
        case .relayArmed, .relayTaken: true
        default: false
        }
    }
}
