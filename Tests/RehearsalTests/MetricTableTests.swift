import Console
import Testing
import UserAgent

@testable import Gateway
@testable import Rehearsal

/// The table of metrics, which the reference is made from, is what a gateway tells.
@Suite struct MetricTableTests {
    @Test func `the values of labels are those of the table, all of them from the start`() {
        let stage = Stage()
        let text = PrometheusText(stage.gateway.figures(.init(), nil, at: stage.world.now)).text
        for family in MetricFamily.all where family.labels.count == 1 && !family.name.contains("journal") {
            let told = text.split(separator: "\n").filter { $0.hasPrefix("\(family.name){") }.map { String($0.split(separator: "\"")[1]) }
            #expect(Set(told) == Set(family.labels[0].values?.map(\.name) ?? []) && told.count > 1, "\(family.name)")
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
