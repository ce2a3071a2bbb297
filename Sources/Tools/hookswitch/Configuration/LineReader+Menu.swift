import Console
import Gateway
import Primitives
import Yams

/// The `menu` of a line.
extension LineReader {
    private static let usage = "is written as { prompt: { say: \"…\" }, choices: { \"1\": { line: \"1001\" } } }"

    mutating func menu(_ node: Node, _ value: SettingValue) throws -> Menu {
        var levels: [Menu.Level] = []
        try readLevel(node, value, path: [], parent: nil, into: &levels)
        return Menu(levels)
    }

    /// - Parameter path: the keys that lead to it.
    private mutating func readLevel(
        _ node: Node, _ value: SettingValue, path: [String], parent: Int?, into levels: inout [Menu.Level]
    ) throws {
        guard case .mapping(let mapping) = node else { throw value.fail(Self.usage) }
        try mapping.refuseUnknown(among: LineKey.names(in: "menu")) { item($0, "menu", node).place }
        guard let first = mapping.first(where: { $0.key.string == "prompt" }) else { throw value.fail("needs a 'prompt'") }
        var level = Menu.Level(prompt: try prompt(first.value, item(first.key, "menu", first.value)))
        (level.path, level.parent) = (Text(path.joined(separator: " ")), parent)
        let index = levels.count
        levels.append(level)
        for (key, node) in mapping {
            let setting = item(key, "menu", node)
            if key.string == "choices" {
                level.choices = try choices(node, setting, path: path, of: index, into: &levels)
            } else {
                try apply(key.string ?? "", setting, node, to: &level)
            }
        }
        guard !level.choices.isEmpty else { throw value.fail("needs 'choices'") }
        levels[index] = level
    }

    private mutating func apply(_ name: String, _ value: SettingValue, _ node: Node, to level: inout Menu.Level) throws {
        switch name {
        case "greeting": level.greeting = try prompt(node, value)
        case "prompt": break
        case "invalid": level.invalid = try prompt(node, value)
        case "unavailable": level.unavailable = try prompt(node, value)
        case "timeout": level.timeout = try value.duration(1...60)
        case "digit-timeout": level.digitTimeout = try value.duration(0.5...30)
        case "retries": level.retries = try value.integer(0...10)
        case "barge-in": level.bargesIn = try value.flag
        case "otherwise": level.otherwise = try lastChoice(node, value)
        default: preconditionFailure("a key of the table without its case: menu.\(name)")
        }
    }

    /// A choice that does not lead back.
    mutating func lastChoice(_ node: Node, _ value: SettingValue) throws -> Menu.Choice {
        var none: [Menu.Level] = []
        let choice = try choice(node, value, path: [], of: 0, into: &none)
        switch choice {
        case .again, .back, .level: throw value.fail("would play prompts for ever: it takes hang-up, hook, a line, a trunk or a mailbox")
        case .call, .trunk, .mailbox, .hangUp, .hook: return choice
        }
    }

    /// A file, or a text that is spoken.
    mutating func prompt(_ node: Node, _ value: SettingValue) throws -> Menu.Prompt {
        if node.scalar != nil { return .sound(try readSound(value)) }
        guard case .mapping(let mapping) = node, mapping.count == 1, let (key, text) = mapping.first.map({ ($0.key, $0.value) }) else {
            throw value.fail("takes a file, or { say: \"…\" }")
        }
        let item = SettingValue(
            scalars: [text.scalar?.string ?? ""], place: "\(file):\(key.mark?.line ?? 0): \(Self.name(of: value)).\(key.string ?? "")")
        try mapping.refuseUnknown(among: LineKey.names(in: "menu.prompt")) { _ in item.place }
        guard key.string == "say" else { return .sound(try readSound(item)) }
        let words = try item.text
        guard words.utf8.count <= 2_000 else { throw item.fail("takes a text of at most 2000 bytes") }
        return .text(words)
    }

    /// `menu.prompt` of `file:3: menu.prompt`.
    private static func name(of value: SettingValue) -> String { value.place.split(separator: " ").last.map(String.init) ?? "" }

    // MARK: Choices

