import ArgumentParser
import Console
import Foundation
import Primitives
import Runtime
import SDP
import SIP
import UserAgent
import Workbench

/// By what way telephones of ours reach the world, and what they speak: what `call`, `answer` and `load` share.
struct PhoneOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The server that everything is sent to: an address or a name, with :PORT unless it is 5060 (TLS: 5061, WebSocket: 80 and 443) or DNS names one (default: the host of the URI).",
            valueName: "address"))
    var server: String?

    @Option(help: ArgumentHelp("udp, tcp, tls, ws or wss (default: what the URI says, else udp).", valueName: "transport"))
    var transport: String?

    @Flag(help: "As --transport tcp.") var tcp = false

    @Option(help: ArgumentHelp("WebSocket: the path at the server (default: /).", valueName: "path"))
    var wsPath: String?

    @Option(help: ArgumentHelp("TLS: authorities whose certificates are believed, PEM (default: the system's).", valueName: "file"))
    var ca: String?

    @Option(
        help: ArgumentHelp(
            "TLS: whom the server's certificate must name (default: the name of --server, else the host that is called).", valueName: "name"
        ))
    var tlsName: String?

    @Option(help: ArgumentHelp("TLS: the certificate that we show, PEM; needed to be connected to (default: none).", valueName: "file"))
    var certificate: String?

    @Option(help: ArgumentHelp("TLS: the certificate's key, PEM (default: none).", valueName: "file"))
    var certificateKey: String?

    @Option(
        name: .long, defaultAsFlag: "sdes", parsing: .next,
        help: ArgumentHelp(
            "Encrypt the sound: by sdes or dtls, and refuse the clear; optional takes what the other side can (default: off; sdes without a value).",
            valueName: "how"))
    var srtp: String? = nil

    @Option(
        help: ArgumentHelp(
            "Codecs that are offered or taken, best first: opus, g722, pcmu, pcma; also l16/8000 to l16/48000 (default: opus,g722,pcmu,pcma; of load pcmu).",
            valueName: "codec,…"))
    var codec: String?

    @Option(help: ArgumentHelp("Our user, without registering: 1001, or 1001@example.test (default: hookswitch).", valueName: "user"))
    var from: String?

    @Option(
        help: ArgumentHelp("For digest challenges; with --accounts {} stands for the line's number (default: none).", valueName: "password")
    )
    var password: String?

    @Option(help: ArgumentHelp("Take SIP here (default: any port, on the address that faces the server).", valueName: "address:port"))
    var local: String?

    @Option(help: ArgumentHelp("Media ports (default: a free run of as many as are needed).", valueName: "first-last"))
    var ports: String?
}

/// The line that a telephone of ours registers as: the options that `call` and `answer` share.
struct RegistrationOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Register as this line first: 1001, or 1001@example.test (default: no line).", valueName: "line"))
    var register: String?

    /// The user and domain that `--register` names.
    func registration() throws -> Identity? { try register.map { try Identity($0, option: "--register") } }
}

extension PhoneOptions {
    static let everyCodec = "opus,g722,pcmu,pcma"

    /// Each value by itself.
    func checkValues() throws {
        _ = try (codecs(default: "pcmu"), wantedTransport(), security(), portRange(), place(), serverAddress(), tlsSettings(), caller())
    }

    /// The server's address, where one is given.
    func serverAddress() throws -> SocketAddress? {
        guard let server else { return nil }
        return try SocketAddress(ofServer: server, over: try wantedTransport() ?? .udp)
    }

    /// The server's name, where it was given by one.
    private var serverName: Text? { server.flatMap { HostLookup.name(in: $0)?.host } }

    func codecs(default usual: String) throws -> [Codec] { try CodecList.parse(codec ?? usual) }

    /// Gives the caller that calls without being registered; nil: none was given.
    func caller() throws -> Identity? { try from.map { try Identity($0, option: "--from") } }

    /// Reads the transport that was asked for; nil leaves it to the URI.
    func wantedTransport() throws -> Transport? {
        guard let transport else { return tcp ? .tcp : nil }
        let known: [String: Transport] = ["udp": .udp, "tcp": .tcp, "tls": .tls, "ws": .ws, "wss": .wss]
        guard let wanted = known[transport] else {
            throw Failure.usage(
                "--transport is udp, tcp, tls, ws or wss, got '\(transport)'\(SpellingSuggestion.hint(for: transport, among: known.keys))")
        }
        guard !tcp || wanted == .tcp else { throw Failure.usage("--tcp and --transport \(transport) exclude each other") }
        return wanted
    }

