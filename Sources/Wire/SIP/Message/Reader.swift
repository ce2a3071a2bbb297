import Primitives

/// The place of a piece of text in a message's buffer. Trivial to copy, unlike a slice that holds its buffer.
@usableFromInline struct Extent: Hashable, Sendable {
    @usableFromInline var start: UInt32
    @usableFromInline var end: UInt32

    @inlinable init(_ start: Int, _ end: Int) {
        (self.start, self.end) = (UInt32(truncatingIfNeeded: start), UInt32(truncatingIfNeeded: end))
    }

    @inlinable static var none: Extent { Extent(0, 0) }

    @inlinable var isEmpty: Bool { start == end }
    @inlinable var count: Int { Int(end) - Int(start) }
    @inlinable var range: Range<Int> { Int(start)..<Int(end) }

    /// The same in another buffer, where it stands so much further behind. What is nowhere stays nowhere.
    func moved(by shift: Int) -> Extent { end == 0 ? self : self + shift }
}

extension [UInt8] {
    @inlinable subscript(extent: Extent) -> Text { Text(self[extent.range]) }

    /// Whether the bytes of two extents are the same.
    func same(_ left: Extent, _ right: Extent) -> Bool {
        guard left.count == right.count, Swift.max(left.end, right.end) <= count else { return false }
        return withUnsafeBufferPointer { bytes in
            for (left, right) in zip(bytes[left.range], bytes[right.range]) where left != right { return false }
            return true
        }
    }

    /// The meaning of a parameter whose value was noted as it stands; nil where none was.
    @inlinable @inline(__always) func meaning(_ value: Extent) -> Text? {
        if value.end == 0 { return nil }
        return !value.isEmpty && self[Int(value.start)] == 0x22 ? unquoted(value) : self[value]
    }

    /// The text between the quotes of an extent, without its escapes.
    @usableFromInline func unquoted(_ value: Extent) -> Text { Text(self[value.range].dropFirst().dropLast()).unescaped }
}

/// Reads bytes between two positions of a buffer. The only place of this module that dereferences a pointer; every read is
/// checked against `end`, so that no message can make it read outside.
struct Reader {
    let base: UnsafePointer<UInt8>
    var at: Int
    let end: Int
    private let classes: UnsafePointer<UInt16>

    @inline(__always) init(base: UnsafePointer<UInt8>, at: Int, end: Int) {
        (self.base, self.at, self.end, classes) = (base, at, end, CharacterSet.classes)
    }

    /// The same buffer from `at` to `end`, both inside of what this one reads.
    @inline(__always) func part(from at: Int, to end: Int) -> Reader { Reader(base: base, at: at, end: end, classes: classes) }

    @inline(__always) private init(base: UnsafePointer<UInt8>, at: Int, end: Int, classes: UnsafePointer<UInt16>) {
        (self.base, self.at, self.end, self.classes) = (base, at, end, classes)
    }

    @inline(__always) var isAtEnd: Bool { at >= end }

    /// The next byte, or NUL at the end, which is in no character class.
    @inline(__always) var next: UInt8 { at < end ? base[at] : 0 }

    /// The byte at an absolute position inside of what is being read.
    @inline(__always) func byte(_ position: Int) -> UInt8 { position < end && position >= 0 ? base[position] : 0 }

    @inline(__always) mutating func skip(_ byte: UInt8) -> Bool {
        guard at < end, base[at] == byte else { return false }
        at += 1
        return true
    }

    /// Skips a literal that stands here exactly as it is written.
    @inline(__always) mutating func skip(_ literal: StaticString) -> Bool {
        let count = literal.utf8CodeUnitCount
        guard end &- at >= count else { return false }
        for offset in 0..<count where base[at &+ offset] != literal.utf8Start[offset] { return false }
        at &+= count
        return true
    }

    /// Spaces and tabs; folds were turned into spaces when the header was cut out.
    @inline(__always) mutating func skipSpace() {
        while at < end, base[at] == 0x20 || base[at] == 0x09 { at &+= 1 }
    }

    @inline(__always) mutating func take(_ set: CharacterSet) -> Extent {
        let start = at
        at = end(of: set)
        return Extent(start, at)
    }

