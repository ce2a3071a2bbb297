import Primitives

// Packets: everything leaves while the port is open, and RTP while its media runs.
extension KernelWitness {
    /// By so much the time of a packet may be wrong, which comes from the clock of the time of day.
    static let inaccuracy: Duration = .milliseconds(1)

    mutating func unexpectedPackets(in sample: KernelSample) -> [KernelDisagreement] {
        var found: [KernelDisagreement] = []
        for packets in sample.packets where range.contains(packets.port) && packets.first >= firstSample ?? .distantFuture {
            tally.packets += packets.count
            // They are those of a few milliseconds: what lies between the first and the last is taken to be as they are.
            let instants = packets.count > 1 ? [packets.first, packets.last] : [packets.first]
            guard let instant = instants.first(where: { !isExplained(packets, at: $0) }) else { continue }
            let (call, statement) = statement(on: packets, at: instant), last = noisy[packets.port]
            guard last?.call != call || last?.journal != statement else { continue }
            let wall = sample.wall &+ UInt64(bitPattern: (instant - sample.begin).wholeNanoseconds)
            let disagreement = KernelDisagreement(
                call: call, port: packets.port, wall: wall, journal: statement, kernel: .packet(isRTP: packets.isRTP))
            noisy[packets.port] = disagreement
            found.append(disagreement)
        }
        return found
    }

    private func isExplained(_ packets: KernelSample.Packets, at instant: Instant) -> Bool {
        let span = instant + (.zero - Self.inaccuracy)...instant + Self.inaccuracy, own = ports[index(packets.port)]
        if packets.isRTP, !own.isForeign, own.isKnown(in: span), own.mayBeOpen(in: span) { return own.mayRun(in: span) }
        return isExplained(packets.port, in: span)
    }

    private func statement(on packets: KernelSample.Packets, at instant: Instant) -> (CallUUID?, KernelDisagreement.Statement) {
        let span = instant...instant
        guard let opening = ports[index(packets.port)].openings.last(where: { $0.mayBeOpen(in: span) }) else {
            return statement(on: packets.port, at: instant)
        }
        return (opening.call, .idle(since: opening.runs.last { $0.started.earliest <= instant }?.stopped?.wall))
    }
}
