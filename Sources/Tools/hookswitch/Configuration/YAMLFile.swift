import CYaml   // of Yams, which names no product for it
import Yams

/// A file that is written as YAML, in one document.
enum YAMLFile {
    /// Values that the aliases of a document stand for.
    static let mostAliased = 1_000_000

    /// - Throws: with the file and, where it has one, the line.
    static func root(of file: String) throws(ConfigurationError) -> Node? {
        let text: String
        do throws(NamedFile.Unreadable) { text = try NamedFile.text(of: file) } catch {
            throw ConfigurationError(place: file, message: error.text)
        }
        // Before the nodes are made: those of a mapping are compared, each with all that is in it.
        if let line = lineOfTooMany(in: text) {
            throw ConfigurationError(place: "\(file):\(line)", message: "the aliases up to here stand for more than \(mostAliased) values")
        }
        do { return try Yams.compose(yaml: text) } catch { throw ConfigurationFile.syntaxError(error, file, text) }
    }

    /// The line of the alias that is too much; nil where there is none, or where the text is no YAML before that.
    private static func lineOfTooMany(in text: String) -> Int? {
        var text = text
        return text.withUTF8 { bytes -> Int? in
            // It points into itself.
            let parser = UnsafeMutablePointer<yaml_parser_t>.allocate(capacity: 1)
            defer { parser.deallocate() }
            guard yaml_parser_initialize(parser) == 1 else { return nil }
            defer { yaml_parser_delete(parser) }
            yaml_parser_set_input_string(parser, bytes.baseAddress, bytes.count)
            var aliases = AliasCount()
            while true {
                var event = yaml_event_t()
                guard yaml_parser_parse(parser, &event) == 1 else { return nil }
                defer { yaml_event_delete(&event) }
                if event.type == YAML_STREAM_END_EVENT { return nil }
                guard aliases.add(event) <= mostAliased else { return Int(event.start_mark.line) + 1 }
            }
        }
    }
}

/// Number of nodes that the aliases of a document stand for.
private struct AliasCount {
    private var aliased = 0
    /// With them.
    private var all = 0
    private var anchored: [String: Int] = [:]
    /// The anchors of what has begun, and how many nodes there were before.
    private var open: [(anchor: String?, before: Int)] = []

    /// - Returns: how many so far.
    mutating func add(_ event: yaml_event_t) -> Int {
        switch event.type {
        case YAML_ALIAS_EVENT: addAlias(Self.name(event.data.alias.anchor).flatMap { anchored[$0] } ?? 1)
        case YAML_SCALAR_EVENT: begin(event.data.scalar.anchor); end()
        case YAML_SEQUENCE_START_EVENT: begin(event.data.sequence_start.anchor)
        case YAML_MAPPING_START_EVENT: begin(event.data.mapping_start.anchor)
        case YAML_SEQUENCE_END_EVENT, YAML_MAPPING_END_EVENT: end()
        default: break
        }
        return aliased
    }

    private mutating func addAlias(_ nodes: Int) { (aliased, all) = (aliased + nodes, all + nodes) }

    private mutating func begin(_ anchor: UnsafeMutablePointer<yaml_char_t>?) {
        open.append((Self.name(anchor), all))
        all += 1
    }

    private mutating func end() {
        guard let begun = open.popLast(), let anchor = begun.anchor else { return }
        anchored[anchor] = all - begun.before
    }

    private static func name(_ anchor: UnsafeMutablePointer<yaml_char_t>?) -> String? { anchor.map { String(cString: $0) } }
}
