/// One of G.722's two sub-band ADPCM channels: an adaptive step and a predictor with two poles and six zeros.
///
/// Encoder and decoder run the same object over the same quantised differences and so stay in step (G.722 §3, blocks 3 and 4).
/// Values are the 16-bit integers of §6.2 held in `Int32`, saturated where the recommendation saturates.
struct G722Band {
    /// The quantiser's step (DETL, DETH).
    private(set) var step: Int32
    /// The predictor's estimate of the next sample (SL, SH).
    private(set) var prediction: Int32 = 0

    private let isLow: Bool
    private var logStep: Int32 = 0
    private var poles: (Int32, Int32) = (0, 0)
    private var zeros: InlineArray<6, Int32> = .init(repeating: 0)
    private var differences: InlineArray<6, Int32> = .init(repeating: 0)
    private var zeroPrediction: Int32 = 0
    private var reconstructed: Int32 = 0
    private var partials: (Int32, Int32) = (0, 0)

    init(low: Bool) {
        isLow = low
        step = low ? 32 : 8
    }

    /// Learns from one quantised difference and the step multiplier that its code selects.
    mutating func adapt(difference: Int32, multiplier: Int32) {
        let reconstructedBefore = reconstructed
        reconstructed = saturate(prediction + difference)
        let partial = saturate(zeroPrediction + difference)
        adaptStep(multiplier)
        adaptPoles(partial)
        adaptZeros(difference)
        partials = (partial, partials.0)
        predict(reconstructedBefore)
    }

    /// LOGSCL and SCALEL, LOGSCH and SCALEH: a leaky logarithm and its power of two, five bits of it from a table.
    private mutating func adaptStep(_ multiplier: Int32) {
        logStep = min(max((logStep * 127) >> 7 + multiplier, 0), isLow ? 18_432 : 22_528)
        let shift = (isLow ? 8 : 10) - logStep >> 11
        let mantissa = Int32(G722Tables.inverseLog[Int(logStep >> 6 & 31)])
        step = (shift < 0 ? mantissa << -shift : mantissa >> shift) << 2
    }

    /// UPPOL2 and UPPOL1; the limits keep the filter stable.
    private mutating func adaptPoles(_ partial: Int32) {
        let sameAsLast = (partial ^ partials.0) >= 0, sameAsBefore = (partial ^ partials.1) >= 0
        let lean = saturate(poles.0 << 2)
        let second = min(sameAsLast ? -lean : lean, 32_767) >> 7 + (sameAsBefore ? 128 : -128) + (poles.1 * 32_512) >> 15
        let limited = min(max(second, -12_288), 12_288)
        let first = saturate((sameAsLast ? 192 : -192) + (poles.0 * 32_640) >> 15)
        let bound = saturate(15_360 - limited)
        poles = (min(max(first, -bound), bound), limited)
    }

    /// UPZERO, and the delay line moves on.
    private mutating func adaptZeros(_ difference: Int32) {
        let gain: Int32 = difference == 0 ? 0 : 128
        for index in 0..<6 {
            let towards = (differences[index] ^ difference) >= 0 ? gain : -gain
            zeros[index] = saturate(towards + (zeros[index] * 32_640) >> 15)
        }
        for index in stride(from: 5, to: 0, by: -1) { differences[index] = differences[index - 1] }
        differences[0] = difference
    }

    /// FILTEP, FILTEZ and PREDIC.
    private mutating func predict(_ reconstructedBefore: Int32) {
        let poleSum = (poles.0 * saturate(2 * reconstructed)) >> 15 + (poles.1 * saturate(2 * reconstructedBefore)) >> 15
        var zeroSum: Int32 = 0
        for index in 0..<6 { zeroSum += (zeros[index] * saturate(2 * differences[index])) >> 15 }
        zeroPrediction = saturate(zeroSum)
        prediction = saturate(saturate(poleSum) + zeroPrediction)
    }
}

@inline(__always) func saturate(_ value: Int32) -> Int32 { min(max(value, -32_768), 32_767) }
