import Primitives
import Runtime
import Testing
import UserAgent

/// A part of DNS, written down.
private typealias Zone = [DNSQuestion: DNSAnswer]

private func found(_ records: DNSRecord..., ttl: Int64 = 300) -> DNSAnswer {
    DNSAnswer(.found, records: records, timeToLive: .seconds(ttl))
}

private func address(_ text: String) -> DNSRecord { .address(IPAddress(text)!) }

extension ServerLocation {
    /// Asks until nothing is left to ask. Returns what was asked, in order.
    fileprivate mutating func run(_ zone: Zone) -> [DNSQuestion] {
        var asked: [DNSQuestion] = [], waiting = start()
        while !waiting.isEmpty {
            let question = waiting.removeFirst()
            asked.append(question)
            waiting += receive(zone[question] ?? DNSAnswer(.nothing), to: question)
        }
        return asked
    }

    fileprivate var text: [String] {
        (result?.servers ?? []).map { "\($0.transport) \($0.address) \($0.priority & 0xFFFF)/\($0.weight)" }
    }
}

@Suite struct ServerLocationTests {
    private let naptr: Zone = [
        .naptr("example.test"): found(
            .naptr(order: 50, preference: 50, flags: "s", service: "SIPS+D2T", replacement: "_sips._tcp.example.test"),
            .naptr(order: 100, preference: 50, flags: "S", service: "sip+d2u", replacement: "_sip._udp.example.test"),
            .naptr(order: 90, preference: 50, flags: "s", service: "SIP+D2T", replacement: "_sip._tcp.example.test"),
            .naptr(order: 1, preference: 1, flags: "u", service: "E2U+sip", replacement: "")),
        .srv("_sips._tcp.example.test"): found(.srv(priority: 0, weight: 1, port: 5061, target: "a.example.test")),
        .srv("_sip._udp.example.test"): found(
            .srv(priority: 20, weight: 1, port: 5060, target: "b.example.test"),
            .srv(priority: 10, weight: 3, port: 5070, target: "a.example.test")),
        .srv("_sip._tcp.example.test"): found(.srv(priority: 0, weight: 0, port: 0, target: "")),
        .a("a.example.test"): found(address("192.0.2.1"), ttl: 60), .a("b.example.test"): found(address("192.0.2.2")),
        .aaaa("a.example.test"): found(address("2001:db8::1")),
    ]

    /// RFC 3263 §4.1, §4.2.
    @Test func `transports come from NAPTR, servers from SRV, addresses from both families`() {
        var location = ServerLocation(.init(host: "example.test"))
        #expect(location.run(naptr).first == .naptr("example.test"))
        #expect(
            location.text == [
                "tls 192.0.2.1:5061 0/1", "tls [2001:db8::1]:5061 0/1", "udp 192.0.2.1:5070 10/3", "udp [2001:db8::1]:5070 10/3",
                "udp 192.0.2.2:5060 20/1",
            ])
        #expect(location.result?.timeToLive == .seconds(60), "the smallest of all")
    }

    @Test func `what we cannot send over is passed over`() {
        var location = ServerLocation(.init(host: "example.test"), transports: [.udp], families: [.v4])
        let asked = location.run(naptr)
        #expect(location.text == ["udp 192.0.2.1:5070 10/3", "udp 192.0.2.2:5060 20/1"])
        #expect(!asked.contains(.aaaa("a.example.test")) && !asked.contains(.srv("_sips._tcp.example.test")))
    }

    @Test(arguments: [
        (ServerLocation.Domain(host: "192.0.2.9"), ["udp 192.0.2.9:5060 0/1"], 0),
        (.init(host: "[2001:db8::9]", port: 7), ["udp [2001:db8::9]:7 0/1"], 0),
        (.init(host: "192.0.2.9", transport: .tls), ["tls 192.0.2.9:5061 0/1"], 0),
        (.init(host: "a.example.test", port: 5090, transport: .tcp), ["tcp 192.0.2.1:5090 0/1"], 1),
        (.init(host: "a.example.test", port: 5090), ["udp 192.0.2.1:5090 0/1"], 1),
        (.init(host: "example.test", transport: .udp), ["udp 192.0.2.1:5070 10/3", "udp 192.0.2.2:5060 20/1"], 3),
        (.init(host: "b.example.test", transport: .tls), ["tls 192.0.2.2:5061 0/1"], 2),
        (.init(host: "b.example.test"), ["udp 192.0.2.2:5060 0/1"], 5),
        (.init(host: "nowhere.test"), [], 5),
    ])
    func `what is written out is not asked for`(domain: ServerLocation.Domain, servers: [String], questions: Int) {
        var location = ServerLocation(domain, families: [.v4])
        #expect(location.run(naptr).count == questions)
        #expect(location.text == servers)
    }

    @Test func `a domain that says decidedly no is not looked for elsewhere`() {
        var location = ServerLocation(.init(host: "example.test", transport: .tcp), families: [.v4])
        _ = location.run(naptr.merging([.a("example.test"): found(address("192.0.2.99"))]) { $1 })
        #expect(location.text == [])
    }

    @Test func `no answer is asked again soon, and told apart from none`() {
        var location = ServerLocation(.init(host: "example.test", port: 5060), families: [.v4])
        #expect(location.start() == [.a("example.test")])
        #expect(location.receive(DNSAnswer(.failed), to: .a("example.test")) == [])
        let result = location.result
        #expect(result?.servers == [] && result?.timeToLive == .seconds(30) && result?.hasFailed == true)
    }

    @Test(arguments: [(Int64(0), Int64(5)), (1, 5), (600, 600), (1_000_000, 86_400)])
    func `a time to live is respected within bounds`(stated: Int64, kept: Int64) {
        var location = ServerLocation(.init(host: "a.test", port: 5060), families: [.v4])
        _ = location.run([.a("a.test"): found(address("192.0.2.1"), ttl: stated)])
        #expect(location.result?.timeToLive == .seconds(kept))
    }

    @Test func `a domain with a thousand servers is not asked for all of them`() {
        let records = (0..<1_000).map { DNSRecord.srv(priority: 0, weight: 0, port: 5060, target: Text("h\($0).test")) }
        var location = ServerLocation(.init(host: "big.test", transport: .udp), families: [.v4])
        let asked = location.run([.srv("_sip._udp.big.test"): DNSAnswer(.found, records: records, timeToLive: .seconds(60))])
        #expect(asked.count <= ServerLocation.maximumQuestions)
        #expect(location.result != nil)
    }

    @Test func `answers to what was not asked change nothing`() {
        var location = ServerLocation(.init(host: "a.test", port: 5060), families: [.v4])
        _ = location.start()
        #expect(location.receive(found(address("192.0.2.66")), to: .a("evil.test")) == [])
        #expect(location.result == nil)
    }
}

