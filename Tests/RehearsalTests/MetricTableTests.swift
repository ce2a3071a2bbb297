import Console
import Primitives
import SIP
import Testing
import UserAgent

@testable import Gateway
@testable import Rehearsal

/// The table of metrics, which the reference is made from, is what a gateway tells.
@Suite struct MetricTableTests {
    @Test func `the values of labels are those of the table, all of them from the start`() {
        let stage = Stage()
        let text = PrometheusText(stage.gateway.figures(.init(), nil, at: stage.world.now)).text
        let others = ["journal", "trace", "_api_"]
        for family in MetricFamily.all where family.labels.count == 1 && !others.contains(where: family.name.contains) {
            guard let values = family.labels[0].values else { continue }
            let start = family.kind == .histogram ? "\(family.name)_count{" : "\(family.name){"
            let told = text.split(separator: "\n").filter { $0.hasPrefix(start) }.map { String($0.split(separator: "\"")[1]) }
            #expect(Set(told) == Set(values.map(\.name)) && told.count == values.count && told.count > 1, "\(family.name)")
        }
    }

    @Test func `calls and registrations are counted by their answers, and each answered call by the time it took`() throws {
        let stage = Stage { $0.version = "9.9" }, peer = RawPeer(stage, 1)
        peer.request("INVITE", "sip:9196@hookswitch.test", call: "one", 1, body: peer.description("0"))
        peer.request("INVITE", "sip:7777@hookswitch.test", call: "two", 2, body: peer.description("0"))
        peer.request("REGISTER", "sip:2000@hookswitch.test", call: "three", 1)
        peer.request("INVITE", "sip:2000@hookswitch.test", call: "four", 3, body: peer.description("0"))
        stage.run(seconds: 3)
        peer.answer(try peer.received(.invite), 200, body: peer.description("0"))
        let text = PrometheusText(stage.gateway.figures(.init(), nil, at: stage.world.now)).text
        for line in [
            #"answers_total{status="200"} 2"#, #"answers_total{status="404"} 1"#, #"registrations_total{status="200"} 1"#,
            #"registrations_total{status="4xx"} 0"#, #"setup_seconds_bucket{le="0.25"} 1"#, #"setup_seconds_bucket{le="5.0"} 2"#,
            "setup_seconds_count 2", #"build_info{version="9.9",node=""} 1"#,
        ] {
            #expect(text.contains("\nhookswitch_\(line)\n"), "\(line)")
        }
    }

    @Test func `figures of the trace are there where there is one`() {
        let stage = Stage()
        var figures = stage.gateway.figures(.init(), nil, at: stage.world.now)
        #expect(!PrometheusText(figures).text.contains("hookswitch_trace_"))
        var counts = MessageTrace.Counts()
        (counts.passed, counts.dropped) = ([.file: 3, .hep: 2], [.file: 1, .hep: 0])
        figures.trace = counts
        let text = PrometheusText(figures).text
        for (fate, count) in [("written", 3), ("not-written", 1), ("sent", 2), ("not-sent", 0)] {
            #expect(text.contains("\nhookswitch_trace_messages_total{fate=\"\(fate)\"} \(count)\n"), "\(fate)")
        }
    }

    @Test func `figures of the journal are there where one is written`() {
        let stage = Stage()
        #expect(!PrometheusText(stage.gateway.figures(.init(), nil, at: stage.world.now)).text.contains("hookswitch_journal_"))
        let text = PrometheusText(stage.gateway.figures(.init(), .init(), at: stage.world.now)).text
        for line in [#"bytes_total{fate="written"} 0"#, #"bytes_total{fate="lost"} 0"#, "waiting_bytes 0", "failures_total 0"] {
            #expect(text.contains("\nhookswitch_journal_\(line)\n"), "\(line)")
        }
    }
}
