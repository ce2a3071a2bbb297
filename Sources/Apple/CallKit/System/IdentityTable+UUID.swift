import Foundation
import Primitives

// The system's tables by the UUIDs of its calls, actions and transactions.
extension IdentityTable {
    @inline(__always) subscript(uuid: UUID) -> Value? {
        get { self[uuid.bits] }
        _modify { yield &self[uuid.bits] }
    }

    /// By the number of a provider or a group.
    @inline(__always) subscript(number: Int) -> Value? {
        get { self[UInt128(truncatingIfNeeded: number)] }
        _modify { yield &self[UInt128(truncatingIfNeeded: number)] }
    }

    var numbers: some Collection<ProviderNumber> { names.lazy.map(ProviderNumber.init(truncatingIfNeeded:)) }

    /// By the name of an audio session.
    @inline(__always) subscript(name: AudioSessionName) -> Value? {
        get { self[name.bits] }
        _modify { yield &self[name.bits] }
    }

    @discardableResult
    @inline(__always) mutating func removeValue(forKey uuid: UUID) -> Value? { removeValue(forKey: uuid.bits) }
}

extension AudioSessionName {
    /// As a number: groups are counted from 1, so that 0 is the session of all calls.
    fileprivate var bits: UInt128 { UInt128(UInt64(bitPattern: Int64(provider))) << 64 | UInt128(UInt64(bitPattern: Int64(group ?? 0))) }
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