@Suite struct ServerPoolTests {
    private func member(_ last: UInt32, _ priority: Int = 0, _ weight: Int = 1) -> ServerPool.Member {
        ServerPool.Member(
            .init(.udp, SocketAddress(IPAddress(v4: 0xC000_0200 + last), port: 5060), priority: priority, weight: weight), name: "x")
    }

    @Test func `those that answer come first, by priority, and all come`() {
        var pool = ServerPool(), random = SeededRandom(seed: 1)
        pool.set([member(1, 0), member(2, 1), member(3, 2)])
        func order(at seconds: Int64) -> [UInt64] {
            pool.order(at: .zero + .seconds(seconds)) { random.next() }.map { $0.server.address.address.low & 0xFF }
        }
        #expect(order(at: 0) == [1, 2, 3])
        pool.failed(member(1).server.address, .udp, until: .zero + .seconds(30))
        #expect(order(at: 1) == [2, 3, 1])
        pool.failed(member(2).server.address, .udp, until: .zero + .seconds(30))
        pool.failed(member(3).server.address, .udp, until: .zero + .seconds(30))
        #expect(order(at: 1) == [1, 2, 3], "where all have failed all are asked")
        pool.answered(member(3).server.address, .udp)
        #expect(order(at: 1) == [3, 1, 2])
        #expect(order(at: 31) == [1, 2, 3], "a rest is over some time")
        pool.set([member(3, 0), member(4, 0)])
        #expect(order(at: 1).count == 2)
    }

    @Test func `calls are shared by weight`() {
        var pool = ServerPool(), random = SeededRandom(seed: 9), first: [UInt64: Int] = [:]
        pool.set([member(1, 0, 3), member(2, 0, 1), member(3, 0, 0)])
        for _ in 0..<4_000 { first[pool.order(at: .zero) { random.next() }[0].server.address.address.low & 0xFF, default: 0] += 1 }
        #expect((2_800...3_200).contains(first[1]!) && (800...1_200).contains(first[2]!) && (1...60).contains(first[3]!))
    }

    @Test func `what is known of a server stays when the list is renewed`() {
        var pool = ServerPool()
        pool.set([member(1), member(2)])
        pool.failed(member(1).server.address, .udp, until: .zero + .seconds(30))
        pool.set([member(1), member(2), member(5)])
        #expect(pool.isDown(member(1), at: .zero) && !pool.isDown(member(2), at: .zero))
    }
}
