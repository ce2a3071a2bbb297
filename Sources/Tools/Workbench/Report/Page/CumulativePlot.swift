import Glibc

/// The part of all values that is no larger than each value, as SVG; the values on a logarithmic axis.
struct CumulativePlot {
    struct Line {
        var name: String
        /// The name of a CSS variable of the page.
        var color: String
        var steps: [Distribution.Step]
    }

    var title: String
    var unit: String
    var lines: [Line]
    var limits: [Plot.Limit] = []

    private static let (width, height, left, bottom, top) = (460.0, 170.0, 44.0, 22.0, 8.0)
    /// The least that the axis tells from nothing.
    private static let least = 0.01

    var figure: String {
        let known = lines.filter { !$0.steps.isEmpty }, values = known.flatMap { $0.steps.map(\.upTo) }
        guard let greatest = values.max(), let smallest = values.min() else { return Plot.figure(title, unit, lines: [], body: nil) }
        let decades = Self.decades(from: smallest, to: greatest)
        let body = grid(decades) + limits.map { limit($0, decades) }.joined() + known.map { path($0, decades) }.joined()
        return Plot.figure(title, unit, lines: known.map { ($0.name, $0.color) }, body: body)
    }

    /// Powers of ten that hold all values.
    private static func decades(from smallest: Double, to greatest: Double) -> ClosedRange<Int> {
        let low = Int(log10(max(smallest, least)).rounded(.down)), high = Int(log10(max(greatest, least)).rounded(.up))
        return low...max(low + 1, high)
    }

    private func x(_ value: Double, _ decades: ClosedRange<Int>) -> Double {
        let part = (log10(max(value, Self.least)) - Double(decades.lowerBound)) / Double(decades.count - 1)
        return Self.left + (Self.width - Self.left - 8) * min(1, max(0, part))
    }
    private func y(_ part: Double) -> Double { Self.top + (Self.height - Self.top - Self.bottom) * (1 - part) }

    private func grid(_ decades: ClosedRange<Int>) -> String {
        let parts = [0.0, 0.5, 0.95, 1].map { part in
            Plot.rule(y: y(part), from: Self.left, to: Self.width - 8)
                + Plot.label("\(Int(part * 100)) %", x: Self.left - 6, y: y(part), "end")
        }
        let powers = decades.map { power in
            Plot.label(Number.short(pow(10, Double(power)), digits: 3), x: x(pow(10, Double(power)), decades), y: Self.height - 8, "middle")
        }
        return (parts + powers).joined()
    }

    private func limit(_ limit: Plot.Limit, _ decades: ClosedRange<Int>) -> String {
        let place = Number.text(x(limit.value, decades), digits: 1)
        return "<line class=\"limit\" x1=\"\(place)\" x2=\"\(place)\" y1=\"\(Int(Self.top))\" y2=\"\(Int(Self.height - Self.bottom))\"/>"
            + Plot.label(limit.text, x: x(limit.value, decades) - 4, y: y(0.12), "end", isLimit: true)
    }

    private func path(_ line: Line, _ decades: ClosedRange<Int>) -> String {
        let all = Double(line.steps.reduce(0) { $0 + $1.count })
        var seen = 0.0, commands = ""
        for step in line.steps {
            let place = Number.text(x(step.upTo, decades), digits: 1)
            commands += (commands.isEmpty ? "M" : "L") + "\(place) \(Number.text(y(seen / all), digits: 1))"
            seen += Double(step.count)
            commands += "L\(place) \(Number.text(y(seen / all), digits: 1))"
        }
        return Plot.stroke(commands, line.color)
    }
}
