import Primitives
import Testing

@testable import RTP

@Suite struct SourceLatchTests {
    static let signalled = SocketAddress("10.0.0.5:4000")!
    static let natted = SocketAddress("203.0.113.9:61000")!
    static let stranger = SocketAddress("203.0.113.66:5")!
    static let moved = SocketAddress("10.0.0.6:4002")!
    static let voice = Packet(sequence: 1)

    private func latch() -> SourceLatch { SourceLatch(signalled: Self.signalled, payloadTypes: [0, 101]) }

    @Test func `the first valid packet latches, and others are refused`() {
        var latch = latch()
        #expect(latch.destination == Self.signalled)
        #expect(latch.admit(Self.voice, Self.natted) == .latched)
        #expect(latch.destination == Self.natted)
        #expect(latch.admit(Self.voice, Self.natted) == .accepted)
        #expect(latch.admit(Self.voice, Self.stranger) == .refused)
        #expect(latch.source == Self.natted)
        #expect(latch.refused == 1)
    }

    @Test func `the signalled address takes over from one that was faster, and keeps it`() {
        var latch = latch()
        #expect(latch.admit(Self.voice, Self.stranger) == .latched)
        #expect(latch.admit(Self.voice, Self.signalled) == .latched)
        #expect(latch.admit(Self.voice, Self.stranger) == .refused)
        #expect(latch.admit(Self.voice, Self.signalled) == .accepted)
    }

    static let noise: [[UInt8]] = [
        [], [0x80], [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13], Packet(type: 18, sequence: 1).bytes,
        Array(Packet(sequence: 1).bytes.prefix(11)),
        [0xA0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 9], [0x80, 200, 0, 9, 0, 0, 0, 1], [0x80, 72, 0, 1, 0, 0, 0, 1],
    ]

    @Test(arguments: noise)
    func `what is no media of this call neither latches nor passes`(bytes: [UInt8]) {
        var latch = latch()
        #expect(latch.admit(Packet(bytes), Self.natted) == .refused)
        #expect(latch.source == nil)
        _ = latch.admit(Self.voice, Self.natted)
        #expect(latch.admit(Packet(bytes), Self.natted) == .refused)
        #expect(latch.refused == 2)
    }

    @Test func `who holds by the unspecified address is known when it comes back, and a stranger of the meantime is not`() {
        var latch = latch()
        _ = latch.admit(Self.voice, Self.signalled)
        latch.rearm(signalled: SocketAddress("0.0.0.0:4000"))
        #expect(latch.admit(Self.voice, Self.stranger) == .refused && latch.destination == Self.signalled)
        #expect(latch.admit(Self.voice, Self.signalled) == .accepted)
        latch.rearm(signalled: Self.signalled)
        #expect(latch.admit(Self.voice, Self.signalled) == .latched && latch.admit(Self.voice, Self.stranger) == .refused)
    }

    @Test func `nobody is let in before the far end has said where it is`() {
        var latch = SourceLatch(signalled: nil, payloadTypes: [0])
        #expect(latch.admit(Self.voice, Self.stranger) == .refused && latch.destination == nil)
        latch.rearm(signalled: Self.signalled)
        #expect(latch.admit(Self.voice, Self.natted) == .latched)
    }

    @Test func `an address that comes back after a hold is no news: whoever is behind a NAT latches at once`() {
        var latch = latch()
        _ = latch.admit(Self.voice, Self.natted)
        latch.rearm(signalled: nil)
        latch.rearm(signalled: Self.signalled)
        #expect(latch.admit(Self.voice, Self.natted) == .latched && latch.destination == Self.natted)
    }

    @Test func `RTCP latches too`() {
        var latch = latch()
        #expect(latch.admit(Packet(RTCPPacket.make([.receiverReport(ssrc: 1, [])])), Self.natted) == .latched)
    }

    @Test func `after a re-INVITE the next valid packet latches, wherever it comes from`() {
        var latch = latch()
        _ = latch.admit(Self.voice, Self.natted)
        latch.rearm(signalled: Self.signalled)
        #expect(latch.admit(Self.voice, Self.stranger) == .latched)
    }

    @Test func `late packets of the old source do not latch after a move`() {
        var latch = latch()
        _ = latch.admit(Self.voice, Self.natted)
        latch.rearm(signalled: Self.moved)
        #expect(latch.destination == Self.moved)
        for _ in 0..<50 { #expect(latch.admit(Self.voice, Self.natted) == .accepted) }
        #expect(latch.destination == Self.moved)
        #expect(latch.admit(Self.voice, Self.natted) == .latched, "it stays where it was")
        #expect(latch.destination == Self.natted)
    }

    @Test func `a move is followed while late packets still come`() {
        var latch = latch()
        _ = latch.admit(Self.voice, Self.natted)
        latch.rearm(signalled: Self.moved)
        #expect(latch.admit(Self.voice, Self.natted) == .accepted)
        #expect(latch.admit(Self.voice, Self.moved) == .latched)
        #expect(latch.admit(Self.voice, Self.natted) == .refused)
    }

    @Test func `after a hold whoever is behind a NAT may come from another port, and is sent to at the old one until then`() {
        var latch = latch()
        let again = SocketAddress("203.0.113.9:41111")!
        _ = latch.admit(Self.voice, Self.natted)
        #expect(latch.admit(Self.voice, again) == .refused)
        latch.rearm()
        #expect(latch.destination == Self.natted)
        #expect(latch.admit(Self.voice, Self.stranger) == .refused, "another address is no other port")
        #expect(latch.admit(Self.voice, again) == .latched && latch.destination == again)
        #expect(latch.admit(Self.voice, Self.natted) == .refused && latch.admit(Self.voice, Self.stranger) == .refused)
        #expect(latch.admit(Self.voice, Self.signalled) == .latched, "however late")
        latch.rearm()
        #expect(
            latch.admit(Self.voice, Self.signalled) == .latched && latch.admit(Self.voice, Self.stranger) == .refused, "it is where it was")
    }

    @Test func `whoever moved while it was held is sent to where it moved`() {
        var latch = latch()
        _ = latch.admit(Self.voice, Self.natted)
        latch.rearm(signalled: Self.moved)
        latch.rearm()
        #expect(latch.destination == Self.moved)
        #expect(latch.admit(Self.voice, Self.stranger) == .latched, "as after every move")
    }

    @Test func `the end of a hold lets nobody in while the far end has taken its address back`() {
        var latch = latch()
        _ = latch.admit(Self.voice, Self.natted)
        latch.rearm(signalled: nil)
        latch.rearm()
        #expect(latch.admit(Self.voice, Self.stranger) == .refused && latch.admit(Self.voice, Self.natted) == .accepted)
    }

    @Test func `late packets of before a move are none of whoever comes after it`() {
        var latch = latch()
        let again = SocketAddress("203.0.113.9:41111")!
        _ = latch.admit(Self.voice, Self.natted)
        latch.rearm(signalled: Self.moved)
        _ = latch.admit(Self.voice, again)
        latch.rearm()
        #expect(latch.admit(Self.voice, again) == .latched && latch.admit(Self.voice, Self.stranger) == .refused)
    }

    @Test func `a zero address of a held peer is no place to send to`() {
        var latch = latch()
        _ = latch.admit(Self.voice, Self.natted)
        latch.rearm(signalled: SocketAddress(.anyV4, port: 4_000))
        #expect(latch.destination == Self.natted)
    }
}

extension SourceLatch {
    fileprivate mutating func admit(_ packet: Packet, _ sender: SocketAddress) -> Admission {
        packet.bytes.withUnsafeBytes { admit($0, from: sender) }
    }
}
