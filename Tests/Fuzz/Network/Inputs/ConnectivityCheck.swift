import Primitives
import Runtime

/// A binding request of an ICE agent (RFC 8445 §7.1), whose attributes are damaged before or after its codes are made.
struct ConnectivityCheck {
    /// The server's, and the first half of our side.
    var remote: (user: String, password: String)
    var localUser: String

    /// - Parameter selects: whether media is to go where this comes from.
    func bytes(selects: Bool, transaction: [UInt8], damagedBy damage: (inout [UInt8]) -> Void = { _ in }) -> [UInt8] {
        var attributes = Self.attribute(0x0006, Array("\(remote.user):\(localUser)".utf8)) + Self.attribute(0x0024, [0x6E, 0, 1, 0xFF])
        attributes += Self.attribute(0x802A, [UInt8](repeating: 7, count: 8)) + (selects ? Self.attribute(0x0025, []) : [])
        damage(&attributes)
        attributes += [UInt8](repeating: 0, count: -attributes.count & 3)
        return Self.sealed(attributes, transaction, key: Array(remote.password.utf8))
    }

    /// The request with a right MESSAGE-INTEGRITY and FINGERPRINT.
    private static func sealed(_ attributes: [UInt8], _ transaction: [UInt8], key: [UInt8]) -> [UInt8] {
        func head(_ count: Int) -> [UInt8] { [0, 1] + MediaPackets.bytes(UInt64(count), 2) + [0x21, 0x12, 0xA4, 0x42] + transaction }
        let code = OpenSSLDigest.hmac(.sha1, key: key, head(attributes.count + 24) + attributes)
        let covered = head(attributes.count + 32) + attributes + attribute(0x0008, code)
        return covered + attribute(0x8028, fingerprint(covered))
    }

    static func attribute(_ type: UInt64, _ value: [UInt8]) -> [UInt8] {
        MediaPackets.bytes(type, 2) + MediaPackets.bytes(UInt64(value.count), 2) + value + [UInt8](repeating: 0, count: -value.count & 3)
    }

    /// RFC 8489 §14.7.
    static func fingerprint(_ bytes: [UInt8]) -> [UInt8] {
        var sum: UInt32 = 0xFFFF_FFFF
        for byte in bytes {
            sum ^= UInt32(byte)
            for _ in 0..<8 { sum = sum >> 1 ^ (sum & 1 == 1 ? 0xEDB8_8320 : 0) }
        }
        return MediaPackets.bytes(UInt64(~sum ^ 0x5354_554E), 4)
    }
}
