import Glibc

/// The identity of the one who speaks, said in sound: the run, the call and the side, as pairs of tones that G.711, G.722 and Opus leave
/// standing.
///
/// A round of 420 ms is seven symbols of 60 ms: a mark, four for the name, one for which round it is, and a check. Sixteen rounds make a
/// signature, which is then repeated. No symbol is a DTMF key.
public struct SoundSignature: Hashable, Sendable, Codable {
    /// The end of the call that plays it.
    public enum Side: UInt32, Hashable, Sendable, Codable { case caller, callee }

    /// Tells runs apart: 0–15.
    public let run: UInt32
    /// The call within the run, modulo 2¹⁹. 0 is nobody: calls that are not listened to share it.
    public let call: UInt32
    /// The end of the call that plays it.
    public let side: Side

    /// Larger numbers lose their upper bits.
    public init(run: UInt32, call: UInt32, side: Side) { (self.run, self.call, self.side) = (run & 15, call & 0x7_FFFF, side) }

    /// Hz of `samples()`.
    public static let sampleRate = 8_000
    static let symbolLength = 480, symbolsPerRound = 7, rounds = 16
    package static var roundLength: Int { symbolLength * symbolsPerRound }
    static var length: Int { roundLength * rounds }

    /// All sixteen rounds at 8 kHz, 6.72 s, to be played again and again without a seam.
    public func samples() -> [Int16] {
        var samples: [Int16] = []
        samples.reserveCapacity(Self.length)
        for round in 0..<Self.rounds { append(round: round, to: &samples) }
        return samples
    }

    func samples(ofRound round: Int) -> [Int16] {
        var samples: [Int16] = []
        append(round: round, to: &samples)
        return samples
    }

    private func append(round: Int, to samples: inout [Int16]) {
        for symbol in symbols(ofRound: round) {
            let (low, high) = (SignatureTones.waves[symbol.low], SignatureTones.waves[SignatureTones.lows.count + symbol.high])
            for _ in 0..<(Self.symbolLength / SignatureTones.period) {
                for index in 0..<SignatureTones.period { samples.append(low[index] &+ high[index]) }
            }
        }
    }

    private func symbols(ofRound round: Int) -> [SignatureSymbol] {
        let name = run << 20 | call << 1 | side.rawValue
        let values = [18, 12, 6, 0].map { UInt8(truncatingIfNeeded: name >> UInt32($0)) & 63 } + [UInt8(round & 15)]
        return [.mark] + values.map(SignatureSymbol.init(value:)) + [SignatureSymbol(value: Self.check(values))]
    }

    /// From what was heard in the places of a round; nil when that is no round.
    static func read(_ symbols: [SignatureSymbol?]) -> (signature: SoundSignature, round: Int)? {
        let values = symbols.compactMap { $0?.value }
        guard symbols.count == symbolsPerRound - 1, values.count == symbols.count, values[4] < UInt8(rounds),
            check(Array(values[..<5])) == values[5]
        else { return nil }
        let name = values[..<4].reduce(UInt32(0)) { $0 << 6 | UInt32($1) }
        let side: Side = name & 1 == 0 ? .caller : .callee
        return (SoundSignature(run: name >> 20, call: name >> 1 & 0x7_FFFF, side: side), Int(values[4]))
    }

    private static func check(_ values: [UInt8]) -> UInt8 { values.reduce(UInt8(21)) { (($0 << 1 | $0 >> 5) & 63) ^ ($1 &* 11 & 63) } & 63 }
}

/// A pair of tones: one of the low group and one of the high group.
struct SignatureSymbol: Hashable {
    var low: Int, high: Int

    /// Only at the beginning of a round.
    static let mark = SignatureSymbol(low: 8, high: 0)

    init(low: Int, high: Int) { (self.low, self.high) = (low, high) }
    /// 0–63.
    init(value: UInt8) { (low, high) = (Int(value >> 3), Int(value & 7)) }

    var value: UInt8? { low < 8 ? UInt8(low << 3 | high) : nil }
}

enum SignatureTones {
    /// All fit whole into 20 ms, so that any 20 ms tell them apart exactly.
    static let lows = [500, 600, 700, 800, 900, 1_000, 1_100, 1_200, 400]
    static let highs = [1_750, 1_850, 1_950, 2_050, 2_150, 2_250, 2_350, 2_450]
    static let period = 160

    /// 20 ms of each tone, the lows first; -14 dB below full scale.
    static let waves: [[Int16]] = (lows + highs).map { frequency in
        (0..<period).map { Int16((6_500 * sin(2 * Double.pi * Double(frequency * $0) / Double(SoundSignature.sampleRate))).rounded()) }
    }
}
