import Primitives
import Testing

@testable import RTP

/// HMAC-SHA1 by hand, for this floor has no OpenSSL (RFC 2104, FIPS 180-4).
private func hmac(_ key: [UInt8], _ message: [UInt8]) -> [UInt8] {
    let block = key + [UInt8](repeating: 0, count: 64 - key.count)
    return sha1(block.map { $0 ^ 0x5C } + sha1(block.map { $0 ^ 0x36 } + message))
}

private func sha1(_ message: [UInt8]) -> [UInt8] {
    var bytes = message + [0x80]
    while bytes.count % 64 != 56 { bytes.append(0) }
    bytes += (0..<8).map { UInt8(truncatingIfNeeded: UInt64(message.count * 8) >> (56 - 8 * UInt64($0))) }
    var hash: [UInt32] = [0x6745_2301, 0xEFCD_AB89, 0x98BA_DCFE, 0x1032_5476, 0xC3D2_E1F0]
    func rotated(_ word: UInt32, _ bits: UInt32) -> UInt32 { word << bits | word >> (32 - bits) }
    for start in stride(from: 0, to: bytes.count, by: 64) {
        var words = (0..<16).map { index in (0..<4).reduce(UInt32(0)) { $0 << 8 | UInt32(bytes[start + 4 * index + $1]) } }
        for index in 16..<80 { words.append(rotated(words[index - 3] ^ words[index - 8] ^ words[index - 14] ^ words[index - 16], 1)) }
        var (a, b, c, d, e) = (hash[0], hash[1], hash[2], hash[3], hash[4])
        for index in 0..<80 {
            let (mix, constant): (UInt32, UInt32) =
                switch index {
                case 0..<20: (b & c | ~b & d, 0x5A82_7999)
                case 20..<40: (b ^ c ^ d, 0x6ED9_EBA1)
                case 40..<60: (b & c | b & d | c & d, 0x8F1B_BCDC)
                default: (b ^ c ^ d, 0xCA62_C1D6)
                }
            let next = rotated(a, 5) &+ mix &+ e &+ constant &+ words[index]
            (e, d, c, b, a) = (d, c, rotated(b, 30), a, next)
        }
        for (index, word) in [a, b, c, d, e].enumerated() { hash[index] &+= word }
    }
    return hash.flatMap { word in (0..<4).map { UInt8(truncatingIfNeeded: word >> (24 - 8 * UInt32($0))) } }
}

