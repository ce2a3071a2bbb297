import Console
import Foundation
import Logging
import Primitives
import Runtime
import Synchronization

/// The webhooks of a server, from the configuration; there are none before the first is configured.
final class WebhookService: WebhookControl {
    /// Time at the end for events that can still be told.
    private static let farewell = Duration.seconds(3)
    private let poster = WebhookPoster(trusting: nil)
    private let deliveries = Mutex<WebhookDeliveries?>(nil)

    init(_ configuration: ServeConfiguration, _ log: NoticeLog) throws {
        do { try begin(configuration, log) } catch { throw Failure.cannotRun("webhooks: \(error)") }
    }

    private func begin(_ configuration: ServeConfiguration, _ log: NoticeLog) throws {
        guard let data = configuration.dataFolder, let journal = configuration.journalFile else { return }
        if configuration.webhooks.contains(where: { $0.url.scheme == "https" }) {
            var settings = TLSSettings()
            settings.serverAuthorities = configuration.serverAuthorities
            poster.use(try TLSContexts(settings))
        }
        if let running = deliveries.withLock(\.self) { return running.use(configuration.webhooks) }
        let folder = data + "/webhooks"
        guard !configuration.webhooks.isEmpty else { return try Self.forget(folder) }
        try NamedFile.makeFolder(folder)
        let made = WebhookDeliveries(configuration.webhooks, journal: journal, folder: folder, client: poster) { log.say($0) }
        deliveries.withLock { $0 = made }
    }

    /// Webhooks that are none any more begin anew when they come back.
    private static func forget(_ folder: String) throws {
        if FileManager.default.fileExists(atPath: folder) { try FileManager.default.removeItem(atPath: folder) }
    }

    /// Goes on with those of a configuration that was read again.
    func use(_ configuration: ServeConfiguration, _ log: NoticeLog) {
        do { try begin(configuration, log) } catch { log.say(.error, "the webhooks stay as they were: \(error)") }
    }

    var statuses: [WebhookStatus] { deliveries.withLock(\.self)?.statuses ?? [] }

    func ping(_ name: String, then: @escaping @Sendable (WebhookAnswer) -> Void) -> Bool {
        deliveries.withLock(\.self)?.ping(name, then: then) ?? false
    }

    func end() { deliveries.withLock(\.self)?.end(within: Self.farewell) }
}

extension NoticeLog {
    fileprivate func say(_ notice: WebhookNotice) {
        switch notice {
        case .failing(let name, let error): say(.warning, "webhook \(name): an event was not taken and is sent again: \(error)")
        case .recovered(let name): say(.notice, "webhook \(name): events are taken again")
        case .givenUp(let name, let event):
            say(.error, "webhook \(name): events are given up, for they were not taken within a day; the first is \(event)")
        case .gap(let name, let event): say(.error, "webhook \(name): the journal has not all events before \(event); it is told so")
        case .gone(let name):
            say(.error, "webhook \(name): the receiver answered 410 and gets nothing more until the configuration is read again")
        case .stuck(let name, let error): say(.error, "webhook \(name): \(error)")
        }
    }
}
