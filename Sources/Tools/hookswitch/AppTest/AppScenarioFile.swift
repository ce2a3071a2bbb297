import Console
import Foundation
import Primitives
import Workbench
import Yams

/// A scenario of `hookswitch app` as a YAML file.
///
///     app: MyPhone
///     steps:
///       - far calls: 2001
///       - user answers
///       - expect: [session.activated, media.started, far hears sound]
///       - far hangs up
enum AppScenarioFile {
    private static let keys = ["name", "app", "line", "timeout", "steps"]

    /// - Throws: a `Failure` in one line with the file, the line and the step.
    static func read(_ file: String) throws -> AppScenario {
        let file = try file.named(by: "app")
        let root: Node?
        do throws(ConfigurationError) { root = try YAMLFile.root(of: file) } catch { throw Failure.usage(error.description) }
        guard case .mapping(let mapping) = root else { throw Failure.usage("\(file): is no scenario: a list as 'steps: [user answers]'") }
        do throws(ConfigurationError) { try mapping.refuseNull(in: file) } catch { throw Failure.usage(error.description) }
        var scenario = AppScenario(name: URL(filePath: file).deletingPathExtension().lastPathComponent)
        for (key, value) in mapping { try take(key, value, into: &scenario, file) }
        guard !scenario.steps.isEmpty else { throw Failure.usage("\(file): there are no steps") }
        return scenario
    }

    private static func take(_ key: Node, _ value: Node, into scenario: inout AppScenario, _ file: String) throws {
        let name = key.string ?? "", place = "\(file):\(key.mark?.line ?? 0)"
        switch name {
        case "name": scenario.name = try text(value, name, place)
        case "line": scenario.line = try text(value, name, place)
        case "app": scenario.app = try words(value, place)
        case "timeout":
            let text = try text(value, name, place)
            guard let seconds = Double(text) else { throw Failure.usage("\(place): 'timeout' takes seconds, got '\(text)'") }
            scenario.timeout = try inLine(place) { try Bounded.seconds(seconds, option: "'timeout'", in: 0.1...3_600) }
        case "steps": scenario.steps = try steps(value, file)
        default: throw Failure.usage("\(place): unknown setting '\(name)'\(SpellingSuggestion.hint(for: name, among: keys))")
        }
    }

    private static func text(_ node: Node, _ name: String, _ place: String) throws -> String {
        guard let text = node.string, !text.isEmpty else { throw Failure.usage("\(place): '\(name)' takes one value") }
        return text
    }

    /// `app: MyPhone --flag`, or a list where a word has spaces.
    private static func words(_ node: Node, _ place: String) throws -> [String] {
        let words = node.string.map { $0.split(separator: " ").map(String.init) } ?? node.sequence?.map { $0.string ?? "" } ?? []
        guard !words.isEmpty, !words.contains("") else { throw Failure.usage("\(place): 'app' is a program and its arguments") }
        return words
    }

    private static func steps(_ node: Node, _ file: String) throws -> [AppScenario.Step] {
        guard case .sequence(let sequence) = node else {
            throw Failure.usage("\(file):\(node.mark?.line ?? 0): steps are a list, as '- user answers'")
        }
        return try sequence.enumerated().map { index, node in
            let line = node.mark?.line ?? 0
            return try inLine("\(file):\(line): step \(index + 1)") { try step(node, line) }
        }
    }

    private static func step(_ node: Node, _ line: Int) throws -> AppScenario.Step {
        if let word = node.string { return AppScenario.Step(try AppStepReader(word, nil).act(), line: line, text: word) }
        guard case .mapping(let mapping) = node, mapping.count == 1, let (key, value) = mapping.first.map({ ($0.key.string, $0.value) }),
            let key
        else { throw Failure.usage("a step is words as 'user answers', or words with a value as 'far calls: 2001'") }
        return AppScenario.Step(try AppStepReader(key, value).act(), line: line, text: "\(key): \(written(value))")
    }

    /// In one line.
    private static func written(_ node: Node) -> String {
        switch node {
        case .scalar(let scalar): scalar.string
        case .sequence(let list): "[" + list.map(written).joined(separator: ", ") + "]"
        case .mapping(let mapping):
            "{ " + mapping.map { "\(written($0.key)): \(written($0.value))" }.joined(separator: ", ") + " }"
        case .alias: "…"
        }
    }

    /// A failure of `read` names the place.
    private static func inLine<Value>(_ place: String, _ read: () throws -> Value) throws -> Value {
        do { return try read() } catch let failure as Failure {
            throw Failure(message: "\(place): \(failure.message)", exitCode: failure.exitCode)
        }
    }
}
