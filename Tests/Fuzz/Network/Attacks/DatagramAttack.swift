import Primitives

/// SIP over UDP, outside of dialogs.
final class DatagramAttack: Attack {
    private let context: AttackContext
    private let sockets: [DatagramSocket]
    private var strays: Strays

    init(_ context: AttackContext) throws {
        self.context = context
        var random = SeededRandom(seed: context.seed)
        sockets = try (0..<32).map { _ in try DatagramSocket(at: random.loopback()) }
        strays = Strays(server: context.addresses.sip)
    }

    func send(_ random: inout SeededRandom) throws {
        let socket = random.pick(sockets)
        let requests = Requests(
            transport: "UDP", local: socket.local, media: SocketAddress(socket.local.address, port: 40_000), nonce: strays.nonce)
        let bytes = random.happens(percent: 3) ? noise(&random) : Self.message(requests, context.corpus, using: &random)
        context.log.note(bytes, to: context.addresses.sip)
        socket.send(bytes, to: context.addresses.sip)
    }

    func listen() throws { for socket in sockets { try strays.drain(socket) } }

    private func noise(_ random: inout SeededRandom) -> [UInt8] {
        random.pick([
            random.bytes(random.number(below: 1_400)), Array("\r\n\r\n".utf8), Array("\r\n".utf8), [], [0],
            random.pick(context.corpus.stun),
        ])
    }

    /// A request of ours or one of the corpus, damaged.
    static func message(_ requests: Requests, _ corpus: Corpus, using random: inout SeededRandom) -> [UInt8] {
        var bytes: [UInt8]
        let known = random.happens(percent: 30) ? random.pick(corpus.messages) : []
        if var draft = known.isEmpty ? requests.draft(using: &random) : MessageDraft(known) {
            draft.damage(using: &random)
            bytes = draft.bytes
        } else {
            bytes = known
        }
        if random.happens(percent: 15) { ByteDamage.apply(to: &bytes, using: &random) }
        return bytes
    }
}
