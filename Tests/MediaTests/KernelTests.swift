import Audio
import Media
import Primitives
import RTP
import Runtime
import SDP
import Synchronization
import Testing

extension RealTime {
    /// The real plane on the loopback of this machine. Nothing here waits for time, only for packets.
    @Suite(.timeLimit(.minutes(30))) struct KernelTests {
        private func plane(_ number: Int, lanes: Int = 2, _ events: EventLog = EventLog()) throws -> MediaLanes {
            try MediaLanes(settings: MediaSettings(ports: portRange(number), lanes: lanes)) { events.append($0, $1) }
        }

        private func plan(_ far: SocketAddress, codecs: [NegotiatedCodec] = [.pcmu()], source: MediaSource, mux: Bool = true) -> MediaPlan {
            let rtcp = mux ? far : SocketAddress(far.address, port: far.port ^ 1)
            let audio = NegotiatedAudio(codecs: codecs, telephoneEvents: [.keys()], remoteRTP: far, remoteRTCP: rtcp, rtcpMux: mux)
            return MediaPlan(localAddress: far.address, audio: audio, source: source)
        }

        @Test(arguments: [(IPAddress.loopback, false), (IPAddress("::1")!, false), (.loopback, true)])
        func `the kernel sees sockets from open to close and at no other time`(address: IPAddress, mux: Bool) throws {
            let plane = try plane(0), far = SocketAddress(address, port: 40_000), v6 = address.family == .v6
            let ports = try plane.reserve(at: MonotonicClock.now)
            let both: Set<UInt16> = mux ? [ports.rtp] : [ports.rtp, ports.rtp + 1]
            func bound() throws -> Set<UInt16> { try boundPorts(v6: v6).intersection([ports.rtp, ports.rtp + 1]) }

            #expect(try bound().isEmpty, "reserving binds nothing")
            #expect(throws: MediaError.unknownLeg(MediaLegID(1))) { try plane.start(MediaLegID(1), at: MonotonicClock.now) }
            let kept = try plane.open(
                MediaLegID(1), reservation: ports, plan: plan(far, source: .silence, mux: mux), near: nil, at: MonotonicClock.now)
            #expect(try bound() == both)
            #expect(kept == (mux ? PortReservation(shared: ports.rtp) : ports), "with RTCP on the port of RTP the other one goes back")
            #expect(plane.counts(at: MonotonicClock.now).ports.open == both.count)
            #expect(throws: MediaError.stillOpen(kept)) { try plane.release(kept, at: MonotonicClock.now) }
            try plane.activate(MediaLegID(1))
            try plane.start(MediaLegID(1), at: MonotonicClock.now)
            #expect(plane.counts(at: MonotonicClock.now).sockets == both.count)
            try plane.stop(MediaLegID(1), at: MonotonicClock.now)
            try plane.deactivate(MediaLegID(1))
            #expect(try bound() == both)
            try plane.close(MediaLegID(1), at: MonotonicClock.now)
            #expect(try bound().isEmpty, "closing unbinds at once")
            try plane.release(kept, at: MonotonicClock.now)
            let counts = plane.counts(at: MonotonicClock.now)
            #expect(counts.isIdle && counts.ports.quarantined == 2)
        }

        @Test func `a port that another program holds is an error, and the reservation can be given up`() throws {
            let plane = try plane(1), far = SocketAddress(.loopback, port: 40_000)
            let ports = try plane.reserve(at: MonotonicClock.now)
            let control = try #require(ports.rtcp)
            let squatter = try FileDescriptorOwner.udp(bound: SocketAddress(.loopback, port: control))
            #expect(throws: MediaError.cannotBind(.addressInUse(.udp, SocketAddress(.loopback, port: control)))) {
                _ = try plane.open(
                    MediaLegID(1), reservation: ports, plan: plan(far, source: .silence, mux: false), near: nil, at: MonotonicClock.now)
            }
            #expect(try boundPorts().contains(ports.rtp) == false)
            #expect(plane.counts(at: MonotonicClock.now).ports.reserved == 2)
            try plane.release(ports, at: MonotonicClock.now)
            #expect(plane.counts(at: MonotonicClock.now).isIdle)
            withExtendedLifetime(squatter.raw) {}
        }

        @Test(arguments: [(NegotiatedCodec.opus(), AudioCodec.opus), (.pcmu(), .pcmu)])
        func `a tone comes at its pace and not one packet after the stop`(codec: NegotiatedCodec, audio: AudioCodec) throws {
            let plane = try plane(codec.codec == .opus ? 2 : 3, lanes: 1), far = try FarSocket(), witness = try FarSocket()
            try open(1, plane, plan(far.address, codecs: [codec], source: .tone(Tone(440))))
            try open(2, plane, plan(witness.address, source: .tone(Tone(440))))
            try plane.start(MediaLegID(1), at: MonotonicClock.now)
            let packets = (0..<25).compactMap { _ in far.receiveRTP() }
            let interval = try plane.stop(MediaLegID(1), at: MonotonicClock.now)
            let rest = far.drain().filter(isRTP)
            #expect(packets.count == 25)
            #expect(interval.packetsSent == UInt64(25 + rest.count))
            let lasted = try #require(interval.lastSent) - #require(interval.firstSent)
            #expect(lasted >= .milliseconds(20 * 24 - 5))
            #expect(detector(of: 440, in: try decode(packets, audio), audio).presence > 0.9)

            try plane.start(MediaLegID(2), at: MonotonicClock.now)   // the lane goes on: half a second of another leg
            #expect((0..<25).allSatisfy { _ in witness.receiveRTP() != nil })
            #expect(far.drain().isEmpty)
            try plane.stop(MediaLegID(2), at: MonotonicClock.now)
        }

