import Primitives

/// Cuts the bytes of a connection into messages, and wraps messages for it.
///
/// Without I/O. Each connection has one.
public protocol MessageFraming {
    /// Bytes that wait for the rest of their message.
    var pendingBytes: Int { get }
    /// The answer to a ping of the peer (`.pong`), as it goes over the connection.
    var pong: [UInt8] { get }
    /// Takes what was read from the connection; the outputs are in the order of the stream.
    mutating func receive(_ bytes: [UInt8]) -> [StreamFramer.Output]
    /// A message, or `StreamFramer.ping`, as it goes over the connection.
    mutating func frame(_ message: [UInt8]) -> [UInt8]
}

/// Cuts the bytes of a TCP or TLS connection into messages (RFC 3261 §18.3) and keep-alives (RFC 5626 §3.5.1).
///
/// A value without I/O: bytes in, whole messages out. It holds at most one unfinished message of `Limits.message` bytes, and
/// searches every byte once however the segments fall. After `failed` it gives nothing more: answer, then close the connection.
public struct StreamFramer: MessageFraming {
    /// The parts of the stream.
    public enum Output: Sendable {
        /// One whole message, for `Message(parsing:)`.
        case message([UInt8])
        /// A double CRLF came: send a single CRLF back.
        case pong
        /// A single CRLF came that answers a ping of ours.
        case answered
        /// Bytes that leave at once and as they are: the transport's own answer to what came. None of a stream of TCP.
        case reply([UInt8])
        /// The peer has said its last word. Never of a stream of TCP, whose end is the connection's.
        case ended
        /// The stream cannot be followed any further. A rejection, when there is one, is answered first; then the connection is closed.
        case failed(Message.ParseError)
    }

    /// The bytes that keep a flow open; the answer to them is `pong`.
    public static let ping: [UInt8] = [0x0D, 0x0A, 0x0D, 0x0A]
    /// The answer to `ping`.
    public static let pong: [UInt8] = [0x0D, 0x0A]

    private var buffer: [UInt8] = []
    /// The position that the search for the end of the head has reached.
    private var searched = 0
    /// The length of the message at the beginning of the buffer, when its head is complete.
    private var expected: Int?
    private var hasFailed = false
    /// A ping of ours was not answered: a single CRLF answers it, where otherwise it may be the half of theirs.
    private var awaitsPong = false

    /// A framer at the beginning of a connection.
    public init() {}

    /// Bytes that wait for the rest of their message. A line end alone is none: it may be all that comes.
    public var pendingBytes: Int { buffer == [0x0D] || buffer == Self.pong ? 0 : buffer.count }

    /// A ping leaves on the connection.
    public mutating func sentPing() { awaitsPong = true }

    public var pong: [UInt8] { Self.pong }

    public mutating func frame(_ message: [UInt8]) -> [UInt8] {
        if message == Self.ping { sentPing() }
        return message
    }

    public mutating func receive(_ bytes: [UInt8]) -> [Output] {
        guard !hasFailed else { return [] }
        buffer.append(contentsOf: bytes)
        var outputs: [Output] = []
        var start = 0
        while let output = next(&start) {
            outputs.append(output)
            guard case .failed = output else { continue }
            hasFailed = true
            buffer = []
            return outputs
        }
        buffer.removeFirst(start)
        searched -= start
        return outputs
    }

    /// The next output of the bytes from `start` on, or nil when more are needed.
    private mutating func next(_ start: inout Int) -> Output? {
        if expected == nil {
            switch skipLineEnds(&start) {
            case .none: break
            case .some(let output): return output
            }
            guard start < buffer.count, buffer[start] != 0x0D else { searched = start; return nil }
            guard let head = headEnd(from: start) else {
                return buffer.count - start > Limits.head ? .failed(failure(.tooLarge, start, buffer.count)) : nil
            }
            switch length(start, head) {
            case .success(let length): expected = length
            case .failure(let error): return .failed(error)
            }
        }
        guard let length = expected, buffer.count - start >= length else { return nil }
        let message = Array(buffer[start..<(start + length)])
        start += length
        (searched, expected) = (start, nil)
        return .message(message)
    }

    /// A double CRLF is a ping; a single one in front of a message means nothing (RFC 3261 §7.5). What may become either waits.
    private mutating func skipLineEnds(_ start: inout Int) -> Output? {
        // There are peers that ping and answer no ping: a double CRLF is theirs, also where ours waits for its answer.
        if awaitsPong, buffer[start...].starts(with: Self.pong), !buffer[start...].starts(with: Self.ping) {
            start += 2
            awaitsPong = false
            return .answered
        }
        while start + 2 < buffer.count, buffer[start] == 0x0D {
            guard buffer[start + 1] == 0x0A else { return .failed(.drop(.startLine)) }
            guard buffer[start + 2] == 0x0D else {
                start += 2
                continue
            }
            guard start + 3 < buffer.count else { return nil }
            guard buffer[start + 3] == 0x0A else { return .failed(.drop(.startLine)) }
            start += 4
            return .pong
        }
        return nil
    }

    /// The position behind the empty line that ends the head.
    private mutating func headEnd(from start: Int) -> Int? {
        let from = max(start, searched)
        let found = buffer.withUnsafeBufferPointer { bytes -> Int? in
            guard let base = bytes.baseAddress else { return nil }
            let reader = Reader(base: base, at: from, end: bytes.count)
            var position = reader.firstControl(from: from)
            while position < reader.end {
                if reader.byte(position) == 0x0D, reader.byte(position + 1) == 0x0A, reader.byte(position + 2) == 0x0D,
                    reader.byte(position + 3) == 0x0A
                {
                    return position + 4
                }
                position = reader.firstControl(from: position + 1)
            }
            return nil
        }
        searched = found ?? max(start, buffer.count - 3)
        return found
    }

    /// The length of the message whose head is there. On a stream, Content-Length is what says so (RFC 3261 §18.3).
    private func length(_ start: Int, _ head: Int) -> Result<Int, Message.ParseError> {
        guard head - start <= Limits.head else { return .failure(failure(.tooLarge, start, head)) }
        let draft = Draft(Array(buffer[start..<head]))
        let body: Int
        do {
            guard let length = try draft.contentLength() else { return .failure(draft.error(.missing(.contentLength))) }
            body = length
        } catch { return .failure(draft.error(error)) }
        guard body <= Limits.message - (head - start) else { return .failure(draft.error(.tooLarge)) }
        return .success(head - start + body)
    }

    private func failure(_ defect: Defect, _ start: Int, _ end: Int) -> Message.ParseError {
        Draft(Array(buffer[start..<end])).error(defect)
    }
}
