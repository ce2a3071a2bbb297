import Gateway

// The answers of reads of the journal, of recordings, trunks and directories.
extension OpenAPISchemas {
    static let records: [String: JSONSchema] = [
        "CallStatistics": .object(
            "The media of a call, leg by leg. What nobody measured is absent.",
            [
                .always("call", .uuid("the UUID of the call")),
                .always("legs", .list(of: .reference("LegStatistics"), "the call, and the legs that were begun for it")),
            ]),
        "LegStatistics": legStatistics, "StreamStatistics": streamStatistics, "Recording": recording, "Trunk": trunk,
        "TrunkServer": trunkServer, "Directory": directory, "Registration": registration,
        "Recordings": .object("Recordings, the newest first.", [.always("recordings", .list(of: .reference("Recording"))), nodes]),
        "Queue": queue, "QueueMember": queueMember, "Mailbox": mailbox, "MailboxMessage": mailboxMessage,
        "Mailboxes": .object("The mailboxes, in the order of their lines.", [.always("mailboxes", .list(of: .reference("Mailbox")))]),
        "MailboxMessageChange": .object(
            "Whether a message was heard.", [.always("heard", .flag("false: it is new again"))], isClosed: true),
        "QueueCaller": .object(
            "A caller that waits.", [.always("call", .uuid("the UUID of the call")), .always("waited", decimal("seconds until now"))]),
        "Queues": .object("The queues, in the order of their lines.", [.always("queues", .list(of: .reference("Queue")))]),
        "Trunks": .object("The trunks, in the order of their lines.", [.always("trunks", .list(of: .reference("Trunk")))]),
        "Directories": .object("The call directories, by name.", [.always("directories", .list(of: .reference("Directory")))]),
        "Registrations": .object("The registrations of a line.", [.always("registrations", .list(of: .reference("Registration")))]),
    ]

    static func decimal(_ meaning: String) -> JSONSchema { .number(meaning).with(["type": "number"]) }

    private static let legStatistics = JSONSchema.object(
        "The media of a leg.",
        [
            .always("call", .uuid("the UUID of the leg")),
            .always("line", .text("the number of the line")),
            .maybe("direction", .choice(["incoming", "outgoing"], "as the line sees it")),
            .always("isUp", .flag("it is not over: the figures are of now")),
            .maybe("codec", .text("of its sound")),
            .maybe("transport", .text("of its signalling")),
            .maybe("remote", .text("the address of the far end's signalling")),
            .maybe("callID", .text("the Call-ID of its dialog")),
            .maybe("roundTrip", decimal("milliseconds to the far end and back")),
            .maybe("incoming", .reference("StreamStatistics")),
            .maybe("outgoing", .reference("StreamStatistics")),
            .always("recording", .flag("it is or was recorded")),
        ])

    private static let streamStatistics = JSONSchema.object(
        "One direction: what came, or what left and how the far end reported it.",
        [
            .always("packets", .number("of RTP")),
            .maybe("lost", .number("packets that never came")),
            .maybe("expected", .number("packets that those are a part of")),
            .maybe("lossPercent", decimal("the part that was lost")),
            .maybe("jitter", decimal("milliseconds (RFC 3550 §6.4.1)")),
            .maybe("mos", decimal("1.00 to 4.50 (ITU-T G.107)")),
            .maybe("heard", .text("`heard`, `packets` (too few to tell), `paused`, `silent`, `nothing`")),
        ])

    private static let recording = JSONSchema.object(
        "A recording whose file is there.",
        [
            .always("id", position),
            .always("call", .uuid("the UUID of the leg")),
            .always("line", .text("the number of the line")),
            .always("began", .time("when it began")),
            .maybe("ended", .time("when it ended; absent: it goes on, or the gateway was killed")),
            .maybe("cause", .text("why it ended before its call")),
            .always("file", .text("the name of the file")),
            .always("type", .choice(["audio/wav", "audio/ogg"], "its media type")),
            .always("size", .number("bytes")),
            node,
        ])

