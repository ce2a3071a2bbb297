import CallKit
import Primitives

/// The gateway's lines, by their numbers and by what is dialled. Lives on the signalling lane.
final class LineTable {
    let all: [Line]
    let routing: Routing
    private let bySystem: [ObjectIdentifier: Int]

    init(_ lines: [Line], _ routing: Routing) {
        (all, self.routing) = (lines, routing)
        bySystem = Dictionary(uniqueKeysWithValues: lines.map { (ObjectIdentifier($0.system), $0.index) })
    }

    subscript(index: Int) -> Line { all[index] }

    /// The line of just this number; nil when there is none.
    func line(numbered number: Text) -> Line? { routing.line(numbered: number).map { all[$0] } }

    /// The line that a number reaches, by itself or by a pattern.
    /// - Parameter host: of the URI that was called.
    func line(for number: Text, host: Text?) -> Line? { routing.line(for: number, host: host).map { all[$0] } }

    func line(of system: ObjectIdentifier) -> Line? { bySystem[system].map { all[$0] } }
}
