import Capacity
import Foundation

/// The figures of a study as a file of JSON. Times in seconds, loads as parts of 1.
struct StudyFile: Encodable {
    struct Cost: Encodable { var name: String, of: String, value: Double, unit: String, isAssumed: Bool }
    struct Need: Encodable {
        var resource: String, load: Double, assumedShare: Double
        /// Devices and calls at which it breaks; nil where it never does.
        var devices: Int?, calls: Int?
    }
    struct Load: Encodable { var mean: Double, peak: Double, assumedShare: Double }
    struct Scenario: Encodable {
        var failure: String, seed: UInt64, loads: [String: Load], setUpP50: Double, setUpP99: Double, setUpP50After: Double
        var setUpP99After: Double, stormSeconds: Double?, callsOffered: Int, callsSetUp: Int, callsWaiting: Int, callsRefused: Int
        var callsEnded: Int, rowsAdded: Int, rowsWritten: Int, rowsLost: Int, longestBehind: Double, registered: Int, endsTold: Int
        var lastEndTold: Double, fullReadings: Int, fullReadingsDone: Int, takenForDead: Int
    }
    struct Break: Encodable { var changes: String, devices: Int?, calls: Int?, resource: String? }

    var costs: [Cost], needs: [Need], scenarios: [Scenario], breaks: [Break], callsOfOneLane: Double

    init(_ study: CapacityStudy) {
        let options = study.options
        costs = options.costs.costs.map {
            Cost(name: "\($0.kind)", of: $0.name, value: $0.value, unit: $0.unit, isAssumed: $0.isAssumed)
        }
        needs = study.needs.map { need in
            let limit = need.limit.map(options.plan.scaled)
            return Need(
                resource: need.resource.rawValue, load: need.load.seconds, assumedShare: need.load.assumedShare, devices: limit?.devices,
                calls: limit?.calls)
        }
        scenarios = study.outcomes.map { Self.scenario($0.name, $0.outcome) }
        breaks = study.variants.map {
            Break(changes: $0.name, devices: $0.found?.plan.devices, calls: $0.found?.plan.calls, resource: $0.found?.resource.rawValue)
        }
        callsOfOneLane = study.callsOfOneLane
    }

    private static func scenario(_ name: String, _ outcome: Outcome) -> Scenario {
        let loads = outcome.loads.map { ($0.rawValue, Load(mean: $1.mean, peak: $1.peak, assumedShare: $1.assumedShare)) }
        return Scenario(
            failure: name, seed: outcome.plan.seed, loads: Dictionary(uniqueKeysWithValues: loads), setUpP50: outcome.setUps.quantile(0.5),
            setUpP99: outcome.setUps.quantile(0.99), setUpP50After: outcome.setUpsAfter.quantile(0.5),
            setUpP99After: outcome.setUpsAfter.quantile(0.99), stormSeconds: outcome.storm.length, callsOffered: outcome.calls.offered,
            callsSetUp: outcome.calls.setUp, callsWaiting: outcome.calls.waiting, callsRefused: outcome.calls.refused,
            callsEnded: outcome.calls.ended, rowsAdded: outcome.rows.added, rowsWritten: outcome.rows.written, rowsLost: outcome.rows.lost,
            longestBehind: outcome.rows.longestBehind, registered: outcome.storm.registered, endsTold: outcome.storm.endsTold,
            lastEndTold: outcome.storm.lastEndTold, fullReadings: outcome.storm.fullReadings,
            fullReadingsDone: outcome.storm.fullReadingsDone, takenForDead: outcome.storm.takenForDead)
    }

    /// - Parameter path: "-" is standard output.
    func write(to path: String) throws(CapacityOptions.UsageError) {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
        do {
            let data = try encoder.encode(self)
            if path == "-" { print(String(decoding: data, as: UTF8.self)) } else { try data.write(to: URL(filePath: path)) }
        } catch {
            say("\(path) cannot be written: \(error.localizedDescription)")
            exit(3)
        }
    }
}
