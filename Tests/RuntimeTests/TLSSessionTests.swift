import Primitives
import Runtime
import Testing

/// The certificates in Tests/Corpus, by file name.
func certificate(_ name: String) -> String {
    let parts = "\(#filePath)".split(separator: "/").dropLast(2)
    return "/" + parts.joined(separator: "/") + "/Corpus/certificates/" + name
}

extension TLSSettings {
    /// What the tests' servers show, and clients that believe the tests' authority.
    static func test(_ certificates: [String] = ["server.pem"], clients: String? = nil, servers: String? = "ca.pem") -> TLSSettings {
        var settings = TLSSettings()
        settings.identities = certificates.map { Identity(certificate: certificate($0), key: certificate("leaf.key")) }
        (settings.clientAuthorities, settings.serverAuthorities) = (clients.map(certificate), servers.map(certificate))
        return settings
    }
}

/// A client and a server session, and the wire between them.
private struct SessionPair: ~Copyable {
    var client: TLSSession
    var server: TLSSession
    var clientSaid: [TLSSession.Output] = []
    var serverSaid: [TLSSession.Output] = []

    init(_ client: TLSSettings = .test([]), _ server: TLSSettings = .test(), name: String = "gateway.example.test") throws {
        let (clients, servers) = (try TLSContexts(client), try TLSContexts(server))
        self.init(clients.connect(to: name), servers.accept())
    }

    private init(_ client: consuming TLSSession, _ server: consuming TLSSession) {
        self.client = client
        self.server = server
        clientSaid += self.client.start()
    }

    /// Until neither has anything to say.
    mutating func run(bytesAtATime: Int = .max) {
        while true {
            let there = client.takeOutput(), back = server.takeOutput()
            if there.isEmpty, back.isEmpty { return }
            for part in there.parts(of: bytesAtATime) { serverSaid += server.receive(part) }
            for part in back.parts(of: bytesAtATime) { clientSaid += client.receive(part) }
        }
    }
}

extension [UInt8] {
    fileprivate func parts(of length: Int) -> [[UInt8]] {
        guard length < count else { return isEmpty ? [] : [self] }
        return stride(from: 0, to: count, by: length).map { Array(self[$0..<Swift.min($0 + length, count)]) }
    }
}

extension [TLSSession.Output] {
    fileprivate var bytes: [UInt8] { flatMap { output -> [UInt8] in if case .received(let bytes) = output { bytes } else { [] } } }
    fileprivate var failure: TLSError? { compactMap { if case .failed(let error) = $0 { error } else { nil } }.first }
}

@Suite struct TLSSessionTests {
    @Test(arguments: [Int.max, 1, 7])
    func `both ends say what they have to say`(bytesAtATime: Int) throws {
        var pair = try SessionPair()
        pair.run(bytesAtATime: bytesAtATime)
        #expect(pair.clientSaid == [.established])
        #expect(pair.serverSaid == [.established])
        let long = (0..<50_000).map { UInt8(truncatingIfNeeded: $0) }
        #expect(pair.client.send(long) == [])
        #expect(pair.server.send([1, 2, 3]) == [])
        pair.run(bytesAtATime: bytesAtATime)
        #expect(pair.serverSaid.bytes == long)
        #expect(pair.clientSaid.bytes == [1, 2, 3])
        pair.client.finish()
        pair.run()
        #expect(pair.serverSaid.last == .peerHalfClosed)
    }

    /// RFC 5922 §7.1, §7.2.
    @Test(arguments: [
        ("server.pem", "gateway.example.test", true), ("server.pem", "GATEWAY.example.test", true), ("server.pem", "127.0.0.1", true),
        ("server.pem", "::1", true), ("server.pem", "gateway.example.test.", true), ("server.pem", "other.example.test", false),
        ("server.pem", "example.test", false), ("server.pem", "127.0.0.2", false),
        ("domain.pem", "carrier.example.test", true), ("domain.pem", "edge.example.test", false),
        ("wildcard.pem", "any.example.test", false),
    ])
    func `a certificate must name whom we called`(file: String, name: String, isNamed: Bool) throws {
        var pair = try SessionPair(.test([]), .test([file]), name: name)
        pair.run()
        if isNamed {
            #expect(pair.clientSaid == [.established])
        } else {
            #expect(pair.clientSaid == [.failed(.wrongName(expected: name))])
            #expect(pair.client.send([1]) == [] && pair.client.takeOutput().isEmpty, "nothing is said to a stranger")
        }
    }

    /// RFC 6066 §3.
    @Test(
        arguments: [
            ("gateway.example.test", "gateway.example.test"), ("gateway.example.test.", "gateway.example.test"), ("192.0.2.1", nil),
            ("2001:db8::a", nil),
        ] as [(String, String?)])
    func `a server is asked for by name, without the final dot, and never by address`(peer: String, asked: String?) throws {
        var client = try TLSContexts(.test([])).connect(to: peer)
        _ = client.start()
        let hello = client.takeOutput()
        // A name after its type and length.
        func asks(_ name: String) -> Bool { hello.firstRange(of: [0, 0, UInt8(name.utf8.count)] + Array(name.utf8)) != nil }
        #expect(!hello.isEmpty && (asked.map(asks) ?? !asks(peer)))
    }

