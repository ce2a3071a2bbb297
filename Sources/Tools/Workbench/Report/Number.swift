/// Numbers as people read them.
enum Number {
    /// Three significant digits, no exponent.
    static func text(_ value: Double) -> String {
        guard value.isFinite else { return "\(value)" }
        let digits = abs(value) >= 100 ? 0 : abs(value) >= 10 ? 1 : 2
        return text(value, digits: digits)
    }

    static func text(_ value: Double, digits: Int) -> String {
        let factor = [1, 10, 100, 1_000][min(3, digits)], scaled = Int64((abs(value) * Double(factor)).rounded())
        let whole = "\(value < 0 && scaled > 0 ? "-" : "")\(scaled / Int64(factor))"
        guard digits > 0 else { return whole }
        let fraction = "\(scaled % Int64(factor))"
        return whole + "." + String(repeating: "0", count: digits - fraction.count) + fraction
    }

    /// Without zeros at the end.
    static func short(_ value: Double, digits: Int = 2) -> String {
        var text = text(value, digits: digits)
        while text.contains("."), text.hasSuffix("0") || text.hasSuffix(".") { text.removeLast() }
        return text
    }
}

extension BinaryInteger {
    /// `1 call`, `2 calls`.
    public func counted(_ one: String, _ many: String) -> String { "\(self) \(self == 1 ? one : many)" }
}
