public import Primitives

/// A timer that is set in a `TimerWheel`. It goes stale when the timer fires or is cancelled; a stale one cancels nothing.
public struct TimerToken: Hashable, Sendable {
    @usableFromInline let index: Int32
    @usableFromInline let generation: UInt32
}

/// Many timers for one lane: setting and cancelling cost the same however many there are.
///
/// Sans-I/O: the owner calls `advance(to:)` when `nextDeadline` has come. Deadlines are kept to the nanosecond and never fire early. A
/// wheel of 4096 slots of 10 ms holds the next 40 seconds; a second one of 4096 turns of the first holds the rest. The memory (40 bytes and
/// the identifier for each timer) is that of the largest number that was ever set at once.
public struct TimerWheel<ID> {
    // Only the identifiers are generic: the rest is compiled once, and not for each step through the identifier's metadata.
    @usableFromInline var slab: TimerSlab
    @usableFromInline var ids: [ID?] = []

    /// The number of timers that are set.
    @inlinable public var count: Int { slab.count }

    /// - Parameter now: no later than the first use. One that is much earlier only makes the first announcement early.
    @inlinable public init(at now: Instant = .zero) { slab = TimerSlab(at: now) }

    /// No later than the earliest timer; nil when none is set. At most one announcement in 40 s is earlier than the timer, and then
    /// `advance` finds nothing due.
    @inlinable public var nextDeadline: Instant? { slab.nextDeadline }

    /// Sets a timer. One whose deadline has passed is due at the next `advance`.
    @inlinable @discardableResult
    public mutating func arm(_ id: ID, at deadline: Instant) -> TimerToken {
        let token = slab.arm(at: deadline)
        if Int(token.index) == ids.count { ids.append(id) } else { ids[Int(token.index)] = id }
        return token
    }

    /// Takes a timer back; nil when it has fired or was cancelled before.
    @inlinable @discardableResult
    public mutating func cancel(_ token: TimerToken) -> ID? {
        slab.cancel(token) ? ids[Int(token.index)].take() : nil
    }

    /// Everything that is due, by deadline, and where that is equal in the order of arming. Time does not go back: an earlier `now` finds
    /// what is left.
    @inlinable public mutating func advance(to now: Instant) -> [ID] {
        let due = slab.advance(to: now)
        guard !due.isEmpty else { return [] }
        var fired: [ID] = []
        fired.reserveCapacity(due.count)
        for index in due { if let id = ids[Int(index)].take() { fired.append(id) } }
        return fired
    }
}

extension TimerWheel: Sendable where ID: Sendable {}

/// The deadlines of a wheel, by place. An entry's place is free again when it fired or was cancelled.
@usableFromInline
struct TimerSlab: Sendable {
    private var near = Ring()
    private var far = Ring()
    private var entries: [Entry] = []
    private var free = Int32.nowhere
    private var tick: UInt64
    private var serial: UInt64 = 0
    @usableFromInline private(set) var count = 0

    @usableFromInline init(at now: Instant) { tick = now.nanoseconds / tickLength }

    @usableFromInline var nextDeadline: Instant? {
        let turn = far.firstOccupied(from: tick / slotCount + 1).map { Instant(nanoseconds: $0 * slotCount * tickLength) }
        guard let slot = near.firstOccupied(from: tick) else { return turn }
        return min(earliest(in: near.heads[Int(slot % slotCount)]), turn ?? .distantFuture)
    }

    @usableFromInline mutating func arm(at deadline: Instant) -> TimerToken {
        let index = freeEntry()
        serial += 1
        entries[Int(index)].isSet = true
        entries[Int(index)].deadline = deadline
        entries[Int(index)].serial = serial
        count += 1
        link(index)
        return TimerToken(index: index, generation: entries[Int(index)].generation)
    }

    /// False when it has fired or was cancelled before.
    @usableFromInline mutating func cancel(_ token: TimerToken) -> Bool {
        let index = Int(token.index)
        guard entries.indices.contains(index), entries[index].generation == token.generation, entries[index].isSet else { return false }
        unlink(token.index)
        release(token.index)
        return true
    }

    /// The places of what is due, in order.
    @usableFromInline mutating func advance(to now: Instant) -> [Int32] {
        let target = max(now.nanoseconds / tickLength, tick)
        var due: [Due] = []
        while let next = nextTick, next <= target {
            tick = next
            unrollTurn()
            collect(until: now, into: &due)
            if tick == target { break }
        }
        tick = target
        unrollTurn()
        if due.count > 1 { due.sort { ($0.deadline, $0.serial) < ($1.deadline, $1.serial) } }
        return due.map { $0.index }
    }

    /// The next tick at which there is something to look at.
    private var nextTick: UInt64? {
        let turn = far.firstOccupied(from: tick / slotCount + 1).map { $0 * slotCount }
        guard let slot = near.firstOccupied(from: tick) else { return turn }
        return min(slot, turn ?? .max)
    }

