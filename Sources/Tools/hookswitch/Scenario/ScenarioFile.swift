import ArgumentParser
import Console
import Foundation
import Workbench
import Yams

/// A load as a short YAML file: the options of `hookswitch load` by their names, and `steps` for what a call does.
///
///     target: sip:9196@127.0.0.1
///     rate: 10
///     calls: 100
///     steps:
///       - wait: 1
///       - press: 12#
///       - hold: 2
///     slo: setup_p95<200ms, failed<0.1%
enum ScenarioFile {
    /// Keys, and whether they are flags.
    private static let keys: [String: Bool] = [
        "target": false, "server": false, "transport": false, "ca": false, "tls-name": false, "certificate": false,
        "certificate-key": false, "srtp": false, "codec": false, "from": false, "accounts": false, "connect-rate": false, "password": false,
        "rate": false,
        "poisson": true,
        "ramp": false, "calls": false, "duration": false, "concurrent": false, "talk-time": false, "hold": false, "mix": false,
        "keys": false, "listen": false,
        "expect": false,
        "both-ends": true, "local": false, "answer-after": false, "timeout": false, "ports": false, "slo": false, "find-knee": true,
        "settle": false, "seed": false, "steps": false,
    ]

    /// Puts what the file of `--scenario` says before what was typed, which so goes before it.
    /// - Throws: a `Failure` in one line with the file, the line and the step.
    static func expand(_ arguments: [String]) throws -> [String] {
        guard arguments.first == "load", let file = path(in: arguments) else { return arguments }
        // A typed value goes before the file also where it has its old name.
        let isTyped = arguments.contains { $0 == "--hold" || $0.hasPrefix("--hold=") }
        let filed = try self.arguments(from: file).filter { !isTyped || !$0.hasPrefix("--talk-time=") }
        return ["load"] + filed + arguments.dropFirst()
    }

    private static func path(in arguments: [String]) -> String? {
        for (index, word) in arguments.enumerated() {
            if word == "--scenario", index + 1 < arguments.count { return arguments[index + 1] }
            if word.hasPrefix("--scenario=") { return String(word.dropFirst("--scenario=".count)) }
        }
        return nil
    }

    /// The file as options.
    static func arguments(from file: String) throws -> [String] {
        let file = try file.named(by: "--scenario")
        let root: Node?
        do throws(ConfigurationError) { root = try YAMLFile.root(of: file) } catch { throw Failure.usage(error.description) }
        guard case .mapping(let mapping) = root else { throw Failure.usage("\(file): is no scenario: a list of settings as 'rate: 10'") }
        do throws(ConfigurationError) { try mapping.refuseNull(in: file) } catch { throw Failure.usage(error.description) }
        return try mapping.flatMap { key, value in try option(key, value, file) }
    }

    private static func option(_ key: Node, _ value: Node, _ file: String) throws -> [String] {
        let name = key.string ?? "", place = "\(file):\(key.mark?.line ?? 0)"
        guard let isFlag = keys[name] else {
            throw Failure.usage("\(place): unknown setting '\(name)'\(SpellingSuggestion.hint(for: name, among: keys.keys))")
        }
        if name == "steps" { return ["--steps", try steps(value, file)] }
        let text = value.string ?? value.sequence?.map { $0.string ?? "" }.joined(separator: ",")
        guard let text else { throw Failure.usage("\(place): '\(name)' takes one value") }
        if isFlag {
            guard ["true", "false"].contains(text) else { throw Failure.usage("\(place): '\(name)' is true or false, got '\(text)'") }
            return text == "true" ? ["--" + name] : []
        }
        try check(name, text, place)
        return ["--\(name)=\(text)"]   // one word: a value may begin with a dash
    }

    /// Options that belong together: they are checked with all the others, as the other half may be typed.
    private static let halves: Set<String> = ["certificate", "certificate-key"]

    /// Each value alone, so that what is wrong with it has its line.
    private static func check(_ name: String, _ text: String, _ place: String) throws {
        guard !halves.contains(name) else { return }
        do {
            try LoadOptions.parse(["sip:9196@127.0.0.1", "--\(name)=\(text)"]).checkValues()
        } catch let failure as Failure {
            throw Failure(message: "\(place): \(failure.message)", exitCode: failure.exitCode)
        } catch { throw Failure.usage("\(place): \(LoadOptions.message(for: error))") }
    }

    private static func steps(_ node: Node, _ file: String) throws -> String {
        guard case .sequence(let sequence) = node else {
            throw Failure.usage("\(file):\(node.mark?.line ?? 0): steps are a list, as '- wait: 1'")
        }
        let steps = try sequence.enumerated().map { index, node in
            let place = "\(file):\(node.mark?.line ?? 0): step \(index + 1)"
            let text: String
            if let word = node.string {
                text = word
            } else if case .mapping(let mapping) = node, mapping.count == 1,
                let (key, value) = mapping.first.map({ ($0.key.string, $0.value.string) }), let key, let value
            {
                text = "\(key)=\(value)"
            } else {
                throw Failure.usage("\(place): a step is a word as 'reinvite', or one with its value as 'wait: 1'")
            }
            do { _ = try CallSteps.parse(text) } catch let failure as Failure { throw Failure.usage("\(place): \(failure.message)") }
            return text
        }.joined(separator: ",")
        do { _ = try CallSteps.parse(steps) } catch let failure as Failure {
            throw Failure.usage("\(file):\(node.mark?.line ?? 0): steps: \(failure.message)")
        }
        return steps
    }
}
