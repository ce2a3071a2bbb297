import Foundation
import Primitives

/// An event of one gateway, on its way to a reader of several: the same JSON, with the place that it has among the events of all.
struct MergedEvent {
    let position: EventPosition
    let type: String
    private let text: [UInt8]

    init(json: [UInt8], position: EventPosition, type: String) { (text, self.position, self.type) = (json, position, type) }

    /// An event as another gateway tells it; nil for what is none.
    init?(json: [UInt8]) {
        guard let id = Self.value(of: "id", in: json), let position = EventPosition(String(decoding: json[id], as: UTF8.self)),
            let type = Self.value(of: "type", in: json)
        else { return nil }
        self.init(json: json, position: position, type: String(decoding: json[type], as: UTF8.self))
    }

    /// - Parameters:
    ///   - id: the position among the events of all.
    ///   - previous: the one of the event before it; nil at the beginning.
    func json(id: String, after previous: String?, of node: String) -> [UInt8] {
        var json = text
        // Behind the names of these two nothing stands that somebody outside has written, so each is where it is found first.
        if let place = Self.place(of: "prev", in: json) { json.replaceSubrange(place, with: (previous.map { "\"\($0)\"" } ?? "null").utf8) }
        if let place = Self.place(of: "id", in: json) { json.replaceSubrange(place, with: "\"\(id)\"".utf8) }
        json.removeLast()
        return json + Array(",\"node\":\"\(node)\",\"nodePosition\":\"\(position)\"}".utf8)
    }

    static func news(
        _ news: MergedReader.News, of node: String, id: String, after previous: String?, _ data: [(String, String)]
    ) -> [UInt8] {
        var json = JSONWriter()
        json.object { json in
            json.member("specversion", "1.0")
            json.member("id", id)
            json.member("source", "/hookswitch/nodes")
            json.member("type", news.rawValue)
            json.member("time", Timestamp(UInt64(Date().timeIntervalSince1970 * 1e9)).description)
            json.member("prev", previous)
            json.member("node", node)
            json.member("data") { json in json.object { json in for (name, value) in data { json.member(name, value) } } }
        }
        return json.bytes
    }

    /// The place of a member's value, where that is a text without escapes or null.
    private static func place(of name: String, in json: [UInt8]) -> Range<Int>? {
        let key = Array("\"\(name)\":".utf8)
        guard let start = json.firstRange(of: key)?.upperBound, start < json.count else { return nil }
        guard json[start] == UInt8(ascii: "\"") else { return json[start...].starts(with: "null".utf8) ? start..<start + 4 : nil }
        return json[(start + 1)...].firstIndex(of: UInt8(ascii: "\"")).map { start..<$0 + 1 }
    }

    /// Without its quotes.
    private static func value(of name: String, in json: [UInt8]) -> Range<Int>? {
        place(of: name, in: json).flatMap { json[$0.lowerBound] == UInt8(ascii: "\"") ? $0.lowerBound + 1..<$0.upperBound - 1 : nil }
    }
}
