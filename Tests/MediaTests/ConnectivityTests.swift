import Audio
import Media
import Primitives
import RTP
import Runtime
import SDP
import Testing

/// The far end's side of checks: makes them as a controlling agent, and reads our answers.
private struct Checker {
    var user: String
    var password: [UInt8]

    func request(nominates: Bool, transaction: UInt8 = 1, priority: UInt32 = 0x6E00_01FF) -> [UInt8] {
        var bytes: [UInt8] = [0, 1, 0, 0, 0x21, 0x12, 0xA4, 0x42] + [UInt8](repeating: transaction, count: 12)
        func add(_ type: UInt16, _ value: [UInt8]) {
            bytes += [UInt8(type >> 8), UInt8(type & 0xFF), UInt8(value.count >> 8), UInt8(value.count & 0xFF)] + value
            while bytes.count % 4 != 0 { bytes.append(0) }
        }
        func setLength(_ extra: Int) {
            (bytes[2], bytes[3]) = (UInt8((bytes.count - 20 + extra) >> 8), UInt8((bytes.count - 20 + extra) & 0xFF))
        }
        add(0x0006, Array(user.utf8))
        add(0x0024, (0..<4).map { UInt8(truncatingIfNeeded: priority >> (24 - 8 * $0)) })
        add(0x802A, [1, 2, 3, 4, 5, 6, 7, 8])
        if nominates { add(0x0025, []) }
        setLength(24)
        add(0x0008, OpenSSLDigest.hmac(.sha1, key: password, bytes))
        setLength(8)
        var sum: UInt32 = 0xFFFF_FFFF
        for byte in bytes {
            sum ^= UInt32(byte)
            for _ in 0..<8 { sum = sum >> 1 ^ (sum & 1 == 1 ? 0xEDB8_8320 : 0) }
        }
        add(0x8028, (0..<4).map { UInt8(truncatingIfNeeded: (~sum ^ 0x5354_554E) >> (24 - 8 * UInt32($0))) })
        return bytes
    }

    /// Whether there is one answer, and it is ours and good.
    func isAnswered(_ datagrams: [[UInt8]]) throws -> Bool {
        let answers = try datagrams.filter { $0[0] < 4 }.map { try STUNMessage(parsing: $0) }
        return answers.count == 1 && answers[0].messageClass == .success
            && answers[0].isAuthentic(key: password) { OpenSSLDigest.hmac(.sha1, key: $0, $1) }
    }
}

@Suite struct ConnectivityTests {
    private let bench = Bench()
    private let checker = Checker(user: "mine:evtj", password: Array("0123456789abcdefghijkl".utf8))
    private var alice = FarEnd("198.51.100.1", port: 4_000, ssrc: 0xA11CE)
    private let elsewhere = SocketAddress("203.0.113.9:7000")!

    private func agreed(_ user: Text = "mine", _ remote: Text = "evtj") -> NegotiatedICE {
        NegotiatedICE(local: ICECredentials(user: user, password: "0123456789abcdefghijkl")!, remoteUser: remote)
    }

    private func open(_ source: MediaSource = .echo, mux: Bool = true) throws -> MediaLegID {
        let leg = try bench.open(1, port: 20_000, far: alice.address, source: source, mux: mux)
        try bench.update(leg) { $0.audio.ice = agreed() }
        return leg
    }

    @Test mutating func `media is heard and goes only where the far end nominated, and others are counted`() throws {
        let leg = try open(.tone(.dial))
        try bench.start(leg)
        bench.pass(.milliseconds(100))
        #expect(bench.network.take(to: alice.address).isEmpty, "not to the address of the description")
        bench.arrive(alice.packet(0), from: alice.address, at: 20_000)
        #expect(try bench.statistics(leg).refused.stranger == 1)

        bench.arrive(checker.request(nominates: false), from: elsewhere, at: 20_000)
        #expect(try checker.isAnswered(bench.network.take(to: elsewhere)))
        bench.pass(.milliseconds(100))
        #expect(bench.heard(by: elsewhere).isEmpty, "a check alone is no nomination")
        bench.arrive(checker.request(nominates: true), from: elsewhere, at: 20_000)
        bench.pass(.milliseconds(100))
        #expect(bench.heard(by: elsewhere).count >= 4)
        bench.arrive(alice.packet(0), from: elsewhere, at: 20_000)
        bench.arrive(alice.packet(0), from: alice.address, at: 20_000)
        let statistics = try bench.statistics(leg)
        #expect(statistics.receiving.packets == 1 && statistics.refused.stranger == 2)
    }

