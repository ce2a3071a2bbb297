import HTTP

/// One method of one path, as the OpenAPI document says it. Refusals that every request may meet are added by the document.
struct OpenAPIOperation: Sendable {
    /// An answer, by its status.
    struct Answer: Sendable {
        let status: HTTPResponse.Status
        let meaning: String
        /// The media type and the schema of the content; nil: none.
        var content: (type: String, schema: JSONSchema, example: JSONValue?)?
        /// Other media types, by name.
        var others: [String: JSONSchema] = [:]
        /// The operations that may follow, by name: the path parameter, and where its value stands in this answer.
        var links: [String: (parameter: String, value: String)] = [:]

        static func json(
            _ status: HTTPResponse.Status, _ meaning: String, _ schema: String, links: [String: (parameter: String, value: String)] = [:]
        ) -> Answer {
            Answer(status: status, meaning: meaning, content: ("application/json", .reference(schema), nil), links: links)
        }

        static func empty(_ status: HTTPResponse.Status, _ meaning: String) -> Answer { Answer(status: status, meaning: meaning) }

        /// A refusal.
        ///
        /// - Parameter codes: what `code` may be, the usual one first.
        static func problem(_ status: HTTPResponse.Status, _ meaning: String, _ codes: String...) -> Answer {
            let code = codes.first ?? ""
            let example: JSONValue = [
                "type": .text("urn:hookswitch:problem:\(code)"), "title": .text(status.reasonPhrase), "status": .number(status.code),
                "detail": .text(meaning), "code": .text(code),
            ]
            let all = codes.map { "`\($0)`" }.joined(separator: ", ")
            return Answer(
                status: status, meaning: "\(meaning) (\(all))", content: ("application/problem+json", .reference("Problem"), example))
        }
    }

    /// A value of the query or of a field.
    struct Parameter: Sendable {
        let place: String, name: String, meaning: String
        let schema: JSONSchema

        static func query(_ name: String, _ meaning: String, _ schema: JSONSchema = .text("")) -> Parameter {
            Parameter(place: "query", name: name, meaning: meaning, schema: schema)
        }

        static func field(_ name: String, _ meaning: String, _ schema: JSONSchema = .text("")) -> Parameter {
            Parameter(place: "header", name: name, meaning: meaning, schema: schema)
        }
    }

    /// The content of a request.
    struct Content: Sendable {
        let schema: String
        let isRequired: Bool
        let examples: [String: JSONValue]

        static func always(_ schema: String, _ examples: [String: JSONValue]) -> Content {
            Content(schema: schema, isRequired: true, examples: examples)
        }

        static func maybe(_ schema: String, _ examples: [String: JSONValue]) -> Content {
            Content(schema: schema, isRequired: false, examples: examples)
        }
    }

    let method: HTTPRequest.Method
    /// As the route has it: what stands in braces is a parameter.
    let path: String
    let id: String
    let summary: String
    var details = ""
    var parameters: [Parameter] = []
    var content: Content?
    /// In the order of their statuses.
    let answers: [Answer]

    /// The names in the braces of its path.
    var pathParameters: [String] {
        path.split(separator: "/").filter { $0.hasPrefix("{") }.map { String($0.dropFirst().dropLast()) }
    }
}
