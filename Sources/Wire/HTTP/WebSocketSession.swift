import CWslay

/// One end of a WebSocket connection (RFC 6455) behind its handshake: bytes in, messages out, and the other way round. The frames are wslay's.
///
/// Lane-confined. After each call its owner sends what `takeOutput` gives; after `closed` and `failed` it ends the connection.
public final class WebSocketSession {
    /// The most that a peer may send.
    public struct Limits: Sendable {
        /// Bytes of a message, in one frame or in many.
        public var message = 1 << 20

        /// The usual bounds.
        public init() {}
    }

    /// An event of the peer's.
    public enum Event: Sendable, Equatable {
        /// A whole message, which is valid UTF-8.
        case text([UInt8])
        /// A whole message.
        case binary([UInt8])
        /// Answered already.
        case ping([UInt8])
        /// Asked for or not.
        case pong([UInt8])
        /// The peer has said its last word, which is answered. The last event.
        case closed(WebSocketCloseCode)
        /// The peer broke a rule, and was told by this code. The last event.
        case failed(WebSocketCloseCode)
    }

    private enum State {
        /// Next: `closing`, `closed`.
        case open
        /// We said our last word, and wait for the peer's. Next: `closed`.
        case closing
        /// Absorbing.
        case closed
    }

    /// The frame that is being read.
    private struct Frame {
        var opcode: UInt8
        var isLast: Bool
        /// Bytes that are to come.
        var left: UInt64
    }

    private let limits: Limits
    /// The mask of each frame of a client; nil: a server, which masks none (§5.1).
    private var masks: (any RandomNumberGenerator)?
    private var state = State.open
    /// Never nil after `init`.
    private var context: OpaquePointer?
    private var input: [UInt8] = []
    private var inputStart = 0
    private var output: [UInt8] = []
    private var frame: Frame?
    /// That of the message of which the first frame has come; nil between messages.
    private var messageOpcode: UInt8?
    private var message: [UInt8] = []
    /// The payload of a control frame, which may come in the middle of a message.
    private var control: [UInt8] = []

    /// The server's end.
    public convenience init(server limits: Limits = Limits()) { self.init(limits, masks: nil) }

    /// The client's end.
    ///
    /// - Parameter random: where masks are drawn from. They must not be foretold by who chooses the messages (§10.3).
    public convenience init(client limits: Limits = Limits(), random: any RandomNumberGenerator) { self.init(limits, masks: random) }

    private init(_ limits: Limits, masks: (any RandomNumberGenerator)?) {
        (self.limits, self.masks) = (limits, masks)
        var callbacks = wslay_frame_callbacks(
            send_callback: { bytes, count, _, session in WebSocketSession.of(session).write(bytes, count) },
            recv_callback: { bytes, count, _, session in WebSocketSession.of(session).read(bytes, count) },
            genmask_callback: { bytes, count, session in WebSocketSession.of(session).drawMask(bytes, count) })
        let status = wslay_frame_context_init(&context, &callbacks, Unmanaged.passUnretained(self).toOpaque())
        precondition(status == 0, "no memory")
    }

    deinit { wslay_frame_context_free(context) }

    /// Neither end has said its last word.
    public var isOpen: Bool { state == .open }

    /// Nothing of a message has come that is not whole.
    public var isBetweenMessages: Bool { frame == nil && messageOpcode == nil }

    /// The bytes that are to be sent, once.
    public func takeOutput() -> [UInt8] {
        defer { output = [] }
        return output
    }
}

// MARK: What is sent

extension WebSocketSession {
    /// Sends a message, which must be valid UTF-8. Nothing after the last word.
    public func send(text bytes: [UInt8]) { send(.text, bytes) }

    /// Sends a message. Nothing after the last word.
    public func send(binary bytes: [UInt8]) { send(.binary, bytes) }

    /// Asks for a pong with the same bytes, 125 at most. Nothing after the last word.
    public func ping(_ bytes: [UInt8] = []) { send(.ping, Array(bytes.prefix(Self.longestControl))) }

    /// Says the last word: no message follows, and the peer's `closed` is waited for.
    ///
    /// - Parameter reason: UTF-8, 123 bytes at most.
    public func close(_ code: WebSocketCloseCode, reason: String = "") {
        precondition(code.maySend && reason.utf8.count <= Self.longestControl - 2)
        guard state == .open else { return }
        send(.close, code.bytes + reason.utf8)
        state = .closing
    }

    /// Bytes of a control frame (§5.5).
    private static let longestControl = 125
    private static let longestHeader = 14

    private func send(_ opcode: Opcode, _ bytes: [UInt8]) {
        guard state == .open else { return }
        output.reserveCapacity(output.count + bytes.count + Self.longestHeader)
        bytes.withUnsafeBufferPointer { buffer in
            var frame = wslay_frame_iocb()
            (frame.fin, frame.opcode, frame.mask) = (1, opcode.rawValue, masks == nil ? 0 : 1)
            (frame.payload_length, frame.data, frame.data_length) = (UInt64(buffer.count), buffer.baseAddress, buffer.count)
            let sent = wslay_frame_send(context, &frame)
            precondition(sent == buffer.count, "the output takes everything")
        }
    }
}

// MARK: What comes

