import Primitives

/// The defect of a message, and what its sender is told of it (RFC 3261 §8.2, RFC 4475).
public enum Defect: Error, Hashable, Sendable {
    /// Nothing but line ends: a keep-alive (RFC 5626 §3.5.1).
    case keepAlive
    /// More bytes than `Limits.message`.
    case tooLarge
    /// The first line is none of a request or a response.
    case startLine
    /// It is one, of another version than SIP/2.0.
    case version
    /// The scheme of the Request-URI is one that nobody here can follow.
    case unknownScheme
    /// The Request-URI has more bytes than the limits allow.
    case requestURITooLong
    /// A line has no name with a colon behind it, or no end.
    case headerLine
    /// More fields than the limits allow.
    case tooManyHeaders
    /// A field has more bytes than the limits allow.
    case headerTooLong
    /// A field that every message has is not there.
    case missing(HeaderName)
    /// A field that has to be understood cannot be read.
    case malformed(HeaderName)
    /// A field that may be there once is there twice.
    case repeated(HeaderName)
    /// The methods of the request line and of CSeq differ.
    case methodMismatch
    /// Content-Length says more than there is.
    case truncatedBody

    /// The status of the response that says so.
    public var status: Int {
        switch self {
        case .tooLarge, .tooManyHeaders, .headerTooLong: 513
        case .version: 505
        case .unknownScheme: 416
        case .requestURITooLong: 414
        default: 400
        }
    }

    /// The reason phrase of that response.
    public var reason: Text {
        switch self {
        case .keepAlive: "Empty Message"
        case .tooLarge: "Message Too Large"
        case .startLine: "Malformed Start Line"
        case .version: "Version Not Supported"
        case .unknownScheme: "Unsupported URI Scheme"
        case .requestURITooLong: "Request-URI Too Long"
        case .headerLine: "Malformed Header Line"
        case .tooManyHeaders: "Too Many Header Fields"
        case .headerTooLong: "Header Field Too Large"
        case .missing(let name): "Missing " + name.text
        case .malformed(let name): "Malformed " + name.text
        case .repeated(let name): "Repeated " + name.text
        case .methodMismatch: "CSeq Method Does Not Match Request"
        case .truncatedBody: "Content-Length Larger Than Message"
        }
    }
}

extension Message {
    /// Why bytes are no message, and whether anybody is told.
    public enum ParseError: Error, Sendable {
        /// Nothing may or can be answered: a response, an ACK, or a request whose Via or CSeq cannot be read.
        case drop(Defect)
        /// A request that is answered without a transaction.
        case reject(Rejection)

        /// The defect, whether or not it is answered.
        public var defect: Defect {
            switch self {
            case .drop(let defect): defect
            case .reject(let rejection): rejection.defect
            }
        }
    }

    /// A broken request and what is needed to answer it (RFC 3261 §8.2.6, §8.2.7).
    public struct Rejection: Sendable {
        /// The defect of the request.
        public let defect: Defect
        /// The method as it was written.
        public let method: Text
        /// The topmost Via, where the response goes; without its parameters when they are what is broken. Stamp it with the source
        /// (`Via.stamp`) before asking for the response.
        public var via: Via
        /// The header fields as far as they could be cut out.
        public let headers: Headers

        /// The status of the response.
        public var status: Int { defect.status }
        /// The reason phrase of the response.
        public var reason: Text { defect.reason }

        /// The response: the Vias, From, To, Call-ID and CSeq of the request, as they are. A To that can be read gets the tag.
        public func response(toTag: Text) -> [UInt8] {
            var answer = Headers()
            answer.copy(.via, from: headers)
            answer.replaceFirstElement(of: .via, with: via.text)
            for name in [HeaderName.from, .to, .callID, .cseq] { answer.copy(name, from: headers) }
            if let value = answer[.to], let to = try? NameAddress(parsing: value), to.tag == nil {
                answer.set(.to, value + ";tag=" + toTag)
            }
            var bytes: [UInt8] = []
            Message.writeStatusLine(status, reason, into: &bytes)
            Message.write(answer, .empty, into: &bytes)
            return bytes
        }
    }
}
