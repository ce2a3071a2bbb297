import CallJournal
import Console
import Foundation
import RTP
import Workbench
import Yams

/// Reads one step of a scenario: its words, and its value.
struct AppStepReader {
    private let words: String
    private let value: Node?

    init(_ words: String, _ value: Node?) { (self.words, self.value) = (words, value) }

    private static let all = [
        "far calls", "far answers", "far refuses", "far holds", "far resumes", "far presses", "far hangs up", "far goes away",
        "user dials", "user answers", "user ends and answers", "user declines", "user hangs up", "user holds", "user resumes",
        "user mutes", "user unmutes", "user presses", "user joins", "push", "wait", "from here", "expect", "expect no",
    ]

    func act() throws -> AppScenario.Act {
        switch words {
        case "push": return .push(try json(required("push: { caller: \"2001\" }")))
        case "wait": return .wait(try seconds(required("wait: 1")))
        case "from here":
            try refuseValue()
            return .fromHere
        case "expect": return .expect(try expectations(required("expect: media.started")))
        case "expect no": return .expectNone(try expectations(required("expect no: media.started")))
        default: return try words.hasPrefix("far ") ? far() : user()
        }
    }

    // MARK: The far end

    private func far() throws -> AppScenario.Act {
        switch words {
        case "far calls": return try invite(required("far calls: 2001"))
        case "far answers": return .far(.answer, call: try call())
        case "far holds": return .far(.hold, call: try call())
        case "far resumes": return .far(.resume, call: try call())
        case "far hangs up": return .far(.hangUp, call: try call())
        case "far goes away":
            try refuseValue()
            return .far(.goAway, call: nil)
        case "far refuses":
            let (text, call) = try named("status", in: required("far refuses: 486"))
            guard let status = Int(text), (300...699).contains(status) else {
                throw Failure.usage("'far refuses' takes a status from 300 to 699, got '\(text)'")
            }
            return .far(.refuse(status), call: call)
        case "far presses":
            let (keys, call) = try named("keys", in: required("far presses: 12#"))
            return .far(.press(try digits(keys)), call: call)
        default: throw unknown
        }
    }

    private func invite(_ value: Node) throws -> AppScenario.Act {
        if let from = value.string { return .far(.call(from: try number(from), name: nil, push: nil), call: nil) }
        let fields = try fields(of: value, among: ["from", "name", "push"])
        guard let from = fields["from"]?.string else { throw Failure.usage("'far calls' needs a number, as { from: \"2001\" }") }
        let push = try fields["push"].map(json)
        return .far(.call(from: try number(from), name: fields["name"]?.string, push: push), call: nil)
    }

