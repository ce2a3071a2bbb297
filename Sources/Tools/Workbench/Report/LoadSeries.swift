/// A run over time, in equal parts.
public enum LoadSeries {
    public struct Point: Codable, Hashable, Sendable {
        /// Seconds after the beginning, and the length of the part.
        public var time: Double, length: Double
        public var begun = 0, answered = 0
        /// The most that were up at a time.
        public var active = 0
        /// Percentiles are nil where too few calls of the part tell them.
        public var setupP50: Double?, setupP95: Double?, setupMax: Double?
        public var loss: Double?, jitterP95: Double?, mosP5: Double?, delayP50: Double?, delayP95: Double?
        /// Means of each direction, and the lowest MOS.
        public var lossOut: Double?, lossIn: Double?, jitterOut: Double?, jitterIn: Double?, delayOut: Double?, delayIn: Double?
        public var mosOut: Double?, mosIn: Double?
        /// Calls that failed or had something wrong, by status, or by finding where they were answered.
        public var failures: [String: Int] = [:]
    }

    static func points(of calls: [CallFigures], parts: Int = 120) -> [Point] {
        let end = calls.map { $0.began + lasted($0) }.max() ?? 0
        guard end > 0 else { return [] }
        let length = max(1, (end / Double(parts)).rounded(.up)), count = Int(end / length) + 1
        var groups = [[CallFigures]](repeating: [], count: count)
        for call in calls { groups[min(count - 1, Int(call.began / length))].append(call) }
        let active = mostUp(calls, length, count)
        return groups.enumerated().map { index, group in point(group, Double(index) * length, length, active[index]) }
    }

    private static func lasted(_ call: CallFigures) -> Double { ((call.answer ?? 0) + (call.duration ?? 0)) / 1_000 }

    /// In each part; a call that ends as another begins is not up with it.
    private static func mostUp(_ calls: [CallFigures], _ length: Double, _ count: Int) -> [Int] {
        var most = [Int](repeating: 0, count: count), up = 0, part = 0
        let changes = calls.filter { lasted($0) > 0 }.flatMap { [($0.began, 1), ($0.began + lasted($0), -1)] }.sorted {
            ($0.0, $0.1) < ($1.0, $1.1)
        }
        for (time, change) in changes {
            let next = min(count - 1, Int(time / length))
            while part < next {
                part += 1
                most[part] = up
            }
            up += change
            most[part] = max(most[part], up)
        }
        return most
    }

    private static func point(_ calls: [CallFigures], _ time: Double, _ length: Double, _ active: Int) -> Point {
        var point = Point(time: time, length: length)
        (point.begun, point.answered, point.active) = (calls.count, calls.count { $0.isAnswered }, active)
        func sorted(_ metric: LoadMetric) -> [Double] { calls.compactMap(metric.value).sorted() }
        let setup = sorted(.setup), delay = sorted(.delay)
        (point.setupP50, point.setupP95, point.setupMax) = (at(50, setup), at(95, setup), setup.last)
        point.loss = mean(sorted(.loss))
        (point.jitterP95, point.mosP5) = (at(95, sorted(.jitter)), at(5, sorted(.mos)))
        (point.delayP50, point.delayP95) = (at(50, delay), at(95, delay))
        (point.lossOut, point.lossIn) = (mean(sorted(.lossOut)), mean(sorted(.lossIn)))
        (point.jitterOut, point.jitterIn) = (mean(sorted(.jitterOut)), mean(sorted(.jitterIn)))
        (point.delayOut, point.delayIn) = (mean(sorted(.delayOut)), mean(sorted(.delayIn)))
        (point.mosOut, point.mosIn) = (sorted(.mosOut).first, sorted(.mosIn).first)
        for call in calls where call.outcome != .good && call.outcome != .cutOff {
            point.failures[cause(of: call), default: 0] += 1
        }
        return point
    }

    /// The status that says it; else the finding that does.
    private static func cause(of call: CallFigures) -> String {
        if call.outcome == .notTried { return "not tried" }
        if call.status >= 300 { return "\(call.status)" }
        return call.findings.first?.kind.rawValue ?? (call.status == 0 ? "no answer" : "faulty")
    }

    private static func at(_ percent: Double, _ sorted: [Double]) -> Double? {
        guard UInt64(sorted.count) >= Percentile.valuesNeeded(for: percent) else { return nil }
        return sorted[min(sorted.count - 1, Int(Double(sorted.count) * percent / 100))]
    }

    private static func mean(_ values: [Double]) -> Double? { values.isEmpty ? nil : values.reduce(0, +) / Double(values.count) }
}
