import Primitives
import RTP

/// RTP and RTCP as the calls that are up would have it.
struct MediaPackets {
    let ssrc: UInt32
    private var sequence: UInt16 = 1

    init(ssrc: UInt32) { self.ssrc = ssrc }

    /// Sound, comfort noise, a key, or a number that nobody agreed on.
    mutating func rtp(using random: inout SeededRandom) -> [UInt8] {
        sequence &+= 1
        let kind = random.pick(
            [(0, 160), (0, 160), (8, 160), (96, 3), (96, 80), (9, 160), (101, 4), (100, 4), (13, 1), (77, 20), (127, 0)] as [(UInt8, Int)])
        let place = random.happens(percent: 85) ? sequence : UInt16(truncatingIfNeeded: random.next())
        var packet =
            [0x80, kind.0 | (random.happens(percent: 10) ? 0x80 : 0)] + Self.bytes(UInt64(place), 2) + Self.bytes(UInt64(sequence) * 160, 4)
        packet += Self.bytes(UInt64(random.happens(percent: 90) ? ssrc : UInt32(truncatingIfNeeded: random.next())), 4)
        return packet + random.bytes(kind.1)
    }

    /// A compound of one to four packets.
    mutating func rtcp(using random: inout SeededRandom) -> [UInt8] {
        RTCPPacket.make((0...random.number(below: 4)).map { _ in packet(using: &random) })
    }

    private func packet(using random: inout SeededRandom) -> RTCPPacket {
        let source = random.happens(percent: 80) ? ssrc : UInt32(truncatingIfNeeded: random.next())
        switch random.number(below: 5) {
        case 0:
            return .senderReport(ssrc: source, .init(ntp: random.next(), rtpTimestamp: 1, packets: 2, octets: 320), blocks(using: &random))
        case 1: return .receiverReport(ssrc: source, blocks(using: &random))
        case 2: return .sourceDescription([.init(ssrc: source, cname: Text(random.word(20)))])
        case 3: return .goodbye([source], reason: random.happens(percent: 50) ? "over" : nil)
        default: return .receiverReport(ssrc: source, [])
        }
    }

    private func blocks(using random: inout SeededRandom) -> [RTCPPacket.ReportBlock] {
        (0..<random.number(below: 4)).map { _ in
            RTCPPacket.ReportBlock(
                ssrc: UInt32(truncatingIfNeeded: random.pick(Boundaries.words)), fractionLost: UInt8(random.number(below: 256)),
                cumulativeLost: Int32(random.number(below: 0x7F_FFFF)),
                highestSequence: UInt32(truncatingIfNeeded: random.next()),
                jitter: UInt32(truncatingIfNeeded: random.pick(Boundaries.words)),
                lastSenderReport: UInt32(truncatingIfNeeded: random.next()),
                delaySinceSenderReport: UInt32(truncatingIfNeeded: random.pick(Boundaries.words)))
        }
    }

    static func bytes(_ value: UInt64, _ width: Int) -> [UInt8] {
        (0..<width).map { UInt8(truncatingIfNeeded: value >> UInt64(8 * (width - 1 - $0))) }
    }
}
