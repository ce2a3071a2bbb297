import Foundation
import Testing

/// How large a type and a function may become before they are cut.
@Suite struct SizeTests {
    private static let mostFiles = 8, mostLines = 40, mostProperties = 30

    /// Types of more files, with the reason. A new one is cut instead; one that has shrunk leaves this table.
    private static let wideTypes: [String: (files: Int, reason: String)] = [
        "CallJournal.JournalEvent": (12, "tables of kinds, keys, meanings and checks, one file each"),
        "UserAgent.UserAgent": (9, "one file for each kind of request"),
        "UserAgent.InviteSession": (10, "one file for each request within a dialog"),
        "Media.MediaLeg": (9, "laid out for the cache: its state is not split"),
        "SIP.Message": (10, "one file for each group of headers"),
    ]

    private struct SourceFile {
        var target: String, name: String, lines: [Substring]
    }

    private static let sources: [SourceFile] = HouseTests.targets.flatMap { target in
        let found = FileManager.default.enumerator(at: HouseTests.folder(of: target), includingPropertiesForKeys: nil)
        let files = (found?.compactMap { $0 as? URL } ?? []).filter { $0.pathExtension == "swift" }
        return files.map { file in
            let text = (try? String(contentsOf: file, encoding: .utf8)) ?? ""
            return SourceFile(
                target: target, name: file.lastPathComponent, lines: text.split(separator: "\n", omittingEmptySubsequences: false))
        }
    }

    @Test func `a type has eight files at most`() {
        var files: [String: Set<String>] = [:]
        for source in Self.sources {
            for line in source.lines where !line.hasPrefix(" ") && line.contains("{") {
                guard let match = line.firstMatch(of: /^(?:[a-z@][A-Za-z()]* )*(?:class|struct|enum|extension|actor) ([A-Z][A-Za-z]*)/)
                else {
                    continue
                }
                files["\(source.target).\(match.1)", default: []].insert(source.name)
            }
        }
        #expect(files.count > 500, "the types are found")
        let wide = files.filter { $0.value.count > Self.mostFiles }.mapValues(\.count)
        for (name, count) in wide {
            #expect(count <= Self.wideTypes[name]?.files ?? Self.mostFiles, "\(name) is in \(count) files: \(files[name]?.sorted() ?? [])")
        }
        #expect(Set(Self.wideTypes.keys) == Set(wide.keys), "each that the table names is still so wide")
    }

    @Test func `a function has forty lines at most, unless it is one switch`() {
        var count = 0, long: Set<String> = []
        for source in Self.sources {
            for (index, line) in source.lines.enumerated() where line.contains("func ") || line.contains("init") {
                guard let match = line.firstMatch(of: /^( *)(?:[a-z@][A-Za-z()]* )*(func [A-Za-z]+|init)[<(?]/),
                    let body = Self.body(from: index, indent: match.1.count, of: source.lines)
                else { continue }
                count += 1
                let isSwitch = body.prefix { !$0.contains("switch ") }.count <= 4 && body.contains { $0.contains("switch ") }
                let name = match.2.split(separator: " ").last.map(String.init) ?? ""
                if body.count + 2 > Self.mostLines, !isSwitch { long.insert("\(source.target)/\(source.name): \(name)") }
            }
        }
        #expect(count > 1_000, "functions are found: \(count)")
        #expect(long.isEmpty, "cut them")
    }

    @Test func `a type has thirty stored properties at most`() {
        var properties: [String: Int] = [:]
        for source in Self.sources { properties.merge(Self.storedProperties(in: source), uniquingKeysWith: +) }
        #expect(properties["Media.MediaLeg"] ?? 0 > 20 && properties.count > 800, "properties are found: \(properties.count) types")
        for (name, count) in properties where count > Self.mostProperties {
            Issue.record("\(name) has \(count): put those that belong together into values of their own")
        }
    }

    /// How many each type has; a nested type has its path for its name.
    private static func storedProperties(in source: SourceFile) -> [String: Int] {
        var found: [String: Int] = [:], open: [(indent: Int, name: String)] = []
        for (index, line) in source.lines.enumerated() {
            let indent = line.prefix { $0 == " " }.count
            if line.dropFirst(indent).hasPrefix("}") {
                open.removeAll { $0.indent >= indent }
            } else if line.hasSuffix("{"),
                let match = line.firstMatch(of: /^ *(?:[a-z@][A-Za-z()]* )*(?:class|struct|enum|extension|actor) ([A-Z][A-Za-z.]*)/)
            {
                open.append((indent, String(match.1)))
            } else if indent == (open.last?.indent ?? .max - 4) + 4, let count = storedProperties(at: index, of: source.lines) {
                found["\(source.target).\(open.map(\.name).joined(separator: "."))", default: 0] += count
            }
        }
        return found
    }

    /// How many a line declares; nil for any other line, and for computed and static properties.
    private static func storedProperties(at index: Int, of lines: [Substring]) -> Int? {
        guard let match = lines[index].firstMatch(of: /^ *(?:@.*\) |[a-z@][A-Za-z()]* )*(?:var|let) (.*)$/),
            !lines[index].contains("static ")
        else { return nil }
        var declaration = String(match.1.prefix(upTo: match.1.firstRange(of: " //")?.lowerBound ?? match.1.endIndex)), next = index + 1
        while declaration.hasSuffix(",") {
            declaration += lines[next]
            next += 1
        }
        if let brace = declaration.firstIndex(of: "{"), !declaration[..<brace].contains("=") {
            let body = declaration.hasSuffix("{") ? lines[next] : declaration[brace...]
            guard body.contains("didSet") || body.contains("willSet") else { return nil }
        }
        return names(in: declaration)
    }

    /// One more than the commas that are outside of brackets and quotation marks.
    private static func names(in declaration: String) -> Int {
        var names = 1, depth = 0, isQuoted = false, before: Character = " "
        for character in declaration {
            switch character {
            case "\"": isQuoted.toggle()
            case _ where isQuoted: break
            case "(", "[", "{": depth += 1
            case "<" where before != " ": depth += 1
            case ")", "]", "}": depth -= 1
            case ">" where !" -=".contains(before): depth -= 1
            case "," where depth == 0: names += 1
            default: break
            }
            before = character
        }
        return names
    }

    /// The lines between the braces of a declaration; nil where it has none, or all of it stands on one line.
    private static func body(from start: Int, indent: Int, of lines: [Substring]) -> ArraySlice<Substring>? {
        let margin = String(repeating: " ", count: indent)
        var opening = start
        while opening < lines.count, !lines[opening].hasSuffix("{") {
            // A requirement of a protocol has no body: the next line is not indented further.
            let isOpenList = lines[opening].filter { $0 == "(" }.count > lines[opening].filter { $0 == ")" }.count
            guard isOpenList || lines[opening].hasPrefix(margin + "    ") || opening == start && lines[start].hasSuffix("(") else {
                return nil
            }
            opening += 1
        }
        guard opening < lines.count else { return nil }
        guard let end = lines[(opening + 1)...].firstIndex(where: { $0 == margin + "}" }) else { return nil }
        return lines[(opening + 1)..<end]
    }
}