extension WebSocketSession {
    /// Takes what came. Nothing after `closed` or `failed`.
    public func receive(_ bytes: [UInt8]) -> [Event] {
        guard state != .closed else { return [] }
        (input, inputStart) = (bytes, 0)
        defer { input = [] }
        var events: [Event] = []
        while state != .closed {
            var piece = wslay_frame_iocb()
            let count = wslay_frame_recv(context, &piece)
            guard count >= 0 else {
                // It wants more, or it found a frame that the protocol does not have.
                if count != Int(WSLAY_ERR_WANT_READ.rawValue) { events.append(fail(.protocolError)) }
                break
            }
            if let event = take(piece) { events.append(event) }
        }
        return events
    }

    /// A piece of a frame: all of it, or what has come.
    private func take(_ piece: wslay_frame_iocb) -> Event? {
        if frame == nil, let code = begin(piece) { return fail(code) }
        guard var frame else { return nil }
        let bytes = UnsafeBufferPointer(start: piece.data, count: piece.data_length)
        if frame.opcode & 8 != 0 { control.append(contentsOf: bytes) } else { message.append(contentsOf: bytes) }
        frame.left -= UInt64(piece.data_length)
        self.frame = frame.left == 0 ? nil : frame
        return frame.left == 0 ? end(frame) : nil
    }

    /// The first piece of a frame; the code of the rule that it breaks.
    private func begin(_ piece: wslay_frame_iocb) -> WebSocketCloseCode? {
        // A client masks its frames, and a server does not; reserved bits mean nothing without an extension (§5.1, §5.2).
        guard (piece.mask == 1) == (masks == nil), piece.rsv == 0 else { return .protocolError }
        switch Opcode(rawValue: piece.opcode) {
        case nil: return .protocolError
        case .close, .ping, .pong: break
        case .continuation: if messageOpcode == nil { return .protocolError }
        case .text, .binary:
            guard messageOpcode == nil else { return .protocolError }
            messageOpcode = piece.opcode
        }
        if piece.opcode & 8 == 0, piece.payload_length > UInt64(limits.message - message.count) { return .messageTooBig }
        frame = Frame(opcode: piece.opcode, isLast: piece.fin == 1, left: piece.payload_length)
        return nil
    }

    private func end(_ frame: Frame) -> Event? {
        guard let opcode = Opcode(rawValue: frame.opcode) else { return nil }
        switch opcode {
        case .text, .binary, .continuation: return frame.isLast ? endMessage() : nil
        case .close, .ping, .pong:
            defer { control.removeAll(keepingCapacity: true) }
            switch opcode {
            case .close: return endSession()
            case .ping:
                send(.pong, control)
                return .ping(control)
            default: return .pong(control)
            }
        }
    }

    private func endMessage() -> Event? {
        let whole = message, isText = messageOpcode == Opcode.text.rawValue
        (message, messageOpcode) = ([], nil)
        guard isText else { return state == .open ? .binary(whole) : nil }
        guard Self.isUTF8(whole) else { return fail(.invalidData) }
        return state == .open ? .text(whole) : nil
    }

    /// The peer's last word (§5.5.1, §7.4).
    private func endSession() -> Event {
        guard control.count >= 2 else { return control.isEmpty ? answer(.none, []) : fail(.protocolError) }
        let code = WebSocketCloseCode(rawValue: UInt16(control[0]) << 8 | UInt16(control[1]))
        guard code.maySend else { return fail(.protocolError) }
        guard Self.isUTF8(Array(control[2...])) else { return fail(.invalidData) }
        return answer(code, code.bytes)
    }

    private func answer(_ code: WebSocketCloseCode, _ payload: [UInt8]) -> Event {
        send(.close, payload)
        state = .closed
        return .closed(code)
    }

    private func fail(_ code: WebSocketCloseCode) -> Event {
        send(.close, code.bytes)
        state = .closed
        return .failed(code)
    }

    private static func isUTF8(_ bytes: [UInt8]) -> Bool { (try? UTF8Span(validating: bytes.span)) != nil }
}

// MARK: What wslay calls

extension WebSocketSession {
    private static func of(_ pointer: UnsafeMutableRawPointer?) -> WebSocketSession {
        guard let pointer else { preconditionFailure("wslay lost the session") }
        return Unmanaged<WebSocketSession>.fromOpaque(pointer).takeUnretainedValue()
    }

    private func write(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> Int {
        output.append(contentsOf: UnsafeBufferPointer(start: bytes, count: count))
        return count
    }

    /// None: it wants more than has come.
    private func read(_ bytes: UnsafeMutablePointer<UInt8>?, _ room: Int) -> Int {
        let count = min(room, input.count - inputStart)
        guard let bytes, count > 0 else { return -1 }
        input.withUnsafeBytes { UnsafeMutableRawPointer(bytes).copyMemory(from: $0.baseAddress! + inputStart, byteCount: count) }
        inputStart += count
        return count
    }

    private func drawMask(_ bytes: UnsafeMutablePointer<UInt8>?, _ count: Int) -> CInt {
        guard let bytes, masks != nil else { return -1 }
        for index in 0..<count { bytes[index] = masks?.next() ?? 0 }
        return 0
    }

    private enum Opcode: UInt8 { case continuation = 0, text, binary, close = 8, ping, pong }
}
