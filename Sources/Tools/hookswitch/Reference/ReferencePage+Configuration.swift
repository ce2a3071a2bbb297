extension ReferencePage {
    static let settingsIntroduction = """
        The settings of `hookswitch serve`, `check` and `doctor`, with their defaults.

        A setting stands in the file (`media: { ports: 20000-20099 }`, or
        `media.ports: 20000-20099`), and is a flag (`--media-ports 20000-20099`, or `--set media.ports=20000-20099`) and a variable
        (`HOOKSWITCH_MEDIA_PORTS`). A flag beats a variable, a variable beats the file, and the file beats the default. Several values are a list in
        the file, and stand behind commas elsewhere. `lines` and `webhooks` stand in the file alone: see [the keys of a line](lines.md) and [of a webhook](webhooks.md).
        """

    static var settingSections: [String] {
        sections(Setting.all.map { Row(path: $0.path, takes: $0.takes, default: $0.default, help: $0.help) })
    }

    static let linesIntroduction = """
        The keys of an entry of `lines` in the configuration file, with their defaults.

        A dotted key is written in the braces of the one before the dot:
        `trunk.host` is `trunk: { host: sip.example.test }`. Without `application`, `trunk`, `group` and `script` a line is for the devices that
        register with it, and needs a `password` or `open: true`. Without a configuration file there are the lines 1001 to 1009, which are open,
        an echo at 9196 and a tone at 9197.
        """

    static let webhooksIntroduction = """
        The keys of an entry of `webhooks` in the configuration file, with their defaults.

        [Events over HTTP](../guides/webhooks.md) says what they do.
        """

    static var webhookSections: [String] {
        sections(LineKey.webhook.map { Row(path: $0.path, takes: $0.takes, default: $0.default, help: $0.help) })
    }

    static var lineSections: [String] {
        sections(LineKey.all.map { Row(path: $0.path, takes: $0.takes, default: $0.default, help: $0.help) })
    }

    private struct Row {
        var path: String, takes: String, `default`: Setting.Default, help: String

        /// The first part of a dotted path.
        var group: String { String(path.prefix { $0 != "." }) }
    }

    /// A table for each group; what is in none comes first.
    private static func sections(_ rows: [Row]) -> [String] {
        let groups = rows.map(\.group).reduce(into: [String]()) { if !$0.contains($1) { $0.append($1) } }
        let alone = groups.filter { group in rows.filter { $0.group == group }.count == 1 }
        let tables =
            [("General", rows.filter { alone.contains($0.group) })]
            + groups.filter { !alone.contains($0) }.map { group in (group, rows.filter { $0.group == group }) }
        return tables.map { title, rows in "## \(title)\n\n\(table(rows))" }
    }

    private static func table(_ rows: [Row]) -> String {
        var table = MarkdownTable(["name", "takes", "default", "meaning"])
        for row in rows { table.add([row.path.code, row.takes.code, row.default.markdown, row.help]) }
        return table.text
    }
}