    private func number(_ text: String) throws -> String {
        guard !text.isEmpty, text.allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber || "+-_.".contains($0)) }) else {
            throw Failure.usage("a number is of digits, letters, + - _ and ., got '\(text)'")
        }
        return text
    }

    // MARK: The user

    private func user() throws -> AppScenario.Act {
        switch words {
        case "user dials":
            guard let target = try required("user dials: 2002").string else { throw Failure.usage("'user dials' takes one number") }
            return .user(.dial(target), call: nil)
        case "user answers": return .user(.answer(endsOthers: false), call: try call())
        case "user ends and answers": return .user(.answer(endsOthers: true), call: try call())
        case "user declines", "user hangs up": return .user(.hangUp, call: try call())
        case "user holds": return .user(.hold(true), call: try call())
        case "user resumes": return .user(.hold(false), call: try call())
        case "user mutes": return .user(.mute(true), call: try call())
        case "user unmutes": return .user(.mute(false), call: try call())
        case "user presses":
            let (keys, call) = try named("keys", in: required("user presses: 12#"))
            return .user(.press(try digits(keys).map(\.description).joined()), call: call)
        case "user joins":
            let (other, call) = try named("with", in: required("user joins: { call: \"2002\", with: \"2001\" }"))
            return .user(.join(with: other), call: call)
        default: throw unknown
        }
    }

    private var unknown: Failure {
        .usage(
            "unknown step '\(words)'\(SpellingSuggestion.hint(for: words, among: Self.all)); there are \(Self.all.joined(separator: ", "))")
    }

    // MARK: Values

    private func required(_ example: String) throws -> Node {
        guard let value else { throw Failure.usage("'\(words)' needs a value, as \(example)") }
        return value
    }

    private func refuseValue() throws { if value != nil { throw Failure.usage("'\(words)' takes no value") } }

    /// `user answers: 2001`, or nothing for the newest call.
    private func call() throws -> String? {
        guard let value else { return nil }
        guard let call = value.string else { throw Failure.usage("'\(words)' takes the number of a call, as '\(words): 2001'") }
        return call
    }

    /// `far refuses: 486`, or `{ status: 486, call: "2001" }`.
    private func named(_ name: String, in value: Node) throws -> (String, call: String?) {
        if let text = value.string { return (text, nil) }
        let fields = try fields(of: value, among: [name, "call"])
        guard let text = fields[name]?.string else { throw Failure.usage("'\(words)' needs '\(name)'") }
        return (text, fields["call"]?.string)
    }

    private func fields(of value: Node, among names: [String]) throws -> [String: Node] {
        guard case .mapping(let mapping) = value else {
            throw Failure.usage("'\(words)' takes a value, or \(names.joined(separator: ", "))")
        }
        return try mapping.reduce(into: [:]) { fields, field in
            let name = field.key.string ?? ""
            guard names.contains(name) else {
                throw Failure.usage("'\(words)' has no '\(name)'\(SpellingSuggestion.hint(for: name, among: names))")
            }
            fields[name] = field.value
        }
    }

    private func seconds(_ value: Node) throws -> Duration {
        guard let text = value.string, let seconds = Double(text) else {
            throw Failure.usage("'wait' takes seconds, got '\(value.string ?? "a list")'")
        }
        return try Bounded.seconds(seconds, option: "'wait'", in: 0.001...3_600)
    }

    private func digits(_ text: String) throws -> [DTMFDigit] {
        let digits = text.compactMap(DTMFDigit.init)
        guard (1...32).contains(digits.count), digits.count == text.count else {
            throw Failure.usage("'\(words)' takes up to 32 keys of 0-9, *, # and A-D, got '\(text)'")
        }
        return digits
    }

    private func json(_ value: Node) throws -> String {
        guard case .mapping = value, let object = value.plain as? [String: Any],
            let data = try? JSONSerialization.data(withJSONObject: object, options: [.sortedKeys])
        else { throw Failure.usage("a push is a list of values, as { caller: \"2001\" }") }
        return String(decoding: data, as: UTF8.self)
    }

    private func expectations(_ value: Node) throws -> [AppExpectation] {
        let texts = value.string.map { [$0] } ?? value.sequence?.map { $0.string ?? "" } ?? []
        guard !texts.isEmpty else { throw Failure.usage("'\(words)' takes an event, or a list of them") }
        return try texts.map(expectation)
    }

    private func expectation(_ text: String) throws -> AppExpectation {
        let expectation = AppExpectation(text), known = AppExpectation.notes + AppExpectation.far
        guard let first = expectation.words.first else { throw Failure.usage("'\(words)' takes an event, or a list of them") }
        if JournalEvent.Kind(rawValue: first) != nil { return expectation }
        let isKnown = known.contains { known in
            zip(known.split(separator: " "), expectation.words).allSatisfy { $0 == $1 }
        }
        guard !isKnown else { return expectation }
        let kinds = JournalEvent.Kind.allCases.map(\.rawValue)
        throw Failure.usage(
            "there is no event '\(text)'\(SpellingSuggestion.hint(for: known.contains { $0.hasPrefix(first) } ? text : first, among: kinds + known))"
        )
    }
}

extension Node {
    /// As JSON has it: text, lists and objects.
    fileprivate var plain: Any {
        switch self {
        case .scalar(let scalar): scalar.string
        case .sequence(let list): list.map(\.plain)
        case .mapping(let mapping): Dictionary(mapping.map { ($0.key.string ?? "", $0.value.plain) }) { $1 }
        case .alias: ""
        }
    }
}
