import Primitives
import Testing

/// RFC 4291 §2.2 says which texts are IPv6 addresses, RFC 5952 §4 which of them is written.
@Suite struct IPAddressTests {
    @Test(arguments: [
        ("127.0.0.1", "127.0.0.1"), ("0.0.0.0", "0.0.0.0"), ("255.255.255.255", "255.255.255.255"),
        // Leading zeros are decimal: the IPv4address of RFC 3261 §25.1 is 1*3DIGIT.
        ("010.001.000.009", "10.1.0.9"),
        ("::1", "::1"), ("::", "::"), ("1::", "1::"), ("1:2:3:4:5:6:7:8", "1:2:3:4:5:6:7:8"), ("fe80::0001", "fe80::1"),
        ("ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"),
        // RFC 4291 §2.2: dotted decimal in the last 32 bits.
        ("64:ff9b::192.0.2.33", "64:ff9b::c000:221"), ("::13.1.68.3", "::d01:4403"), ("1:2:3:4:5:6:7.8.9.10", "1:2:3:4:5:6:708:90a"),
        // RFC 5952 §4.1–§4.3: no leading zeros, the longest run of zeros, the first of equal ones, never one group alone, lower case.
        ("2001:0db8::0001", "2001:db8::1"), ("2001:db8:0:0:0:0:2:1", "2001:db8::2:1"), ("2001:db8:0:1:1:1:1:1", "2001:db8:0:1:1:1:1:1"),
        ("2001:db8::1:1:1:1:1", "2001:db8:0:1:1:1:1:1"), ("2001:0:0:1:0:0:0:1", "2001:0:0:1::1"),
        ("2001:DB8:0:0:1:0:0:1", "2001:db8::1:0:0:1"),
        ("1:0:0:0:0:0:0:0", "1::"), ("0:0:0:0:0:0:0:1", "::1"), ("0:1:2:3:4:5:6:7", "0:1:2:3:4:5:6:7"),
    ])
    func `an address is read in every form and written in one`(text: String, canonical: String) throws {
        let address = try #require(IPAddress(text))
        #expect(address.description == canonical)
        #expect(IPAddress(canonical) == address, "what is written reads as the same address")
    }

    @Test(arguments: [
        "", ".", "1", "1.2.3", "1.2.3.", ".1.2.3", "1..2.3", "1.2.3.256", "1.2.3.0004", "1.2.3.4.5", "1.2.3.4 ", " 1.2.3.4", "1.2.3.-4",
        "1.2.3.a", "0x7f.0.0.1", "1,2,3,4",
        ":", ":::", "1::2::3", "1:2:3:4:5:6:7", "1:2:3:4:5:6:7:8:9", "1:2:3:4:5:6:7:", ":1:2:3:4:5:6:7", "1:2:3:4:5:6:7::8", "g::1",
        "12345::", "::12345", "fe80::1%eth0", "[::1]", "::1/128", "::1 ",
        // Dotted decimal stands at the end alone.
        "1.2.3.4::", "1.2.3.4::1", "::1.2.3.4:1", "1:1.2.3.4::1", "1:2:3:4:5:6:7:1.2.3.4", "::1.2.3", "::1.2.3.256",
    ])
    func `any other text is no address`(text: String) {
        #expect(IPAddress(text) == nil)
    }

    @Test(arguments: 0..<8 as Range<UInt64>) func `every address reads back from its text`(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        for _ in 0..<500 {
            // Half of the groups are zero, so that runs of every length come.
            func half() -> UInt64 { (0..<4).reduce(0) { sum, _ in sum << 16 | (Bool.random(using: &random) ? 0 : random.next() >> 48) } }
            let address = Bool.random(using: &random) ? IPAddress(v4: UInt32(random.next() >> 32)) : IPAddress(v6High: half(), low: half())
            #expect(IPAddress(address.text) == address, "seed \(seed): \(address)")
            #expect(!address.description.contains(":::") && address.description.components(of: "::") <= 2)
        }
    }

    /// RFC 4291 §2.5.5.2.
    @Test func `an IPv4-mapped address is the IPv4 address`() {
        #expect(IPAddress("::ffff:192.0.2.1") == IPAddress(v4: 0xC000_0201))
        #expect(IPAddress("::FFFF:c000:0201")?.family == .v4)
        #expect(IPAddress(v6High: 0, low: 0xFFFF_7F00_0001).isLoopback)
        #expect(IPAddress("::fffe:192.0.2.1")?.family == .v6 && IPAddress("1::ffff:192.0.2.1")?.family == .v6)
    }

    @Test(arguments: [
        ("0.0.0.0", "any"), ("::", "any"), ("127.0.0.1", "loopback"), ("127.255.0.9", "loopback"), ("::1", "loopback"),
        ("224.0.0.1", "multicast several"), ("239.255.255.255", "multicast several"), ("ff02::1", "multicast several"),
        ("255.255.255.255", "several"),
        ("126.255.255.255", ""), ("128.0.0.0", ""), ("223.255.255.255", ""), ("240.0.0.1", ""), ("::2", ""), ("1::1", ""), ("feff::1", ""),
        ("0.0.0.1", ""), ("1::", ""),
    ])
    func `some addresses mean more than one machine, or this one`(text: String, kinds: String) throws {
        let address = try #require(IPAddress(text))
        let flags = [
            address.isAny ? "any" : nil, address.isLoopback ? "loopback" : nil, address.isMulticast ? "multicast" : nil,
            address.isForSeveral ? "several" : nil,
        ]
        #expect(flags.compactMap(\.self).joined(separator: " ") == kinds)
    }

    @Test(arguments: [
        ("192.0.2.77", "192.0.2.77"), ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::"), ("::ffff:192.0.2.77", "192.0.2.77"), ("::1", "::"),
    ])
    func `a client has an IPv4 address, or a network of 64 bits`(text: String, network: String) throws {
        #expect(try #require(IPAddress(text)).clientNetwork.description == network)
    }

    @Test func `families differ, whatever their bits`() {
        #expect(IPAddress(v4: 1) != IPAddress(v6High: 0, low: 1))
        #expect(IPAddress.anyV4 != IPAddress.anyV6 && IPAddress.anyV4.isAny && IPAddress.anyV6.isAny)
        #expect(Set([IPAddress.loopback, IPAddress(v4: 0x7F00_0001), IPAddress("127.0.0.1")!]).count == 1)
    }
}

extension String {
    /// How many parts the separator makes of it.
    fileprivate func components(of separator: String) -> Int { split(separator: separator, omittingEmptySubsequences: false).count }
}
