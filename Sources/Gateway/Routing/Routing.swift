import Primitives
import SIP

/// Which line a dialled number reaches: the line of that number, else the longest pattern that matches.
struct Routing {
    private var byNumber: [Text: Int] = [:]
    private var patterns: [(pattern: NumberPattern, line: Int)] = []

    init(_ lines: [LineConfiguration]) {
        for (index, line) in lines.enumerated() {
            byNumber[line.number] = index
            if let pattern = line.match { patterns.append((pattern, index)) }
        }
        patterns.sort { $0.pattern.description.utf8.count > $1.pattern.description.utf8.count }
    }

    /// The index of the line, or nil where nobody has the number.
    func line(for number: Text) -> Int? {
        byNumber[number] ?? patterns.first { $0.pattern.matches(number) }?.line
    }

    /// The index of the line that has just this number.
    func line(numbered number: Text) -> Int? { byNumber[number] }

    /// The number that a request URI dials: the user part of a SIP URI, or the number of a tel URI without its visual separators.
    static func dialledNumber(_ uri: URI) -> Text? {
        switch uri.scheme {
        case .sip, .sips: uri.user
        case .tel: Text((uri.user ?? uri.host).bytes.filter { !"-.() ".utf8.contains($0) })
        case .other: nil
        }
    }
}
