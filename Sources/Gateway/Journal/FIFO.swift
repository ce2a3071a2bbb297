/// A queue over one array: amortised constant time at both ends.
struct FIFO<Element> {
    private var storage: [Element] = []
    private var head = 0

    var isEmpty: Bool { head == storage.count }
    var count: Int { storage.count - head }
    var first: Element? { isEmpty ? nil : storage[head] }

    func contains(where isWanted: (Element) -> Bool) -> Bool { storage[head...].contains(where: isWanted) }

    mutating func append(_ element: Element) { storage.append(element) }

    mutating func popFirst() -> Element? {
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
