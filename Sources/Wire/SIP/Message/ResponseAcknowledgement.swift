import Primitives

/// The reliable provisional response that a PRACK acknowledges: the value of a RAck header (RFC 3262 §7.2).
public struct ResponseAcknowledgement: Hashable, Sendable {
    /// The RSeq of the response.
    public var response: UInt32
    /// The CSeq of the request that it answers.
    public var cseq: CSeq

    /// An acknowledgement to be written.
    public init(response: UInt32, cseq: CSeq) { (self.response, self.cseq) = (response, cseq) }

    /// nil for what is not two numbers and a method.
    public init?(parsing value: Text) {
        let parts = value.bytes.split { $0 == 0x20 || $0 == 0x09 }
        guard parts.count == 3, let response = Text(parts[0]).integer(UInt32.self), let number = Text(parts[1]).integer(UInt32.self) else {
            return nil
        }
        self.init(response: response, cseq: CSeq(number: number, method: Method(Text(parts[2]))))
    }

    /// The value of a RAck header.
    public var value: Text { Text(response) + " " + cseq.text }
}

extension Message {
    /// The RSeq of a provisional response that is to be acknowledged (RFC 3262 §4): only with `Require: 100rel`, and never of a 100.
    public var reliableSequence: UInt32? {
        guard let status, (101..<200).contains(status), headers.lists("100rel", in: .require) else { return nil }
        return headers[.rseq]?.trimmed.integer(UInt32.self)
    }

    /// The RAck of a PRACK.
    public var responseAcknowledgement: ResponseAcknowledgement? { headers[.rack].flatMap { ResponseAcknowledgement(parsing: $0) } }
}
