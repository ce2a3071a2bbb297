import Console
import Testing

@Suite struct PrometheusTextTests {
    @Test func `a family has its help and its type, and a line for each value`() {
        var text = PrometheusText()
        text.add("calls", .gauge, "Calls now.", 3)
        text.add("refused_total", .counter, "Refused.", by: "cause", [("ports", UInt64(1)), ("source", 2)])
        text.add("tries", .gauge, "Tries.", [(labels: ["user": "a", "source": "::1"], value: 4)])
        #expect(
            text.text == """
                # HELP calls Calls now.
                # TYPE calls gauge
                calls 3
                # HELP refused_total Refused.
                # TYPE refused_total counter
                refused_total{cause="ports"} 1
                refused_total{cause="source"} 2
                # HELP tries Tries.
                # TYPE tries gauge
                tries{user="a",source="::1"} 4

                """)
    }

    @Test func `a family without values has a head alone, and nothing is no text`() {
        var text = PrometheusText()
        #expect(text.text.isEmpty)
        text.add("tries", .gauge, "Tries.", [] as [(labels: KeyValuePairs<String, String>, value: Int)])
        #expect(text.text == "# HELP tries Tries.\n# TYPE tries gauge\n")
    }

    @Test func `what would end a label early is escaped`() {
        var text = PrometheusText()
        text.add("x", .gauge, "X.", by: "l", [("a\"b\\c\nd", 0.5)])
        #expect(text.text.hasSuffix("x{l=\"a\\\"b\\\\c\\nd\"} 0.5\n"))
    }

    /// A quote with an accent, and a CR with its LF, are one character each.
    @Test(arguments: ["a\"\u{301}b", "a\r\nb", "\\\u{301}n", "\"", "\\", "\n", "\\\"\n", "", "é 漢 {}=,"])
    func `a label reads back as it was`(value: String) throws {
        var text = PrometheusText()
        text.add("x", .gauge, "X.", by: "l", [(value, 1)])
        text.add("y", .gauge, "Y.", [(labels: ["k": value, "l": value], value: 2)])
        let read = try Exposition(text.text).values
        #expect(read == ["x{l=\"\(value)\"}": 1, "y{k=\"\(value)\",l=\"\(value)\"}": 2])
    }

    @Test(arguments: [(0.0, "0.0"), (-1.5, "-1.5"), (1e300, "1e+300"), (0.1, "0.1"), (.infinity, "inf")])
    func `a number is written so that it reads back whole`(value: Double, written: String) throws {
        var text = PrometheusText()
        text.add("x", .gauge, "X.", value)
        text.add("y_total", .counter, "Y.", UInt64.max)
        #expect(text.text.contains("\nx \(written)\n") && text.text.hasSuffix("\ny_total 18446744073709551615\n"))
        #expect(try Exposition(text.text).values["x"] == value)
    }
}