private func bytes(_ text: String) -> [UInt8] {
    let digits = text.compactMap(\.hexDigitValue)
    return stride(from: 0, to: digits.count - 1, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
}

@Suite struct STUNTests {
    /// RFC 5769 §2.1.
    static let request = bytes(
        """
        000100582112a442b7e7a701bc34d686fa87dfae802200105354554e207465737420636c69656e74002400046e0001ff80290008932ff9b151263b36000600096576746a3a683676592020
        20000800149aeaa70cbfd8cb56781ef2b5b2d3f249c1b571a280280004e57a3bcf
        """)
    /// RFC 5769 §2.2.
    static let response = bytes(
        """
        0101003c2112a442b7e7a701bc34d686fa87dfae8022000b7465737420766563746f7220002000080001a147e112a643000800142b91f599fd9e90c38c7489f92af9ba53f06be7d7
        80280004c07d4c96
        """)
    static let password = Array("VOkJxbRl1RmTxUk/WvJxBt".utf8)
    static let remote = SocketAddress("192.0.2.1:32853")!

    @Test func `the request of RFC 5769 is read, and its code and checksum hold`() throws {
        let message = try STUNMessage(parsing: Self.request)
        #expect(message.messageClass == .request && message.method == 1)
        #expect(message.username == Array("evtj:h6vY".utf8))
        #expect(message.isControlling == false && message.hasFingerprint && message.unknown.isEmpty)
        #expect(message.isAuthentic(key: Self.password, hmac: hmac))
        #expect(!message.isAuthentic(key: Self.password + [1], hmac: hmac))
    }

    @Test func `the response of RFC 5769 is written byte for byte`() throws {
        let read = try STUNMessage(parsing: Self.response)
        #expect(read.messageClass == .success && read.isAuthentic(key: Self.password, hmac: hmac))
        var answer = STUNAnswer(to: try STUNMessage(parsing: Self.request), .success)
        answer.add(0x8022, Array("test vector".utf8))
        answer.addMappedAddress(Self.remote)
        answer.addIntegrity(key: Self.password, hmac: hmac)
        answer.addFingerprint()
        #expect(answer.bytes == Self.response)
    }

    /// RFC 5769 §2.3.
    @Test func `an IPv6 address is masked with the transaction too`() throws {
        var answer = STUNAnswer(to: try STUNMessage(parsing: Self.request), .success)
        answer.addMappedAddress(SocketAddress("[2001:db8:1234:5678:11:2233:4455:6677]:32853")!)
        #expect(Array(answer.bytes.suffix(24)) == bytes("002000140002a1470113a9faa5d3f179bc25f4b5bed2b9d9"))
    }

    // MARK: Checks

    private static let local = ICECredentials(user: "evtj", password: "VOkJxbRl1RmTxUk/WvJxBt")!

    private func responder() -> ICELiteResponder { ICELiteResponder(local: Self.local, remoteUser: "h6vY") }

    /// A check as a controlling agent sends it.
    private func check(
        user: String = "evtj:h6vY", password: [UInt8] = STUNTests.password, nominates: Bool = false, extra: (UInt16, [UInt8])? = nil,
        role: UInt16 = 0x802A, preference: UInt8 = 0x6E
    ) -> [UInt8] {
        // The builder of answers, with the type of a request.
        guard let seed = try? STUNMessage(parsing: Self.request) else { return [] }
        var message = STUNAnswer(to: seed, .request)
        message.add(0x0006, Array(user.utf8))
        message.add(0x0024, [preference, 0, 1, 0xFF])
        message.add(role, [1, 2, 3, 4, 5, 6, 7, 8])
        if nominates { message.add(0x0025, []) }
        if let extra { message.add(extra.0, extra.1) }
        message.addIntegrity(key: password, hmac: hmac)
        message.addFingerprint()
        return message.bytes
    }

    @Test(arguments: [false, true]) func `a check is answered with where it came from, and what it nominates is selected`(nominates: Bool)
        throws
    {
        var responder = responder()
        let outputs = responder.receive(check(nominates: nominates), from: Self.remote, at: .zero, hmac: hmac)
        guard case .answer(let bytes)? = outputs.first else { throw STUNMessage.ParseError.other }
        let answer = try STUNMessage(parsing: bytes)
        #expect(answer.messageClass == .success && answer.hasFingerprint && answer.isAuthentic(key: Self.password, hmac: hmac))
        #expect(Array(bytes[20..<32]) == [0x00, 0x20, 0, 8, 0, 1, 0xA1, 0x47, 0xE1, 0x12, 0xA6, 0x43])
        #expect(Array(outputs.dropFirst()) == (nominates ? [.selected(Self.remote)] : []))
        #expect(responder.receive(check(nominates: nominates), from: Self.remote, at: .zero, hmac: hmac).count == 1, "the same is no news")
        #expect(responder.counts.answered == 2)
    }

    @Test func `an address with an authentic check is the far end's until one is nominated`() {
        var responder = responder()
        let other = SocketAddress("198.51.100.7:4000")!
        #expect(!responder.isProvisional(Self.remote))
        _ = responder.receive(check(nominates: false), from: Self.remote, at: .zero, hmac: hmac)
        #expect(responder.isProvisional(Self.remote) && !responder.isProvisional(other))
        _ = responder.receive(check(nominates: true), from: other, at: .zero, hmac: hmac)
        #expect(!responder.isProvisional(Self.remote) && !responder.isProvisional(other), "now there is a nomination")
    }

    @Test func `of many addresses with checks the first ones are kept in mind`() {
        var responder = responder()
        for port in 1...1_000 {
            _ = responder.receive(
                check(nominates: false), from: SocketAddress(Self.remote.address, port: UInt16(port)), at: .zero, hmac: hmac)
        }
        #expect((1...1_000).count { responder.isProvisional(SocketAddress(Self.remote.address, port: UInt16($0))) } == 16)
    }

    @Test func `what keeps a NAT open is told from noise`() {
        func isOne(_ bytes: [UInt8]) -> Bool { bytes.withUnsafeBytes { KeepAlive.isOne($0) } }
        let binding: [UInt8] = [0, 0x11, 0, 0, 0x21, 0x12, 0xA4, 0x42] + [UInt8](repeating: 7, count: 12)
        #expect(isOne([]) && isOne([0]) && isOne([13, 10, 13, 10]) && isOne(binding) && isOne(Self.request))
        #expect(
            !isOne([1]) && !isOne([0, 0, 0, 0, 0]) && !isOne(Self.response) && !isOne(Array(binding.dropLast()))
                && !isOne(Array(repeating: 0, count: 40)))
        var responder = responder()
        #expect(responder.receive(binding, from: Self.remote, at: .zero, hmac: hmac).isEmpty)
        #expect(responder.counts.ignored == 1 && responder.counts.refused == 0)
    }

    @Test func `of two addresses that are nominated the better one stays, until it is nominated no more`() {
        var responder = responder()
        let (good, bad) = (Self.remote, SocketAddress("198.51.100.7:4000")!)
        func nominates(_ remote: SocketAddress, _ preference: UInt8, at seconds: Int64) -> Bool {
            responder.receive(check(nominates: true, preference: preference), from: remote, at: .zero + .seconds(seconds), hmac: hmac).last
                == .selected(remote)
        }
        #expect(nominates(bad, 0x10, at: 0))
        #expect(nominates(good, 0x6E, at: 1), "a better one takes over")
        #expect(!nominates(bad, 0x10, at: 2), "a worse one does not")
        #expect(!nominates(good, 0x6E, at: 4))
        #expect(!nominates(bad, 0x10, at: 6))
        #expect(nominates(bad, 0x10, at: 8), "the good one was given up")
    }

    @Test func `checks of strangers, of two controlled agents and with what we do not know are refused, and select nothing`() throws {
        var responder = responder()
        for (datagram, code) in [
            (check(user: "evtj:other"), 1), (check(password: Array("another password of length".utf8)), 1),
            (check(extra: (0x0099, [1, 2, 3, 4])), 20), (check(role: 0x8029), 87),
            (Array(Self.request), 87),
        ] {
            let outputs = responder.receive(datagram, from: Self.remote, at: .zero, hmac: hmac)
            guard case .answer(let bytes)? = outputs.first, outputs.count == 1 else { throw STUNMessage.ParseError.other }
            #expect(try STUNMessage(parsing: bytes).messageClass == .error)
            #expect(Array(bytes[20..<28]) == [0, 9, 0, bytes[23], 0, 0, 4, UInt8(code)])
        }
        #expect(responder.counts.unauthentic == 2 && responder.counts.unknownAttributes == 1 && responder.counts.roleConflicts == 2)
        #expect(responder.receive(Self.response, from: Self.remote, at: .zero, hmac: hmac).isEmpty)
        #expect(responder.counts.ignored == 1 && responder.counts.answered == 0)
    }

    @Test func `truncated and damaged messages and noise are counted, and never a trap`() {
        var random = SeededRandom(seed: 9)
        var responder = responder()
        let genuine = check(nominates: true)
        for length in 0..<genuine.count {
            #expect(responder.receive(Array(genuine[..<length]), from: Self.remote, at: .zero, hmac: hmac).isEmpty)
        }
        for _ in 0..<5_000 {
            var damaged =
                Bool.random(using: &random)
                ? genuine : (0..<Int.random(in: 0...200, using: &random)).map { _ in UInt8.random(in: 0 ... .max, using: &random) }
            for _ in 0..<3 where !damaged.isEmpty {
                damaged[Int.random(in: damaged.indices, using: &random)] = UInt8.random(in: 0 ... .max, using: &random)
            }
            if damaged == genuine { continue }
            for output in responder.receive(damaged, from: Self.remote, at: .zero, hmac: hmac) {
                if case .selected = output { Issue.record("a damaged check selects") }
            }
        }
        #expect(responder.counts.malformed > 4_000 && responder.counts.answered == 0)
    }

    @Test func `credentials are long enough and differ`() {
        var random = SeededRandom(seed: 1)
        let some = (0..<50).map { _ in ICECredentials(using: &random) }
        #expect(Set(some).count == 50)
        #expect(some.allSatisfy { $0.user.count >= 4 && $0.password.count >= 22 })
        for (one, other) in [
            ("abc", "VOkJxbRl1RmTxUk/WvJxBt"), ("abcd", "VOkJxbRl1RmTxUk/WvJxB"), ("ab d", "VOkJxbRl1RmTxUk/WvJxBt"),
            ("abcd", "VOkJxbRl1RmTxUk/WvJx\"t"),
        ] {
            #expect(ICECredentials(user: Text(one), password: Text(other)) == nil)
        }
        let shown = "\(some[0]) \(String(reflecting: some[0])) \(Array(Mirror(reflecting: some[0]).children))"
        #expect(!shown.contains(some[0].password.description))
    }
}

