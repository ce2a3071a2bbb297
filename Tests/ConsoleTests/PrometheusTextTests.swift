import Primitives
import Testing

@testable import Console

@Suite struct PrometheusTextTests {
    private func text(_ family: MetricFamily, _ samples: [MetricFamily.Sample]) -> String {
        var text = PrometheusText()
        text.add(family, samples)
        return text.text
    }

    @Test func `a family has its help and its type, and a line for each value`() {
        let calls = MetricFamily.single("calls", .gauge, "Calls now.") { _ in 3 }
        let refused = MetricFamily.counted("refused_total", "Refused.", by: "cause", []) { _ in [] }
        let lines =
            text(calls, [.init(labels: [], value: 3)])
            + text(refused, [.init(labels: ["ports"], value: UInt64(1)), .init(labels: ["source"], value: 2)])
        #expect(
            lines == """
                # HELP calls Calls now.
                # TYPE calls gauge
                calls 3
                # HELP refused_total Refused.
                # TYPE refused_total counter
                refused_total{cause="ports"} 1
                refused_total{cause="source"} 2

                """)
    }

    @Test func `a histogram has a line for each bound, the sum and the number of all`() {
        var histogram = FixedHistogram([0.005, 2])
        for value in [0.001, 1, 2.5] { histogram.add(value) }
        let alone = MetricFamily.single("a_seconds", .histogram, "A.") { _ in 0 },
            byWay = MetricFamily.labelled("b", .histogram, "B.", by: "way", [])
        #expect(
            text(alone, [.init(labels: [], value: histogram)]) + text(byWay, [.init(labels: ["in"], value: histogram)]) == """
                # HELP a_seconds A.
                # TYPE a_seconds histogram
                a_seconds_bucket{le="0.005"} 1
                a_seconds_bucket{le="2.0"} 2
                a_seconds_bucket{le="+Inf"} 3
                a_seconds_sum 3.501
                a_seconds_count 3
                # HELP b B.
                # TYPE b histogram
                b_bucket{way="in",le="0.005"} 1
                b_bucket{way="in",le="2.0"} 2
                b_bucket{way="in",le="+Inf"} 3
                b_sum{way="in"} 3.501
                b_count{way="in"} 3

                """)
    }

    @Test func `labels stand in the order of the table, and what would end one early is escaped`() {
        let family = MetricFamily(name: "x", kind: .gauge, help: "X.", labels: [.init(name: "l"), .init(name: "m")]) { _ in [] }
        #expect(text(family, [.init(labels: ["a\"b\\c\nd", "e"], value: 0.5)]).hasSuffix("x{l=\"a\\\"b\\\\c\\nd\",m=\"e\"} 0.5\n"))
    }

    @Test func `each family of the table is there once, with a help and labels whose values differ`() {
        #expect(MetricFamily.all.count > 15 && Set(MetricFamily.all.map(\.name)).count == MetricFamily.all.count)
        for family in MetricFamily.all {
            #expect(family.name.wholeMatch(of: /[a-z_]+/) != nil && family.help.hasSuffix(".") && family.help.count > 10, "\(family.name)")
            #expect((family.kind == .counter) == family.name.hasSuffix("_total"), "\(family.name)")
            for label in family.labels {
                let names = label.values?.map(\.name) ?? []
                #expect(Set(names).count == names.count && (label.values == nil || names.count > 1), "\(family.name) \(label.name)")
            }
        }
    }

    @Test func `a family without values has a head alone, and nothing is no text`() {
        #expect(PrometheusText().text.isEmpty)
        let tries = MetricFamily.single("tries", .gauge, "Tries.") { _ in 0 }
        #expect(text(tries, []) == "# HELP tries Tries.\n# TYPE tries gauge\n")
    }

    /// A quote with an accent, and a CR with its LF, are one character each.
    @Test(arguments: ["a\"\u{301}b", "a\r\nb", "\\\u{301}n", "\"", "\\", "\n", "\\\"\n", "", "é 漢 {}=,"])
    func `a label reads back as it was`(value: String) throws {
        let family = MetricFamily(name: "y", kind: .gauge, help: "Y.", labels: [.init(name: "k"), .init(name: "l")]) { _ in [] }
        let read = try Exposition(text(family, [.init(labels: [value, value], value: 2)])).values
        #expect(read == ["y{k=\"\(value)\",l=\"\(value)\"}": 2])
    }
}
