import Primitives
import RTP

/// Counts and verdicts of a leg from before: of earlier runs, streams, receivers and partners.
struct LegPast {
    /// Before the last start; nil where nothing was.
    var packets: Boxed<LegPackets>?
    /// Figures of RTCP sessions of other streams of ours, before a change of clock or of protection.
    var figures: Boxed<(sending: RTPFigures, receiving: RTPFigures)>?
    /// Figures of receivers that are gone.
    var playout: Boxed<PlayoutFigures>?
    var verdicts = LegVerdicts()
}

/// Verdicts that count where nothing is measured any more.
struct LegVerdicts {
    /// Both directions of the run that is over.
    var atStop: (incoming: DirectionVerdict?, outgoing: DirectionVerdict?) = (nil, nil)
    /// Both directions of the stretch before a hold.
    var beforeHold: (incoming: DirectionVerdict?, outgoing: DirectionVerdict?) = (nil, nil)
    /// On what a partner said that has gone.
    var ofPartner: DirectionVerdict?
}

/// The packets of both directions, and the limit of those that come.
struct LegPackets {
    var rate = PacketRate()
    var sent = PacketTimes(), received = PacketTimes()

    static func + (earlier: Self, later: Self) -> Self {
        Self(sent: earlier.sent + later.sent, received: earlier.received + later.received)
    }
}

/// When the first and the last packet of one direction passed, and how many did.
struct PacketTimes {
    private(set) var count: UInt64 = 0
    private(set) var first: Instant?, last: Instant?

    mutating func note(_ now: Instant) {
        count += 1
        if first == nil { first = now }
        last = now
    }

    /// Adds packets that were counted elsewhere; the first has come before.
    mutating func note(_ packets: UInt64, until time: Instant) { (count, first, last) = (count + packets, first ?? time, time) }

    static func + (earlier: Self, later: Self) -> Self {
        var sum = Self()
        (sum.count, sum.first, sum.last) = (earlier.count + later.count, earlier.first ?? later.first, later.last ?? earlier.last)
        return sum
    }
}
