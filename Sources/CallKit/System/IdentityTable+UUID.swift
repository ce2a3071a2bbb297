import Foundation
import Primitives

// The system's tables by the UUIDs of its calls, actions and transactions.
extension IdentityTable {
    @inline(__always) subscript(uuid: UUID) -> Value? {
        get { self[uuid.bits] }
        _modify { yield &self[uuid.bits] }
    }

    /// By the number of a provider.
    @inline(__always) subscript(number: ProviderNumber) -> Value? {
        get { self[UInt128(truncatingIfNeeded: number)] }
        _modify { yield &self[UInt128(truncatingIfNeeded: number)] }
    }

    var numbers: [ProviderNumber] { names.map(ProviderNumber.init(truncatingIfNeeded:)) }

    @discardableResult
    @inline(__always) mutating func removeValue(forKey uuid: UUID) -> Value? { removeValue(forKey: uuid.bits) }
}

extension UUID {
    /// As a number, the first byte highest.
    @inline(__always) var bits: UInt128 {
        withUnsafeBytes(of: uuid) { UInt128(bigEndian: $0.loadUnaligned(as: UInt128.self)) }
    }

    init(bits: UInt128) {
        self = withUnsafeBytes(of: bits.bigEndian) { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
    }
}
