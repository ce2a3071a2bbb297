/// Content in chunks (RFC 9112 §7.1). Extensions and trailers are read over; a line ends in CRLF and in nothing else.
struct ChunkedBody: Sendable {
    enum Progress {
        /// Everything before this index is read.
        case incomplete(read: Int)
        /// The content is whole; what follows begins there.
        case whole(end: Int)
        case refused(HTTPResponse.Status)
    }

    private enum State {
        case size
        case data(left: Int)
        /// The CRLF behind a chunk.
        case end
        case trailer
    }

    private let limits: HTTPRequestReader.Limits
    private var state = State.size
    private var trailerCount = 0
    private(set) var content: [UInt8] = []

    init(_ limits: HTTPRequestReader.Limits) { self.limits = limits }

    mutating func read(_ bytes: ArraySlice<UInt8>) -> Progress {
        var rest = bytes
        while true {
            switch state {
            case .data(let left):
                let piece = rest.prefix(left)
                content += piece
                rest = rest.dropFirst(piece.count)
                guard piece.count == left else {
                    state = .data(left: left - piece.count)
                    return .incomplete(read: rest.startIndex)
                }
                state = .end
            case .size, .end, .trailer:
                guard let line = Self.line(of: rest) else {
                    return rest.count > Self.longestLine ? .refused(.badRequest) : .incomplete(read: rest.startIndex)
                }
                rest = rest[line.next...]
                if let end = take(line.text, next: line.next) { return end }
            }
        }
    }

    private static let longestLine = 4_096

    /// A line and where the next begins; nil where its end has not come.
    private static func line(of bytes: ArraySlice<UInt8>) -> (text: ArraySlice<UInt8>, next: Int)? {
        guard let feed = bytes.firstIndex(of: 0x0A) else { return nil }
        return (bytes[..<feed], feed + 1)
    }

    /// nil: it goes on.
    private mutating func take(_ line: ArraySlice<UInt8>, next: Int) -> Progress? {
        // A bare LF is an end of line to some, and not to others.
        guard line.last == 0x0D, !line.dropLast().contains(0x0D), line.count <= Self.longestLine else { return .refused(.badRequest) }
        let text = line.dropLast()
        switch state {
        case .size: return takeSize(text)
        case .end:
            guard text.isEmpty else { return .refused(.badRequest) }
            state = .size
        case .trailer:
            if text.isEmpty { return .whole(end: next) }
            trailerCount += line.count
            if trailerCount > limits.head { return .refused(.requestHeaderFieldsTooLarge) }
        case .data: break
        }
        return nil
    }

    private mutating func takeSize(_ text: ArraySlice<UInt8>) -> Progress? {
        let digits = text.prefix { hexadecimal($0) != nil }, rest = text[digits.endIndex...].drop { $0 == 0x20 || $0 == 0x09 }
        guard !digits.isEmpty, digits.count <= 15, rest.isEmpty || rest.first == UInt8(ascii: ";") else { return .refused(.badRequest) }
        let size = digits.reduce(0) { $0 << 4 | Int(hexadecimal($1) ?? 0) }
        guard size <= limits.body - content.count else { return .refused(.contentTooLarge) }
        state = size == 0 ? .trailer : .data(left: size)
        return nil
    }
}