    /// Moves the timers of the turn that has begun from the far ring into the near one.
    private mutating func unrollTurn() {
        let slot = Int(tick / slotCount % slotCount)
        var index = far.heads[slot]
        far.clear(slot)
        while index != .nowhere {
            let following = entries[Int(index)].next
            link(index)
            index = following
        }
    }

    private mutating func collect(until now: Instant, into due: inout [Due]) {
        var index = near.heads[Int(tick % slotCount)]
        while index != .nowhere {
            let entry = entries[Int(index)]
            if entry.deadline <= now {
                unlink(index)
                release(index)
                due.append(Due(deadline: entry.deadline, serial: entry.serial, index: index))
            }
            index = entry.next
        }
    }

    private func earliest(in head: Int32) -> Instant {
        var index = head
        var earliest = Instant.distantFuture
        while index != .nowhere {
            earliest = min(earliest, entries[Int(index)].deadline)
            index = entries[Int(index)].next
        }
        return earliest
    }
}

// The slab and its lists.
extension TimerSlab {
    private struct Entry {
        var isSet = false
        var deadline = Instant.zero
        var serial: UInt64 = 0
        var generation: UInt32 = 0
        var next = Int32.nowhere
        var previous = Int32.nowhere
        /// The place where the entry is linked: a slot of the near ring, or `slotCount` and a slot of the far one.
        var place: Int32 = 0
    }

    private struct Due {
        let deadline: Instant
        let serial: UInt64
        let index: Int32
    }

    private mutating func freeEntry() -> Int32 {
        guard free != .nowhere else {
            entries.append(Entry())
            return Int32(entries.count - 1)
        }
        defer { free = entries[Int(free)].next }
        return free
    }

    private mutating func release(_ index: Int32) {
        entries[Int(index)].isSet = false
        entries[Int(index)].generation &+= 1
        entries[Int(index)].next = free
        free = index
        count -= 1
    }

    private mutating func link(_ index: Int32) {
        let due = max(entries[Int(index)].deadline.nanoseconds / tickLength, tick)
        if due - tick < slotCount {
            let slot = Int(due % slotCount)
            push(index, onto: near.heads[slot], place: slot)
            near.set(slot, head: index)
        } else {
            // Beyond the far ring too: it waits in the last turn and is placed anew from there.
            let slot = Int(min(due / slotCount, tick / slotCount + slotCount - 1) % slotCount)
            push(index, onto: far.heads[slot], place: slot + Int(slotCount))
            far.set(slot, head: index)
        }
    }

    private mutating func push(_ index: Int32, onto head: Int32, place: Int) {
        entries[Int(index)].next = head
        entries[Int(index)].previous = .nowhere
        entries[Int(index)].place = Int32(place)
        if head != .nowhere { entries[Int(head)].previous = index }
    }

    private mutating func unlink(_ index: Int32) {
        let entry = entries[Int(index)]
        if entry.next != .nowhere { entries[Int(entry.next)].previous = entry.previous }
        if entry.previous != .nowhere {
            entries[Int(entry.previous)].next = entry.next
        } else if entry.place < slotCount {
            near.set(Int(entry.place), head: entry.next)
        } else {
            far.set(Int(entry.place) - Int(slotCount), head: entry.next)
        }
    }
}

/// 4096 lists, a bit for each that is not empty, and a bit for each 64 of those that are not all zero: the next list is found in three
/// steps.
private struct Ring: Sendable {
    private(set) var heads = [Int32](repeating: .nowhere, count: Int(slotCount))
    private var occupied = [UInt64](repeating: 0, count: Int(slotCount) / 64)
    private var summary: UInt64 = 0

    mutating func set(_ slot: Int, head: Int32) {
        heads[slot] = head
        let word = slot / 64
        let bit: UInt64 = 1 << UInt64(slot % 64)
        if head == .nowhere { occupied[word] &= ~bit } else { occupied[word] |= bit }
        if occupied[word] == 0 { summary &= ~(1 << UInt64(word)) } else { summary |= 1 << UInt64(word) }
    }

    mutating func clear(_ slot: Int) { set(slot, head: .nowhere) }

    /// The first number from `start` on, within one turn, whose slot is not empty.
    func firstOccupied(from start: UInt64) -> UInt64? {
        let slot = Int(start % slotCount)
        let (word, bit) = (slot / 64, slot % 64)
        let rest = occupied[word] >> UInt64(bit)
        if rest != 0 { return start + UInt64(rest.trailingZeroBitCount) }
        // From the next word on, once round; the last is this one again, for the slots before the start.
        let later = UInt64(word + 1)
        let turned = summary &>> later | summary &<< (64 - later)
        guard turned != 0 else { return nil }
        let ahead = turned.trailingZeroBitCount + 1
        let first = occupied[(word + ahead) % 64].trailingZeroBitCount
        return start + UInt64(64 * ahead + first - bit)
    }
}

private let slotCount: UInt64 = 4096
private let tickLength: UInt64 = 10_000_000

extension Int32 {
    fileprivate static let nowhere: Int32 = -1
}
