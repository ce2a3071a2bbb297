import CallJournal
import Foundation
import Primitives
import Testing

@testable import Console

/// Each event that is told is as the AsyncAPI document says.
@Suite struct EventDocumentTests {
    private static let document = AsyncAPIDocument.json(version: "1.2.3")

    /// An event of a kind, with all that the journal's table has, or as little as it may have.
    private static func event(_ kind: JournalEvent.Kind, isFull: Bool, _ own: [JournalEvent.Key: JournalEvent.Value]) -> JournalEvent {
        var details: JournalEvent.Details = [:]
        for detail in kind.explanation.details where isFull || !detail.isOptional {
            details[detail.key] = own[detail.key] ?? (detail.key.isNumber ? 1 : "x")
        }
        return JournalEvent(
            sequence: 7, time: .zero, wall: 1, call: isFull ? CallUUID(UUID()) : nil, line: isFull ? "1001" : .empty, kind: kind,
            details: details)
    }

    /// What makes one kind several types.
    private static func variants(_ kind: JournalEvent.Kind) -> [(own: [JournalEvent.Key: JournalEvent.Value], isOn: Bool?)] {
        switch kind {
        case .actionFulfilled:
            ["answer", "held", "muted", "group", "start", "end", "dtmf"].flatMap { name in
                [true, false].map { ([.class: .text(Text(name))], $0) }
            }
        case .registerAccepted: [([.expires: 60], nil), ([.expires: 0], nil)]
        default: [([:], nil)]
        }
    }

    @Test func `each event has the members that its message has, and each message is of an event`() throws {
        var told: Set<EventType> = []
        for kind in JournalEvent.Kind.allCases {
            for (own, isOn) in Self.variants(kind) {
                for isFull in [true, false] {
                    let event = Self.event(kind, isFull: isFull, own)
                    guard let type = EventType(event, isOn: isOn) else { continue }
                    told.insert(type)
                    try Self.expect(PublicEvent(event, type, run: "0123abcd"), isFull: isFull)
                }
            }
        }
        #expect(told == Set(EventType.allCases))
        #expect(Self.document["components"]?["messages"]?.keys.sorted() == EventType.allCases.map(AsyncAPIDocument.key).sorted())
        #expect(Self.document["channels"]?["events"]?["messages"]?.keys.count == EventType.allCases.count)
    }

    private static func expect(_ event: PublicEvent, isFull: Bool) throws {
        let json = try JSONSerialization.jsonObject(with: Data(event.encoded().json(after: nil)))
        let object = try #require(json as? [String: Any]), data = try #require(object["data"] as? [String: Any])
        let name = event.type.rawValue, message = try #require(document["components"]?["messages"]?[AsyncAPIDocument.key(event.type)])
        let all = try #require(document["components"]?["schemas"]?["Event"])
        let own = try #require(message["payload"]?["allOf"]?.elements.last?["properties"])
        #expect(own["type"]?["const"] == .text(name))
        #expect(message["summary"]?.string?.isEmpty == false)
        let members = isFull ? all["properties"]?.keys : all["required"]?.elements.compactMap(\.string)
        #expect(object.keys.sorted() == members?.sorted(), "\(name)")
        let properties = try #require(own["data"]?["properties"])
        for key in data.keys { #expect(properties[key]?["type"] == (data[key] is String ? "string" : "integer"), "\(name): \(key)") }
        for key in own["data"]?["required"]?.elements ?? [] { #expect(data[key.string ?? ""] != nil, "\(name): \(key)") }
        // Of a type of one kind all members are known.
        if isFull, event.type.kinds.count == 1 {
            let told = Array(data.keys) + event.type.additions.map(\.key.rawValue)
            #expect(told.sorted() == properties.keys.sorted(), "\(name)")
        }
    }
}