    @Test mutating func `checks that nobody vouches for select nothing, and are counted`() throws {
        let leg = try open()
        try bench.start(leg)
        bench.arrive(
            Checker(user: "mine:evtj", password: Array("another one, as long as it".utf8)).request(nominates: true), from: elsewhere,
            at: 20_000)
        bench.arrive(Checker(user: "mine:other", password: checker.password).request(nominates: true), from: elsewhere, at: 20_000)
        bench.arrive([0, 1, 0, 0, 1, 2, 3, 4, 5], from: elsewhere, at: 20_000)
        bench.arrive(alice.packet(0), from: elsewhere, at: 20_000)
        #expect(bench.heard(by: elsewhere).isEmpty)
        let refused = try bench.statistics(leg).refused
        #expect(refused.checks == 3 && refused.stranger == 1)
    }

    /// RFC 7675: a far end whose consent checks go unanswered for 30 s gives the call up, also while it is held.
    @Test mutating func `checks are answered before the start and while the leg is held, and no media leaves then`() throws {
        let leg = try open()
        bench.arrive(checker.request(nominates: true), from: elsewhere, at: 20_000)
        #expect(try checker.isAnswered(bench.network.take(to: elsewhere)))
        try bench.start(leg)
        bench.arrive(alice.packet(0), from: elsewhere, at: 20_000)
        #expect(bench.heard(by: elsewhere).count == 1, "the nomination stands")
        try bench.engine.stop(leg, at: bench.now)
        bench.arrive(checker.request(nominates: false, transaction: 2), from: elsewhere, at: 20_000)
        bench.arrive(alice.packet(0), from: elsewhere, at: 20_000)
        let sent = bench.network.take(to: elsewhere)
        #expect(try checker.isAnswered(sent))
        #expect(sent.count == 1)
    }

    @Test mutating func `after a restart the old place stays in use until a new one is nominated, with the new credentials`() throws {
        let leg = try open()
        try bench.start(leg)
        bench.arrive(checker.request(nominates: true), from: alice.address, at: 20_000)
        try bench.update(leg) { $0.audio.ice = agreed("anew", "news") }
        _ = bench.network.take(to: alice.address)
        bench.arrive(alice.packet(0), from: alice.address, at: 20_000)
        #expect(bench.heard(by: alice.address).count == 1)
        bench.arrive(checker.request(nominates: true), from: elsewhere, at: 20_000)
        bench.arrive(alice.packet(0), from: elsewhere, at: 20_000)
        #expect(bench.heard(by: elsewhere).isEmpty, "the old credentials are over")
        bench.arrive(Checker(user: "anew:news", password: checker.password).request(nominates: true), from: elsewhere, at: 20_000)
        bench.arrive(alice.packet(0), from: elsewhere, at: 20_000)
        #expect(bench.heard(by: elsewhere).count == 1)
        bench.arrive(alice.packet(0), from: alice.address, at: 20_000)
        #expect(bench.heard(by: alice.address).isEmpty)
        #expect(try bench.statistics(leg).refused.checks == 1)
        // A new description without checks: media goes where it says.
        try bench.update(leg) { $0.audio.ice = nil }
        bench.arrive(alice.packet(0), from: alice.address, at: 20_000)
        #expect(bench.heard(by: alice.address).count == 1)
    }

