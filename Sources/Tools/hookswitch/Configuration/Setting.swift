/// One setting: where it stands in the file, what it takes, what holds without it, and what it sets. The one table that the file, the
/// environment, the flags, the help text and the reference all read.
struct Setting: Sendable {
    /// Dotted, as `media.ports`.
    var path: String
    var takes: String
    var `default`: Default
    var help: String
    var apply: @Sendable (inout ServeConfiguration, SettingValue) throws -> Void

    /// The effect of a setting that nobody sets.
    enum Default: Equatable, Sendable {
        /// As it could be written.
        case value(String)
        /// Nothing that could be written: the effect in words.
        case unset(String)
        /// It must be given.
        case needed

        var text: String {
            switch self {
            case .value(let text), .unset(let text): text
            case .needed: "needed"
            }
        }
    }

    /// `HOOKSWITCH_MEDIA_PORTS` for `media.ports`.
    var environmentName: String {
        "HOOKSWITCH_" + path.uppercased().map { $0 == "." || $0 == "-" ? "_" : String($0) }.joined()
    }

    /// For the help: lines of up to 78 columns, for the parser that prints them knows no indents.
    var listing: String {
        var lines = ["  \(path) <\(takes)>"], row = "     "
        for word in "\(help) (default: \(`default`.text))".split(separator: " ") {
            if row.count + word.count > 77 { (lines, row) = (lines + [row], "     ") }
            row += " " + word
        }
        return (lines + [row]).joined(separator: "\n")
    }

    static let all: [Setting] = signalling + media + access + limits + lineFeatures + service + trace

    static func named(_ path: String) -> Setting? { all.first { $0.path == path } }

    /// Names of groups, as `sip`, `media` and `media.opus`.
    static let groups = Set(
        all.flatMap { setting in setting.path.indices.filter { setting.path[$0] == "." }.map { String(setting.path[..<$0]) } })
}
