/// The sound that a G codec plays in the place of lost packets: the last period of the voice again and again, in effect as G.711 Appendix
/// I.
///
/// The period is sought in what was heard last. After 10 ms it fades, by a fifth each 10 ms, to silence at 60 ms. When sound comes back
/// the two are blended over 5 ms.
struct Concealment {
    private var heard: [Int16]
    private let sampleRate: Int
    /// One period, its end bent so that it can be repeated.
    private var period: [Int16]
    private var length = 0
    /// Samples made since the last that were heard.
    private var made = 0

    init(sampleRate: Int) {
        self.sampleRate = sampleRate
        heard = Array(repeating: 0, count: sampleRate * 45 / 1_000)
        period = Array(repeating: 0, count: sampleRate * 15 / 1_000)
    }

    /// Takes what was decoded, and where something was lost before it, blends its beginning with what was made.
    mutating func remember(_ samples: inout MutableSpan<Int16>, count: Int) {
        if made > 0 {
            let seam = min(count, sampleRate * 5 / 1_000)
            for index in 0..<seam {
                let old = Int(next()), new = Int(samples[index])
                samples[index] = Int16((old * (seam - index) + new * index) / seam)
            }
            made = 0
        }
        let kept = min(count, heard.count)
        for index in 0..<heard.count - kept { heard[index] = heard[index + kept] }
        for index in 0..<kept { heard[heard.count - kept + index] = samples[count - kept + index] }
    }

    /// Makes `count` samples.
    mutating func fill(_ samples: inout MutableSpan<Int16>, count: Int) throws(CodecError) {
        guard samples.count >= count else { throw .bufferTooSmall }
        if made == 0 { findPeriod() }
        for index in 0..<count { samples[index] = next() }
    }

    private mutating func findPeriod() {
        let window = sampleRate * 20 / 1_000, end = heard.count
        length = PitchSearch.bestLag(
            heard.span, start: end - window, count: window, lags: sampleRate * 5 / 1_000...period.count, sampleRate: sampleRate)
        let bend = length / 4
        for index in 0..<length {
            let sample = Int(heard[end - length + index]), into = index - (length - bend)
            period[index] =
                into < 0 ? Int16(sample) : Int16((sample * (bend - into) + Int(heard[end - 2 * length + index]) * into) / max(1, bend))
        }
    }

    private mutating func next() -> Int16 {
        defer { made += 1 }
        let step = sampleRate / 100
        guard made < 6 * step, length > 0 else { return 0 }
        let sample = Int(period[made % length])
        return made < step ? Int16(sample) : Int16(sample * (6 * step - made) / (5 * step))
    }
}
