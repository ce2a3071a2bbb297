/// Ascending numbers, which may repeat, in little memory: about a byte or two for each.
///
/// Blocks of 64 hold the differences as LEB128; the first number of each block is kept as it is, so that a lookup is a
/// binary search and the reading of two blocks at most.
struct PackedNumbers: Sendable {
    private static let blockSize = 64

    private(set) var count = 0
    /// The greatest number.
    private(set) var last: Int64?
    private var firsts: [Int64] = []
    /// Where the differences of each block start.
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
        var (low, high) = (0, firsts.count)
        while low < high {
            let middle = (low + high) / 2
            if firsts[middle] < number { low = middle + 1 } else { high = middle }
        }
        return low
    }

    private func index(of number: Int64, inBlock block: Int) -> Int? {
        var cursor = Cursor(self, block: block)
        let end = min(cursor.index + Self.blockSize, count)
        while cursor.index < end, let candidate = cursor.next(in: self) {
            if candidate >= number { return candidate == number ? cursor.index - 1 : nil }
        }
        return nil
    }

    /// Reads the numbers one by one.
    struct Cursor {
        /// The place of the next number.
        private(set) var index: Int
        private var position: Int
        private var number: Int64 = 0

        init() { (index, position) = (0, 0) }

        fileprivate init(_ numbers: PackedNumbers, block: Int) {
            (index, position) = (block * blockSize, Int(numbers.starts[block]))
        }

        mutating func next(in numbers: PackedNumbers) -> Int64? {
            guard index < numbers.count else { return nil }
            if index % blockSize == 0 {
                number = numbers.firsts[index / blockSize]
            } else {
                number += difference(in: numbers)
            }
            index += 1
            return number
        }

        private mutating func difference(in numbers: PackedNumbers) -> Int64 {
            var (difference, shift) = (UInt64(0), UInt64(0))
            while true {
                let byte = numbers.bytes[position]
                position += 1
                difference |= UInt64(byte & 0x7f) << shift
                guard byte > 0x7f else { return Int64(difference) }
                shift += 7
            }
        }
    }
}
