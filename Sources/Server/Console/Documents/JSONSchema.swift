/// A JSON Schema (2020-12), as OpenAPI 3.1 and AsyncAPI 3.0 have it.
struct JSONSchema: Sendable {
    private(set) var members: [String: JSONValue]

    var json: JSONValue { .object(members) }

    /// A member of an object.
    struct Property: Sendable {
        let name: String
        let schema: JSONSchema
        let isRequired: Bool

        static func always(_ name: String, _ schema: JSONSchema) -> Property { Property(name: name, schema: schema, isRequired: true) }
        static func maybe(_ name: String, _ schema: JSONSchema) -> Property { Property(name: name, schema: schema, isRequired: false) }
        /// A member of a request: null means absent.
        static func optional(_ name: String, _ schema: JSONSchema) -> Property { .maybe(name, schema.orNull) }
    }

    private init(_ type: JSONValue?, _ meaning: String, _ more: [String: JSONValue] = [:]) {
        members = more
        members["type"] = type
        if !meaning.isEmpty { members["description"] = .text(meaning) }
    }

    static func text(_ meaning: String, _ more: [String: JSONValue] = [:]) -> JSONSchema { .init("string", meaning, more) }
    static func uuid(_ meaning: String) -> JSONSchema { .text(meaning, ["format": "uuid"]) }
    /// RFC 3339, UTC.
    static func time(_ meaning: String) -> JSONSchema { .text(meaning, ["format": "date-time"]) }
    static func number(_ meaning: String, _ more: [String: JSONValue] = [:]) -> JSONSchema { .init("integer", meaning, more) }
    static func flag(_ meaning: String, _ more: [String: JSONValue] = [:]) -> JSONSchema { .init("boolean", meaning, more) }
    static func constant(_ value: String) -> JSONSchema { .init(nil, "", ["const": .text(value)]) }

    static func choice(_ values: [String], _ meaning: String) -> JSONSchema {
        .text(meaning, ["enum": .array(values.map(JSONValue.text))])
    }

    static func list(of element: JSONSchema, _ meaning: String = "", most: Int? = nil) -> JSONSchema {
        .init("array", meaning, ["items": element.json].merging(most.map { ["maxItems": .number($0)] } ?? [:]) { $1 })
    }

    /// - Parameter isClosed: it has no other members.
    static func object(_ meaning: String, _ properties: [Property], isClosed: Bool = false) -> JSONSchema {
        var schema = JSONSchema("object", meaning)
        schema.members["properties"] = .object(Dictionary(properties.map { ($0.name, $0.schema.json) }) { $1 })
        let required = properties.filter(\.isRequired).map { JSONValue.text($0.name) }
        if !required.isEmpty { schema.members["required"] = .array(required) }
        if isClosed { schema.members["additionalProperties"] = false }
        return schema
    }

    /// One of the document's own.
    static func reference(_ name: String) -> JSONSchema { .init(nil, "", ["$ref": .text(place(of: name))]) }
    private static func place(of name: String) -> String { "#/components/schemas/\(name)" }

    /// Exactly one of these objects, told apart by a member.
    static func oneOf(_ names: [(value: String, schema: String)], by property: String) -> JSONSchema {
        let mapping = names.map { ($0.value, JSONValue.text(place(of: $0.schema))) }
        return .init(
            nil, "",
            [
                "oneOf": .array(names.map { reference($0.schema).json }),
                "discriminator": ["propertyName": .text(property), "mapping": .object(Dictionary(mapping) { $1 })],
            ])
    }

    /// Null, too.
    var orNull: JSONSchema {
        guard let type = members["type"] else { return .init(nil, "", ["anyOf": [json, ["type": "null"]]]) }
        var schema = self
        schema.members["type"] = [type, "null"]
        if case .array(let values) = members["enum"] { schema.members["enum"] = .array(values + [.null]) }
        return schema
    }

    func with(_ more: [String: JSONValue]) -> JSONSchema {
        var schema = self
        schema.members.merge(more) { $1 }
        return schema
    }
}
