import Audio
import Gateway
import Primitives
import SDP
import SIP
import UserAgent

/// One setting: where it stands in the file, what it takes, and what it sets. The one table that the file, the environment, the
/// flags and the help text all read.
struct Setting: Sendable {
    /// Dotted, as `media.ports`.
    var path: String
    var takes: String
    var help: String
    var apply: @Sendable (inout ServeConfiguration, SettingValue) throws -> Void

    /// `HOOKSWITCH_MEDIA_PORTS` for `media.ports`.
    var environmentName: String {
        "HOOKSWITCH_" + path.uppercased().map { $0 == "." || $0 == "-" ? "_" : String($0) }.joined()
    }

    /// For the help: lines of up to 78 columns, for the parser that prints them knows no indents.
    var listing: String {
        var lines = ["  \(path) <\(takes)>"], row = "     "
        for word in help.split(separator: " ") {
            if row.count + word.count > 77 { (lines, row) = (lines + [row], "     ") }
            row += " " + word
        }
        return (lines + [row]).joined(separator: "\n")
    }

    static let all: [Setting] = basic + refusals + directories + features

    private static let basic: [Setting] = [
        Setting(
            path: "domain", takes: "names|any",
            help:
                "what this server is responsible for: devices register under these names, or an address; with 'any' among them under any name (any)"
        ) {
            let names = try $1.someOf("name") { try $0.host }, own = names.filter { $0 != "any" }
            if let domain = own.first { $0.gateway.domain = domain }
            $0.gateway.aliases = own.count < names.count ? nil : Array(own.dropFirst())
        },
        Setting(path: "sip.udp", takes: "addresses", help: "UDP sockets for SIP") { $0.udp = try $1.list { try $0.listening(5060) } },
        Setting(path: "sip.tcp", takes: "addresses", help: "TCP sockets for SIP") { $0.tcp = try $1.list { try $0.listening(5060) } },
        Setting(path: "sip.tcp-above", takes: "bytes", help: "longer requests go over TCP instead of UDP (1300); none: never") {
            $0.gateway.limits.longestDatagram = try $1.text == "none" ? nil : $1.integer(500...60_000)
        },
        Setting(
            path: "sip.session-expires", takes: "seconds|none",
            help: "interval of the session timer that we ask for; none: no timers (1800)"
        ) {
            let seconds = try $1.text == "none" ? nil : try $1.integer(90...86_400)
            $0.gateway.sip.sessionTimer = seconds.map { SessionTimer.Policy(interval: UInt32($0)) }
        },
        Setting(path: "sip.min-se", takes: "seconds", help: "a shorter session interval is refused with 422 (90)") {
            let seconds = UInt32(try $1.integer(90...86_400))
            $0.gateway.sip.leastSessionInterval = seconds
        },
        Setting(path: "sip.reliable-ringing", takes: "required|supported", help: "when a 180 waits for its PRACK (required)") {
            $0.gateway.sip.reliability = try $1.oneOf(["required", "supported"]) == "required" ? .whenRequired : .whenSupported
        },
        Setting(path: "sip.tls.listen", takes: "addresses", help: "TLS sockets for SIP") {
            $0.tls = try $1.list { try $0.listening(5061) }
        },
        Setting(path: "sip.tls.certificate", takes: "files", help: "our certificate with its chain (PEM); several are chosen by name") {
            $0.certificates = try $1.list { try $0.file }
        },
        Setting(path: "sip.tls.key", takes: "files", help: "its private key (PEM)") { $0.keys = try $1.list { try $0.file } },
        Setting(path: "sip.tls.client-ca", takes: "file", help: "authorities of which who connects must show a certificate") {
            $0.clientAuthorities = try $1.file
        },
        Setting(path: "sip.tls.ca", takes: "file", help: "authorities believed of servers; absent: the system's") {
            $0.serverAuthorities = try $1.file
        },
        Setting(path: "headers.copy", takes: "names", help: "header fields that pass between lines; none: no field (Subject, User-to-User)")
        {
            $0.gateway.headers.copy = try $1.scalars == ["none"] ? [] : $1.someOf("header", otherwise: "; write none") { try $0.headerName }
        },
        Setting(path: "advertise.address", takes: "address", help: "the address that peers outside are told") {
            $0.gateway.advertise.address = try $1.reachable
        },
        Setting(path: "advertise.local", takes: "networks", help: "networks that are told the socket's own address") {
            $0.gateway.advertise.local = try $1.list { try $0.network }
        },
        Setting(path: "media.ports", takes: "first-last", help: "UDP ports for media (20000-20199)") {
            $0.gateway.media.ports = try $1.portRange
        },
        Setting(path: "media.codecs", takes: "names", help: "codecs in order of preference (opus, g722, pcmu, pcma; there is l16, too)") {
            $0.gateway.media.codecs = try $1.someOf("codec") { try $0.codec }
        },
        Setting(path: "media.opus.complexity", takes: "0-10", help: "effort of the Opus encoder where sound is transcoded or made here") {
            $0.gateway.media.opus.complexity = Int32(try $1.integer(0...10))
        },
        Setting(path: "media.opus.bitrate", takes: "bits/s", help: "of Opus that is encoded here; a peer may ask for less") {
            $0.gateway.media.opus.bitrate = Int32(try $1.integer(6_000...510_000))
        },
        Setting(path: "media.opus.fec", takes: "true|false", help: "in-band error correction: asked for, and sent to peers that ask for it")
        {
            $0.gateway.media.opus.forwardErrorCorrection = try $1.flag
        },
        Setting(path: "media.opus.dtx", takes: "true|false", help: "whether peers are asked to leave silence out") {
            $0.gateway.media.opus.discontinuous = try $1.flag
        },
        Setting(
            path: "media.inband-dtmf", takes: "true|false",
            help: "keys are sought in the sound of peers without telephone-event, which costs a decoding"
        ) {
            $0.gateway.media.hearsKeys = try $1.flag
        },
        Setting(path: "media.targets.allow", takes: "networks", help: "where media may go by what peers say; absent: anywhere") {
            $0.gateway.media.allowedTargets = try $1.someOf("network", otherwise: "; without the setting media may go anywhere") {
                try $0.network
            }
        },
        Setting(path: "media.targets.deny", takes: "networks", help: "where media may not go, whatever peers say") {
            $0.gateway.media.deniedTargets = try $1.list { try $0.network }
        },
        Setting(
            path: "media.comfort-noise", takes: "true|false",
            help: "comfort noise (RFC 3389) is offered and agreed to; else silence is sent (false)"
        ) {
            $0.gateway.media.comfortNoise = try $1.flag
        },
        Setting(path: "media.quarantine", takes: "seconds", help: "how long a released port rests (1, and no less)") {
            $0.gateway.media.quarantine = try $1.duration(1...3600)
        },
        Setting(path: "media.batch", takes: "milliseconds", help: "pace of the media lanes; 0: lowest latency; absent: automatic") {
            $0.mediaBatch = .microseconds(Int64(try $1.number(0...20) * 1000))
        },
        Setting(path: "access.trusted", takes: "networks", help: "sources whose calls are never challenged") {
            $0.gateway.access.trusted = try $1.list { try $0.network }
        },
        Setting(path: "access.guests", takes: "networks", help: "sources whose callers need not be a line of ours (127.0.0.0/8, ::1/128)") {
            $0.gateway.access.guests = try $1.list { try $0.network }
        },
        Setting(path: "access.silent", takes: "true|false", help: "strangers that name no line of ours get no answer") {
            $0.gateway.access.isSilent = try $1.flag
        },
        Setting(path: "access.digests", takes: "names", help: "digest algorithms offered to devices, in this order") {
            $0.gateway.access.digests = try $1.someOf("digest") { try $0.digest }
        },
        Setting(
            path: "access.guesses-per-user", takes: "number",
            help: "wrong passwords a minute for one user from one address before the answers ask to come later (20)"
        ) {
            $0.gateway.access.guesses.perUser = try $1.integer(1...1_000_000)
        },
        Setting(path: "access.guesses-per-source", takes: "number", help: "the same for all users from one address (200)") {
            $0.gateway.access.guesses.perSource = try $1.integer(1...1_000_000)
        },
        Setting(
            path: "devices.keep-alive", takes: "seconds|none",
            help: "how often devices behind a NAT are asked by OPTIONS whether they are there (25)"
        ) {
            $0.gateway.devices.keepAlive = try $1.text == "none" ? nil : $1.duration(5...3600)
        },
        Setting(path: "devices.keep-alive-of", takes: "nat|all", help: "which devices are asked: those behind a NAT, or all (nat)") {
            $0.gateway.devices.asksAll = try $1.oneOf(["nat", "all"]) == "all"
        },
        Setting(path: "access.asserting", takes: "networks", help: "peers whose P-Asserted-Identity is believed, and that are told ours") {
            $0.gateway.access.asserting = try $1.list { try $0.network }
        },
        Setting(path: "limits.legs", takes: "number", help: "legs at a time, callees too; a call too many gets 503") {
            $0.gateway.limits.legs = try $1.integer(1...1_000_000)
        },
        Setting(path: "limits.calls-per-second", takes: "number", help: "calls that may begin in a second; more get 503") {
            $0.gateway.limits.callsPerSecond = try $1.integer(1...1_000_000)
        },
        Setting(
            path: "limits.requests-per-source", takes: "number",
            help: "requests outside of calls from one source in a second, twice as many in a burst; more get 503"
        ) {
            $0.gateway.limits.requestsPerSource = try $1.integer(1...1_000_000)
        },
        Setting(path: "limits.connections", takes: "number", help: "TCP and TLS connections at a time; one more is closed") {
            $0.gateway.limits.connections = try $1.integer(1...1_000_000)
        },
        Setting(path: "limits.connections-per-source", takes: "number", help: "the same from one address that is not trusted") {
            $0.gateway.limits.connectionsPerSource = try $1.integer(1...1_000_000)
        },
        Setting(
            path: "limits.backlog", takes: "seconds",
            help: "requests outside of calls get 503 while messages lie unread for longer; 0: never"
        ) {
            $0.gateway.limits.backlog = try $1.duration(0...10)
        },
        Setting(path: "limits.retry-after", takes: "seconds", help: "Retry-After of a 503") {
            $0.gateway.limits.retryAfter = try $1.integer(1...3600)
        },
        Setting(path: "data", takes: "folder", help: "where the journal and the database are kept; absent: nothing is written") {
            $0.dataFolder = try $1.text
        },
        Setting(path: "dns.servers", takes: "addresses", help: "name servers; absent: the system's") {
            $0.nameServers = try $1.list { try $0.server(53) }
        },
        Setting(path: "journal.file", takes: "file", help: "the journal's file, when not in the data folder") {
            $0.journalFile = try $1.text
        },
        Setting(path: "journal.rotate", takes: "megabytes", help: "size at which a new file is begun (256); five old ones are kept") {
            $0.journalRotation = try $1.integer(1...1_000_000) * 1024 * 1024
        },
        Setting(
            path: "metrics.listen", takes: "address",
            help: "HTTP for /metrics (Prometheus), /health/live and /health/ready; absent: none (port 9464)"
        ) {
            $0.metricsAddress = try $1.listening(9464)
        },
        Setting(
            path: "log.level", takes: "level", help: "info, notice, warning, error or critical (info); trace and debug say what info says"
        ) {
            $0.logLevel = try $1.oneOf(["trace", "debug", "info", "notice", "warning", "error", "critical"])
        },
        Setting(path: "drain", takes: "seconds", help: "how long calls may go on after SIGTERM (10)") {
            $0.drainDeadline = try $1.duration(0...3600)
        },
        Setting(path: "test-mode", takes: "true|false", help: "a violation of the journal's rules is fatal") { $0.testMode = try $1.flag },
    ]

