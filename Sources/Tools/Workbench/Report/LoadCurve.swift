/// The calls of a run that are up, and those that begin, by the second. Bounded: a long run has longer parts.
public struct LoadCurve: Sendable {
    static let mostParts = 240

    /// Seconds of a part.
    private(set) var length = 1.0
    /// The most calls at a time in each part; nil where nobody looked.
    private(set) var up: [Double?] = []
    /// Calls a second in each part.
    private(set) var begun: [Double?] = []
    private var all = 0

    public init() {}

    /// - Parameter elapsed: seconds since the first call; each later than the one before.
    public mutating func note(_ progress: LoadProgress, elapsed: Double) {
        note(up: progress.active, begun: progress.begun, elapsed: elapsed)
    }

    mutating func note(up now: Int, begun count: Int, elapsed: Double) {
        while Int(elapsed / length) >= Self.mostParts { halve() }
        let part = max(up.count - 1, Int(max(0, elapsed) / length))
        let missing = [Double?](repeating: nil, count: part + 1 - up.count)
        (up, begun) = (up + missing, begun + missing)
        up[part] = max(up[part] ?? 0, Double(now))
        begun[part] = (begun[part] ?? 0) + Double(count - all) / length
        all = count
    }

    private mutating func halve() {
        func pairs(_ values: [Double?], _ join: ([Double]) -> Double) -> [Double?] {
            stride(from: 0, to: values.count, by: 2).map { index in
                let known = values[index..<min(index + 2, values.count)].compactMap(\.self)
                return known.isEmpty ? nil : join(known)
            }
        }
        (up, begun) = (pairs(up) { $0.max() ?? 0 }, pairs(begun) { $0.reduce(0, +) / 2 })
        length *= 2
    }
}
