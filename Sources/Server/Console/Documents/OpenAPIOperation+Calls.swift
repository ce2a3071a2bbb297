import HTTP
import Streaming

// Transactions and calls.
extension OpenAPIOperation {
    static let transactions: [OpenAPIOperation] = [
        OpenAPIOperation(
            method: .post, path: "/v1/transactions", id: "transact", summary: "Request actions of calls, all or none of them",
            details:
                "A request that comes again, with the same UUID or the same Idempotency-Key, begins nothing: it gets the same outcome.",
            parameters: [idempotencyKey],
            content: .always(
                "Transaction",
                [
                    "start": [
                        "line": "1001", "wait": "performed",
                        "actions": [["type": "CXStartCallAction", "handle": ["type": "phoneNumber", "value": "1002"]]],
                    ],
                    "swap": [
                        "actions": [
                            ["type": "CXSetHeldCallAction", "call": exampleCall, "onHold": true],
                            ["type": "CXAnswerCallAction", "call": "8a7c9f11-6f0e-4a37-9d1b-0f2f0b1c7e55"],
                        ]
                    ],
                ]), answers: outcomes + refusals),
        OpenAPIOperation(
            method: .get, path: "/v1/transactions/{id}", id: "getTransaction", summary: "Tell what became of a transaction",
            details: "By its UUID, for an hour, of the last ten thousand. A transaction that was refused gives its refusal again.",
            answers: outcomes + refusals),
        OpenAPIOperation(
            method: .get, path: "/v1/calls", id: "getCalls", summary: "List calls",
            parameters: [
                .query("line", "the number of a line; absent: of all"),
                .query(
                    "state", "absent: those that are up", .choice(CallState.Phase.allCases.map(\.rawValue), "")),
            ], answers: [.json(.ok, "calls", "Calls")]),
        OpenAPIOperation(
            method: .get, path: "/v1/snapshot", id: "getSnapshot", summary: "List the calls that are up, to go on with events from there",
            answers: [.json(.ok, "calls, and the position to go on from", "Calls")]),
        OpenAPIOperation(
            method: .get, path: "/v1/groups", id: "getGroups", summary: "List conversations: who talks with whom",
            answers: [.json(.ok, "groups", "Groups")]),
        OpenAPIOperation(
            method: .get, path: "/v1/calls/{id}", id: "getCall", summary: "Tell of a call",
            details: "One that is up, or one of the last thousand that ended.", answers: [.json(.ok, "the call", "Call"), noCall]),
        short("/v1/calls", "startCall", "Start a call of a line", .always("StartForm", ["number": ["line": "1001", "to": "1002"]])),
        short("/v1/calls/{id}/answer", "answerCall", "Answer an incoming call", .maybe("ActionForm", ["performed": ["wait": "performed"]])),
        short("/v1/calls/{id}/end", "endCall", "End a call", .maybe("ActionForm", ["performed": ["wait": "performed"]])),
        short("/v1/calls/{id}/hold", "holdCall", "Put a call on hold, or take it off", .maybe("HoldForm", ["off": ["onHold": false]])),
        short("/v1/calls/{id}/mute", "muteCall", "Send the far end silence, or sound again", .maybe("MuteForm", ["off": ["muted": false]])),
        short(
            "/v1/calls/{id}/group", "groupCall", "Group a call with another one, or take it out of its group",
            .maybe("GroupForm", ["with": ["with": exampleCall]])),
        short("/v1/calls/{id}/digits", "playDigits", "Send keys to the far end", .always("DigitsForm", ["keys": ["digits": "12#"]])),
        OpenAPIOperation(
            method: .post, path: "/v1/calls/{id}/transfer", id: "transferCall", summary: "Ask the far end to call somebody else (REFER)",
            details: "The events `call.transferred` and `call.transfer-failed` tell what came of it.",
            content: .always("TransferForm", ["uri": ["to": "sip:1003@example.test"]]),
            answers: [
                .empty(.accepted, "the far end was asked"),
                .problem(.conflict, "the call is not connected, or another transfer of it is under way", "invalidAction"), notRunning,
            ]),
    ]

