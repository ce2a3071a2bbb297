import Primitives
import SIP
import Testing
import UserAgent

@Suite struct FlowTests {
    @Test(arguments: [
        ("sip:a@198.51.100.9", "198.51.100.9:5060"), ("sip:a@192.168.1.9:5070", "192.168.1.9:5070"),
        ("sip:a@192.168.2.9:5070", "192.168.1.7:40000"),
        ("sip:a@10.0.0.1", "192.168.1.7:40000"), ("sip:a@192.168.1.7:5060", "192.168.1.7:5060"), ("sip:a@127.0.0.1", "192.168.1.7:40000"),
        ("sip:a@0.0.0.0", "192.168.1.7:40000"), ("sip:a@name.test", "192.168.1.7:40000"),
        ("sip:a@name.test:5070;maddr=198.51.100.9", "198.51.100.9:5070"), ("sip:a@198.51.100.8;maddr=192.168.1.9", "192.168.1.9:5060"),
        ("sip:a@198.51.100.9;maddr=10.0.0.1", "192.168.1.7:40000"), ("sip:a@198.51.100.9;maddr=127.0.0.1", "192.168.1.7:40000"),
        ("sip:a@198.51.100.9;maddr=[::1]", "192.168.1.7:40000"), ("sip:a@198.51.100.9;maddr=name.test", "198.51.100.9:5060"),
        ("sip:a@198.51.100.9;maddr", "198.51.100.9:5060"), ("tel:123;maddr=198.51.100.9", "192.168.1.7:40000"),
    ])
    func `a request goes to an address that can be one of the peer's network, and else back to where its messages come from`(
        uri: String, remote: String
    ) throws {
        let flow = Flow(
            transport: .udp, local: try #require(SocketAddress("192.168.1.1:5060")),
            remote: try #require(SocketAddress("192.168.1.7:40000")))
        #expect(flow.towards(try URI(parsing: Text(uri))).remote.description == remote)
    }

    @Test(arguments: [
        ("127.0.0.9", "127.0.0.1", true), ("[::1]", "[::1]", true), ("[::]", "[::1]", false), ("[fd00::2]", "[fd00::1]", true),
        ("[fd01::2]", "[fd00::1]", false),
    ])
    func `this machine is one network, and so are 64 bits`(contact: String, source: String, isFollowed: Bool) throws {
        let remote = try #require(SocketAddress(source + ":40000"))
        let flow = Flow(transport: .udp, local: remote, remote: remote).towards(try URI(parsing: Text("sip:a@\(contact):5070")))
        #expect(flow.remote.description == (isFollowed ? contact + ":5070" : source + ":40000"))
    }

    @Test func `maddr says where a request goes, and the host whom a certificate names`() throws {
        let flow = Flow(
            transport: .tls, local: try #require(SocketAddress("192.0.2.1:5061")), remote: try #require(SocketAddress("198.51.100.7:40000"))
        )
        let way = flow.towards(try URI(parsing: "sips:a@name.test;maddr=198.51.100.9"))
        #expect(way.remote.description == "198.51.100.9:5061" && way.peer == "name.test")
    }
}
