/// Texts, each kept once, one after another in UTF-8.
struct LabelArena: Sendable {
    /// Each text: its length as LEB128, then its bytes.
    private var bytes: [UInt8] = []

    /// Bytes in use.
    var footprint: Int { bytes.count }

    /// The text at a place that `LabelIndex.intern` gave.
    func label(at place: UInt32) -> String { String(decoding: utf8(at: place), as: UTF8.self) }

    func utf8(at place: UInt32) -> ArraySlice<UInt8> {
        var (length, shift, position) = (0, 0, Int(place))
        while true {
            let byte = bytes[position]
            position += 1
            length |= Int(byte & 0x7f) << shift
            guard byte > 0x7f else { return bytes[position..<position + length] }
            shift += 7
        }
    }

    /// Whether the text at a place is this one.
    fileprivate func holds(_ label: some Collection<UInt8>, at place: UInt32) -> Bool {
        let text = utf8(at: place)
        let answer = text.withUnsafeBytes { text in
            label.withContiguousStorageIfAvailable { text.elementsEqual(UnsafeRawBufferPointer($0)) }
        }
        return answer ?? text.elementsEqual(label)
    }

    fileprivate mutating func append(_ label: some Collection<UInt8>) {
        var rest = label.count
        while rest > 0x7f {
            bytes.append(UInt8(rest & 0x7f) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(rest))
        bytes.append(contentsOf: label)
    }
}

/// Finds texts that an arena has already. Needed only while one is filled.
struct LabelIndex {
    private(set) var arena = LabelArena()
    /// Open addressing; a place and one, or zero for empty.
    private var slots = [UInt32](repeating: 0, count: 64)
    private var count = 0

    /// The place of a text, which is appended if it is new; nil when that would make the arena exceed `limit` bytes.
    mutating func intern(_ label: some Collection<UInt8>, limit: Int) -> UInt32? {
        var slot = Self.hash(label) & (slots.count - 1)
        while slots[slot] != 0 {
            let place = slots[slot] - 1
            if arena.holds(label, at: place) { return place }
            slot = (slot + 1) & (slots.count - 1)
        }
        guard arena.footprint + label.count + 10 <= min(limit, Int(UInt32.max) - 1) else { return nil }
        let place = UInt32(arena.footprint)
        arena.append(label)
        slots[slot] = place + 1
        count += 1
        if count * 4 > slots.count * 3 { grow() }
        return place
    }

    private mutating func grow() {
        let old = slots
        slots = [UInt32](repeating: 0, count: old.count * 2)
        for entry in old where entry != 0 {
            var slot = Self.hash(arena.utf8(at: entry - 1)) & (slots.count - 1)
            while slots[slot] != 0 { slot = (slot + 1) & (slots.count - 1) }
            slots[slot] = entry
        }
    }

    /// Seeded by Swift for each process: nobody can make labels that collide.
    private static func hash(_ label: some Collection<UInt8>) -> Int {
        var hasher = Hasher()
        if label.withContiguousStorageIfAvailable({ hasher.combine(bytes: UnsafeRawBufferPointer($0)) }) == nil {
            Array(label).withUnsafeBytes { hasher.combine(bytes: $0) }
        }
        return hasher.finalize()
    }
}