    static let streams: [OpenAPIOperation] = [
        OpenAPIOperation(
            method: .get, path: "/v1/calls/{id}/stream", id: "openStream", summary: "Speak in a call, or listen to it, over WebSocket",
            details: """
                For a program. A call whose line has `url: api` waits 8 s for it after the answer, told by `stream.started`; in any other call that \
                talks with an application it takes the application's place. With `tap` it listens alone, where the line's setting `tap` is \
                true. The subprotocol is `\(StreamRoutes.protocol)`, or none where the client offers none. The messages are those of the guide \
                to streams.
                """,
            parameters: [
                .query("format", "absent: that of the line that waits, or `twilio`", .choice(["twilio", "raw"], "")),
                .query("encoding", "of `raw`; absent: `l16/16000`", .choice(StreamEncoding.choices.keys.sorted(), "")),
                .query(
                    "tap", "what the far end says, what it hears, or both; absent: the program hears the far end, and speaks",
                    .choice(StreamTap.allCases.map(\.rawValue), "")),
                .query("ticket", "a ticket of `POST /v1/tickets`, in the place of a token"),
            ],
            answers: [
                .empty(.switchingProtocols, "the stream begins, over WebSocket"), mayNotBeTapped, noCall, streamConflict,
                .problem(.upgradeRequired, "it is no WebSocket, or one of another version than 13", "upgradeRequired"), notRunning,
            ]),
        OpenAPIOperation(
            method: .post, path: "/v1/calls/{id}/stream", id: "startStream", summary: "Connect a call that is up with a program",
            details: "As `openStream`, but the server connects to the program. `stream.stopped` tells where that fails.",
            content: .always(
                "StreamForm",
                ["transcription": ["url": "wss://voice.example.test/calls", "format": "raw", "encoding": "l16/16000", "tap": "both"]]),
            answers: [.empty(.accepted, "the program is called"), mayNotBeTapped, noCall, streamConflict, notRunning]),
        OpenAPIOperation(
            method: .delete, path: "/v1/calls/{id}/stream", id: "stopStream", summary: "End the stream of a call",
            details: "A call that was listened to goes on; one that a program spoke in ends.",
            answers: [
                .empty(.noContent, "it has ended"), .problem(.notFound, "there is no such call, or it has no stream", "notFound"),
                notRunning,
            ]),
    ]

    private static let mayNotBeTapped = Answer.problem(
        .forbidden, "the line lets nobody listen, or the token has no scope for this", "mayNotBeTapped", "insufficientScope", "wrongOrigin")
    private static let streamConflict = Answer.problem(
        .conflict, "the call has a program already, or talks with somebody", "hasStream", "otherFormat", "isNotAlone")

    private static let exampleCall: JSONValue = "0b7e3c1a-54c2-4b6f-8a53-5f6f6e3d2c10"

    /// A transaction of one action.
    private static func short(_ path: String, _ id: String, _ summary: String, _ content: Content) -> OpenAPIOperation {
        OpenAPIOperation(
            method: .post, path: path, id: id, summary: summary, details: "A transaction of one action.",
            parameters: [idempotencyKey], content: content, answers: outcomes + refusals)
    }

    private static let idempotencyKey = Parameter.field(
        "Idempotency-Key", "makes the request idempotent where it has no UUID: the same key again gives the same outcome")

    private static let next: [String: (parameter: String, value: String)] = [
        "getTransaction": ("id", "$response.body#/id"), "getCall": ("id", "$response.body#/actions/0/call"),
        "holdCall": ("id", "$response.body#/actions/0/call"), "endCall": ("id", "$response.body#/actions/0/call"),
    ]

    static let outcomes: [Answer] = [
        .json(.ok, "each action was fulfilled, failed or timed out", "TransactionOutcome", links: next),
        .json(.accepted, "the transaction was accepted, and goes on", "TransactionOutcome", links: next),
    ]

    static let refusals: [Answer] = [
        .problem(.notFound, "there is no such call, line or transaction", "notFound", "noLine"),
        .problem(
            .conflict, "the line's system refused it; nothing was done", "unknownCallUUID", "callUUIDAlreadyExists", "invalidAction",
            "maximumCallGroupsReached", "emptyTransaction", "noRoute", "noDevice", "noRoom", "handleTypeUnsupported", "secure",
            "idempotencyConflict"),
        notRunning,
    ]

    static let noCall = Answer.problem(.notFound, "there is no such call", "notFound")
    static let notRunning = Answer.problem(.serviceUnavailable, "the gateway does not run yet, or has stopped", "notRunning")
}
