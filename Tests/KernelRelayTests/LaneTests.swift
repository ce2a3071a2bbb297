import Dispatch
import Foundation
import Media
import Primitives
import RTP
import Runtime
import Testing

extension RealTime {
    /// A bridge on a media lane's own sockets, whose packets the kernel relays on loopback.
    @Suite(.serialized, .enabled(if: Permission.attaches, "the kernel does not let this process put the program before loopback"))
    struct LaneTests {
        @Test func `packets go by the kernel from the fifth on, until one is not ordinary`() throws {
            var bridge = try Bridge(KernelRelayDevice.proven(mostEntries: 16))
            expectNone(try bridge.begin())
            expectNone(try bridge.talk(200))
            var statistics = try bridge.statistics(bridge.a)
            #expect(statistics.receiving.packets == 204 && statistics.receiving.lost == 0)
            #expect(bridge.relayed.armed == 1 && bridge.relayed.packets == 200)

            #expect(try bridge.say(type: 101, payload: 4) == nil, "a key is user space's")
            let taken = bridge.news.first(of: bridge.a) { if case .relayTaken(let arming, let end) = $0 { (arming, end) } else { nil } }
            #expect(taken?.0 == RelayArming(number: 1, packets: 200) && taken?.1 == .packet)
            #expect(try bridge.talk(10) == nil && bridge.relayed.armed == 0, "it rests")
            statistics = try bridge.statistics(bridge.b)
            #expect(statistics.sending.packets == 215)
        }

        @Test func `after the stop nothing comes through`() throws {
            var bridge = try Bridge(KernelRelayDevice.proven(mostEntries: 16))
            expectNone(try bridge.begin())
            expectNone(try bridge.talk(50))
            let interval = try bridge.stop(bridge.b)
            #expect(interval.packetsSent == 54 && bridge.relayed.armed == 0 && bridge.relayed.takenForStop == 1)
            for _ in 0..<50 { try bridge.alice.send(bridge.alice.voice.next()) }
            #expect(bridge.isQuiet())
        }

        /// The contract of `kernel_relay_take`: another processor may just be sending one.
        @Test func `what he hears of a flood is what the stop counts, and one packet more at most`() throws {
            var bridge = try Bridge(KernelRelayDevice.proven(mostEntries: 16))
            expectNone(try bridge.begin())
            let packets = (0..<400).map { _ in bridge.alice.voice.next() }
            // She is so many packets ahead of him at most, so that none is lost in his socket.
            let ahead = DispatchSemaphore(value: 64), done = DispatchSemaphore(value: 0), alice = bridge.alice
            Thread {
                for packet in packets {
                    ahead.wait()
                    try? alice.send(packet)
                }
                done.signal()
            }.start()
            var heard = 0
            while heard < 200 {
                try #require(bridge.bob.fault(for: packets[heard]) == nil, "packet \(heard)")
                heard += 1
                ahead.signal()
            }
            let interval = try bridge.stop(bridge.b)
            for _ in packets { ahead.signal() }
            done.wait()
            while heard < 400, let packet = bridge.bob.receive(within: 100) {
                #expect(bridge.bob.ear.fault(in: packet, for: packets[heard], type: 0) == nil, "packet \(heard)")
                heard += 1
            }
            #expect(
                heard < 400 && (0...1).contains(heard + 4 - Int(interval.packetsSent)), "\(heard) heard, \(interval.packetsSent) counted")
        }

        @Test func `without a device packets go by sockets`() throws {
            var bridge = try Bridge(nil)
            #expect(try bridge.talk(20) == nil && bridge.relayed == RelayCounts())
        }
    }
}
