import Primitives

/// A key of a telephone, RFC 4733 §3.2.
public enum DTMFDigit: UInt8, Hashable, Sendable, CaseIterable {
    case zero, one, two, three, four, five, six, seven, eight, nine, star, pound, a, b, c, d

    /// `0`–`9`, `*`, `#`, `A`–`D` in either case.
    public init?(_ character: Character) {
        guard let found = Self.allCases.first(where: { $0.character == Character(character.uppercased()) }) else { return nil }
        self = found
    }

    public var character: Character { Array("0123456789*#ABCD")[Int(rawValue)] }
}

/// What media has to say to signalling about one leg. Posted from the media lane, in order.
public enum MediaEvent: Hashable, Sendable {
    /// The first packet after a `start` left, or arrived.
    case firstSent(Instant), firstReceived(Instant)
    /// The far end pressed a key; posted once, when its first packet is seen.
    case digit(DTMFDigit)
    /// The digits of `send` have all left.
    case digitsSent
    /// The last packet of `.samples` has left.
    case sourceFinished
    /// A second of received audio, and the rest of it at `stop`; one channel.
    case recorded([Int16], sampleRate: Int)
    /// Nothing arrived for the plan's `silenceLimit`; posted once, and again only after packets came back.
    case silent
    /// Figures with each RTCP report that was sent, about every five seconds.
    case report(MediaStatistics)
}
