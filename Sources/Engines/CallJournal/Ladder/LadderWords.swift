import Primitives

/// Actions of the gateway in a few words.
enum LadderWords {
    static func describe(_ event: JournalEvent, class kind: String?, names: (CallUUID) -> String?) -> String {
        let call = event.call.flatMap(names).map { " \($0)" } ?? ""
        let text = { (key: JournalEvent.Key) in event.details[key].map { " \($0.text)" } ?? "" }
        let action = kind ?? event.details.text(.class)?.description ?? "action"
        switch event.kind {
        case .transactionRequested, .transactionAccepted, .systemAction:
            let list = event.listedActions.map(\.kind.rawValue).joined(separator: ", ")
            return (event.kind == .systemAction ? "system issues " : event.kind == .transactionAccepted ? "accepted " : "request ") + list
        case .transactionRefused: return "request refused" + text(.code)
        case .actionFulfilled: return "fulfilled \(action)" + call
        case .actionFailed: return "failed \(action)" + call + text(.cause)
        case .actionTimedOut: return "timed out \(action)" + call
        case .performHeld: return (event.details.flag(.on) ? "perform hold" : "perform resume") + call
        case .performMuted: return (event.details.flag(.on) ? "perform mute" : "perform unmute") + call
        case .performGroup:
            let other = event.details.uuid(.with)
            return "perform group" + call + (other.map { " with \(names($0) ?? $0.description)" } ?? " alone")
        case .reportAdopted: return "report adopted" + call + text(.with)
        case .reportIncomingAccepted: return "report accepted" + call
        case .reportIncomingRefused: return "report refused" + call + text(.error)
        case .inviteReceived:
            let who = [("from", event.details.text(.from)), ("to", event.details.text(.to))].compactMap { way, address in
                address.map { " \(way) \($0)" }
            }
            let rest = [JournalEvent.Key.agent, .media].compactMap { event.details.text($0) }.map { "; \($0)" }
            return "invite received" + call + who.joined() + rest.joined()
        case .callRefused: return "refused" + call + text(.status) + (event.details.text(.reason).map { ": \($0)" } ?? "")
        case .remoteHold: return (event.details.flag(.on) ? "held by" : "resumed by") + call
        case .auditAdvice: return "advice" + text(.rule) + text(.text)
        case .auditViolation: return "VIOLATION" + text(.rule) + text(.text)
        default:
            let words = event.kind.rawValue.split(separator: ".").joined(separator: " ")
            let detail: [JournalEvent.Key] = [.port, .reason, .cause, .digits, .codec, .session, .remoteTag, .status]
            let packets = event.details.number(.packets).map { " \($0) packets" } ?? ""
            let dropped = event.kind == .mediaTaken ? event.details.number(.count).map { ", \($0) dropped" } ?? "" : ""
            return words + call + detail.map(text).joined() + packets + dropped + sound(event.details) + quality(event.details)
        }
    }
}

extension LadderWords {
    private static let mostLines = 4

    /// Words that do not fit beside the gateway go on below, a little to the right; the last line is cut.
    static func lines(_ words: String, width: Int) -> [String] {
        var lines: [String] = [], rest = Substring(words)
        while rest.count > width, lines.count < mostLines - 1, let space = lastBreak(in: rest.prefix(max(0, width + 1))) {
            lines.append(String(rest[..<space]))
            rest = Substring("  " + rest[rest.index(after: space)...])
        }
        return lines + [String(rest)]
    }

    /// The last space behind a comma or a semicolon, else the last one.
    private static func lastBreak(in line: Substring) -> Substring.Index? {
        let spaces = line.indices.dropFirst(4).filter { line[$0] == " " }
        return spaces.last { [",", ";"].contains(line[line.index(before: $0)]) } ?? spaces.last
    }

    /// ", in heard, out nothing: ONE WAY"
    private static func sound(_ details: JournalEvent.Details) -> String {
        let ways = [("in", details.text(.incoming)), ("out", details.text(.outgoing))].compactMap { way, sound in
            sound.map { ", \(way) \($0)" }
        }
        return ways.joined() + (details.flag(.oneWay) ? ": ONE WAY" : "")
    }

    /// "; loss in 0.52 % out 0.00 %, MOS in 4.12 out 4.41"
    private static func quality(_ details: JournalEvent.Details) -> String {
        func figures(_ name: String, _ keys: [(String, JournalEvent.Key)], _ unit: String) -> String? {
            let found = keys.compactMap { way, key in details.number(key).map { " \(way) \(hundredths($0))\(unit)" } }
            return found.isEmpty ? nil : name + found.joined()
        }
        let loss = figures("loss", [("in", .loss), ("out", .remoteLoss)], " %")
        let score = figures("MOS", [("in", .mos), ("out", .remoteMOS)], "")
        let found = [loss, score].compactMap(\.self)
        return found.isEmpty ? "" : "; " + found.joined(separator: ", ")
    }

    private static func hundredths(_ value: Int64) -> String { "\(value / 100)." + (value % 100 < 10 ? "0" : "") + "\(value % 100)" }
}
