import Console
import Foundation
import Gateway
import Primitives
import Runtime
import SIP
import Store
import UserAgent

/// The control interface: where it listens, and who may ask.
struct ControlSettings {
    enum Socket: Equatable {
        /// `hookswitch.sock` there; without a data folder none.
        case inDataFolder
        case path(String)
        case none
    }

    var socket = Socket.inDataFolder
    /// The TCP addresses that it listens on.
    var addresses: [SocketAddress] = []
    /// HTTPS there.
    var tls = false
    /// The file of tokens; in the data folder unless given.
    var tokens: String?
    /// Origins of pages in browsers, besides its own, that may open a WebSocket.
    var origins: Set<String> = []
    /// The gateways that it answers for, and the secret by which they know each other; nil: none is let in by it.
    var nodes: [NodeSettings.Node] = [], nodesSecret: String?
    /// The SIP server of the telephone page; nil: the gateway itself.
    var phoneServer: String?
}

/// The places of what is kept: a folder of this gateway, and a database that gateways share.
struct DataSettings {
    /// nil: nothing is written to disk.
    var folder: String?
    /// The database; nil: there is none.
    var address: PostgresAddress?
    var password: String?
    /// The name of this gateway; nil: the machine's.
    var node: String?
}

/// The log of the process: the least grave level that is told, and text or JSON.
struct LogSettings {
    var level = "info", format = "text"
}

/// The threads of media.
struct MediaLaneSettings {
    /// Their pace: automatic (nil), 0 for the lowest latency, or a fixed time.
    var batch: Duration?
    /// Whether relayed packets pass them by.
    var relay = KernelRelayChoice.off
}

/// SIP from browsers: where it is listened for, and for which pages.
struct WebSocketSettings {
    var plain: [SocketAddress] = []
    var secure: [SocketAddress] = []
    /// PEM files: as many keys as certificates, in the same order; none: those of TLS.
    var certificates: [String] = []
    var keys: [String] = []
    /// Empty: pages of all origins.
    var origins: Set<String> = []
    /// Believed when they tell who connected to them.
    var proxies: [IPNetwork] = []
}

/// All that `hookswitch serve` is told: the gateway's part, and what belongs to a process.
struct ServeConfiguration {
    var gateway: GatewayConfiguration = {
        var gateway = GatewayConfiguration()
        gateway.version = Text(Hookswitch.version)
        return gateway
    }()
    /// The addresses of SIP listeners. Empty in the file means the default: loopback, port 5060, IPv4 and UDP and TCP.
    var udp: [SocketAddress] = []
    var tcp: [SocketAddress] = []
    var tls: [SocketAddress] = []
    /// PEM files: as many keys as certificates, in the same order.
    var certificates: [String] = []
    var keys: [String] = []
    var webSocket = WebSocketSettings()
    var clientAuthorities: String?
    var serverAuthorities: String?
    /// The name servers that are asked; empty: those of the system.
    var nameServers: [SocketAddress] = []
    /// The address that monitors and orchestrators ask over HTTP; nil: none.
    var metricsAddress: SocketAddress?
    var control = ControlSettings()
    /// The path of the control interface's socket; nil: there is none.
    var controlPath: String? {
        switch control.socket {
        case .inDataFolder: dataFolder.map { $0 + "/hookswitch.sock" }
        case .path(let path): path
        case .none: nil
        }
    }
    var data = DataSettings()
    /// The folder for what is kept; nil: nothing is written to disk.
    var dataFolder: String? {
        get { data.folder }
        set { data.folder = newValue }
    }
    /// The file of what lines remember; nil: it is in PostgreSQL, or stays in memory.
    var databaseFile: String? { data.address == nil ? dataFolder.map { $0 + "/hookswitch.sqlite" } : nil }
    /// The journal's file; in `dataFolder` unless given.
    var journalFile: String?
    /// The name of the address that peers outside are told, where it is a name; looked up at the start, and again and again.
    var advertisedName: String?
    /// The folder whose files have further lines; nil: there is none.
    var linesFolder: String?
    /// Call directories, in the order in which they were named.
    var directories: [DirectorySource] = []
    /// The URL that pushes are posted to; it may hold a token, and is not shown.
    var pushURL: URL?
    var hook = HookSettings()
    var webhooks: [WebhookSettings] = []
    /// The time zone of schedules whose lines name none.
    var timeZone = TimeZone.current
    /// Bytes after which the journal's file is put aside and a new one begun.
    var journalRotation = 256 * 1024 * 1024
    var trace = TraceSettings()
    var log = LogSettings()
    /// The time for which calls may go on after SIGTERM.
    var drainDeadline: Duration = .seconds(10)
    /// A violation of the journal's rules ends the process with a trap.
    var testMode = false
    var lanes = MediaLaneSettings()

