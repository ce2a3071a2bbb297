import Primitives

/// The effect of a network on a stream of datagrams, drawn from a seed: losses, single or together, jitter, overtaking and copies; and the
/// amount of it, to compare with what somebody measures.
public struct Impairment: Sendable {
    public struct Settings: Hashable, Sendable {
        /// The lost part of all datagrams, 0 to 1, and the mean length of a run of losses; nil for losses that know nothing of each other
        /// (Gilbert's model).
        public var loss = 0.0
        public var burst: Double?
        /// The shortest way, and what chance adds to it, evenly spread.
        public var delay = Duration.milliseconds(10)
        public var jitter = Duration.zero
        /// Whether a datagram may overtake another; else jitter makes them wait in a queue.
        public var reorders = true
        /// The doubled part of all datagrams, 0 to 1.
        public var duplicated = 0.0

        public init(loss: Double = 0, burst: Double? = nil, jitter: Duration = .zero, reorders: Bool = true, duplicated: Double = 0) {
            (self.loss, self.burst, self.jitter, self.reorders, self.duplicated) = (loss, burst, jitter, reorders, duplicated)
        }
    }

    public private(set) var offered = 0, lost = 0, copies = 0
    /// Stretches of losses without a datagram between.
    public private(set) var stretches = 0
    private let settings: Settings
    private var random: SeededRandom
    private var lastWasLost = false
    private var lastArrival = Instant.zero

    public init(_ settings: Settings, seed: UInt64) {
        self.settings = settings
        random = SeededRandom(seed: seed)
    }

    /// The lost part of all that was offered, 0 to 1.
    public var lossFraction: Double { offered == 0 ? 0 : Double(lost) / Double(offered) }
    /// Mean length of the losses over that of random ones at the same rate: `BurstR` of ITU-T G.107.
    public var burstRatio: Double { stretches == 0 ? 1 : Double(lost) / Double(stretches) * (1 - lossFraction) }

    /// When the copies of a datagram arrive that leaves now: usually one, none where it is lost.
    public mutating func pass(at now: Instant) -> [Instant] {
        offered += 1
        if isNextLost() {
            lost += 1
            if !lastWasLost { stretches += 1 }
            lastWasLost = true
            return []
        }
        lastWasLost = false
        guard happens(settings.duplicated) else { return [arrival(from: now)] }
        copies += 1
        return [arrival(from: now), arrival(from: now)]
    }

    private mutating func isNextLost() -> Bool {
        guard let burst = settings.burst, settings.loss < 1 else { return happens(settings.loss) }
        return happens(lastWasLost ? 1 - 1 / burst : settings.loss / (burst * (1 - settings.loss)))
    }

    private mutating func happens(_ probability: Double) -> Bool {
        probability > 0 && Double.random(in: 0..<1, using: &random) < probability
    }

    private mutating func arrival(from now: Instant) -> Instant {
        let jitter =
            settings.jitter == .zero ? .zero : Duration.nanoseconds(Int64.random(in: 0...settings.jitter.wholeNanoseconds, using: &random))
        let arrival = now + settings.delay + jitter
        lastArrival = settings.reorders ? arrival : max(arrival, lastArrival)
        return lastArrival
    }
}
