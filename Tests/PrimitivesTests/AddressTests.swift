import Primitives
import Testing

@Suite struct AddressTests {
    @Test(arguments: [
        ("127.0.0.1", "127.0.0.1"), ("::1", "::1"), ("::", "::"), ("2001:db8:0:0:1:0:0:1", "2001:db8::1:0:0:1"),
        ("::ffff:192.0.2.1", "192.0.2.1"), ("fe80::0001", "fe80::1"), ("1:2:3:4:5:6:7:8", "1:2:3:4:5:6:7:8"),
        ("64:ff9b::192.0.2.33", "64:ff9b::c000:221"),
    ])
    func `an address reads and prints in its canonical form`(text: String, canonical: String) {
        #expect(IPAddress(text)?.description == canonical)
    }

    @Test(arguments: [
        "", "1.2.3", "1.2.3.256", "1.2.3.4.5", ":::", "1::2::3", "1:2:3:4:5:6:7", "g::1", "12345::", "1.2.3.4 ", "1:2:3:4:5:6:7:8:9",
    ])
    func `what is no address is refused`(text: String) {
        #expect(IPAddress(text) == nil)
    }

    @Test func `a socket address needs brackets around IPv6`() {
        #expect(SocketAddress("[::1]:5060")?.description == "[::1]:5060")
        #expect(SocketAddress("10.0.0.1:5061") == SocketAddress(IPAddress(v4: 0x0A00_0001), port: 5061))
        #expect(SocketAddress("10.0.0.1") == nil)
        #expect(SocketAddress("::1", defaultPort: 5060)?.port == 5060)
        #expect(SocketAddress("1.2.3.4:65536") == nil)
    }

    @Test(arguments: [
        ("10.0.0.0/8", "10.255.0.1", true), ("10.0.0.0/8", "11.0.0.1", false), ("0.0.0.0/0", "8.8.8.8", true),
        ("::1/128", "::1", true), ("2001:db8::/33", "2001:db8:7fff::1", true), ("2001:db8::/33", "2001:db8:8000::1", false),
        ("10.0.0.0/8", "::1", false), ("127.0.0.1", "127.0.0.1", true),
    ])
    func `a network holds the addresses of its prefix`(network: String, address: String, inside: Bool) throws {
        #expect(try #require(IPNetwork(network)).contains(try #require(IPAddress(address))) == inside)
    }
}

@Suite struct TextTests {
    @Test func `text compares by bytes and folds ASCII case only on request`() {
        #expect(Text("Via") != "via")
        #expect(Text("Via").equalsIgnoringCase("vIA"))
        #expect(Text(" a b\r\n").trimmed == "a b")
        #expect(Text("65535").integer(UInt16.self) == 65535)
        #expect(Text("65536").integer(UInt16.self) == nil)
        #expect(Text("+1").integer(Int.self) == nil)
    }

    @Test func `instants saturate instead of trapping`() {
        #expect(Instant.distantFuture + .seconds(1) == .distantFuture)
        #expect(Instant.zero + .seconds(-1) == .zero)
        #expect(Instant(nanoseconds: 5_000_000) - .zero == .milliseconds(5))
    }

    @Test func `a seed replays`() {
        var first = SeededRandom(seed: 7), second = SeededRandom(seed: 7)
        #expect((0..<100).allSatisfy { _ in first.next() == second.next() })
    }
}
