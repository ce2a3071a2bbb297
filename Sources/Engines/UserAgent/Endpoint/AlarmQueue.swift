import Primitives

/// One thing that wants to be woken at a time. Its owner keeps it and moves it in an `AlarmQueue`.
final class Alarm {
    fileprivate(set) var due = Instant.distantFuture
    fileprivate var position = -1
    /// Must not keep the owner alive, or the two never go away.
    var ring: (Instant) -> Void

    var isSet: Bool { position >= 0 }

    init(ring: @escaping (Instant) -> Void = { _ in }) { self.ring = ring }
}

/// All alarms of one agent in a binary heap: the next one in O(1), setting, moving and removing in O(log n).
///
/// A removed alarm leaves nothing behind, and so `count` is the number of live timers.
struct AlarmQueue {
    private var heap: [Alarm] = []

    var count: Int { heap.count }
    var deadline: Instant? { heap.first?.due }

    /// Sets, moves, or (nil) clears the alarm.
    mutating func set(_ alarm: Alarm, to due: Instant?) {
        guard let due else { return clear(alarm) }
        if alarm.isSet {
            let wasDue = alarm.due
            alarm.due = due
            if due < wasDue { siftUp(alarm.position) } else { siftDown(alarm.position) }
        } else {
            (alarm.due, alarm.position) = (due, heap.count)
            heap.append(alarm)
            siftUp(alarm.position)
        }
    }

    /// Takes out the next alarm that is due, so that ringing it may set it again.
    mutating func popDue(at now: Instant) -> Alarm? {
        guard let first = heap.first, first.due <= now else { return nil }
        clear(first)
        return first
    }

    private mutating func clear(_ alarm: Alarm) {
        guard alarm.isSet else { return }
        let position = alarm.position
        alarm.position = -1
        let last = heap.removeLast()
        guard last !== alarm else { return }
        (heap[position], last.position) = (last, position)
        siftUp(position)
        siftDown(last.position)
    }

    private mutating func siftUp(_ start: Int) {
        var child = start
        while child > 0 {
            let parent = (child - 1) / 2
            guard heap[child].due < heap[parent].due else { return }
            swap(child, parent)
            child = parent
        }
    }

    private mutating func siftDown(_ start: Int) {
        var parent = start
        while true {
            var least = parent
            for child in (2 * parent + 1)...(2 * parent + 2) where child < heap.count && heap[child].due < heap[least].due {
                least = child
            }
            guard least != parent else { return }
            swap(parent, least)
            parent = least
        }
    }

    private mutating func swap(_ one: Int, _ other: Int) {
        heap.swapAt(one, other)
        heap[one].position = one
        heap[other].position = other
    }
}

extension Instant {
    /// The next tenth of a second. For what is only to be forgotten, and no sooner than its timer says: many go in one turn of the lane.
    var nextTenth: Instant { self + .nanoseconds(100_000_000 - nanoseconds % 100_000_000) }
}
