import Console
import Foundation
import Testing

/// The dashboard for Grafana asks for figures that there are.
@Suite struct DashboardTests {
    private struct Dashboard: Decodable {
        struct Place: Decodable { var h: Int, w: Int, x: Int, y: Int }
        struct Target: Decodable { var expr: String, legendFormat: String }
        struct Panel: Decodable { var id: Int, title: String, gridPos: Place, targets: [Target]? }
        struct Variable: Decodable { var name: String }
        struct Variables: Decodable { var list: [Variable] }
        var title: String, uid: String, panels: [Panel], templating: Variables
    }

    private static let dashboard: Dashboard = {
        let file = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../Configs/grafana-dashboard.json")
        return try! JSONDecoder().decode(Dashboard.self, from: try! Data(contentsOf: file))
    }()

    private static let targets = dashboard.panels.flatMap { $0.targets ?? [] }

    /// Each name with the family that it is of, as Prometheus has it.
    private static let families = Dictionary(
        uniqueKeysWithValues: MetricFamily.all.flatMap { family in
            (family.kind == .histogram ? ["_bucket", "_sum", "_count"] : [""]).map { (family.name + $0, family) }
        })

    @Test func `each query asks for metrics of the table, and by labels that they have`() throws {
        #expect(Self.targets.count > 20)
        for target in Self.targets {
            let names = target.expr.matches(of: /\b(hookswitch|process)_[a-z_]+/).map { String($0.0) }
            #expect(!names.isEmpty, "\(target.expr)")
            var labels: Set<String> = ["le", "instance"]
            for name in names {
                let family = try #require(Self.families[name], "\(name) is in no table")
                labels.formUnion(family.labels.map(\.name))
            }
            for list in target.expr.matches(of: /by \(([a-z, ]+)\)/) {
                for label in list.1.split(separator: ",") {
                    #expect(labels.contains(label.trimmingCharacters(in: .whitespaces)), "\(label) in \(target.expr)")
                }
            }
            for selector in target.expr.matches(of: /([a-z]+)="([^"$]+)"/) {
                let values = names.flatMap { Self.families[$0]?.labels.first { $0.name == selector.1 }?.values ?? [] }
                #expect(values.contains { $0.name == selector.2 }, "\(selector.0) in \(target.expr)")
            }
            for shown in target.legendFormat.matches(of: /\{\{([a-z]+)\}\}/) {
                #expect(labels.contains(String(shown.1)), "\(target.legendFormat)")
            }
            #expect(target.expr.count { $0 == "(" } == target.expr.count { $0 == ")" }, "\(target.expr)")
        }
    }

    @Test func `a quantile is one of buckets, and a counter is asked for as a rate`() throws {
        for target in Self.targets {
            if target.expr.contains("histogram_quantile") {
                #expect(target.expr.contains("_bucket{") && target.expr.contains("by (le"), "\(target.expr)")
            }
            let counters = target.expr.matches(of: /hookswitch_[a-z_]+_total/)
            #expect(counters.isEmpty || target.expr.contains("rate(") || target.expr.contains("violations"), "\(target.expr)")
        }
    }

    @Test func `every family of calls, sound and registrations is shown`() {
        let shown = Set(
            Self.targets.flatMap { $0.expr.matches(of: /\b(hookswitch|process)_[a-z_]+/).compactMap { Self.families[String($0.0)]?.name } })
        let left = Set(MetricFamily.all.map(\.name)).subtracting(shown)
        // Not everybody has webhooks, a hook, the relay of the kernel, queues, streams and a database. The journal's own failures, and what is refused at sockets of media, are for the page of metrics.
        #expect(
            left == [
                "hookswitch_kernel_relay_directions", "hookswitch_kernel_relay_packets_total", "hookswitch_kernel_relay_taken_total",
                "hookswitch_kernel_relay_dropped_total",
                "hookswitch_events_total", "hookswitch_rtp_refused_total", "hookswitch_journal_failures_total",
                "hookswitch_trace_messages_total", "hookswitch_hook_wait_seconds", "hookswitch_webhook_events_taken_total",
                "hookswitch_webhook_events_given_up_total", "hookswitch_webhook_gaps_total", "hookswitch_webhook_events_waiting",
                "hookswitch_webhook_oldest_seconds", "hookswitch_webhook_failures_total", "hookswitch_queue_callers",
                "hookswitch_queue_calls_total", "hookswitch_streams", "hookswitch_streams_ended_total", "hookswitch_stream_faults_total",
                "hookswitch_stream_overflow_bytes_total", "hookswitch_stream_silence_milliseconds_total",
                "hookswitch_store_up", "hookswitch_store_changes_waiting", "hookswitch_store_changes_lost_total", "hookswitch_trunk_leases",
            ], "\(left)")
    }

    @Test func `panels have their own numbers and places`() {
        let panels = Self.dashboard.panels
        #expect(Set(panels.map(\.id)).count == panels.count && panels.allSatisfy { !$0.title.isEmpty && $0.gridPos.x + $0.gridPos.w <= 24 })
        let cells = panels.flatMap { panel in
            (0..<panel.gridPos.h).flatMap { row in (0..<panel.gridPos.w).map { [panel.gridPos.x + $0, panel.gridPos.y + row] } }
        }
        #expect(Set(cells).count == cells.count)
        #expect(Self.dashboard.uid == "hookswitch" && Self.dashboard.templating.list.map(\.name) == ["datasource", "instance"])
    }
}
