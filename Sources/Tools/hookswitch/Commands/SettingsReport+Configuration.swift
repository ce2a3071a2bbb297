import Console
import Foundation
import Runtime

extension SettingsReport {
    /// - Parameter summary: what `check` says of it.
    init(_ configuration: ServeConfiguration, _ summary: StartupSummary) {
        let settings = hookswitch.Setting.all.map { setting in
            Setting(
                path: setting.path,
                value: configuration.written[setting.path].map { $0.map { Self.masked($0, of: setting.path) }.joined(separator: ", ") },
                default: setting.default.text, place: configuration.places[setting.path], help: setting.help)
        }
        let facts = [
            ("listens", summary.listens.joined(separator: ", ")), ("advertises", summary.advertises), ("media ports", summary.mediaPorts),
            ("lines", "\(summary.numbers.count)"), ("journal", summary.journal ?? "–"), ("database", summary.database ?? "–"),
            ("control", summary.control.joined(separator: ", ")),
        ]
        self.init(
            settings: settings,
            findings: summary.warnings.map { Finding(grade: "warning", subject: "check", text: $0) }
                + facts.map { Finding(grade: "fact", subject: $0.0, text: $0.1) })
    }

    /// A value without what may be secret in it: all of a URL but its host, and all of a command but its program.
    static func masked(_ value: String, of path: String) -> String {
        if path == "speech.command" { return value.split(separator: " ").first.map { "\($0) …" } ?? "…" }
        guard let scheme = value.range(of: "://") else { return value }
        let rest = value[scheme.upperBound...].prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        return "\(value[..<scheme.upperBound])\(rest.split(separator: "@").last ?? "")/…"
    }
}
