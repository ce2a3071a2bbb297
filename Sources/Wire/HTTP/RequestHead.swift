/// The head of a request, from its request line to its last field (RFC 9112 §3–§6).
struct RequestHead {
    struct Refusal: Error { var status: HTTPResponse.Status }

    enum Content: Equatable {
        case none
        case length(Int)
        case chunks
    }

    let request: IncomingRequest
    let content: Content
    let expectsContinue: Bool

    /// - Parameter bytes: with the empty line at its end.
    init(_ bytes: ArraySlice<UInt8>, _ limits: HTTPRequestReader.Limits) throws(Refusal) {
        var lines = bytes.split(separator: 0x0A, omittingEmptySubsequences: false).map { $0.last == 0x0D ? $0.dropLast() : $0 }
        while lines.last?.isEmpty == true { lines.removeLast() }
        guard let first = lines.first, lines.count <= limits.fields + 1 else { throw Refusal(status: .requestHeaderFieldsTooLarge) }
        let line = try RequestLine(first)
        var fields = HTTPFields(), hosts: [String] = []
        for text in lines.dropFirst() {
            let field = try Self.field(text)
            if field.name == Self.host { hosts.append(field.value) } else { fields.append(field) }
        }
        // One Host, which HTTP/1.0 alone may leave out (RFC 9112 §3.2).
        guard hosts.count == 1 || hosts.isEmpty && line.isOld, hosts.allSatisfy(Self.isHost) else { throw Refusal(status: .badRequest) }
        content = try Self.content(fields, line, limits)
        let expectation = fields[.expect]?.lowercased()
        guard expectation == nil || expectation == "100-continue" else { throw Refusal(status: .expectationFailed) }
        expectsContinue = expectation != nil && content != .none && !line.isOld
        let wishes = Self.tokens(fields[.connection])
        request = IncomingRequest(
            head: HTTPRequest(
                method: line.method, scheme: nil, authority: hosts.first, path: line.target.text, headerFields: fields),
            target: line.target, keepsAlive: !line.isOld && !wishes.contains("close"), isOld: line.isOld)
    }

    /// A field of one line; folded lines are refused (RFC 9112 §5.2), and so is a blank before the colon (§5.1).
    private static func field(_ line: ArraySlice<UInt8>) throws(Refusal) -> HTTPField {
        guard let colon = line.firstIndex(of: UInt8(ascii: ":")),
            let name = HTTPField.Name(String(decoding: line[..<colon], as: UTF8.self))
        else { throw Refusal(status: .badRequest) }
        var value = line[(colon + 1)...].drop(while: isBlank)
        while let last = value.last, isBlank(last) { value.removeLast() }
        guard value.allSatisfy({ $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }) else { throw Refusal(status: .badRequest) }
        return HTTPField(name: name, value: String(decoding: value, as: UTF8.self))
    }

    /// The way in which the length of the content is told: one way, or it is refused (RFC 9112 §6.3).
    private static func content(
        _ fields: HTTPFields, _ line: RequestLine, _ limits: HTTPRequestReader.Limits
    ) throws(Refusal) -> Content {
        let codings = fields[values: .transferEncoding], lengths = fields[values: .contentLength]
        if !codings.isEmpty {
            guard lengths.isEmpty, !line.isOld else { throw Refusal(status: .badRequest) }
            guard codings.count == 1, codings[0].lowercased() == "chunked" else { throw Refusal(status: .notImplemented) }
            return .chunks
        }
        guard let text = lengths.first else { return .none }
        guard lengths.count == 1, !text.isEmpty, text.utf8.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 }) else {
            throw Refusal(status: .badRequest)
        }
        guard let length = Int(text), length <= limits.body else { throw Refusal(status: .contentTooLarge) }
        return length == 0 ? .none : .length(length)
    }

    /// The elements of a list, in lower case.
    static func tokens(_ list: String?) -> [String] {
        (list ?? "").lowercased().split(separator: ",").map { $0.trimmingBlanks }
    }

    /// The library keeps Host out of its fields: it is the authority.
    private static let host = HTTPField.Name("Host")

    private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }

    /// RFC 3986 §3.2.2, and a port.
    private static func isHost(_ text: String) -> Bool { text.utf8.allSatisfy { hostBytes[Int($0)] } }

    private static let hostBytes: [Bool] = {
        let letters = "-._~%!$&'()*+,;=:[]0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
        var table = [Bool](repeating: false, count: 256)
        for byte in letters.utf8 { table[Int(byte)] = true }
        return table
    }()
}

/// `GET /v1/calls HTTP/1.1`
struct RequestLine {
    let method: HTTPRequest.Method
    let target: RequestTarget
    /// HTTP/1.0.
    let isOld: Bool

    init(_ line: ArraySlice<UInt8>) throws(RequestHead.Refusal) {
        let words = line.split(separator: 0x20, omittingEmptySubsequences: false).map { String(decoding: $0, as: UTF8.self) }
        guard words.count == 3, words[2].hasPrefix("HTTP/"), let method = HTTPRequest.Method(rawValue: words[0]) else {
            throw .init(status: .badRequest)
        }
        guard words[2] == "HTTP/1.1" || words[2] == "HTTP/1.0" else { throw .init(status: .httpVersionNotSupported) }
        guard Self.methods.contains(words[0]) else { throw .init(status: .notImplemented) }
        guard let target = RequestTarget(words[1]), target.text != "*" || method == .options else { throw .init(status: .badRequest) }
        (self.method, self.target, isOld) = (method, target, words[2].hasSuffix("0"))
    }

    /// The methods of HTTP that a server may know and not allow (RFC 9110 §9, RFC 5789), and QUERY.
    private static let methods: Set<String> = ["GET", "HEAD", "POST", "PUT", "DELETE", "CONNECT", "OPTIONS", "TRACE", "PATCH", "QUERY"]
}

extension StringProtocol {
    /// Without blanks and tabs at its ends.
    var trimmingBlanks: String {
        let front = drop { $0 == " " || $0 == "\t" }
        let count = front.reversed().prefix { $0 == " " || $0 == "\t" }.count
        return String(front.dropLast(count))
    }
}
