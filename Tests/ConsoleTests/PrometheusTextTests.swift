import Console
import Testing

@Suite struct PrometheusTextTests {
    @Test func `a family has its help and its type, and a line for each value`() {
        var text = PrometheusText()
        text.add("calls", .gauge, "Calls now.", 3)
        text.add("refused_total", .counter, "Refused.", by: "cause", [("ports", UInt64(1)), ("source", 2)])
        #expect(
            text.text == """
                # HELP calls Calls now.
                # TYPE calls gauge
                calls 3
                # HELP refused_total Refused.
                # TYPE refused_total counter
                refused_total{cause="ports"} 1
                refused_total{cause="source"} 2

                """)
    }

    @Test func `what would end a label early is escaped`() {
        var text = PrometheusText()
        text.add("x", .gauge, "X.", by: "l", [("a\"b\\c\nd", 0.5)])
        #expect(text.text.hasSuffix("x{l=\"a\\\"b\\\\c\\nd\"} 0.5\n"))
    }
}