        @Test func `echo comes back from where it was sent to, and only to who sent it`() throws {
            let events = EventLog()
            let plane = try plane(4, events), far = try FarSocket(), stranger = try FarSocket()
            let port = try open(1, plane, plan(far.address, codecs: [.opus()], source: .echo))
            try plane.start(MediaLegID(1), at: MonotonicClock.now)
            var end = FarEnd("127.0.0.1", port: far.address.port, ssrc: 9)
            var other = FarEnd("127.0.0.1", port: stranger.address.port, ssrc: 10)
            let sounds = try encoded(sine(48_000, frequency: 700, seconds: 1), .opus)
            var back: [[UInt8]] = []
            for sound in sounds {
                far.send(end.packet(111, sound, step: 960), to: port)
                stranger.send(other.packet(111, sound, step: 960), to: port)
                back.append(try #require(far.receiveRTP()))
            }
            #expect(try back.map(payload) == sounds)
            #expect(try zip(back, back.dropFirst()).allSatisfy { try header($0).sequence.distance(to: header($1).sequence) == 1 })
            #expect(stranger.drain().isEmpty)
            let statistics = try plane.statistics(of: MediaLegID(1), at: MonotonicClock.now)
            #expect(statistics.receiving.packets == 50 && statistics.sending.packets == 50)
            try plane.stop(MediaLegID(1), at: MonotonicClock.now)
            #expect(events.first(MediaLegID(1)).map { if case .firstReceived = $0 { true } else { false } } == true)
        }

        @Test(arguments: [1, 2])
        func `two legs are relayed, also when they were opened on different lanes`(lanes: Int) throws {
            let plane = try plane(4 + lanes, lanes: lanes), alice = try FarSocket(), bob = try FarSocket()
            let a = try open(1, plane, plan(alice.address, source: .relay))
            let b = try open(2, plane, plan(bob.address, source: .relay))
            try plane.start(MediaLegID(2), at: MonotonicClock.now)
            try plane.link(MediaLegID(1), MediaLegID(2), at: MonotonicClock.now)
            try plane.start(MediaLegID(1), at: MonotonicClock.now)
            var (one, two) = (FarEnd("127.0.0.1", port: 1, ssrc: 1), FarEnd("127.0.0.1", port: 2, ssrc: 2))
            for number in 0..<200 {
                let sound = [UInt8](repeating: UInt8(number), count: 160)
                alice.send(one.packet(0, sound), to: a)
                #expect(try payload(#require(bob.receiveRTP())) == sound)
                bob.send(two.packet(0, sound), to: b)
                #expect(try payload(#require(alice.receiveRTP())) == sound)
            }
            for leg in [MediaLegID(1), MediaLegID(2)] {
                let statistics = try plane.statistics(of: leg, at: MonotonicClock.now)
                #expect(statistics.receiving.packets == 200 && statistics.sending.packets == 200 && statistics.refused == RefusedPackets())
                try plane.stop(leg, at: MonotonicClock.now)
                try plane.close(leg, at: MonotonicClock.now)
            }
            #expect(plane.counts(at: MonotonicClock.now).legs == 0)
        }

        @Test func `a moved far end is heard after the re-INVITE, and the old one is not`() throws {
            let plane = try plane(7), old = try FarSocket(), new = try FarSocket()
            let port = try open(1, plane, plan(old.address, source: .echo))
            try plane.start(MediaLegID(1), at: MonotonicClock.now)
            var end = FarEnd("127.0.0.1", port: 1, ssrc: 1)
            old.send(end.packet(0), to: port)
            #expect(old.receiveRTP() != nil)
            try plane.update(MediaLegID(1), plan: plan(new.address, source: .echo), at: MonotonicClock.now)
            new.send(end.packet(0), to: port)
            #expect(new.receiveRTP() != nil)
            old.send(end.packet(0), to: port)
            new.send(end.packet(0), to: port)
            #expect(new.receiveRTP() != nil)
            #expect(old.drain().isEmpty)
            try plane.stop(MediaLegID(1), at: MonotonicClock.now)
        }

        @discardableResult
        private func open(_ id: UInt64, _ plane: MediaLanes, _ plan: MediaPlan) throws -> SocketAddress {
            let ports = try plane.reserve(at: MonotonicClock.now)
            _ = try plane.open(MediaLegID(id), reservation: ports, plan: plan, near: nil, at: MonotonicClock.now)
            try plane.activate(MediaLegID(id))
            return SocketAddress(plan.localAddress, port: ports.rtp)
        }
    }
}

/// Events as they were reported, from any lane.
final class EventLog: Sendable {
    private let entries = Mutex<[(leg: MediaLegID, event: MediaEvent)]>([])

    func append(_ leg: MediaLegID, _ event: MediaEvent) { entries.withLock { $0.append((leg, event)) } }
    func first(_ leg: MediaLegID) -> MediaEvent? { entries.withLock { $0.first { $0.leg == leg }?.event } }
}
