/// A set of payload types, 0 to 127, without allocation.
public struct PayloadTypeSet: Hashable, Sendable, ExpressibleByArrayLiteral {
    @usableFromInline var bits: UInt128 = 0

    /// No payload types.
    @inlinable public init() {}

    /// - Precondition: all are below 128.
    @inlinable public init(arrayLiteral elements: UInt8...) {
        for element in elements { insert(element) }
    }

    /// The payload type must be below 128.
    @inlinable public mutating func insert(_ payloadType: UInt8) {
        precondition(payloadType < 128, "a payload type has seven bits")
        bits |= 1 << UInt128(payloadType)
    }

    /// Whether the payload type is in the set; never for 128 and more.
    @inlinable public func contains(_ payloadType: UInt8) -> Bool { payloadType < 128 && bits >> UInt128(payloadType) & 1 == 1 }
}

/// The number under which each incoming payload type leaves; types without one are dropped.
public struct PayloadTypeMap: Sendable {
    @usableFromInline static let dropped: UInt8 = 0xFF
    /// The one that was set first, which most packets have, is found without the table: a packet pays more for cold memory than for
    /// instructions.
    @usableFromInline var first: (incoming: UInt8, outgoing: UInt8) = (Self.dropped, Self.dropped)
    @usableFromInline var table: InlineArray<128, UInt8>

    /// Drops everything.
    @inlinable public init() { table = InlineArray(repeating: Self.dropped) }

    /// Passes everything as it is.
    @inlinable public static var identity: Self {
        var map = Self()
        for number in UInt8(0)..<128 { map[number] = number }
        return map
    }

    /// nil: dropped. Both numbers must be below 128.
    @inlinable public subscript(_ incoming: UInt8) -> UInt8? {
        get {
            guard incoming < 128 else { return nil }
            let outgoing = incoming == first.incoming ? first.outgoing : table[Int(incoming)]
            return outgoing == Self.dropped ? nil : outgoing
        }
        set {
            precondition(incoming < 128 && newValue ?? 0 < 128, "a payload type has seven bits")
            table[Int(incoming)] = newValue ?? Self.dropped
            if first.incoming == Self.dropped || first.incoming == incoming { first = (incoming, newValue ?? Self.dropped) }
        }
    }
}
