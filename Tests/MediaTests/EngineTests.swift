import Audio
import Media
import Primitives
import RTP
import Runtime
import SDP
import Testing

@Suite struct EngineTests {
    private let bench = Bench()
    private var far = FarEnd("198.51.100.1", port: 4_000, ssrc: 0xFA2)

    @Test func `sockets are there from open to close and at no other time`() throws {
        #expect(bench.network.bound.isEmpty)
        let leg = try bench.open(1, port: 20_000, far: far.address, mux: false)
        #expect(bench.network.bound == ["192.0.2.1:20000", "192.0.2.1:20001"])
        let other = try bench.open(2, port: 20_002, far: far.address, mux: true)
        #expect(bench.network.bound == ["192.0.2.1:20000", "192.0.2.1:20001", "192.0.2.1:20002"])
        try bench.start(leg)
        try bench.engine.stop(leg, at: bench.now)
        try bench.engine.close(leg)
        #expect(bench.network.bound == ["192.0.2.1:20002"])
        try bench.engine.close(other)
        #expect(bench.network.bound.isEmpty)
    }

    @Test(arguments: [0, 1])
    func `when a port cannot be bound nothing stays bound and the leg is unknown`(failing: Int) throws {
        bench.network.failing = [failing]
        let address = bench.address(UInt16(20_000 + failing))
        #expect(throws: MediaError.cannotBind(.addressInUse(.udp, address))) {
            try bench.open(1, port: 20_000, far: far.address, mux: false)
        }
        #expect(bench.network.bound.isEmpty)
        #expect(throws: MediaError.unknownLeg(MediaLegID(1))) { try bench.engine.start(MediaLegID(1), at: bench.now) }
        try bench.open(1, port: 20_000, far: far.address, mux: false)
    }

    @Test func `steps out of order are thrown and change nothing`() throws {
        let leg = MediaLegID(1)
        let audio = NegotiatedAudio(codecs: [.pcmu()], remoteRTP: far.address, rtcpMux: true)
        let plan = MediaPlan(localAddress: Bench.host, audio: audio, source: .silence)
        try bench.engine.open(leg, reservation: PortReservation(rtp: 20_000), plan: plan, at: bench.now)
        #expect(throws: MediaError.knownLeg(leg)) {
            try bench.engine.open(leg, reservation: PortReservation(rtp: 20_002), plan: plan, at: bench.now)
        }
        #expect(throws: MediaError.outOfOrder(.start, in: .opened)) { try bench.engine.start(leg, at: bench.now) }
        #expect(throws: MediaError.outOfOrder(.stop, in: .opened)) { try bench.engine.stop(leg, at: bench.now) }
        try bench.engine.activate(leg)
        try bench.engine.start(leg, at: bench.now)
        #expect(throws: MediaError.outOfOrder(.close, in: .started)) { try bench.engine.close(leg) }
        #expect(throws: MediaError.outOfOrder(.deactivate, in: .started)) { try bench.engine.deactivate(leg) }
        #expect(bench.network.bound.count == 1)
        try bench.engine.stop(leg, at: bench.now)
        try bench.engine.deactivate(leg)
        try bench.engine.close(leg)
        #expect(throws: MediaError.unknownLeg(leg)) { try bench.engine.close(leg) }
    }

    @Test(arguments: [true, false])
    func `two ends report to each other what really happened`(mux: Bool) throws {
        let (near, away) = (bench.address(20_000), bench.address(20_002))
        let a = try bench.open(1, port: 20_000, far: away, source: .tone(.dial), mux: mux)
        let b = try bench.open(2, port: 20_002, far: near, source: .silence, mux: mux)
        try bench.start(a, b)
        var wire: [(due: Instant, datagram: VirtualNetwork.Sent)] = []
        var packets = 0, dropped = 0, reports = 0
        for _ in 0..<10_000 {
            for datagram in bench.network.sent {
                packets += isRTP(datagram.bytes) ? 1 : 0
                reports += isRTP(datagram.bytes) ? 0 : 1
                let loses = isRTP(datagram.bytes) && packets % 30 == 7
                dropped += loses ? 1 : 0
                if !loses { wire.append((bench.now + .milliseconds(30), datagram)) }
            }
            bench.network.sent = []
            while let first = wire.first, first.due <= bench.now {
                wire.removeFirst()
                let delivered = bench.network.deliver(
                    first.datagram.bytes, from: first.datagram.from, to: first.datagram.to, bench.engine, at: bench.now)
                #expect(delivered)
            }
            bench.pass(.milliseconds(2))
        }
        let (sender, receiver) = (try bench.statistics(a), try bench.statistics(b))
        #expect(dropped > 5)
        #expect(receiver.receiving.lost == UInt64(dropped))
        #expect(
            sender.sending.packets == receiver.receiving.packets + UInt64(dropped)
                + UInt64(wire.count { isRTP($0.datagram.bytes) } + bench.network.sent.count))
        let trip = try #require(sender.roundTrip)
        #expect((58...62).contains(trip.wholeMilliseconds))
        #expect(try #require(sender.sending.lost) > 0)
        #expect(try #require(receiver.receiving.jitter) < 1.5)
        #expect(reports >= 4 && reports <= 20)
        #expect(sender.refused == RefusedPackets() && receiver.refused == RefusedPackets())
    }

    @Test mutating func `RTCP before the start is dropped and latches nobody`() throws {
        let leg = try bench.open(1, port: 20_000, far: far.address, source: .tone(.dial))
        var sender = RTCPSession(ssrc: 7, cname: "x", clockRate: 8_000, seed: 1, at: bench.now)
        let stranger = SocketAddress("203.0.113.9:9999")!
        bench.arrive(sender.goodbye(at: bench.now), from: stranger, at: 20_000)
        #expect(try bench.statistics(leg).refused.notStarted == 1)
        try bench.start(leg)
        bench.pass(.milliseconds(10))
        #expect(bench.network.take(to: stranger).isEmpty)
        #expect(bench.heard(by: far.address).count == 1)
    }

    @Test mutating func `a stranger that was faster has to give way, however late the far end comes`() throws {
        let leg = try bench.open(1, port: 20_000, far: far.address, source: .tone(.dial))
        var stranger = FarEnd("203.0.113.9", port: 9_999, ssrc: 66)
        try bench.start(leg)
        bench.arrive(stranger.packet(0), from: stranger.address, at: 20_000)
        _ = bench.heard(by: far.address)
        bench.pass(.seconds(30))
        #expect(!bench.heard(by: stranger.address).isEmpty && bench.heard(by: far.address).isEmpty)
        bench.arrive(far.packet(0), from: far.address, at: 20_000)
        bench.arrive(stranger.packet(0), from: stranger.address, at: 20_000)
        bench.pass(.seconds(1))
        #expect(bench.heard(by: stranger.address).isEmpty && bench.heard(by: far.address).count > 40)
    }

    /// Its description names an address from behind a NAT, which forgets it while nothing is sent.
    @Test(arguments: [true, false]) mutating func `after a hold a far end may come from another port, and during one nobody may`(
        isOurs: Bool
    ) throws {
        let leg = try bench.open(1, port: 20_000, far: far.address, source: .tone(.dial))
        let before = SocketAddress("203.0.113.9:30000")!, after = SocketAddress("203.0.113.9:41111")!,
            stranger = SocketAddress("203.0.113.66:5")!
        var other = FarEnd("203.0.113.66", port: 5, ssrc: 66)
        try bench.start(leg)
        bench.arrive(far.packet(0), from: before, at: 20_000)
        try bench.update(leg) { $0.silenceLimit = .seconds(60) }
        bench.arrive(other.packet(0), from: stranger, at: 20_000)
        #expect(try bench.statistics(leg).refused.stranger == 1, "an update is no hold")

        if isOurs {
            try bench.engine.stop(leg, at: bench.now)
        } else {
            try bench.update(leg) { ($0.audio.remoteHold, $0.audio.receives) = (.inactive, false) }
        }
        bench.pass(.seconds(300))
        var control = RTCPSession(ssrc: 7, cname: "x", clockRate: 8_000, seed: 1, at: bench.now)
        bench.arrive(control.goodbye(at: bench.now), from: stranger, at: 20_000)
        bench.arrive(other.packet(0), from: stranger, at: 20_000)
        if isOurs { try bench.start(leg) } else { try bench.update(leg) { ($0.audio.remoteHold, $0.audio.receives) = (.none, true) } }
        bench.network.sent = []
        bench.pass(.milliseconds(100))
        #expect(bench.heard(by: before).count >= 5, "it may still be there")

        bench.arrive(far.packet(0), from: after, at: 20_000)
        bench.arrive(other.packet(0), from: stranger, at: 20_000)
        bench.network.sent = []
        bench.pass(.milliseconds(100))
        #expect(bench.heard(by: after).count == 5 && bench.network.sent.isEmpty)
        bench.arrive(far.packet(0), from: far.address, at: 20_000)
        bench.pass(.milliseconds(100))
        #expect(bench.heard(by: far.address).count == 5, "where it said that it is, however late")
    }

    @Test(arguments: [true, false]) mutating func `a far end that moved while it was held is sent to where it moved`(isOurs: Bool) throws {
        let leg = try bench.open(1, port: 20_000, far: far.address, source: .tone(.dial)), moved = SocketAddress("203.0.113.77:7000")!
        try bench.start(leg)
        bench.arrive(far.packet(0), from: far.address, at: 20_000)
        if isOurs {
            try bench.engine.stop(leg, at: bench.now)
            try bench.update(leg) { $0.audio.remoteRTP = moved }
            try bench.start(leg)
        } else {
            try bench.update(leg) { ($0.audio.remoteRTP, $0.audio.remoteHold, $0.audio.receives) = (moved, .inactive, false) }
            try bench.update(leg) { ($0.audio.remoteHold, $0.audio.receives) = (.none, true) }
        }
        bench.network.sent = []
        bench.pass(.milliseconds(100))
        #expect(bench.heard(by: moved).count >= 5 && bench.heard(by: far.address).isEmpty)
    }

    @Test mutating func `a far end that was locked to hears and is heard from its new port after a hold`() throws {
        let leg = try bench.open(1, port: 20_000, far: far.address, source: .tone(.dial)),
            after = SocketAddress(far.address.address, port: 41_111)
        try bench.start(leg)
        bench.arrive(far.packet(0), from: far.address, at: 20_000)
        try bench.engine.stop(leg, at: bench.now)
        try bench.start(leg)
        bench.arrive(far.packet(0), from: after, at: 20_000)
        bench.network.sent = []
        bench.pass(.milliseconds(100))
        #expect(bench.heard(by: after).count == 5)
    }

    @Test mutating func `reports come from another port after a hold, too`() throws {
        let leg = try bench.open(1, port: 20_000, far: far.address, source: .tone(.dial), mux: false)
        let (voice, reports) = (
            SocketAddress("203.0.113.9:30000")!, [SocketAddress("203.0.113.9:30001")!, SocketAddress("203.0.113.9:41112")!]
        )
        var control = RTCPSession(ssrc: 7, cname: "x", clockRate: 8_000, seed: 1, at: bench.now)
        for remote in reports {
            try bench.start(leg)
            bench.arrive(far.packet(0), from: voice, at: 20_000)
            bench.arrive(control.goodbye(at: bench.now), from: remote, at: 20_001)
            bench.network.sent = []
            bench.pass(.seconds(12))
            #expect(!bench.network.take(to: remote).isEmpty)
            try bench.engine.stop(leg, at: bench.now)
        }
        #expect(try bench.statistics(leg).refused.stranger == 0)
    }

    /// A peer that does not multiplex any more is told to send its reports to the port of RTP (RFC 3605): there is no other.
    @Test mutating func `reports from a port of their own to the one of RTP are heard, and sound does not follow them`() throws {
        let leg = try bench.open(1, port: 20_000, far: far.address, source: .tone(.dial))
        let control = SocketAddress(far.address.address, port: far.address.port + 1), stranger = SocketAddress("203.0.113.9:9999")!
        var session = RTCPSession(ssrc: far.ssrc, cname: "x", clockRate: 8_000, seed: 1, at: bench.now)
        try bench.start(leg)
        bench.arrive(far.packet(0), from: far.address, at: 20_000)
        try bench.update(leg) { ($0.audio.rtcpMux, $0.audio.remoteRTCP) = (false, control) }
        for _ in 0..<2 {
            bench.network.sent = []
            bench.arrive(session.goodbye(at: bench.now), from: control, at: 20_000)
            bench.arrive(session.goodbye(at: bench.now), from: stranger, at: 20_000)
            bench.pass(.milliseconds(100))
            #expect(bench.network.take(to: control).filter(isRTP).isEmpty)
            let heard = bench.heard(by: far.address)
            #expect(heard.count >= 5)
            for packet in heard { session.receiver.receive(try header(packet), at: bench.now) }
            bench.arrive(far.packet(0), from: far.address, at: 20_000)
        }
        #expect(try bench.statistics(leg).sending.lost != nil, "what it reported came")
        bench.network.heedsLocks = false
        bench.arrive(session.goodbye(at: bench.now), from: stranger, at: 20_000)
        #expect(try bench.statistics(leg).refused.stranger >= 2)
    }

    /// Comfort noise that was not agreed on, or what keeps a NAT open (RFC 6263 §4.6).
    @Test(arguments: [true, false])
    mutating func `packets of an unknown payload type are no loss and no silence where they come from the far end`(receives: Bool) throws {
        let leg = try bench.open(1, port: 20_000, far: far.address, source: .silence, silenceLimit: .seconds(3))
        var stranger = FarEnd("203.0.113.9", port: 9_999, ssrc: 66)
        try bench.start(leg)
        bench.arrive(far.packet(13, [40]), from: far.address, at: 20_000)
        bench.arrive(far.packet(0), from: far.address, at: 20_000)
        try bench.update(leg) { $0.audio.receives = receives }
        for _ in 0..<10 {
            bench.pass(.seconds(2))
            bench.arrive(far.packet(13, [40]), from: far.address, at: 20_000)
        }
        try bench.update(leg) { $0.audio.receives = true }
        bench.arrive(far.packet(0), from: far.address, at: 20_000)
        let statistics = try bench.statistics(leg)
        #expect(
            statistics.receiving.lost == 0 && statistics.receiving.packets == 2 && statistics.refused.payloadType == (receives ? 11 : 1))
        #expect(bench.events[leg]?.contains(.silent) != true)
        bench.pass(.seconds(2))
        bench.network.heedsLocks = false
        bench.arrive(stranger.packet(13, [40]), from: stranger.address, at: 20_000)
        bench.pass(.seconds(2))
        #expect(bench.events[leg]?.contains(.silent) == true, "nobody else speaks for it")
    }

    @Test(arguments: [(NegotiatedCodec.opus(), NegotiatedCodec.pcmu()), (.pcmu(), .opus())])
    mutating func `jitter is that of the codec that comes, whatever is sent`(ours: NegotiatedCodec, theirs: NegotiatedCodec) throws {
        let leg = try bench.open(1, port: 20_000, far: far.address, codecs: [ours, theirs], source: .silence)
        try bench.start(leg)
        for _ in 0..<200 {
            bench.arrive(far.packet(theirs.receivePayloadType, step: theirs.codec.clockRate / 50), from: far.address, at: 20_000)
            bench.pass(.milliseconds(20))
        }
        #expect(try #require(bench.statistics(leg).receiving.jitter) < 0.1)
    }

    @Test mutating func `silence is told once, and again only after sound`() throws {
        let leg = try bench.open(1, port: 20_000, far: far.address, source: .silence, silenceLimit: .seconds(10))
        try bench.start(leg)
        bench.pass(.milliseconds(9_990))
        #expect(bench.events[leg]?.contains(.silent) != true)
        bench.pass(.seconds(60))
        #expect(bench.events[leg]?.count { $0 == .silent } == 1)
        bench.arrive(far.packet(0), from: far.address, at: 20_000)
        bench.pass(.seconds(60))
        #expect(bench.events[leg]?.count { $0 == .silent } == 2)
    }

    @Test mutating func `silence is told when its time has passed since the last packet, not up to twice that`() throws {
        let leg = try bench.open(1, port: 20_000, far: far.address, source: .silence, silenceLimit: .seconds(3))
        try bench.start(leg)
        bench.pass(.seconds(1))
        bench.arrive(far.packet(0), from: far.address, at: 20_000)
        bench.pass(.milliseconds(2_990))
        #expect(bench.events[leg]?.contains(.silent) != true)
        bench.pass(.milliseconds(20))
        #expect(bench.events[leg]?.contains(.silent) == true)
    }

    @Test mutating func `who says nothing but reports is there`() throws {
        let leg = try bench.open(1, port: 20_000, far: far.address, source: .silence, silenceLimit: .seconds(12))
        var session = RTCPSession(ssrc: far.ssrc, cname: "muted", clockRate: 8_000, seed: 1, at: bench.now)
        try bench.start(leg)
        bench.arrive(far.packet(0), from: far.address, at: 20_000)
        for _ in 0..<5 {
            bench.pass(.seconds(10))
            let report = session.advance(to: bench.now)
            bench.arrive(try #require(report), from: far.address, at: 20_000)
        }
        #expect(bench.events[leg]?.contains(.silent) != true)
        bench.pass(.milliseconds(11_990))
        bench.arrive([0x80, 201], from: far.address, at: 20_000)
        bench.pass(.milliseconds(20))
        #expect(bench.events[leg]?.contains(.silent) == true, "what is no report says nothing")
    }

    @Test func `no silence is told of a far end that holds`() throws {
        let leg = try bench.open(1, port: 20_000, far: far.address, source: .silence, silenceLimit: .seconds(10))
        try bench.start(leg)
        try bench.update(leg) { ($0.audio.remoteHold, $0.audio.receives) = (.inactive, false) }
        bench.pass(.seconds(60))
        #expect(bench.events[leg]?.contains(.silent) != true)
    }

    @Test func `nothing at all goes to a far end without an address`() throws {
        let leg = try bench.open(1, port: 20_000, far: far.address, source: .tone(.dial))
        try bench.start(leg)
        bench.pass(.milliseconds(50))
        #expect(bench.network.take(to: far.address).count == 3)
        try bench.update(leg) {
            $0.audio.remoteHold = .zeroAddress
            $0.audio.remoteRTP = SocketAddress(.anyV4, port: 4_000)
            $0.audio.remoteRTCP = nil
        }
        bench.pass(.seconds(20))
        #expect(bench.network.sent.isEmpty)
    }

    /// As another source: the timestamps and reports of one are of one clock (RFC 7160 §4.1).
    @Test mutating func `the codec can change in the middle, with its clock`() throws {
        let leg = try bench.open(1, port: 20_000, far: far.address, source: .tone(.dial))
        try bench.start(leg)
        bench.pass(.milliseconds(90))
        let before = try #require(bench.heard(by: far.address).map(header).last)
        try bench.update(leg) { $0.audio.codecs = [.opus()] }
        bench.pass(.milliseconds(100))
        let after = try bench.heard(by: far.address).map(header)
        #expect(after.count == 5 && after.allSatisfy { $0.payloadType == 111 && $0.ssrc == after[0].ssrc })
        #expect(after[1].timestamp &- after[0].timestamp == 960)
        #expect(after[0].ssrc != before.ssrc && after[0].marker && !after[1].marker)
        #expect(zip(after, after.dropFirst()).allSatisfy { $0.sequence.distance(to: $1.sequence) == 1 })
        #expect(try bench.statistics(leg).sending.packets == 10)
        try bench.engine.stop(leg, ending: true, at: bench.now)
        let report = try #require(bench.network.take(to: far.address).last { !isRTP($0) })
        guard case .senderReport(let source, let info, _)? = try report.withUnsafeBytes({ try RTCPPacket.parse($0) }).first else {
            return #expect(Bool(false), "no sender report")
        }
        #expect(source == after[0].ssrc && info.packets == 5)
    }

    @Test func `a token of a leg that is gone reaches no other`() throws {
        let old = try bench.open(1, port: 20_000, far: far.address, source: .echo)
        let token = try #require(bench.network.sockets[bench.address(20_000)]?.token)
        try bench.engine.close(old)
        let new = try bench.open(2, port: 20_000, far: far.address, source: .echo)
        try bench.start(new)
        bench.engine.ready(token, at: bench.now)
        bench.engine.ready(.max >> 1, at: bench.now)
        #expect(try bench.statistics(new).refused.total == 0)
        #expect(bench.network.sockets[bench.address(20_000)]?.token != token)
    }

    /// Every byte of it is the peer's: nothing here may trap, and what is not refused must be a packet.
    @Test(arguments: 1...3 as ClosedRange<UInt64>)
    mutating func `hostile datagrams are counted and harm nothing`(seed: UInt64) throws {
        var chance = SeededRandom(seed: seed)
        let a = try bench.open(
            1, port: 20_000, far: far.address, codecs: [.opus(), .g722(), .pcmu()], keys: [.keys()], sink: .record, mux: false)
        let b = try bench.open(2, port: 20_002, far: far.address, codecs: [.opus(), .g722(), .pcmu()], keys: [.keys()])
        try bench.engine.link(a, b, at: bench.now)
        try bench.start(a, b)
        var delivered: UInt64 = 0, control: UInt64 = 0
        for _ in 0..<1_500 {
            var bytes = far.packet(
                [0, 9, 111, 101].randomElement(using: &chance)!,
                (0..<Int.random(in: 0...200, using: &chance)).map { _ in .random(in: 0...255, using: &chance) })
            for _ in 0..<Int.random(in: 0...4, using: &chance) where !bytes.isEmpty {
                bytes[Int.random(in: 0..<min(bytes.count, 20), using: &chance)] = .random(in: 0...255, using: &chance)
            }
            bytes = Array(bytes.prefix(Int.random(in: 0...bytes.count, using: &chance)))
            if Int.random(in: 0..<500, using: &chance) == 0 { bytes += Array(repeating: 0x80, count: 3_000) }
            let toControl = Int.random(in: 0..<5, using: &chance) == 0
            if toControl { control += 1 } else { delivered += 1 }
            bench.arrive(bytes, from: far.address, at: toControl ? 20_001 : 20_000)
            bench.pass(.milliseconds(5))
        }
        let statistics = try bench.statistics(a), refused = statistics.refused
        #expect(refused.malformed > 100 && refused.payloadType > 10 && statistics.receiving.packets > 100)
        #expect(statistics.receiving.packets <= delivered && refused.total <= 2 * (delivered + control))
        #expect(try bench.statistics(b).sending.packets > 100)
    }
}
