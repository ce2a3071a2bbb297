import CallJournal
import Gateway

// The answers of reads.
extension OpenAPISchemas {
    static let reads: [String: JSONSchema] = [
        "Call": call, "Heard": heard, "Line": line, "Device": device, "Recent": recent, "Server": server, "Node": nodeBody,
        "Calls": .object(
            "Calls, oldest first, as they were when the event at `position` had happened.",
            [.maybe("position", position), .always("calls", .list(of: .reference("Call"))), nodes]),
        "Groups": .object(
            "Conversations, as they were when the event at `position` had happened.",
            [.maybe("position", position), .always("groups", .list(of: .reference("Group"), "in the order in which they began")), nodes]),
        "Group": .object(
            "Calls that hear each other; one that waits, or talks with an application, is alone in its group.",
            [
                .always("line", .text("the number of the first call's line; a transfer may join calls of several")),
                .always("isConference", .flag("they are more than two")),
                .always("calls", .list(of: .uuid(""), "in the order in which they came")),
                node,
            ]),
        "Lines": .object("The lines, in the order of the configuration.", [.always("lines", .list(of: .reference("Line")))]),
        "Recents": .object("Recent calls of a line, the newest first.", [.always("recents", .list(of: .reference("Recent")))]),
    ]

    private static let call = JSONSchema.object(
        "A call as CallKit sees it, with what is known of its SIP dialog and its sound.",
        [
            .always("id", .uuid("the UUID of the call")),
            .always("line", .text("the number of the line")),
            .always("direction", .choice(["incoming", "outgoing"], "as the line sees it")),
            .always("state", .choice(CallState.Phase.allCases.map(\.rawValue), "how far it is")),
            .maybe("handle", .text("whom it is with, as CallKit's handle says it")),
            .maybe("from", .text("the address of From")),
            .maybe("to", .text("the address of To")),
            .always("isOutgoing", .flag("it was started here")),
            .always("isOnHold", .flag("we hold")),
            .always("isMuted", .flag("the far end hears silence")),
            .always("hasConnected", .flag("it was answered")),
            .always("hasEnded", .flag("it is over")),
            .always("isHeldByRemote", .flag("the far end holds")),
            .always("groupedWith", .list(of: .uuid(""), "the other calls of its conversation")),
            .maybe("sipCallID", .text("the Call-ID of its dialog")),
            .maybe("sipStatus", .number("the final response that decided")),
            .maybe("codec", .text("of its sound")),
            .always("began", .time("when it was reported or started")),
            .maybe("connected", .time("when it was answered")),
            .maybe("ended", .time("when it ended")),
            .maybe("endReason", .text("a CXCallEndedReason, or what CallKit did")),
            .maybe("endedBy", .choice(CallEnder.allCases.map(\.rawValue), JournalEvent.Key.endedBy.meaning)),
            .maybe(
                "q850",
                .number("why it ended, as the number of a cause of Q.850; absent where none is known", ["minimum": 1, "maximum": 127])),
            .maybe("media", .reference("Heard")),
            node,
        ])

    private static let heard = JSONSchema.object(
        "Who was heard, when the sound had stopped.",
        [
            .always("received", .number("packets that came")),
            .always("sent", .number("packets that left")),
            .maybe("incoming", .text("what was heard of the far end: `heard`, `silent`, `paused`, `nothing`; absent: not measured")),
            .maybe("outgoing", .text("the same of what the far end heard of us")),
        ])

    private static let line = JSONSchema.object(
        "A line.",
        [
            .always("number", .text("its number")),
            .maybe("name", .text("its name")),
            .always("kind", .choice(LineSummary.Kind.allCases.map(\.rawValue), "what answers its calls")),
            .always("doNotDisturb", .flag("a call would be turned away, VIPs aside")),
            .always("devices", .list(of: .reference("Device"), "that are registered")),
            .always("calls", .number("that are up")),
            .always("blocked", .list(of: .text(""), "callers that its user has blocked")),
        ])

    private static let device = JSONSchema.object(
        "A device that is registered.",
        [
            .always("contact", .text("its Contact")),
            .maybe("agent", .text("its User-Agent")),
            .always("expires", .number("seconds until its registration ends")),
        ])

    private static let recent = JSONSchema.object(
        "A recent call.",
        [
            .always("id", .uuid("the UUID of the call; of a list that gateways share, one of its Call-ID and From tag")),
            .always("direction", .choice(RecentCall.Direction.allCases.map(\.rawValue), "as the line sees it")),
            .always("handle", .text("whom it was with")),
            .maybe("name", .text("the contact, the directory's label, or what the caller said")),
            .always("began", .time("when its INVITE came")),
            .maybe("connected", .time("when it was answered")),
            .always("ended", .time("when it ended")),
            .always("outcome", .choice(RecentCall.Outcome.allCases.map(\.rawValue), "how it came out for the line")),
            .always("reason", .text("what ended it, as the journal says it")),
        ])

    private static let server = JSONSchema.object(
        "The gateway.",
        [
            .always("version", .text("of the program")),
            .maybe("run", .text("the run, as positions have it")),
            .maybe("position", position),
            .maybe("started", .time("the start of the run")),
            .always("calls", .number("of CallKit that are up: a call that is bridged is two")),
            .always("readers", .number("of events")),
            .always("replays", .number("readers that get events from the journal's files at the moment")),
            .always("refusedReplays", .number("readers that were refused because eight replays went on")),
            .always("isRunning", .flag("false: it has not begun yet")),
            nodes,
        ])

    /// Of what one of several gateways has.
    static let node = JSONSchema.Property.maybe("node", .text("the gateway that has it; absent where one is asked"))
    /// Of an answer for several gateways.
    static let nodes = JSONSchema.Property.maybe(
        "nodes", .list(of: .reference("Node"), "the gateways that were asked; absent where it is one"))

    private static let nodeBody = JSONSchema.object(
        "A gateway that this one answers for, or itself. What follows `error` is in `/v1/server` alone.",
        [
            .always("node", .text("its name")),
            .always("isUp", .flag("it has answered")),
            .maybe("position", .text("its own position, `run.seq`")),
            .maybe("error", .text("why its part is missing")),
            .maybe("version", .text("of the program")),
            .maybe("run", .text("the run")),
            .maybe("started", .time("the start of the run")),
            .maybe("calls", .number("of CallKit that are up")),
            .maybe("readers", .number("of events")),
            .maybe("isRunning", .flag("false: it has not begun yet")),
        ])
}
