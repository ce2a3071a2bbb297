import Gateway
import Streaming

/// A key of an entry of `lines`, or of what stands within one: the one table that the reader, its hints and the reference read.
struct LineKey: Sendable {
    /// From the line down, as `trunk.rewrite.match`.
    var path: String
    var takes: String
    var `default`: Setting.Default
    var help: String

    /// The key whose braces it stands in; empty for a key of the line itself.
    private var group: String { path.split(separator: ".").dropLast().joined(separator: ".") }
    /// As it is written.
    var name: String { String(path.split(separator: ".").last ?? "") }

    static let all: [LineKey] = line + features + refusals + recents + sound + mailbox + menu + queue + media + groups + trunk

    private static let namesByGroup = Dictionary(grouping: all, by: \.group).mapValues { $0.map(\.name) }

    /// The keys that stand in a group as `trunk.rewrite`; of the line itself without one.
    static func names(in group: String = "") -> [String] { namesByGroup[group] ?? [] }

    init(_ path: String, _ takes: String, _ standard: Setting.Default, _ help: String) {
        (self.path, self.takes, self.default, self.help) = (path, takes, standard, help)
    }

    private static let line: [LineKey] = [
        LineKey("number", "number", .needed, "the number that is dialled, as 1001 or alice"),
        LineKey("name", "text", .unset("none"), "the name that those see whom it calls"),
        LineKey("password", "text", .unset("none"), "devices register and call with it"),
        LineKey("password-file", "file", .unset("none"), "the file whose one line is the password, as a mounted secret"),
        LineKey("open", "true|false", .value("false"), "devices register and call without a password"),
        LineKey("match", "pattern", .unset("none"), "further numbers that reach the line: `^+39` begins so, `2...` has four digits"),
        LineKey(
            "domain", "name", .unset("every domain"),
            "calls of this domain alone reach the line, and without a `match` all that no line has"),
        LineKey("ring-timeout", "seconds|none", .value("60"), "how long a call rings before it is given up"),
        LineKey("max-duration", "seconds", .unset("no limit"), "how long a call may last"),
        LineKey("calls", "number", .value("10000"), "conversations at a time"),
        LineKey("takes-calls", "true|false", .value("true"), "whether anybody may call the line"),
    ]

    private static let features: [LineKey] = [
        LineKey("do-not-disturb", "true|false|{ … }", .value("false"), "no call rings"),
        LineKey("do-not-disturb.on", "true|false", .value("false"), "on from the start, until somebody turns it off"),
        LineKey("do-not-disturb.vips", "numbers", .unset("nobody"), "callers that ring all the same, by number or pattern"),
        LineKey("do-not-disturb.schedule", "[{ … }]", .unset("never"), "windows of the week in which it is on by itself"),
        LineKey("do-not-disturb.schedule.days", "days", .value("daily"), "days on which the window begins: `mon`, `mon-fri`, `daily`"),
        LineKey("do-not-disturb.schedule.from", "time", .needed, "when it begins, as `\"22:00\"`"),
        LineKey(
            "do-not-disturb.schedule.to", "time", .needed, "when it ends, the next day where that is not later; `\"24:00\"` is midnight"),
        LineKey("do-not-disturb.time-zone", "name", .unset("the setting `time-zone`"), "the time zone of the schedule"),
        LineKey("block", "numbers", .unset("nobody"), "callers that are refused, by number or pattern"),
        LineKey("directories", "names", .unset("none"), "call directories that the line enables, in this order"),
        LineKey("contacts", "numbers with names", .unset("none"), "names of callers; they come before directories"),
        LineKey("refusals", "{ … }", .unset("the settings `refusals`"), "statuses for callers that this line refuses"),
    ]

    private static let refusals: [LineKey] = RefusalStatuses.Kind.allCases.map { kind in
        LineKey("refusals.\(kind.rawValue)", kind.takes, .unset("the setting `refusals.\(kind.rawValue)`"), kind.help)
    }

