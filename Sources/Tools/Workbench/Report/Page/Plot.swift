import CallJournal

/// Lines over time as SVG.
struct Plot {
    struct Line {
        var name: String
        /// The name of a CSS variable of the page.
        var color: String
        /// One for each part of the time; nil: not measured, a gap.
        var values: [Double?]
    }

    /// The limit of a service level.
    struct Limit {
        /// The term.
        var text: String
        var value: Double
    }

    var title: String
    var unit: String
    var lines: [Line]
    var limits: [Limit] = []

    private static let (width, height, left, bottom, top) = (460.0, 170.0, 44.0, 22.0, 8.0)

    /// A limit that is further above all values is not drawn: it would press them flat.
    private static let farAbove = 3.0

    /// - Parameter length: of one part, in seconds.
    func figure(length: Double) -> String {
        let names = lines.map { ($0.name, $0.color) }, values = lines.flatMap(\.values).compactMap(\.self)
        guard let highest = values.max() else { return Self.figure(title, unit, lines: names, body: nil) }
        let near = limits.filter { $0.value <= max(highest, 1e-9) * Self.farAbove }
        let scale = Self.rounded(max(highest > 0 ? highest : 1, near.map(\.value).max() ?? 0)), count = lines.map(\.values.count).max() ?? 1
        let body =
            grid(scale, seconds: Double(count) * length) + near.map { limit($0, scale) }.joined()
            + lines.map { path($0, scale, count) }.joined()
        let far = limits.filter { $0.value > max(highest, 1e-9) * Self.farAbove }.map { "\($0.text): far above" }
        return Self.figure(title, unit, lines: names, body: body, note: far.joined(separator: ", "))
    }

    /// - Parameter body: nil where there is nothing to draw.
    static func figure(_ title: String, _ unit: String, lines: [(name: String, color: String)], body: String?, note: String = "") -> String
    {
        let names = lines.map { "<i style=\"color:var(--\($0.color))\">\(Markup.escaped($0.name))</i>" }.joined()
        let words = [title, unit, note].filter { !$0.isEmpty }.joined(separator: ", ")
        let caption = "<figcaption>\(Markup.escaped(words)) \(names)</figcaption>"
        guard let body else { return "<figure>\(caption)<p class=\"quiet\">\(lines.isEmpty ? "none" : "not measured")</p></figure>" }
        let size = "viewBox=\"0 0 \(Int(width)) \(Int(height))\""
        return "<figure>\(caption)<svg \(size) role=\"img\" aria-label=\"\(Markup.escaped(title))\">\(body)</svg></figure>"
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
            Self.rule(y: y(part * scale, scale), from: Self.left, to: Self.width - 8)
                + Self.label(Self.label(part * scale), x: Self.left - 6, y: y(part * scale, scale), "end")
        }
        let times = [0.0, 0.5, 1].map { part in
            let anchor = part == 0 ? "start" : part == 1 ? "end" : "middle"
            return Self.label(
                "\(Self.label(seconds * part)) s", x: Self.left + (Self.width - Self.left - 8) * part, y: Self.height - 8, anchor)
        }
        return (lines + times).joined()
    }

    private func limit(_ limit: Limit, _ scale: Double) -> String {
        Self.rule(y: y(limit.value, scale), from: Self.left, to: Self.width - 8, isLimit: true)
            + Self.label(limit.text, x: Self.width - 12, y: y(limit.value, scale) - 7, "end", isLimit: true)
    }

    static func rule(y: Double, from left: Double, to right: Double, isLimit: Bool = false) -> String {
        let place = Number.text(y, digits: 1), style = isLimit ? "class=\"limit\"" : "stroke=\"var(--line)\""
        return "<line x1=\"\(Int(left))\" x2=\"\(Int(right))\" y1=\"\(place)\" y2=\"\(place)\" \(style)/>"
    }

    static func label(_ text: String, x: Double, y: Double, _ anchor: String, isLimit: Bool = false) -> String {
        let place = "x=\"\(Int(x))\" y=\"\(Number.text(y, digits: 1))\" text-anchor=\"\(anchor)\" dominant-baseline=\"middle\""
        return "<text \(place)\(isLimit ? " class=\"limit\"" : "")>\(Markup.escaped(text))</text>"
    }

    static func stroke(_ commands: String, _ color: String) -> String {
        "<path d=\"\(commands)\" fill=\"none\" stroke=\"var(--\(color))\" stroke-width=\"1.8\" stroke-linejoin=\"round\"/>"
    }

    private static func label(_ value: Double) -> String { Number.short(value, digits: abs(value) >= 10 ? 1 : 2) }

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
        return Self.stroke(commands, line.color) + dots
    }
}
