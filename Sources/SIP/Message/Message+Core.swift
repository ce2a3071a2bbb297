import Primitives

extension Message {
    /// Where the headers are that every message needs, as positions in the buffer of its headers. Trivial to copy.
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
                for field in headers.fields {
                    do throws(Flaw) { try read(field, reader) } catch { throw error.defect(field.known) }
                }
            }
            try check()
        }

        func cseq(in buffer: [UInt8]) -> CSeq { CSeq(number: cseqNumber, method: Method(cseqMethod, in: buffer)) }

        /// Whether everything is there that must be.
        func check() throws(Defect) {
            guard !seen.isSuperset(of: .needed) else { return }
            for (member, name) in [(Seen.via, HeaderName.via), (.from, .from), (.to, .to), (.callID, .callID), (.cseq, .cseq)] where !seen.contains(member) {
                throw .missing(name)
            }
        }
    }
}

// Of headers that are made of what was read already.
extension Message.Core {
    /// One header that was copied from a message whose core this is.
    mutating func take(_ known: HeaderName.Known, of other: Self, movedBy shift: Int) {
        switch known {
        case .via where via.whole.isEmpty: via = other.via.moved(by: shift)
        case .from: from = other.from.moved(by: shift)
        case .to: to = other.to.moved(by: shift)
        case .callID: callID = other.callID.moved(by: shift)
        case .cseq: (cseqNumber, cseqMethod) = (other.cseqNumber, other.cseqMethod.moved(by: shift))
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

        static var via: Seen { Seen(rawValue: 1) }
        static var from: Seen { Seen(rawValue: 2) }
        static var to: Seen { Seen(rawValue: 4) }
        static var callID: Seen { Seen(rawValue: 8) }
        static var cseq: Seen { Seen(rawValue: 16) }
        static var maxForwards: Seen { Seen(rawValue: 32) }
        static var needed: Seen { Seen(rawValue: 31) }
    }

    /// What is wrong with one header. A byte, which costs less to pass on than a `Defect`.
    enum Flaw: Error {
        case repeated, malformed

        func defect(_ known: HeaderName.Known) -> Defect { self == .repeated ? .repeated(HeaderName(known)) : .malformed(HeaderName(known)) }
    }

    /// Locates one header when it is one of those; only Via and Contact may come more than once (RFC 3261 §7.3.1).
    @inline(__always) mutating func read(_ field: Headers.Field, _ message: Reader) throws(Flaw) {
        let member: Seen
        switch field.known {
        case .via:
            guard !seen.contains(.via) else { return }
            member = .via
        case .from: member = .from
        case .to: member = .to
        case .callID: member = .callID
        case .cseq: member = .cseq
        case .maxForwards: member = .maxForwards
        case .contact: member = []
        default: return
        }
        guard member.isEmpty || !seen.contains(member) else { throw .repeated }
        seen.insert(member)
        var reader = message.part(from: Int(field.value.start), to: Int(field.value.end))
        do { try read(field.known, &reader) } catch { throw .malformed }
    }

    private mutating func read(_ known: HeaderName.Known, _ reader: inout Reader) throws(SyntaxError) {
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
