import COpenSSL
import Glibc
import Primitives

/// The session keys of one direction, for RTP or for RTCP, and the contexts that use them. Wiped when it goes. One thread at a time.
struct SRTPCipher: ~Copyable {
    /// The purpose of a session key; the labels of RTP, and three more for RTCP (RFC 3711 §4.3.1, §4.3.2).
    enum Purpose: UInt8 { case rtp = 0, rtcp = 3 }

    let isAEAD: Bool
    let tagCount: Int
    private let context: OpaquePointer
    private let secrets: UnsafeMutablePointer<Secrets>

    private struct Secrets {
        var salt = (high: UInt64(0), low: UInt64(0))
        var pads = copenssl_hmac_sha1()
    }

    /// By the session keys that a master key gives.
    init(_ key: SRTPKey, _ purpose: Purpose, encrypts: Bool) {
        let (suite, label) = (key.suite, purpose.rawValue)
        self.init(suite, purpose, encrypts: encrypts)
        SRTPKeyDerivation.withSessionKey(key, label: label, count: suite.keyCount) { use(key: $0) }
        SRTPKeyDerivation.withSessionKey(key, label: label + 2, count: suite.saltCount) { use(salt: $0) }
        if !isAEAD { SRTPKeyDerivation.withSessionKey(key, label: label + 1, count: 20) { use(authenticationKey: $0) } }
    }

    /// Without keys yet.
    init(_ suite: SRTPSuite, _ purpose: Purpose, encrypts: Bool) {
        isAEAD = suite.isAEAD
        tagCount = purpose == .rtp ? suite.tagCount : suite.controlTagCount
        guard let context = EVP_CIPHER_CTX_new() else { preconditionFailure("out of memory") }
        self.context = context
        secrets = .allocate(capacity: 1)
        secrets.initialize(to: Secrets())
        let cipher: OpaquePointer? =
            switch suite {
            case .aes128CMSHA1_80, .aes128CMSHA1_32: EVP_aes_128_ecb()
            case .aes128GCM: EVP_aes_128_gcm()
            case .aes256GCM: EVP_aes_256_gcm()
            }
        let status = EVP_CipherInit_ex(context, cipher, nil, nil, nil, encrypts || !isAEAD ? 1 : 0)
        precondition(status == 1, "OpenSSL has no \(suite)")
        EVP_CIPHER_CTX_set_padding(context, 0)
    }

    func use(key: UnsafeRawBufferPointer) {
        let status = EVP_CipherInit_ex(context, nil, nil, key.bindMemory(to: UInt8.self).baseAddress, nil, -1)
        precondition(status == 1, "OpenSSL does not take a key")
    }

    func use(salt: UnsafeRawBufferPointer) { withUnsafeMutableBytes(of: &secrets.pointee.salt) { $0.copyMemory(from: salt) } }

    func use(authenticationKey key: UnsafeRawBufferPointer) {
        copenssl_hmac_sha1_key(&secrets.pointee.pads, key.bindMemory(to: UInt8.self).baseAddress, key.count)
    }

    deinit {
        EVP_CIPHER_CTX_free(context)
        explicit_bzero(secrets, MemoryLayout<Secrets>.size)
        secrets.deallocate()
    }

    /// Counter mode, there or back (RFC 3711 §4.1.1). False when OpenSSL did not do it, and then nothing may leave.
    ///
    /// The counters are encrypted side by side: to begin OpenSSL's own counter mode anew with each packet costs more than the packet.
    func crypt(_ payload: UnsafeMutableRawBufferPointer, ssrc: UInt32, index: UInt64) -> Bool {
        let salt = secrets.pointee.salt
        var counter = (high: salt.high ^ UInt64(ssrc).bigEndian, low: UInt64(bigEndian: salt.low) ^ index << 16)
        return withUnsafeTemporaryAllocation(byteCount: 256, alignment: 16) { stream in
            var start = 0
            while start < payload.count {
                let part = UnsafeMutableRawBufferPointer(rebasing: payload[start..<min(start + stream.count, payload.count)])
                guard encrypt(&counter, into: UnsafeMutableRawBufferPointer(rebasing: stream[..<((part.count + 15) & ~15)])) else {
                    return false
                }
                part.exclusiveOr(stream)
                start += part.count
            }
            return true
        }
    }

    /// So many blocks of key stream, and counts on.
    private func encrypt(_ counter: inout (high: UInt64, low: UInt64), into blocks: UnsafeMutableRawBufferPointer) -> Bool {
        let counters = blocks.bindMemory(to: (UInt64, UInt64).self)
        for block in counters.indices { counters[block] = (counter.high, (counter.low &+ UInt64(block)).bigEndian) }
        counter.low &+= UInt64(counters.count)
        return update(blocks)
    }

    /// HMAC-SHA1 over a packet and the four bytes that go with it (RFC 3711 §4.2); 20 bytes, of which a tag has the first.
    func code(_ packet: UnsafeRawBufferPointer, _ tail: UInt32?) -> (UInt64, UInt64, UInt32) {
        var code = (UInt64(0), UInt64(0), UInt32(0))
        var word = (tail ?? 0).bigEndian
        copenssl_hmac_sha1_code(&secrets.pointee.pads, packet.baseAddress, packet.count, &word, tail == nil ? 0 : 4, &code)
        return code
    }

    func write(_ code: (UInt64, UInt64, UInt32), to tag: UnsafeMutableRawBufferPointer) {
        withUnsafeBytes(of: code) { tag.copyMemory(from: UnsafeRawBufferPointer(rebasing: $0[..<tagCount])) }
    }

    func matches(_ code: (UInt64, UInt64, UInt32), _ tag: UnsafeRawBufferPointer) -> Bool {
        withUnsafeBytes(of: code) { CRYPTO_memcmp($0.baseAddress, tag.baseAddress, tagCount) == 0 }
    }

