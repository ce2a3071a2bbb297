import Audio
import Gateway
import Primitives
import SDP
import SIP
import UserAgent

/// Addresses, protocols and media.
extension Setting {
    static let signalling: [Setting] = [
        Setting(
            path: "domain", takes: "names|any", default: .value("any"),
            help:
                "names that this server is responsible for: devices register under them, or an address; with 'any' among them under any name"
        ) {
            let names = try $1.someOf("name") { try $0.host }, own = names.filter { $0 != "any" }
            if let domain = own.first { $0.gateway.domain = domain }
            $0.gateway.aliases = own.count < names.count ? nil : Array(own.dropFirst())
        },
        Setting(path: "sip.udp", takes: "addresses", default: .unset(loopback), help: "UDP sockets for SIP") {
            $0.udp = try $1.list { try $0.listening(5060) }
        },
        Setting(path: "sip.tcp", takes: "addresses", default: .unset(loopback), help: "TCP sockets for SIP") {
            $0.tcp = try $1.list { try $0.listening(5060) }
        },
        Setting(
            path: "sip.tcp-above", takes: "bytes|none", default: .value("1300"),
            help: "longer requests go over TCP instead of UDP; none: never"
        ) {
            $0.gateway.limits.longestDatagram = try $1.text == "none" ? nil : $1.integer(500...60_000)
        },
        Setting(
            path: "sip.session-expires", takes: "seconds|none", default: .value("1800"),
            help: "interval of the session timer that we ask for; none: no timers"
        ) {
            let seconds = try $1.text == "none" ? nil : try $1.integer(90...86_400)
            $0.gateway.sip.sessionTimer = seconds.map { SessionTimer.Policy(interval: UInt32($0)) }
        },
        Setting(path: "sip.min-se", takes: "seconds", default: .value("90"), help: "a shorter session interval is refused with 422") {
            let seconds = UInt32(try $1.integer(90...86_400))
            $0.gateway.sip.leastSessionInterval = seconds
        },
        Setting(
            path: "sip.reliable-ringing", takes: "required|supported", default: .value("required"), help: "when a 180 waits for its PRACK"
        ) {
            $0.gateway.sip.reliability = try $1.oneOf(["required", "supported"]) == "required" ? .whenRequired : .whenSupported
        },
        Setting(path: "sip.tls.listen", takes: "addresses", default: .unset("no TLS socket"), help: "TLS sockets for SIP (port 5061)") {
            $0.tls = try $1.list { try $0.listening(5061) }
        },
        Setting(
            path: "sip.tls.certificate", takes: "files", default: .unset("none"),
            help: "our certificate with its chain (PEM); several are chosen by name"
        ) { $0.certificates = try $1.list { try $0.file } },
        Setting(path: "sip.tls.key", takes: "files", default: .unset("none"), help: "the private key of each certificate (PEM)") {
            $0.keys = try $1.list { try $0.file }
        },
        Setting(
            path: "sip.tls.client-ca", takes: "file", default: .unset("no certificate is asked for"),
            help: "authorities of which who connects must show a certificate"
        ) { $0.clientAuthorities = try $1.file },
        Setting(
            path: "sip.ws", takes: "addresses", default: .unset("no WebSocket"),
            help: "WebSockets for SIP from browsers, in the clear (port 5066): for loopback, or behind a proxy that speaks TLS"
        ) { $0.webSocket.plain = try $1.list { try $0.listening(5066) } },
        Setting(
            path: "sip.wss.listen", takes: "addresses", default: .unset("no secure WebSocket"),
            help: "WebSockets over TLS for SIP from browsers (port 5067)"
        ) { $0.webSocket.secure = try $1.list { try $0.listening(5067) } },
        Setting(
            path: "sip.wss.certificate", takes: "files", default: .unset("that of sip.tls"),
            help: "certificate with its chain (PEM) for secure WebSockets; several are chosen by name"
        ) { $0.webSocket.certificates = try $1.list { try $0.file } },
        Setting(
            path: "sip.wss.key", takes: "files", default: .unset("that of sip.tls"), help: "the private key of each of them (PEM)"
        ) { $0.webSocket.keys = try $1.list { try $0.file } },
        Setting(
            path: "sip.ws-origins", takes: "https://…, …", default: .unset("all pages"),
            help: "web origins whose pages may open a WebSocket for SIP; programs that are no browsers name none, and may"
        ) { $0.webSocket.origins = Set(try $1.list { try $0.origin }) },
        Setting(
            path: "sip.ws-proxies", takes: "networks", default: .unset("no proxy"),
            help: "proxies before the WebSockets whose X-Forwarded-For is believed: limits, journal and media go by what it says"
        ) { $0.webSocket.proxies = try $1.list { try $0.network } },
        Setting(path: "sip.tls.ca", takes: "file", default: .unset("the system's"), help: "authorities that are believed of servers") {
            $0.serverAuthorities = try $1.file
        },
        Setting(
            path: "headers.copy", takes: "names|none", default: .value("Subject, User-to-User"),
            help: "header fields that pass between lines; none: no field"
        ) {
            $0.gateway.headers.copy = try $1.scalars == ["none"] ? [] : $1.someOf("header", otherwise: "; write none") { try $0.headerName }
        },
        Setting(
            path: "advertise.address", takes: "address|name", default: .unset("the address of the socket"),
            help: "the address that peers outside are told; a name is looked for at the start and each minute"
        ) {
            let name = HostLookup.name(in: try $1.text).flatMap { $0.port == nil ? $0.host.description : nil }
            $0.advertisedName = name
            $0.gateway.advertise.address = name == nil ? try $1.reachable : nil
        },
        Setting(
            path: "advertise.local", takes: "networks", default: .unset("loopback alone"),
            help: "networks that are told the socket's own address, beside loopback"
        ) { $0.gateway.advertise.local = try $1.list { try $0.network } },
        Setting(path: "dns.servers", takes: "addresses", default: .unset("the system's"), help: "name servers (port 53)") {
            $0.nameServers = try $1.list { try $0.server(53) }
        },
    ]