    @Test mutating func `RTCP on a port of its own has checks of its own`() throws {
        let leg = try open(mux: false)
        try bench.start(leg)
        let control = SocketAddress(elsewhere.address, port: 7_001)
        bench.arrive(checker.request(nominates: true), from: elsewhere, at: 20_000)
        for _ in 0..<3 { bench.arrive(alice.packet(0), from: elsewhere, at: 20_000) }
        bench.pass(.seconds(12))
        #expect(
            bench.network.take(to: control).isEmpty && bench.network.take(to: SocketAddress(alice.address.address, port: 4_001)).isEmpty)
        bench.arrive(checker.request(nominates: true, transaction: 3), from: control, at: 20_001)
        #expect(try checker.isAnswered(bench.network.take(to: control)))
        bench.pass(.seconds(12))
        #expect(!bench.network.take(to: control).isEmpty)
    }

    @Test mutating func `the handshake of RTCP is taken from where that was nominated alone`() throws {
        let identity = DTLSIdentity(), control = SocketAddress(elsewhere.address, port: 7_001), stranger = SocketAddress("203.0.113.66:5")!
        let leg = try open(mux: false)
        try bench.update(leg) { $0.audio.security = .dtls(begins: false, peer: Fingerprint(.sha256, identity.fingerprint)!) }
        try bench.start(leg)
        bench.arrive(checker.request(nominates: true), from: elsewhere, at: 20_000)
        bench.arrive(checker.request(nominates: true, transaction: 3), from: control, at: 20_001)
        bench.network.sent = []
        let far = DTLSAssociation(identity, begins: true, peer: DTLSIdentity.ofThisProcess.fingerprint)
        for case .send(let hello) in far.start() {
            bench.arrive(hello, from: stranger, at: 20_001)
            #expect(bench.network.sent.isEmpty)
            bench.arrive(hello, from: control, at: 20_001)
            #expect(!bench.network.take(to: control).isEmpty)
        }
        #expect(try bench.statistics(leg).refused.stranger == 1)
    }

    /// A browser that is called sends its hello a second before it nominates (measured with Chromium: 1.7 s of silence).
    @Test mutating func `a handshake is taken from a checked address before anything is nominated, and media goes there`() throws {
        let identity = DTLSIdentity(), unchecked = SocketAddress("203.0.113.66:5")!
        let leg = try open(.tone(.dial))
        try bench.update(leg) { $0.audio.security = .dtls(begins: false, peer: Fingerprint(.sha256, identity.fingerprint)!) }
        try bench.start(leg)
        let far = DTLSAssociation(identity, begins: true, peer: DTLSIdentity.ofThisProcess.fingerprint)
        let hello = far.start()
        for case .send(let datagram) in hello { bench.arrive(datagram, from: elsewhere, at: 20_000) }
        #expect(bench.network.take(to: elsewhere).isEmpty, "nobody has vouched for it yet")
        bench.arrive(checker.request(nominates: false), from: elsewhere, at: 20_000)
        bench.network.sent = []
        for case .send(let datagram) in hello {
            bench.arrive(datagram, from: unchecked, at: 20_000)
            #expect(bench.network.sent.isEmpty)
        }
        var pending = hello, isEstablished = false
        for _ in 0..<10 where !isEstablished {
            for case .send(let datagram) in pending { bench.arrive(datagram, from: elsewhere, at: 20_000) }
            pending = bench.network.take(to: elsewhere).flatMap { datagram in datagram.withUnsafeBytes { far.receive($0) } }
            isEstablished = pending.contains { if case .established = $0 { true } else { false } }
        }
        #expect(isEstablished)
        for case .send(let datagram) in pending { bench.arrive(datagram, from: elsewhere, at: 20_000) }
        bench.pass(.milliseconds(100))
        #expect(bench.heard(by: elsewhere).count >= 4)
        let nominated = SocketAddress("203.0.113.9:7002")!
        bench.arrive(checker.request(nominates: true, transaction: 2), from: nominated, at: 20_000)
        bench.network.sent = []
        bench.pass(.milliseconds(100))
        #expect(bench.heard(by: elsewhere).isEmpty && bench.heard(by: nominated).count >= 4)
    }

    @Test mutating func `a handshake waits for the nomination, and is taken from there alone`() throws {
        let identity = DTLSIdentity()
        let leg = try open()
        try bench.update(leg) { $0.audio.security = .dtls(begins: true, peer: Fingerprint(.sha256, identity.fingerprint)!) }
        try bench.start(leg)
        bench.pass(.seconds(1))
        #expect(bench.network.sent.isEmpty)
        #expect(try bench.statistics(leg).refused.sendFailed == 0)
        bench.arrive(checker.request(nominates: true), from: elsewhere, at: 20_000)
        let hello = try #require(bench.network.take(to: elsewhere).first { $0[0] == 22 })
        let far = DTLSAssociation(identity, begins: false, peer: DTLSIdentity.ofThisProcess.fingerprint)
        var replies: [[UInt8]] = []
        for case .send(let datagram) in hello.withUnsafeBytes({ far.receive($0) }) {
            bench.arrive(datagram, from: alice.address, at: 20_000)
            #expect(bench.network.take(to: elsewhere).isEmpty)
            bench.arrive(datagram, from: elsewhere, at: 20_000)
            replies += bench.network.take(to: elsewhere)
        }
        var keys: Bool?
        for datagram in replies {
            for case .established in datagram.withUnsafeBytes({ far.receive($0) }) { keys = true }
        }
        #expect(keys == true)
        #expect(try bench.statistics(leg).refused.stranger > 0)
    }
}
