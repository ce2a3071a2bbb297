import Media
import Primitives
import RTP
import Runtime
import SDP
import Testing

extension RealTime {
    /// The phases of a call whose packets the kernel relays: to the far end all is one stream, in which no packet is lost, doubled or out
    /// of order.
    @Suite(.serialized, .enabled(if: Permission.attaches, "the kernel does not let this process put the program before loopback"))
    struct PhaseTests {
        private func bridge(signalled: SocketAddress? = nil) throws -> Bridge {
            var bridge = try Bridge(KernelRelayDevice.proven(mostEntries: 16), signalled: signalled)
            expectNone(try bridge.begin())
            expectNone(try bridge.talk(50))
            #expect(bridge.relayed.packets == 0 && bridge.relayed.armed == 1, "none was asked for yet")
            return bridge
        }

        @Test func `a key goes out of the kernel, and sound in again`() throws {
            var bridge = try bridge()
            expectNone(try bridge.say(type: 101, payload: 4))
            #expect(bridge.relayed.takenForPacket == 1 && bridge.relayed.packets == 50)
            expectNone(try bridge.talk(untilArmed: 2))
            expectNone(try bridge.talk(50))
            try bridge.stop(bridge.b)
            #expect(bridge.relayed.packets == 100 && bridge.relayed.armed == 0 && bridge.isQuiet())
        }

        @Test func `a sender that restarts with another SSRC goes on in one stream`() throws {
            var bridge = try bridge()
            bridge.alice.voice = Voice(ssrc: 7, sequence: 12_345, timestamp: 0xFFFF_FF00)
            expectNone(try bridge.say(isNew: true))
            #expect(bridge.relayed.takenForPacket == 1)
            expectNone(try bridge.talk(untilArmed: 2))
            expectNone(try bridge.talk(50))
            let statistics = try bridge.statistics(bridge.a)
            #expect(statistics.receiving.lost == 0 && bridge.relayed.packets == 100)
        }

        @Test func `a gap in time passes in the kernel with its marker, a new clock does not`() throws {
            var bridge = try bridge()
            expectNone(try bridge.say(pause: 5 * 8_000, marker: true))
            #expect(try bridge.talk(20) == nil && bridge.relayed.takenForPacket == 0)
            expectNone(try bridge.say(pause: 60 * 8_000, isNew: true))
            #expect(bridge.relayed.takenForPacket == 1 && bridge.relayed.packets == 71)
            expectNone(try bridge.talk(untilArmed: 2))
            expectNone(try bridge.talk(20))
        }

        @Test func `losses, copies and other orders come as the network made them`() throws {
            var bridge = try bridge()
            let packets = (0..<40).map { _ in bridge.alice.voice.next() }
            for number in [0, 1, 3, 2, 4, 5, 5, 6, 10, 11, 9, 20, 21, 20, 39] {
                try bridge.alice.send(packets[number])
                #expect(bridge.bob.fault(for: packets[number]) == nil, "packet \(number)")
            }
            #expect(try bridge.talk(20) == nil && bridge.isQuiet())
            let statistics = try bridge.statistics(bridge.a)
            #expect(statistics.receiving.lost == 27 && bridge.relayed.packets == 85 && bridge.relayed.takenForPacket == 0)
        }

        @Test func `a far end that moves by a re-INVITE is followed, and its old port is a stranger's`() throws {
            var bridge = try bridge()
            let old = bridge.alice
            bridge.alice.end = try End.onLoopback()
            let address = bridge.alice.end.address
            try bridge.update(bridge.a) { ($0.remoteRTP, $0.remoteRTCP) = (address, address) }
            #expect(bridge.relayed.armed == 0 && bridge.relayed.takenForChange == 1 && bridge.relayed.packets == 50)
            expectNone(try bridge.talk(untilArmed: 2))
            expectNone(try bridge.talk(50))
            var stranger = bridge.alice.voice
            for _ in 0..<5 { try? old.end.send(stranger.next(), to: old.peer) }
            #expect(bridge.isQuiet())
            #expect(try bridge.talk(50) == nil && bridge.relayed.takenForPacket == 0)
            expectNone(try bridge.reply())
        }

