import Primitives
import Runtime

/// Figures of the control interface's server.
public struct ControlFigures: Sendable {
    /// Open at the moment.
    var connections = 0, streamReaders = 0, socketReaders = 0
    var counts = HTTPCounts()
}

extension ControlServer {
    /// Its figures; nil when it has ended. Any thread but its own: it waits for the lane.
    public var figures: ControlFigures? {
        lane.sync { host, _ in
            let readers = host.api.readers.counts
            return ControlFigures(
                connections: host.server.connectionCount, streamReaders: readers.streams, socketReaders: readers.sockets,
                counts: host.server.counts)
        }
    }
}

extension MetricFamily {
    static let api: [MetricFamily] = [
        api("hookswitch_api_connections", .gauge, "Open connections of the control interface.") { $0.connections },
        api("hookswitch_api_connections_total", .counter, "Connections of the control interface.") { $0.counts.connections },
        api(
            "hookswitch_api_refused_total", "Connections and requests that the control interface did not serve, by cause.", by: "cause",
            [
                .init(name: "malformed", meaning: "no request as HTTP has it, or too large"),
                .init(name: "late", meaning: "no request came in time"),
                .init(name: "crowded-out", meaning: "too many connections were open"),
                .init(name: "stalled", meaning: "the client did not read"),
                .init(name: "silent", meaning: "a WebSocket answered no ping"),
            ]
        ) { [$0.refused, $0.late, $0.crowdedOut, $0.stalled, $0.silent] },
        MetricFamily(
            name: "hookswitch_api_requests_total", kind: .counter,
            help: "Requests to the control interface that were answered, by method and class of status.",
            labels: [
                Label(name: "method", values: HTTPCounts.Answers.methodNames.map { .init(name: $0) }),
                Label(name: "status", values: HTTPCounts.Answers.classes.map { .init(name: $0) }),
            ]
        ) { source in
            source.service.api?.counts.answers.all.map { Sample(labels: [$0.method, $0.statuses], value: $0.count) }
        },
        MetricFamily(
            name: "hookswitch_api_event_readers", kind: .gauge, help: "Readers of events, by transport.",
            labels: [Label(name: "transport", values: transports)]
        ) { source in
            source.service.api.map { zip(transports, [$0.streamReaders, $0.socketReaders]).map { .init(labels: [$0.name], value: $1) } }
        },
        api(
            "hookswitch_api_slow_readers_total", "Readers of events that were cut off because they did not keep up, by transport.",
            by: "transport", transports
        ) { [$0.slowStreams, $0.slowSockets] },
        api("hookswitch_api_sent_bytes_total", .counter, "Bytes that the control interface sent.") { $0.counts.sentBytes },
    ]

    private static let transports: [Label.Value] = [
        .init(name: "sse", meaning: "Server-Sent Events"), .init(name: "websocket", meaning: "WebSocket"),
    ]

    private static func api(
        _ name: String, _ kind: Kind, _ help: String, _ value: @escaping @Sendable (ControlFigures) -> any MetricValue
    ) -> MetricFamily {
        single(name, kind, help) { $0.service.api.map(value) }
    }

    /// - Parameter counts: in the order of the values.
    private static func api(
        _ name: String, _ help: String, by label: String, _ values: [Label.Value],
        _ counts: @escaping @Sendable (HTTPCounts) -> [UInt64]
    ) -> MetricFamily {
        MetricFamily(name: name, kind: .counter, help: help, labels: [Label(name: label, values: values)]) { source in
            source.service.api.map { zip(values, counts($0.counts)).map { Sample(labels: [$0.name], value: $1) } }
        }
    }
}
