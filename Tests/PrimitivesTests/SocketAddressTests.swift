import Primitives
import Testing

@Suite struct SocketAddressTests {
    @Test(
        arguments: [
            ("10.0.0.1:5061", nil, "10.0.0.1:5061"), ("10.0.0.1:0", nil, "10.0.0.1:0"), ("10.0.0.1:65535", nil, "10.0.0.1:65535"),
            ("[::1]:5060", nil, "[::1]:5060"), ("[2001:DB8::0:1]:05060", nil, "[2001:db8::1]:5060"),
            ("[::ffff:10.0.0.1]:1", nil, "10.0.0.1:1"),
            ("10.0.0.1", 5060, "10.0.0.1:5060"), ("::1", 5060, "[::1]:5060"), ("[::1]", 5060, "[::1]:5060"),
            ("10.0.0.1:5", 5060, "10.0.0.1:5"),
            // Without brackets the last group is no port.
            ("::1:5061", 5060, "[::1:5061]:5060"),
        ] as [(String, UInt16?, String)])
    func `an address has a port, its own or the default`(text: String, defaultPort: UInt16?, canonical: String) throws {
        let address = try #require(SocketAddress(text, defaultPort: defaultPort))
        #expect(address.description == canonical)
        #expect(SocketAddress(canonical) == address)
    }

    @Test(arguments: [
        "", ":", ":5060", "10.0.0.1", "[::1]", "::1", "1.2.3.4:65536", "1.2.3.4:", "1.2.3.4:+5", "1.2.3.4:5 ", "1.2.3.4:5:6", "1.2.3:5",
        "[::1]5060", "[::1]:", "[::1]:65536", "[::1]:x", "[::1", "::1]:5060", "[]:5060", "[[::1]]:5060", "[10.0.0.1]:5060",
        "localhost:5060",
    ])
    func `without an address or a port there is none`(text: String) {
        #expect(SocketAddress(text) == nil)
    }

    @Test(arguments: ["[::1]:", "[::1]x", "1.2.3.4:", "1.2.3.4:x", "1.2.3.4:65536"])
    func `a port that is none is not replaced by the default`(text: String) {
        #expect(SocketAddress(text, defaultPort: 5060) == nil)
    }

    @Test func `a text within a longer one reads by its own bounds`() {
        let line = Text("to [2001:db8::1]:5060, 192.0.2.1:5061")
        #expect(SocketAddress(Text(line.bytes[3..<21])) == SocketAddress(IPAddress("2001:db8::1")!, port: 5060))
        #expect(SocketAddress(Text(line.bytes[23...])) == SocketAddress(IPAddress(v4: 0xC000_0201), port: 5061))
    }
}

@Suite struct IPNetworkTests {
    @Test(arguments: [
        ("10.0.0.0/8", "10.255.0.1", true), ("10.0.0.0/8", "11.0.0.0", false), ("10.0.0.0/8", "9.255.255.255", false),
        ("0.0.0.0/0", "255.8.8.8", true), ("10.1.2.3/31", "10.1.2.2", true), ("10.1.2.3/31", "10.1.2.4", false),
        ("127.0.0.1", "127.0.0.1", true), ("127.0.0.1/32", "127.0.0.2", false),
        ("::/0", "ffff::1", true), ("::1/128", "::1", true), ("::1", "::2", false), ("::1/127", "::", true),
        ("2001:db8::/33", "2001:db8:7fff::1", true), ("2001:db8::/33", "2001:db8:8000::1", false),
        ("2001:db8::/64", "2001:db8:0:0:ffff::", true), ("2001:db8::/64", "2001:db8:0:1::", false),
        ("2001:db8::/65", "2001:db8:0:0:7fff::", true), ("2001:db8::/65", "2001:db8:0:0:8000::", false),
        ("2001:db8::/65", "2001:db8:0:1::", false), ("fe80::/10", "febf::1", true), ("fe80::/10", "fec0::1", false),
        // A family has networks of its own; a mapped address is IPv4.
        ("10.0.0.0/8", "::1", false), ("::/0", "10.0.0.1", false), ("10.0.0.0/8", "::ffff:10.0.0.1", true),
    ])
    func `a network holds the addresses of its prefix`(network: String, address: String, isInside: Bool) throws {
        #expect(try #require(IPNetwork(network)).contains(try #require(IPAddress(address))) == isInside)
    }

    /// Against a comparison bit by bit.
    @Test(arguments: 0..<4 as Range<UInt64>) func `every prefix length counts its bits`(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        func bits(_ address: IPAddress) -> [Bool] {
            (0..<128).map { ($0 < 64 ? address.high : address.low) >> UInt64(63 - $0 % 64) & 1 == 1 }
        }
        for length in 0...128 {
            let network = IPAddress(v6High: random.next() | 1, low: random.next())
            let differing = Int.random(in: 0..<128, using: &random)
            let other = IPAddress(
                v6High: network.high ^ (differing < 64 ? 1 << UInt64(63 - differing) : 0),
                low: network.low ^ (differing < 64 ? 0 : 1 << UInt64(127 - differing)))
            let isInside = bits(network).prefix(length) == bits(other).prefix(length)
            #expect(
                try #require(IPNetwork("\(network)/\(length)")).contains(other) == isInside, "seed \(seed): \(network)/\(length) \(other)")
        }
    }

    @Test(arguments: [
        "", "/8", "10.0.0.0/", "10.0.0.0/33", "10.0.0.0/-1", "10.0.0.0/8/8", "10.0.0/8", "::/129", "10.0.0.0/8 ", "[::1]/128",
    ])
    func `any other text is no network`(text: String) {
        #expect(IPNetwork(text) == nil)
    }

    @Test func `a network is written with the length of its prefix`() {
        #expect(IPNetwork("10.0.0.0/8")?.description == "10.0.0.0/8" && IPNetwork("10.0.0.1")?.description == "10.0.0.1/32")
        #expect(IPNetwork("2001:DB8::/32")?.description == "2001:db8::/32" && IPNetwork("::1")?.description == "::1/128")
    }
}