    private static let refusals: [Setting] = RefusalStatuses.Kind.allCases.map { kind in
        let statuses = kind.statuses.map(String.init).joined(separator: "|")
        return Setting(path: "refusals.\(kind.rawValue)", takes: statuses, help: kind.help) {
            $0.gateway.refusals[kind] = try $1.status(of: kind)
        }
    }

    private static let directories: [Setting] = [
        Setting(
            path: "directories.block", takes: "name=file, …", help: "call directories of numbers to block, ascending; lines enable them"
        ) {
            $0.setFiles(try $1.namedFiles, of: \.block)
        },
        Setting(
            path: "directories.identify", takes: "name=file, …", help: "call directories of numbers and names, ascending; lines enable them"
        ) {
            $0.setFiles(try $1.namedFiles, of: \.identify)
        },
        Setting(path: "directories.call-info", takes: "https://…", help: "jCard that a 608 names for redress (RFC 8688)") {
            $0.gateway.callInfo = Text(try $1.secureURL)
        },
        Setting(path: "time-zone", takes: "name", help: "of schedules, as Europe/Rome; default: the machine's") {
            $0.timeZone = try $1.timeZone
        },
    ]

    private static let features: [Setting] = [
        Setting(path: "feature-codes", takes: "true|false", help: "whether devices may dial *78 *79 *60 *80 *69") {
            $0.gateway.featureCodes = try $1.flag
        },
        Setting(path: "limits.recents", takes: "number", help: "calls in the recents of a line") {
            $0.gateway.limits.recents = try $1.integer(0...100_000)
        },
        Setting(
            path: "push.url", takes: "https://…", help: "where pushes for sleeping devices are posted (RFC 8599); absent: nobody is woken"
        ) {
            $0.pushURL = try $1.webURL
            $0.gateway.push.isOn = true
        },
        Setting(path: "push.limit", takes: "seconds", help: "how long a call waits for a device to wake, before it rings") {
            $0.gateway.push.limit = try $1.duration(1...300)
        },
        Setting(path: "push.keep", takes: "days", help: "how long after its last REGISTER a device may be woken") {
            $0.gateway.push.keep = .seconds(try $1.integer(1...3_650) * 86_400)
        },
        Setting(
            path: "push.awake", takes: "seconds",
            help: "how long after a REGISTER a device counts as awake; absent: until the registration expires"
        ) {
            $0.gateway.push.awake = try $1.duration(1...86_400)
        },
    ]

    /// Groups of the design that a later version brings: known by name, so that the error can say so.
    static let later: [String: String] = ["api": "the HTTP API"]

    static func named(_ path: String) -> Setting? { all.first { $0.path == path } }

    /// Names of groups, as `sip`, `media` and `media.opus`.
    static let groups = Set(
        all.flatMap { setting in setting.path.indices.filter { setting.path[$0] == "." }.map { String(setting.path[..<$0]) } })
}