    private static let recents: [LineKey] = [
        LineKey("recents", "true|false", .unset("true for a line with devices"), "whether its calls are kept in its recents"),
        LineKey("handles", "names", .value("generic, phone-number"), "kinds of handles that it calls back; there is email-address, too"),
    ]

    private static let sound: [LineKey] = [
        LineKey(
            "application", LineEndpoint.Application.names.joined(separator: "|"), .unset("none"), "the gateway answers by itself"),
        LineKey("file", "file", .unset("none"), "the sound that `playback` plays, and the greeting of `record` (WAV or Ogg Opus)"),
        LineKey("loop", "true|false", .value("false"), "`playback` begins again, where it would hang up"),
        LineKey(
            "url", "ws://…|wss://…|api", .unset("needed with `stream`"),
            "the address of the program that `stream` lets speak and hear; `api`: it comes to the control interface"),
        LineKey("tap", "true|false", .value("false"), "programs may listen to the line's calls, by the control interface"),
        LineKey("format", "twilio|raw", .value("twilio"), "the messages of `stream`: those of Twilio's Media Streams, or plain sound"),
        LineKey(
            "encoding", StreamEncoding.choices.keys.sorted().joined(separator: "|"), .value("l16/16000"), "the sound of the format `raw`"),
        LineKey("headers", "names with values", .unset("none"), "fields of the request that opens the WebSocket of `stream`"),
        LineKey(
            "header-files", "names with files", .unset("none"), "the same, with files whose one line is the value, as a mounted secret"),
        LineKey("on-failure", "hang-up|{ … }", .value("hang-up"), "what `stream` does where its program cannot be reached, or breaks off"),
        LineKey("on-failure.announcement", "file", .unset("none"), "it is played, and the call ends (WAV or Ogg Opus)"),
        LineKey("on-failure.transfer", "number", .unset("none"), "the call goes on with this number"),
        LineKey(
            "record", "folder|pattern", .unset("nothing is recorded"),
            "the files that calls are recorded in, as `{date}-{time}-{caller}.opus`"),
        LineKey("hold-music", "file|theirs|silence", .value("silence"), "the sound for a far end that somebody of the line puts on hold"),
    ]

    private static let mailbox: [LineKey] = [
        LineKey("mailbox", "{ … }", .unset("the defaults below"), "the limits of messages of `application: record`"),
        LineKey("mailbox.maximum", "seconds|none", .value("180"), "the longest message: it ends, and so does the call"),
        LineKey("mailbox.silence-end", "seconds|none", .value("none"), "so long a silence (below -50 dBFS) ends the message and the call"),
        LineKey(
            "mailbox.owners", "[numbers]", .unset("nobody"),
            "lines with devices whose telephones show how many messages wait (SUBSCRIBE, `message-summary`)"),
        LineKey("mailbox.minimum", "seconds", .value("1"), "a message with less sound than that leaves no file"),
    ]

