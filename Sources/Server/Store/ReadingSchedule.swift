import Primitives

/// When a gateway reads everything again that has lost the database for a while: the others of the database have lost it, too, and not all
/// of them should read at the same time. A value.
///
/// Each waits for a random part of the time in which all of them could read one after the other, and for three minutes at most. With a few
/// gateways and a small database that is some milliseconds.
struct ReadingSchedule {
    static let longest = Duration.seconds(180)

    /// Gateways that share the database, this one among them, as far as is known.
    var gateways = 1
    /// The time that the last reading took; before the first one it is a guess.
    private(set) var length = Duration.milliseconds(100)
    /// When the next reading may begin.
    private(set) var due = Instant.zero
    private var begun: Instant?
    private var random: any RandomNumberGenerator

    /// - Parameter random: the operating system's source, or a seeded one.
    init(random: any RandomNumberGenerator) { self.random = random }

    /// The longest wait.
    var span: Duration { min(length * max(0, gateways - 1), Self.longest) }

    /// There is a connection to the database again.
    mutating func connected(at now: Instant) {
        let longest = UInt64(span.wholeMilliseconds)
        due = now + .milliseconds(Int64(random.next() % (longest + 1)))
    }

    mutating func begin(at now: Instant) { begun = now }

    mutating func end(at now: Instant) {
        if let begun { length = now - begun }
        begun = nil
    }

    /// The connection is gone; a reading that was under way takes as long as this at least.
    mutating func lost(at now: Instant) {
        if let begun { length = max(length, now - begun) }
        begun = nil
    }
}
