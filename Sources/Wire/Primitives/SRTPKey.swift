import Glibc

/// The encryption and authentication of SRTP (RFC 3711, RFC 7714); the names are those of RFC 4568 §6.2 and RFC 7714 §14.1.
public enum SRTPSuite: String, Hashable, Sendable, CaseIterable {
    /// AES in counter mode with an authentication tag of 80 bits (RFC 4568 §6.2.1): every implementation has it.
    case aes128CMSHA1_80 = "AES_CM_128_HMAC_SHA1_80"
    /// The same with a tag of 32 bits for RTP (RFC 4568 §6.2.2).
    case aes128CMSHA1_32 = "AES_CM_128_HMAC_SHA1_32"
    /// AES-128 in Galois counter mode (RFC 7714 §14.1).
    case aes128GCM = "AEAD_AES_128_GCM"
    /// AES-256 in Galois counter mode (RFC 7714 §14.1).
    case aes256GCM = "AEAD_AES_256_GCM"

    /// All of them, in the order in which we like them.
    public static let preferred: [SRTPSuite] = [.aes256GCM, .aes128GCM, .aes128CMSHA1_80, .aes128CMSHA1_32]
    /// The suite that nearly every SRTP peer speaks.
    public static let common: Set<SRTPSuite> = [.aes128GCM, .aes128CMSHA1_80]

    /// The suite of this name, as it is written, case included; nil for any other text.
    public init?(name: Text) {
        guard let suite = Self.allCases.first(where: { name == $0.name }) else { return nil }
        self = suite
    }

    /// As `a=crypto` writes it.
    public var name: Text { Text(rawValue) }

    /// Bytes of the master key and of the master salt.
    public var keyCount: Int { self == .aes256GCM ? 32 : 16 }
    /// Bytes of the master salt: 12 with Galois counter mode, else 14.
    public var saltCount: Int { isAEAD ? 12 : 14 }

    /// Whether encryption and authentication are one step (RFC 7714), so that the tag comes from the cipher and not from an HMAC.
    public var isAEAD: Bool { self == .aes128GCM || self == .aes256GCM }

    /// Bytes that authenticate an RTP packet; RTCP always has ten in the counter-mode suites (RFC 4568 §6.2.2).
    public var tagCount: Int { isAEAD ? 16 : self == .aes128CMSHA1_32 ? 4 : 10 }
    /// Bytes that authenticate an RTCP packet.
    public var controlTagCount: Int { isAEAD ? 16 : 10 }
}

/// A suite with the master key and the master salt of one direction.
///
/// The bytes are wiped when the last reference goes. They have no description, reflection shows none of them, and comparing two takes the
/// same time wherever they differ.
public final class SRTPKey: Sendable {
    /// The suite that the key is for; it says how many bytes there are.
    public let suite: SRTPSuite
    private nonisolated(unsafe) let bytes: UnsafeMutableRawBufferPointer

    /// Key, then salt; nil where their number is not that of the suite.
    public init?(_ suite: SRTPSuite, _ material: some Collection<UInt8>) {
        guard material.count == suite.keyCount + suite.saltCount else { return nil }
        self.suite = suite
        bytes = .allocate(byteCount: material.count, alignment: 16)
        bytes.copyBytes(from: material)
    }

    /// A new key of random bytes.
    public init(_ suite: SRTPSuite, using random: inout some RandomNumberGenerator) {
        self.suite = suite
        bytes = .allocate(byteCount: suite.keyCount + suite.saltCount, alignment: 16)
        var word: UInt64 = 0
        for index in bytes.indices {
            if index % 8 == 0 { word = random.next() }
            bytes[index] = UInt8(truncatingIfNeeded: word >> UInt64(index % 8 * 8))
        }
    }

    deinit {
        if let start = bytes.baseAddress { explicit_bzero(start, bytes.count) }
        bytes.deallocate()
    }

    /// Key, then salt, for whoever writes them into a description or makes a transform of them.
    public func withMaterial<Value>(_ body: (UnsafeRawBufferPointer) throws -> Value) rethrows -> Value {
        try body(UnsafeRawBufferPointer(bytes))
    }
}

extension SRTPKey: Hashable {
    public static func == (left: SRTPKey, right: SRTPKey) -> Bool {
        guard left.suite == right.suite else { return false }
        return left.bytes.indices.reduce(0) { $0 | (left.bytes[$1] ^ right.bytes[$1]) } == 0
    }

    /// By the suite alone: a hash of secret bytes would tell of them.
    public func hash(into hasher: inout Hasher) { hasher.combine(suite) }
}

extension SRTPKey: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String { "\(suite.rawValue) key" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: []) }
}
