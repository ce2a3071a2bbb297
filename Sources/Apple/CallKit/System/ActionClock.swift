import Foundation
import Primitives

/// The waits of the system, by deadline: for actions to be completed, and for ringing calls to be answered.
///
/// A heap whose cancelled entries are dropped when they come to the top, or all at once when they are the majority.
struct ActionClock {
    enum Subject: Hashable {
        case action(UUID), ring(UUID)
    }

    private struct Entry {
        let deadline: Instant
        let order: UInt64
        let subject: Subject

        func precedes(_ other: Entry) -> Bool { (deadline, order) < (other.deadline, other.order) }
    }

    /// The last entry of each subject that is waited for, by its order.
    private struct Orders {
        private var actions = IdentityTable<UInt64>(), rings = IdentityTable<UInt64>()

        var count: Int { actions.count + rings.count }

        subscript(subject: Subject) -> UInt64? {
            get {
                switch subject {
                case .action(let uuid): actions[uuid]
                case .ring(let uuid): rings[uuid]
                }
            }
            set {
                switch subject {
                case .action(let uuid): actions[uuid] = newValue
                case .ring(let uuid): rings[uuid] = newValue
                }
            }
        }
    }

    private var heap: [Entry] = []
    private var live = Orders()
    private var order: UInt64 = 0

    /// Number of subjects that are waited for.
    var count: Int { live.count }

    /// The earliest deadline; nil when nothing is waited for.
    var deadline: Instant? { heap.first?.deadline }

    /// Waits for `subject` until `deadline`, instead of any earlier wish about it.
    mutating func set(_ subject: Subject, at deadline: Instant) {
        order += 1
        live[subject] = order
        heap.append(Entry(deadline: deadline, order: order, subject: subject))
        siftUp(from: heap.count - 1)
        prune()
    }

    mutating func cancel(_ subject: Subject) {
        guard live[subject] != nil else { return }
        live[subject] = nil
        prune()
    }

    func isWaiting(for subject: Subject) -> Bool { live[subject] != nil }

    /// Takes the next subject whose deadline has come; equal deadlines in the order they were set.
    mutating func next(at now: Instant) -> Subject? {
        guard let first = heap.first, first.deadline <= now else { return nil }
        live[first.subject] = nil
        prune()
        return first.subject
    }

    private mutating func prune() {
        while let first = heap.first, live[first.subject] != first.order { removeFirst() }
        guard heap.count > 2 * live.count + 32 else { return }
        // A sorted array is a heap.
        heap = heap.filter { live[$0.subject] == $0.order }.sorted { $0.precedes($1) }
    }

    private mutating func removeFirst() {
        heap.swapAt(0, heap.count - 1)
        heap.removeLast()
        var parent = 0
        while true {
            var least = parent
            for child in [2 * parent + 1, 2 * parent + 2] where child < heap.count && heap[child].precedes(heap[least]) {
                least = child
            }
            guard least != parent else { return }
            heap.swapAt(parent, least)
            parent = least
        }
    }

    private mutating func siftUp(from index: Int) {
        var child = index
        while child > 0, heap[child].precedes(heap[(child - 1) / 2]) {
            heap.swapAt(child, (child - 1) / 2)
            child = (child - 1) / 2
        }
    }
}