    /// Galois/counter mode (RFC 7714 §8.1, §9.1): encrypts in place and writes the tag. False as with `crypt`.
    func seal(
        _ text: UnsafeMutableRawBufferPointer, header: UnsafeRawBufferPointer, _ more: UInt32?, ssrc: UInt32, index: UInt64,
        tag: UnsafeMutableRawBufferPointer
    ) -> Bool {
        var count: Int32 = 0
        guard beginAEAD(ssrc: ssrc, index: index), authenticate(header, more), update(text) else { return false }
        return EVP_CipherFinal_ex(context, tag.bindMemory(to: UInt8.self).baseAddress, &count) == 1
            && EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, Int32(tagCount), tag.baseAddress) == 1
    }

    /// The way back; false for a tag that is not right, and then the text is as it came.
    func open(
        _ text: UnsafeMutableRawBufferPointer, header: UnsafeRawBufferPointer, _ more: UInt32?, ssrc: UInt32, index: UInt64,
        tag: UnsafeMutableRawBufferPointer
    ) -> Bool {
        var count: Int32 = 0
        var nothing: UInt8 = 0
        guard beginAEAD(ssrc: ssrc, index: index),
            EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, Int32(tagCount), tag.baseAddress) == 1,
            authenticate(header, more), update(text)
        else { return false }
        if EVP_CipherFinal_ex(context, &nothing, &count) == 1 { return true }
        // The same key stream once more: whoever tries another key or index needs the packet as it was.
        _ = beginAEAD(ssrc: ssrc, index: index) && update(text)
        return false
    }

    private func beginAEAD(ssrc: UInt32, index: UInt64) -> Bool {
        let salt = secrets.pointee.salt
        return begin((salt.high ^ (UInt64(ssrc) << 16 | index >> 32).bigEndian, salt.low ^ (index << 32).bigEndian))
    }

    private func begin(_ start: (UInt64, UInt64)) -> Bool {
        withUnsafeBytes(of: start) { EVP_CipherInit_ex(context, nil, nil, nil, $0.bindMemory(to: UInt8.self).baseAddress, -1) == 1 }
    }

    private func authenticate(_ header: UnsafeRawBufferPointer, _ more: UInt32?) -> Bool {
        var count: Int32 = 0
        guard EVP_CipherUpdate(context, nil, &count, header.bindMemory(to: UInt8.self).baseAddress, Int32(header.count)) == 1 else {
            return false
        }
        guard let more else { return true }
        return withUnsafeBytes(of: more.bigEndian) {
            EVP_CipherUpdate(context, nil, &count, $0.bindMemory(to: UInt8.self).baseAddress, 4) == 1
        }
    }

    private func update(_ text: UnsafeMutableRawBufferPointer) -> Bool {
        var count: Int32 = 0
        let bytes = text.bindMemory(to: UInt8.self).baseAddress
        return text.isEmpty || EVP_CipherUpdate(context, bytes, &count, bytes, Int32(text.count)) == 1
    }
}

extension UnsafeMutableRawBufferPointer {
    /// Each byte with the one at the same place of `other`, which is no shorter.
    fileprivate func exclusiveOr(_ other: UnsafeMutableRawBufferPointer) {
        guard let bytes = baseAddress, let others = other.baseAddress else { return }
        let words = count / 8
        for word in 0..<words {
            let mixed =
                bytes.loadUnaligned(fromByteOffset: word &* 8, as: UInt64.self)
                ^ others.loadUnaligned(fromByteOffset: word &* 8, as: UInt64.self)
            bytes.storeBytes(of: mixed, toByteOffset: word &* 8, as: UInt64.self)
        }
        for offset in (words &* 8)..<count { self[offset] ^= other[offset] }
    }
}

/// Session keys out of a master key: AES in counter mode as pseudo-random function, derivation rate 0 (RFC 3711 §4.3.3; RFC 7714 §11 and
/// RFC 6188 for the longer key; a salt of twelve bytes counts as fourteen with zeros behind it).
enum SRTPKeyDerivation {
    static func withSessionKey(_ key: SRTPKey, label: UInt8, count: Int, _ body: (UnsafeRawBufferPointer) -> Void) {
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: count + 16) { room in
            room.initialize(repeating: 0)
            let (output, start) = (
                UnsafeMutableBufferPointer(rebasing: room[..<count]), UnsafeMutableBufferPointer(rebasing: room[count...])
            )
            key.withMaterial { material in
                for (index, byte) in material[key.suite.keyCount...].enumerated() { start[index] = byte }
                start[7] ^= label
                stream(key: material, isLong: key.suite.keyCount == 32, start: start, output: output)
            }
            body(UnsafeRawBufferPointer(output))
            if let start = room.baseAddress { explicit_bzero(start, room.count) }
        }
    }

    private static func stream(
        key: UnsafeRawBufferPointer, isLong: Bool, start: UnsafeMutableBufferPointer<UInt8>, output: UnsafeMutableBufferPointer<UInt8>
    ) {
        guard let context = EVP_CIPHER_CTX_new() else { preconditionFailure("out of memory") }
        defer { EVP_CIPHER_CTX_free(context) }
        var count: Int32 = 0
        let bytes = key.bindMemory(to: UInt8.self)
        guard EVP_EncryptInit_ex(context, isLong ? EVP_aes_256_ctr() : EVP_aes_128_ctr(), nil, bytes.baseAddress, start.baseAddress) == 1,
            EVP_EncryptUpdate(context, output.baseAddress, &count, output.baseAddress, Int32(output.count)) == 1
        else { preconditionFailure("OpenSSL has no AES in counter mode") }
    }
}