    /// Whether sound is encrypted, and how our offers agree on keys.
    func security() throws -> (policy: SRTPPolicy, keying: SRTPKeying) {
        switch srtp {
        case nil, "off": return (.off, .sdes)
        case "sdes": return (.required, .sdes)
        case "dtls": return (.required, .dtls)
        case "optional": return (.optional, .sdes)
        case let other?:
            throw Failure.usage(
                "--srtp is sdes, dtls, optional or off, got '\(other)'\(SpellingSuggestion.hint(for: other, among: SecurityFlag.values))"
            )
        }
    }

    func portRange() throws -> ClosedRange<UInt16>? {
        guard let ports else { return nil }
        guard let range = MediaPorts.range(ports) else { throw Failure.usage("--ports takes ports as 40000-41999, got '\(ports)'") }
        return range
    }

    /// Reads the address at which SIP is taken; nil where it was not given.
    ///
    /// - Parameter option: by which name it was said.
    func place(defaultPort: UInt16 = 0, option: String = "--local") throws -> SocketAddress? {
        guard let local else { return nil }
        guard let place = SocketAddress(local, defaultPort: defaultPort), !place.address.isAny else {
            throw Failure.usage("\(option) takes one address of this machine, as callers are told it: 127.0.0.1:5070; got '\(local)'")
        }
        try SocketAddress.refuseBothReadings(of: local, option: option)
        return place
    }

    private func webSocketPath(over transport: Transport) throws -> String {
        guard let wsPath else { return "/" }
        guard transport.isWebSocket else { throw Failure.usage("--ws-path needs a WebSocket: --transport ws or wss") }
        guard wsPath.hasPrefix("/"), wsPath.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            throw Failure.usage("--ws-path takes a path as /ws, got '\(wsPath)'")
        }
        return wsPath
    }

    func tlsSettings() throws -> TLSSettings {
        var settings = TLSSettings()
        settings.serverAuthorities = ca
        switch (certificate, certificateKey) {
        case (let certificate?, let key?): settings.identities = [.init(certificate: certificate, key: key)]
        case (_?, nil), (nil, _?): throw Failure.usage("--certificate and --certificate-key belong together")
        case (nil, nil): break
        }
        return settings
    }

    /// A telephone at that place, with everything checked but its ports.
    ///
    /// - Throws: a `Failure` in one line: 2 for what was typed, 3 for a file of TLS that cannot be used.
    /// - Parameters:
    ///   - host: whom a TLS server's certificate must name, where neither `--tls-name` nor the name of a server was said.
    ///   - isCalled: others begin calls at `--local`, and over TLS then connect to it.
    func settings(
        user: Text, server: SocketAddress, transport: Transport, host: Text?, codecs usual: String, isCalled: Bool,
        localOption: String = "--local"
    ) throws -> LivePhoneSettings {
        var settings = LivePhoneSettings(user: user, server: server)
        (settings.transport, settings.codecs, (settings.srtp, settings.keying)) = (transport, try codecs(default: usual), try security())
        if let place = try place(option: localOption) {
            guard place.address.family == server.address.family else {
                throw Failure.usage("\(localOption) and the server are of different families: '\(place)', '\(server)'")
            }
            (settings.address, settings.port) = (place.address, place.port)
        }
        settings.webSocketPath = try webSocketPath(over: transport)
        if isCalled, transport.isWebSocket {
            throw Failure.usage("over a WebSocket only who registers is called: add --register, or --accounts for load")
        }
        guard transport.isSecure else {
            let named = [("--ca", ca), ("--tls-name", tlsName), ("--certificate", certificate), ("--certificate-key", certificateKey)].first
            { $0.1 != nil }
            if let named { throw Failure.usage("\(named.0) needs TLS: --transport tls or wss, or a sips: URI") }
            return settings
        }
        settings.tls = try tlsSettings()
        settings.serverName = tlsName.map { Text($0) } ?? serverName ?? host
        do throws(TLSError) { _ = try TLSContexts(settings.tls) } catch { throw Failure.cannotRun("\(error)") }
        if isCalled, settings.tls.identities.isEmpty {
            throw Failure.usage("to be called over TLS needs --certificate and --certificate-key: what is shown to who connects?")
        }
        return settings
    }
}
