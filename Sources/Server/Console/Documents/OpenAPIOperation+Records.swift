import HTTP

// The journal, traces, recordings, trunks, directories and registrations.
extension OpenAPIOperation {
    static let records: [OpenAPIOperation] = journal + recordings + mailboxes + trunks + registrations

    private static let journal: [OpenAPIOperation] = [
        OpenAPIOperation(
            method: .get, path: "/v1/calls/{id}/ladder", id: "getLadder", summary: "Draw a call: SIP, reports, actions and media",
            details:
                "From the journal, also of calls that are over. Without `format`, as Accept says: text, an SVG picture, an HTML page or JSON.",
            parameters: [
                .query("format", "absent: as Accept says", .choice(LadderForm.Format.allCases.map(\.rawValue), "")),
                .query("width", "columns of text; absent: 120", range(LadderForm.widths)),
            ],
            answers: [
                Answer(
                    status: .ok, meaning: "the ladder", content: ("text/plain", .text("a line for each step"), nil),
                    others: ["image/svg+xml": .text("a picture"), "text/html": .text("a page"), "application/json": .object("steps", [])]),
                noCall, noJournal, busy,
            ]),
        OpenAPIOperation(
            method: .get, path: "/v1/calls/{id}/statistics", id: "getStatistics", summary: "Tell the quality of a call's media",
            details: "Of a call that is up as the media engine has it now, at most three times a second; else as the journal has it.",
            answers: [.json(.ok, "the figures", "CallStatistics"), noCall, noJournal, busy]),
        OpenAPIOperation(
            method: .get, path: "/v1/calls/{id}/pcap", id: "getCapture", summary: "Read the SIP messages of a call, as pcapng",
            details: "Those that are still in memory, while `trace` is on. Authorization is masked.",
            answers: [
                Answer(status: .ok, meaning: "the messages", content: ("application/x-pcapng", .text("a file of packets"), nil)), noCall,
                .problem(.conflict, "SIP messages are not kept", "notTraced"), busy,
            ]),
        OpenAPIOperation(
            method: .get, path: "/v1/calls/{id}/journal", id: "getCallJournal", summary: "Read the journal's lines of a call",
            parameters: paging, answers: page),
        OpenAPIOperation(
            method: .get, path: "/v1/journal", id: "getJournal", summary: "Read the journal, page by page",
            details: "All events, also those that `/v1/events` does not tell, and those that it does not keep any more.",
            parameters: paging, answers: page),
    ]

    private static let paging: [Parameter] = [
        .query("after", "the position behind which to begin; absent: the oldest line", OpenAPISchemas.position),
        .query("limit", "lines of the page at most; absent: 1000", range(1...10_000)),
        .query("line", "the number of a line; absent: events of all"),
    ]

    private static let page: [Answer] = [
        Answer(
            status: .ok,
            meaning: """
                events in JSON, one a line, with their `position`; `Hookswitch-Position` is that of the last line that was read, and `Link` leads to \
                the next page
                """, content: ("application/x-ndjson", .text("a JSON object in each line"), nil)),
        .problem(.notFound, "there is no such line", "notFound"), noJournal,
        .problem(.gone, "lines behind this position are not there any more", "gone"), busy,
    ]

    private static let recordings: [OpenAPIOperation] = [
        OpenAPIOperation(
            method: .get, path: "/v1/recordings", id: "getRecordings", summary: "List recordings, messages of mailboxes included",
            parameters: [
                .query("line", "the number of a line; absent: of all"), .query("call", "the UUID of a call; absent: of all", .uuid("")),
                .query("limit", "absent: 100", range(1...1_000)),
            ], answers: [.json(.ok, "the recordings", "Recordings"), noJournal, busy]),
        OpenAPIOperation(
            method: .get, path: "/v1/recordings/{recording}", id: "getRecording", summary: "Listen to a recording",
            parameters: ranges, answers: sound + [noRecording, noJournal, busy]),
        OpenAPIOperation(
            method: .delete, path: "/v1/recordings/{recording}", id: "deleteRecording", summary: "Remove the file of a recording",
            answers: [
                .empty(.noContent, "it is gone"), noRecording,
                .problem(.conflict, "the recording goes on, or there is no journal", "recordingGoesOn", "noJournal"), busy,
            ]),
    ]

