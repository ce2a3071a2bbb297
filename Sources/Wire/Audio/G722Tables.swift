/// The constants of G.722 §6.2 (tables 11 and 14 to 21), in units of the recommendation.
enum G722Tables {
    /// Every other tap of the symmetric quadrature mirror filter, oldest sample first; the taps between are the same backwards.
    static let taps: InlineArray<12, Int32> = [3, -11, 12, 32, -210, 951, 3_876, -805, 362, -156, 53, -11]

    /// Q6: decision levels of the 60-level quantiser of the low band, from the second on.
    static let decisionLevels: InlineArray<29, Int32> = [
        35, 72, 110, 150, 190, 233, 276, 323, 370, 422, 473, 530, 587, 650, 714, 786, 858, 940, 1_023, 1_121, 1_219, 1_339, 1_458, 1_612,
        1_765,
        1_980, 2_195, 2_557, 2_919,
    ]
    /// QQ4: the 16 output levels by the upper four bits of a low-band code, which alone steer the adaptation.
    static let lowOutputs4: InlineArray<16, Int32> = [
        0, -20_456, -12_896, -8_968, -6_288, -4_240, -2_584, -1_200, 20_456, 12_896, 8_968, 6_288, 4_240, 2_584, 1_200, 0,
    ]
    /// QQ6: the 64 output levels by the whole low-band code.
    static let lowOutputs6: InlineArray<64, Int32> = [
        -136, -136, -136, -136, -24_808, -21_904, -19_008, -16_704, -14_984, -13_512, -12_280, -11_192, -10_232, -9_360, -8_576, -7_856,
        -7_192,
        -6_576, -6_000, -5_456, -4_944, -4_464, -4_008, -3_576, -3_168, -2_776, -2_400, -2_032, -1_688, -1_360, -1_040, -728, 24_808,
        21_904, 19_008,
        16_704, 14_984, 13_512, 12_280, 11_192, 10_232, 9_360, 8_576, 7_856, 7_192, 6_576, 6_000, 5_456, 4_944, 4_464, 4_008, 3_576, 3_168,
        2_776,
        2_400, 2_032, 1_688, 1_360, 1_040, 728, 432, 136, -432, -136,
    ]
    /// WL by the upper four bits of a low-band code.
    static let lowMultipliers: InlineArray<16, Int32> = [
        -60, 3_042, 1_198, 538, 334, 172, 58, -30, 3_042, 1_198, 538, 334, 172, 58, -30, -60,
    ]
    /// QQ2 and WH by a high-band code.
    static let highOutputs: InlineArray<4, Int32> = [-7_408, -1_616, 7_408, 1_616]
    static let highMultipliers: InlineArray<4, Int32> = [798, -214, 798, -214]
    /// ILB: 2,048 · 2^(i/32).
    static let inverseLog: InlineArray<32, Int16> = [
        2_048, 2_093, 2_139, 2_186, 2_233, 2_282, 2_332, 2_383, 2_435, 2_489, 2_543, 2_599, 2_656, 2_714, 2_774, 2_834, 2_896, 2_960, 3_025,
        3_091,
        3_158, 3_228, 3_298, 3_371, 3_444, 3_520, 3_597, 3_676, 3_756, 3_838, 3_922, 4_008,
    ]
}
