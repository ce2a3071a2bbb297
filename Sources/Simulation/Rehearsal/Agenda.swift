import Primitives

/// The events that are to happen, by time; events of one time happen in the order in which they were put down.
struct Agenda {
    private struct Entry {
        let due: Instant
        let order: UInt64
        let work: () -> Void

        func isBefore(_ other: Entry) -> Bool { due == other.due ? order < other.order : due < other.due }
    }

    private var heap: [Entry] = []
    private var orders: UInt64 = 0

    var count: Int { heap.count }
    var deadline: Instant? { heap.first?.due }

    mutating func add(at due: Instant, _ work: @escaping () -> Void) {
        orders += 1
        heap.append(Entry(due: due, order: orders, work: work))
        var child = heap.count - 1
        while child > 0, heap[child].isBefore(heap[(child - 1) / 2]) {
            heap.swapAt(child, (child - 1) / 2)
            child = (child - 1) / 2
        }
    }

    mutating func popDue(at now: Instant) -> (() -> Void)? {
        guard let first = heap.first, first.due <= now else { return nil }
        heap.swapAt(0, heap.count - 1)
        heap.removeLast()
        siftDown()
        return first.work
    }

    private mutating func siftDown() {
        var parent = 0
        while 2 * parent + 1 < heap.count {
            let left = 2 * parent + 1, right = left + 1
            let least = right < heap.count && heap[right].isBefore(heap[left]) ? right : left
            guard heap[least].isBefore(heap[parent]) else { return }
            heap.swapAt(parent, least)
            parent = least
        }
    }
}