    @Test(arguments: [("expired.pem", "certificate has expired"), ("stranger.pem", "unable to get local issuer certificate")])
    func `a certificate that nobody vouches for is refused`(file: String, reason: String) throws {
        var pair = try SessionPair(.test([]), .test([file]))
        pair.run()
        #expect(pair.clientSaid.failure == .untrusted(reason: reason))
        #expect(pair.serverSaid.failure != nil, "it hears an alert")
    }

    @Test func `the system's authorities do not vouch for ours`() throws {
        var pair = try SessionPair(.test([], servers: nil))
        pair.run()
        guard case .untrusted = pair.clientSaid.failure else { return #expect(Bool(false), "\(pair.clientSaid)") }
    }

    @Test(arguments: [("gateway.example.test", true), ("second.example.test", true), ("third.example.test", false)])
    func `a server shows the certificate that it is asked for`(name: String, isThere: Bool) throws {
        var pair = try SessionPair(.test([]), .test(["server.pem", "second.pem"]), name: name)
        pair.run()
        #expect(pair.clientSaid == [isThere ? .established : .failed(.wrongName(expected: name))])
    }

    @Test(arguments: [(["client.pem"], true), ([], false), (["stranger.pem"], false), (["expired.pem"], false)])
    func `a client shows a certificate where one is demanded`(certificates: [String], isLetIn: Bool) throws {
        var pair = try SessionPair(.test(certificates), .test(clients: "ca.pem"))
        pair.run()
        #expect(pair.serverSaid.contains(.established) == isLetIn)
        #expect((pair.serverSaid.failure == nil) == isLetIn)
    }

    @Test func `garbage ends a session`() throws {
        var pair = try SessionPair()
        #expect(pair.server.receive(Array("OPTIONS sip:x SIP/2.0\r\n\r\n".utf8)).failure != nil)
        #expect(pair.server.receive([1, 2, 3]) == [])
    }

    @Test func `a handshake has room for a chain and not for a flood`() throws {
        var pair = try SessionPair()
        // A record of a handshake that announces more than ever comes.
        let record: [UInt8] = [22, 3, 3, 0x40, 0] + [1, 0xFF, 0xFF, 0xFF] + Array(repeating: 0, count: 16_380)
        var said: [TLSSession.Output] = []
        for _ in 0..<8 where said.failure == nil { said += pair.server.receive(record) }
        #expect(said.failure != nil)
    }

    @Test func `a flipped bit anywhere breaks a session and nothing else`() throws {
        var random = SeededRandom(seed: 5)
        for _ in 0..<200 {
            var pair = try SessionPair()
            var hello = pair.client.takeOutput()
            // Behind the head of the record, whose version nobody looks at.
            hello[5 + Int(random.next() % UInt64(hello.count - 5))] ^= 1 << UInt8(random.next() % 8)
            pair.serverSaid += pair.server.receive(hello)
            pair.run()
            // A changed hello may be a good one; it is never one that both believe in.
            #expect(!(pair.clientSaid == [.established] && pair.serverSaid == [.established]))
        }
    }

    @Test(arguments: [
        (TLSSettings.Identity(certificate: "/nowhere/cert.pem", key: "leaf.key"), TLSError.unreadable(path: "/nowhere/cert.pem")),
        (TLSSettings.Identity(certificate: "server.pem", key: "/nowhere/a.key"), .unreadable(path: "/nowhere/a.key")),
        (TLSSettings.Identity(certificate: "leaf.key", key: "leaf.key"), .noCertificate(path: certificate("leaf.key"))),
        (TLSSettings.Identity(certificate: "server.pem", key: "server.pem"), .noKey(path: certificate("server.pem"))),
        (
            TLSSettings.Identity(certificate: "server.pem", key: "other.key"),
            .keyDoesNotMatch(key: certificate("other.key"), certificate: certificate("server.pem"))
        ),
    ])
    func `files that are wrong are named`(identity: TLSSettings.Identity, expected: TLSError) {
        var settings = TLSSettings()
        func path(_ name: String) -> String { name.hasPrefix("/") ? name : certificate(name) }
        settings.identities = [.init(certificate: path(identity.certificate), key: path(identity.key))]
        #expect(throws: expected) { try Self.load(settings) }
    }

    @Test func `authorities that are none are named`() {
        #expect(throws: TLSError.noAuthorities(path: certificate("leaf.key"))) { try Self.load(.test(servers: "leaf.key")) }
    }

    // Not typed: swiftc 6.3.1 crashes on a closure that throws a TLSError where any error is expected.
    private static func load(_ settings: TLSSettings) throws { _ = try TLSContexts(settings) }
}
