import Primitives

extension Message {
    /// The places of the headers that every message needs, as positions in the buffer of its headers. Trivial to copy.
    @usableFromInline struct Core: Sendable {
        @usableFromInline var via = Via.Layout()
        @usableFromInline var from = NameAddress.Layout()
        @usableFromInline var to = NameAddress.Layout()
        @usableFromInline var callID = Extent.none
        @usableFromInline var cseqNumber: UInt32 = 0
        @usableFromInline var cseqMethod = Extent.none
        /// -1 without the header.
        @usableFromInline var maxForwards: Int16 = -1
        @usableFromInline var hasContact = false
        @usableFromInline var contact = NameAddress.Layout()
        private var seen: Seen = []

        init() {}

        /// For headers that we built ourselves.
        init(of headers: Headers) throws(Defect) {
            try headers.buffer.withUnsafeBufferPointer { (bytes) throws(Defect) in
                guard let base = bytes.baseAddress else { return }
                let reader = Reader(base: base, at: 0, end: bytes.count)
                for field in headers.fields where Headers.isCore(field.known) {
                    if has(field.known), field.known != .contact {
                        guard field.known == .via else { throw .repeated(HeaderName(field.known)) }
                        continue
                    }
                    var value = reader.part(from: Int(field.value.start), to: Int(field.value.end))
                    do { try read(field.known, &value) } catch { throw .malformed(HeaderName(field.known)) }
                }
            }
            if let missing { throw .missing(HeaderName(missing)) }
        }

        func cseq(in buffer: [UInt8]) -> CSeq { CSeq(number: cseqNumber, method: Method(cseqMethod, in: buffer)) }

        /// The first of those that must be there and are not.
        var missing: HeaderName.Known? { seen.missing }
    }
}

// Headers that are made of parts that were read already.
extension Message.Core {
    /// One header that was copied from a message; of that the object, for its core would be copied whole.
    mutating func take(_ known: HeaderName.Known, of message: Message.Rest, movedBy shift: Int) {
        switch known {
        case .via where via.whole.isEmpty: via = message.core.via.moved(by: shift)
        case .from: from = message.core.from.moved(by: shift)
        case .to: to = message.core.to.moved(by: shift)
        case .callID: callID = message.core.callID.moved(by: shift)
        case .cseq: (cseqNumber, cseqMethod) = (message.core.cseqNumber, message.core.cseqMethod.moved(by: shift))
        default: break
        }
    }

    /// To, with a tag that it got at the end.
    mutating func take(_ address: NameAddress, at value: Extent, tagged tag: Text) {
        to = address.layout(at: value)
        to.tag = Extent(Int(value.end) - tag.count, Int(value.end))
        (to.whole.end, to.parameters.end) = (value.end, value.end)
    }

    mutating func take(contact address: NameAddress, at value: Extent) { (contact, hasContact) = (address.layout(at: value), true) }
    mutating func take(from address: NameAddress, at value: Extent) { from = address.layout(at: value) }
    mutating func take(to address: NameAddress, at value: Extent) { to = address.layout(at: value) }
    mutating func take(callID value: Extent) { callID = value }
    mutating func take(maxForwards hops: Int) { maxForwards = Int16(hops) }

    mutating func take(_ hop: Via, at value: Extent) { via = hop.layout.moved(by: Int(value.start) - Int(hop.layout.whole.start)) }

    mutating func take(_ number: UInt32, _ method: Method, at value: Extent) {
        (cseqNumber, cseqMethod) = (number, Extent(Int(value.end) - method.count, Int(value.end)))
    }
}

extension Message.Core {
    private struct Seen: OptionSet, Sendable {
        var rawValue: UInt8

        /// The flag of a header that is located.
        init(_ known: HeaderName.Known) { rawValue = 1 &<< known.rawValue }

        init(rawValue: UInt8) { self.rawValue = rawValue }

        /// The first that must be there and is not.
        var missing: HeaderName.Known? { [.via, .from, .to, .callID, .cseq].first { !contains(Seen($0)) } }
    }

    /// Whether a header that is located was there already.
    func has(_ known: HeaderName.Known) -> Bool { seen.contains(Seen(known)) }

    /// Locates one header.
    mutating func read(_ known: HeaderName.Known, _ reader: inout Reader) throws(SyntaxError) {
        seen.insert(Seen(known))
        switch known {
        case .via: try via.read(&reader)
        case .from: try from.readAll(&reader)
        case .to: try to.readAll(&reader)
        case .callID: callID = try Self.callID(&reader)
        case .cseq: (cseqNumber, cseqMethod) = try CSeq.parts(&reader)
        case .maxForwards: maxForwards = Int16(try reader.takeOnlyNumber(maximum: 255))
        default: try readContacts(&reader)
        }
    }

    /// Reads every Contact of a line, so that a broken one is found, and keeps the first of all.
    private mutating func readContacts(_ reader: inout Reader) throws(SyntaxError) {
        // A display name may begin with "*" too, so only a lone one is the wildcard.
        if reader.next == 0x2A, reader.end - reader.at == 1 { return }
        while true {
            if hasContact {
                var another = NameAddress.Layout()
                try another.read(&reader)
            } else {
                contact = NameAddress.Layout()   // a response's broken one may have been here before
                try contact.read(&reader)
                hasContact = true
            }
            reader.skipSpace()
            guard !reader.isAtEnd else { return }
            guard reader.skip(0x2C) else { throw .trailingText }
        }
    }

    private static func callID(_ reader: inout Reader) throws(SyntaxError) -> Extent {
        let text = reader.take(.callID)
        guard !text.isEmpty else { throw .malformed }
        reader.skipSpace()
        guard reader.isAtEnd else { throw .trailingText }
        return text
    }
}
