import Primitives

/// The hash of the certificate that a far end shows in its DTLS handshake (RFC 8122 §5).
public struct Fingerprint: Hashable, Sendable {
    /// The hash functions that may name a certificate here; MD5 and SHA-1 may not any more.
    public enum Hash: String, Hashable, Sendable, CaseIterable {
        /// The hash functions of RFC 8122 §5 that still count as safe.
        case sha256 = "sha-256", sha384 = "sha-384", sha512 = "sha-512"

        /// Bytes of a fingerprint.
        public var count: Int {
            switch self {
            case .sha256: 32
            case .sha384: 48
            case .sha512: 64
            }
        }
    }

    /// The hash function of the certificate.
    public let hash: Hash
    /// The hash of the whole certificate.
    public let bytes: [UInt8]

    /// Nil where the number of bytes is not that of the hash.
    public init?(_ hash: Hash, _ bytes: [UInt8]) {
        guard bytes.count == hash.count else { return nil }
        (self.hash, self.bytes) = (hash, bytes)
    }

    /// `sha-256 AB:CD:…`, in either case.
    init?(parsing value: Text) {
        let fields = value.fields
        guard fields.count == 2, fields[1].count < 256,
            let hash = Hash.allCases.first(where: { fields[0].equalsIgnoringCase(Text($0.rawValue)) })
        else { return nil }
        var bytes: [UInt8] = []
        for pair in fields[1].bytes.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false) {
            guard pair.count == 2, let first = pair.first.flatMap(Self.digit), let last = pair.last.flatMap(Self.digit) else { return nil }
            bytes.append(first << 4 | last)
        }
        self.init(hash, bytes)
    }

    /// As the attribute has it.
    public var text: Text {
        var digits: [UInt8] = []
        for byte in bytes {
            if !digits.isEmpty { digits.append(UInt8(ascii: ":")) }
            for half in [byte >> 4, byte & 0xF] { digits.append(half < 10 ? 0x30 + half : 0x41 + half - 10) }
        }
        return Text(hash.rawValue) + " " + Text(digits)
    }

    private static func digit(_ byte: UInt8) -> UInt8? {
        switch asciiLowercased(byte) {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - 0x30
        case UInt8(ascii: "a")...UInt8(ascii: "f"): asciiLowercased(byte) - 0x61 + 10
        default: nil
        }
    }
}

/// The part of a side in the DTLS handshake, which says who begins it: `a=setup` (RFC 4145 §4, RFC 5763 §5).
enum DTLSSetup: String, Hashable, Sendable, CaseIterable {
    case active, passive, actpass, holdconn

    init?(parsing value: Text) {
        guard let setup = Self.allCases.first(where: { value.trimmed.equalsIgnoringCase(Text($0.rawValue)) }) else { return nil }
        self = setup
    }
}
