import Dispatch
import Media
import Primitives
import RTP
import Runtime
import SDP
import Synchronization
import Testing

extension RealTime {
    /// A bridge on a media lane's own sockets, whose packets the kernel relays on loopback.
    @Suite(.serialized, .enabled(if: Permission.attaches, "the kernel does not let this process put the program before loopback"))
    struct LaneTests {
        /// The events of the legs.
        private final class News: Sendable {
            private let all = Mutex<[(leg: MediaLegID, event: MediaEvent)]>([])
            private let came = DispatchSemaphore(value: 0)

            func add(_ leg: MediaLegID, _ event: MediaEvent) {
                all.withLock { $0.append((leg, event)) }
                came.signal()
            }

            /// Waits for an event that fits; nil after ten seconds, whatever else there is to say meanwhile.
            func first<Found>(of leg: MediaLegID, _ find: (MediaEvent) -> Found?) -> Found? {
                let end = DispatchTime.now() + .seconds(10)
                while true {
                    let said = all.withLock { $0 }
                    for (_, event) in said.filter({ $0.leg == leg }) { if let found = find(event) { return found } }
                    if came.wait(timeout: end) == .timedOut { return nil }
                }
            }
        }

        /// Two legs that relay PCMU to each other, and their far ends.
        private struct Bridge {
            let news = News(), plane: MediaLanes, alice: End, bob: End
            let a = MediaLegID(1), b = MediaLegID(2)
            var portOfA: UInt16 = 0, portOfB: UInt16 = 0, sequence: UInt16 = 65_530, timestamp: UInt32 = 0

            init(_ device: KernelRelayDevice?) throws {
                let news = news
                plane = try MediaLanes(settings: MediaSettings(ports: 30_100...30_499, lanes: 1, batch: .immediate), relay: device) {
                    news.add($0, $1)
                }
                (alice, bob) = (try End.onLoopback(), try End.onLoopback())
                (portOfA, portOfB) = (try open(a, to: alice), try open(b, to: bob))
                try plane.link(a, b, at: MonotonicClock.now)
            }

            private func open(_ leg: MediaLegID, to end: End) throws -> UInt16 {
                let codec = NegotiatedCodec(codec: .pcmu, receivePayloadType: 0, sendPayloadType: 0)
                let keys = NegotiatedCodec(codec: .telephoneEvent(8_000), receivePayloadType: 101, sendPayloadType: 101)
                let audio = NegotiatedAudio(
                    codecs: [codec], telephoneEvents: [keys], remoteRTP: end.address, remoteRTCP: end.address, rtcpMux: true)
                let now = MonotonicClock.now, reservation = try plane.reserve(.one, at: now)
                let opened = try plane.open(
                    leg, reservation: reservation, plan: MediaPlan(localAddress: .loopback, audio: audio, source: .relay), near: a, at: now)
                try plane.activate(leg)
                try plane.start(leg, at: now)
                return opened.rtp
            }

            /// She sends a packet; what he hears.
            mutating func say(type: UInt8 = 0, ssrc: UInt32 = 0x1111_2222, payload: Int = 160) throws -> [UInt8]? {
                sequence &+= 1
                timestamp &+= 160
                let packet = rtp(type: type, sequence: sequence, timestamp: timestamp, ssrc: ssrc, payload: payload)
                try alice.send(packet, to: SocketAddress(.loopback, port: portOfA))
                return bob.receive()
            }

            /// As many packets; each heard must have the next number.
            mutating func talk(_ count: Int) throws -> Bool {
                var last: UInt16?
                for _ in 0..<count {
                    guard let heard = try say() else { return false }
                    let header = try heard.withUnsafeBytes { try RTPHeader(parsing: $0) }
                    if let last, header.sequence.rawValue != last &+ 1 { return false }
                    last = header.sequence.rawValue
                }
                return true
            }

            func isArmed() -> Bool { news.first(of: a) { if case .relayArmed(let arming) = $0 { arming } else { nil } } != nil }
            var relayed: RelayCounts { plane.counts(at: MonotonicClock.now).relayed }
        }

        @Test func `packets go by the kernel from the fifth on, until one is not ordinary`() throws {
            var bridge = try Bridge(KernelRelayDevice.proven(mostEntries: 16))
            #expect(try bridge.talk(4) && bridge.isArmed())
            #expect(try bridge.talk(200))
            var statistics = try bridge.plane.statistics(of: bridge.a, at: MonotonicClock.now)
            #expect(statistics.receiving.packets == 204 && statistics.receiving.lost == 0)
            #expect(bridge.relayed.armed == 1 && bridge.relayed.packets == 200)

            #expect(try bridge.say(type: 101, payload: 4) != nil, "a key is user space's")
            let taken = bridge.news.first(of: bridge.a) { if case .relayTaken(let arming, let end) = $0 { (arming, end) } else { nil } }
            #expect(taken?.0 == RelayArming(number: 1, packets: 200) && taken?.1 == .packet)
            #expect(try bridge.talk(10) && bridge.relayed.armed == 0, "it rests")
            statistics = try bridge.plane.statistics(of: bridge.b, at: MonotonicClock.now)
            #expect(statistics.sending.packets == 215)
        }

        @Test func `after the stop nothing comes through`() throws {
            var bridge = try Bridge(KernelRelayDevice.proven(mostEntries: 16))
            #expect(try bridge.talk(4) && bridge.isArmed() && bridge.talk(50))
            let interval = try bridge.plane.stop(bridge.b, ending: false, at: MonotonicClock.now)
            #expect(interval.packetsSent == 54 && bridge.relayed.armed == 0 && bridge.relayed.takenForStop == 1)
            try bridge.alice.send(rtp(sequence: bridge.sequence &+ 1, timestamp: 0), to: SocketAddress(.loopback, port: bridge.portOfA))
            #expect(bridge.bob.receive(within: 100) == nil)
        }

        @Test func `without a device packets go by sockets`() throws {
            var bridge = try Bridge(nil)
            #expect(try bridge.talk(20) && bridge.relayed == RelayCounts())
        }
    }
}
