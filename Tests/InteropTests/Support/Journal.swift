import Foundation
import Testing

/// A journal as written: the tests read the lines themselves, so that a fault of the gateway's reader hides nothing.
struct Journal {
    struct Event {
        var kind: String
        var call: String?
        var details: [String: Any]
        func number(_ key: String) -> Int? { (details[key] as? NSNumber)?.intValue }
        func text(_ key: String) -> String? { details[key] as? String }
    }

    let events: [Event]

    init(file: String) throws {
        let text = try String(contentsOfFile: file, encoding: .utf8)
        events = try text.split(separator: "\n").map { line in
            guard let object = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any],
                let kind = object["kind"] as? String
            else {
                throw Unmet("a line of the journal is no event: \(line)")
            }
            return Event(kind: kind, call: object["call"] as? String, details: object["details"] as? [String: Any] ?? [:])
        }
    }

    func all(_ kind: String) -> [Event] { events.filter { $0.kind == kind } }
    func count(_ kind: String) -> Int { all(kind).count }

    /// Calls that had media, by UUID, with the packets that they sent and received.
    var packets: [String: (sent: Int, received: Int)] {
        var sums: [String: (sent: Int, received: Int)] = [:]
        for event in all("media.closed") {
            guard let call = event.call else { continue }
            sums[call] = (event.number("packets") ?? 0, event.number("received") ?? 0)
        }
        return sums
    }

    /// Every call that came to life ended, and every port that was taken was given back.
    func expectNothingLeft() {
        #expect(count("report.incoming") > 0)
        #expect(count("media.reserved") == count("media.released"))
        #expect(count("media.opened") == count("media.closed"))
        #expect(count("media.started") == count("media.stopped"))
    }
}
