import Foundation
import Synchronization

/// Identities for actions and transactions: a random number of this process, and a count.
///
/// Made without a system call, unlike `UUID()`. Unique, not secret.
enum IdentifierSource {
    private static let process = UInt64.random(in: .min ... .max)
    private static let count = Atomic<UInt64>(1)

    static func next() -> UUID {
        let number = count.wrappingAdd(1, ordering: .relaxed).oldValue
        var bytes = (process.bigEndian, number.bigEndian)
        return withUnsafeBytes(of: &bytes) { bytes in
            // Version 8 and the variant of RFC 9562 §5.8; the count has 62 bits left.
            UUID(
                uuid: (
                    bytes[0], bytes[1], bytes[2], bytes[3], bytes[4], bytes[5], 0x80 | bytes[6] & 0x0f, bytes[7],
                    0x80 | bytes[8] & 0x3f, bytes[9], bytes[10], bytes[11], bytes[12], bytes[13], bytes[14], bytes[15]
                ))
        }
    }
}
