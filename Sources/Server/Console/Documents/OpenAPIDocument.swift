import HTTP

/// The OpenAPI 3.1 document of `/v1`: what it takes, and what it answers. Tests hold it to the routes and to what is encoded.
enum OpenAPIDocument {
    static let operations =
        OpenAPIOperation.transactions + OpenAPIOperation.streams + OpenAPIOperation.lines + OpenAPIOperation.server
        + OpenAPIOperation.access + OpenAPIOperation.records + OpenAPIOperation.webhooks

    /// - Parameter version: of the program.
    static func json(version: String) -> JSONValue {
        [
            "openapi": "3.1.0",
            "info": [
                "title": "Hookswitch", "version": .text(version), "summary": "CallKit over HTTP: steer a running gateway",
                "description": .text(introduction), "license": ["name": "Apache 2.0", "identifier": "Apache-2.0"],
            ],
            "servers": [["url": "/", "description": "the gateway that serves this document"]],
            "paths": .object(paths),
            // Over the socket nobody is asked for a token, nor on loopback where there is none.
            "security": [["token": []], ["login": []], [:]],
            "components": [
                "schemas": .object(OpenAPISchemas.all.mapValues(\.json)), "responses": .object(OpenAPIOperation.common),
                "securitySchemes": [
                    "token": [
                        "type": "http", "scheme": "bearer", "description": "made by 'hookswitch token create'; with scopes and lines",
                    ],
                    "login": ["type": "apiKey", "in": "cookie", "name": .text(LoginCookie.name), "description": "set by POST /v1/login"],
                ],
            ],
        ]
    }

    private static let introduction = """
        Transactions of CallKit's actions are the only way to act on calls; reads answer from what events told; events tell what happens, and \
        can be resumed without a gap. Errors are `application/problem+json` (RFC 9457). Where a GET is there a HEAD is, too.

        A request over the socket in the data folder is let in by the permissions of that file. Over TCP it shows a token; where there are \
        none, one over a loopback address is let in by being of this machine: its Host must then be that address or `localhost`, and its \
        Origin, where there is one, the same.

        With the setting `api.nodes` the gateway answers for others, too: its lists have theirs, with `node` in each entry; what a path names is \
        looked for at all of them; and events are those of all, with a position in all. `node=NAME` in the query asks one of them alone.
        """

    private static var paths: [String: JSONValue] {
        Dictionary(grouping: operations, by: \.path).mapValues { operations in
            .object(Dictionary(uniqueKeysWithValues: operations.map { ($0.method.rawValue.lowercased(), $0.json) }))
        }
    }
}

extension OpenAPIOperation {
    /// The refusals that every request may meet.
    private static let everywhere: [Answer] = [
        .problem(.badRequest, "the request is wrong, and `detail` says where", "badRequest", "unknownMember"),
        .problem(.unauthorized, "a token is needed, and this is none that counts", "unauthorized"),
        .problem(.forbidden, "a page of another origin asks, or the token has no scope for this", "wrongOrigin", "insufficientScope"),
        .problem(.misdirectedRequest, "the Host is none of this server's", "wrongHost"),
        .problem(.tooManyRequests, "too many wrong tokens came from there", "tooManyTokens"),
    ]

    private static let tooLarge = Answer.problem(.contentTooLarge, "a request has a megabyte of content at most", "contentTooLarge")

    /// By name.
    fileprivate static var common: [String: JSONValue] {
        Dictionary(uniqueKeysWithValues: (everywhere + [tooLarge]).map { ($0.key, $0.json) })
    }

    fileprivate var json: JSONValue {
        let common = Self.everywhere + (content == nil ? [] : [Self.tooLarge])
        var members: [String: JSONValue] = [
            "operationId": .text(id), "summary": .text(summary),
            "tags": [.text(path.split(separator: "/")[1].split(separator: ".")[0].description)],
            "responses": .object(
                Dictionary(answers.map { ($0.key, $0.json) } + common.map { ($0.key, $0.reference) }) { own, _ in own }),
        ]
        if !details.isEmpty { members["description"] = .text(details) }
        let parameters = pathParameters.compactMap { Self.byPath[$0] } + self.parameters.map(\.json)
        if !parameters.isEmpty { members["parameters"] = .array(parameters) }
        members["requestBody"] = content?.json
        return .object(members)
    }

    private static let byPath: [String: JSONValue] = [
        "id": parameter("id", .uuid("the UUID of a call, or of a transaction")),
        "number": parameter("number", .text("the number of a line", ["minLength": 1, "examples": ["1001"]])),
        "recording": parameter("recording", OpenAPISchemas.position),
        "queue": parameter("queue", .text("the number or the name of its line", ["minLength": 1])),
        "mailbox": parameter("mailbox", .text("the number of its line; without a message behind it also its name", ["minLength": 1])),
        "message": parameter("message", .uuid("the `id` of a message")),
        "trunk": parameter("trunk", .text("the number or the name of its line", ["minLength": 1])),
        "name": parameter("name", .text("the name of a call directory", ["minLength": 1])),
        "registration": parameter("registration", .text("the `id` of a registration", ["minLength": 1])),
        "webhook": parameter("webhook", .text("the name of a webhook", ["minLength": 1, "examples": ["crm"]])),
        "caller": parameter("caller", .text("a number, or an address", ["minLength": 1, "maxLength": 256, "examples": ["+15550100"]])),
    ]

    private static func parameter(_ name: String, _ schema: JSONSchema) -> JSONValue {
        ["in": "path", "name": .text(name), "required": true, "schema": schema.json]
    }
}

extension OpenAPIOperation.Parameter {
    fileprivate var json: JSONValue {
        ["in": .text(place), "name": .text(name), "required": false, "description": .text(meaning), "schema": schema.json]
    }
}

extension OpenAPIOperation.Content {
    fileprivate var json: JSONValue {
        [
            "required": .flag(isRequired),
            "content": [
                "application/json": [
                    "schema": JSONSchema.reference(schema).json, "examples": .object(examples.mapValues { ["value": $0] }),
                ]
            ],
        ]
    }
}

extension OpenAPIOperation.Answer {
    fileprivate var key: String { String(status.code) }
    fileprivate var reference: JSONValue { ["$ref": .text("#/components/responses/\(key)")] }

    fileprivate var json: JSONValue {
        var members: [String: JSONValue] = ["description": .text(meaning)]
        if let content {
            var media: [String: JSONValue] = ["schema": content.schema.json]
            media["example"] = content.example
            members["content"] = .object(others.mapValues { ["schema": $0.json] }.merging([content.type: .object(media)]) { $1 })
        }
        let links = links.map { id, link -> (String, JSONValue) in
            (id, ["operationId": .text(id), "parameters": [link.parameter: .text(link.value)]])
        }
        if !links.isEmpty { members["links"] = .object(Dictionary(uniqueKeysWithValues: links)) }
        return .object(members)
    }
}
