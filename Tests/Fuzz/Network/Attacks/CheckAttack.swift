import Primitives

/// STUN: connectivity checks with and without right credentials, and keep-alives on the port of SIP.
final class CheckAttack: Attack {
    private let context: AttackContext
    private let stranger: DatagramSocket
    private static let kinds: [CallKind] = [.checks, .checksAndHandshake, .echo]

    init(_ context: AttackContext) throws {
        self.context = context
        var random = SeededRandom(seed: context.seed &+ 3)
        stranger = try DatagramSocket(at: random.loopback())
    }

    func prepare() throws {
        context.calls.check(Self.kinds)
        try context.calls.keepUp(Self.kinds)
    }

    func send(_ random: inout SeededRandom) throws {
        let call = try context.calls.call(random.pick(Self.kinds)), socket = random.happens(percent: 25) ? stranger : call.media
        let bytes = check(for: call, &random), remote = random.happens(percent: 8) ? context.addresses.sip : call.remoteMedia
        context.log.note(bytes, to: remote)
        socket.send(bytes, to: remote)
    }

    private func check(for call: Call, _ random: inout SeededRandom) -> [UInt8] {
        guard let remote = call.remoteCredentials, random.happens(percent: 75) else {
            var bytes = random.pick(context.corpus.stun)
            ByteDamage.apply(to: &bytes, using: &random)
            return random.happens(percent: 50) ? bytes + ConnectivityCheck.attribute(0x8028, ConnectivityCheck.fingerprint(bytes)) : bytes
        }
        var check = ConnectivityCheck(remote: remote, localUser: "\(call.credentials.user)")
        if random.happens(percent: 10) { check.remote.password = random.word(24) }
        let isInside = random.happens(percent: 70), selects = random.happens(percent: 30), transaction = random.bytes(12)
        var bytes = check.bytes(selects: selects, transaction: transaction) { if isInside { ByteDamage.apply(to: &$0, using: &random) } }
        if !isInside { ByteDamage.apply(to: &bytes, using: &random) }
        return bytes
    }

    func listen() throws {
        context.calls.listen()
        for socket in try Self.kinds.map({ try context.calls.call($0).media }) + [stranger] { try MediaJudge.drain(socket) }
    }
}
