import Glibc

/// The signatures in a recording at 8 kHz: the detector of `SoundSignature`. What they mean for a call `verdict(expecting:context:)` says.
public struct SignatureHearing: Sendable {
    /// A round that was heard whole.
    public struct Sighting: Hashable, Sendable {
        /// The signature that the round belongs to.
        public var signature: SoundSignature
        /// The number of the round, of sixteen.
        public var round: Int
        /// The position of its first sample in the recording; within 10 ms, or exact where `refined` gave it.
        public var position: Int
    }

    /// A stretch in which the signature that was heard before and after it was not.
    public struct Gap: Hashable, Sendable, Codable {
        /// Milliseconds after the beginning of the recording, and how long it was; to about 10 ms.
        public var start: Double, length: Double
    }

    /// In the order of the recording.
    public let sightings: [Sighting]
    /// Between the first round and the last. A stretch of 40 ms or less is not told from the seam of two symbols.
    public let gaps: [Gap]
    /// The part of the recording, 0–1, that is louder than -55 dB.
    public let loudPart: Double
    private let samples: [Int16]

    /// Takes about a five-hundredth of the recording's time in a release build.
    public init(_ samples: [Int16]) {
        self.samples = samples
        let windows = Self.windows(of: samples)
        loudPart = windows.isEmpty ? 0 : Double(windows.count { $0.isLoud }) / Double(windows.count)
        sightings = Self.rounds(in: windows)
        gaps = Self.gaps(in: windows, between: sightings)
    }

    /// Refines a sighting: how far the sound of the sender had come, in samples of the first round on, at a place of the recording. The
    /// place is found by comparing the waveform.
    ///
    /// Returns nil where the round may have begun before the recording or ended after it, or is not like it.
    public func refined(_ sighting: Sighting) -> Sighting? {
        let expected = sighting.signature.samples(ofRound: sighting.round).map(Float.init)
        let slack = Self.hop * 2, earliest = sighting.position - slack, latest = sighting.position + slack
        guard earliest >= 0, latest + expected.count <= samples.count else { return nil }
        let heard = samples[earliest..<(latest + expected.count)].map(Float.init)
        var best = (score: -Float.infinity, place: 0)
        for place in 0...(latest - earliest) {
            var sum: Float = 0
            for index in expected.indices { sum += expected[index] * heard[place + index] }
            if sum > best.score { best = (sum, place) }
        }
        return best.score > 0 ? Sighting(signature: sighting.signature, round: sighting.round, position: earliest + best.place) : nil
    }

    private static let hop = 80
    private struct Window {
        var symbol: SignatureSymbol?
        var isLoud: Bool
    }

    private static func windows(of samples: [Int16]) -> [Window] {
        let length = SignatureTones.period
        guard samples.count >= length else { return [] }
        return stride(from: 0, through: samples.count - length, by: hop).map { window(samples[$0..<$0 + length]) }
    }

    /// A symbol stands where one tone of each group is far above the others of its group, and both make most of the sound.
    private static func window(_ samples: ArraySlice<Int16>) -> Window {
        let energy = samples.reduce(Float(0)) { $0 + Float($1) * Float($1) }
        guard energy > Float(samples.count) * 1_700 else { return Window(symbol: nil, isLoud: false) }   // -55 dB
        let lows = coefficients[..<SignatureTones.lows.count].map { power(samples, $0) }
        let highs = coefficients[SignatureTones.lows.count...].map { power(samples, $0) }
        guard let low = winner(lows), let high = winner(highs) else { return Window(symbol: nil, isLoud: true) }
        let share = (lows[low] + highs[high]) * 2 / Float(samples.count) / energy
        return Window(symbol: share > 0.5 ? SignatureSymbol(low: low, high: high) : nil, isLoud: true)
    }

    private static func winner(_ powers: [Float]) -> Int? {
        guard let best = powers.indices.max(by: { powers[$0] < powers[$1] }) else { return nil }
        return powers.indices.allSatisfy { $0 == best || powers[$0] * 4 < powers[best] } ? best : nil
    }

    private static let coefficients: [Float] = (SignatureTones.lows + SignatureTones.highs).map {
        Float(2 * cos(2 * Double.pi * Double($0) / Double(SoundSignature.sampleRate)))
    }

    /// Goertzel's algorithm.
    private static func power(_ samples: ArraySlice<Int16>, _ coefficient: Float) -> Float {
        var last: Float = 0, beforeLast: Float = 0
        for sample in samples { (last, beforeLast) = (Float(sample) + coefficient * last - beforeLast, last) }
        return last * last + beforeLast * beforeLast - coefficient * last * beforeLast
    }

    /// Runs of windows without a symbol: one at each seam of two symbols is usual, and three are not.
    private static func gaps(in windows: [Window], between sightings: [Sighting]) -> [Gap] {
        guard let first = sightings.first, let last = sightings.last else { return [] }
        let end = min(windows.count, last.position / hop + perRound - 2),
            milliseconds = Double(hop) * 1_000 / Double(SoundSignature.sampleRate)
        var gaps: [Gap] = [], run = 0
        for index in first.position / hop..<end {
            if windows[index].symbol == nil {
                run += 1
                continue
            }
            if run >= 5 { gaps.append(Gap(start: Double(index - run + 1) * milliseconds, length: Double(run - 1) * milliseconds)) }
            run = 0
        }
        return gaps
    }

    private static let perSymbol = SoundSignature.symbolLength / hop
    private static let perRound = perSymbol * SoundSignature.symbolsPerRound

    private static func rounds(in windows: [Window]) -> [Sighting] {
        var sightings: [Sighting] = [], index = 0
        while index + perRound - 2 < windows.count {
            guard windows[index].symbol == .mark, let round = read(windows, from: index) else {
                index += 1
                continue
            }
            sightings.append(Sighting(signature: round.signature, round: round.round, position: index * hop))
            index += perRound - perSymbol
        }
        return sightings
    }

    /// The three windows in the middle of each symbol must agree, but for one.
    private static func read(_ windows: [Window], from start: Int) -> (signature: SoundSignature, round: Int)? {
        SoundSignature.read(
            (1..<SoundSignature.symbolsPerRound).map { place in
                let middle = start + place * perSymbol + 1, heard = (middle...middle + 2).map { windows[$0].symbol }
                return heard[0] == heard[1] || heard[0] == heard[2] ? heard[0] : heard[1] == heard[2] ? heard[1] : nil
            })
    }
}
