import ArgumentParser
import Console

struct Reference: ExplainedCommand {
    static let exits: KeyValuePairs<ExitStatus, String> = [.good: "the page is printed"]

    static let configuration = CommandConfiguration(
        abstract: "Print the reference: settings, keys of lines, flags, metrics, journal events, exit codes, or the manual page.",
        discussion: """
            Markdown, but for the page `manual`, which is for man. \(ExitStatus.sentence(exits))

            Examples:
              hookswitch reference settings
              hookswitch reference manual
            """)

    @Argument(
        help: ArgumentHelp("\(ReferencePage.names.joined(separator: ", ")).", valueName: "page"), completion: .list(ReferencePage.names))
    var page: String

    func run() throws { try StandardOutput.printExactly(try text()) }

    func text() throws -> String {
        if page == ReferencePage.manual { return try ManualPage().text }
        guard let known = ReferencePage(rawValue: page) else {
            throw Failure.usage(
                "there is no page '\(page)'\(SpellingSuggestion.hint(for: page, among: ReferencePage.names)) (see 'hookswitch reference --help')"
            )
        }
        return try known.markdown
    }
}
