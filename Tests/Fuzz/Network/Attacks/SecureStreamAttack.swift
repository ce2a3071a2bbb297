import Primitives
import Runtime

/// SIP over TLS: handshakes that are damaged or left, and what is said behind a good one.
final class SecureStreamAttack: Attack {
    private let context: AttackContext
    private let contexts: TLSContexts

    init(_ context: AttackContext) throws {
        self.context = context
        var settings = TLSSettings()
        settings.serverAuthorities = context.addresses.authorities
        do throws(TLSError) { contexts = try TLSContexts(settings) } catch { throw CannotRun("\(error)") }
    }

    func send(_ random: inout SeededRandom) throws {
        let source = random.loopback()
        guard let socket = StreamSocket(to: context.addresses.tls, from: source) else { return }
        if random.happens(percent: 35) { sendHello(over: socket, &random) } else { sendMessage(over: socket, from: source, &random) }
        if random.happens(percent: 40) { socket.reset() }
    }

    /// The beginning of a handshake, or what is none, and then nothing.
    private func sendHello(over socket: StreamSocket, _ random: inout SeededRandom) {
        var session = contexts.connect(to: "127.0.0.1")
        _ = session.start()
        var bytes = random.happens(percent: 80) ? session.takeOutput() : random.pick(context.corpus.messages)
        ByteDamage.apply(to: &bytes, using: &random)
        if random.happens(percent: 30) { bytes.removeLast(random.number(below: bytes.count)) }
        context.log.note(bytes, to: context.addresses.tls, over: "TCP")
        for piece in Pieces.of(bytes, using: &random) where !socket.send(piece) { break }
    }

    private func sendMessage(over socket: StreamSocket, from source: IPAddress, _ random: inout SeededRandom) {
        let requests = Requests(
            transport: "TLS", local: SocketAddress(source, port: 5_071), media: SocketAddress(source, port: 40_000), nonce: "0")
        let bytes = StreamAttack.stream(requests, context.corpus, using: &random), isLeftEarly = random.happens(percent: 15)
        context.log.note(bytes, to: context.addresses.tls, over: "TLS")
        var session = contexts.connect(to: "127.0.0.1")
        _ = session.start()
        guard shakeHands(&session, over: socket, isLeftEarly: isLeftEarly) else { return }
        for piece in Pieces.of(bytes, using: &random) { _ = session.send(piece) }
        if random.happens(percent: 30) { session.finish() }
        var sealed = session.takeOutput()
        if random.happens(percent: 25) { ByteDamage.apply(to: &sealed, using: &random) }
        for piece in Pieces.of(sealed, using: &random) where !socket.send(piece) { break }
        if random.happens(percent: 30) { _ = session.receive(socket.receive(within: 20)) }
    }

    private func shakeHands(_ session: inout TLSSession, over socket: StreamSocket, isLeftEarly: Bool) -> Bool {
        for _ in 0..<8 where !session.isEstablished {
            guard socket.send(session.takeOutput()) else { return false }
            if isLeftEarly { return false }
            let bytes = socket.receive(within: 3_000)
            guard !bytes.isEmpty else { return false }
            _ = session.receive(bytes)
        }
        return session.isEstablished
    }
}
