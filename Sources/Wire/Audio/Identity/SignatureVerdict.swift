/// The sound that a recording holds, measured against the one that it should hold.
public struct SignatureVerdict: Hashable, Sendable, Codable {
    /// The kind of sound that was heard.
    public enum Sound: String, Hashable, Sendable, Codable {
        /// The signature that was expected, and no other.
        case right
        /// The listener's own, where the other side's was due.
        case own = "its own"
        /// The signature of another call of this run that was up at the same time.
        case crossTalk = "cross-talk"
        /// The signature of a call of this run that was over before this one began.
        case stale
        /// The signature of another run.
        case foreign = "another run's"
        /// Sound without a signature: a tone, speech, or one that is too damaged to be read.
        case unsigned = "other sound"
        /// Less than a twentieth of the time was loud enough to be sound.
        case silence

        /// Whether the expected signature was heard, and no other.
        public var isRight: Bool { self == .right }
    }

    /// The kind of sound that the recording holds.
    public var sound: Sound
    /// The first that was heard in the place of the expected one; nil where none was.
    public var wrong: SoundSignature?
    /// Rounds of the expected signature that were heard whole.
    public var rounds: Int
    /// Milliseconds from mouth to ear, of the first round that was heard and of the last. Nil where the sender's clock is not known, where
    /// nothing right was heard, and where the figure is below -5 ms: then the recording is not as long as what it holds. Unless the context
    /// says that the beginning is heard, a delay is not told from one that is longer by whole signatures (6.72 s).
    public var delay: Double?, lastDelay: Double?
    /// In the midst of the expected sound.
    public var gaps: [SignatureHearing.Gap]
}

/// The facts that are known of a recording, besides its sound.
public struct SignatureContext: Hashable, Sendable {
    /// The signature that the listener itself played; nil for nothing.
    public var own: SoundSignature?
    /// Calls of the run that were not over when this one began: their sound is cross-talk, and that of other earlier calls is stale.
    public var upAtBeginning: Set<UInt32>
    /// When the recording's first sample was heard, in seconds after the sender's first sample left; nil where nobody knows.
    public var began: Double?
    /// The same by the last packet, where the two clocks may have moved against each other meanwhile; nil to use `began`.
    public var beganByEnd: Double?
    /// The recording goes on without a break from what the sender sent first, or from less than 5 s after that: delays of any length are
    /// told.
    public var hearsBeginning: Bool

    /// The facts that are known; none, unless they are given.
    public init(
        own: SoundSignature? = nil, upAtBeginning: Set<UInt32> = [], began: Double? = nil, beganByEnd: Double? = nil,
        hearsBeginning: Bool = false
    ) {
        (self.own, self.upAtBeginning, self.began, self.beganByEnd) = (own, upAtBeginning, began, beganByEnd)
        self.hearsBeginning = hearsBeginning
    }
}

extension SignatureHearing {
    /// Judges the recording of one listener.
    public func verdict(expecting expected: SoundSignature, context: SignatureContext = SignatureContext()) -> SignatureVerdict {
        let wrong = sightings.first { $0.signature != expected }?.signature, rounds = sightings.filter { $0.signature == expected }
        var verdict = SignatureVerdict(sound: .right, wrong: wrong, rounds: rounds.count, gaps: gaps)
        if let wrong {
            verdict.sound = whose(wrong, where: expected, context)
        } else if rounds.isEmpty {
            verdict.sound = loudPart < 0.05 ? .silence : .unsigned
        }
        verdict.delay = context.began.flatMap { began in
            rounds.lazy.compactMap(refined).first.flatMap { Self.delay(of: $0, began: began, context) }
        }
        verdict.lastDelay = (context.beganByEnd ?? context.began).flatMap { began in
            rounds.reversed().lazy.compactMap(refined).first.flatMap { Self.delay(of: $0, began: began, context) }
        }
        return verdict
    }

    private func whose(_ wrong: SoundSignature, where expected: SoundSignature, _ context: SignatureContext) -> SignatureVerdict.Sound {
        if wrong == context.own { return .own }
        guard wrong.run == expected.run else { return .foreign }
        return wrong.call != 0 && wrong.call < expected.call && !context.upAtBeginning.contains(wrong.call) ? .stale : .crossTalk
    }

    /// Seconds by which a recording may be shorter or longer than what it holds, on a machine that is busy.
    private static let slack = 1.0

    /// Milliseconds that a round took; nil where it would have been heard before it was sent. Up to 5 ms of that are taken for no time.
    private static func delay(of sighting: Sighting, began: Double, _ context: SignatureContext) -> Double? {
        let rate = Double(SoundSignature.sampleRate), cycle = Double(SoundSignature.length) / rate
        let heard = Double(sighting.position) / rate, round = Double(sighting.round * SoundSignature.roundLength) / rate
        let late = began + heard - round
        // Sound at a place of the recording was sent as long after the beginning, or later where the beginning was not heard.
        let before = context.hearsBeginning ? ((heard - slack - round) / cycle).rounded(.up) : ((late + slack) / cycle).rounded(.down)
        let delay = 1_000 * (late - max(0, before) * cycle)
        return delay < -5 ? nil : max(0, delay)
    }
}
