import Primitives

/// A `name-addr` or `addr-spec` with its header parameters: what From, To, Contact, Route, Record-Route, Refer-To, Path and
/// P-Asserted-Identity are made of (RFC 3261 §20.10).
///
/// A buffer and where the parts are in it. Setting a part writes it anew, always with angle brackets.
public struct NameAddress: Hashable, Sendable, CustomStringConvertible {
    @usableFromInline struct Layout: Sendable {
        @usableFromInline var whole = Extent.none
        @usableFromInline var displayName = Extent.none
        @usableFromInline var isQuoted = false
        @usableFromInline var uri = URI.Layout()
        @usableFromInline var parameters = Extent.none
        /// As `Reader.takeParameters(noting:)` has it.
        @usableFromInline var tag = Extent.none
    }

    @usableFromInline private(set) var buffer: [UInt8]
    @usableFromInline private(set) var layout: Layout

    @inlinable init(buffer: [UInt8], layout: Layout) { (self.buffer, self.layout) = (buffer, layout) }

    /// Writes it with angle brackets, and with quotes around the name. Bytes of the name that are no UTF-8 are replaced.
    public init(displayName: Text? = nil, uri: URI, parameters: Parameters = Parameters()) {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(uri.text.count + 48)
        if let displayName, !displayName.isEmpty {
            bytes.append(quoting: displayName.repaired)
            bytes.append(0x20)
        }
        // The places of the parts are known, but for a tag among the parameters.
        var layout = Layout()
        if bytes.count > 3 { (layout.displayName, layout.isQuoted) = (Extent(1, bytes.count - 2), true) }
        bytes.append(0x3C)
        layout.uri = uri.layout.moved(by: bytes.count - Int(uri.layout.whole.start))
        bytes += uri.text
        bytes.append(0x3E)
        let end = bytes.count
        layout.parameters = Extent(end, end)
        if !parameters.isEmpty {
            bytes += parameters.text
            do {
                layout.parameters = try bytes.read(Extent(end, bytes.count)) { reader throws(SyntaxError) in
                    let parameters = try reader.takeParameters(noting: "tag", &layout.tag)
                    reader.skipSpace()
                    guard reader.isAtEnd else { throw .trailingText }
                    return parameters
                }
            } catch { preconditionFailure("not an address: \(Text(bytes))") }
        }
        layout.whole = Extent(0, Int(layout.parameters.end))
        self.init(buffer: bytes, layout: layout)
    }

    /// The whole text must be one address, with its parameters.
    public init(parsing text: Text) throws(SyntaxError) { try self.init(reading: Array(text.bytes)) }

    private init(reading buffer: [UInt8]) throws(SyntaxError) {
        self.buffer = buffer
        layout = try buffer.read { reader throws(SyntaxError) in
            var layout = Layout()
            try layout.readAll(&reader)
            return layout
        }
    }

    /// As it stands on the wire.
    @inlinable public var text: Text { buffer[layout.whole] }

    /// The layout of its text where that stands in another buffer.
    func layout(at value: Extent) -> Layout { layout.moved(by: Int(value.start) - Int(layout.whole.start)) }

    public var description: String { text.description }

    public static func == (left: Self, right: Self) -> Bool { left.text == right.text }
    public func hash(into hasher: inout Hasher) { hasher.combine(text) }

    /// The name without quotes and escapes; nil when there is none or an empty one.
    public var displayName: Text? {
        get {
            guard !layout.displayName.isEmpty else { return nil }
            let raw = buffer[layout.displayName]
            return layout.isQuoted ? raw.unescaped : raw
        }
        set { self = NameAddress(displayName: newValue, uri: uri, parameters: parameters) }
    }

    /// The URI that it names.
    public var uri: URI {
        @inlinable @inline(__always) get { URI(buffer: buffer, layout: layout.uri) }
        set { self = NameAddress(displayName: displayName, uri: newValue, parameters: parameters) }
    }

    /// The header parameters, behind the angle brackets: `tag`, `expires`, `q`, `+sip.instance` ...
    public var parameters: Parameters {
        get { Parameters(checked: buffer[layout.parameters]) }
        set { self = NameAddress(displayName: displayName, uri: uri, parameters: newValue) }
    }

    /// The dialog tag of From and To (RFC 3261 §19.3); nil removes it.
    public var tag: Text? {
        @inlinable @inline(__always) get { buffer.meaning(layout.tag) }
        set {
            if let newValue, layout.parameters.isEmpty {
                self = NameAddress(displayName: displayName, uri: uri, parameters: Parameters("tag", newValue))
            } else {
                parameters["tag"] = newValue
            }
        }
    }
}

extension NameAddress.Layout {
    /// The same in another buffer, where it stands so much further behind.
    func moved(by shift: Int) -> Self {
        var layout = self
        (layout.whole, layout.displayName, layout.uri) = (whole.moved(by: shift), displayName.moved(by: shift), uri.moved(by: shift))
        (layout.parameters, layout.tag) = (parameters.moved(by: shift), tag.moved(by: shift))
        return layout
    }

    /// Reads one address and everything behind it must be space.
    mutating func readAll(_ reader: inout Reader) throws(SyntaxError) {
        try read(&reader)
        reader.skipSpace()
        guard reader.isAtEnd else { throw .trailingText }
    }

    /// Reads one address; ends before the "," of the next one or before anything else that is not part of it.
    mutating func read(_ reader: inout Reader) throws(SyntaxError) {
        reader.skipSpace()
        let start = reader.at
        if reader.next == 0x22 {
            displayName = try reader.takeQuoted()
            isQuoted = true
            reader.skipSpace()
            guard reader.next == 0x3C else { throw .malformed }
        } else if reader.next != 0x3C {
            readBareName(&reader)
        }
        if reader.skip(0x3C) {
            try uri.read(&reader)
            guard reader.skip(0x3E) else { throw .malformed }
        } else {
            try uri.read(&reader, isBare: true)
        }
        let end = reader.at
        parameters = try reader.takeParameters(noting: "tag", &tag)
        whole = Extent(start, parameters.isEmpty ? end : Int(parameters.end))
    }

    /// An unquoted display name is what stands before a "<" on this side of the next "," or ";". Wider than RFC 3261's tokens,
    /// since names in UTF-8 and with dots are sent so; without a "<" nothing is read, because then it is a URI.
    private mutating func readBareName(_ reader: inout Reader) {
        var position = reader.at
        while position < reader.end, ![0x3C, 0x3E, 0x2C, 0x3B, 0x22].contains(reader.byte(position)),
            reader.byte(position) >= 0x20 || reader.byte(position) == 0x09
        { position += 1 }
        guard reader.byte(position) == 0x3C else { return }
        var last = position
        while last > reader.at, reader.byte(last - 1) == 0x20 || reader.byte(last - 1) == 0x09 { last -= 1 }
        displayName = Extent(reader.at, last)
        reader.at = position
    }
}
