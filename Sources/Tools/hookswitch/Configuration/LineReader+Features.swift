import CallKit
import Foundation
import Gateway
import Primitives
import Yams

/// Settings of a line that a telephone has: Do Not Disturb, block list, contacts, refusals.
extension LineReader {
    mutating func readDoNotDisturb(_ node: Node, _ value: SettingValue, _ line: inout LineConfiguration) throws {
        guard case .mapping = node else {
            line.doNotDisturb.isOn = try value.flag
            return
        }
        try entries(node, value, of: "do-not-disturb") { name, item, node in
            switch name {
            case "on": line.doNotDisturb.isOn = try item.flag
            case "vips": line.doNotDisturb.vips = try patterns(node, item)
            case "schedule": line.doNotDisturb.schedule.windows = try windows(node, item)
            case "time-zone":
                line.doNotDisturb.schedule.timeZone = try item.timeZone
                namesTimeZone = true
            default: preconditionFailure("a key of the table without its case: do-not-disturb.\(name)")
            }
        }
    }

    private func windows(_ node: Node, _ value: SettingValue) throws -> [WeeklySchedule.Window] {
        guard case .sequence(let sequence) = node else {
            throw value.fail("takes a list of windows as [{ days: mon-fri, from: \"22:00\", to: \"07:00\" }]")
        }
        return try sequence.map { node in
            var days: Set<WeeklySchedule.Weekday> = Set(WeeklySchedule.Weekday.allCases)
            var from: Int?, to: Int?
            try entries(node, value, of: "do-not-disturb.schedule") { name, item, node in
                switch name {
                case "days": days = try items(node, item).reduce(into: []) { $0.formUnion(try $1.weekdays) }
                case "from": from = try item.minuteOfDay
                case "to": to = try item.minuteOfDay
                default: preconditionFailure("a key of the table without its case: do-not-disturb.schedule.\(name)")
                }
            }
            guard let from, let to else { throw value.fail("a window has a 'from' and a 'to'") }
            guard from != to else {
                throw value.fail("a window that ends when it begins: for a whole day write from: \"00:00\", to: \"24:00\"")
            }
            return WeeklySchedule.Window(days: days, from: from, to: to)
        }
    }

    func readRefusals(_ node: Node, _ value: SettingValue, _ line: inout LineConfiguration) throws {
        try entries(node, value, of: "refusals") { name, item, _ in
            guard let kind = RefusalStatuses.Kind(rawValue: name) else {
                preconditionFailure("a key of the table without its case: refusals.\(name)")
            }
            line.refusals[kind] = try item.status(of: kind)
        }
    }

    func patterns(_ node: Node, _ value: SettingValue) throws -> [NumberPattern] {
        try items(node, value).map { item in
            guard let pattern = NumberPattern(Text(try item.text)) else {
                throw item.fail("is no number or pattern as '+39055*' or '^+1900'")
            }
            return pattern
        }
    }

    /// The plain values of a list, or one value.
    func items(_ node: Node, _ value: SettingValue) throws -> [SettingValue] {
        switch node {
        case .sequence(let sequence):
            return try sequence.map { element in
                guard let text = element.scalar?.string else { throw value.fail("takes a list of plain values") }
                return SettingValue(scalars: [text], place: value.place)
            }
        case .scalar: return [value]
        case .mapping, .alias: throw value.fail("takes a plain value or a list")
        }
    }

    /// - Parameter group: of the keys that there are (``LineKey/names(in:)``); nil: any.
    func entries(
        _ node: Node, _ value: SettingValue, of group: String? = nil,
        _ body: (_ name: String, _ item: SettingValue, _ node: Node) throws -> Void
    ) throws {
        guard case .mapping(let mapping) = node else { throw value.fail("takes settings in braces as { name: value }") }
        let place = { (key: Node) in "\(value.place).\(key.scalar?.string ?? "")" }
        if let group { try mapping.refuseUnknown(among: LineKey.names(in: group), at: place) }
        for (key, entry) in mapping {
            try body(key.scalar?.string ?? "", SettingValue(scalars: [entry.scalar?.string ?? ""], place: place(key)), entry)
        }
    }
}