    /// The first position from here on whose byte is not in the set. Asks for the end once for four bytes: half of reading a message is
    /// done here.
    @inline(__always) private func end(of set: CharacterSet) -> Int {
        var position = at
        while position &+ 4 <= end {
            for offset in 0..<4 where classes[Int(base[position &+ offset])] & set.rawValue == 0 { return position &+ offset }
            position &+= 4
        }
        while position < end, classes[Int(base[position])] & set.rawValue != 0 { position &+= 1 }
        return position
    }

    /// As `take`, and every "%" must begin an escape of two hexadecimal digits.
    mutating func takeEscaped(_ set: CharacterSet) throws(SyntaxError) -> Extent {
        let start = at
        while true {
            at = end(of: set)
            guard next == 0x25 else { return Extent(start, at) }
            guard hexadecimalDigit(byte(at + 1)) != nil, hexadecimalDigit(byte(at + 2)) != nil else { throw .malformed }
            at += 3
        }
    }

    mutating func takeNumber(maximum: UInt64) throws(SyntaxError) -> UInt64 {
        var value: UInt64 = 0
        let start = at
        while at < end, base[at] &- 0x30 < 10 {
            value = value &* 10 &+ UInt64(base[at] &- 0x30)
            if value > maximum { throw .numberOutOfRange }
            at += 1
        }
        guard at > start else { throw .malformed }
        return value
    }

    /// A quoted string, from quote to quote; the result is between the quotes with its escapes as they are.
    mutating func takeQuoted() throws(SyntaxError) -> Extent {
        guard skip(0x22) else { throw .malformed }
        let start = at
        while at < end {
            switch base[at] {
            case 0x22:
                at += 1
                return Extent(start, at - 1)
            case 0x5C: at += 2
            default: at += 1
            }
        }
        throw .malformed
    }

    /// Parameters from their first ";" on: `*(SEMI generic-param)`. Ends before the first thing that is not one.
    mutating func takeParameters() throws(SyntaxError) -> Extent {
        var nothing = Extent.none
        return try takeParameters(noting: "", &nothing)
    }

    /// As above; `noted` becomes the value of the first parameter of that name as it stands: empty for a flag, with its quotes where it has
    /// them.
    @inline(__always) mutating func takeParameters(noting wanted: StaticString, _ noted: inout Extent) throws(SyntaxError) -> Extent {
        let start = at
        var finish = at
        while true {
            skipSpace()
            guard skip(0x3B) else { break }
            skipSpace()
            let name = take(.token)
            guard !name.isEmpty else { throw .malformed }
            let value = try takeParameterValue()
            finish = Int(value.end)
            if noted == .none, matches(name, wanted) { noted = value }
        }
        return Extent(start, finish)
    }

    /// Takes the rest of a parameter behind its name: "=" and a value, or nothing.
    @inline(__always) private mutating func takeParameterValue() throws(SyntaxError) -> Extent {
        let flag = Extent(at, at)
        skipSpace()
        guard skip(0x3D) else { return flag }
        skipSpace()
        guard next == 0x22 else {
            let value = take(.parameterValue)
            guard !value.isEmpty else { throw .malformed }
            return value
        }
        let start = at
        _ = try takeQuoted()
        return Extent(start, at)
    }

    /// A URI's parameters: no spaces, no quotes, and "?" ends them.
    mutating func takeURIParameters() throws(SyntaxError) -> Extent {
        let start = at
        while skip(0x3B) {
            guard !(try takeEscaped(.uriParameterName)).isEmpty else { throw .malformed }
            if skip(0x3D), try takeEscaped(.uriParameterValue).isEmpty { throw .malformed }
        }
        return Extent(start, at)
    }

    /// A host as RFC 3261 §25.1 has it: a name, an IPv4 address, or an IPv6 reference in brackets.
    mutating func takeHost() throws(SyntaxError) -> Extent {
        guard next == 0x5B else {
            let name = take(.host)
            guard !name.isEmpty else { throw .malformed }
            return name
        }
        let start = at
        while at < end, base[at] != 0x5D { at += 1 }
        guard skip(0x5D), at - start <= 48, text(Extent(start, at)).referredAddress != nil else { throw .malformed }
        return Extent(start, at)
    }

