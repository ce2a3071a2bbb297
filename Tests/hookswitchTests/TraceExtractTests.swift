import ArgumentParser
import Foundation
import Primitives
import Testing
import UserAgent

@testable import hookswitch

/// `hookswitch trace FILE CALL -o OUT`: which packets are the call's.
@Suite struct TraceExtractTests {
    /// A call whose offer names the port of the peer, and whose answer names ours.
    private static func call(_ id: String, peer: String, ours: String, in talk: inout TraceTalk) {
        talk.add(.received, "INVITE sip:9196@b.test SIP/2.0", id: id, body: body(peer))
        talk.add(.sent, "SIP/2.0 200 OK", "INVITE", id: id, body: body(ours))
    }

    /// `20000`, `20000 a=rtcp-mux`: at 203.0.113.9, where the packets do not come from.
    private static func body(_ media: String) -> String {
        let words = media.split(separator: " ", maxSplits: 1)
        return "v=0\r\no=- 1 1 IN IP4 203.0.113.9\r\ns=-\r\nc=IN IP4 203.0.113.9\r\nt=0 0\r\nm=audio \(words[0]) RTP/AVP 0\r\n"
            + (words.count > 1 ? "\(words[1])\r\n" : "")
    }

    /// From the peer at a port to a port of ours.
    private static func packet(_ remote: UInt16, _ local: UInt16, from peer: String = "198.51.100.1") -> TracedMessage {
        var packet = TracedMessage(
            .received, .udp, local: SocketAddress("192.0.2.1:\(local)")!, remote: SocketAddress("\(peer):\(remote)")!, wall: 1,
            bytes: [0x80, 0, 0, 1])
        packet.mediaLength = 172
        return packet
    }

    /// Whether packets from a peer to our ports go with the call `a`.
    private static func taken(_ talk: TraceTalk, _ packets: TracedMessage...) -> [Bool] {
        var extract = TraceExtract(["a"])
        for message in talk.messages { #expect(extract.takes(message) == (message.callID == "a")) }
        return packets.map { extract.takes($0) }
    }

    @Test func `a packet belongs to the call that named its port, whatever the address, or its peer`() {
        var talk = TraceTalk()
        Self.call("a", peer: "40000", ours: "20000", in: &talk)
        Self.call("b", peer: "40002", ours: "20002", in: &talk)
        #expect(Self.taken(talk, Self.packet(1, 20_000), Self.packet(1, 20_001), Self.packet(1, 20_002)) == [true, true, false])
        #expect(
            Self.taken(
                talk, Self.packet(40_000, 7, from: "203.0.113.9"), Self.packet(40_001, 7, from: "203.0.113.9"), Self.packet(40_000, 7),
                Self.packet(40_002, 7, from: "203.0.113.9")) == [true, true, false, false])
    }

    @Test func `a port that a later call named is that call's`() {
        var talk = TraceTalk()
        Self.call("a", peer: "40000", ours: "20000", in: &talk)
        #expect(Self.taken(talk, Self.packet(1, 20_000)) == [true])
        Self.call("b", peer: "40000", ours: "20000", in: &talk)
        #expect(Self.taken(talk, Self.packet(1, 20_000), Self.packet(1, 20_001)) == [false, false])
    }

    @Test func `RTCP is at the port that is named, and a shared one takes no port of another call`() {
        var talk = TraceTalk()
        Self.call("b", peer: "40000", ours: "20001 a=rtcp-mux", in: &talk)
        Self.call("a", peer: "40002", ours: "20000 a=rtcp-mux", in: &talk)
        #expect(Self.taken(talk, Self.packet(1, 20_000), Self.packet(1, 20_001)) == [true, false])
        Self.call("a", peer: "40002", ours: "20000 a=rtcp:20007 IN IP4 192.0.2.1", in: &talk)
        #expect(Self.taken(talk, Self.packet(1, 20_007), Self.packet(1, 20_001)) == [true, false])
    }

    @Test func `a media stream that is refused names no port`() {
        var talk = TraceTalk()
        Self.call("a", peer: "0", ours: "0", in: &talk)
        #expect(Self.taken(talk, Self.packet(0, 1), Self.packet(1, 0)) == [false, false])
    }

    @Test func `the file of one call has its messages and its media in their order`() throws {
        let folder = try SoundFolder(), path = folder.path + "/t.pcapng"
        var talk = TraceTalk()
        Self.call("a", peer: "40000", ours: "20000", in: &talk)
        Self.call("b", peer: "40002", ours: "20002", in: &talk)
        let first = Self.packet(1, 20_000), others = [Self.packet(1, 20_002), Self.packet(1, 30_000)]
        let all = talk.messages + [first] + others + [first]
        try Data(Pcapng.header(program: "t") + all.flatMap(Pcapng.packet)).write(to: URL(filePath: path))
        try #require(try Hookswitch.parseAsRoot(["trace", path, "1", "-o", folder.path + "/one"]) as? TraceCommand).run()
        var source = try TraceSource(folder.path + "/one", readsMedia: true), found: [TracedMessage] = []
        try source.poll { found.append($0) }
        #expect(found == talk.messages.prefix(2) + [first, first])
    }
}
