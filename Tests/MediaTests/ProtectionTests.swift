import Audio
import Media
import Primitives
import RTP
import Runtime
import SDP
import Testing

/// A far end that speaks SRTP.
private struct SecureFarEnd {
    var plain: FarEnd
    let sender: SRTPSender
    let receiver: SRTPReceiver

    init(_ plain: FarEnd, sends: SRTPKey, receives: SRTPKey) {
        (self.plain, sender, receiver) = (plain, SRTPSender(sends), SRTPReceiver(receives))
    }

    func sealed(_ packet: [UInt8]) throws -> [UInt8] {
        var buffer = packet + [UInt8](repeating: 0, count: SRTPSender.overhead)
        let count = try buffer.withUnsafeMutableBytes {
            try isRTP(packet) ? sender.protect($0, count: packet.count) : sender.protectControl($0, count: packet.count)
        }
        return Array(buffer[..<count])
    }

    func opened(_ packet: [UInt8]) throws -> [UInt8] {
        var buffer = packet
        let count = try buffer.withUnsafeMutableBytes { try isRTP(packet) ? receiver.unprotect($0) : receiver.unprotectControl($0) }
        return Array(buffer[..<count])
    }
}

@Suite struct ProtectionTests {
    private let bench = Bench()
    private var alice = FarEnd("198.51.100.1", port: 4_000, ssrc: 0xA11CE)
    private var bob = FarEnd("198.51.100.2", port: 5_000, ssrc: 0xB0B)

    private func key(_ seed: UInt64, _ suite: SRTPSuite = .aes128CMSHA1_80) -> SRTPKey {
        var random = SeededRandom(seed: seed)
        return SRTPKey(suite, using: &random)
    }

    /// Alice speaks SRTP, Bob does not.
    private func bridge(_ suite: SRTPSuite = .aes128CMSHA1_80) throws -> (a: MediaLegID, b: MediaLegID, alice: SecureFarEnd) {
        let a = try bench.open(1, port: 20_000, far: alice.address)
        let b = try bench.open(2, port: 20_002, far: bob.address)
        try bench.update(a) { $0.audio.security = .keys(send: key(1, suite), receive: key(2, suite)) }
        try bench.engine.link(a, b, at: bench.now)
        try bench.start(a, b)
        return (a, b, SecureFarEnd(alice, sends: key(2, suite), receives: key(1, suite)))
    }

    @Test(arguments: SRTPSuite.allCases) mutating func `an encrypted leg is bridged to a plain one, both ways`(suite: SRTPSuite) throws {
        let (_, _, secure) = try bridge(suite)
        let sound = (0..<160).map { UInt8($0) }
        for _ in 0..<3 {
            bench.arrive(try secure.sealed(alice.packet(0, sound)), from: alice.address, at: 20_000)
            #expect(try payload(#require(bench.heard(by: bob.address).first)) == sound)
            bench.arrive(bob.packet(0, sound), from: bob.address, at: 20_002)
            let wire = try #require(bench.heard(by: alice.address).first)
            #expect(try payload(wire).prefix(160) != sound[...])
            #expect(try payload(secure.opened(wire)) == sound)
        }
    }

    @Test mutating func `what is in the clear, of another key or replayed is not heard, latches nothing and is counted`() throws {
        let (a, _, secure) = try bridge()
        let stranger = SocketAddress("203.0.113.9:7000")!
        bench.arrive(alice.packet(0), from: stranger, at: 20_000)
        bench.arrive(try SecureFarEnd(alice, sends: key(3), receives: key(3)).sealed(alice.packet(0)), from: stranger, at: 20_000)
        #expect(bench.heard(by: bob.address).isEmpty)
        let genuine = try secure.sealed(alice.packet(0))
        bench.arrive(genuine, from: alice.address, at: 20_000)
        bench.arrive(genuine, from: alice.address, at: 20_000)
        #expect(bench.heard(by: bob.address).count == 1)
        let refused = try bench.statistics(a).refused
        #expect(refused.forged == 2)
        #expect(refused.replayed == 1)
        #expect(refused.stranger == 0)
        #expect(refused.total == 3)
    }

