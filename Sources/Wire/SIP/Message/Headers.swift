import Primitives

/// The header fields of a message in order, names and values as they came (folds became spaces).
///
/// One buffer of whole lines and an index into it: reading a value copies nothing, and a run of untouched lines is written with
/// one copy. Names are looked up without case and by compact form. Line ends in a value that is set become spaces, so that no
/// value can smuggle in a header.
public struct Headers: Sendable {
    /// One line: `name: value CRLF`.
    struct Field: Sendable {
        var known: HeaderName.Known
        var name: Extent
        var value: Extent
        /// Behind the line's CRLF.
        var lineEnd: UInt32
    }

    @usableFromInline private(set) var buffer: [UInt8]
    private(set) var fields: [Field]
    /// Set when a field that `Message` keeps parsed was touched; the message clears it.
    var touchedCore = false

    /// No fields.
    public init() { (buffer, fields) = ([], []) }

    init(buffer: [UInt8], fields: [Field]) { (self.buffer, self.fields) = (buffer, fields) }

    /// Room for a message of this many bytes, so that building it allocates once.
    public mutating func reserveCapacity(bytes: Int, fields count: Int) {
        buffer.reserveCapacity(bytes)
        fields.reserveCapacity(count)
    }

    /// Lets go the room for further fields.
    mutating func trimIndex() { fields = fields.withUnsafeBufferPointer { Array($0) } }

    /// Lets go all room, and lines that were replaced where that is worth looking for the others anew.
    mutating func trim() {
        if buffer.count - byteCount > 512 { compact() } else { buffer = buffer.withUnsafeBufferPointer { Array($0) } }
        trimIndex()
    }

    /// Bytes of all lines; the buffer may hold some that were replaced.
    var byteCount: Int { fields.reduce(0) { $0 + Int($1.lineEnd &- $1.name.start) } }

    /// The number of fields; one field may hold several elements.
    public var count: Int { fields.count }
    /// Whether there is no field.
    public var isEmpty: Bool { fields.isEmpty }

    /// Every field in order: the name as written, the value without the space around it.
    public var all: [(name: Text, value: Text)] { fields.map { (buffer[$0.name], buffer[$0.value]) } }

    /// The fields whose names are wanted, in order and not more than so many. Nothing is copied before a name is wanted.
    public func fields(atMost limit: Int, where isWanted: (HeaderName) -> Bool) -> [(name: HeaderName, value: Text)] {
        var found: [(name: HeaderName, value: Text)] = []
        for field in fields where found.count < limit {
            let name = field.known == .other ? HeaderName(other: buffer[field.name]) : HeaderName(field.known)
            if isWanted(name) { found.append((name, buffer[field.value])) }
        }
        return found
    }

    /// The first value of this name.
    public subscript(name: HeaderName) -> Text? {
        first(name).map { buffer[fields[$0].value] }
    }

    /// The values of every field of this name, in order. Lists within a value are not split; see `elements`.
    public func all(_ name: HeaderName) -> [Text] {
        fields.filter { isNamed($0, name) }.map { buffer[$0.value] }
    }

    /// The elements of a comma-separated list over all fields of this name, in order, trimmed; at most `Limits.listElements`.
    /// Commas in quoted strings and angle brackets do not separate (RFC 3261 §7.3.1).
    public func elements(_ name: HeaderName) -> [Text] {
        var result: [Text] = []
        for field in fields where isNamed(field, name) {
            for element in splitList(field.value) where result.count < Limits.listElements { result.append(buffer[element]) }
        }
        return result
    }

    /// Whether a list such as Supported or Allow holds a token, without regard to case.
    public func lists(_ token: StaticString, in name: HeaderName) -> Bool {
        elements(name).contains { $0.equalsIgnoringCase(token) }
    }

    /// Whether there is a field of this name, whatever its value.
    public func contains(_ name: HeaderName) -> Bool { first(name) != nil }

    /// Adds a field at the end, whatever is there already.
    public mutating func append(_ name: HeaderName, _ value: Text) {
        fields.append(write(name, value))
    }

    /// Adds a field before all others of its name, as a proxy adds its Via.
    public mutating func prepend(_ name: HeaderName, _ value: Text) {
        let field = write(name, value)
        fields.insert(field, at: first(name) ?? 0)
    }

    /// Makes this the only field of its name: in the place of the first, or at the end.
    public mutating func set(_ name: HeaderName, _ value: Text) {
        let field = write(name, value)
        guard let place = first(name) else { return fields.append(field) }
        fields[place] = field
        let rest = fields[(place + 1)...].filter { !isNamed($0, name) }
        if rest.count != fields.count - place - 1 { fields.replaceSubrange((place + 1)..., with: rest) }
    }

    /// Takes away every field of this name.
    public mutating func remove(_ name: HeaderName) {
        touchedCore = touchedCore || Self.isCore(name.known)
        fields = fields.filter { !isNamed($0, name) }
    }