    private static let menu: [LineKey] = [
        LineKey("menu", "{ … }", .unset("none"), "the prompt and the choices of `application: menu`"),
        LineKey("menu.greeting", "file|{ … }", .unset("none"), "played once, before the first prompt; written as `prompt` is"),
        LineKey("menu.prompt", "file|{ … }", .needed, "the sound that is played each time that digits are expected: a file, or a text"),
        LineKey("menu.prompt.file", "file", .unset("none"), "the file, WAV or Ogg Opus"),
        LineKey("menu.prompt.say", "text", .unset("none"), "a text that `speech.command` speaks, once"),
        LineKey("menu.invalid", "file|{ … }", .unset("none"), "played after digits that no choice has"),
        LineKey("menu.unavailable", "file|{ … }", .unset("none"), "played when whom a choice calls was not reached"),
        LineKey(
            "menu.choices", "{ … }", .needed,
            "what digits lead to: `hang-up`, `repeat`, `back`, `hook` (the decision hook is asked), or one of the keys below"),
        LineKey("menu.choices.line", "number", .unset("none"), "a line is called, as if the caller had dialled it"),
        LineKey("menu.choices.mailbox", "number", .unset("none"), "a line with `application: record` is called"),
        LineKey("menu.choices.trunk", "number", .unset("none"), "a number is called over the trunk of this line"),
        LineKey("menu.choices.number", "number", .unset("none"), "the number that is called over `trunk`"),
        LineKey("menu.choices.menu", "{ … }", .unset("none"), "another level, with the same keys as `menu`"),
        LineKey("menu.timeout", "seconds", .value("5"), "how long the first digit may take after the prompt"),
        LineKey("menu.digit-timeout", "seconds", .value("3"), "how long each further digit may take, where a longer choice begins so"),
        LineKey("menu.retries", "0-10", .value("2"), "how often the prompt is played again after none or wrong digits"),
        LineKey("menu.barge-in", "true|false", .value("true"), "whether a digit ends the prompt; otherwise digits during it are lost"),
        LineKey(
            "menu.otherwise", "choice", .value("hang-up"),
            "what follows after that: as a choice, but for `repeat`, `back` and `menu`"),
    ]

    private static let queue: [LineKey] = [
        LineKey("queue", "{ … }", .unset("none"), "the members of `application: queue`, and what callers hear while they wait"),
        LineKey("queue.members", "[numbers]", .needed, "lines with devices, and trunks"),
        LineKey(
            "queue.strategy", QueueSettings.Strategy.allCases.map(\.rawValue).joined(separator: "|"), .value("all"),
            "which free members ring for the first caller"),
        LineKey("queue.ring", "seconds", .value("20"), "how long they ring before others do"),
        LineKey("queue.pause", "seconds", .value("5"), "how long a member who did not answer is left alone"),
        LineKey("queue.greeting", "file|{ … }", .unset("none"), "played once; written as `menu.prompt` is"),
        LineKey("queue.music", "file|{ … }", .unset("silence"), "played while callers wait"),
        LineKey(
            "queue.position", "{ … }|[files]", .unset("none"),
            "`{ say: \"You are number {position}.\" }`, for the first ten, or a file for the first caller, one for the second, …"),
        LineKey("queue.every", "seconds", .value("30"), "how often the position is said"),
        LineKey("queue.length", "number", .value("100"), "callers that wait at a time"),
        LineKey("queue.wait", "seconds|none", .value("none"), "how long a caller may wait"),
        LineKey("queue.overflow", "choice", .value("hang-up"), "what follows for one more, or after that time: as `menu.otherwise`"),
    ]

    private static let media: [LineKey] = [
        LineKey("srtp", "off|optional|required", .value("off"), "whether media of its devices is encrypted"),
        LineKey("srtp-keying", "sdes|dtls", .value("sdes"), "how its devices are offered keys"),
        LineKey("ice", "off|auto|lite", .value("auto"), "whether its devices are answered connectivity checks, and offered them (`lite`)"),
        LineKey("media-timeout", "seconds", .unset("no limit"), "how long nothing may come from a far end that was heard and is not held"),
        LineKey("first-media-timeout", "seconds", .unset("no limit"), "the same for a far end that was never heard"),
    ]

    private static let groups: [LineKey] = [
        LineKey("group", "{ … }", .unset("none"), "the line rings others"),
        LineKey("group.members", "[numbers|{ … }]", .needed, "lines with devices, and trunks"),
        LineKey("group.members.number", "number", .needed, "the number of the member"),
        LineKey("group.members.delay", "seconds", .value("0"), "how much later than the first it rings"),
        LineKey("group.in-turn", "seconds", .unset("all ring at once"), "members ring one after the other, each so long"),
        LineKey("script", "{ … }", .unset("none"), "a callee for tests of callers: one of `answer`, `ring` and `reject`"),
        LineKey("script.answer", "true", .unset("none"), "answers, and sends back what it hears"),
        LineKey("script.ring", "true", .unset("none"), "rings until `ring-timeout`"),
        LineKey("script.reject", "300-699", .unset("none"), "rejects with this status"),
        LineKey("script.after", "milliseconds", .value("0"), "how long it rings before it answers or rejects"),
        LineKey("script.busy-every", "number", .unset("never"), "every so many calls are busy: 486"),
    ]

