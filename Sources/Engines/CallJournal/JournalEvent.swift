import CallKit
import Primitives

/// One thing that happened: a line of the journal.
///
/// Events are totally ordered by `sequence`; equal times are usual, because one wake-up of a lane has one time.
/// Each case of `Kind` says what it means and which details it carries. Details have a closed set of keys, none of which is a credential:
/// passwords and Authorization headers have no place to be written to.
public struct JournalEvent: Equatable, Sendable {
    /// Counts from 1 without gaps within one run of one journal; 1 is `gateway.started` when the gateway writes it first.
    public var sequence: UInt64
    /// The monotonic clock of the lane.
    public var time: Instant
    /// Nanoseconds since 1970-01-01 UTC.
    public var wall: UInt64
    /// The call that this is about; nil for what concerns a whole line or the gateway.
    public var call: CallUUID?
    /// The number of the line; empty for what concerns the gateway.
    public var line: Text
    /// The label of the lane that wrote it.
    public var lane: Text
    /// The kind of the event.
    public var kind: Kind
    /// The details of the event, as the kind has them.
    public var details: Details

    /// - `sequence`: one more than that of the event before.
    /// - `wall`: nanoseconds since 1970; 0 where nobody asked.
    /// - `lane`: the label of the lane that writes it.
    public init(
        sequence: UInt64, time: Instant, wall: UInt64 = 0, call: CallUUID? = nil, line: Text = .empty, lane: Text = .empty, kind: Kind,
        details: Details = [:]
    ) {
        (self.sequence, self.time, self.wall) = (sequence, time, wall)
        (self.call, self.line, self.lane) = (call, line, lane)
        (self.kind, self.details) = (kind, details)
    }
}

extension JournalEvent {
    /// The value of a detail: protocol text, a UUID or the actions of a transaction (which are text in the file, and come back as text), or
    /// a whole number. Truth values are written as 1 and 0.
    public enum Value: Hashable, Sendable, ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByBooleanLiteral {
        /// Protocol text, as it came.
        case text(Text)
        /// A call.
        case uuid(CallUUID)
        /// A number; its unit is said by the key.
        case number(Int64)
        /// Actions in their order.
        case actions([CallAction])

        /// Text.
        @inlinable public init(stringLiteral value: StaticString) { self = .text(Text(stringLiteral: value)) }
        /// A number.
        @inlinable public init(integerLiteral value: Int64) { self = .number(value) }
        /// 1 or 0.
        @inlinable public init(booleanLiteral value: Bool) { self = .number(value ? 1 : 0) }
        /// 1 or 0.
        @inlinable public init(_ flag: Bool) { self = .number(flag ? 1 : 0) }
        /// Saturates at the ends of Int64.
        @inlinable public init(_ number: some BinaryInteger) { self = .number(Int64(clamping: number)) }
        /// Nanoseconds of the monotonic clock.
        @inlinable public init(_ instant: Instant) { self = .number(Int64(clamping: instant.nanoseconds)) }
        /// Text.
        @inlinable public init(_ text: Text) { self = .text(text) }
        /// Text.
        public init(_ string: String) { self = .text(Text(string)) }

        /// Decimal for numbers.
        public var text: Text {
            switch self {
            case .text(let text): text
            case .uuid(let uuid): uuid.text
            case .number(let number): Text(number)
            case .actions(let actions): actions.text
            }
        }
    }

    /// The details of an event, in the order in which they were given. A key occurs at most once.
    public struct Details: Equatable, Sendable, ExpressibleByDictionaryLiteral {
        /// One detail.
        public struct Field: Equatable, Sendable {
            /// Its name.
            public var key: Key
            /// The value of the field.
            public var value: Value

            @inlinable init(_ key: Key, _ value: Value) { (self.key, self.value) = (key, value) }
        }

        // Inlined where they are made: a call has forty events, and a literal would be an array of its own each time.
        @usableFromInline var list: [Field]

        /// All details, in their order.
        @inlinable public var fields: [Field] { list }

        /// None yet, and room for so many.
        @inlinable public init(capacity: Int) {
            list = []
            if capacity > 0 { list.reserveCapacity(capacity) }
        }

        /// Later fields win over earlier ones with the same key, and take their place.
        @inlinable @inline(__always) public init(dictionaryLiteral elements: (Key, Value)...) {
            self.init(capacity: elements.count)
            for (key, value) in elements { self[key] = value }
        }

        /// Whether there is room for so many without a piece of memory more.
        func hasRoom(for count: Int) -> Bool { list.capacity >= count }

        /// Takes all out; the room stays.
        mutating func removeAll() { list.removeAll(keepingCapacity: true) }

        /// nil where the key is absent; setting nil takes the field out.
        @inlinable public subscript(_ key: Key) -> Value? {
            get { index(of: key).map { list[$0].value } }
            set {
                guard let index = index(of: key) else {
                    if let newValue { list.append(Field(key, newValue)) }
                    return
                }
                if let newValue { list[index].value = newValue } else { list.remove(at: index) }
            }
        }

        /// A further field; nothing for nil.
        /// - Precondition: the key is not there yet, which is not looked for.
        @inlinable public mutating func add(_ key: Key, _ value: Value?) {
            assert(index(of: key) == nil, "\(key) is there already")
            if let value { list.append(Field(key, value)) }
        }

        @inlinable func index(of key: Key) -> Int? {
            for index in list.indices where list[index].key == key { return index }
            return nil
        }

        /// The value of a text field; nil when it is absent or a number.
        public func text(_ key: Key) -> Text? {
            switch self[key] {
            case .text(let text): text
            case .uuid(let uuid): uuid.text
            case .actions(let actions): actions.text
            case .number, nil: nil
            }
        }

        /// The value of a field that is a UUID or spells one.
        public func uuid(_ key: Key) -> CallUUID? {
            switch self[key] {
            case .uuid(let uuid): uuid
            case .text(let text): CallUUID(text)
            case .number, .actions, nil: nil
            }
        }

        /// The value of a number field; nil when it is absent or text.
        public func number(_ key: Key) -> Int64? {
            guard case .number(let number)? = self[key] else { return nil }
            return number
        }

        /// Whether the field is there and is not 0.
        public func flag(_ key: Key) -> Bool { number(key).map { $0 != 0 } ?? false }
    }
}
