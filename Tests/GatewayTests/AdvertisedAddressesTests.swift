import Primitives
import Testing
import UserAgent

@testable import Gateway

/// What a peer is told about where we are.
@Suite struct AdvertisedAddressesTests {
    private static func addresses(_ address: String?, local: [String] = []) -> AdvertisedAddresses {
        var advertise = GatewayConfiguration.Advertise()
        advertise.address = address.flatMap { IPAddress($0) }
        advertise.local = local.compactMap { IPNetwork($0) }
        return AdvertisedAddresses(advertise: advertise) { $0 == IPAddress("203.0.113.9") ? nil : IPAddress("10.0.0.7") }
    }

    private static func flow(_ local: String, from remote: String) -> Flow {
        Flow(transport: .udp, local: SocketAddress(local)!, remote: SocketAddress(remote, defaultPort: 40_000)!)
    }

    @Test(
        arguments: [
            // Without an address of ours to tell: the socket's, and for one that is bound to all the address that the peer would see.
            (nil, [], "10.0.0.1:5060", "198.51.100.4", "10.0.0.1"), (nil, [], "0.0.0.0:5060", "198.51.100.4", "10.0.0.7"),
            (nil, [], "0.0.0.0:5060", "203.0.113.9", "0.0.0.0"),
            // Peers outside are told the public address, those inside are not.
            ("198.51.100.1", [], "10.0.0.1:5060", "198.51.100.4", "198.51.100.1"),
            ("198.51.100.1", [], "0.0.0.0:5060", "10.0.0.4", "198.51.100.1"),
            ("198.51.100.1", ["10.0.0.0/8"], "10.0.0.1:5060", "10.0.0.4", "10.0.0.1"),
            ("198.51.100.1", ["10.0.0.0/8"], "0.0.0.0:5060", "10.0.0.4", "10.0.0.7"),
            ("198.51.100.1", ["10.0.0.0/8"], "10.0.0.1:5060", "11.0.0.4", "198.51.100.1"),
            ("198.51.100.1", [], "127.0.0.1:5060", "127.0.0.1", "127.0.0.1"),
            // An address of the other family says nothing to a peer.
            ("198.51.100.1", [], "[2001:db8::1]:5060", "2001:db8::4", "2001:db8::1"),
            ("2001:db8::9", [], "[2001:db8::1]:5060", "2001:db8::4", "2001:db8::9"),
        ] as [(String?, [String], String, String, String)])
    func `a peer is told the address that reaches us`(public: String?, local: [String], socket: String, peer: String, told: String) {
        let (addresses, flow) = (Self.addresses(`public`, local: local), Self.flow(socket, from: peer))
        #expect(addresses.media(flow).description == told)
        #expect(addresses.signalling(flow) == SocketAddress(IPAddress(told)!, port: 5060))
        #expect(addresses.binding(flow) == flow.local.address)
    }

    @Test func `media of a browser behind a proxy of this machine goes where the browser is`() {
        var flow = Self.flow("127.0.0.1:5066", from: "198.51.100.4")
        let inside = Self.addresses(nil), outside = Self.addresses("198.51.100.1")
        #expect(inside.binding(flow).description == "127.0.0.1" && inside.media(flow).description == "127.0.0.1", "not over a WebSocket")
        flow.transport = .ws
        #expect(inside.binding(flow).isAny && inside.media(flow).description == "10.0.0.7")
        #expect(outside.binding(flow).isAny && outside.media(flow).description == "198.51.100.1")
        #expect(outside.furtherCandidates(flow).map(\.description) == ["10.0.0.7"] && inside.furtherCandidates(flow).isEmpty)
        flow.remote = SocketAddress(.loopback, port: 40_000)
        #expect(inside.binding(flow).isLoopback && inside.media(flow).isLoopback)
    }
}

@Suite struct AccountsTests {
    @Test func `lines for devices have an account by password, or an open one`() {
        func line(_ number: Text, _ adapt: (inout LineConfiguration) -> Void) -> LineConfiguration {
            var line = LineConfiguration(number: number)
            adapt(&line)
            return line
        }
        let accounts = Accounts([
            line("1001") { $0.password = "secret" }, line("1002") { $0.isOpen = true },
            line("1003") {
                $0.isOpen = true
                $0.password = "secret"
            }, line("1004") { _ in },
            line("9196") {
                $0.endpoint = .application(.echo)
                $0.password = "secret"
            },
        ])
        let found = (["1001", "1002", "1003", "1004", "9196", "4711", ""] as [Text]).map(accounts.account(of:))
        #expect(found == [.password("secret"), .open, .open, nil, nil, nil, nil])
    }
}
