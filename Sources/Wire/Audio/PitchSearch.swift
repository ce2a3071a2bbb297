/// Finds by how much a piece of sound must be moved to lie over itself: the period of a voice, or a multiple of it.
enum PitchSearch {
    /// The lag in `lags` for which `count` samples from `start` are most like those so much earlier.
    ///
    /// Needs `start - lags.upperBound >= 0` and `start + count <= samples.count`. Looks coarsely first, in steps of 8 kHz.
    static func bestLag(_ samples: Span<Int16>, start: Int, count: Int, lags: ClosedRange<Int>, sampleRate: Int) -> Int {
        let step = max(1, sampleRate / 8_000)
        var best = lags.lowerBound, highest = -Float.infinity
        for lag in stride(from: lags.lowerBound, through: lags.upperBound, by: step) {
            let likeness = likeness(samples, start, count, lag, step)
            if likeness > highest { (best, highest) = (lag, likeness) }
        }
        guard step > 1 else { return best }
        let near = max(lags.lowerBound, best - step + 1)...min(lags.upperBound, best + step - 1)
        highest = -Float.infinity
        for lag in near {
            let likeness = likeness(samples, start, count, lag, step)
            if likeness > highest { (best, highest) = (lag, likeness) }
        }
        return best
    }

    /// The normalised correlation, over every `step`-th sample.
    private static func likeness(_ samples: Span<Int16>, _ start: Int, _ count: Int, _ lag: Int, _ step: Int) -> Float {
        var products: Float = 0, energy: Float = 1
        for index in stride(from: start, to: start + count, by: step) {
            let earlier = Float(samples[index - lag])
            products += Float(samples[index]) * earlier
            energy += earlier * earlier
        }
        return products / energy.squareRoot()
    }
}