    /// The places of settings and lines (`line 1001`) in the file, for faults that are found when all are known.
    var places: [String: String] = [:]
    /// The settings that are not left at their defaults, as they are written; for what differs in another configuration.
    var written: [String: [String]] = [:]
    /// Lines, by their place, that name a time zone of their own.
    var linesWithTimeZone: Set<Int> = []

    /// The configuration where none is given: anybody registers on loopback, and 9196 answers with an echo.
    static var fallback: ServeConfiguration {
        var configuration = ServeConfiguration()
        var echo = LineConfiguration(number: "9196")
        echo.endpoint = .application(.echo)
        echo.name = "Echo"
        var tone = LineConfiguration(number: "9197")
        tone.endpoint = .application(.tone)
        tone.name = "Tone"
        let devices = (1001...1009).map { number in
            var line = LineConfiguration(number: Text(number))
            line.isOpen = true
            return line
        }
        configuration.gateway.lines = devices + [echo, tone]
        configuration.fillDefaults()
        return configuration
    }

    /// The value of `data`: a folder, the URL of a database, or one of each.
    mutating func keep(in value: SettingValue) throws {
        (dataFolder, data.address) = (nil, nil)
        for place in try value.dataPlaces {
            guard PostgresAddress.isMeant(by: place) else {
                guard dataFolder == nil else { throw value.fail("takes one folder, got two") }
                dataFolder = place
                continue
            }
            guard data.address == nil else { throw value.fail("takes one database, got two") }
            do { data.address = try PostgresAddress(place) } catch { throw value.fail(error.description) }
        }
    }

    /// One of the two files of each directory, in place of all that were set before; a directory is there as long as it has one.
    mutating func setFiles(_ files: [(name: String, file: String)], of list: WritableKeyPath<DirectorySource, String?>) {
        for index in directories.indices { directories[index][keyPath: list] = nil }
        for (name, file) in files {
            if !directories.contains(where: { $0.name == name }) { directories.append(DirectorySource(name: name)) }
            for index in directories.indices where directories[index].name == name { directories[index][keyPath: list] = file }
        }
        directories.removeAll { $0.block == nil && $0.identify == nil }
    }

    /// Everything that is listened on.
    var listeners: [Transports.Listener] {
        udp.map { Transports.Listener(.udp, $0) } + tcp.map { Transports.Listener(.tcp, $0) } + tls.map { Transports.Listener(.tls, $0) }
            + webSocket.plain.map { Transports.Listener(.ws, $0) } + webSocket.secure.map { Transports.Listener(.wss, $0) }
    }

    /// The settings of the server, without what is kept and without the sender that wakes devices: these come from elsewhere.
    var server: GatewayServer.Settings {
        var settings = GatewayServer.Settings(gateway: gateway, listeners: listeners)
        settings.tls = tlsSettings
        (settings.webSocketTLS, settings.webSocketOrigins) = (webSocketTLS, webSocket.origins)
        settings.webSocketProxies = webSocket.proxies
        settings.nameServers = nameServers
        settings.programAuthorities = serverAuthorities
        settings.mediaBatch = lanes.batch
        (settings.journalFile, settings.journalRotation) = (journalFile, journalRotation)
        settings.violationsAreFatal = testMode
        settings.directories = directories
        return settings
    }

    /// The settings of TLS, towards servers also without a certificate of our own; nil where nothing asks for TLS.
    var tlsSettings: TLSSettings? {
        guard !tls.isEmpty || !certificates.isEmpty || serverAuthorities != nil || hasSecureTrunk else { return nil }
        var settings = TLSSettings()
        settings.identities = zip(certificates, keys).map { TLSSettings.Identity(certificate: $0, key: $1) }
        (settings.clientAuthorities, settings.serverAuthorities) = (clientAuthorities, serverAuthorities)
        return settings
    }

