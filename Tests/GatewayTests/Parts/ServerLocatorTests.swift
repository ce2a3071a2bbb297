import Primitives
import Runtime
import SIP
import Testing
import UserAgent

@testable import Gateway

/// Searches for the servers of a domain, and URIs that lead to ourselves.
@Suite struct ServerLocatorTests {
    let parts = Parts()

    /// The results of one search so far.
    private final class Found { var results: [ServerLocation.Result] = [] }

    private func locate(_ host: Text, port: UInt16? = 5070) -> Found {
        let found = Found()
        parts.locator.locate(ServerLocation.Domain(host: host, port: port)) { result, _ in found.results.append(result) }
        return found
    }

    private func answer(_ number: UInt64, _ answer: DNSAnswer) -> Bool {
        guard let completion = parts.locator.completion(of: number) else { return false }
        completion(answer, parts.context.now)
        return true
    }

    private static let address = DNSAnswer(.found, records: [.address(IPAddress(v4: 0xC000_0207))], timeToLive: .seconds(60))

    @Test func `a search ends with its last answer, and a second or unknown answer changes nothing`() {
        let found = locate("carrier.test")
        #expect(parts.queries.map(\.question) == [.a("carrier.test")] && found.results.isEmpty && parts.locator.openQueries == 1)
        parts.wait(.seconds(4))
        #expect(answer(1, Self.address))
        #expect(found.results.map(\.servers) == [[.init(.udp, SocketAddress("192.0.2.7:5070")!)]])
        #expect(!answer(1, DNSAnswer(.nothing)) && !answer(99, Self.address))
        #expect(found.results.count == 1 && parts.locator.openQueries == 0)
    }

    @Test func `an address needs no query`() {
        let found = locate("192.0.2.7", port: nil)
        #expect(found.results.first?.servers.first?.address == SocketAddress("192.0.2.7:5060") && parts.queries.isEmpty)
    }

    @Test func `a search without a resolver fails once`() {
        let locator = ServerLocator(parts.context, parts.lines, parts.listeners, resolve: nil)
        var results: [ServerLocation.Result] = []
        locator.locate(ServerLocation.Domain(host: "carrier.test")) { result, _ in results.append(result) }
        #expect(results.count == 1 && results[0].servers.isEmpty && results[0].hasFailed)
    }

    @Test func `open queries are limited, and one more fails at once`() {
        let most = DNSResolver.Settings().maximumQuestions
        for number in 0..<most { #expect(locate(Text("a\(number).test")).results.isEmpty) }
        let refused = locate("late.test")
        #expect(refused.results.first?.hasFailed == true && parts.locator.refusedQueries == 1)
        #expect(parts.locator.openQueries == most && parts.queries.count == most)
        #expect(answer(1, Self.address))
        #expect(locate("later.test").results.isEmpty && parts.locator.refusedQueries == 1)
    }

    // MARK: Ourselves

    private static func listener(_ transport: Transport, _ address: IPAddress = Parts.address, port: UInt16 = 5060) -> Transports.Listener {
        Transports.Listener(transport, SocketAddress(address, port: port))
    }

    /// The ways to a URI, or that it is asked for.
    private static func ways(_ uri: String, _ listeners: [Transports.Listener], domain: Text = Parts.domain) throws -> String {
        let parts = Parts(listeners: listeners) { $0.domain = domain }
        var found: [Flow]?
        parts.locator.locate(try URI(parsing: Text(uri)), after: .peer(1)) { flows, _ in found = flows }
        guard let found else { return "asked" }
        return found.map { "\($0.transport) \($0.remote)" + ($0.peer.isEmpty ? "" : " \($0.peer)") }.joined(separator: ", ")
    }

    @Test(arguments: [
        ("sip:3000@gateway.test", "udp 203.0.113.1:5060"), ("sip:3000@GATEWAY.test:5060", "udp 203.0.113.1:5060"),
        ("sip:3000@gateway.test;transport=tcp", "tcp 203.0.113.1:5070"), ("sips:3000@gateway.test", "tls 203.0.113.1:5061 gateway.test"),
        ("sip:3000@gateway.test:5099", "asked"), ("sip:3000@gateway.test;transport=sctp", ""), ("sip:3000@other.test", "asked"),
        ("sip:3000@192.0.2.8", "udp 192.0.2.8:5060"),
    ])
    func `our own domain leads to our listeners without a query`(uri: String, ways: String) throws {
        #expect(try Self.ways(uri, [Self.listener(.udp), Self.listener(.tcp, port: 5070), Self.listener(.tls, port: 5061)]) == ways)
    }

    @Test func `a sips URI leads nowhere without TLS`() throws {
        #expect(try Self.ways("sips:3000@other.test", [Self.listener(.udp)]) == "")
    }

    @Test(arguments: [
        ("sip:3000@203.0.113.1", "udp 203.0.113.1:5080"), ("sip:8888@203.0.113.1", "udp 203.0.113.1:5060"),
        ("sip:8888@203.0.113.1:5080", "udp 203.0.113.1:5080"), ("sip:3000@203.0.113.1:5099", "udp 203.0.113.1:5099"),
    ])
    func `our address as domain means us by its exact port, or by a number of ours`(uri: String, ways: String) throws {
        #expect(try Self.ways(uri, [Self.listener(.udp, port: 5080)], domain: "203.0.113.1") == ways)
    }

    @Test func `the way to ourselves has the caller's address family, and no TLS where there is a choice`() throws {
        let six = Self.listener(.udp, IPAddress(v6High: 0x2001_0DB8 << 32, low: 1)), tls = Self.listener(.tls, port: 5061)
        #expect(try Self.ways("sip:3000@gateway.test", [six, tls, Self.listener(.udp)]) == "udp 203.0.113.1:5060")
        #expect(try Self.ways("sip:3000@gateway.test", [six]) == "udp [2001:db8::1]:5060")
    }
}
