import Gateway
import Streaming

/// The schemas of what `/v1` takes and answers, by name.
enum OpenAPISchemas {
    static let all: [String: JSONSchema] = [outcomes, reads, ofServer, accesses, records, webhooks, ["Problem": problem]].reduce(requests) {
        $0.merging($1) { $1 }
    }

    private static let call = JSONSchema.uuid("the UUID of a call")
    private static let positionText =
        "`run.seq`: the place of an event in all that the gateway tells; of several gateways `node:run.seq,node:run.seq`"

    // MARK: What is taken

    /// The members that each request for a transaction may have besides.
    private static let options: [JSONSchema.Property] = [
        .optional("line", .text("the number of the line whose system is asked; absent: that of the call")),
        .optional("wait", .choice(WaitLevel.allCases.map(\.rawValue), wait).with(["default": "accepted"])),
        .optional(
            "within",
            .number("seconds that the answer waits at most", ["default": .number(Int(TransactionBody.usualWait))]).with([
                "type": "number", "exclusiveMinimum": 0, "maximum": .number(Int(TransactionBody.longestWait)),
            ])),
    ]

    private static let wait = """
        when the answer comes: `accepted`, the line's system took it; `performed`, each action was fulfilled or failed; `connected`, each call \
        is connected or over
        """

    /// A short form: its own members, and those that all have.
    private static func form(_ meaning: String, _ own: [JSONSchema.Property] = []) -> JSONSchema {
        .object(
            meaning, own + [.optional("transaction", .uuid("the UUID of the transaction, which makes it idempotent"))] + options,
            isClosed: true)
    }

    /// The line is that of the path.
    private static let callBack: JSONSchema = .object(
        "Nothing, or how the answer comes.",
        [.optional("transaction", .uuid("the UUID of the transaction, which makes it idempotent"))] + options.filter { $0.name != "line" },
        isClosed: true)

    private static let digits = JSONSchema.text("keys", ["pattern": "^[0-9*#A-Da-d]+$", "minLength": 1, "maxLength": 64])

    static let requests: [String: JSONSchema] = [
        "Transaction": .object(
            "Actions that are performed all, in their order, or refused together.",
            [
                .optional("id", .uuid("the UUID of the transaction, which makes it idempotent")),
                .always("actions", .list(of: .reference("Action"), most: 32)),
            ] + options, isClosed: true),
        "Action": .oneOf(actions.map { ("CX\($0.name)CallAction", "\($0.name)Action") }, by: "type"),
        "Handle": .object(
            "The far end of a call.",
            [
                .optional(
                    "type",
                    .choice(["generic", "phoneNumber", "emailAddress"], "absent: `generic` for what has an @, `phoneNumber` otherwise")),
                .always("value", .text("a number, or a SIP address", ["minLength": 1, "maxLength": 256])),
            ], isClosed: true),
        "StartForm": form(
            "A call to start: `to`, or `handle`.",
            [
                .optional("id", .uuid("the UUID that the call is to have, and no other had; absent: the gateway draws one")),
                .optional("to", .text("a number, or a SIP address", ["minLength": 1, "maxLength": 256])),
                .optional("handle", .reference("Handle")),
            ]
        ).with(["anyOf": [["required": ["to"]], ["required": ["handle"]]]]),
        "ActionForm": form("Nothing, or how the answer comes."),
        "HoldForm": form("Whether to hold.", [.optional("onHold", .flag("false: take it off hold", ["default": true]))]),
        "MuteForm": form("Whether to mute.", [.optional("muted", .flag("false: send its sound again", ["default": true]))]),
        "GroupForm": form("Whom to group it with.", [.maybe("with", .uuid("a call of the same line; absent or null: it waits alone"))]),
        "DigitsForm": form("Keys to send.", [.always("digits", digits)]),
        "TransferForm": .object("Whom the far end is to call.", [.always("to", .text("a SIP URI"))], isClosed: true),
        "DoNotDisturb": .object("Whether the line does not take calls, VIPs aside.", [.always("on", .flag("it is on"))], isClosed: true),
        "LineChange": .object(
            "The settings of a line that may be changed while it runs.",
            [.always("doNotDisturb", .flag("the line does not take calls, VIPs aside"))], isClosed: true),
        "CallBackForm": callBack,
        "StreamForm": .object(
            "The program that a call is connected with.",
            [
                .always("url", .text("`ws://…` or `wss://…`")), .maybe("format", .choice(["twilio", "raw"], "absent: `twilio`")),
                .maybe("encoding", .choice(StreamEncoding.choices.keys.sorted(), "of `raw`; absent: `l16/16000`")),
                .maybe(
                    "tap",
                    .choice(
                        StreamTap.allCases.map(\.rawValue),
                        "what the far end says, what it hears, or both; absent: the program hears the far end, and speaks")),
                .maybe(
                    "headers",
                    .list(
                        of: .object("A field.", [.always("name", .text("its name")), .always("value", .text("one line"))], isClosed: true),
                        "fields of the request that opens the WebSocket", most: StreamHeader.most)),
            ], isClosed: true),
    ].merging(actionSchemas) { $1 }

