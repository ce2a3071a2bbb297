import HTTP

// Rights, and the ways of a browser to show them.
extension OpenAPIOperation {
    static let access: [OpenAPIOperation] = [
        OpenAPIOperation(
            method: .get, path: "/v1/access", id: "getAccess", summary: "Tell what the caller may do",
            answers: [.json(.ok, "the rights of the token, or of the login", "Access")]),
        OpenAPIOperation(
            method: .post, path: "/v1/tickets", id: "createTicket", summary: "Draw a ticket for one connection of events",
            details: """
                For a browser, which can show no token with a WebSocket: `/v1/events?ticket=…` takes the ticket in its place, once, within 30 s, \
                and with the rights of the token that this request shows. A caller has a hundred at most; for one more its oldest goes.
                """,
            answers: [.json(.created, "the ticket, which is told once", "Ticket")]),
        OpenAPIOperation(
            method: .post, path: "/v1/login", id: "logIn", summary: "Let a browser in by a cookie",
            details: """
                The cookie has the rights of the token, for twelve hours and no longer than the token itself. What changes something then needs \
                an Origin that is this server's.
                """,
            content: .always("Login", ["token": ["token": "hsw_…"]]), answers: [.empty(.noContent, "Set-Cookie has the cookie")]),
        OpenAPIOperation(
            method: .delete, path: "/v1/login", id: "logOut", summary: "Take the cookie back",
            answers: [.empty(.noContent, "it lets nobody in any more")]),
    ]
}

extension OpenAPISchemas {
    static let accesses: [String: JSONSchema] = [
        "Access": .object(
            "What a caller may do.",
            [
                .maybe("name", .text("that of the token; absent: it needs none")),
                .always("scopes", .list(of: .choice(AccessScope.allCases.map(\.rawValue), "a right"))),
                .maybe("lines", .list(of: .text(""), "the numbers of the lines that it is for; absent: all")),
                .maybe("expires", .time("when it ends; absent: it does not")),
            ]),
        "Ticket": .object(
            "A ticket for one connection of events.",
            [.always("ticket", .text("32 random bytes, as a URL may have them")), .always("expires", .time("by when it must be used"))]),
        "Login": .object(
            "A token.", [.always("token", .text("as `hookswitch token create` printed it", ["maxLength": 511]))], isClosed: true),
    ]
}
