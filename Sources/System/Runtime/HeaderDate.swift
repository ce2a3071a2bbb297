import Glibc

extension WallClock {
    /// A time as the value of a Date header has it (RFC 3261 §20.17, RFC 9110 §5.6.7): `Sat, 13 Nov 2010 23:29:00 GMT`.
    public static func header(unixSeconds: Int) -> String {
        var seconds = time_t(unixSeconds), parts = tm()
        gmtime_r(&seconds, &parts)
        let day = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"][Int(parts.tm_wday)]
        let month = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"][Int(parts.tm_mon)]
        let time = [parts.tm_hour, parts.tm_min, parts.tm_sec].map(twoDigits).joined(separator: ":")
        return "\(day), \(twoDigits(parts.tm_mday)) \(month) \(parts.tm_year + 1900) \(time) GMT"
    }

    private static func twoDigits(_ number: Int32) -> String { number < 10 ? "0\(number)" : "\(number)" }
}
