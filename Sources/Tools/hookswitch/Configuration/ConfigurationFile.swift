import Audio
import Console
import Foundation
import Gateway
import Glibc
import Primitives
import Yams

/// Reads the YAML file, the environment and the flags into one configuration; flag > environment > file > default.
struct ConfigurationFile {
    private var configuration = ServeConfiguration()
    /// Sound files that lines have named, each read once.
    private var sounds: [String: WAV] = [:]
    private var seenNumbers: [String: String] = [:]
    private var seenPaths: Set<String> = []
    /// Directories that lines enable, and where they say so.
    private var directoriesOfLines: [(name: String, place: String)] = []
    /// Lines that lines name.
    private var references: [LineReference] = []
    private var variables: FileVariables

    private init(_ environment: [String: String]) { variables = FileVariables(environment) }

    /// - Parameters:
    ///   - file: a path; nil: no file, and then lines are the fallback's.
    ///   - environment: what the file may name, and `HOOKSWITCH_…` variables; one of those that names no setting is an error, unless the
    ///     file names it, or an orchestrator or a script of ours sets it.
    ///   - flags: `key=value` pairs of `--set`; `--some-key=value` where a flag of that name was typed. Each setting once, as in the file.
    static func load(_ file: String?, environment: [String: String], flags: [String]) throws -> ServeConfiguration {
        var reader = ConfigurationFile(environment)
        if let file { try reader.read(file) } else { reader.configuration = .fallback }
        try reader.readEnvironment(environment)
        try reader.readFlags(flags)
        try reader.readFolder(replacingLines: file == nil)
        try reader.refuseUnknownVariables(environment)
        try reader.checkDirectories()
        try reader.checkReferences()
        reader.configuration.fillDefaults()
        try reader.configuration.check()
        return reader.configuration
    }

    private func checkDirectories() throws {
        let known = configuration.directories.map(\.name)
        for (name, place) in directoriesOfLines where !known.contains(name) {
            let there = known.isEmpty ? "; there are none (see directories.block and directories.identify)" : ""
            throw ConfigurationError(
                place: place, message: "no directory is named '\(name)'\(SpellingSuggestion.hint(for: name, among: known))\(there)")
        }
    }

    private func checkReferences() throws {
        let lines = Dictionary(configuration.gateway.lines.map { ($0.number, $0) }) { first, _ in first }
        for reference in references { try reference.check(among: lines) }
    }

    private mutating func read(_ file: String) throws {
        guard !file.isEmpty else { throw ConfigurationError(place: "--config", message: "takes a file, got ''") }
        guard let root = try YAMLFile.root(of: file) else { return }
        guard case .mapping(let mapping) = root else {
            throw ConfigurationError(place: file, message: "is not a list of settings as 'domain: example.test'")
        }
        try mapping.refuseNull(in: file)
        try walk(try mapping.expanding(&variables, in: file), prefix: "", file: file)
    }

    /// The lines of `lines-folder`, file by file in the order of their names.
    private mutating func readFolder(replacingLines: Bool) throws {
        guard let folder = configuration.linesFolder else { return }
        if replacingLines { configuration.gateway.lines = [] }
        guard let names = try? FileManager.default.contentsOfDirectory(atPath: folder) else {
            throw ConfigurationError(
                place: configuration.place(of: "lines-folder"), message: "the folder '\(folder)' cannot be read", kind: .environment)
        }
        for name in names.sorted() where !name.hasPrefix(".") && [".yaml", ".yml"].contains(where: name.hasSuffix) {
            try readLineFile(folder + "/" + name)
        }
    }

    /// A list of lines, or `lines:` with one.
    private mutating func readLineFile(_ file: String) throws {
        guard var root = try YAMLFile.root(of: file) else { return }
        if case .mapping(let mapping) = root {
            try mapping.refuseNull(in: file)
            try mapping.refuseUnknown(among: ["lines"]) { "\(file):\($0.mark?.line ?? 0): '\($0.string ?? "")': here are lines alone" }
            guard let lines = mapping[Node("lines")] else { return }
            root = lines
        } else if case .sequence(let sequence) = root {
            for case .mapping(let mapping) in sequence { try mapping.refuseNull(in: file) }
        }
        try readLines(try root.expanding(&variables, at: file, in: file), file)
    }

