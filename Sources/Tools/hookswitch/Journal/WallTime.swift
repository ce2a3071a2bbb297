import Foundation

/// Times of day of a journal: nanoseconds since 1970.
enum WallTime {
    /// `2026-11-26 19:24:11.085`, where this machine is.
    static func local(_ wall: UInt64) -> String {
        var seconds = time_t(wall / 1_000_000_000), parts = tm()
        localtime_r(&seconds, &parts)
        let date = "\(parts.tm_year + 1900)-\(padded(parts.tm_mon + 1))-\(padded(parts.tm_mday))"
        let time = "\(padded(parts.tm_hour)):\(padded(parts.tm_min)):\(padded(parts.tm_sec))"
        return "\(date) \(time).\(padded(Int32(wall / 1_000_000 % 1_000), to: 3))"
    }

    private static func padded(_ number: Int32, to digits: Int = 2) -> String {
        let text = "\(number)"
        return String(repeating: "0", count: max(0, digits - text.count)) + text
    }

    /// `2026-11-26T18:24:11.085Z`
    static func universal(_ wall: UInt64) -> String { clock.format(Date(timeIntervalSince1970: Double(wall) / 1e9)) }

    private static let clock = Date.ISO8601FormatStyle(includingFractionalSeconds: true)

    static var now: UInt64 { UInt64(max(0, Date().timeIntervalSince1970) * 1e9) }
}

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
