import Primitives

/// WebSockets: handshakes that are damaged or left, and behind good ones frames of every kind, whole, cut and damaged.
final class WebSocketAttack: Attack {
    /// The server behind the WebSocket.
    enum Kind {
        /// SIP (RFC 7118).
        case sip
        /// Events of the control interface.
        case events
    }

    private let context: AttackContext
    private let kind: Kind
    private let server: SocketAddress
    private var open: [StreamSocket] = []

    init(_ context: AttackContext, _ kind: Kind) {
        (self.context, self.kind) = (context, kind)
        server = kind == .sip ? context.addresses.webSocket : context.addresses.control
    }

    func send(_ random: inout SeededRandom) throws {
        let source = random.loopback(), isDamaged = random.happens(percent: 20)
        var greeting = handshake(&random), frames = said(from: source, &random)
        if isDamaged { ByteDamage.apply(to: &greeting, using: &random) }
        if random.happens(percent: 25) { ByteDamage.apply(to: &frames, using: &random) }
        context.log.note(greeting + frames, to: server, over: "TCP")
        guard let socket = StreamSocket(to: server, from: source) else { return }
        // Some say more than the greeting before they have the answer.
        if random.happens(percent: 15) { greeting += frames }
        for piece in Pieces.of(greeting, using: &random) where !socket.send(piece) { break }
        if !isDamaged { try judge(socket.receive(within: 3_000)) }
        for piece in Pieces.of(frames, using: &random) where !socket.send(piece) { break }
        leave(socket, &random)
    }

    func finish() { open = [] }

    private func judge(_ answer: [UInt8]) throws {
        guard answer.isEmpty || answer.starts(with: "HTTP/1.1 ".utf8) else {
            throw Broken("the answer to a handshake is no HTTP:\n\(InputLog.hexadecimal(answer))")
        }
    }

    private func leave(_ socket: StreamSocket, _ random: inout SeededRandom) {
        switch random.number(below: 8) {
        case 0, 1: socket.reset()
        case 2: open = open.suffix(30) + [socket]
        case 3, 4: _ = socket.receive(within: 20)
        case 5: socket.finish()
        default: socket.close()
        }
    }

    // MARK: What is said

    private func handshake(_ random: inout SeededRandom) -> [UInt8] {
        let paths = kind == .sip ? ["/", "/ws", "/a?b=c"] : ["/v1/events", "/v1/events?after=1", "/v1/events?types=call.*"]
        let usual = kind == .sip ? "sip" : "hookswitch.events.v1", path = random.pick(paths)
        let protocols = random.happens(percent: 90) ? usual : random.pick(["", "x", "sip, x"])
        var lines = [
            "GET \(path) HTTP/1.1", "Host: 127.0.0.1", "Upgrade: websocket", "Connection: keep-alive, Upgrade",
            "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==", "Sec-WebSocket-Version: \(random.pick(["13", "13", "13", "8"]))",
            "Sec-WebSocket-Protocol: \(protocols)",
        ].map { Array($0.utf8) }
        if random.happens(percent: 15) { random.pick(LineDamage.allCases).apply(to: &lines, from: 1, using: &random) }
        return Array(lines.joined(separator: [0x0D, 0x0A])) + Array("\r\n\r\n".utf8)
    }

    private func said(from source: IPAddress, _ random: inout SeededRandom) -> [UInt8] {
        let requests = Requests(
            transport: "WS", local: SocketAddress(source, port: 5_072), media: SocketAddress(source, port: 40_000), nonce: "0")
        return (0..<random.pick([1, 1, 2, 5])).flatMap { _ -> [UInt8] in
            let content =
                kind == .sip || random.happens(percent: 20)
                ? DatagramAttack.message(requests, context.corpus, using: &random)
                : Array(random.pick([#"{"after":"1"}"#, "{}", "[", #"{"types":["call.*"]}"#]).utf8)
            return message(content, &random)
        }
    }

    /// One message in one frame or several, with others between them.
    private func message(_ content: [UInt8], _ random: inout SeededRandom) -> [UInt8] {
        let opcode = random.pick([1, 1, 1, 2, 2, 0, 3, 11] as [UInt8])
        guard random.happens(percent: 25) else { return frame(content, opcode, isLast: true, &random) + control(&random) }
        let pieces = Pieces.of(content, using: &random)
        return pieces.enumerated().flatMap { index, piece in
            frame(piece, index == 0 ? opcode : 0, isLast: index == pieces.count - 1, &random) + control(&random)
        }
    }

    /// A ping, a pong or a close now and then, also ones that are too long.
    private func control(_ random: inout SeededRandom) -> [UInt8] {
        guard random.happens(percent: 15) else { return [] }
        let opcode = random.pick([8, 9, 9, 10] as [UInt8])
        return frame(random.bytes(random.pick([0, 1, 2, 4, 125, 126])), opcode, isLast: random.happens(percent: 90), &random)
    }

    /// RFC 6455 §5.2; without a mask, with bits that mean nothing, or with a wrong length here and there.
    private func frame(_ content: [UInt8], _ opcode: UInt8, isLast: Bool, _ random: inout SeededRandom) -> [UInt8] {
        let isMasked = random.happens(percent: 95), mask = random.bytes(4)
        let length = random.happens(percent: 95) ? UInt64(content.count) : random.pick(Boundaries.words)
        var head = [(isLast ? 0x80 : 0) | (random.happens(percent: 3) ? 0x40 : 0) | opcode]
        let flag: UInt8 = isMasked ? 0x80 : 0
        switch length {
        case 0..<126: head.append(flag | UInt8(length))
        case 126..<65_536: head += [flag | 126, UInt8(length >> 8), UInt8(length & 255)]
        default: head += [flag | 127] + (0..<8).map { UInt8(truncatingIfNeeded: length >> (56 - 8 * $0)) }
        }
        guard isMasked else { return head + content }
        return head + mask + content.enumerated().map { $1 ^ mask[$0 & 3] }
    }
}
