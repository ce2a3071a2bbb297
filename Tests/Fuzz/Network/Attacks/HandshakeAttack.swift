import Primitives
import Runtime

/// DTLS: handshakes that go on for a while, damaged or not, and records that belong to none.
final class HandshakeAttack: Attack {
    private let context: AttackContext
    private static let kinds: [CallKind] = [.handshakeOurs, .handshakeTheirs, .checksAndHandshake]
    /// Our side of the handshake of each call.
    private var associations: [CallKind: (call: Call, dtls: DTLSAssociation)] = [:]

    init(_ context: AttackContext) { self.context = context }

    func prepare() throws {
        context.calls.check(Self.kinds)
        try context.calls.keepUp(Self.kinds)
    }

    func send(_ random: inout SeededRandom) throws {
        let kind = random.pick(Self.kinds), call = try context.calls.call(kind), association = try association(of: call)
        switch random.number(below: 10) {
        case 0, 1: send(record(&random), of: call, &random)
        case 2, 3: for bytes in Self.datagrams(of: try makeAssociation(for: call).start()) { send(bytes, of: call, &random) }
        case 4: for bytes in Self.datagrams(of: association.retransmit()) { send(bytes, of: call, &random) }
        default: goOn(with: association, of: call, &random)
        }
    }

    /// One step of the handshake.
    private func goOn(with association: DTLSAssociation, of call: Call, _ random: inout SeededRandom) {
        var answers = Self.datagrams(of: association.start())
        while let datagram = call.media.receive() {
            guard let first = datagram.bytes.first, 20...63 ~= first else { continue }
            answers += Self.datagrams(of: datagram.bytes.withUnsafeBytes { association.receive($0) })
        }
        if answers.isEmpty { answers = [record(&random)] }
        for bytes in answers { send(bytes, of: call, &random) }
    }

    /// Damaged one time in three, so that handshakes come far.
    private func send(_ bytes: [UInt8], of call: Call, _ random: inout SeededRandom) {
        var bytes = bytes
        if random.happens(percent: 33) { ByteDamage.apply(to: &bytes, using: &random) }
        context.log.note(bytes, to: call.remoteMedia)
        call.media.send(bytes, to: call.remoteMedia)
    }

    /// A record of DTLS 1.2, of any type and with any length.
    private func record(_ random: inout SeededRandom) -> [UInt8] {
        let content = random.bytes(random.pick([0, 1, 2, 12, 40, 300, 1_400])),
            length = random.happens(percent: 70) ? UInt64(content.count) : random.pick(Boundaries.words)
        let type = random.pick([20, 21, 22, 22, 23, 24, 25, 63] as [UInt8]), epoch = random.pick([0, 0, 1, 65_535] as [UInt64])
        return [type, 0xFE, random.pick([0xFD, 0xFF, 0xFC])] + MediaPackets.bytes(epoch, 2)
            + MediaPackets.bytes(random.pick(Boundaries.words), 6) + MediaPackets.bytes(length, 2) + content
    }

    private func association(of call: Call) throws -> DTLSAssociation {
        if let known = associations[call.kind], known.call === call { return known.dtls }
        if call.kind.hasChecks { try select(call) }
        let made = try makeAssociation(for: call)
        associations[call.kind] = (call, made)
        return made
    }

    private func makeAssociation(for call: Call) throws -> DTLSAssociation {
        guard let fingerprint = call.remoteFingerprint, [32, 48, 64].contains(fingerprint.count) else {
            throw Broken("the server names no certificate for a handshake")
        }
        return DTLSAssociation(.ofThisProcess, begins: call.kind != .handshakeTheirs, peer: fingerprint)
    }

    /// Media and handshake come from where the checks say.
    private func select(_ call: Call) throws {
        guard let remote = call.remoteCredentials else { throw Broken("the server has no credentials for checks") }
        let check = ConnectivityCheck(remote: remote, localUser: "\(call.credentials.user)")
        call.media.send(check.bytes(selects: true, transaction: [UInt8](1...12)), to: call.remoteMedia)
    }

    private static func datagrams(of outputs: [DTLSAssociation.Output]) -> [[UInt8]] {
        outputs.compactMap { if case .send(let bytes) = $0 { bytes } else { nil } }
    }

    func listen() throws { context.calls.listen() }
}