    /// The server of the telephone in the web console.
    var phoneServer: PhoneServer {
        PhoneServer(
            domain: gateway.domain.description, ws: webSocket.plain.first?.port, wss: webSocket.secure.first?.port,
            server: control.phoneServer)
    }

    /// Browsers have no certificates of their own to show; nil where there are no secure WebSockets.
    var webSocketTLS: TLSSettings? {
        guard !webSocket.secure.isEmpty else { return nil }
        let isOwn = !webSocket.certificates.isEmpty
        var settings = TLSSettings()
        settings.identities = zip(isOwn ? webSocket.certificates : certificates, isOwn ? webSocket.keys : keys).map {
            TLSSettings.Identity(certificate: $0, key: $1)
        }
        return settings
    }

    private var hasSecureTrunk: Bool {
        gateway.lines.contains { line in
            guard case .trunk(let trunk) = line.endpoint else { return false }
            return trunk.targets.contains { $0.transport?.isSecure ?? false }
        }
    }

    /// Checks what no single setting can know.
    func check() throws {
        try checkGroups()
        try checkAddresses()
        try checkControl()
        try checkWebhooks()
        if hook.address != nil, hook.standard == nil {
            throw ConfigurationError(
                place: place(of: "hook.url"), message: "needs hook.default: as-dialled, 'number 1001' or 'reject 503'")
        }
        if trace.media != .none, trace.file == nil {
            throw ConfigurationError(place: place(of: "trace.rtp"), message: "needs trace.file, where the packets go")
        }
        let sip = gateway.sip
        if let interval = sip.sessionTimer?.interval, interval < sip.leastSessionInterval {
            let least = sip.leastSessionInterval
            guard let place = places["sip.session-expires"] else {
                throw ConfigurationError(
                    place: place(of: "sip.min-se"),
                    message:
                        "\(least) is longer than sip.session-expires, which is \(interval) where nothing is set: we would refuse ourselves")
            }
            throw ConfigurationError(
                place: place, message: "\(interval) is shorter than sip.min-se, which is \(least): we would refuse ourselves")
        }
        guard certificates.count == keys.count else {
            throw ConfigurationError(
                place: place(of: keys.isEmpty ? "sip.tls.certificate" : "sip.tls.key"),
                message: "takes as many keys as certificates, got \(keys.count) and \(certificates.count)")
        }
        guard tls.isEmpty || !certificates.isEmpty else {
            throw ConfigurationError(place: place(of: "sip.tls.listen"), message: "needs a 'certificate' and a 'key' to listen")
        }
        try checkWebSockets()
        guard let settings = tlsSettings else { return }
        do throws(TLSError) { _ = try TLSContexts(settings) } catch {
            throw ConfigurationError(place: "sip.tls", message: error.description, kind: .environment)
        }
    }

    private func checkWebSockets() throws {
        let (own, ownKeys) = (webSocket.certificates, webSocket.keys)
        guard own.count == ownKeys.count else {
            throw ConfigurationError(
                place: place(of: ownKeys.isEmpty ? "sip.wss.certificate" : "sip.wss.key"),
                message: "takes as many keys as certificates, got \(ownKeys.count) and \(own.count)")
        }
        guard let settings = webSocketTLS else { return }
        guard !settings.identities.isEmpty else {
            throw ConfigurationError(
                place: place(of: "sip.wss.listen"), message: "needs a 'certificate' and a 'key', here or in sip.tls")
        }
        do throws(TLSError) { _ = try TLSContexts(settings) } catch {
            throw ConfigurationError(place: "sip.wss", message: error.description, kind: .environment)
        }
    }

