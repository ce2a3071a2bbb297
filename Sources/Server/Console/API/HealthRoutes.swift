import Gateway
import Glibc
import HTTP
import Media
import Primitives
import Runtime
import Synchronization
import UserAgent

/// The load of the gateway as `/v1/health` shows it.
struct HealthBody: Encodable, Sendable {
    struct Histogram: Encodable, Sendable {
        struct Bucket: Encodable, Sendable {
            /// nil: without a bound.
            var upTo: Double?
            var count: UInt64
        }

        /// Values of each bucket by itself, by ascending bounds.
        var buckets: [Bucket]
        var count: UInt64
        var mean: Double?

        init(_ histogram: FixedHistogram) {
            var before: UInt64 = 0
            buckets = histogram.cumulative.map { bound, count in
                defer { before = count }
                return Bucket(upTo: bound, count: count - before)
            }
            count = histogram.count
            buckets.append(Bucket(upTo: nil, count: count - before))
            mean = count > 0 ? histogram.sum / Double(count) : nil
        }
    }

    struct Count: Encodable, Sendable {
        var cause: String
        var count: UInt64
    }

    var draining: Bool
    var legs: Int, bridges: Int, connections: Int, contacts: Int
    var freePorts: Int
    /// Seconds since the start of the process.
    var processor: Double
    var cores: Int
    /// Bytes.
    var memory: UInt64?, peakMemory: UInt64
    /// Seconds from an INVITE from outside to its 200.
    var setup: Histogram
    /// Seconds for which the signalling lane let readers of this wait.
    var laneWait: Histogram
    /// MOS of what came, of each leg that is closed.
    var mos: Histogram
    /// Those that there were.
    var refused: [Count]
    var violations: Int

    init(_ figures: GatewayFigures, laneWaits: FixedHistogram, usage: ProcessResources.Usage) {
        let now = figures.now
        (draining, legs, bridges) = (figures.isDraining, now.legs, now.bridges)
        (connections, contacts) = (figures.transports.connections, figures.registrar.contacts)
        freePorts = now.media.ports.free
        (processor, cores) = ((usage.user + usage.system) / .seconds(1), max(1, Int(sysconf(Int32(_SC_NPROCESSORS_ONLN)))))
        (memory, peakMemory) = (Self.residentBytes, usage.peakMemory)
        (setup, laneWait) = (Histogram(figures.answers.setup), Histogram(laneWaits))
        mos = Histogram(figures.media.received.score)
        refused = figures.refusals.filter { $0.count > 0 }.map { Count(cause: $0.cause, count: $0.count) }
        violations = figures.violations
    }

    /// Memory of this process that is in use; nil where the kernel does not tell.
    private static var residentBytes: UInt64? {
        guard let file = fopen("/proc/self/statm", "re") else { return nil }
        defer { fclose(file) }
        var text = [CChar](repeating: 0, count: 128)
        guard fgets(&text, Int32(text.count), file) != nil else { return nil }
        let fields = text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)).split(separator: UInt8(ascii: " "))
        return fields.dropFirst().first.flatMap { UInt64(String(decoding: $0, as: UTF8.self)) }.map {
            $0 * UInt64(sysconf(Int32(_SC_PAGESIZE)))
        }
    }
}

/// The load of the gateway.
struct HealthRoutes {
    unowned let api: ControlAPI

    func add(to routes: inout HTTPRoutes) {
        routes.on(.get, "/v1/health") { ask, responder in
            api.answer(ask, responder) { () throws(Problem) in
                let gateway = try api.running(), waits = api.laneWaits
                // Elsewhere: this lane waits for no other.
                return try api.records.work(responder) {
                    let began = MonotonicClock.now
                    guard let figures = gateway.figures else { return .failure(.notRunning) }
                    let histogram = waits.note(MonotonicClock.now - began)
                    return .success(JSONBody.reply(.ok, HealthBody(figures, laneWaits: histogram, usage: ProcessResources.usage)))
                }
            }
        }
    }
}

/// The time for which the signalling lane lets those wait that ask it. Thread-safe.
final class LaneWaits: Sendable {
    private let waits = Mutex(FixedHistogram([0.000_25, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1]))

    /// Counts one, and gives all of them.
    func note(_ wait: Duration) -> FixedHistogram {
        waits.withLock {
            $0.add(wait / .seconds(1))
            return $0
        }
    }
}
