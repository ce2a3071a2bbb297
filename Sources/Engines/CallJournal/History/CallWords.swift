import Primitives

/// Facts of a call in a few words, for tables and pages.
package enum CallWords {
    /// `answered`, `refused 404`
    package static func status(_ disposition: CallDisposition, _ status: Int?) -> String {
        let word = disposition.rawValue
        return [.answered, .up].contains(disposition) ? word : word + (status.map { " \($0)" } ?? "")
    }

    /// `1.5s`, `2m03s`, `1h02m`
    package static func length(_ duration: Duration) -> String {
        let tenths = duration.wholeMilliseconds / 100, seconds = tenths / 10
        func two(_ number: Int64) -> String { number < 10 ? "0\(number)" : "\(number)" }
        if seconds < 60 { return "\(seconds).\(tenths % 10)s" }
        return seconds < 3_600 ? "\(seconds / 60)m\(two(seconds % 60))s" : "\(seconds / 3_600)h\(two(seconds / 60 % 60))m"
    }

    /// Tells which of the two was heard.
    package static func heard(_ caller: LegSound.Heard?, _ callee: LegSound.Heard?) -> String {
        switch (caller, callee) {
        case (nil, nil): "–"
        case (.packets, .packets): "packets"
        case (let caller?, let callee?):
            switch (caller.isMissing, callee.isMissing) {
            case (false, false): "both ways"
            case (false, true): "caller only"
            case (true, false): "callee only"
            case (true, true): "nobody"
            }
        case (let caller?, nil): caller.isMissing ? "nobody" : "caller"
        case (nil, let callee?): callee.isMissing ? "nobody" : "callee"
        }
    }

    /// The first eight digits of its UUID.
    package static func name(_ leg: LegRecord) -> String { String(leg.call.description.prefix(8)) }
}
