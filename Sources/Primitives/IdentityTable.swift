/// A dictionary for what is named by 128 bits, as calls, actions and transactions are: looking one up costs a multiplication and not a hash.
///
/// Open addressing with linear probing, at most half full. Names that collide make it slow: it is for names that are made here or that an app gives,
/// and not for what a network peer chooses.
public struct IdentityTable<Value> {
    @usableFromInline var keys: [UInt128] = []
    /// nil where the place is free.
    @usableFromInline var slots: [Value?] = []
    @usableFromInline var used = 0

    public init() {}

    @inlinable public var count: Int { used }
    @inlinable public var isEmpty: Bool { used == 0 }

    /// Everything in it, in no particular order.
    public var values: [Value] { slots.compactMap { $0 } }

    /// The names of what is in it, in no particular order.
    public var names: [UInt128] { keys.indices.compactMap { slots[$0] == nil ? nil : keys[$0] } }

    @inlinable public subscript(name: UInt128) -> Value? {
        get { slots.isEmpty ? nil : slots[place(for: name)] }
        _modify {
            let place = makePlace(for: name)
            let wasThere = slots[place] != nil
            defer { settle(place, wasThere) }
            yield &slots[place]
        }
    }

    @inlinable public subscript(name: UInt128, default value: @autoclosure () -> Value) -> Value {
        get { self[name] ?? value() }
        _modify {
            let place = makePlace(for: name)
            if slots[place] == nil {
                slots[place] = value()
                settle(place, false)
            }
            yield &slots[place]!
        }
    }

    @inlinable public func contains(_ name: UInt128) -> Bool { !slots.isEmpty && slots[place(for: name)] != nil }

    @inlinable @discardableResult public mutating func removeValue(forKey name: UInt128) -> Value? {
        guard !slots.isEmpty else { return nil }
        let place = place(for: name)
        guard let value = slots[place].take() else { return nil }
        settle(place, true)
        return value
    }

    /// Where the name is, or the free place where it would be.
    @inlinable func place(for name: UInt128) -> Int {
        var place = home(of: name)
        while slots[place] != nil, keys[place] != name { place = (place + 1) & (slots.count - 1) }
        return place
    }

    /// The same with room for one more.
    @inlinable mutating func makePlace(for name: UInt128) -> Int {
        if slots.isEmpty { grow() }
        var place = place(for: name)
        guard slots[place] == nil else { return place }
        if 2 * (used + 1) > slots.count {
            grow()
            place = self.place(for: name)
        }
        keys[place] = name
        return place
    }

    /// Both halves, spread over the high bits by a multiplication with the golden ratio (Fibonacci hashing): also names that only count are spread.
    @inlinable func home(of name: UInt128) -> Int {
        let bits = UInt64(truncatingIfNeeded: name) ^ UInt64(truncatingIfNeeded: name >> 64)
        return Int(truncatingIfNeeded: bits &* 0x9E37_79B9_7F4A_7C15 >> 32) & (slots.count - 1)
    }

    /// A value may have come to a place, or gone from it.
    @inlinable mutating func settle(_ place: Int, _ wasThere: Bool) {
        switch (wasThere, slots[place] != nil) {
        case (false, true): used += 1
        case (true, false):
            used -= 1
            closeGap(place)
        case (true, true), (false, false): break
        }
    }

    /// Moves up what was put behind the place because it was taken.
    @inlinable mutating func closeGap(_ start: Int) {
        let mask = slots.count - 1
        var (gap, next) = (start, (start + 1) & mask)
        while slots[next] != nil {
            if (next - home(of: keys[next])) & mask >= (next - gap) & mask {
                keys[gap] = keys[next]
                slots.swapAt(gap, next)
                gap = next
            }
            next = (next + 1) & mask
        }
    }

    @inlinable mutating func grow() {
        let (oldKeys, oldSlots) = (keys, slots)
        keys = Array(repeating: 0, count: max(8, 2 * oldKeys.count))
        slots = Array(repeating: nil, count: keys.count)
        for (name, value) in zip(oldKeys, oldSlots) where value != nil {
            let place = place(for: name)
            (keys[place], slots[place]) = (name, value)
        }
    }
}

extension IdentityTable: Sendable where Value: Sendable {}

extension IdentityTable: Equatable where Value: Equatable {
    public static func == (left: Self, right: Self) -> Bool {
        left.count == right.count && left.names.allSatisfy { left[$0] == right[$0] }
    }
}
