import Testing

@testable import Workbench

/// The geometry of a plot: 460 by 170, of which lines have 44 to 452 across and 8 to 148 down.
@Suite struct PlotTests {
    private static func figure(_ lines: [[Double?]], length: Double = 1) -> String {
        Plot(
            title: "a & b", unit: "ms",
            lines: lines.enumerated().map { .init(name: "l\($0.offset)", color: "c\($0.offset)", values: $0.element) }
        )
        .figure(length: length)
    }

    private static func paths(_ figure: String) -> [String] { figure.matches(of: /<path d="([^"]*)"/).map { String($0.output.1) } }
    private static func labels(_ figure: String) -> [String] { figure.matches(of: />([^<>]*)<\/text>/).map { String($0.output.1) } }

    @Test func `values lie between the ends of the axes`() {
        let figure = Self.figure([[0, 5, 10]])
        #expect(Self.paths(figure) == ["M44.0 148.0L248.0 78.0L452.0 8.0"])
        #expect(Self.labels(figure) == ["0", "5", "10", "0 s", "1.5 s", "3 s"])
    }

    @Test(arguments: [
        (0.0, "1"), (0.07, "0.1"), (1, "1"), (1.1, "2"), (2.2, "2.5"), (2.6, "5"), (7, "10"), (10, "10"), (11, "20"), (230, "250"),
        (99_999, "100000"),
    ]) func `the axis ends at the next round value`(highest: Double, label: String) {
        #expect(Self.labels(Self.figure([[highest, 0]]))[2] == label)
    }

    @Test func `a gap begins a new stretch, and a value alone is a dot`() {
        let figure = Self.figure([[10, 10, nil, 10, nil]])
        #expect(Self.paths(figure) == ["M44.0 8.0L146.0 8.0M350.0 8.0"])
        #expect(
            figure.contains("<circle cx=\"350.0\" cy=\"8.0\" r=\"2.5\" fill=\"var(--c0)\"/>") && figure.matches(of: /<circle/).count == 1)
    }

    @Test func `one value lies in the middle`() {
        #expect(Self.paths(Self.figure([[3]], length: 60)) == ["M248.0 64.0"])
    }

    @Test func `several lines have one scale, and the longest has the width`() {
        let paths = Self.paths(Self.figure([[10, 0], [5, nil, 5]]))
        #expect(paths == ["M44.0 8.0L248.0 148.0", "M44.0 78.0M452.0 78.0"])
    }

    @Test func `nothing measured is said in words`() {
        #expect(Self.figure([[nil, nil]]).contains(">not measured<") && Self.figure([]).contains(">none<"))
        #expect(Self.figure([[nil]]).contains("<figcaption>a &amp; b, ms "), "a title is escaped")
    }
}