        @Test func `the signalled address takes over from another one that the kernel has`() throws {
            let signalled = try End.onLoopback()
            var bridge = try bridge(signalled: signalled.address)
            let other = bridge.alice
            bridge.alice.end = signalled
            expectNone(try bridge.say())
            #expect(bridge.relayed.takenForChange == 1 && bridge.relayed.packets == 50)
            expectNone(try bridge.talk(untilArmed: 2))
            expectNone(try bridge.talk(50))
            var stranger = bridge.alice.voice
            for _ in 0..<5 { try? other.end.send(stranger.next(), to: other.peer) }
            #expect(bridge.isQuiet())
            expectNone(try bridge.talk(50))
        }

        @Test func `nothing passes while he is on hold, and the stream goes on with the resume`() throws {
            var bridge = try bridge()
            try bridge.update(bridge.b) { ($0.sends, $0.remoteHold) = (false, .sendonly) }
            #expect(bridge.relayed.armed == 0 && bridge.relayed.takenForChange == 1 && bridge.relayed.packets == 50)
            for _ in 0..<60 { try bridge.alice.send(bridge.alice.voice.next()) }
            #expect(bridge.isQuiet())
            try bridge.update(bridge.b) { ($0.sends, $0.remoteHold) = (true, .none) }
            expectNone(try bridge.say(isNew: true))
            expectNone(try bridge.talk(untilArmed: 2))
            expectNone(try bridge.talk(50))
            try bridge.stop(bridge.b)
            #expect(bridge.relayed.packets == 100 && bridge.isQuiet())
        }

        @Test func `a re-INVITE changes the payload type of either side without a seam`() throws {
            var bridge = try bridge()
            try bridge.update(bridge.b) { $0.codecs = [.pcmu(0, 96)] }
            expectNone(try bridge.talk(untilArmed: 2, as: 96))
            expectNone(try bridge.talk(50, as: 96))
            try bridge.update(bridge.a) { $0.codecs = [.pcmu(97, 0)] }
            #expect(bridge.relayed.takenForChange == 2 && bridge.relayed.packets == 100)
            expectNone(try bridge.talk(untilArmed: 3, type: 97, as: 96))
            expectNone(try bridge.talk(50, type: 97, as: 96))
            try bridge.stop(bridge.b)
            #expect(bridge.relayed.packets == 150 && bridge.relayed.takenForPacket == 0)
        }

        @Test func `both directions go at once, and each leaves the kernel alone`() throws {
            var bridge = try Bridge(KernelRelayDevice.proven(mostEntries: 16))
            func exchange(_ count: Int, key: Bool = false) throws {
                for _ in 0..<count {
                    let hers = key ? bridge.alice.voice.next(type: 101, payload: 4) : bridge.alice.voice.next(),
                        his = bridge.bob.voice.next()
                    try bridge.alice.send(hers)
                    try bridge.bob.send(his)
                    #expect(bridge.bob.fault(for: hers, type: key ? 101 : 0) == nil)
                    #expect(bridge.alice.fault(for: his) == nil)
                }
            }
            try exchange(4)
            try #require(bridge.isArmed() && bridge.isArmed(bridge.b))
            try exchange(100)
            try exchange(1, key: true)
            #expect(bridge.relayed.armed == 1 && bridge.relayed.takenForPacket == 1)
            try exchange(50)
            try bridge.stop(bridge.a)
            #expect(bridge.relayed.armed == 0 && bridge.relayed.packets == 251)
            for _ in 0..<20 {
                try bridge.alice.send(bridge.alice.voice.next())
                try bridge.bob.send(bridge.bob.voice.next())
            }
            #expect(bridge.isQuiet() && bridge.alice.receive(within: 0) == nil)
        }
    }
}
