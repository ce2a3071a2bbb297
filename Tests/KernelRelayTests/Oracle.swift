import Media
import Primitives
import Testing

@testable import RTP

/// What is expected of an entry: user space's own relay, run beside it from the same state.
struct Oracle {
    var direction: Direction
    var isFresh = true
    var late: UInt64 = 0
    var left = RelayEntry.Left()
    var packets: UInt64 = 0, octets: UInt64 = 0
    var last: RelayedStream.Last?

    enum Outcome: Hashable {
        case up, held
        case relayed([UInt8])
    }

    init(_ direction: Direction) { self.direction = direction }

    /// The whole entry; `hold` is not foretold.
    func entry(hold: RelayEntry.Hold?) throws -> RelayEntry {
        var entry = try direction.entry()
        (entry.isFresh, entry.hold, entry.late, entry.left) = (isFresh, hold, late, left)
        (entry.stream.packets, entry.stream.octets, entry.stream.last) = (packets, octets, last)
        return entry
    }

    /// What becomes of a packet that comes then; counted where it is not held.
    mutating func take(_ packet: [UInt8], at now: Instant) throws -> Outcome {
        switch packet.withUnsafeBytes({ MediaPacketKind($0) }) {
        case .other: return .up
        case .rtcp:
            // A shorter one does not reach the table of entries.
            if packet.count >= RTPHeader.fixedSize { left.control += 1 }
            return .up
        case .rtp: break
        }
        guard let header = try? packet.withUnsafeBytes({ try RTPHeader(parsing: $0) }) else {
            left.malformed += 1
            return .up
        }
        let outcome = direction.plan.types[header.payloadType] == nil ? .held : try relay(packet, header, at: now)
        if outcome == .held { left.held += 1 }
        return outcome
    }

    private func isUnexpected(_ header: RTPHeader) -> Bool {
        isFresh && header.sequence.rawValue != direction.statistics.epoch!.maxSequence.rawValue &+ 1
    }

    private mutating func relay(_ packet: [UInt8], _ header: RTPHeader, at now: Instant) throws -> Outcome {
        let before = try #require(RelayedStream(direction.statistics, direction.rewriter))
        if header.ssrc != before.ssrc || isUnexpected(header) { return .held }
        var after = direction
        let sent = try after.take(packet, at: now)
        guard let sent, let stream = RelayedStream(after.statistics, after.rewriter), stream.reception.base == before.reception.base,
            stream.source.timestampOffset == before.source.timestampOffset, stream.source.sequenceOffset == before.source.sequenceOffset
        else { return .held }
        noteLate(header)
        (direction, isFresh) = (after, false)
        packets += 1
        octets += UInt64(header.payloadCount)
        last = RelayedStream.Last(
            at: now, sentTimestamp: try #require(after.sender.last).timestamp, payloadType: header.payloadType,
            octets: UInt32(header.payloadCount))
        return .relayed(sent)
    }

    private mutating func noteLate(_ header: RTPHeader) {
        if direction.statistics.epoch!.maxSequence.distance(to: header.sequence) < 0 { late += 1 }
    }

    /// So much time passes: all that it knows is so much longer ago.
    mutating func wait(_ duration: Duration) {
        direction.statistics.epoch?.transit? &-= UInt32(duration.wholeMilliseconds) * 8
        if let last = direction.rewriter.lastSentAt { direction.rewriter.lastSentAt = last - duration }
        if let at = last?.at { last?.at = at - duration }
    }
}
