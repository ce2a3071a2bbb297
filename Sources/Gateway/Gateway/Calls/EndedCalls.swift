import CallJournal
import Foundation
import Primitives

/// The UUIDs of calls that are over: a start may not take one of them, because in the journal a UUID is that of one call for ever.
///
/// The oldest are forgotten before there are too many.
struct EndedCalls {
    /// As many as the audit remembers.
    static let maximum = 65_536

    private var order = FIFO<CallUUID>()
    private var all: Set<CallUUID> = []

    mutating func add(_ call: UUID) {
        let call = CallUUID(call)
        guard all.insert(call).inserted else { return }
        order.append(call)
        if order.count > Self.maximum, let oldest = order.popFirst() { all.remove(oldest) }
    }

    func contains(_ call: UUID) -> Bool { all.contains(CallUUID(call)) }
}
