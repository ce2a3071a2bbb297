import Foundation

/// The value of `--since`.
enum SinceTime {
    /// `10m` before `now`, `14:05` of the last 24 hours, `2026-11-26`, `2026-11-26T14:05:30`, the same with `Z`.
    static func parse(_ text: String, now: UInt64) throws -> UInt64 {
        if let seconds = duration(text) { return now - min(now, UInt64(seconds * 1e9)) }
        if let clock = clockTime(text, now) { return clock }
        if let date = date(text) { return date }
        throw Failure.usage(
            "--since takes a time as 14:05, 2026-11-26 or 2026-11-26T14:05:30Z, or how long ago as 30s, 10m, 2h or 3d, got '\(text)'")
    }

    private static func duration(_ text: String) -> Double? {
        let units: [Character: Double] = ["s": 1, "m": 60, "h": 3_600, "d": 86_400]
        guard let unit = text.last.flatMap({ units[$0] }), let number = Double(text.dropLast()), (0...1e6).contains(number) else {
            return nil
        }
        return number * unit
    }

    private static func clockTime(_ text: String, _ now: UInt64) -> UInt64? {
        guard let match = text.wholeMatch(of: /(\d{1,2}):(\d{2})(?::(\d{2}))?/) else { return nil }
        var seconds = time_t(now / 1_000_000_000), parts = tm()
        localtime_r(&seconds, &parts)
        let clock = [match.output.1, match.output.2, match.output.3 ?? "0"].compactMap { Int32($0) }
        guard clock[0] < 24, clock[1] < 60, clock[2] < 60 else { return nil }
        (parts.tm_hour, parts.tm_min, parts.tm_sec, parts.tm_isdst) = (clock[0], clock[1], clock[2], -1)
        let today = mktime(&parts)
        // A time that is yet to come today was meant as yesterday's.
        if today > seconds { parts.tm_mday -= 1 }
        parts.tm_isdst = -1
        return UInt64(max(0, today > seconds ? mktime(&parts) : today)) * 1_000_000_000
    }

    private static func date(_ text: String) -> UInt64? {
        guard let match = text.wholeMatch(of: /(\d{4})-(\d{2})-(\d{2})(?:[T ](\d{2}):(\d{2})(?::(\d{2}))?)?(Z)?/) else { return nil }
        let fields = match.output
        let numbers = [fields.1, fields.2, fields.3, fields.4 ?? "0", fields.5 ?? "0", fields.6 ?? "0"].compactMap { Int32($0) }
        guard (1...12).contains(numbers[1]), (1...31).contains(numbers[2]), numbers[3] < 24, numbers[4] < 60, numbers[5] < 60 else {
            return nil
        }
        var parts = tm()
        (parts.tm_year, parts.tm_mon, parts.tm_mday) = (numbers[0] - 1_900, numbers[1] - 1, numbers[2])
        (parts.tm_hour, parts.tm_min, parts.tm_sec, parts.tm_isdst) = (numbers[3], numbers[4], numbers[5], -1)
        let seconds = fields.7 == nil ? mktime(&parts) : timegm(&parts)
        return seconds < 0 ? nil : UInt64(seconds) * 1_000_000_000
    }
}
