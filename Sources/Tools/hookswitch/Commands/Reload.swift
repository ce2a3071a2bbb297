import Console
import Gateway
import Logging
import Runtime
import Synchronization

/// SIGHUP: the configuration is read again, whole, and what may change while calls are up is adopted. A wrong one changes nothing.
final class Reload: Sendable {
    private let read: @Sendable () throws -> ServeConfiguration
    private let server: GatewayServer
    private let control: ControlServer?
    private let webhooks: WebhookService
    private let log: NoticeLog
    /// In force.
    private let current: Mutex<ServeConfiguration>

    /// - Parameters:
    ///   - configuration: that the server was started with.
    ///   - control: gets the certificates, too.
    ///   - webhooks: go on with those that are wanted.
    ///   - read: reads it again, from the same file, environment and flags.
    init(
        _ configuration: ServeConfiguration, _ server: GatewayServer, _ control: ControlServer?, _ webhooks: WebhookService,
        _ log: NoticeLog,
        read: @escaping @Sendable () throws -> ServeConfiguration
    ) {
        current = Mutex(configuration)
        (self.server, self.control, self.webhooks, self.log, self.read) = (server, control, webhooks, log, read)
    }

    /// Blocks until all is adopted, but for directories, which are loaded by and by.
    func perform() {
        do {
            let wanted = try read(), before = current.withLock(\.self), adopted = before.adopting(wanted)
            let change = try server.reload(adopted.server)
            current.withLock { $0 = adopted }
            webhooks.use(adopted, log)
            let summary = StartupSummary(adopted, listeners: server.listeners, ephemeral: EphemeralPortRange.current)
            control?.use(SettingsReport(adopted, summary))
            control?.use(adopted.control.nodes)
            if adopted.control.tls, let tls = adopted.tlsSettings { control?.use(try TLSContexts(tls)) }
            log.say(.notice, "the configuration was read again: \(change.text)")
            if adopted.tlsSettings != nil { log.say(.notice, "the certificates were read again") }
            let fixed = wanted.settings(otherThanIn: before).filter { !ServeConfiguration.changeable.contains($0) }
            if !fixed.isEmpty { log.say(.warning, "only a restart changes \(fixed.joined(separator: ", ")): as before until then") }
            for warning in StartupSummary.certificateWarnings(adopted) { log.say(.warning, warning) }
        } catch { log.say(.error, "the configuration stays as it was: \(error)") }
    }
}

extension ServeConfiguration {
    /// Settings that may change while the server runs, beside lines; all others need a restart.
    static let changeable: Set<String> = [
        "lines-folder", "limits.legs", "limits.calls-per-second", "limits.requests-per-source", "limits.connections",
        "limits.connections-per-source", "limits.users", "limits.backlog", "limits.retry-after", "directories.block",
        "directories.identify", "api.nodes", "sip.wss.certificate", "sip.wss.key", "sip.tls.certificate", "sip.tls.key",
        "sip.tls.client-ca", "sip.tls.ca",
    ]

    /// With the lines of another configuration and with its settings that are ``changeable``.
    func adopting(_ wanted: ServeConfiguration) -> ServeConfiguration {
        var adopted = self
        adopted.gateway.lines = wanted.gateway.lines
        adopted.gateway.limits = wanted.gateway.limits
        adopted.webhooks = wanted.webhooks
        if control.nodesSecret != nil { adopted.control.nodes = wanted.control.nodes }
        (adopted.directories, adopted.linesFolder) = (wanted.directories, wanted.linesFolder)
        (adopted.certificates, adopted.keys) = (wanted.certificates, wanted.keys)
        (adopted.webSocket.certificates, adopted.webSocket.keys) = (wanted.webSocket.certificates, wanted.webSocket.keys)
        (adopted.clientAuthorities, adopted.serverAuthorities) = (wanted.clientAuthorities, wanted.serverAuthorities)
        for path in Self.changeable { adopted.written[path] = wanted.written[path] }
        return adopted
    }

    /// Names of settings that are written otherwise there, or not at all, in the order of the table.
    func settings(otherThanIn other: ServeConfiguration) -> [String] {
        Setting.all.map(\.path).filter { written[$0] != other.written[$0] }
    }
}