    /// The position of the first control character (below 0x20) at or after `position`, or `end`.
    ///
    /// Looks at 32 bytes at a time, and chooses among their words without a branch: most lines end within two looks.
    @inline(__always) func firstControl(from position: Int) -> Int {
        var position = position
        while position &+ 32 <= end {
            let (first, second) = (controls(at: position), controls(at: position &+ 8))
            let (third, fourth) = (controls(at: position &+ 16), controls(at: position &+ 24))
            if first | second | third | fourth != 0 {
                let isLate = first | second == 0
                let word = isLate ? (third != 0 ? third : fourth) : (first != 0 ? first : second)
                let skipped = isLate ? (third != 0 ? 16 : 24) : (first != 0 ? 0 : 8)
                return position &+ skipped &+ word.trailingZeroBitCount >> 3
            }
            position &+= 32
        }
        while position &+ 8 <= end, controls(at: position) == 0 { position &+= 8 }
        while position < end, base[position] >= 0x20 { position &+= 1 }
        return position
    }

    /// `(word - 0x20…) & ~word & 0x80…` has its lowest set bit in the first byte below 0x20.
    @inline(__always) private func controls(at position: Int) -> UInt64 {
        let word = word(at: position)
        return (word &- 0x2020_2020_2020_2020) & ~word & 0x8080_8080_8080_8080
    }

    /// The position of the first ":" from here to the end of the line, or that; found as a control character is. Hardly a name is longer
    /// than two words.
    /// Bytes behind the line are looked at with its last words, and not beyond them: a message of short lines must not be read again for
    /// each of them.
    @inline(__always) func colon(before lineEnd: Int) -> Int {
        var position = at
        while position < lineEnd, position &+ 16 <= end {
            let (first, second) = (colons(at: position), colons(at: position &+ 8))
            if first | second != 0 {
                let word = first != 0 ? first : second
                return min(position &+ (first != 0 ? 0 : 8) &+ word.trailingZeroBitCount >> 3, lineEnd)
            }
            position &+= 16
        }
        while position < lineEnd, base[position] != 0x3A { position &+= 1 }
        return min(position, lineEnd)
    }

    @inline(__always) private func colons(at position: Int) -> UInt64 {
        let word = word(at: position) ^ 0x3A3A_3A3A_3A3A_3A3A
        return (word &- 0x0101_0101_0101_0101) & ~word & 0x8080_8080_8080_8080
    }

    /// Eight bytes that are there, the first one lowest.
    @inline(__always) private func word(at position: Int) -> UInt64 {
        UInt64(littleEndian: UnsafeRawPointer(base + position).loadUnaligned(as: UInt64.self))
    }

    /// Whether the bytes of an extent are those of a literal without regard to case.
    @inline(__always) func matches(_ extent: Extent, _ literal: StaticString) -> Bool {
        guard extent.count == literal.utf8CodeUnitCount else { return false }
        for offset in 0..<extent.count where asciiLowercased(base[Int(extent.start) + offset]) != asciiLowercased(literal.utf8Start[offset])
        { return false }
        return true
    }

    /// A copy of an extent's bytes; for what is rare.
    func text(_ extent: Extent) -> Text { Text(Array(UnsafeBufferPointer(start: base + Int(extent.start), count: extent.count))) }
}

extension [UInt8] {
    /// Runs a parser over the whole buffer.
    @inline(__always) func read<Value>(_ parse: (inout Reader) throws(SyntaxError) -> Value) throws(SyntaxError) -> Value {
        try withUnsafeBufferPointer { (buffer) throws(SyntaxError) -> Value in
            guard let base = buffer.baseAddress else { throw .malformed }
            var reader = Reader(base: base, at: 0, end: buffer.count)
            return try parse(&reader)
        }
    }

    /// Runs a parser over one extent of the buffer.
    @inline(__always) func read<Value>(_ extent: Extent, _ parse: (inout Reader) throws(SyntaxError) -> Value) throws(SyntaxError) -> Value
    {
        try withUnsafeBufferPointer { (buffer) throws(SyntaxError) -> Value in
            guard let base = buffer.baseAddress, extent.end <= buffer.count else { throw .malformed }
            var reader = Reader(base: base, at: Int(extent.start), end: Int(extent.end))
            return try parse(&reader)
        }
    }
}

