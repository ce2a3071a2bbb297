/// A value in memory of its own, which its copies share: what few have, what comes late, or what several keep, out of what all have.
///
/// It never changes; a new value is a new box.
public final class Boxed<Value> {
    /// The value in the box.
    public let value: Value

    /// A new box; copies of it share the value.
    public init(_ value: Value) { self.value = value }
}

extension Boxed: Sendable where Value: Sendable {}

extension Boxed: Equatable where Value: Equatable {
    public static func == (one: Boxed, other: Boxed) -> Bool { one === other || one.value == other.value }
}

extension Boxed: Hashable where Value: Hashable {
    public func hash(into hasher: inout Hasher) { hasher.combine(value) }
}
