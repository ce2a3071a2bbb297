import Gateway
import Primitives

/// Features of lines, and the process.
extension Setting {
    static let lineFeatures: [Setting] =
        refusals + directories + [
            Setting(
                path: "lines-folder", takes: "folder", default: .unset("the lines of the file alone"),
                help: "further lines: each .yaml file in it is a list of them, as under 'lines'"
            ) { $0.linesFolder = try $1.text },
            Setting(
                path: "feature-codes", takes: "true|false", default: .value("true"), help: "whether devices may dial *78 *79 *60 *80 *69"
            ) { $0.gateway.featureCodes = try $1.flag },
            Setting(
                path: "push.url", takes: "https://…", default: .unset("nobody is woken"),
                help: "the address that pushes for sleeping devices are posted to (RFC 8599)"
            ) {
                $0.pushURL = try $1.webURL
                $0.gateway.push.isOn = true
            },
            Setting(
                path: "push.limit", takes: "seconds", default: .value("30"),
                help: "time that a call waits for a device to wake, before it rings"
            ) { $0.gateway.push.limit = try $1.duration(1...300) },
            Setting(
                path: "push.keep", takes: "days", default: .value("30"), help: "how long after its last REGISTER a device may be woken"
            ) { $0.gateway.push.keep = .seconds(try $1.integer(1...3_650) * 86_400) },
            Setting(
                path: "push.awake", takes: "seconds", default: .unset("until the registration expires"),
                help: "how long after a REGISTER a device counts as awake"
            ) { $0.gateway.push.awake = try $1.duration(1...86_400) },
        ]

    private static let refusals: [Setting] = RefusalStatuses.Kind.allCases.map { kind in
        Setting(path: "refusals.\(kind.rawValue)", takes: kind.takes, default: .value("\(kind.statuses[0])"), help: kind.help) {
            $0.gateway.refusals[kind] = try $1.status(of: kind)
        }
    }

    private static let directories: [Setting] = [
        Setting(
            path: "directories.block", takes: "name=file, …", default: .unset("none"),
            help: "call directories of numbers to block, ascending; lines enable them"
        ) { $0.setFiles(try $1.namedFiles, of: \.block) },
        Setting(
            path: "directories.identify", takes: "name=file, …", default: .unset("none"),
            help: "call directories of numbers and names, ascending; lines enable them"
        ) { $0.setFiles(try $1.namedFiles, of: \.identify) },
        Setting(
            path: "directories.call-info", takes: "https://…", default: .unset("none"),
            help: "jCard that a 608 names for redress (RFC 8688)"
        ) { $0.gateway.callInfo = Text(try $1.secureURL) },
        Setting(path: "time-zone", takes: "name", default: .unset("the machine's"), help: "the time zone of schedules, as Europe/Rome") {
            $0.timeZone = try $1.timeZone
        },
    ]

