import Gateway
import Primitives
import Rehearsal

/// The progress of many rehearsals, as it is kept for the next run.
struct Progress: Codable {
    struct Failure: Codable { var seed: UInt64, report: String, test: String }
    struct Slow: Codable { var seed: UInt64, milliseconds: Double }

    var first: UInt64
    /// The seed to go on with.
    var next: UInt64
    var calls = 0, connected = 0, messages = 0, lostDatagrams = 0, cutConnections = 0, failedBinds = 0, transfers = 0, crossedByes = 0
    var events: UInt64 = 0
    /// Of the clock, over all runs; and of the rehearsals' own.
    var seconds = 0.0, virtualHours = 0.0
    var failures: [Failure] = []
    var slowest: [Slow] = []
    /// Megabytes: after a tenth of the first run, and the most since.
    var memoryAtFirst: Double?, mostMemory = 0.0

    mutating func add(_ verdict: RehearsalVerdict, milliseconds: Double) {
        calls += verdict.tally.calls
        connected += verdict.tally.connected
        (transfers, crossedByes) = (transfers + verdict.tally.transfers, crossedByes + verdict.tally.crossedByes)
        (messages, lostDatagrams) = (messages + verdict.messages, lostDatagrams + verdict.lostDatagrams)
        (cutConnections, failedBinds) = (cutConnections + verdict.cutConnections, failedBinds + verdict.failedBinds)
        events += verdict.events
        virtualHours += Double(verdict.virtualTime.wholeMilliseconds) / 3_600_000
        slowest = Array(
            (slowest + [Slow(seed: verdict.seed, milliseconds: milliseconds)]).sorted { $0.milliseconds > $1.milliseconds }.prefix(10))
    }
}

extension Progress {
    /// The figures, for a person.
    var text: String {
        let slow = slowest.prefix(3).map { "seed \($0.seed) \(Int($0.milliseconds)) ms" }.joined(separator: ", ")
        return """
            \(calls) calls, \(connected) connected, \(messages) messages (\(lostDatagrams) lost), \(events) events
            \(crossedByes) crossed BYEs, \(transfers) transfers, \(cutConnections) cut connections, \(failedBinds) failed binds
            \(Int(seconds)) s, \(Int(virtualHours)) hours of virtual time, at most \(Int(mostMemory)) MB; slowest: \(slow)
            """
    }
}