    private static let mailboxes: [OpenAPIOperation] = [
        OpenAPIOperation(
            method: .get, path: "/v1/mailboxes", id: "getMailboxes", summary: "List the mailboxes, with the number of their messages",
            answers: [.json(.ok, "the mailboxes", "Mailboxes"), notRunning]),
        OpenAPIOperation(
            method: .get, path: "/v1/mailboxes/{mailbox}", id: "getMailbox", summary: "List the messages of a mailbox",
            answers: [.json(.ok, "the mailbox", "Mailbox"), .problem(.notFound, "there is no such mailbox", "notFound"), notRunning]),
        OpenAPIOperation(
            method: .get, path: "/v1/mailboxes/{mailbox}/messages/{message}", id: "getMailboxMessage", summary: "Listen to a message",
            details: "It stays new until it is marked as heard.", parameters: ranges, answers: sound + [noMessage, notRunning]),
        OpenAPIOperation(
            method: .patch, path: "/v1/mailboxes/{mailbox}/messages/{message}", id: "changeMailboxMessage",
            summary: "Mark a message as heard, or as new", content: .always("MailboxMessageChange", ["heard": ["heard": true]]),
            answers: [.empty(.noContent, "it is so"), noMessage, notRunning]),
        OpenAPIOperation(
            method: .delete, path: "/v1/mailboxes/{mailbox}/messages/{message}", id: "deleteMailboxMessage",
            summary: "Remove a message with its file", answers: [.empty(.noContent, "it is gone"), noMessage, notRunning]),
    ]

    private static let noMessage = Answer.problem(.notFound, "there is no such message, or its file is gone", "notFound")

    private static let ranges: [Parameter] = [
        .field("Range", "one range of bytes, as `bytes=0-1023`"), .field("If-Range", "the ETag that the range is for"),
        .field("If-None-Match", "the ETag that the client has"),
    ]

    private static let sound: [Answer] = [
        Answer(status: .ok, meaning: "the sound", content: ("audio/wav", .text("a file"), nil), others: ["audio/ogg": .text("a file")]),
        Answer(
            status: .partialContent, meaning: "a part of the sound", content: ("audio/wav", .text("a part of a file"), nil),
            others: ["audio/ogg": .text("a part of a file")]),
        .empty(.notModified, "the client has it"),
        .problem(.rangeNotSatisfiable, "the range begins behind the end", "rangeNotSatisfiable"),
    ]

    private static let trunks: [OpenAPIOperation] = [
        OpenAPIOperation(
            method: .get, path: "/v1/trunks", id: "getTrunks", summary: "List the trunks",
            answers: [.json(.ok, "the trunks", "Trunks"), notRunning]),
        OpenAPIOperation(
            method: .get, path: "/v1/trunks/{trunk}", id: "getTrunk", summary: "Tell of a trunk",
            answers: [.json(.ok, "the trunk", "Trunk"), .problem(.notFound, "there is no such trunk", "notFound"), notRunning]),
        OpenAPIOperation(
            method: .get, path: "/v1/queues", id: "getQueues", summary: "List the queues, with who waits and who is free",
            answers: [.json(.ok, "the queues", "Queues"), notRunning]),
        OpenAPIOperation(
            method: .get, path: "/v1/queues/{queue}", id: "getQueue", summary: "Tell of a queue",
            answers: [.json(.ok, "the queue", "Queue"), .problem(.notFound, "there is no such queue", "notFound"), notRunning]),
        OpenAPIOperation(
            method: .get, path: "/v1/directories", id: "getDirectories", summary: "List the call directories",
            answers: [.json(.ok, "the directories", "Directories"), notRunning]),
        OpenAPIOperation(
            method: .post, path: "/v1/directories/{name}/reload", id: "reloadDirectory", summary: "Load a call directory anew",
            answers: [
                .empty(.accepted, "it will be loaded"), .problem(.notFound, "there is no such directory", "notFound"), notRunning,
            ]),
    ]

    private static let registrations: [OpenAPIOperation] = [
        OpenAPIOperation(
            method: .patch, path: "/v1/lines/{number}", id: "changeLine", summary: "Change a line while it runs",
            content: .always("LineChange", ["on": ["doNotDisturb": true]]), answers: [.empty(.noContent, "it is so"), noLine, notRunning]),
        OpenAPIOperation(
            method: .get, path: "/v1/lines/{number}/registrations", id: "getRegistrations", summary: "List the registrations of a line",
            answers: [.json(.ok, "the registrations", "Registrations"), noLine, notRunning]),
        OpenAPIOperation(
            method: .delete, path: "/v1/lines/{number}/registrations/{registration}", id: "unregister",
            summary: "Take the registration of a device away", details: "A device that registers again is there again.",
            answers: [
                .empty(.noContent, "it is gone"), .problem(.notFound, "there is no such line or registration", "notFound"), notRunning,
            ]),
        OpenAPIOperation(
            method: .post, path: "/v1/lines/{number}/recents/{id}/call-back", id: "callBack",
            summary: "Call back whom a recent call was with",
            details: "A transaction of one action.", content: .maybe("CallBackForm", ["performed": ["wait": "performed"]]),
            answers: outcomes + refusals),
    ]

    private static func range(_ range: ClosedRange<Int>) -> JSONSchema {
        .number("", ["minimum": .number(range.lowerBound), "maximum": .number(range.upperBound)])
    }

    private static let noRecording = Answer.problem(.notFound, "there is no such recording, or its file is gone", "notFound")
    private static let noJournal = Answer.problem(.conflict, "no journal is written", "noJournal")
    private static let busy = Answer.problem(
        .serviceUnavailable, "too many read the journal at the same time, or it cannot be read: `Retry-After` says when to ask again",
        "busy",
        "journalUnreadable")
}