    /// Replaces the first element of a list header, such as the top Via, and leaves the others.
    mutating func replaceFirstElement(of name: HeaderName, with value: Text) {
        guard let place = first(name) else { return append(name, value) }
        let old = fields[place].value
        guard let element = splitList(old).first else { return set(name, value) }
        var bytes = Array(value.bytes)
        bytes.append(contentsOf: buffer[Int(element.end)..<Int(old.end)])
        fields[place] = write(name, Text(bytes))
    }

    /// Copies every field of this name from another message's headers, line by line as they are.
    mutating func copy(_ name: HeaderName, from other: Headers) {
        for field in other.fields where other.isNamed(field, name) { copyLine(field, from: other) }
    }

    /// - Returns: how much further behind it stands here.
    @discardableResult
    mutating func copyLine(_ field: Field, from other: Headers) -> Int {
        touchedCore = touchedCore || Self.isCore(field.known)
        let shift = buffer.count - Int(field.name.start)
        buffer.append(contentsOf: other.buffer[Int(field.name.start)..<Int(field.lineEnd)])
        fields.append(
            Field(known: field.known, name: field.name + shift, value: field.value + shift, lineEnd: UInt32(Int(field.lineEnd) + shift)))
        return shift
    }

    /// A value in three parts, put together without a copy between.
    /// - Returns: where it is.
    mutating func append(_ name: HeaderName, _ value: Text, _ middle: StaticString, _ end: Text) -> Extent {
        var field = write(name, value)
        buffer.removeLast(2)
        buffer += middle
        buffer += end
        field.value.end = UInt32(buffer.count)
        buffer += "\r\n" as StaticString
        field.lineEnd = UInt32(buffer.count)
        fields.append(field)
        return field.value
    }

    /// As `append`, and tells where the value is.
    mutating func add(_ name: HeaderName, _ value: Text) -> Extent {
        let field = write(name, value)
        fields.append(field)
        return field.value
    }

    func first(_ name: HeaderName) -> Int? { fields.firstIndex { isNamed($0, name) } }

    func isNamed(_ field: Field, _ name: HeaderName) -> Bool {
        guard field.known == name.known else { return false }
        return name.known != .other || buffer[field.name].equalsIgnoringCase(name.other)
    }

    private mutating func write(_ name: HeaderName, _ value: Text) -> Field {
        value.hasControls ? write(name, plain: Text(value.bytes.map { $0 == 0x0D || $0 == 0x0A ? 0x20 : $0 })) : write(name, plain: value)
    }

    /// A value without line ends.
    private mutating func write(_ name: HeaderName, plain value: Text) -> Field {
        touchedCore = touchedCore || Self.isCore(name.known)
        compactIfWasteful()
        let start = buffer.count
        value.bytes.withUnsafeBufferPointer { value in
            if name.known == .other {
                name.other.bytes.withUnsafeBufferPointer { buffer.append(line: $0, value) }
            } else {
                buffer.append(line: name.known.bytes, value)
            }
        }
        let end = buffer.count - 2
        let valueStart = end - value.count
        return Field(known: name.known, name: Extent(start, valueStart - 2), value: Extent(valueStart, end), lineEnd: UInt32(end + 2))
    }

    /// A message that is edited for hours must not keep every line that it ever had.
    private mutating func compactIfWasteful() {
        if buffer.count > 2 * Limits.message { compact() }
    }

    private mutating func compact() {
        let old = self
        (buffer, fields, touchedCore) = ([], [], true)
        reserveCapacity(bytes: old.byteCount, fields: old.fields.count)
        for field in old.fields { copyLine(field, from: old) }
    }

    /// Whether a message keeps parsed what it says.
    static func isCore(_ known: HeaderName.Known) -> Bool {
        switch known {
        case .via, .from, .to, .callID, .cseq, .maxForwards, .contact: true
        default: false
        }
    }
}

extension Headers {
    /// The trimmed elements of a list value. Empty ones are left out.
    func splitList(_ value: Extent) -> [Extent] {
        let elements = try? buffer.read(value) { reader throws(SyntaxError) in
            var elements: [Extent] = []
            while !reader.isAtEnd { if let element = reader.takeListElement() { elements.append(element) } }
            return elements
        }
        return elements ?? []
    }
}

extension Reader {
    /// Everything up to the next "," outside quotes and angle brackets, trimmed; the "," is skipped. Nil when nothing is there.
    mutating func takeListElement() -> Extent? {
        skipSpace()
        let start = at
        var isQuoted = false
        var isBracketed = false
        scan: while at < end {
            switch base[at] {
            case 0x5C where isQuoted: at += 1
            case 0x22 where !isBracketed: isQuoted.toggle()
            case 0x3C where !isQuoted: isBracketed = true
            case 0x3E where !isQuoted: isBracketed = false
            case 0x2C where !isQuoted && !isBracketed: break scan
            default: break
            }
            at += 1
        }
        at = min(at, end)
        var last = at
        while last > start, base[last - 1] == 0x20 || base[last - 1] == 0x09 { last -= 1 }
        _ = skip(0x2C)
        return last > start ? Extent(start, last) : nil
    }
}

extension Extent {
    static func + (extent: Extent, shift: Int) -> Extent { Extent(Int(extent.start) &+ shift, Int(extent.end) &+ shift) }
}
