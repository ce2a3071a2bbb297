import Primitives

/// Why a request was sent, in the words of another protocol or of SIP itself (RFC 3326).
public struct Reason: Hashable, Sendable {
    /// `SIP`, `Q.850` ... as written.
    public var `protocol`: Text
    /// A status code or a cause of the protocol; nil when the peer gave none.
    public var cause: Int?
    /// Words for a person; nil where there are none.
    public var text: Text?
    /// Other parameters of the peer, such as the location of RFC 8606: kept as they came, up to 256 bytes.
    public private(set) var others = Parameters()

    /// A reason to be written.
    public init(protocol: Text, cause: Int?, text: Text? = nil) { (self.protocol, self.cause, self.text) = (`protocol`, cause, text) }

    /// The losers of a fork (RFC 3326 §2, RFC 3261 §16.7).
    public static var completedElsewhere: Reason { Reason(protocol: "SIP", cause: 200, text: "Call completed elsewhere") }

    /// Throws for what is not a protocol with parameters. A cause that is no number counts as none.
    public init(parsing value: Text) throws(SyntaxError) {
        let buffer = Array(value.bytes)
        self = try buffer.read { reader throws(SyntaxError) in
            reader.skipSpace()
            let name = reader.take(.token)
            guard !name.isEmpty else { throw .malformed }
            let parameters = Parameters(checked: buffer[try reader.takeParameters()])
            reader.skipSpace()
            guard reader.isAtEnd else { throw .trailingText }
            var reason = Reason(
                protocol: buffer[name], cause: parameters.value(of: "cause").flatMap { $0.integer(Int.self) },
                text: parameters.value(of: "text"))
            let others = parameters.filter {
                !$0.equalsIgnoringCase("cause" as StaticString) && !$0.equalsIgnoringCase("text" as StaticString)
            }
            if others.text.count <= 256 { reason.others = Parameters(checked: others.text.printable) }
            return reason
        }
    }

    /// The value of a Reason header.
    public var value: Text {
        var bytes = Array(`protocol`.bytes)
        if let cause { bytes += ";cause=" as StaticString; bytes.append(decimal: cause.magnitude) }
        if let text { bytes += ";text=" as StaticString; bytes.append(quoting: text.repaired) }
        bytes += others.text
        return Text(bytes)
    }

    /// Whether the cause is a status of SIP.
    public var isSIP: Bool { `protocol`.equalsIgnoringCase("SIP" as StaticString) }
    /// Whether the cause is one of Q.850, as a telephone exchange gives it.
    public var isQ850: Bool { `protocol`.equalsIgnoringCase("Q.850" as StaticString) }
}
