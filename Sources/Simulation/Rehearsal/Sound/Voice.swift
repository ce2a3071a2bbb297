import Primitives
import RTP
import SDP

/// The voice of a scripted phone: a word of RTP every half a minute, in whatever codec its call has agreed on.
final class Voice {
    private let ports: VirtualPorts
    private unowned let world: World
    private var random: SeededRandom
    private var header: RTPHeader
    private static let packetsInARow = 15

    init(_ ports: VirtualPorts, world: World, seed: UInt64) {
        (self.ports, self.world) = (ports, world)
        random = SeededRandom(seed: seed)
        header = RTPHeader(
            payloadType: 0, sequence: SequenceNumber(.random(in: 0 ... .max, using: &random)),
            timestamp: .random(in: 0 ... .max, using: &random),
            ssrc: .random(in: 1 ... .max, using: &random))
    }

    /// Speaks as long as `agreed` says with whom.
    func speak(from port: SocketAddress, agreed: @escaping () -> NegotiatedAudio?) {
        sayNext(Self.packetsInARow, from: port, agreed: agreed)
    }

    private func sayNext(_ left: Int, from port: SocketAddress, agreed: @escaping () -> NegotiatedAudio?) {
        guard let audio = agreed() else { return }
        if audio.sends, audio.remoteHold == .none { say(audio, from: port) }
        let pause: Duration = left > 1 ? .milliseconds(20) : .milliseconds(Int64.random(in: 15_000...45_000, using: &random))
        world.after(pause) { [weak self] in self?.sayNext(left > 1 ? left - 1 : Self.packetsInARow, from: port, agreed: agreed) }
    }

    private func say(_ audio: NegotiatedAudio, from port: SocketAddress) {
        let codec = audio.primary, isOpus = codec.codec.matches(.opus)
        header.payloadType = codec.sendPayloadType & 0x7F
        header.sequence = SequenceNumber(header.sequence.rawValue &+ 1)
        header.timestamp &+= isOpus ? 960 : 160
        var bytes = [UInt8](repeating: 0, count: RTPHeader.fixedSize)
        bytes.withUnsafeMutableBytes { header.write(to: $0) }
        // Any bytes are sound: to a G codec as they are, to Opus behind a word for 20 ms of one frame (RFC 6716 §3.1: SILK, wideband).
        let payload = (0..<(isOpus ? 60 : 160)).map { _ in UInt8.random(in: 0...255, using: &random) }
        ports.send(bytes + (isOpus ? [0x48] : []) + payload, from: port, to: audio.remoteRTP)
    }
}
