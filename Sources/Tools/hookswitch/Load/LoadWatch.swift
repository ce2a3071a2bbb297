import Console
import Dispatch
import Foundation
import HTTP
import Primitives
import Runtime
import Synchronization
import Workbench

/// The state of a load, for programs that watch it: a line of JSON a second (`--stream`), and metrics over HTTP (`--metrics`).
///
/// Writing has a queue of its own: a reader that does not read holds up nothing, and misses lines.
final class LoadWatch: Sendable {
    /// The time for which a reader's connection stays open: the descriptors of a run are counted when it is over, and none is a reader's then.
    static let idleTimeout = Duration.milliseconds(100)
    /// Lines that wait to be read.
    private static let mostWaiting = 60

    private let descriptor: Int32?
    private let queue = DispatchQueue(label: "load-stream")
    private let waiting = Atomic(0)
    private let shared: Shared
    private let server: MonitorServer?
    private let lastLine = Mutex<Instant?>(nil)

    private final class Shared: Sendable { let snapshot = Mutex<LoadSnapshot?>(nil) }

    /// - Throws: exit code 3 where a file cannot be opened, or the address cannot be had.
    init(_ outputs: LoadOutputs, metrics address: SocketAddress?) throws {
        let shared = Shared()
        (descriptor, self.shared) = (try outputs.stream?.open(), shared)
        do throws(SocketError) {
            server = try address.map { address throws(SocketError) in
                try MonitorServer(
                    listening: address, ["/metrics"], notFound: "There is /metrics.\n", idleTimeout: Self.idleTimeout
                ) { _ in
                    Self.answer(shared.snapshot.withLock { $0 })
                }
            }
        } catch { throw Failure.cannotRun("--metrics: \(error.description)") }
    }

    func note(_ snapshot: LoadSnapshot) {
        shared.snapshot.withLock { $0 = snapshot }
        let now = MonotonicClock.now
        let isDue = lastLine.withLock { last in
            guard last.map({ now - $0 >= .milliseconds(900) }) ?? true else { return false }
            last = now
            return true
        }
        if isDue { write(LoadLine(snapshot)) }
    }

    /// The last line; returns when all is written, or nobody reads.
    func finish(_ verdict: LoadVerdict) {
        write(LoadEnd(verdict))
        guard let descriptor else { return }
        let isWritten = DispatchSemaphore(value: 0)
        queue.async { isWritten.signal() }
        guard isWritten.wait(timeout: .now() + 1) == .success, descriptor != STDOUT_FILENO else { return }
        close(descriptor)
    }

    private func write(_ line: some Encodable) {
        guard let descriptor, let text = try? jsonLine(line), waiting.load(ordering: .relaxed) < Self.mostWaiting else { return }
        waiting.add(1, ordering: .relaxed)
        queue.async { [self] in
            try? StandardOutput.write(text, to: descriptor)
            waiting.subtract(1, ordering: .relaxed)
        }
    }

    private static func answer(_ snapshot: LoadSnapshot?) -> HTTPReply {
        guard let snapshot else { return HTTPReply(.serviceUnavailable, text: "no figures yet\n") }
        return HTTPReply(.ok, text: PrometheusText(snapshot).text, type: PrometheusText.contentType)
    }
}

/// A line of `--stream`.
struct LoadLine: Encodable {
    var event = "progress"
    /// Seconds since the first call; absent before it.
    var elapsed: Double?
    var phase: LoadProgress.Phase
    /// Calls a second, by the plan.
    var rate: Double
    var registered: Int, begun: Int, active: Int, answered: Int, over: Int, notBegun: Int
    /// Calls that are judged, and those of them that are bad.
    var judged: Int, bad: Int
    /// By the names of terms of a service level; null: too little is known.
    var figures: [String: Double?]
    /// The 99th percentile of the lateness of the tool's own packets, in milliseconds.
    var packetLatenessP99: Double?

    init(_ snapshot: LoadSnapshot) {
        let progress = snapshot.progress
        (phase, rate, registered, begun) = (progress.phase, progress.rate, progress.registered, progress.begun)
        (active, answered, over, notBegun) = (progress.active, progress.answered, progress.over, progress.skipped + progress.withoutPort)
        (judged, bad, figures) = (snapshot.judged, snapshot.bad, snapshot.figures)
        elapsed = snapshot.elapsed.map { Double($0.wholeMilliseconds) / 1_000 }
        packetLatenessP99 = snapshot.packetLateness.map { Double($0.wholeNanoseconds / 1_000) / 1_000 }
    }
}

/// The last line of `--stream`.
struct LoadEnd: Encodable {
    var event = "verdict"
    var verdict: LoadVerdict.Word
    var reasons: [String]
    var exitCode: Int32

    init(_ verdict: LoadVerdict) { (self.verdict, reasons, exitCode) = (verdict.word, verdict.reasons, verdict.exitCode) }
}

extension PrometheusText {
    /// Makes the metrics of a load that runs.
    init(_ snapshot: LoadSnapshot) {
        self.init()
        let progress = snapshot.progress
        let calls = [
            ("begun", progress.begun), ("answered", progress.answered), ("over", progress.over), ("judged", snapshot.judged),
            ("bad", snapshot.bad), ("not-begun", progress.skipped + progress.withoutPort),
        ]
        add("hookswitch_load_calls_total", .counter, "Calls of the run, by what became of them.", by: "state", calls)
        add("hookswitch_load_calls_up", .gauge, "Calls that are up.", progress.active)
        add("hookswitch_load_rate", .gauge, "Calls a second, by the plan.", progress.rate)
        let known = snapshot.figures.sorted { $0.key < $1.key }.compactMap { name, value in value.map { (name, $0) } }
        add("hookswitch_load_figure", .gauge, "Figures of all calls so far, in milliseconds, percent and MOS.", by: "name", known)
        if let late = snapshot.packetLateness {
            add(
                "hookswitch_load_packet_lateness_seconds", .gauge, "How late the tool's own packets leave, of one in a hundred.",
                Double(late.wholeNanoseconds) / 1e9)
        }
    }
}