    @Test mutating func `reports are encrypted too, both ways`() throws {
        let (a, _, secure) = try bridge()
        bench.arrive(try secure.sealed(alice.packet(0)), from: alice.address, at: 20_000)
        bench.pass(.seconds(12))
        let reports = bench.network.take(to: alice.address).filter { !isRTP($0) }
        #expect(!reports.isEmpty)
        // A sender or receiver report of ours, not what a key makes of it.
        for report in reports { #expect([200, 201].contains(try secure.opened(report)[1])) }
        let before = try bench.statistics(a).refused.malformed
        var plain: [UInt8] = [0x80, 201, 0, 1]
        plain += (0..<4).map { UInt8(truncatingIfNeeded: alice.ssrc >> (24 - 8 * $0)) }
        bench.arrive(plain, from: alice.address, at: 20_000)
        bench.arrive(try secure.sealed(plain), from: alice.address, at: 20_000)
        let refused = try bench.statistics(a).refused
        #expect(refused.forged + refused.malformed - before == 1)
    }

    /// Forty minutes of held music are more than a turn of the sequence number.
    @Test mutating func `the rollover is right after a long hold, and after a new key`() throws {
        let (a, _, secure) = try bridge()
        bench.arrive(try secure.sealed(alice.packet(0)), from: alice.address, at: 20_000)
        try bench.engine.stop(a, at: bench.now)
        for number in 0..<100_000 {
            let packet = alice.packet(0)
            if number % 100 == 0 { bench.arrive(try secure.sealed(packet), from: alice.address, at: 20_000) }
        }
        try bench.start(a)
        for _ in 0..<5 { bench.arrive(try secure.sealed(alice.packet(0)), from: alice.address, at: 20_000) }
        #expect(bench.heard(by: bob.address).count > 4, "one of before, and all but the one that could be astray")
        #expect(try bench.statistics(a).refused.forged == 0)

        try bench.update(a) { $0.audio.security = .keys(send: key(1), receive: key(9)) }
        let rekeyed = SecureFarEnd(alice, sends: key(9), receives: key(1))
        bench.arrive(try rekeyed.sealed(alice.packet(0)), from: alice.address, at: 20_000)
        #expect(bench.heard(by: bob.address).count == 1)
    }

    /// The far end's handshake over the virtual wire, until it has keys.
    ///
    /// - Parameter meanwhile: before each of its datagrams.
    private func shakeHands(
        _ far: DTLSAssociation, _ outputs: [DTLSAssociation.Output], from address: SocketAddress, to port: UInt16 = 20_000,
        meanwhile: () -> Void = {}
    ) -> (send: SRTPKey, receive: SRTPKey)? {
        var outputs = outputs
        var keys: (send: SRTPKey, receive: SRTPKey)?
        for _ in 0..<10 {
            for output in outputs {
                switch output {
                case .send(let datagram):
                    meanwhile()
                    bench.arrive(datagram, from: address, at: port)
                case .established(let send, let receive): keys = (send, receive)
                case .failed: return nil
                }
            }
            outputs = bench.network.take(to: address).flatMap { datagram in datagram.withUnsafeBytes { far.receive($0) } }
        }
        return keys
    }

    @Test(arguments: [true, false]) mutating func `keys come from a handshake between the sockets, from the start on and not before`(
        begins: Bool
    ) throws {
        let identity = DTLSIdentity()
        let a = try bench.open(1, port: 20_000, far: alice.address)
        let b = try bench.open(2, port: 20_002, far: bob.address)
        try bench.update(a) { $0.audio.security = .dtls(begins: begins, peer: Fingerprint(.sha256, identity.fingerprint)!) }
        try bench.engine.link(a, b, at: bench.now)
        #expect(bench.network.sent.isEmpty)
        try bench.start(a, b)
        let begun = bench.network.take(to: alice.address)
        #expect(begun.isEmpty != begins)
        bench.arrive(bob.packet(0), from: bob.address, at: 20_002)
        #expect(bench.network.take(to: alice.address).isEmpty, "nothing leaves without keys")

        let far = DTLSAssociation(identity, begins: !begins, peer: DTLSIdentity.ofThisProcess.fingerprint)
        // Behind a NAT: not where its description says.
        let seen = begins ? alice.address : SocketAddress("203.0.113.7:6000")!
        let hello = begins ? begun.flatMap { datagram in datagram.withUnsafeBytes { far.receive($0) } } : far.start()
        let keys = try #require(shakeHands(far, hello, from: seen))
        let secure = SecureFarEnd(alice, sends: keys.send, receives: keys.receive)
        bench.arrive(try secure.sealed(alice.packet(0)), from: seen, at: 20_000)
        #expect(bench.heard(by: bob.address).count == 1)
        bench.arrive(bob.packet(0), from: bob.address, at: 20_002)
        _ = try secure.opened(try #require(bench.heard(by: seen).first))
        #expect(bench.events[a]?.contains(.unprotected) != true)
        try bench.engine.stop(a, at: bench.now)
    }

    @Test(arguments: [true, false]) mutating func `RTCP on a port of its own has a handshake and keys of its own`(begins: Bool) throws {
        let identity = DTLSIdentity(), control = SocketAddress(alice.address.address, port: alice.address.port + 1)
        let a = try bench.open(1, port: 20_000, far: alice.address, source: .tone(Tone(440)), mux: false)
        try bench.update(a) { $0.audio.security = .dtls(begins: begins, peer: Fingerprint(.sha256, identity.fingerprint)!) }
        try bench.start(a)
        var keys: [(send: SRTPKey, receive: SRTPKey)] = []
        for (address, port) in [(alice.address, 20_000 as UInt16), (control, 20_001)] {
            let far = DTLSAssociation(identity, begins: !begins, peer: DTLSIdentity.ofThisProcess.fingerprint)
            let hello =
                begins ? bench.network.take(to: address).flatMap { datagram in datagram.withUnsafeBytes { far.receive($0) } } : far.start()
            keys.append(try #require(shakeHands(far, hello, from: address, to: port)))
        }
        #expect(keys[0].send != keys[1].send)
        let sound = SecureFarEnd(alice, sends: keys[0].send, receives: keys[0].receive),
            reports = SecureFarEnd(alice, sends: keys[1].send, receives: keys[1].receive)
        bench.arrive(try sound.sealed(alice.packet(0)), from: alice.address, at: 20_000)
        bench.pass(.seconds(12))
        let heard = bench.heard(by: alice.address)
        #expect(heard.count > 500, "\(heard.count)")
        for packet in heard { _ = try sound.opened(packet) }
        let told = bench.network.take(to: control)
        #expect(!told.isEmpty)
        for report in told { _ = try reports.opened(report) }
        #expect(throws: SRTPRefusal.forged) { try sound.opened(told[0]) }
        let refused = try bench.statistics(a).refused
        #expect(refused.forged + refused.malformed + refused.stranger == 0)
    }

    /// RFC 5764 §4.1: what comes and goes on one port has the keys of one handshake.
    @Test mutating func `reports that join the port of RTP later have its keys`() throws {
        let identity = DTLSIdentity(), leg = try open(begins: false, identity, mux: false),
            control = SocketAddress(alice.address.address, port: alice.address.port + 1)
        var keys: [(send: SRTPKey, receive: SRTPKey)] = []
        for (address, port) in [(alice.address, 20_000 as UInt16), (control, 20_001)] {
            let far = DTLSAssociation(identity, begins: true, peer: DTLSIdentity.ofThisProcess.fingerprint)
            keys.append(try #require(shakeHands(far, far.start(), from: address, to: port)))
        }
        let secure = SecureFarEnd(alice, sends: keys[0].send, receives: keys[0].receive), home = alice.address
        bench.arrive(try secure.sealed(alice.packet(0)), from: home, at: 20_000)
        try bench.update(leg) { ($0.audio.rtcpMux, $0.audio.remoteRTCP) = (true, home) }
        bench.pass(.seconds(12))
        let told = bench.network.take(to: home)
        #expect(!told.isEmpty && bench.network.take(to: control).isEmpty)
        for report in told { #expect([200, 201].contains(try secure.opened(report)[1])) }
        var session = RTCPSession(ssrc: alice.ssrc, cname: "x", clockRate: 8_000, seed: 1, at: bench.now)
        bench.arrive(try secure.sealed(session.goodbye(at: bench.now)), from: home, at: 20_000)
        let refused = try bench.statistics(leg).refused
        #expect(refused.forged + refused.malformed + refused.stranger + refused.sendFailed == 0)
    }

    @Test(arguments: [true, false]) mutating func `reports that leave the port of RTP later have a handshake and keys of their own`(
        begins: Bool
    ) throws {
        let identity = DTLSIdentity(), leg = try open(begins: begins, identity, mux: false), home = alice.address,
            control = SocketAddress(home.address, port: home.port + 1)
        try bench.update(leg) { ($0.audio.rtcpMux, $0.audio.remoteRTCP) = (true, home) }
        bench.network.sent = []
        try bench.update(leg) { ($0.audio.rtcpMux, $0.audio.remoteRTCP) = (false, control) }
        let far = DTLSAssociation(identity, begins: !begins, peer: DTLSIdentity.ofThisProcess.fingerprint)
        let hello =
            begins ? bench.network.take(to: control).flatMap { datagram in datagram.withUnsafeBytes { far.receive($0) } } : far.start()
        let keys = try #require(shakeHands(far, hello, from: control, to: 20_001))
        let secure = SecureFarEnd(alice, sends: keys.send, receives: keys.receive)
        bench.pass(.seconds(12))
        let told = bench.network.take(to: control)
        #expect(!told.isEmpty)
        for report in told { #expect([200, 201].contains(try secure.opened(report)[1])) }
    }

    /// Our port of RTCP was given back when the far end agreed to use one: its reports come to our port of RTP.
    @Test(arguments: [true, false])
    mutating func `reports that leave the far end's port of RTP alone have a handshake and keys of their own`(begins: Bool) throws {
        let identity = DTLSIdentity(), leg = try open(begins: begins, identity)
        let home = alice.address, control = SocketAddress(home.address, port: home.port + 1)
        func far() -> DTLSAssociation { DTLSAssociation(identity, begins: !begins, peer: DTLSIdentity.ofThisProcess.fingerprint) }
        let speaker = far(), reporter = far()
        let first =
            begins ? bench.network.take(to: home).flatMap { datagram in datagram.withUnsafeBytes { speaker.receive($0) } } : speaker.start()
        let soundKeys = try #require(shakeHands(speaker, first, from: home))
        let sound = SecureFarEnd(alice, sends: soundKeys.send, receives: soundKeys.receive)
        bench.arrive(try sound.sealed(alice.packet(0)), from: home, at: 20_000)
        bench.network.sent = []
        try bench.update(leg) { ($0.audio.rtcpMux, $0.audio.remoteRTCP) = (false, control) }
        var session = RTCPSession(ssrc: alice.ssrc, cname: "x", clockRate: 8_000, seed: 1, at: bench.now)
        bench.arrive(try sound.sealed(session.goodbye(at: bench.now)), from: control, at: 20_000)
        #expect(try bench.statistics(leg).refused.forged == 1, "nothing is believed without keys")
        let second =
            begins
            ? bench.network.take(to: control).flatMap { datagram in datagram.withUnsafeBytes { reporter.receive($0) } } : reporter.start()
        let reportKeys = try #require(shakeHands(reporter, second, from: control))
        #expect(reportKeys.send != soundKeys.send)
        let reports = SecureFarEnd(alice, sends: reportKeys.send, receives: reportKeys.receive)
        bench.pass(.seconds(12))
        let told = bench.network.take(to: control)
        #expect(!told.isEmpty)
        for report in told { #expect([200, 201].contains(try reports.opened(report)[1])) }
        bench.arrive(try reports.sealed(session.goodbye(at: bench.now)), from: control, at: 20_000)
        bench.arrive(try sound.sealed(alice.packet(0)), from: home, at: 20_000)
        let statistics = try bench.statistics(leg)
        #expect(
            statistics.receiving.packets == 2 && statistics.refused.forged == 1
                && statistics.refused.malformed + statistics.refused.stranger == 0)
        #expect(bench.events[leg]?.contains(.unprotected) != true)
    }

    /// RFC 8842 §3.1: under the same certificate, too. A first name is none of a new one, for who answers may have given none.
    @Test(arguments: [(true, "a"), (false, "b"), (true, "b")] as [(Bool, Text)])
    mutating func `another part or another name is a new handshake, with new keys`(begins: Bool, name: Text) throws {
        let identity = DTLSIdentity(), leg = try open(begins: false, identity),
            certificate = try #require(Fingerprint(.sha256, identity.fingerprint))
        let first = DTLSAssociation(identity, begins: true, peer: DTLSIdentity.ofThisProcess.fingerprint)
        let keys = try #require(shakeHands(first, first.start(), from: alice.address))
        let secure = SecureFarEnd(alice, sends: keys.send, receives: keys.receive)
        try bench.update(leg) { $0.audio.security = .dtls(begins: false, peer: certificate, tlsID: "a") }
        bench.arrive(try secure.sealed(alice.packet(0)), from: alice.address, at: 20_000)
        #expect(try bench.statistics(leg).receiving.packets == 1, "a first name changes nothing")

        bench.network.sent = []
        try bench.update(leg) { $0.audio.security = .dtls(begins: begins, peer: certificate, tlsID: name) }
        bench.arrive(try secure.sealed(alice.packet(0)), from: alice.address, at: 20_000)
        #expect(try bench.statistics(leg).receiving.packets == 1, "the keys of before are no more")
        let far = DTLSAssociation(identity, begins: !begins, peer: DTLSIdentity.ofThisProcess.fingerprint)
        let hello =
            begins
            ? bench.network.take(to: alice.address).flatMap { datagram in datagram.withUnsafeBytes { far.receive($0) } } : far.start()
        let anew = try #require(shakeHands(far, hello, from: alice.address))
        #expect(anew.receive != keys.receive)
        bench.arrive(
            try SecureFarEnd(alice, sends: anew.send, receives: anew.receive).sealed(alice.packet(0)), from: alice.address, at: 20_000)
        #expect(try bench.statistics(leg).receiving.packets == 2)
    }

    @Test mutating func `a handshake with another certificate gives no keys and is told of`() throws {
        let a = try bench.open(1, port: 20_000, far: alice.address)
        try bench.update(a) { $0.audio.security = .dtls(begins: false, peer: Fingerprint(.sha256, DTLSIdentity().fingerprint)!) }
        try bench.start(a)
        let far = DTLSAssociation(DTLSIdentity(), begins: true, peer: DTLSIdentity.ofThisProcess.fingerprint)
        _ = shakeHands(far, far.start(), from: alice.address)
        #expect(bench.events[a]?.contains(.unprotected) == true)
        #expect(try bench.statistics(a).receiving.packets == 0)
    }

    private static let stranger = SocketAddress("203.0.113.66:5")!, natted = SocketAddress("203.0.113.7:6000")!
    /// A fatal alert in the clear: handshake_failure.
    private static let alert: [UInt8] = [21, 254, 253, 0, 0, 0, 0, 0, 0, 0, 9, 0, 2, 2, 40]

    /// A leg whose keys come from a handshake with that certificate, started.
    private func open(begins: Bool, _ identity: DTLSIdentity, mux: Bool = true) throws -> MediaLegID {
        let leg = try bench.open(1, port: 20_000, far: alice.address, mux: mux)
        try bench.update(leg) { $0.audio.security = .dtls(begins: begins, peer: Fingerprint(.sha256, identity.fingerprint)!) }
        try bench.start(leg)
        return leg
    }

    /// Those whom the port of a call is known to, by chance or not.
    @Test(arguments: [true, false], [true, false])
    mutating func `what a stranger sends ends no handshake, wherever the far end is`(isNatted: Bool, isFirst: Bool) throws {
        let identity = DTLSIdentity(), leg = try open(begins: false, identity)
        let stranger = DTLSAssociation(DTLSIdentity(), begins: true, peer: DTLSIdentity.ofThisProcess.fingerprint)
        let hello = stranger.start()
        let disturb = { [bench] in
            bench.arrive(Self.alert, from: Self.stranger, at: 20_000)
            for _ in 0..<60 { bench.arrive([UInt8](repeating: 22, count: 1_200), from: Self.stranger, at: 20_000) }
            for case .send(let datagram) in hello { bench.arrive(datagram, from: Self.stranger, at: 20_000) }
        }
        if isFirst {
            for case .send(let datagram) in hello { bench.arrive(datagram, from: Self.stranger, at: 20_000) }
            disturb()
        }
        let far = DTLSAssociation(identity, begins: true, peer: DTLSIdentity.ofThisProcess.fingerprint),
            seen = isNatted ? Self.natted : alice.address
        let begun = far.start()
        for case .send(let datagram) in begun { bench.arrive(datagram, from: seen, at: 20_000) }
        let answer = bench.network.take(to: seen).flatMap { datagram in datagram.withUnsafeBytes { far.receive($0) } }
        let keys = try #require(shakeHands(far, answer, from: seen, meanwhile: disturb))
        let secure = SecureFarEnd(alice, sends: keys.send, receives: keys.receive)
        bench.arrive(try secure.sealed(alice.packet(0)), from: seen, at: 20_000)
        #expect(try bench.statistics(leg).receiving.packets == 1)
        #expect(bench.events[leg]?.contains(.unprotected) != true)
        // Who came first, and then says hello again, has a handshake of its own to spoil.
        #expect(try bench.statistics(leg).refused.stranger > (isNatted && isFirst ? 0 : 50))
    }

    /// A far end behind a NAT that waits for our hello sends nothing but what keeps its NAT open.
    @Test(arguments: [[], [13, 10], [0, 0x11, 0, 0, 0x21, 0x12, 0xA4, 0x42] + [UInt8](repeating: 7, count: 12)] as [[UInt8]])
    mutating func `a hello goes also to where the far end was seen`(datagram: [UInt8]) throws {
        let identity = DTLSIdentity(), leg = try open(begins: true, identity)
        #expect(!bench.network.take(to: alice.address).isEmpty && bench.network.take(to: Self.natted).isEmpty)
        bench.arrive(datagram, from: Self.natted, at: 20_000)
        let hello = bench.network.take(to: Self.natted)
        for _ in 0..<20 { bench.arrive(datagram, from: Self.natted, at: 20_000) }
        #expect(!hello.isEmpty && bench.network.take(to: Self.natted).isEmpty, "once in a while, whatever comes")
        bench.pass(.milliseconds(60))
        bench.arrive(datagram, from: Self.natted, at: 20_000)
        #expect(bench.network.take(to: Self.natted) == hello, "as long as nobody answers")
        let far = DTLSAssociation(identity, begins: false, peer: DTLSIdentity.ofThisProcess.fingerprint)
        let answer = hello.flatMap { datagram in datagram.withUnsafeBytes { far.receive($0) } }
        let keys = try #require(shakeHands(far, answer, from: Self.natted))
        let secure = SecureFarEnd(alice, sends: keys.send, receives: keys.receive)
        bench.arrive(try secure.sealed(alice.packet(0)), from: Self.natted, at: 20_000)
        let statistics = try bench.statistics(leg)
        #expect(statistics.receiving.packets == 1 && statistics.keepAlives == 22 && statistics.refused.malformed == 0)
    }

    @Test mutating func `nobody takes a handshake away from where the far end said that it is`() throws {
        let identity = DTLSIdentity(), leg = try open(begins: false, identity)
        let far = DTLSAssociation(identity, begins: true, peer: DTLSIdentity.ofThisProcess.fingerprint)
        let keys = shakeHands(far, far.start(), from: alice.address) {
            let stranger = DTLSAssociation(DTLSIdentity(), begins: true, peer: DTLSIdentity.ofThisProcess.fingerprint)
            for case .send(let datagram) in stranger.start() { bench.arrive(datagram, from: Self.natted, at: 20_000) }
        }
        #expect(keys != nil && bench.events[leg]?.contains(.unprotected) != true)
        #expect(bench.network.take(to: Self.natted).count <= 10, "one flight, to who came first")
    }

    @Test(arguments: [true, false]) mutating func `who comes from elsewhere with another certificate fails, and the far end does not`(
        begins: Bool
    ) throws {
        let identity = DTLSIdentity(), leg = try open(begins: begins, identity)
        let stranger = DTLSAssociation(DTLSIdentity(), begins: !begins, peer: DTLSIdentity.ofThisProcess.fingerprint)
        let hello = { [bench, home = alice.address] (end: DTLSAssociation) in
            begins ? bench.network.take(to: home).flatMap { datagram in datagram.withUnsafeBytes { end.receive($0) } } : end.start()
        }
        _ = shakeHands(stranger, hello(stranger), from: Self.stranger)
        #expect(bench.events[leg]?.contains(.unprotected) != true)
        bench.network.sent = []
        bench.pass(.milliseconds(60))
        let far = DTLSAssociation(identity, begins: !begins, peer: DTLSIdentity.ofThisProcess.fingerprint)
        let keys = try #require(shakeHands(far, hello(far), from: alice.address))
        let secure = SecureFarEnd(alice, sends: keys.send, receives: keys.receive)
        bench.arrive(try secure.sealed(alice.packet(0)), from: alice.address, at: 20_000)
        #expect(try bench.statistics(leg).receiving.packets == 1)
    }

    @Test mutating func `who broke off a handshake that is ours to begin draws no new one, and does not keep it from the far end`() throws {
        let identity = DTLSIdentity(), leg = try open(begins: true, identity)
        let stranger = DTLSAssociation(DTLSIdentity(), begins: false, peer: DTLSIdentity.ofThisProcess.fingerprint)
        let answer = bench.network.take(to: alice.address).flatMap { datagram in datagram.withUnsafeBytes { stranger.receive($0) } }
        _ = shakeHands(stranger, answer, from: Self.stranger)
        bench.network.sent = []
        for _ in 0..<3 {
            bench.arrive([UInt8](repeating: 22, count: 100), from: Self.stranger, at: 20_000)
            #expect(bench.network.take(to: Self.stranger).isEmpty)
            bench.pass(.milliseconds(20))
        }
        let far = DTLSAssociation(identity, begins: false, peer: DTLSIdentity.ofThisProcess.fingerprint)
        let hello = bench.network.take(to: alice.address).flatMap { datagram in datagram.withUnsafeBytes { far.receive($0) } }
        #expect(shakeHands(far, hello, from: alice.address) != nil)
        #expect(bench.events[leg]?.contains(.unprotected) != true)
    }

    @Test mutating func `an alert from elsewhere does not end a handshake that is ours to begin`() throws {
        let identity = DTLSIdentity(), leg = try open(begins: true, identity)
        let far = DTLSAssociation(identity, begins: false, peer: DTLSIdentity.ofThisProcess.fingerprint)
        let answer = bench.network.take(to: alice.address).flatMap { datagram in datagram.withUnsafeBytes { far.receive($0) } }
        bench.arrive(Self.alert, from: Self.stranger, at: 20_000)
        #expect(shakeHands(far, answer, from: alice.address) != nil)
        #expect(bench.events[leg]?.contains(.unprotected) != true)
    }

    /// The key of ours stays the same for the whole call, and a key may see an index of a source once (RFC 3711 §9.1).
    @Test mutating func `keys that come back after a stretch in the clear see no index twice`() throws {
        let (a, _, secure) = try bridge()
        var reports: [[UInt8]] = [], sources: [UInt32] = []
        func listen() throws -> [[UInt8]] {
            bench.arrive(bob.packet(0), from: bob.address, at: 20_002)
            bench.pass(.seconds(12))
            let packets = bench.network.take(to: alice.address)
            // Who it is from, and the index before the tag.
            reports += packets.filter { !isRTP($0) }.map { Array($0[4..<8]) + $0.suffix(14).prefix(4) }
            sources += try packets.filter(isRTP).map { try header($0).ssrc }
            return packets.filter(isRTP)
        }
        for packet in try listen() { _ = try secure.opened(packet) }
        try bench.update(a) { $0.audio.security = .none }
        bench.arrive(bob.packet(0), from: bob.address, at: 20_002)
        bench.network.sent = []
        try bench.update(a) { $0.audio.security = .keys(send: key(1), receive: key(2)) }
        let anew = SecureFarEnd(alice, sends: key(2), receives: key(1))
        for packet in try listen() { _ = try anew.opened(packet) }
        #expect(reports.count > 2 && Set(reports).count == reports.count)
        #expect(sources.count == 2 && sources[0] != sources[1])
        try bench.update(a) { $0.audio.security = .keys(send: key(4), receive: key(2)) }
        _ = try listen()
        #expect(sources.last == sources[1], "a new key after another goes on")
    }

    @Test mutating func `an update that changes nothing about the keys goes on with them`() throws {
        let (a, _, secure) = try bridge()
        for _ in 0..<3 { bench.arrive(bob.packet(0), from: bob.address, at: 20_002) }
        try bench.update(a) { $0.audio.receives = false }
        try bench.update(a) { $0.audio.receives = true }
        bench.arrive(bob.packet(0), from: bob.address, at: 20_002)
        let wires = bench.heard(by: alice.address)
        #expect(wires.count == 4)
        for wire in wires { _ = try secure.opened(wire) }
        let genuine = try secure.sealed(alice.packet(0))
        bench.arrive(genuine, from: alice.address, at: 20_000)
        try bench.update(a) { $0.silenceLimit = .seconds(9) }
        bench.arrive(genuine, from: alice.address, at: 20_000)
        #expect(try bench.statistics(a).refused.replayed == 1)
    }
}
