import Console
import RTP
import Workbench

/// The value of `--steps`: `wait=1,press=12#,hold=2,reinvite,hang-up`.
enum CallSteps {
    private static let words = ["wait", "press", "hold", "resume", "reinvite", "hang-up"]

    /// After the last step the call hangs up.
    static func parse(_ text: String) throws -> [CallStep] {
        let steps = try text.split(separator: ",").flatMap { try step(String($0)) }
        guard !steps.isEmpty else { throw Failure.usage("there are no steps") }
        let presses = steps.indices.filter { if case .press = steps[$0] { true } else { false } }
        if presses.contains(where: { steps[..<$0].last { $0 == .hold || $0 == .resume } == .hold }) {
            throw Failure.usage("'press' between 'hold' and 'resume' presses nothing: no sound of ours leaves then")
        }
        return steps.last == .hangUp ? steps : steps + [.hangUp]
    }

    private static func step(_ text: String) throws -> [CallStep] {
        let parts = text.split(separator: "=", maxSplits: 1).map(String.init), word = parts.first ?? "",
            value = parts.count == 2 ? parts[1] : nil
        switch (word, value) {
        case ("wait", let value?): return [.wait(try seconds(value, word))]
        case ("hold", let value?):
            let time = try seconds(value, word)
            return [.hold, .wait(time), .resume]
        case ("press", let value?): return [.press(try keys(value))]
        case ("hold", nil): return [.hold]
        case ("resume", nil): return [.resume]
        case ("reinvite", nil): return [.reinvite]
        case ("hang-up", nil): return [.hangUp]
        case ("wait", nil), ("press", nil): throw Failure.usage("'\(word)' needs a value, as \(word == "wait" ? "wait: 1" : "press: 12#")")
        case _ where words.contains(word): throw Failure.usage("'\(word)' takes no value")
        default:
            throw Failure.usage(
                "unknown step '\(word)'\(SpellingSuggestion.hint(for: word, among: words)); there are \(words.joined(separator: ", "))")
        }
    }

    private static func seconds(_ text: String, _ word: String) throws -> Duration {
        guard let value = Double(text) else { throw Failure.usage("'\(word)' takes seconds, got '\(text)'") }
        return try Bounded.seconds(value, option: "'\(word)'", in: 0.01...86_400)
    }

    private static func keys(_ text: String) throws -> [DTMFDigit] {
        let digits = text.compactMap(DTMFDigit.init)
        guard (1...32).contains(digits.count), digits.count == text.count else {
            throw Failure.usage("'press' takes up to 32 keys of 0-9, *, # and A-D, got '\(text)'")
        }
        return digits
    }
}