    private static let trunk: [LineKey] = [
        LineKey("trunk", "{ … }", .unset("none"), "calls go to a SIP peer or carrier, and come from it"),
        LineKey("trunk.host", "name[:port]", .unset("needed without `targets`"), "the one server, or a domain that DNS knows"),
        LineKey("trunk.targets", "[{ … }]", .unset("the `host`"), "several servers"),
        LineKey("trunk.targets.host", "name[:port]", .needed, "one server"),
        LineKey("trunk.targets.transport", "udp|tcp|tls", .unset("that of the trunk"), "how it is reached"),
        LineKey("trunk.targets.priority", "0-65535", .value("0"), "lower ones are tried first"),
        LineKey("trunk.targets.weight", "0-65535", .value("1"), "its share among those of one priority"),
        LineKey("trunk.transport", "udp|tcp|tls", .unset("what DNS says, else udp"), "how servers are reached"),
        LineKey("trunk.tcp", "true|false", .value("false"), "as `transport: tcp`"),
        LineKey("trunk.username", "text", .unset("none"), "our name there, for challenges"),
        LineKey("trunk.password", "text", .unset("none"), "the password of `username`"),
        LineKey("trunk.password-file", "file", .unset("none"), "the file whose one line is that password"),
        LineKey("trunk.domain", "name", .unset("the server that is asked"), "the host of request URIs and of our address there"),
        LineKey("trunk.register", "true|false", .value("false"), "we register there, and are called at our Contact"),
        LineKey("trunk.expires", "seconds", .value("600"), "how long a registration is to hold; needs `register`"),
        LineKey("trunk.keep-alive", "seconds|none", .value("25"), "how often the way is kept open; needs `register`"),
        LineKey("trunk.health", "seconds|none", .value("none"), "how often each server is asked by OPTIONS whether it is there"),
        LineKey(
            "trunk.nodes", "one|each", .value("one"),
            "which gateways that share a database register and ask: one at a time, or each"),
        LineKey("trunk.sources", "networks", .unset("the servers alone"), "networks that calls come from, beside the servers"),
        LineKey("trunk.hairpin", "true|false", .value("false"), "a call from there may leave there again"),
        LineKey("trunk.incoming", "number", .unset("the number in To"), "the number that calls to our Contact are for; needs `register`"),
        LineKey("trunk.caller", "number", .unset("the caller's number"), "the number that our calls come from"),
        LineKey("trunk.rewrite", "[{ … }]", .unset("none"), "rules that change numbers that are called there: the first that matches"),
        LineKey("trunk.rewrite.match", "pattern", .needed, "numbers that the rule is for"),
        LineKey("trunk.rewrite.strip", "0-64", .value("0"), "digits that are taken off the front"),
        LineKey("trunk.rewrite.prefix", "text", .unset("nothing"), "digits that are put before the rest"),
        LineKey(
            "trunk.rewrite-incoming", "[{ … }]", .unset("none"), "the same, with the same keys, for numbers that are called from there"),
        LineKey("trunk.headers", "{ … }", .unset("none"), "header fields that pass between the trunk and others"),
        LineKey("trunk.headers.copy", "names", .unset("none"), "fields that go on both ways, as `\"X-*\"`"),
        LineKey("trunk.headers.remove", "names", .unset("none"), "fields among these that do not go on"),
        LineKey("trunk.headers.set", "names with values", .unset("none"), "fields that we add towards the trunk"),
    ]
}
