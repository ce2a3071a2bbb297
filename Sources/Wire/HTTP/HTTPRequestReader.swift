/// The requests of one connection, read from its bytes (RFC 9112): one after the other, pipelined or not, with content by Content-Length or
/// in chunks.
///
/// A value: bytes in, requests out. What two servers might read in two ways is refused, and ends the reading.
public struct HTTPRequestReader: Sendable {
    /// The most that a client may send.
    public struct Limits: Sendable {
        /// Bytes from the request line to the empty line behind the fields, and so many for trailers.
        public var head = 16_384
        /// Fields of a head.
        public var fields = 100
        /// Bytes of content.
        public var body = 1 << 20

        public init() {}
    }

    /// A request, or the reason why reading waits or ends.
    public enum Output: Sendable, Equatable {
        case request(IncomingRequest)
        /// The client waits for 100 before it sends the content (RFC 9110 §10.1.1).
        case wantsContinue
        /// To be answered with that status, and then the connection ends: nothing more is read.
        case refused(HTTPResponse.Status)
    }

    private enum State {
        /// Next: `fixed`, `chunked`, `head` again, or `broken`.
        case head
        /// So many bytes of content are to come. Next: `head`.
        case fixed(IncomingRequest, length: Int)
        /// The content of `chunks` is to come. Next: `head`, or `broken`.
        case chunked(IncomingRequest)
        /// Absorbing.
        case broken
    }

    private let limits: Limits
    private var state = State.head
    private var bytes: [UInt8] = []
    /// Everything before it is read.
    private var start = 0
    /// Looked through for the end of the head.
    private var scanned = 0
    private var mayContinue = false
    /// Beside the state, which would copy what it has gathered.
    private var chunks: ChunkedBody

    public init(limits: Limits = Limits()) {
        self.limits = limits
        chunks = ChunkedBody(limits)
    }

    /// Takes what came.
    public mutating func receive(_ more: [UInt8]) {
        if case .broken = state { return }
        bytes += more
    }

    /// Bytes that wait to be read.
    public var waitingCount: Int { bytes.count - start }

    /// Nothing of a request has come yet.
    public var isBetweenRequests: Bool { if case .head = state { waitingCount == 0 } else { false } }

    /// The next request, as soon as it is whole; nil while bytes are missing.
    public mutating func next() -> Output? {
        switch state {
        case .broken: return nil
        case .head: return nextHead()
        case .fixed(let request, let length): return nextContent(of: request, length)
        case .chunked(let request): return nextChunks(of: request)
        }
    }

    /// Takes the bytes behind an upgrade request: they are not HTTP any more.
    public mutating func takeRest() -> [UInt8] {
        defer { state = .broken }
        defer { bytes = [] }
        return Array(bytes[start...])
    }

    private mutating func nextHead() -> Output? {
        skipEmptyLines()
        guard let end = endOfHead() else {
            return waitingCount > limits.head ? refuseLongHead() : nil
        }
        guard end - start <= limits.head else { return refuseLongHead() }
        let parsed: RequestHead
        do throws(RequestHead.Refusal) { parsed = try RequestHead(bytes[start..<end], limits) } catch { return refuse(error.status) }
        consume(to: end)
        switch parsed.content {
        case .none: return .request(parsed.request)
        case .length(let length): state = .fixed(parsed.request, length: length)
        case .chunks: state = .chunked(parsed.request)
        }
        mayContinue = parsed.expectsContinue
        return next()
    }

    /// By the bytes of the limit alone: how many more have come already makes no difference.
    private mutating func refuseLongHead() -> Output {
        refuse(bytes[start...].prefix(limits.head).contains(0x0A) ? .requestHeaderFieldsTooLarge : .uriTooLong)
    }

    /// Empty lines before a request are passed over (RFC 9112 §2.2).
    private mutating func skipEmptyLines() {
        let first = bytes[start...].firstIndex { $0 != 0x0D && $0 != 0x0A } ?? bytes.endIndex
        if first > start { consume(to: first) }
    }

    /// Behind the empty line that ends the head.
    private mutating func endOfHead() -> Int? {
        var index = max(scanned, start)
        while let feed = bytes[index...].firstIndex(of: 0x0A) {
            index = feed + 1
            let next = bytes[index...].prefix(2)
            if next.first == 0x0A { return index + 1 }
            if next.count == 2, next.first == 0x0D, next.last == 0x0A { return index + 2 }
            if next.count < 2 {
                scanned = feed
                return nil
            }
        }
        scanned = bytes.count
        return nil
    }

    private mutating func nextContent(of request: IncomingRequest, _ length: Int) -> Output? {
        guard waitingCount >= length else { return askForContent() }
        var request = request
        request.body = Array(bytes[start..<(start + length)])
        consume(to: start + length)
        state = .head
        return .request(request)
    }

    private mutating func nextChunks(of request: IncomingRequest) -> Output? {
        switch chunks.read(bytes[start...]) {
        case .incomplete(let read):
            consume(to: read)
            return askForContent()
        case .refused(let status): return refuse(status)
        case .whole(let end):
            var request = request
            request.body = chunks.content
            chunks = ChunkedBody(limits)
            consume(to: end)
            state = .head
            return .request(request)
        }
    }

    /// Once, and not where content has come already.
    private mutating func askForContent() -> Output? {
        guard mayContinue, waitingCount == 0 else { return nil }
        mayContinue = false
        return .wantsContinue
    }

    private mutating func refuse(_ status: HTTPResponse.Status) -> Output {
        state = .broken
        bytes = []
        (start, scanned) = (0, 0)
        return .refused(status)
    }

    private mutating func consume(to end: Int) {
        start = end
        scanned = end
        guard start == bytes.count || start > 65_536 else { return }
        bytes.removeFirst(start)
        (start, scanned) = (0, 0)
    }
}
