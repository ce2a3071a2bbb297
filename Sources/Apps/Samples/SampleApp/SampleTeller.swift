import Foundation
import Primitives
import Runtime

/// Tells a person or a program what happens, one line each.
@MainActor final class SampleTeller {
    private let name: String
    private let json: Bool
    private var firstStep: Instant?

    init(name: String, json: Bool) { (self.name, self.json) = (name, json) }

    func say(_ event: String, _ details: [String: String] = [:]) {
        guard json else { return write("\(name): \(event)" + details.sorted { $0.key < $1.key }.map { " \($0.key)=\($0.value)" }.joined()) }
        object(["event": event].merging(details) { $1 })
    }

    /// A step of the app, with the milliseconds since its first one.
    func step(_ step: String) {
        let now = MonotonicClock.now
        let start = firstStep ?? now
        firstStep = start
        let milliseconds = (now - start) / .milliseconds(1)
        if json {
            object(["event": "step", "step": step, "ms": String(format: "%.3f", milliseconds)])
        } else {
            write(String(format: "%10.3f ms  ", milliseconds) + step)
        }
    }

    func summary(_ figures: SampleFigures, violations: Int, refusals: Int) {
        var details = [
            "calls": "\(figures.calls)", "connected": "\(figures.connected)", "violations": "\(violations)", "refusals": "\(refusals)",
        ]
        for (name, values) in [("answer to first packet", figures.answerToFirstPacket), ("hang-up to closed", figures.hangUpToClosed)]
        where !values.isEmpty {
            let sorted = values.sorted()
            details[name + ", median ms"] = String(format: "%.3f", sorted[sorted.count / 2])
            details[name + ", p99 ms"] = String(format: "%.3f", sorted[min(sorted.count - 1, sorted.count * 99 / 100)])
        }
        say("done", details)
    }

    private func object(_ fields: [String: String]) {
        let data = try? JSONSerialization.data(withJSONObject: fields, options: [.sortedKeys])
        write(data.map { String(decoding: $0, as: UTF8.self) } ?? "{}")
    }

    private func write(_ text: String) {
        print(text)
        fflush(nil)
    }
}
