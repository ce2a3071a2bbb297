import Primitives
import Runtime

/// RTP and RTCP to the media ports of calls that are up, from their far ends and from strangers.
final class MediaAttack: Attack {
    private let context: AttackContext
    /// `rtp` or `rtcp`.
    private let surface: Surface
    private let stranger: DatagramSocket
    /// For the call whose keys are in its description.
    private var sender: (call: Call, srtp: SRTPSender)?
    private static let kinds: [CallKind] = [
        .echo, .echoMultiplexed, .encrypted, .conferenceOpus, .conferencePCMU, .mailbox, .tone, .bridged,
    ]

    init(_ context: AttackContext, _ surface: Surface) throws {
        (self.context, self.surface) = (context, surface)
        var random = SeededRandom(seed: context.seed &+ 2)
        stranger = try DatagramSocket(at: random.loopback())
    }

    func prepare() throws {
        context.calls.check(Self.kinds)
        try context.calls.keepUp(Self.kinds)
    }

    func send(_ random: inout SeededRandom) throws {
        let kind = random.pick(Self.kinds), call = try random.pick(context.calls.ends(of: kind))
        var bytes = packet(of: call, &random)
        if random.happens(percent: 75) { ByteDamage.apply(to: &bytes, using: &random) }
        if kind == .encrypted, random.happens(percent: 70) { bytes = sealed(bytes, of: call) }
        let isOwnPort = (surface == .rtp) == random.happens(percent: 92), remote = isOwnPort ? call.remoteMedia : call.remoteControl
        let socket = random.happens(percent: 12) ? stranger : isOwnPort ? call.media : call.control ?? call.media
        context.log.note(bytes, to: remote)
        socket.send(bytes, to: remote)
    }

    private func packet(of call: Call, _ random: inout SeededRandom) -> [UInt8] {
        let isKnown = random.happens(percent: 25)
        switch surface {
        case .rtp: return isKnown ? random.pick(context.corpus.rtp) : call.packets.rtp(using: &random)
        default: return isKnown ? random.pick(context.corpus.rtcp) : call.packets.rtcp(using: &random)
        }
    }

    /// Encrypted as the far end would, so that what is inside reaches the parsers; as it is where it cannot be.
    private func sealed(_ bytes: [UInt8], of call: Call) -> [UInt8] {
        if sender?.call !== call, let key = SRTPKey(.aes128CMSHA1_80, Description.keyBytes) { sender = (call, SRTPSender(key)) }
        guard let srtp = sender?.srtp else { return bytes }
        var buffer = bytes + [UInt8](repeating: 0, count: SRTPSender.overhead), count = bytes.count
        buffer.withUnsafeMutableBytes { buffer in
            let sealed = try? surface == .rtp ? srtp.protect(buffer, count: count) : srtp.protectControl(buffer, count: count)
            count = sealed ?? count
        }
        return Array(buffer.prefix(count))
    }

    func listen() throws {
        context.calls.listen()
        for kind in Self.kinds {
            for call in try context.calls.ends(of: kind) {
                for socket in [call.media, call.control].compactMap(\.self) { try MediaJudge.drain(socket) }
            }
        }
    }

}