    private static let trunk = JSONSchema.object(
        "A trunk.",
        [
            .always("line", .text("the number of its line")),
            .maybe("name", .text("the name of its line")),
            .always(
                "state",
                .choice(TrunkBody.states, "`down`: no server answers, or a registration is missing; `unresolved`: no server was found")),
            .always("registration", .choice(TrunkSummary.Registration.allCases.map(\.rawValue), "`none`: none is wanted")),
            .maybe("registrationStatus", .number("of the last answer to our REGISTER")),
            .always("isWatched", .flag("its servers are asked whether they live")),
            .always("isHeld", .flag("this gateway registers it and checks its servers")),
            .maybe("node", .text("the gateway that does, where several share a database")),
            .always("servers", .list(of: .reference("TrunkServer"))),
            .always("calls", .number("that are up over it")),
            .always("maximumCalls", .number("conversations that its line may have at a time")),
        ])

    private static let mailbox = JSONSchema.object(
        "A mailbox.",
        [
            .always("line", .text("the number of its line")),
            .maybe("name", .text("the name of its line")),
            .always("new", .number("messages that nobody has marked as heard")),
            .always("old", .number("the other messages")),
            .maybe("messages", .list(of: .reference("MailboxMessage"), "the newest first; absent in the list of mailboxes")),
        ])

    private static let mailboxMessage = JSONSchema.object(
        "A message in a mailbox.",
        [
            .always("id", .uuid("the UUID of the call that it was left in")),
            .always("caller", .text("the number of the caller; empty for one who is not to be known")),
            .maybe("name", .text("the name of the caller")),
            .always("called", .text("the number that was called")),
            .always("received", .time("when it began")),
            .always("duration", decimal("seconds")),
            .always("heard", .flag("it was marked as heard")),
            .always("file", .text("the name of the file")),
            .always("type", .choice(["audio/wav", "audio/ogg"], "its media type")),
        ])

    private static let queue = JSONSchema.object(
        "A queue. Counts are of calls since the start of the gateway.",
        [
            .always("line", .text("the number of its line")),
            .maybe("name", .text("the name of its line")),
            .always("strategy", .choice(QueueSettings.Strategy.allCases.map(\.rawValue), "which members ring")),
            .always("length", .number("callers that may wait at a time")),
            .always("waiting", .number("callers that wait now")),
            .always("callers", .list(of: .reference("QueueCaller"), "the first first")),
            .always("members", .list(of: .reference("QueueMember"))),
            .always("entered", .number("calls that came")),
            .always("answered", .number("calls that a member took")),
            .always("abandoned", .number("calls that ended while they waited")),
            .always("overflowed", .number("calls that found no place, or waited too long")),
            .maybe("longestWait", decimal("seconds that the first caller has waited; absent: nobody waits")),
            .maybe("meanWait", decimal("seconds that those who were answered had waited, in the mean; absent: none was")),
        ])

    private static let queueMember = JSONSchema.object(
        "A member of a queue.",
        [
            .always("line", .text("the number of its line")),
            .always(
                "state",
                .choice(
                    QueueSummary.Member.State.allCases.map(\.rawValue),
                    "`busy`: in a call, or Do Not Disturb; `unavailable`: not registered")),
        ])

    private static let trunkServer = JSONSchema.object(
        "A server of a trunk.",
        [
            .always("name", .text("as it is called in requests")),
            .always("address", .text("its address and port")),
            .always("transport", .text("`udp`, `tcp`, `tls`")),
            .always("isDown", .flag("it did not answer, and is asked last")),
        ])

    private static let directory = JSONSchema.object(
        "A call directory.",
        [
            .always("name", .text("as the configuration has it")),
            .always("blocked", .number("numbers in force")),
            .always("identified", .number("labels in force")),
            .maybe("loaded", .time("when it was loaded last")),
            .maybe("failure", .text("why the last load failed")),
        ])

    private static let registration = JSONSchema.object(
        "A registration of a device.",
        [
            .always("id", .text("for paths", ["pattern": "^[0-9a-f]{16}$"])),
            .always("contact", .text("its Contact")),
            .maybe("agent", .text("its User-Agent")),
            .always("expires", .number("seconds until it ends")),
        ])
}