extension RefusalStatuses.Kind {
    /// As in a table of settings.
    var takes: String { statuses.map(String.init).joined(separator: "|") }

    var help: String {
        switch self {
        case .doNotDisturb: "status for a caller while Do Not Disturb is on"
        case .blockList: "status for a caller whom the user blocked"
        case .directory: "status for a caller whom a call directory blocks"
        case .unentitled: "status for callers of a line that takes no calls"
        case .maximumCalls: "status for callers of a line that has no room for another call"
        }
    }
}

extension SettingValue {
    func status(of kind: RefusalStatuses.Kind) throws -> Int { Int(try oneOf(kind.statuses.map(String.init))) ?? kind.statuses[0] }

    var timeZone: TimeZone {
        get throws {
            let name = try text
            guard let zone = TimeZone(identifier: name) else { throw fail("knows no time zone '\(name)'; they are named as Europe/Rome") }
            return zone
        }
    }

    var handleType: CXHandle.HandleType {
        get throws {
            let types: [CXHandle.HandleType] = [.phoneNumber, .generic, .emailAddress]
            let name = try oneOf(types.map(\.name))
            return types.first { $0.name == name } ?? .generic
        }
    }

    /// `22:00`; `24:00` is the midnight that ends the day.
    var minuteOfDay: Int {
        get throws {
            let parts = try text.split(separator: ":", omittingEmptySubsequences: false).map { Int($0) }
            guard parts.count == 2, let hour = parts[0], let minute = parts[1], (0...24).contains(hour), (0..<60).contains(minute),
                hour * 60 + minute <= 1_440
            else {
                throw fail("takes a time in quotes as \"22:00\", got '\(scalars.first ?? "")'")
            }
            return hour * 60 + minute
        }
    }

    /// `mon`, `mon-fri`, `fri-mon`, `daily`.
    var weekdays: Set<WeeklySchedule.Weekday> {
        get throws {
            let all = WeeklySchedule.Weekday.allCases, name = try text.lowercased()
            if name == "daily" { return Set(all) }
            let ends = name.split(separator: "-").map { part in all.firstIndex { $0.short == part } }
            guard (1...2).contains(ends.count), let first = ends[0], let last = ends[ends.count - 1] else {
                throw fail("takes days as mon, mon-fri or daily, got '\(name)'")
            }
            return Set((0...(last - first + 7) % 7).map { all[(first + $0) % 7] })
        }
    }

    /// Each name once.
    var namedFiles: [(name: String, file: String)] {
        get throws {
            let files = try list { try $0.namedFile }
            for (index, (name, _)) in files.enumerated() where files[..<index].contains(where: { $0.name == name }) {
                throw fail("names the directory '\(name)' twice")
            }
            return files
        }
    }

    /// `spam=spam.csv`; without a name, the file's own.
    private var namedFile: (name: String, file: String) {
        get throws {
            let parts = try text.split(separator: "=", maxSplits: 1).map { String($0).trimmingSpaces }
            guard let file = parts.last, !file.isEmpty else { throw fail("is written as name=file") }
            return (parts.count == 2 ? parts[0] : URL(filePath: file).deletingPathExtension().lastPathComponent, file)
        }
    }

    var webURL: URL {
        get throws {
            guard let url = URL(string: try text), url.scheme == "http" || url.scheme == "https", url.host()?.isEmpty == false,
                1...65_535 ~= url.port ?? 443
            else {
                // Not shown: it may hold a token.
                throw fail("takes an address as http://127.0.0.1:8090/push or https://push.example.test/push")
            }
            return url
        }
    }

    var secureURL: String {
        get throws {
            let text = try text
            guard let url = URL(string: text), url.scheme == "https", url.host() != nil,
                !text.utf8.contains(where: { "<>\" ".utf8.contains($0) })
            else {
                throw fail("takes an address as https://example.test/card, got '\(text)'")
            }
            return text
        }
    }
}
