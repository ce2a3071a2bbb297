import CallJournal

/// The AsyncAPI 3.0 document of the events that `/v1/events` tells: made of the table of the journal's kinds.
enum AsyncAPIDocument {
    /// - Parameter version: of the program.
    static func json(version: String) -> JSONValue {
        let messages = Dictionary(uniqueKeysWithValues: EventType.allCases.map { (key($0), message($0)) })
        return [
            "asyncapi": "3.0.0", "id": "urn:hookswitch:events",
            "info": [
                "title": "Hookswitch events", "version": .text(version), "description": .text(introduction),
                "license": ["name": "Apache 2.0", "url": "https://www.apache.org/licenses/LICENSE-2.0"],
            ],
            "defaultContentType": "application/json",
            "channels": ["events": channel],
            "operations": [
                "tellEvents": [
                    "action": "send", "channel": ["$ref": "#/channels/events"], "summary": "Tell events to who listens",
                    "bindings": ["http": ["method": "GET", "query": query.json, "bindingVersion": "0.3.0"]],
                ]
            ],
            "components": ["messages": .object(messages), "schemas": ["Event": event.json]],
        ]
    }

    private static let introduction = """
        Server-Sent Events (WHATWG HTML §9.2): `data` is the event, one line of JSON; `id` is its position; `event` is its type. Each event is \
        a CloudEvent 1.0.2 in structured mode, with the extension attributes `prev`, `call` and `line`. `prev` is the `id` of the event before \
        it in the same stream: a stream in which each `prev` is the last `id` is whole.

        With the setting `api.nodes` the events are those of several gateways. `id` and `prev` are then positions in the events of all, and \
        each has the attributes `node`, the gateway that told it, and `nodePosition`, its place there. Three types tell of the gateways \
        themselves, and come whatever `types` says: `node.lost` (it does not answer), `node.back` (it does again; where `isWhole` of the \
        data is "false" its events before this are missing) and `node.gap` (events of it are not kept any more).

        Over WebSocket (RFC 6455), with the subprotocol `\(ControlAPI.eventProtocol)` or none, each text message is such an event.
        """

    private static var channel: JSONValue {
        let messages = EventType.allCases.map { (key($0), JSONValue.object(["$ref": .text("#/components/messages/\(key($0))")])) }
        return [
            "address": "/v1/events", "title": "Events of the gateway",
            "description": "In the order of the gateway's journal, from a position that its files have, or from now on.",
            "messages": .object(Dictionary(uniqueKeysWithValues: messages)),
            "bindings": ["ws": ["method": "GET", "query": query.json, "bindingVersion": "0.1.0"]],
        ]
    }

    /// As the OpenAPI document has it.
    private static var query: JSONSchema {
        let parameters = OpenAPIDocument.operations.filter { $0.path == "/v1/events" }.flatMap(\.parameters)
        return .object(
            "",
            parameters.filter { $0.place == "query" }.map { .maybe($0.name, $0.schema.with(["description": .text($0.meaning)])) })
    }

    /// The members that all events have.
    static let event = JSONSchema.object(
        "A CloudEvent (1.0.2, structured mode).",
        [
            .always("specversion", .constant("1.0")),
            .always("id", OpenAPISchemas.position),
            .always("source", .text("`/hookswitch/` and the run", ["format": "uri-reference"])),
            .always(
                "type", .choice(EventType.allCases.map(\.rawValue) + MergedReader.News.allCases.map(\.rawValue), "what happened")),
            .always("time", .time("when it happened")),
            .always("prev", .text("the `id` of the event before it in this stream; null at its beginning").orNull),
            .maybe("call", .uuid("the call that it is of")),
            .maybe("line", .text("the number of the line that it is of")),
            .always("data", .object("what the type says of it", [])),
        ])

    /// The key of its message: generators of code make names of keys, which have no dots.
    static func key(_ type: EventType) -> String { "\(type)" }

    private static func message(_ type: EventType) -> JSONValue {
        let own = JSONSchema.object("", [.always("type", .constant(type.rawValue)), .always("data", data(type))])
        return [
            "name": .text(type.rawValue), "summary": .text(type.meaning), "contentType": "application/json",
            "payload": .object(["allOf": .array([JSONSchema.reference("Event").json, own.json])]),
        ]
    }

    /// The details of the journal's kinds. One that a kind may lack, or has and another kind has not, is not always there.
    private static func data(_ type: EventType) -> JSONSchema {
        let tables = type.kinds.map { $0.explanation.details + type.additions }
        var properties: [JSONSchema.Property] = []
        for detail in tables.joined() where !properties.contains(where: { $0.name == detail.key.rawValue }) {
            let isAlwaysThere = tables.allSatisfy { $0.contains { $0.key == detail.key && !$0.isOptional } }
            let schema = schema(detail)
            properties.append(isAlwaysThere ? .always(detail.key.rawValue, schema) : .maybe(detail.key.rawValue, schema))
        }
        return .object("", properties, isClosed: true)
    }

    private static func schema(_ detail: JournalEvent.Kind.Detail) -> JSONSchema {
        let meaning = detail.meaning.isEmpty ? detail.key.meaning : "\(detail.key.meaning): \(detail.meaning)"
        return detail.key.isNumber ? .number(meaning) : .text(meaning)
    }
}
