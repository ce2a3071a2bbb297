/// The answer to a request of ours, read from the bytes of its connection (RFC 9112 §4, §6.3): its head, and its content in pieces.
///
/// A value: bytes in, the answer out. Interim responses (1xx) are passed over.
public struct HTTPResponseReader: Sendable {
    /// A part of the answer.
    public enum Output: Sendable, Equatable {
        case head(HTTPResponse)
        /// Never empty.
        case content([UInt8])
        case end
        /// The bytes are no HTTP answer; nothing more is read.
        case broken
    }

    private enum State {
        case head
        /// So many bytes are to come.
        case fixed(left: Int)
        case chunkSize, chunkData(left: Int), chunkEnd, trailer
        /// To the end of the connection.
        case open
        /// Absorbing.
        case done
    }

    private static let longestHead = 65_536
    private static let begin = Array("HTTP/1.".utf8)
    private let isHead: Bool
    private var state = State.head
    private var bytes: [UInt8] = []

    /// - Parameter method: of the request: the answer to a HEAD has no content.
    public init(to method: HTTPRequest.Method) { isHead = method == .head }

    /// Takes what came.
    public mutating func receive(_ more: [UInt8]) { bytes += more }

    /// Takes the bytes behind the head of a 101: they are not HTTP any more.
    public mutating func takeRest() -> [UInt8] {
        defer { (state, bytes) = (.done, []) }
        return bytes
    }

    /// The connection has ended: that is the end of an answer that tells no length, and of any other too early.
    public mutating func finish() -> Output? {
        defer { state = .done }
        switch state {
        case .open: return .end
        case .done: return nil
        default: return .broken
        }
    }

    /// The next part of the answer; nil while bytes are missing, and when it is over.
    public mutating func next() -> Output? {
        switch state {
        case .done: return nil
        case .head: return nextHead()
        case .fixed(let left): return nextPiece(left) { $0 == 0 ? .done : .fixed(left: $0) }
        case .open: return bytes.isEmpty ? nil : nextPiece(bytes.count) { _ in .open }
        case .chunkData(let left): return nextPiece(left) { $0 == 0 ? .chunkEnd : .chunkData(left: $0) }
        case .chunkSize, .chunkEnd, .trailer: return nextLine()
        }
    }

    private mutating func nextPiece(_ left: Int, then next: (Int) -> State) -> Output? {
        if left == 0 {
            state = next(0)
            if case .done = state { return .end }
            return self.next()
        }
        guard !bytes.isEmpty else { return nil }
        let piece = Array(bytes.prefix(left))
        bytes.removeFirst(piece.count)
        state = left == piece.count ? (isFixed ? .fixed(left: 0) : next(0)) : next(left - piece.count)
        return .content(piece)
    }

    /// The end of content with a length is told by itself.
    private var isFixed: Bool { if case .fixed = state { true } else { false } }

    private mutating func nextLine() -> Output? {
        guard let feed = bytes.firstIndex(of: 0x0A) else { return bytes.count > Self.longestHead ? fail() : nil }
        let line = bytes[..<feed].last == 0x0D ? bytes[..<feed].dropLast() : bytes[..<feed]
        let text = String(decoding: line, as: UTF8.self)
        bytes.removeSubrange(...feed)
        switch state {
        case .chunkSize:
            guard let size = Int(text.prefix { $0.isHexDigit }, radix: 16), size < 1 << 40 else { return fail() }
            state = size == 0 ? .trailer : .chunkData(left: size)
        case .chunkEnd:
            guard text.isEmpty else { return fail() }
            state = .chunkSize
        default:
            guard text.isEmpty else { break }
            state = .done
            return .end
        }
        return next()
    }

    private mutating func fail() -> Output {
        (state, bytes) = (.done, [])
        return .broken
    }

    private mutating func nextHead() -> Output? {
        // Another protocol is known by its first bytes, and may never send an empty line.
        guard zip(bytes, Self.begin).allSatisfy(==) else { return fail() }
        guard let end = endOfHead else { return bytes.count > Self.longestHead ? fail() : nil }
        var lines = bytes[..<end].split(separator: 0x0A).map { String(decoding: $0.last == 0x0D ? $0.dropLast() : $0, as: UTF8.self) }
        bytes.removeFirst(end)
        lines.removeAll(where: \.isEmpty)
        guard let first = lines.first, first.hasPrefix("HTTP/1."), first.utf8.count >= 12, let code = Int(first.dropFirst(9).prefix(3)),
            (100...599).contains(code)
        else { return fail() }
        var fields = HTTPFields()
        for line in lines.dropFirst() {
            guard let colon = line.firstIndex(of: ":"), let name = HTTPField.Name(String(line[..<colon])) else { return fail() }
            fields.append(HTTPField(name: name, value: line[line.index(after: colon)...].trimmingBlanks))
        }
        if code < 200, code != 101 { return next() }
        state = Self.content(code, fields, isHead: isHead)
        return .head(HTTPResponse(status: .init(code: code), headerFields: fields))
    }

    private static func content(_ code: Int, _ fields: HTTPFields, isHead: Bool) -> State {
        if isHead || code == 204 || code == 304 || code == 101 { return .fixed(left: 0) }
        if fields[.transferEncoding]?.lowercased().hasSuffix("chunked") == true { return .chunkSize }
        guard let length = fields[.contentLength].flatMap({ Int($0) }), length >= 0 else { return .open }
        return .fixed(left: length)
    }

    private var endOfHead: Int? {
        guard let index = bytes.indices.first(where: { bytes[$0] == 0x0A && bytes[..<$0].last(where: { $0 != 0x0D }) == 0x0A }) else {
            return nil
        }
        return index + 1
    }
}
