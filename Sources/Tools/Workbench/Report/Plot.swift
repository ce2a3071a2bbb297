/// Lines over time as SVG.
struct Plot {
    struct Line {
        var name: String
        /// The name of a CSS variable of the page.
        var color: String
        /// One for each part of the time; nil: not measured, a gap.
        var values: [Double?]
    }

    var title: String
    var unit: String
    var lines: [Line]

    private static let (width, height, left, bottom, top) = (460.0, 170.0, 44.0, 22.0, 8.0)

    /// - Parameter length: of one part, in seconds.
    func figure(length: Double) -> String {
        let names = lines.map { "<i style=\"color:var(--\($0.color))\">\(Markup.escaped($0.name))</i>" }.joined()
        let caption = "<figcaption>\(Markup.escaped(title))\(unit.isEmpty ? "" : ", \(unit)") \(names)</figcaption>"
        let values = lines.flatMap(\.values).compactMap(\.self)
        guard let highest = values.max() else {
            return "<figure>\(caption)<p class=\"quiet\">\(lines.isEmpty ? "none" : "not measured")</p></figure>"
        }
        let scale = Self.rounded(highest > 0 ? highest : 1), count = lines.map(\.values.count).max() ?? 1
        let body = grid(scale, seconds: Double(count) * length) + lines.map { path($0, scale, count) }.joined()
        return
            "<figure>\(caption)<svg viewBox=\"0 0 \(Int(Self.width)) \(Int(Self.height))\" role=\"img\" aria-label=\"\(Markup.escaped(title))\">\(body)</svg></figure>"
    }

    /// The next of 1, 2, 2.5, 5 and their tenfolds.
    private static func rounded(_ value: Double) -> Double {
        var unit = 1.0
        while unit > value { unit /= 10 }
        while unit * 10 <= value { unit *= 10 }
        return [1, 2, 2.5, 5, 10].map { $0 * unit }.first { $0 >= value } ?? 10 * unit
    }

    private func x(_ index: Int, _ count: Int) -> Double {
        Self.left + (Self.width - Self.left - 8) * (count > 1 ? Double(index) / Double(count - 1) : 0.5)
    }
    private func y(_ value: Double, _ scale: Double) -> Double { Self.top + (Self.height - Self.top - Self.bottom) * (1 - value / scale) }

    private func grid(_ scale: Double, seconds: Double) -> String {
        let lines = [0.0, 0.5, 1].map { part in
            let y = Number.text(y(part * scale, scale), digits: 1)
            return "<line x1=\"\(Int(Self.left))\" x2=\"\(Int(Self.width - 8))\" y1=\"\(y)\" y2=\"\(y)\" stroke=\"var(--line)\"/>"
                + "<text x=\"\(Int(Self.left - 6))\" y=\"\(y)\" text-anchor=\"end\" dominant-baseline=\"middle\">\(Self.label(part * scale))</text>"
        }
        let times = [0.0, 0.5, 1].map { part in
            let anchor = part == 0 ? "start" : part == 1 ? "end" : "middle"
            return
                "<text x=\"\(Int(Self.left + (Self.width - Self.left - 8) * part))\" y=\"\(Int(Self.height - 6))\" text-anchor=\"\(anchor)\">\(Self.label(seconds * part)) s</text>"
        }
        return (lines + times).joined()
    }

    private static func label(_ value: Double) -> String {
        var text = Number.text(value, digits: abs(value) >= 10 ? 1 : 2)
        while text.contains("."), text.hasSuffix("0") || text.hasSuffix(".") { text.removeLast() }
        return text
    }

    /// A line for each stretch without a gap; a single value is a dot.
    private func path(_ line: Line, _ scale: Double, _ count: Int) -> String {
        var commands = "", dots = "", isDrawing = false
        for (index, value) in line.values.enumerated() {
            guard let value else {
                isDrawing = false
                continue
            }
            let place = "\(Number.text(x(index, count), digits: 1)) \(Number.text(y(value, scale), digits: 1))"
            commands += (isDrawing ? "L" : "M") + place
            let hasNext = index + 1 < line.values.count && line.values[index + 1] != nil
            if !isDrawing, !hasNext {
                let parts = place.split(separator: " ")
                dots += "<circle cx=\"\(parts[0])\" cy=\"\(parts[1])\" r=\"2.5\" fill=\"var(--\(line.color))\"/>"
            }
            isDrawing = true
        }
        return "<path d=\"\(commands)\" fill=\"none\" stroke=\"var(--\(line.color))\" stroke-width=\"1.8\" stroke-linejoin=\"round\"/>"
            + dots
    }
}
