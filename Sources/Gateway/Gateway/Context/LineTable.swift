import CallKit
import Primitives

/// The gateway's lines, by their numbers and by what is dialled. Lives on the signalling lane.
final class LineTable {
    /// A line that has left the configuration stays, for the calls that it has, and is found by no number.
    private(set) var all: [Line]
    private(set) var routing: Routing
    private var bySystem: [ObjectIdentifier: Int]
    /// Behind those that are configured: answers feature codes, and is found by no number. nil where there are no codes.
    let service: Line?

    init(_ lines: [Line], _ routing: Routing) {
        (all, self.routing) = (lines, routing)
        bySystem = Dictionary(uniqueKeysWithValues: lines.map { (ObjectIdentifier($0.system), $0.index) })
        service = lines.last.flatMap { routing.line(numbered: $0.configuration.number) == $0.index ? nil : $0 }
    }

    /// Another configuration of all lines. One that stays is the same object, with its calls and what its user set, and so is one that
    /// comes back.
    /// - Parameter make: makes a line that there never was, of its place.
    /// - Returns: what is different.
    func adopt(
        _ configurations: [LineConfiguration], statuses: RefusalStatuses, make: (LineConfiguration, Int) -> Line
    ) -> ConfigurationChange {
        var change = ConfigurationChange(), places: [Int] = []
        let known = Dictionary(all.filter { $0 !== service }.map { ($0.configuration.number, $0.index) }) { first, _ in first }
        for configuration in configurations {
            let number = configuration.number
            if let place = known[number] {
                places.append(place)
                let isNew = routing.line(numbered: number) == nil
                guard isNew || all[place].configuration != configuration else { continue }
                all[place].adopt(configuration, statuses: statuses)
                if isNew { change.added.append(number) } else { change.changed.append(number) }
            } else {
                let line = make(configuration, all.count)
                places.append(line.index)
                bySystem[ObjectIdentifier(line.system)] = line.index
                all.append(line)
                change.added.append(number)
            }
        }
        let staying = Set(places)
        change.removed = all.filter { routing.line(numbered: $0.configuration.number) == $0.index && !staying.contains($0.index) }.map(
            \.configuration.number)
        routing = Routing(configurations, places: places)
        return change
    }

    /// Those that the configuration has now.
    var configured: [Line] { all.filter { routing.line(numbered: $0.configuration.number) == $0.index } }

    subscript(index: Int) -> Line { all[index] }

    /// The line of just this number; nil when there is none.
    func line(numbered number: Text) -> Line? { routing.line(numbered: number).map { all[$0] } }

    /// The line that a number reaches, by itself or by a pattern.
    /// - Parameter host: of the URI that was called.
    func line(for number: Text, host: Text?) -> Line? { routing.line(for: number, host: host).map { all[$0] } }

    func line(of system: ObjectIdentifier) -> Line? { bySystem[system].map { all[$0] } }
}
