import Foundation

/// A duration as text, such as `1:05`, in days, hours, minutes and seconds. Linux's Foundation has none. The text is English.
open class DateComponentsFormatter: NSObject {
    public enum UnitsStyle: Int, Sendable {
        case positional = 0, abbreviated = 1, short = 2, full = 3, spellOut = 4, brief = 5
    }

    public struct ZeroFormattingBehavior: OptionSet, Sendable {
        public let rawValue: UInt
        public init(rawValue: UInt) { self.rawValue = rawValue }

        public static let `default` = ZeroFormattingBehavior(rawValue: 1 << 0), dropLeading = ZeroFormattingBehavior(rawValue: 1 << 1)
        public static let dropMiddle = ZeroFormattingBehavior(rawValue: 1 << 2), dropTrailing = ZeroFormattingBehavior(rawValue: 1 << 3)
        public static let dropAll: ZeroFormattingBehavior = [.dropLeading, .dropMiddle, .dropTrailing]
        public static let pad = ZeroFormattingBehavior(rawValue: 1 << 16)
    }

    private struct Unit {
        let unit: NSCalendar.Unit, seconds: Int, letter: String, short: String, full: String
    }

    private static let units = [
        Unit(unit: .day, seconds: 86_400, letter: "d", short: "day", full: "day"),
        Unit(unit: .hour, seconds: 3_600, letter: "h", short: "hr", full: "hour"),
        Unit(unit: .minute, seconds: 60, letter: "m", short: "min", full: "minute"),
        Unit(unit: .second, seconds: 1, letter: "s", short: "sec", full: "second"),
    ]

    /// Other units than these four are left out.
    open var allowedUnits: NSCalendar.Unit = [.day, .hour, .minute, .second]
    /// `spellOut` and `brief` are written as `full` and `short`.
    open var unitsStyle = UnitsStyle.positional
    /// Only `pad` is heeded: without it leading zeros are left out, and in styles with words all zeros.
    open var zeroFormattingBehavior = ZeroFormattingBehavior.default

    /// - Parameter interval: in seconds; less than a whole one is left out.
    open func string(from interval: TimeInterval) -> String? {
        guard interval.isFinite, abs(interval) < 1e12 else { return nil }
        var rest = Int(abs(interval)), values: [(unit: Unit, count: Int)] = []
        for unit in Self.units where allowedUnits.contains(unit.unit) {
            values.append((unit, rest / unit.seconds))
            rest %= unit.seconds
        }
        guard let last = values.last else { return nil }
        let isPadded = zeroFormattingBehavior.contains(.pad)
        if !isPadded {
            let kept = unitsStyle == .positional ? Array(values.drop { $0.count == 0 }) : values.filter { $0.count > 0 }
            values = kept.isEmpty ? [last] : kept
        }
        return (interval < 0 ? "-" : "") + text(of: values, isPadded: isPadded)
    }

    open func string(from startDate: Date, to endDate: Date) -> String? { string(from: endDate.timeIntervalSince(startDate)) }

    private func text(of values: [(unit: Unit, count: Int)], isPadded: Bool) -> String {
        switch unitsStyle {
        case .positional:
            return values.enumerated().map { index, value in
                (index > 0 || isPadded) && value.count < 10 ? "0\(value.count)" : "\(value.count)"
            }.joined(separator: ":")
        case .abbreviated: return values.map { "\($0.count)\($0.unit.letter)" }.joined(separator: " ")
        case .short, .brief: return values.map { "\($0.count) \($0.unit.short)" }.joined(separator: ", ")
        case .full, .spellOut: return values.map { "\($0.count) \($0.unit.full)\($0.count == 1 ? "" : "s")" }.joined(separator: ", ")
        }
    }
}
