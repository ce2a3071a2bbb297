/// A queue over one array: amortised constant time at both ends.
public struct FIFO<Element> {
    @usableFromInline var storage: [Element] = []
    @usableFromInline var head = 0

    /// An empty queue, without memory of its own.
    @inlinable public init() {}

    /// Whether nothing waits.
    @inlinable public var isEmpty: Bool { head == storage.count }
    /// The number of waiting elements.
    @inlinable public var count: Int { storage.count - head }
    /// The element that `popFirst` takes next; nil when nothing waits.
    @inlinable public var first: Element? { isEmpty ? nil : storage[head] }

    /// Whether an element that waits is wanted. Looks at all of them.
    @inlinable public func contains(where isWanted: (Element) -> Bool) -> Bool { storage[head...].contains(where: isWanted) }

    /// Puts an element at the end.
    @inlinable public mutating func append(_ element: Element) { storage.append(element) }

    /// Takes the element that has waited for longest; nil when nothing waits. It may stay in memory until more are taken: up to 32 of them,
    /// or as many as still wait.
    @inlinable public mutating func popFirst() -> Element? {
        guard !isEmpty else { return nil }
        defer {
            head += 1
            if head > 32, head * 2 > storage.count {
                storage.removeFirst(head)
                head = 0
            }
        }
        return storage[head]
    }
}

extension FIFO: Sendable where Element: Sendable {}
