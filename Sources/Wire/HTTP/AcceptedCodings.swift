/// The codings in which a client takes the content of an answer (RFC 9110 §12.5.3).
public enum AcceptedCodings {
    /// Whether content is wanted in gzip at least as much as in no coding.
    ///
    /// - Parameter field: the value of Accept-Encoding; nil: there is none. An element whose weight cannot be read is not wanted.
    public static func takesGzip(_ field: String?) -> Bool {
        guard let field else { return false }
        var gzip: Int?, others: Int?, identity = 0
        for element in field.split(separator: ",") {
            let parts = element.split(separator: ";", omittingEmptySubsequences: false), weight = weight(parts.dropFirst())
            switch parts[0].trimmingBlanks.lowercased() {
            case "gzip", "x-gzip": gzip = weight
            case "*": others = weight
            case "identity": identity = weight
            default: break
            }
        }
        let wanted = gzip ?? others ?? 0
        return wanted > 0 && wanted >= identity
    }

    /// In thousandths.
    private static func weight(_ parameters: ArraySlice<Substring>) -> Int {
        for parameter in parameters {
            let text = parameter.trimmingBlanks.lowercased()
            if text.hasPrefix("q=") { return thousandths(text.dropFirst(2)) ?? 0 }
        }
        return 1_000
    }

    /// `0.5`, at most three digits behind the point (RFC 9110 §12.4.2).
    private static func thousandths(_ text: Substring) -> Int? {
        let parts = text.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
        let fraction = parts.count == 2 ? parts[1] : ""
        guard parts[0] == "0" || parts[0] == "1", fraction.utf8.count <= 3, fraction.utf8.allSatisfy({ 0x30...0x39 ~= $0 }) else {
            return nil
        }
        let value = Int(parts[0] + fraction + String(repeating: "0", count: 3 - fraction.utf8.count))
        return value.flatMap { $0 <= 1_000 ? $0 : nil }
    }
}
