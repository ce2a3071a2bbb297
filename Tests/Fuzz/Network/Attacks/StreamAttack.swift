import Primitives

/// SIP over TCP: messages in pieces, half ones, several at once, and connections that are closed or reset in the middle.
final class StreamAttack: Attack {
    private let context: AttackContext
    private var open: [StreamSocket] = []

    init(_ context: AttackContext) { self.context = context }

    func send(_ random: inout SeededRandom) throws {
        let source = random.loopback(), local = SocketAddress(source, port: 5_070)
        let requests = Requests(transport: "TCP", local: local, media: SocketAddress(source, port: 40_000), nonce: "0")
        let bytes = Self.stream(requests, context.corpus, using: &random)
        context.log.note(bytes, to: context.addresses.sip, over: "TCP")
        if random.happens(percent: 10) { return resetMany(bytes, from: source, &random) }
        guard let socket = StreamSocket(to: context.addresses.sip, from: source) else { return }
        for piece in Pieces.of(bytes, using: &random) where !socket.send(piece) { break }
        try leave(socket, &random)
    }

    /// Connections of which each has said a part of it, reset one right after the other.
    private func resetMany(_ bytes: [UInt8], from source: IPAddress, _ random: inout SeededRandom) {
        let sockets = (0..<8).compactMap { _ in StreamSocket(to: context.addresses.sip, from: source) }
        for socket in sockets { socket.send(Array(bytes.prefix(random.number(below: 400)))) }
        for socket in sockets { socket.reset() }
    }

    /// One message or several, whole or cut.
    static func stream(_ requests: Requests, _ corpus: Corpus, using random: inout SeededRandom) -> [UInt8] {
        var bytes: [UInt8] = []
        for _ in 0..<random.pick([1, 1, 1, 2, 5]) {
            bytes +=
                DatagramAttack.message(requests, corpus, using: &random) + random.pick([[], [], [0x0D, 0x0A], [0x0D, 0x0A, 0x0D, 0x0A]])
        }
        if random.happens(percent: 25) { bytes.removeLast(random.number(below: bytes.count)) }
        return bytes
    }

    private func leave(_ socket: StreamSocket, _ random: inout SeededRandom) throws {
        switch random.number(below: 10) {
        case 0...2: socket.reset()
        case 3, 4: try Strays.judge(socket.receive(within: 20))
        case 5:
            socket.finish()
            try Strays.judge(socket.receive(within: 20))
        case 6: keep(socket)
        default: socket.close()
        }
    }

    private func keep(_ socket: StreamSocket) {
        open.append(socket)
        if open.count > 40 { open.removeFirst().reset() }
    }

    func finish() { open = [] }
}
