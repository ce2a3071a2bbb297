import Console
import Dispatch
import HTTP
import Primitives
import Runtime
import Synchronization
import Workbench

/// A run in a browser while it lasts (`--web`), and its report when it is over.
///
/// Thread-safe. Charts are drawn when a page asks, and take a twentieth of one processor at most: the tool must not be late for them.
final class LoadWeb: Sendable {
    private struct State {
        var snapshot: LoadSnapshot?
        var curve = LoadCurve()
        var charts = LoadCharts(), chartsDue = Instant.zero
        var draw: (@Sendable () -> LoadCharts)?
        var report: String?
        var asked: Instant?
    }

    private let state: Shared
    private let server: MonitorServer

    private final class Shared: Sendable {
        let values = Mutex(State())
        /// A page has the report.
        let isShown = DispatchSemaphore(value: 0)
    }

    /// - Throws: exit code 3 where the address cannot be had.
    init(listening address: SocketAddress, target: String, command: String) throws {
        let shared = Shared(), page = LoadPage.live(target: target, command: command)
        state = shared
        do throws(SocketError) {
            server = try MonitorServer(
                listening: address, ["/", "/live.js", "/now"], notFound: "The run is at /.\n", idleTimeout: LoadWatch.idleTimeout
            ) { path in
                switch path {
                case "/": Self.reply(page, type: "text/html; charset=utf-8")
                case "/live.js": Self.reply(LoadPage.liveScript, type: "text/javascript; charset=utf-8")
                default: Self.now(shared)
                }
            }
        } catch { throw Failure.cannotRun("--web: \(error.description)") }
    }

    /// The address at which it listens.
    var address: SocketAddress { server.address }

    /// - Parameter draw: the charts of the calls that are over.
    func begin(_ draw: @escaping @Sendable () -> LoadCharts) { state.values.withLock { $0.draw = draw } }

    func note(_ snapshot: LoadSnapshot) {
        state.values.withLock { state in
            state.snapshot = snapshot
            guard let elapsed = snapshot.elapsed else { return }
            state.curve.note(snapshot.progress, elapsed: Double(elapsed.wholeMilliseconds) / 1_000)
        }
    }

    /// The run is over: a page that is open gets the report before the command ends.
    func finish(_ report: LoadReport) {
        let text = LoadPage.content(report), now = MonotonicClock.now
        let isWatched = state.values.withLock { state in
            (state.report, state.draw) = (text, nil)
            return state.asked.map { now - $0 < .seconds(5) } ?? false
        }
        if isWatched { _ = state.isShown.wait(timeout: .now() + 5) }
    }

    // MARK: Answers

    private static func now(_ shared: Shared) -> HTTPReply {
        let now = MonotonicClock.now
        let (report, snapshot, curve, charts) = shared.values.withLock { state in
            state.asked = now
            return (state.report, state.snapshot, state.curve, now < state.chartsDue ? nil : state.draw)
        }
        if let report {
            // After the answer has left.
            DispatchQueue.global().asyncAfter(deadline: .now() + 0.2) { shared.isShown.signal() }
            return reply(report, type: "text/html; charset=utf-8", state: "over")
        }
        guard let snapshot else { return reply("<p>No call was begun yet.</p>", type: "text/html; charset=utf-8") }
        if let charts { draw(charts, shared, at: now) }
        let drawn = shared.values.withLock(\.charts)
        return reply(LoadPage.now(snapshot, curve, charts: drawn), type: "text/html; charset=utf-8")
    }

    private static func draw(_ charts: () -> LoadCharts, _ shared: Shared, at begin: Instant) {
        let drawn = charts(), end = MonotonicClock.now
        shared.values.withLock { ($0.charts, $0.chartsDue) = (drawn, end + max(.milliseconds(500), (end - begin) * 20)) }
    }

    private static func reply(_ text: String, type: String, state: String = "goes on") -> HTTPReply {
        var reply = HTTPReply(.ok, text: text, type: type)
        reply.fields[.contentSecurityPolicy] =
            "default-src 'none'; script-src 'self'; style-src 'unsafe-inline'; connect-src 'self'; base-uri 'none'; frame-ancestors 'none'"
        reply.fields[.xContentTypeOptions] = "nosniff"
        if let name = HTTPField.Name("Run-State") { reply.fields[name] = state }
        return reply
    }
}