    private mutating func choices(
        _ node: Node, _ value: SettingValue, path: [String], of level: Int, into levels: inout [Menu.Level]
    ) throws -> [Text: Menu.Choice] {
        guard case .mapping(let mapping) = node, !mapping.isEmpty else { throw value.fail("takes digits as { \"1\": { line: \"1001\" } }") }
        var found: [Text: Menu.Choice] = [:]
        for (key, entry) in mapping {
            let digits = key.string ?? "", setting = item(key, "menu.choices", entry)
            guard (1...8).contains(digits.count), digits.allSatisfy({ "0123456789*#".contains($0) }) else {
                throw setting.fail("is named by the digits that are pressed, as \"1\", \"12\" or \"#\"")
            }
            found[Text(digits)] = try choice(entry, setting, path: path + [digits], of: level, into: &levels)
        }
        return found
    }

    private static let words: [(String, Menu.Choice)] = [("hang-up", .hangUp), ("repeat", .again), ("back", .back), ("hook", .hook)]

    private mutating func choice(
        _ node: Node, _ value: SettingValue, path: [String], of level: Int, into levels: inout [Menu.Level]
    ) throws -> Menu.Choice {
        if node.scalar != nil {
            let word = try value.oneOf(Self.words.map(\.0))
            if word == "back", level == 0 { throw value.fail("leads back from the first level; 'repeat' plays its prompt again") }
            return Self.words.first { $0.0 == word }?.1 ?? .hangUp
        }
        guard case .mapping(let mapping) = node else { throw value.fail("takes hang-up, repeat, back, hook or { line: \"1001\" }") }
        try mapping.refuseUnknown(among: LineKey.names(in: "menu.choices")) { item($0, "menu.choices", node).place }
        if mapping.count == 2, let trunk = mapping.first(where: { $0.key.string == "trunk" }),
            let number = mapping.first(where: { $0.key.string == "number" })
        {
            let line = refer(trunk.key, trunk.value, .trunk)
            return .trunk(line, number: Text(try item(number.key, "menu.choices", number.value).text))
        }
        guard mapping.count == 1, let (key, entry) = mapping.first.map({ ($0.key, $0.value) }) else {
            throw value.fail("takes one of line, mailbox, menu, and trunk with its number")
        }
        switch key.string {
        case "line": return .call(refer(key, entry, .line))
        case "mailbox": return .mailbox(refer(key, entry, .mailbox))
        case "menu":
            let index = levels.count
            try readLevel(entry, item(key, "menu.choices", entry), path: path, parent: level, into: &levels)
            return .level(index)
        default: throw value.fail("takes a trunk and a number as { trunk: carrier, number: \"+3906\" }")
        }
    }

    /// The line that is named there; whether it is one is known when all have been read.
    private mutating func refer(_ key: Node, _ node: Node, _ kind: LineReference.Kind) -> Text {
        let number = Text(node.scalar?.string ?? "")
        references.append(LineReference(number: number, kind: kind, place: item(key, "menu.choices", node).place, line: nil))
        return number
    }
}

/// A line that another one names, and where.
struct LineReference {
    enum Kind { case line, mailbox, trunk, member, owner }

    let number: Text
    let kind: Kind
    let place: String
    /// The line that names it.
    var line: Text?

    /// - Throws: why it is not such a line.
    func check(among lines: [Text: LineConfiguration]) throws {
        guard let found = lines[number] else {
            let others = lines.keys.filter { $0 != line }.map(\.description)
            throw fail("\(number) is no line\(SpellingSuggestion.hint(for: number.description, among: others))")
        }
        guard number != line || kind == .owner else { throw fail("names its own line; 'repeat' plays a prompt again") }
        switch (kind, found.endpoint) {
        case (.trunk, .trunk), (.member, .devices), (.member, .trunk), (.owner, .devices): break
        case (.trunk, _): throw fail("line \(number) is no trunk")
        case (.member, _): throw fail("line \(number) has no devices and is no trunk")
        case (.owner, _): throw fail("line \(number) has no devices")
        case (.mailbox, .application(let application)) where application.name == "record": break
        case (.mailbox, _): throw fail("line \(number) takes no messages; a mailbox is a line with 'application: record'")
        case (.line, .trunk): throw fail("line \(number) is a trunk: { trunk: \(number), number: … }")
        case (.line, _): break
        }
    }

    private func fail(_ message: String) -> ConfigurationError { ConfigurationError(place: place, message: message) }
}