    /// The actions of CallKit: name without `CX` and `CallAction`, meaning, and members besides `type` and `call`.
    private static let actions: [(name: String, meaning: String, members: [JSONSchema.Property])] = [
        (
            "Start", "The line's devices ring, and the one that answers is connected with `handle`.",
            [.always("handle", .reference("Handle"))]
        ),
        ("Answer", "An incoming call is answered; the first device that answers joins.", []),
        ("End", "A call is ended, declined or given up.", []),
        ("SetHeld", "A call is put on hold, or taken off.", [.always("onHold", .flag("to hold, or not"))]),
        (
            "SetGroup", "A call moves into the conversation of another one of its line: three or more hear each other.",
            [.maybe("with", .uuid("the other call; absent or null: it is taken out of all, and waits alone"))]
        ),
        ("SetMuted", "The far end hears silence, or sound again.", [.always("muted", .flag("to mute, or not"))]),
        ("PlayDTMF", "The far end gets keys.", [.always("digits", digits)]),
    ]

    private static let actionSchemas = Dictionary(
        uniqueKeysWithValues: actions.map { action in
            let call: JSONSchema.Property =
                action.name == "Start" ? .optional("call", .uuid("the UUID that the call is to have")) : .always("call", Self.call)
            let type = JSONSchema.Property.always("type", .constant("CX\(action.name)CallAction"))
            return ("\(action.name)Action", JSONSchema.object(action.meaning, [type, call] + action.members, isClosed: true))
        })

    // MARK: What is answered

    static let outcomes: [String: JSONSchema] = [
        "TransactionOutcome": .object(
            "What became of a transaction.",
            [
                .always("state", .choice(["accepted", "performed", "failed"], "`failed` where an action was not fulfilled")),
                .always("id", .uuid("the UUID of the transaction")),
                .always("line", .text("the number of the line")),
                .maybe("position", .text("\(positionText); what led to this outcome lies before it")),
                .always("actions", .list(of: .reference("ActionOutcome"), "in the order of the request")),
            ]),
        "ActionOutcome": .object(
            "What became of an action.",
            [
                .always("id", .uuid("as the journal has it")),
                .always("type", .choice(TransactionBody.Action.types, "the name of its class in CallKit")),
                .always("call", call),
                .always("state", .choice(TransactionDesk.ActionState.allCases.map(\.rawValue), "how far it is")),
            ]),
    ]

    static let problem = JSONSchema.object(
        "Why a request was not done (RFC 9457).",
        [
            .always("type", .text("`urn:hookswitch:problem:` and the code", ["format": "uri"])),
            .always("title", .text("the status in words")),
            .always("status", .number("the HTTP status", ["minimum": 400, "maximum": 599])),
            .always("detail", .text("a sentence for a person")),
            .always("code", .text("the cause, for programs; that of CallKit's error where it is one")),
            .maybe("oldest", .text("with the code `gone`: the position of the oldest event that is kept")),
        ])

    static let position = JSONSchema.text(positionText, ["examples": ["0123abcd.42"]])
}
