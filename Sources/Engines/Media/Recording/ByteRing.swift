import Synchronization

/// Bytes from one thread to another, in order: one writes, one reads, and neither locks, allocates or waits. What does not fit is not
/// taken.
final class ByteRing: @unchecked Sendable {
    private let bytes: UnsafeMutableRawBufferPointer
    /// Counted from the beginning.
    private let written = Atomic<Int>(0), read = Atomic<Int>(0)

    init(capacity: Int) { bytes = .allocate(byteCount: capacity, alignment: 8) }

    deinit { bytes.deallocate() }

    /// Takes both pieces, one behind the other, or neither. Of the writing thread.
    func put(_ head: UnsafeRawBufferPointer, _ body: UnsafeRawBufferPointer) -> Bool {
        let end = written.load(ordering: .relaxed)
        guard bytes.count - (end - read.load(ordering: .acquiring)) >= head.count + body.count else { return false }
        copy(head, to: end)
        copy(body, to: end + head.count)
        written.store(end + head.count + body.count, ordering: .releasing)
        return true
    }

    /// Fills all of `room`, or takes nothing. Of the reading thread.
    func take(into room: UnsafeMutableRawBufferPointer) -> Bool {
        let start = read.load(ordering: .relaxed)
        guard written.load(ordering: .acquiring) - start >= room.count else { return false }
        let place = start % bytes.count, first = min(room.count, bytes.count - place)
        room.copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[place..<place + first]))
        UnsafeMutableRawBufferPointer(rebasing: room[first...]).copyMemory(
            from: UnsafeRawBufferPointer(rebasing: bytes[..<(room.count - first)]))
        read.store(start + room.count, ordering: .releasing)
        return true
    }

    /// Bytes that were taken since the beginning. Of either thread.
    var taken: Int { read.load(ordering: .acquiring) }

    /// Bytes that wait. Of the reading thread.
    var count: Int { written.load(ordering: .acquiring) - read.load(ordering: .relaxed) }

    /// Leaves out all before so many bytes since the beginning. Of the reading thread.
    /// - Returns: whether there was anything.
    func skip(to end: Int) -> Bool {
        guard end > read.load(ordering: .relaxed) else { return false }
        read.store(min(end, written.load(ordering: .acquiring)), ordering: .releasing)
        return true
    }

    private func copy(_ piece: UnsafeRawBufferPointer, to start: Int) {
        let place = start % bytes.count, first = min(piece.count, bytes.count - place)
        UnsafeMutableRawBufferPointer(rebasing: bytes[place...]).copyMemory(from: UnsafeRawBufferPointer(rebasing: piece[..<first]))
        bytes.copyMemory(from: UnsafeRawBufferPointer(rebasing: piece[first...]))
    }
}
