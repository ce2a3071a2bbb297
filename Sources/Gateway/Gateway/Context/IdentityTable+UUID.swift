import CallJournal
import Foundation
import Primitives

// The gateway's tables by CallKit's UUIDs.
extension IdentityTable {
    @inline(__always) subscript(uuid: UUID) -> Value? {
        get { self[CallUUID(uuid).bits] }
        _modify { yield &self[CallUUID(uuid).bits] }
    }

    @inline(__always) subscript(uuid: UUID, default value: @autoclosure () -> Value) -> Value {
        get { self[CallUUID(uuid).bits, default: value()] }
        _modify { yield &self[CallUUID(uuid).bits, default: value()] }
    }

    @discardableResult
    @inline(__always) mutating func removeValue(forKey uuid: UUID) -> Value? { removeValue(forKey: CallUUID(uuid).bits) }
}
