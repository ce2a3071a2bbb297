/// Ascending numbers, which may repeat, in little memory: about a byte or two for each.
///
/// Blocks of 32 hold the differences as LEB128; the first number of each block is kept as it is, so that a lookup is a
/// binary search and the reading of two blocks at most.
struct PackedNumbers: Sendable {
    private static let blockSize = 32

    private(set) var count = 0
    /// The greatest number.
    private(set) var last: Int64?
    private var firsts: [Int64] = []
    /// The start of each block's differences.
    private var starts: [UInt32] = []
    private var bytes: [UInt8] = []

    /// Bytes in use, without what the arrays keep in reserve.
    var footprint: Int { bytes.count + firsts.count * 12 }

    /// Appends a number that is not less than the last.
    mutating func append(_ number: Int64) {
        precondition(number >= last ?? number, "the numbers ascend")
        if count % Self.blockSize == 0 {
            firsts.append(number)
            // 10 bytes at most for a number: the entries' limit keeps this below 4 GiB.
            starts.append(UInt32(bytes.count))
        } else if let last {
            append(difference: UInt64(number - last))
        }
        (last, count) = (number, count + 1)
    }

    private mutating func append(difference: UInt64) {
        var rest = difference
        while rest > 0x7f {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(rest))
    }

    /// The place of the first occurrence of a number; nil when it is not there.
    func firstIndex(of number: Int64) -> Int? {
        let next = firstBlock(startingAtOrAfter: number)
        // Earlier occurrences may end the block before.
        if next > 0, let index = index(of: number, inBlock: next - 1) { return index }
        return next < firsts.count && firsts[next] == number ? next * Self.blockSize : nil
    }

    func contains(_ number: Int64) -> Bool { firstIndex(of: number) != nil }

    private func firstBlock(startingAtOrAfter number: Int64) -> Int {
        firsts.withUnsafeBufferPointer { firsts in
            var (low, length) = (0, firsts.count)
            // Without a branch that depends on the numbers: nobody could predict it.
            while length > 0 {
                let half = length / 2
                low += firsts[low + half] < number ? length - half : 0
                length = half
            }
            return low
        }
    }

    private func index(of number: Int64, inBlock block: Int) -> Int? {
        let first = block * Self.blockSize
        let end = min(first + Self.blockSize, count)
        return bytes.withUnsafeBufferPointer { bytes in
            var (index, position, candidate) = (first, Int(starts[block]), firsts[block])
            while candidate < number {
                index += 1
                guard index < end else { return nil }
                candidate += Self.difference(at: &position) { bytes[$0] }
            }
            return candidate == number ? index : nil
        }
    }

    /// Reads a difference, and goes on to the next.
    private static func difference(at position: inout Int, _ byte: (Int) -> UInt8) -> Int64 {
        var (difference, shift) = (UInt64(0), UInt64(0))
        while true {
            let part = byte(position)
            position += 1
            difference |= UInt64(part & 0x7f) << shift
            guard part > 0x7f else { return Int64(difference) }
            shift += 7
        }
    }

    /// Reads the numbers one by one.
    struct Cursor {
        /// The place of the next number.
        private(set) var index: Int
        private var position: Int
        private var number: Int64 = 0

        init() { (index, position) = (0, 0) }

        mutating func next(in numbers: PackedNumbers) -> Int64? {
            guard index < numbers.count else { return nil }
            if index % blockSize == 0 {
                number = numbers.firsts[index / blockSize]
            } else {
                number += PackedNumbers.difference(at: &position) { numbers.bytes[$0] }
            }
            index += 1
            return number
        }
    }
}