    /// - Parameter text: what was read.
    static func syntaxError(_ error: any Error, _ file: String, _ text: String) -> ConfigurationError {
        switch error as? YamlError {
        case .scanner(_, _, let mark, _) where isIndentedWithTab(mark.line, text):
            ConfigurationError(place: "\(file):\(mark.line)", message: "is no YAML: the line is indented with a tab; YAML takes spaces")
        case .composer(let context?, let problem, let mark, _):
            ConfigurationError(place: "\(file):\(mark.line)", message: "is no YAML: \(context.text) \(problem)")
        case .scanner(_, let problem, let mark, _), .parser(_, let problem, let mark, _), .composer(nil, let problem, let mark, _):
            ConfigurationError(place: "\(file):\(mark.line)", message: "is no YAML: \(problem)\(hint(mark.line, text))")
        case .duplicatedKeysInMapping(let keys, let context):
            ConfigurationError(place: "\(file):\(context.mark.line)", message: "'\(keys.first ?? "?")' is set twice")
        case .reader(let problem, let offset?, let value, _):
            ConfigurationError(
                place: "\(file):\(text.prefix(offset).count(where: \.isNewline) + 1)",
                message: "is no YAML: \(problem) (U+\(Text(String(value, radix: 16).uppercased())))")
        default: ConfigurationError(place: file, message: "is no YAML: \(error)")
        }
    }

    private static func isIndentedWithTab(_ line: Int, _ text: String) -> Bool {
        self.line(line, of: text).prefix { $0.isWhitespace }.contains("\t")
    }

