import CallJournal
import Primitives

/// The outcome of one scenario.
package struct AppTestResult: Encodable, Sendable {
    /// Something that is not as the scenario wants it.
    package struct Failure: Encodable, Sendable {
        /// The line of the step in the file; nil: of no step.
        package var line: Int?
        package var step: String?
        package var message: String

        package init(_ message: String, line: Int? = nil, step: String? = nil) {
            (self.message, self.line, self.step) = (message, line, step)
        }
    }

    /// One line of the timeline.
    package struct Event: Encodable, Sendable {
        /// Since the first one.
        package var ms: Double
        /// `app`, `far` or `step`.
        package var source: String
        /// The far end's number of the call.
        package var call: String?
        package var event: String
    }

    package var file: String
    package var name: String
    package var passed: Bool { failures.isEmpty }
    package var failures: [Failure] = []
    /// Rules that the app broke are failures, too; advice is none.
    package var violations: [String] = [], advice: [String] = []
    /// Steps that the app asked its line for at a wrong time.
    package var refusals = 0
    package var seconds = 0.0
    /// In which order `perform`, the SIP answer, `didActivate` and media came.
    package var order: [AppTimeline.Order] = []
    package var timeline: [Event] = []

    package init(file: String, name: String) { (self.file, self.name) = (file, name) }

    /// Takes over what is known at the end.
    package mutating func take(_ timeline: AppTimeline) {
        (violations, advice, order) = (timeline.violations, timeline.advice, timeline.orders)
        failures += violations.map { Failure("the audit: \($0)") }
        let sorted = timeline.entries.enumerated().sorted { ($0.element.time, $0.offset) < ($1.element.time, $1.offset) }.map(\.element)
        guard let began = sorted.first?.time else { return }
        self.timeline = sorted.map { entry in
            let elapsed = (entry.time - began).wholeNanoseconds
            return Event(
                ms: Double(elapsed / 1_000) / 1_000, source: entry.source.rawValue, call: timeline.number(of: entry), event: entry.text)
        }
        seconds = self.timeline.last.map { $0.ms / 1_000 } ?? 0
    }

    private enum CodingKeys: String, CodingKey {
        case file, name, passed, failures, violations, advice, refusals, seconds, order, timeline
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(file, forKey: .file)
        try container.encode(name, forKey: .name)
        try container.encode(passed, forKey: .passed)
        try container.encode(failures, forKey: .failures)
        try container.encode(violations, forKey: .violations)
        try container.encode(advice, forKey: .advice)
        try container.encode(refusals, forKey: .refusals)
        try container.encode(seconds, forKey: .seconds)
        try container.encode(order, forKey: .order)
        try container.encode(timeline, forKey: .timeline)
    }
}

/// The outcome of all scenarios. As JSON: `hookswitch.app/1`.
package struct AppTestReport: Encodable, Sendable {
    /// The form of the JSON; a change that breaks a reader has another number.
    package var schema = "hookswitch.app/1"
    package var passed: Int
    package var failed: Int
    package var scenarios: [AppTestResult]

    package init(_ scenarios: [AppTestResult]) {
        self.scenarios = scenarios
        passed = scenarios.count(where: \.passed)
        failed = scenarios.count - passed
    }
}

/// Outcomes as lines for a person.
package enum AppTestText {
    /// The timeline, the order of each call, and the verdict.
    package static func lines(_ result: AppTestResult) -> [String] {
        let timeline = result.timeline.map { event in
            event.source == AppTimeline.Entry.Source.step.rawValue
                ? "\(time(event.ms))  - \(event.event)" : "\(time(event.ms))    \(event.event)" + (event.call.map { "  (\($0))" } ?? "")
        }
        let order = result.order.map {
            "order   \($0.call): " + $0.steps.map { "\($0.event) \(Number.text($0.ms))" }.joined(separator: ", ") + " ms"
        }
        return timeline + order + result.advice.map { "advice  \($0)" } + [verdict(result)]
            + result.failures.map { "        \(place($0, result))\($0.message)" }
    }

    private static func verdict(_ result: AppTestResult) -> String {
        "\(result.passed ? "passed" : "FAILED")  \(result.name) (\(result.file), \(Number.text(result.seconds)) s)"
    }

    static func place(_ failure: AppTestResult.Failure, _ result: AppTestResult) -> String {
        guard let line = failure.line else { return "" }
        return "\(result.file):\(line): " + (failure.step.map { "'\($0)': " } ?? "")
    }

    private static func time(_ milliseconds: Double) -> String {
        let text = Number.text(milliseconds, digits: 1)
        return String(repeating: " ", count: max(0, 9 - text.count)) + text + " ms"
    }

    /// The end of the report.
    package static func summary(_ report: AppTestReport) -> String { "\(report.passed) passed, \(report.failed) failed" }
}

/// Outcomes as JUnit XML: a test case for each scenario, with its timeline.
package enum AppTestJUnit {
    package static func text(_ report: AppTestReport) -> String {
        let head =
            "tests=\"\(report.scenarios.count)\" failures=\"\(report.failed)\" time=\"\(report.scenarios.reduce(0) { $0 + $1.seconds })\""
        return """
            <?xml version="1.0" encoding="UTF-8"?>
            <testsuites name="hookswitch app" \(head)>
            <testsuite name="hookswitch app" \(head)>
            \(report.scenarios.map(element).joined(separator: "\n"))
            </testsuite>
            </testsuites>

            """
    }

    private static func element(_ result: AppTestResult) -> String {
        let head =
            "<testcase classname=\"app\" name=\"\(Markup.escaped(result.name))\" file=\"\(Markup.escaped(result.file))\" time=\"\(result.seconds)\">"
        let failures = result.failures.map { failure in
            "<failure message=\"\(Markup.escaped(AppTestText.place(failure, result) + failure.message))\"/>"
        }
        let output = Markup.escaped(AppTestText.lines(result).joined(separator: "\n"))
        return head + failures.joined() + "<system-out>\(output)</system-out></testcase>"
    }
}
