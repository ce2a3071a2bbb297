import HTTP

// Lines, events and the gateway itself.
extension OpenAPIOperation {
    static let lines: [OpenAPIOperation] = [
        OpenAPIOperation(
            method: .get, path: "/v1/lines", id: "getLines", summary: "List the lines",
            answers: [.json(.ok, "the lines", "Lines"), notRunning]),
        OpenAPIOperation(
            method: .get, path: "/v1/lines/{number}", id: "getLine", summary: "Tell of a line",
            answers: [.json(.ok, "the line", "Line"), noLine, notRunning]),
        OpenAPIOperation(
            method: .get, path: "/v1/lines/{number}/recents", id: "getRecents", summary: "List the recent calls of a line",
            answers: [.json(.ok, "the calls, the newest first", "Recents"), noLine, notRunning]),
        OpenAPIOperation(
            method: .get, path: "/v1/lines/{number}/dnd", id: "getDoNotDisturb", summary: "Tell whether Do Not Disturb is on",
            answers: [.json(.ok, "whether it is on", "DoNotDisturb"), noLine, notRunning]),
        OpenAPIOperation(
            method: .put, path: "/v1/lines/{number}/dnd", id: "setDoNotDisturb", summary: "Turn Do Not Disturb on or off",
            content: .always("DoNotDisturb", ["on": ["on": true]]), answers: [.empty(.noContent, "it is so"), noLine, notRunning]),
        OpenAPIOperation(
            method: .put, path: "/v1/lines/{number}/blocked/{caller}", id: "blockCaller", summary: "Put a caller on the block list",
            answers: [.empty(.noContent, "the caller is on it"), noLine, notRunning]),
        OpenAPIOperation(
            method: .delete, path: "/v1/lines/{number}/blocked/{caller}", id: "unblockCaller", summary: "Take a caller off the block list",
            answers: [.empty(.noContent, "the caller is not on it"), noLine, notRunning]),
    ]

    static let noLine = Answer.problem(.notFound, "there is no such line", "notFound")

    static let server: [OpenAPIOperation] = [
        OpenAPIOperation(
            method: .get, path: "/v1/events", id: "getEvents", summary: "Listen to events, as Server-Sent Events or over WebSocket",
            details: """
                `/v1/asyncapi.json` describes them. The stream ends only with the server, or with a reader that falls a megabyte behind. A reader \
                that was cut off goes on behind the id of its last event, and misses none. What is not in memory any more is read from the \
                journal and its rotated files, of any run. Where these have not everything behind the position the reader is told 410, takes \
                `/v1/snapshot`, and goes on from its position. \(EventReaders.mostReplays) readers at a time get events from files. A comment \
                each 15 s says that the stream is alive.

                With `Upgrade: websocket` (RFC 6455) each event is a text message. The subprotocol is `\(ControlAPI.eventProtocol)`, or none where \
                the client offers none. The server pings each 25 s. A reader that falls a megabyte behind is closed with 1013, behind the events \
                that it has still to read; 1001 says that the server stops, 1008 that the token counts no more. Another \
                Origin than the server's, and than those of `api.origins`, is refused.
                """,
            parameters: [
                .query("types", "types of events, with commas between them; `call.*` is all of a kind; absent: all", .text("")),
                .query("line", "the number of a line; absent: events of all"),
                .query("call", "the UUID of a call; absent: events of all", .uuid("")),
                .query("after", "the position behind which to begin; absent: with what comes", OpenAPISchemas.position),
                .query("ticket", "a ticket of `POST /v1/tickets`, in the place of a token"),
                .field("Last-Event-ID", "as `after`, which it comes before", OpenAPISchemas.position),
            ],
            answers: [
                .empty(.switchingProtocols, "the events follow, over WebSocket"),
                Answer(status: .ok, meaning: "the events", content: ("text/event-stream", .text("`id`, `event` and `data` of each"), nil)),
                .problem(.gone, "events behind this position are not kept any more", "gone"),
                .problem(.upgradeRequired, "the version of WebSocket is another than 13", "upgradeRequired"),
                .problem(
                    .serviceUnavailable, "two hundred read events already, or eight from the journal's files", "tooManyReaders",
                    "tooManyReplays"),
            ]),
        OpenAPIOperation(
            method: .get, path: "/v1/server", id: "getServer", summary: "Tell version, run and number of calls",
            answers: [.json(.ok, "the gateway", "Server")]),
        OpenAPIOperation(
            method: .get, path: "/v1/health", id: "getHealth", summary: "Tell the load, with histograms",
            details: "Waits for the signalling lane, and tells how long.",
            answers: [.json(.ok, "the load", "Health"), notRunning]),
        OpenAPIOperation(
            method: .get, path: "/v1/settings", id: "getSettings", summary: "List the settings in force, and what their check says",
            details: "Of a URL only scheme and host are told, and of a command its program: the rest may be secret.",
            answers: [.json(.ok, "the settings", "Settings"), notRunning]),
        OpenAPIOperation(
            method: .post, path: "/v1/server/drain", id: "drain", summary: "Take no new calls; those that are up go on",
            answers: [.empty(.accepted, "no new call is taken"), notRunning]),
        OpenAPIOperation(
            method: .post, path: "/v1/server/reload", id: "reload", summary: "Read the configuration again, as SIGHUP does",
            details: "The log, and the event `server.reloaded`, say what changed.",
            answers: [.empty(.accepted, "it will be read"), notRunning]),
        document("openapi", "getOpenAPI", "OpenAPI document"), document("asyncapi", "getAsyncAPI", "AsyncAPI document of the events"),
    ]

    private static func document(_ name: String, _ id: String, _ words: String) -> OpenAPIOperation {
        OpenAPIOperation(
            method: .get, path: "/v1/\(name).json", id: id, summary: "Read the \(words)",
            answers: [
                Answer(status: .ok, meaning: "the document", content: ("application/json", .object("", [.always(name, .text(""))]), nil))
            ])
    }
}
