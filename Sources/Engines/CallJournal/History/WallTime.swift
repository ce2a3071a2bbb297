import Foundation

/// Times of day of a journal: nanoseconds since 1970.
package enum WallTime {
    /// `2026-11-26 19:24:11.085`, where this machine is.
    package static func local(_ wall: UInt64) -> String {
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
    package static func universal(_ wall: UInt64) -> String { clock.format(Date(timeIntervalSince1970: Double(wall) / 1e9)) }

    private static let clock = Date.ISO8601FormatStyle(includingFractionalSeconds: true)

    package static var now: UInt64 { UInt64(max(0, Date().timeIntervalSince1970) * 1e9) }
}
