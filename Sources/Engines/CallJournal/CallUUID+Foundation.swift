import Foundation
import Primitives

extension CallUUID {
    /// The same UUID as CallKit's calls and actions have it.
    public init(_ uuid: UUID) {
        let halves = withUnsafeBytes(of: uuid.uuid) { bytes in
            (bytes.loadUnaligned(as: UInt64.self), bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
        }
        self.init(high: UInt64(bigEndian: halves.0), low: UInt64(bigEndian: halves.1))
    }

    /// The same UUID for CallKit.
    public var uuid: UUID {
        var bytes: uuid_t = (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
        withUnsafeMutableBytes(of: &bytes) { buffer in
            buffer.storeBytes(of: high.bigEndian, as: UInt64.self)
            buffer.storeBytes(of: low.bigEndian, toByteOffset: 8, as: UInt64.self)
        }
        return UUID(uuid: bytes)
    }
}

extension JournalEvent.Value {
    /// The identity of an action or a transaction.
    public init(_ uuid: UUID) { self = .uuid(CallUUID(uuid)) }
}
