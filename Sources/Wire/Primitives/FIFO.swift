/// A queue over one array: amortised constant time at both ends.
public struct FIFO<Element> {
    @usableFromInline var storage: [Element] = []
    @usableFromInline var head = 0

    @inlinable public init() {}

    @inlinable public var isEmpty: Bool { head == storage.count }
    @inlinable public var count: Int { storage.count - head }
    @inlinable public var first: Element? { isEmpty ? nil : storage[head] }

    @inlinable public func contains(where isWanted: (Element) -> Bool) -> Bool { storage[head...].contains(where: isWanted) }

    @inlinable public mutating func append(_ element: Element) { storage.append(element) }

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
