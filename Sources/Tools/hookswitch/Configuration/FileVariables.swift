import Console
import Yams

/// The environment, as the values of a configuration file name it: `${NAME}`, and `${NAME:-default}` where it may be unset or empty.
/// `$${` stands for the text `${`; any other `$` is itself.
struct FileVariables {
    private let environment: [String: String]
    /// The names that a file has used; they are no settings, whatever they begin with.
    private(set) var used: Set<String> = []

    init(_ environment: [String: String]) { self.environment = environment }

    /// - Throws: what is wrong with a reference, without the value of any variable.
    mutating func expand(_ text: String, at place: String) throws(ConfigurationError) -> String {
        var expanded = "", rest = Substring(text)
        while let dollar = rest.firstIndex(of: "$") {
            expanded += rest[..<dollar]
            rest = rest[dollar...]
            if rest.hasPrefix("$${") {
                expanded += "${"
                rest = rest.dropFirst(3)
            } else if rest.hasPrefix("${") {
                guard let end = rest.firstIndex(of: "}") else { throw Self.malformed(rest, place) }
                expanded += try value(of: rest[...end], place)
                rest = rest[end...].dropFirst()
            } else {
                expanded += "$"
                rest = rest.dropFirst()
            }
        }
        return expanded + rest
    }

    /// - Parameter reference: from `${` to `}`.
    private mutating func value(of reference: Substring, _ place: String) throws(ConfigurationError) -> String {
        guard let match = reference.wholeMatch(of: /\$\{([A-Za-z_][A-Za-z0-9_]*)(:-(.*))?\}/.dotMatchesNewlines()) else {
            throw Self.malformed(reference, place)
        }
        let name = String(match.1)
        used.insert(name)
        if let fallback = match.3 { return environment[name].flatMap { $0.isEmpty ? nil : $0 } ?? String(fallback) }
        if let value = environment[name] { return value }
        let hint = SpellingSuggestion.hint(for: name, among: environment.keys.sorted(), within: name.count / 4)
        throw ConfigurationError(
            place: place, message: "the variable \(name) is not set\(hint); ${\(name):-text} says what holds without it")
    }

    private static func malformed(_ reference: Substring, _ place: String) -> ConfigurationError {
        ConfigurationError(
            place: place, message: "'\(reference)' names no variable: write ${NAME} or ${NAME:-default}, and $${ for the text ${")
    }
}

extension Node {
    /// With the variables that its values name; names of settings stay as they are.
    ///
    /// - Parameter place: of the node, as `hookswitch.yaml:12: password`.
    func expanding(_ variables: inout FileVariables, at place: String, in file: String) throws(ConfigurationError) -> Node {
        switch self {
        case .scalar(var scalar):
            guard scalar.string.contains("$") else { return self }
            scalar.string = try variables.expand(scalar.string, at: place)
            return .scalar(scalar)
        case .sequence(var sequence):
            for index in sequence.indices { sequence[index] = try sequence[index].expanding(&variables, at: place, in: file) }
            return .sequence(sequence)
        case .mapping(let mapping): return .mapping(try mapping.expanding(&variables, in: file))
        case .alias: return self
        }
    }
}

extension Node.Mapping {
    func expanding(_ variables: inout FileVariables, in file: String) throws(ConfigurationError) -> Node.Mapping {
        var pairs: [(Node, Node)] = []
        for (key, node) in self {
            let place = "\(file):\(node.mark?.line ?? key.mark?.line ?? 0): \(key.string ?? "")"
            pairs.append((key, try node.expanding(&variables, at: place, in: file)))
        }
        return Node.Mapping(pairs, tag, style, mark)
    }
}