    private static let loopback = "127.0.0.1:5060, where nothing is listened on"

    static let media: [Setting] = [
        Setting(path: "media.ports", takes: "first-last", default: .value("20000-20199"), help: "UDP ports for media") {
            $0.gateway.media.ports = try $1.portRange
        },
        Setting(
            path: "media.codecs", takes: "names", default: .value("opus, g722, pcmu, pcma"),
            help: "codecs in order of preference; there are l16/8000, l16/16000, l16/44100 and l16/48000, too"
        ) { $0.gateway.media.codecs = try $1.someOf("codec") { try $0.codec } },
        Setting(
            path: "media.opus.complexity", takes: "0-10", default: .value("5"),
            help: "effort of the Opus encoder where sound is transcoded or made here"
        ) { $0.gateway.media.opus.complexity = Int32(try $1.integer(0...10)) },
        Setting(
            path: "media.opus.bitrate", takes: "bits/s", default: .value("24000"),
            help: "bit rate of Opus that is encoded here, from 6000 to 510000; a peer may ask for less"
        ) { $0.gateway.media.opus.bitrate = Int32(try $1.integer(6_000...510_000)) },
        Setting(
            path: "media.opus.fec", takes: "true|false", default: .value("true"),
            help: "in-band error correction: asked for, and sent to peers that ask for it"
        ) { $0.gateway.media.opus.forwardErrorCorrection = try $1.flag },
        Setting(
            path: "media.opus.dtx", takes: "true|false", default: .value("false"), help: "whether peers are asked to leave silence out"
        ) { $0.gateway.media.opus.discontinuous = try $1.flag },
        Setting(
            path: "media.inband-dtmf", takes: "true|false", default: .value("false"),
            help: "keys are sought in the sound of peers without telephone-event, which costs a decoding"
        ) { $0.gateway.media.detectsDTMF = try $1.flag },
        Setting(
            path: "media.targets.allow", takes: "networks", default: .unset("anywhere"), help: "networks that peers may name for media"
        ) {
            $0.gateway.media.allowedTargets = try $1.someOf("network", otherwise: "; without the setting media may go anywhere") {
                try $0.network
            }
        },
        Setting(
            path: "media.targets.deny", takes: "networks", default: .unset("no network"), help: "networks that media never goes to"
        ) { $0.gateway.media.deniedTargets = try $1.list { try $0.network } },
        Setting(
            path: "media.comfort-noise", takes: "true|false", default: .value("false"),
            help: "comfort noise (RFC 3389) is offered and agreed to; else silence is sent"
        ) { $0.gateway.media.comfortNoise = try $1.flag },
        Setting(path: "media.quarantine", takes: "seconds", default: .value("1"), help: "how long a released port rests, 1 or more") {
            $0.gateway.media.quarantine = try $1.duration(1...3600)
        },
        Setting(
            path: "media.batch", takes: "milliseconds", default: .unset("automatic"),
            help: "pace of the media lanes, up to 20; 0: lowest latency"
        ) { $0.lanes.batch = .microseconds(Int64(try $1.number(0...20) * 1000)) },
        Setting(
            path: "media.kernel-relay", takes: "off|auto|required", default: .value("off"),
            help: "plain bridged calls are relayed in the kernel, past the host's firewall: never, where the machine lets it, or always"
        ) { $0.lanes.relay = KernelRelayChoice(rawValue: try $1.oneOf(KernelRelayChoice.allCases.map(\.rawValue))) ?? .off },
    ]
}
