/// A page of the reference, made from the tables in the code. `docs/reference` has a copy of each.
enum ReferencePage: String, CaseIterable, Sendable {
    case settings, lines, webhooks, flags, metrics, journal
    case exitCodes = "exit-codes"

    /// The page for man, which is no Markdown.
    static let manual = "manual"

    static let names = allCases.map(\.rawValue) + [manual]

    /// Whole, without a newline at its end.
    var markdown: String {
        get throws {
            let (title, introduction, sections) = try content
            return (["# \(title)", introduction] + sections + ["`scripts/docs --reference` makes this page from the source."])
                .joined(separator: "\n\n")
        }
    }

    private var content: (title: String, introduction: String, sections: [String]) {
        get throws {
            switch self {
            case .settings: ("Settings", Self.settingsIntroduction, Self.settingSections)
            case .lines: ("Keys of a line", Self.linesIntroduction, Self.lineSections)
            case .webhooks: ("Keys of a webhook", Self.webhooksIntroduction, Self.webhookSections)
            case .flags: ("Commands and flags", Self.flagsIntroduction, try Self.flagSections)
            case .metrics: ("Metrics", Self.metricsIntroduction, Self.metricSections)
            case .journal: ("Events of the journal", Self.journalIntroduction, Self.journalSections)
            case .exitCodes: ("Exit codes", Self.exitCodesIntroduction, Self.exitCodeSections)
            }
        }
    }
}

/// A table in Markdown.
struct MarkdownTable {
    private var rows: [String]

    init(_ heads: [String]) { rows = [Self.row(heads), "|" + String(repeating: "---|", count: heads.count)] }

    mutating func add(_ cells: [String]) { rows.append(Self.row(cells)) }

    var text: String { rows.joined(separator: "\n") }

    /// A `|` would end a cell, within a code span, too.
    private static func row(_ cells: [String]) -> String {
        "| " + cells.map { $0.replacing("|", with: "\\|") }.joined(separator: " | ") + " |"
    }
}

extension String {
    /// As a span of code.
    var code: String { "`\(self)`" }

    /// As a sentence begins.
    var capitalizedStart: String { prefix(1).uppercased() + dropFirst() }
}

extension Setting.Default {
    var markdown: String {
        switch self {
        case .value(let text): text.code
        case .unset, .needed: text
        }
    }
}
