import Primitives

/// A request method. Names are case-sensitive (RFC 3261 §7.1), so `other("invite")` is not `invite`.
public enum Method: Hashable, Sendable, CustomStringConvertible {
    /// RFC 3261, RFC 6086 (INFO), RFC 3311, RFC 3262, RFC 3515, RFC 6665, RFC 3428 and RFC 3903.
    case invite, ack, bye, cancel, register, options, info, update, prack, refer, notify, subscribe, message, publish
    /// A method that this module has no name for; it is never one of the names above.
    case other(Text)

    /// The methods that have a name here, in no particular order.
    public static let named: [Method] = [
        .invite, .ack, .bye, .cancel, .register, .options, .info, .update, .prack, .refer, .notify, .subscribe, .message, .publish,
    ]

    /// The method of this name; case counts.
    public init(_ text: Text) {
        self = text.bytes.withUnsafeBufferPointer { bytes in Method.named(bytes) } ?? .other(text)
    }

    /// The name on the wire.
    public var text: Text {
        if case .other(let text) = self { return text }
        return Text(Array(UnsafeBufferPointer(start: literal.utf8Start, count: literal.utf8CodeUnitCount)))
    }

    public var description: String { text.description }

    /// Bytes of the name.
    var count: Int { if case .other(let text) = self { text.count } else { literal.utf8CodeUnitCount } }

    /// The name on the wire; empty for `other`.
    var literal: StaticString {
        switch self {
        case .invite: "INVITE"
        case .ack: "ACK"
        case .bye: "BYE"
        case .cancel: "CANCEL"
        case .register: "REGISTER"
        case .options: "OPTIONS"
        case .info: "INFO"
        case .update: "UPDATE"
        case .prack: "PRACK"
        case .refer: "REFER"
        case .notify: "NOTIFY"
        case .subscribe: "SUBSCRIBE"
        case .message: "MESSAGE"
        case .publish: "PUBLISH"
        case .other: ""
        }
    }

    static func named(_ bytes: UnsafeBufferPointer<UInt8>) -> Method? {
        let candidate: Method
        switch (bytes.count, bytes.first) {
        case (6, 0x49): candidate = .invite
        case (3, 0x41): candidate = .ack
        case (3, 0x42): candidate = .bye
        case (6, 0x43): candidate = .cancel
        case (8, 0x52): candidate = .register
        case (7, 0x4F): candidate = .options
        case (4, 0x49): candidate = .info
        case (6, 0x55): candidate = .update
        case (5, 0x50): candidate = .prack
        case (5, 0x52): candidate = .refer
        case (6, 0x4E): candidate = .notify
        case (9, 0x53): candidate = .subscribe
        case (7, 0x4D): candidate = .message
        case (7, 0x50): candidate = .publish
        default: return nil
        }
        let name = candidate.literal.utf8Start
        for index in 0..<bytes.count where name[index] != bytes[index] { return nil }
        return candidate
    }

    init(_ name: Extent, in buffer: borrowing [UInt8]) {
        self = buffer.withUnsafeBufferPointer { Method.named(UnsafeBufferPointer(rebasing: $0[name.range])) } ?? .other(buffer[name])
    }

    init(_ name: Extent, _ reader: Reader) {
        self = Method.named(UnsafeBufferPointer(start: reader.base + Int(name.start), count: name.count)) ?? .other(reader.text(name))
    }
}

extension [UInt8] {
    static func += (bytes: inout [UInt8], method: Method) {
        if case .other(let text) = method { bytes += text } else { bytes += method.literal }
    }
}

/// A sequence number and the method that it numbers (RFC 3261 §20.16).
public struct CSeq: Hashable, Sendable {
    /// Less than 2³¹.
    public var number: UInt32
    /// The method of the request that is numbered.
    public var method: Method

    /// - Parameter number: less than 2³¹.
    public init(number: UInt32, method: Method) { (self.number, self.method) = (number, method) }

    /// Throws for what is not a number below 2³¹ and a method.
    public init(parsing text: Text) throws(SyntaxError) {
        let buffer = Array(text.bytes)
        self = try buffer.read { reader throws(SyntaxError) in
            let (number, name) = try CSeq.parts(&reader)
            return CSeq(number: number, method: Method(name, reader))
        }
    }

    /// The number, and where the method's name is; nothing may follow.
    static func parts(_ reader: inout Reader) throws(SyntaxError) -> (UInt32, Extent) {
        reader.skipSpace()
        let number = UInt32(try reader.takeNumber(maximum: 0x7FFF_FFFF))
        let afterNumber = reader.at
        reader.skipSpace()
        let name = reader.take(.token)
        guard !name.isEmpty, Int(name.start) > afterNumber else { throw .malformed }
        reader.skipSpace()
        guard reader.isAtEnd else { throw .trailingText }
        return (number, name)
    }

    /// The value of the header.
    public var text: Text {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(method.count + 11)
        bytes.append(decimal: number)
        bytes.append(0x20)
        bytes += method
        return Text(bytes)
    }
}