    /// The braces of a variable without quotes end those that it stands in.
    private static func hint(_ line: Int, _ text: String) -> String {
        self.line(line, of: text).contains(/\{.*: *[^"' ]*\$\{/) ? "; within braces a ${NAME} stands in quotes, as \"${NAME}\"" : ""
    }

    /// - Parameter number: counts from 1.
    private static func line(_ number: Int, of text: String) -> Substring {
        let lines = text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
        return lines.indices.contains(number - 1) ? lines[number - 1] : ""
    }

    private mutating func walk(_ mapping: Node.Mapping, prefix: String, file: String) throws {
        for (key, node) in mapping {
            let place = "\(file):\(key.mark?.line ?? 0)"
            guard let name = key.string else { throw ConfigurationError(place: place, message: "a setting has a plain name as 'domain'") }
            let path = prefix + name
            if path == "lines" {
                try readLines(node, file)
            } else if path == "webhooks" {
                try readWebhooks(node, place)
            } else if let setting = Setting.named(path) {
                guard seenPaths.insert(path).inserted else { throw ConfigurationError(place: place, message: "'\(path)' is set twice") }
                try apply(setting, try value(of: node, place: "\(place): \(path)"))
            } else if Setting.groups.contains(path), case .mapping(let group) = node {
                try walk(group, prefix: path + ".", file: file)
            } else if Setting.groups.contains(path) {
                throw ConfigurationError(place: place, message: "'\(path)' is a group of settings")
            } else {
                throw unknown(path, place)
            }
        }
    }

    private func unknown(_ path: String, _ place: String) -> ConfigurationError {
        let siblings = Setting.all.map(\.path) + Setting.groups.map(\.self) + ["lines", "webhooks"]
        return ConfigurationError(place: place, message: "unknown setting '\(path)'\(SpellingSuggestion.hint(for: path, among: siblings))")
    }

    private func value(of node: Node, place: String) throws -> SettingValue {
        switch node {
        case .scalar(let scalar): return SettingValue(scalars: [scalar.string], place: place)
        case .sequence(let sequence):
            var scalars: [String] = []
            for element in sequence {
                guard let text = element.scalar?.string else {
                    throw ConfigurationError(place: place, message: "takes a list of plain values")
                }
                scalars.append(text)
            }
            return SettingValue(scalars: scalars, place: place, isList: true)
        case .mapping, .alias: throw ConfigurationError(place: place, message: "takes a plain value or a list")
        }
    }

    private mutating func readWebhooks(_ node: Node, _ place: String) throws {
        let file = place.split(separator: ":").dropLast().joined(separator: ":")
        guard case .sequence(let sequence) = node, sequence.count <= WebhookDeliveries.most else {
            throw ConfigurationError(place: place, message: "'webhooks' takes a list of up to \(WebhookDeliveries.most) webhooks")
        }
        configuration.webhooks = try sequence.map { try WebhookEntryReader(file: file).read($0) }
        configuration.places["webhooks"] = "\(place): webhooks"
        let names = configuration.webhooks.map(\.name)
        if let twice = names.indices.first(where: { names[..<$0].contains(names[$0]) }) {
            throw ConfigurationError(place: place, message: "two webhooks are named '\(names[twice])'")
        }
    }

    private mutating func readLines(_ node: Node, _ file: String) throws {
        guard case .sequence(let sequence) = node else {
            throw ConfigurationError(
                place: "\(file):\(node.mark?.line ?? 0)",
                message: "'lines' takes a list of lines as '- { number: \"1001\", password: secret }'")
        }
        for element in sequence {
            let place = "\(file):\(element.mark?.line ?? 0)"
            guard case .mapping(let mapping) = element else {
                throw ConfigurationError(place: place, message: "a line is written as { number: \"1001\", … }")
            }
            var reader = LineReader(file: file, place: place)
            reader.sounds = sounds
            let line = try reader.read(mapping)
            sounds = reader.sounds
            if let first = seenNumbers.updateValue(place, forKey: line.number.description) {
                throw ConfigurationError(place: place, message: "line \(line.number) is there already (\(first))")
            }
            configuration.places["line \(line.number)"] = "\(place): line \(line.number)"
            if reader.namesTimeZone { configuration.linesWithTimeZone.insert(configuration.gateway.lines.count) }
            references += reader.references
            directoriesOfLines += line.directories.map { ($0, reader.placeOfDirectories) }
            configuration.gateway.lines.append(line)
        }
    }

    /// Variables of our scripts and tests, which a server that they start may inherit.
    private static let otherVariables: Set<String> = [
        "HOOKSWITCH_BUILD", "HOOKSWITCH_CONTAINERS", "HOOKSWITCH_FIRST_SEED", "HOOKSWITCH_REHEARSALS", "HOOKSWITCH_SEED",
        "HOOKSWITCH_TEST_FUZZ",
        "HOOKSWITCH_TEST_IMAGE",
    ]

    /// Whether Kubernetes sets this name beside Services whose names begin with ours. A port of theirs is a URL, and not a number.
    private static func isOfService(_ name: String, _ text: String) -> Bool {
        let isOwnForm =
            name.wholeMatch(of: /HOOKSWITCH_(\w+_)?(SERVICE_HOST|SERVICE_PORT(_\w+)?|PORT_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?)/) != nil
        return isOwnForm || name.hasSuffix("_PORT") && text.contains("://")
    }

    private mutating func readEnvironment(_ environment: [String: String]) throws {
        for (name, text) in environment.sorted(by: { $0.key < $1.key }) where name.hasPrefix(Self.variablePrefix) {
            guard let setting = Setting.all.first(where: { $0.environmentName == name }) else { continue }
            try apply(setting, SettingValue(scalars: [text], place: "environment: \(name)"))
        }
    }

    /// Names of ours that are no setting, and that no file has used.
    private func refuseUnknownVariables(_ environment: [String: String]) throws {
        for (name, text) in environment.sorted(by: { $0.key < $1.key }) where name.hasPrefix(Self.variablePrefix) {
            guard !Self.otherVariables.contains(name), !variables.used.contains(name), !Self.isOfService(name, text),
                !Setting.all.contains(where: { $0.environmentName == name })
            else { continue }
            throw ConfigurationError(place: "environment", message: "unknown variable \(name)\(Self.advice(for: name))")
        }
    }

    private static let variablePrefix = "HOOKSWITCH_"

    private static func advice(for name: String) -> String {
        if name == "HOOKSWITCH_LINES" || name.wholeMatch(of: /HOOKSWITCH_LINES?_\d.*/) != nil {
            return ": lines are written in files (--config, or all of a folder by HOOKSWITCH_LINES_FOLDER), where ${NAME} takes a variable"
        }
        // Without what all have in common, by which they all are near.
        let own = Setting.all.map { String($0.environmentName.dropFirst(variablePrefix.count)) }
        let nearest = SpellingSuggestion.name(for: String(name.dropFirst(variablePrefix.count)), among: own)
        return nearest.map { " (did you mean '\(variablePrefix)\($0)'?)" } ?? ""
    }

    private mutating func readFlags(_ flags: [String]) throws {
        var seen: Set<String> = []
        for flag in flags {
            let parts = flag.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            guard parts.count == 2 else { throw ConfigurationError(place: "--set \(flag)", message: "is written as --set key=value") }
            let typed = parts[0].hasPrefix("--")
            guard let setting = typed ? SettingFlags.setting(parts[0]) : Setting.named(parts[0]) else {
                throw ConfigurationError(
                    place: "--set",
                    message: "unknown setting '\(parts[0])'\(SpellingSuggestion.hint(for: parts[0], among: Setting.all.map(\.path)))")
            }
            let place = typed ? parts[0] : "--set \(parts[0])"
            guard seen.insert(setting.path).inserted else {
                throw ConfigurationError(place: place, message: "is set twice; several values are one with commas")
            }
            try apply(setting, SettingValue(scalars: [parts[1]], place: place))
        }
    }

    private mutating func apply(_ setting: Setting, _ value: SettingValue) throws {
        try setting.apply(&configuration, value)
        configuration.places[setting.path] = value.place
        configuration.written[setting.path] = value.scalars
    }
}