/// STUN as SIP's flows have it: without credentials.
@Suite struct STUNBindingTests {
    @Test(arguments: ["192.0.2.7", "2001:db8:1:2:3:4:5:6"])
    func `a binding request is answered with where it came from`(address: String) throws {
        let remote = SocketAddress(try #require(IPAddress(address)), port: 40_001)
        let request = try STUNMessage(parsing: STUNBinding.request(transaction: Array(1...12)))
        #expect(request.messageClass == .request && request.hasFingerprint && request.transaction == Array(1...12))
        let answer = try STUNMessage(parsing: try #require(STUNBinding.answer(to: request, from: remote)))
        #expect(
            answer.messageClass == .success && answer.transaction == request.transaction && answer.mappedAddress == remote
                && answer.hasFingerprint)
        #expect(STUNBinding.answer(to: answer, from: remote) == nil, "an answer is not answered")
    }

    @Test func `what is not understood and may not be passed over is refused`() throws {
        // CHANGE-REQUEST, of RFC 3489, in a request without a fingerprint.
        let bytes: [UInt8] = [0, 1, 0, 8, 0x21, 0x12, 0xA4, 0x42] + Array(1...12) + [0, 3, 0, 4, 0, 0, 0, 0]
        let answer = try STUNMessage(
            parsing: try #require(STUNBinding.answer(to: STUNMessage(parsing: bytes), from: SocketAddress(.loopback, port: 1))))
        #expect(answer.messageClass == .error && !answer.hasFingerprint && answer.mappedAddress == nil)
    }

    @Test func `an address of the wrong length is none`() throws {
        for value in [[0, 1, 0, 1, 0, 0], [0, 2, 0, 1, 1, 2, 3, 4], [0, 1, 0, 0]] as [[UInt8]] {
            let padded = value + Array(repeating: 0, count: (4 - value.count % 4) % 4)
            let bytes: [UInt8] =
                [1, 1, 0, UInt8(4 + padded.count), 0x21, 0x12, 0xA4, 0x42] + Array(1...12) + [0, 0x20, 0, UInt8(value.count)] + padded
            #expect(try STUNMessage(parsing: bytes).mappedAddress == nil)
        }
    }
}