    static let service: [Setting] = [
        Setting(
            path: "data", takes: "folder, postgres://…", default: .unset("nothing is written"),
            help:
                "the folder of the journal and the database; or a PostgreSQL database that gateways share (postgres://user@host:port/name); or both"
        ) { try $0.keep(in: $1) },
        Setting(
            path: "data-password-file", takes: "file", default: .unset("passfile= of the URL, PGPASSWORD, ~/.pgpass"),
            help: "the file whose one line is the password for PostgreSQL, as a mounted secret"
        ) { $0.data.password = try $1.secret },
        Setting(
            path: "node", takes: "name", default: .unset("the machine's name"),
            help: "the name of this gateway among those that share a database; each has another"
        ) { $0.data.node = try $1.text },
        Setting(
            path: "takeover", takes: "end|reinvite", default: .value("end"),
            help: "what becomes of the calls of another gateway of the database that has died: they end, or go on here with a re-INVITE"
        ) { $0.gateway.takeover = try $1.oneOf(["end", "reinvite"]) == "reinvite" ? .reinvite : .end },
        Setting(
            path: "journal.file", takes: "file", default: .unset("journal.jsonl in the data folder"), help: "the file of the journal"
        ) { $0.journalFile = try $1.text },
        Setting(
            path: "journal.rotate", takes: "megabytes", default: .value("256"),
            help: "size at which a new file is begun; five old ones are kept"
        ) { $0.journalRotation = try $1.integer(1...1_000_000) * 1024 * 1024 },
        Setting(
            path: "metrics.listen", takes: "address", default: .unset("nothing listens"),
            help: "HTTP for /metrics (Prometheus), /health/live and /health/ready (port 9464)"
        ) { $0.metricsAddress = try $1.listening(9464) },
        Setting(
            path: "api.socket", takes: "file|none", default: .unset("hookswitch.sock in the data folder, where there is one"),
            help: "the control interface's socket, which this user alone may open; the commands that steer a gateway use it"
        ) { $0.control.socket = try $1.text == "none" ? .none : .path($1.text) },
        Setting(
            path: "api.listen", takes: "addresses", default: .unset("the socket alone"),
            help: "HTTP for the control interface /v1 (port 8080); an address that others can reach needs api.tls and tokens"
        ) { $0.control.addresses = try $1.list { try $0.listening(8_080) } },
        Setting(
            path: "api.tls", takes: "true|false", default: .value("false"),
            help: "HTTPS in the place of HTTP, with the certificates of sip.tls"
        ) { $0.control.tls = try $1.flag },
        Setting(
            path: "api.tokens", takes: "file", default: .unset("tokens.json in the data folder"),
            help: "tokens of those who may ask over api.listen ('hookswitch token'); without one all of this machine may"
        ) { $0.control.tokens = try $1.text },
        Setting(
            path: "api.origins", takes: "https://…, …", default: .unset("pages of its own address alone"),
            help: "web origins whose pages may open a WebSocket of events, besides the control interface's own"
        ) { $0.control.origins = Set(try $1.list { try $0.origin }) },
        Setting(
            path: "api.nodes", takes: "name=https://…, …", default: .unset("this gateway alone"),
            help: "control interfaces of the gateways that this one answers for, too; its own entry may be among them"
        ) { $0.control.nodes = try $1.list { try $0.node } },
        Setting(
            path: "api.nodes-secret-file", takes: "file", default: .unset("no gateway is let in by it"),
            help: "the file whose one line is the secret of gateways that ask each other; 32 characters or more"
        ) { $0.control.nodesSecret = String(decoding: try $1.longSecret, as: UTF8.self) },
        Setting(
            path: "api.phone-server", takes: "wss://…", default: .unset("this gateway's sip.wss or sip.ws"),
            help: "the SIP server of the telephone page, where browsers reach the gateway through a proxy"
        ) { $0.control.phoneServer = try $1.webSocketURL },
        Setting(
            path: "hook.url", takes: "https://…", default: .unset("the configuration alone decides"),
            help: "a program that is asked, before anything rings, what becomes of each call from outside (POST of JSON)"
        ) { $0.hook.address = try $1.webURL },
        Setting(
            path: "hook.fallback", takes: "https://…", default: .unset("none"),
            help: "another address, which is asked when the first does not answer as it should"
        ) { $0.hook.fallback = try $1.webURL },
        Setting(path: "hook.timeout", takes: "seconds", default: .value("2"), help: "time that each address of the hook has") {
            $0.hook.timeout = Double(try $1.duration(1...30).wholeMilliseconds) / 1_000
        },
        Setting(
            path: "hook.default", takes: "as-dialled|number N|reject N", default: .unset("none, which hook.url needs"),
            help: "what becomes of a call when the hook does not decide: reject 503, number 9196"
        ) { $0.hook.standard = try $1.decision },
        Setting(
            path: "speech.command", takes: "words", default: .value(PromptSpeaker.standard.joined(separator: " ")),
            help:
                "the command that speaks texts of menus, once: it writes WAV to {file}, or without that word to standard output; no shell"
        ) { _, value in _ = try value.speechCommand },
        Setting(
            path: "log.level", takes: "level", default: .value("info"),
            help: "debug (each SIP message), info (each call and registration), notice, warning, error or critical; trace is as debug"
        ) { $0.log.level = try $1.oneOf(["trace", "debug", "info", "notice", "warning", "error", "critical"]) },
        Setting(path: "log.format", takes: "text|json", default: .value("text"), help: "lines for people, or a JSON object a line") {
            $0.log.format = try $1.oneOf(["text", "json"])
        },
        Setting(path: "drain", takes: "seconds", default: .value("10"), help: "how long calls may go on after SIGTERM") {
            $0.drainDeadline = try $1.duration(0...3600)
        },
        Setting(
            path: "test-mode", takes: "true|false", default: .value("false"), help: "a violation of the journal's rules is fatal"
        ) { $0.testMode = try $1.flag },
    ]
}
