import CallJournal
import Foundation
import Primitives

/// One event as it is told outside: a CloudEvent in JSON (CloudEvents 1.0.2, structured mode).
struct PublicEvent: Sendable {
    let position: EventPosition
    let type: EventType
    let call: CallUUID?
    let line: Text
    /// Nanoseconds since 1970-01-01 UTC.
    let wall: UInt64
    private var details: [(key: JournalEvent.Key, value: JournalEvent.Value)]

    init(_ event: borrowing JournalEvent, _ type: EventType, run: String) {
        (position, self.type, call) = (EventPosition(run: run, sequence: event.sequence), type, event.call)
        (line, wall) = (event.line.detached, event.wall)
        details = event.details.fields.map { field in
            // A kept event must not keep the SIP message alive that its text was read from.
            guard case .text(let text) = field.value else { return (field.key, field.value) }
            return (field.key, .text(text.detached))
        }
    }

    /// Adds what a reader that keeps no state would not know: of an end the SIP status, of a move a call of the group that is joined.
    mutating func add(_ call: CallState) {
        switch type {
        case .callEnded: add(.status, call.status.map { .number($0) })
        case .callGrouped: add(.with, call.joined.map { .uuid($0) })
        default: break
        }
    }

    private mutating func add(_ key: JournalEvent.Key, _ value: JournalEvent.Value?) {
        guard let value, !details.contains(where: { $0.key == key }) else { return }
        details.append((key, value))
    }

    /// An event in JSON, but for what each reader has of its own.
    struct Encoded {
        fileprivate let head: [UInt8], tail: [UInt8]

        /// - Parameter previous: the position of the event before it in the stream that this is for; nil at its beginning.
        func json(after previous: EventPosition?) -> [UInt8] {
            var json = head
            json.reserveCapacity(head.count + tail.count + 64)
            json += (previous.map { "\"\($0)\"" } ?? "null").utf8
            json += tail
            return json
        }
    }

    func encoded() -> Encoded {
        var head = JSONWriter(), tail = JSONWriter()
        head.object { json in
            json.member("specversion", "1.0")
            json.member("id", position.description)
            json.member("source", "/hookswitch/\(position.run)")
            json.member("type", type.rawValue)
            json.member("time", Timestamp(wall).description)
            json.member("prev") { _ in }
        }
        tail.object { json in
            json.continues()
            if let call { json.member("call", call.description) }
            if !line.isEmpty { json.member("line", line.description) }
            json.member("data") { json in
                json.object { json in for detail in details { json.member(detail.key.rawValue, detail.value) } }
            }
        }
        return Encoded(head: Array(head.bytes.dropLast()), tail: Array(tail.bytes.dropFirst()))
    }
}

/// A moment as RFC 3339 has it, in UTC with milliseconds: `2026-11-27T02:19:23.004Z`.
struct Timestamp: CustomStringConvertible {
    private let wall: UInt64

    /// - Parameter wall: nanoseconds since 1970-01-01 UTC.
    init(_ wall: UInt64) { self.wall = wall }

    var description: String {
        var seconds = time_t(wall / 1_000_000_000), parts = tm()
        gmtime_r(&seconds, &parts)
        func padded(_ number: Int32, _ count: Int) -> String {
            let text = String(number)
            return String(repeating: "0", count: max(0, count - text.count)) + text
        }
        let date = "\(padded(parts.tm_year + 1900, 4))-\(padded(parts.tm_mon + 1, 2))-\(padded(parts.tm_mday, 2))"
        let time = [parts.tm_hour, parts.tm_min, parts.tm_sec].map { padded($0, 2) }.joined(separator: ":")
        return "\(date)T\(time).\(padded(Int32(wall / 1_000_000 % 1_000), 3))Z"
    }
}