    /// The members of groups are lines that can ring.
    private func checkGroups() throws {
        let lines = Dictionary(gateway.lines.map { ($0.number, $0) }) { first, _ in first }
        for line in gateway.lines {
            guard case .group(let group) = line.endpoint else { continue }
            let place = place(of: "line \(line.number)")
            for member in group.members {
                switch lines[member.number]?.endpoint {
                case .devices, .trunk: break
                case nil:
                    let hint = SpellingSuggestion.hint(
                        for: member.number.description, among: lines.keys.filter { $0 != line.number }.map(\.description))
                    throw ConfigurationError(place: place, message: "its member \(member.number) is no line\(hint)")
                case .application, .group, .script:
                    throw ConfigurationError(place: place, message: "its member \(member.number) is a line without devices and no trunk")
                }
            }
        }
    }

    /// With its file and line, where it stands in one.
    func place(of name: String) -> String { places[name] ?? name }

    /// Checks that a client from elsewhere has to show a token, and that nobody on the way can read it.
    private func checkControl() throws {
        if control.tls, certificates.isEmpty {
            throw ConfigurationError(place: place(of: "api.tls"), message: "needs sip.tls.certificate and sip.tls.key")
        }
        try checkNodes()
        guard let open = control.addresses.first(where: { !$0.address.isLoopback }) else { return }
        let others = "others can reach \(open): "
        if !control.tls {
            throw ConfigurationError(place: place(of: "api.listen"), message: others + "set api.tls to true, or take 127.0.0.1")
        }
        if control.tokens == nil {
            throw ConfigurationError(place: place(of: "api.listen"), message: others + "set api.tokens to a file of tokens, or data")
        }
    }

    /// Checks that there is a journal to send from, and a place for how far each is.
    private func checkWebhooks() throws {
        guard !webhooks.isEmpty else { return }
        let place = place(of: "webhooks")
        guard dataFolder != nil else {
            throw ConfigurationError(
                place: place, message: "need 'data': the journal that they are sent from, and how far each is, stand there")
        }
        guard journalFile.map(JournalReader.canBeReadAgain) ?? false else {
            throw ConfigurationError(place: place, message: "are sent from the journal, and \(journalFile ?? "") is no file")
        }
    }

    /// A port of an address can be bound once; TLS and monitors have TCP's.
    private func checkAddresses() throws {
        let datagrams = udp.map { ("sip.udp", $0) }
        let streams =
            tcp.map { ("sip.tcp", $0) } + tls.map { ("sip.tls.listen", $0) } + webSocket.plain.map { ("sip.ws", $0) }
            + webSocket.secure.map { ("sip.wss.listen", $0) } + (metricsAddress.map { [("metrics.listen", $0)] } ?? [])
            + control.addresses.map { ("api.listen", $0) }
        for bound in [datagrams, streams] {
            for (index, (name, address)) in bound.enumerated() {
                guard let (other, first) = bound[..<index].first(where: { $0.1.excludes(address) }) else { continue }
                throw ConfigurationError(
                    place: place(of: name),
                    message: "\(address) cannot be listened on beside \(first)\(other == name ? "" : " of \(other)"): it is the same port")
            }
        }
    }

    mutating func fillDefaults() {
        if udp.isEmpty, tcp.isEmpty, tls.isEmpty {
            udp = [SocketAddress(.loopback, port: 5060)]
            tcp = udp
        }
        for index in gateway.lines.indices where !linesWithTimeZone.contains(index) {
            gateway.lines[index].doNotDisturb.schedule.timeZone = timeZone
        }
        if control.tokens == nil, let dataFolder { control.tokens = dataFolder + "/tokens.json" }
        if journalFile == nil, let dataFolder { journalFile = dataFolder + "/journal.jsonl" }
    }
}

extension SocketAddress {
    /// One program cannot bind both.
    fileprivate func excludes(_ other: SocketAddress) -> Bool {
        guard port != 0, port == other.port, address.family == other.address.family else { return false }
        return address == other.address || address.isAny || other.address.isAny
    }
}

/// A person's mistake: one line that says what, where, and what would have been right. Exit code 2, or 3 where the machine is at fault.
struct ConfigurationError: Error, CustomStringConvertible {
    enum Kind { case usage, environment }

    var place: String
    var message: String
    var kind = Kind.usage

    /// One line, whatever it quotes.
    var description: String { (place.isEmpty ? message : "\(place): \(message)").onOneLine }
    var exitCode: Int32 { (kind == .usage ? ExitStatus.usage : .cannotRun).rawValue }
}
