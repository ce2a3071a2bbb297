import Primitives

/// The `;name=value` parameters of a URI, an address or a Via, in order, as they came.
///
/// Names compare without case. A value is what it means: quotes and escapes are taken away when it is read and put back when it
/// is set where it needs them. Unknown parameters are kept verbatim (RFC 3261 §7.3.1).
public struct Parameters: Hashable, Sendable, ExpressibleByDictionaryLiteral {
    /// Wire text, from the first ";" on; empty without parameters.
    public private(set) var text: Text

    /// No parameters.
    public init() { text = .empty }

    /// Names with what their values mean; an empty value makes a flag.
    public init(dictionaryLiteral elements: (Text, Text)...) {
        self.init()
        for (name, value) in elements { self[name] = value }
    }

    /// A single one.
    init(_ name: StaticString, _ value: Text) {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(name.utf8CodeUnitCount + value.count + 4)
        bytes.append(0x3B)
        bytes += name
        Self.append(value: value, to: &bytes)
        text = Text(bytes)
    }

    /// Text that was checked already.
    init(checked text: Text) { self.text = text }

    /// From the first ";" on. Throws for any other text; empty text is no parameters.
    public init(parsing text: Text) throws(SyntaxError) {
        let buffer = Array(text.bytes)
        guard !buffer.isEmpty else { self.init(); return }
        let extent = try buffer.read { reader throws(SyntaxError) in
            let extent = try reader.takeParameters()
            reader.skipSpace()
            guard reader.isAtEnd else { throw .trailingText }
            return extent
        }
        self.init(checked: buffer[extent])
    }

    /// Whether there are none.
    public var isEmpty: Bool { text.isEmpty }

    /// The value of the first parameter of this name; empty for a flag such as `;lr`, nil when there is none. Setting nil removes.
    public subscript(name: Text) -> Text? {
        get { name.bytes.withUnsafeBufferPointer { find($0) }.map(meaning) }
        set { replace(name, with: newValue) }
    }

    /// As the subscript, without making a `Text` of the name.
    public func value(of name: StaticString) -> Text? {
        find(UnsafeBufferPointer(start: name.utf8Start, count: name.utf8CodeUnitCount)).map(meaning)
    }

    /// Whether there is a parameter of this name, with a value or without.
    public func contains(_ name: Text) -> Bool { name.bytes.withUnsafeBufferPointer { find($0) } != nil }

    /// As the other `contains`, without making a `Text` of the name.
    public func contains(_ name: StaticString) -> Bool {
        find(UnsafeBufferPointer(start: name.utf8Start, count: name.utf8CodeUnitCount)) != nil
    }

    /// Every parameter in order, names as written, values as they mean.
    public var all: [(name: Text, value: Text)] {
        var cursor = Cursor(text)
        var result: [(name: Text, value: Text)] = []
        while let item = cursor.next(text) { result.append((slice(item.name), meaning(item))) }
        return result
    }

    /// Those whose names are wanted, verbatim, in one pass.
    public func filter(_ isWanted: (_ name: Text) -> Bool) -> Parameters {
        var bytes: [UInt8] = []
        var cursor = Cursor(text)
        while let item = cursor.next(text) {
            if isWanted(slice(item.name)) { bytes += slice(item.start..<item.end) }
        }
        return Parameters(checked: Text(bytes))
    }

    private mutating func replace(_ name: Text, with value: Text?) {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count + name.count + (value?.count ?? 0) + 4)
        var cursor = Cursor(text)
        var isDone = false
        while let item = cursor.next(text) {
            if !slice(item.name).equalsIgnoringCase(name) {
                bytes.append(contentsOf: text.bytes[(text.bytes.startIndex + item.start)..<(text.bytes.startIndex + item.end)])
            } else if let value, !isDone {
                Self.append(name, value, to: &bytes)
                isDone = true
            }
        }
        if let value, !isDone { Self.append(name, value, to: &bytes) }
        text = Text(bytes)
    }

    private static func append(_ name: Text, _ value: Text, to bytes: inout [UInt8]) {
        bytes.append(0x3B)
        bytes += name
        append(value: value, to: &bytes)
    }

    private static func append(value: Text, to bytes: inout [UInt8]) {
        guard !value.isEmpty else { return }
        bytes.append(0x3D)
        if value.bytes.allSatisfy({ CharacterSet.parameterValue.contains($0) }) { bytes += value } else { bytes.append(quoting: value) }
    }

    private func find(_ name: UnsafeBufferPointer<UInt8>) -> Cursor.Item? {
        var cursor = Cursor(text)
        return text.bytes.withUnsafeBufferPointer { bytes in
            while let item = cursor.next(bytes) {
                if item.name.count == name.count, zip(bytes[item.name], name).allSatisfy({ asciiLowercased($0) == asciiLowercased($1) }) {
                    return item
                }
            }
            return nil
        }
    }

    private func slice(_ range: Range<Int>) -> Text {
        let start = text.bytes.startIndex
        return Text(text.bytes[(start + range.lowerBound)..<(start + range.upperBound)])
    }

    private func meaning(_ item: Cursor.Item) -> Text {
        let raw = slice(item.value)
        return item.isQuoted ? raw.unescaped : raw
    }

    /// Walks over checked parameter text. Positions count from the beginning of the text.
    private struct Cursor {
        struct Item {
            var start: Int
            var end: Int
            var name: Range<Int>
            var value: Range<Int>
            var isQuoted: Bool
        }

        var at = 0

        init(_ text: Text) {}

        mutating func next(_ text: Text) -> Item? { text.bytes.withUnsafeBufferPointer { next($0) } }

        mutating func next(_ bytes: UnsafeBufferPointer<UInt8>) -> Item? {
            guard let base = bytes.baseAddress else { return nil }
            var reader = Reader(base: base, at: at, end: bytes.count)
            reader.skipSpace()
            let start = reader.at
            guard reader.skip(0x3B) else { return nil }
            reader.skipSpace()
            let name = reader.take(.parameterName).range
            var item = Item(start: start, end: reader.at, name: name, value: reader.at..<reader.at, isQuoted: false)
            reader.skipSpace()
            if reader.skip(0x3D) {
                reader.skipSpace()
                item.isQuoted = reader.next == 0x22
                let value = item.isQuoted ? (try? reader.takeQuoted()) : reader.take(.parameterValue)
                item.value = value?.range ?? item.value
                item.end = reader.at
                reader.skipSpace()
            }
            at = reader.at
            return item.name.isEmpty ? nil : item
        }
    }
}
