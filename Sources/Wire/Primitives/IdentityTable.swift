/// A dictionary for what is named by 128 bits, as calls, actions and transactions are: looking one up costs a multiplication and not a
/// hash.
///
/// Open addressing with linear probing, at most two thirds full; the places hold names and numbers alone, and the values lie close together
/// beside them.
/// Names that collide make it slow: it is for names that are made here or that an app gives, and not for what a network peer chooses.
public struct IdentityTable<Value> {
    @usableFromInline var keys: [UInt128] = []
    /// For each place one more than where its value is; 0 where the place is free.
    @usableFromInline var numbers: [Int32] = []
    /// nil where nothing is, and where it is being put.
    @usableFromInline var entries: [Value?] = []
    /// Indices of the empty places of `entries`.
    @usableFromInline var vacant: [Int32] = []
    @usableFromInline var used = 0

    /// An empty table; it takes memory with the first value.
    public init() {}

    /// The number of values.
    @inlinable public var count: Int { used }
    /// Whether there is no value.
    @inlinable public var isEmpty: Bool { used == 0 }

    /// Everything in it, in no particular order.
    @inlinable public var values: [Value] { entries.compactMap { $0 } }

    /// The names of what is in it, in no particular order.
    @inlinable public var names: [UInt128] { keys.indices.compactMap { numbers[$0] == 0 ? nil : keys[$0] } }

    /// The value of this name; nil where there is none. Setting nil takes it away.
    @inlinable public subscript(name: UInt128) -> Value? {
        get {
            guard let entry = entry(for: name) else { return nil }
            return entries[entry]
        }
        _modify {
            let place = makePlace(for: name), entry = Int(numbers[place]) - 1
            defer { if entries[entry] == nil { vacate(place) } }
            yield &entries[entry]
        }
    }

    /// The value of this name, for a change in place: where there is none, one begins with the default. Reading stores nothing.
    @inlinable public subscript(name: UInt128, default value: @autoclosure () -> Value) -> Value {
        get { self[name] ?? value() }
        _modify {
            let entry = Int(numbers[makePlace(for: name)]) - 1
            if entries[entry] == nil { entries[entry] = value() }
            yield &entries[entry]!
        }
    }

    /// Whether there is a value of this name.
    @inlinable public func contains(_ name: UInt128) -> Bool { entry(for: name) != nil }

    /// Takes the value of this name away, and returns it; nil where there is none.
    @inlinable @discardableResult public mutating func removeValue(forKey name: UInt128) -> Value? {
        guard !numbers.isEmpty else { return nil }
        let place = place(for: name)
        guard numbers[place] != 0 else { return nil }
        let value = entries[Int(numbers[place]) - 1].take()
        vacate(place)
        return value
    }

    @inlinable func entry(for name: UInt128) -> Int? {
        guard !numbers.isEmpty else { return nil }
        let number = numbers[place(for: name)]
        return number == 0 ? nil : Int(number) - 1
    }

    /// The place of the name, or the free place for it.
    @inlinable func place(for name: UInt128) -> Int {
        var place = home(of: name)
        while numbers[place] != 0, keys[place] != name { place = (place + 1) & (numbers.count - 1) }
        return place
    }

    /// The place of the name; one that it did not have yet gets an entry with nothing in it.
    @inlinable mutating func makePlace(for name: UInt128) -> Int {
        if numbers.isEmpty { grow() }
        var place = place(for: name)
        guard numbers[place] == 0 else { return place }
        if 3 * (used + 1) > 2 * numbers.count {
            grow()
            place = self.place(for: name)
        }
        (keys[place], numbers[place]) = (name, makeEntry())
        used += 1
        return place
    }

    /// The number of an entry with nothing in it.
    @inlinable mutating func makeEntry() -> Int32 {
        if let number = vacant.popLast() { return number }
        entries.append(nil)
        return Int32(entries.count)
    }

    /// Both halves, spread over the high bits by a multiplication with the golden ratio (Fibonacci hashing): also names that only count are
    /// spread.
    @inlinable func home(of name: UInt128) -> Int {
        let bits = UInt64(truncatingIfNeeded: name) ^ UInt64(truncatingIfNeeded: name >> 64)
        return Int(truncatingIfNeeded: bits &* 0x9E37_79B9_7F4A_7C15 >> 32) & (numbers.count - 1)
    }

    /// The value of a place has gone.
    @inlinable mutating func vacate(_ place: Int) {
        vacant.append(numbers[place])
        numbers[place] = 0
        used -= 1
        closeGap(place)
    }

    /// Moves up what was put behind the place because it was taken.
    @inlinable mutating func closeGap(_ start: Int) {
        let mask = numbers.count - 1
        var (gap, next) = (start, (start + 1) & mask)
        while numbers[next] != 0 {
            if (next - home(of: keys[next])) & mask >= (next - gap) & mask {
                (keys[gap], numbers[gap]) = (keys[next], numbers[next])
                numbers[next] = 0
                gap = next
            }
            next = (next + 1) & mask
        }
    }

    @inlinable mutating func grow() {
        let (oldKeys, oldNumbers) = (keys, numbers)
        keys = Array(repeating: 0, count: max(8, 2 * oldKeys.count))
        numbers = Array(repeating: 0, count: keys.count)
        for (name, number) in zip(oldKeys, oldNumbers) where number != 0 {
            let place = place(for: name)
            (keys[place], numbers[place]) = (name, number)
        }
    }
}

extension IdentityTable: Sendable where Value: Sendable {}

extension IdentityTable: Equatable where Value: Equatable {
    public static func == (left: Self, right: Self) -> Bool {
        left.count == right.count && left.names.allSatisfy { left[$0] == right[$0] }
    }
}