extension [UInt8] {
    static func += (bytes: inout [UInt8], literal: StaticString) {
        bytes.append(contentsOf: UnsafeBufferPointer(start: literal.utf8Start, count: literal.utf8CodeUnitCount))
    }

    static func += (bytes: inout [UInt8], text: Text) { text.bytes.withUnsafeBufferPointer { bytes.append(contentsOf: $0) } }

    /// Appends `name: value` and a line end, all at once.
    mutating func append(line name: UnsafeBufferPointer<UInt8>, _ value: UnsafeBufferPointer<UInt8>) {
        append(addingCapacity: name.count + value.count + 4) { line in
            line.withUnsafeMutableBufferPointer { buffer, count in
                var end = count + buffer.extracting(count...).initialize(fromContentsOf: name)
                (buffer[end], buffer[end &+ 1]) = (0x3A, 0x20)
                end += 2 + buffer.extracting((end + 2)...).initialize(fromContentsOf: value)
                (buffer[end], buffer[end &+ 1]) = (0x0D, 0x0A)
                count = end + 2
            }
        }
    }

    /// Appends text between quotes, with the escapes that RFC 3261 §25.1 asks for. Line ends and NUL become spaces.
    mutating func append(quoting text: Text) {
        append(0x22)
        for byte in text.bytes {
            switch byte {
            case 0x00, 0x0A, 0x0D: append(0x20)
            case 0x22, 0x5C, 0x7F, 0x01...0x08, 0x0B...0x1F:
                append(0x5C)
                append(byte)
            default: append(byte)
            }
        }
        append(0x22)
    }
}

extension Text {
    /// Whether there is a control character in it (below 0x20).
    var hasControls: Bool {
        bytes.withUnsafeBufferPointer { bytes in
            guard let base = bytes.baseAddress else { return false }
            return Reader(base: base, at: 0, end: bytes.count).firstControl(from: 0) < bytes.count
        }
    }

    /// The meaning of a quoted string, without its escapes.
    var unescaped: Text {
        guard bytes.contains(0x5C) else { return self }
        var result: [UInt8] = []
        var escaping = false
        for byte in bytes {
            if byte == 0x5C, !escaping {
                escaping = true
            } else {
                result.append(byte)
                escaping = false
            }
        }
        return Text(result)
    }

    /// In what is no UTF-8 a question mark for each byte beyond ASCII: what is passed on must not grow (U+FFFD has three bytes).
    var repaired: Text {
        guard bytes.contains(where: { $0 >= 0x80 }), String(validating: bytes, as: UTF8.self) == nil else { return self }
        return Text(bytes.map { $0 >= 0x80 ? 0x3F : $0 })
    }

    /// As a reason phrase and the text of a header field may be (RFC 3261 §25.1): UTF-8, and spaces for control characters. A terminal
    /// takes it for text, too.
    public var printable: Text {
        guard bytes.contains(where: { $0 < 0x20 || $0 >= 0x7F }) else { return self }
        return Text(repaired.bytes.map { $0 < 0x20 && $0 != 0x09 || $0 == 0x7F ? 0x20 : $0 })
    }

    /// The address of a host, with or without brackets. A third colon in an IPv6 reference, which the grammar of RFC 3261 allows
    /// by mistake, is let pass (RFC 5118 §4.10).
    var referredAddress: IPAddress? {
        let bare = withoutBrackets
        if let address = IPAddress(bare) { return address }
        guard bare.bytes.contains(0x3A) else { return nil }
        var repaired: [UInt8] = []
        for byte in bare.bytes where byte != 0x3A || !repaired.suffix(2).elementsEqual([0x3A, 0x3A]) { repaired.append(byte) }
        return repaired.count == bare.count - 1 ? IPAddress(Text(repaired)) : nil
    }

    func equalsIgnoringCase(_ literal: StaticString) -> Bool {
        guard count == literal.utf8CodeUnitCount else { return false }
        return zip(bytes, UnsafeBufferPointer(start: literal.utf8Start, count: count)).allSatisfy {
            asciiLowercased($0) == asciiLowercased($1)
        }
    }
}
