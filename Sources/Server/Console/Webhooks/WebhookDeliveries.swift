import CallJournal
import Dispatch
import Foundation
import Primitives
import Runtime
import Synchronization

/// The webhooks of a gateway: each sends the events of the journal's file to its receiver, in order for each call, until they are taken.
///
/// Thread-safe. What is taken stands in a file for each webhook, so that a restart goes on; it never touches the signalling lane.
public final class WebhookDeliveries: Sendable {
    /// Webhooks at most.
    public static let most = 20
    private let journal: String, folder: String
    private let client: any WebhookClient
    private let notice: @Sendable (WebhookNotice) -> Void
    private let board = WebhookStatusBoard()
    private let lanes = Mutex<[String: Lane<WebhookSender>]>([:])

    /// Begins before the gateway writes to its journal: a new webhook gets what comes from then on.
    ///
    /// - Parameters:
    ///   - journal: the path of its file.
    ///   - folder: for the files of positions. It is there.
    ///   - notice: called on any thread.
    public init(
        _ webhooks: [WebhookSettings], journal: String, folder: String, client: any WebhookClient,
        notice: @escaping @Sendable (WebhookNotice) -> Void
    ) {
        (self.journal, self.folder, self.client, self.notice) = (journal, folder, client, notice)
        use(webhooks)
    }

    /// Goes on with these; one that is not among them is forgotten, with its position.
    public func use(_ webhooks: [WebhookSettings]) {
        let names = Set(webhooks.map(\.name))
        lanes.withLock { lanes in
            for (name, lane) in lanes where !names.contains(name) {
                lane.close()
                lanes[name] = nil
                board.remove(name)
            }
            WebhookPositionFile.removeAll(in: folder, but: names)
            for webhook in webhooks {
                if let lane = lanes[webhook.name] {
                    lane.post { sender, now in sender.use(webhook, at: now) }
                } else {
                    lanes[webhook.name] = begin(webhook)
                }
            }
        }
    }

    private func begin(_ webhook: WebhookSettings) -> Lane<WebhookSender> {
        let (journal, folder, client, board, notice) = (journal, folder, client, board, notice)
        return Lane(label: "webhook.\(webhook.name)") { lane, _ in
            WebhookSender(webhook, journal: journal, folder: folder, client: client, shown: board, notice: notice, on: lane)
        }
    }

    /// By name.
    public var statuses: [WebhookStatus] { board.all }

    /// Sends an event of type `webhook.ping` at once, beside all others.
    ///
    /// - Returns: false: there is no such webhook, and `then` is not called.
    public func ping(_ name: String, then: @escaping @Sendable (WebhookAnswer) -> Void) -> Bool {
        guard let lane = lanes.withLock({ $0[name] }) else { return false }
        lane.post { sender, now in sender.ping(at: now, then: then) }
        return true
    }

    /// The gateway has stopped. Sends what the journal has, as far as it is taken at once; the rest stays there for the next start.
    public func end(within limit: Duration) {
        var left = lanes.withLock { lanes in
            defer { lanes = [:] }
            return Array(lanes.values)
        }
        let limit = MonotonicClock.now + limit
        while !left.isEmpty, MonotonicClock.now < limit {
            for lane in left where lane.sync({ sender, now in sender.isDone(at: now) }) ?? true {
                Self.close(lane)
                left.removeAll { $0 === lane }
            }
            if !left.isEmpty { Thread.sleep(forTimeInterval: 0.01) }
        }
        for lane in left { Self.close(lane) }
    }

    private static func close(_ lane: Lane<WebhookSender>) {
        lane.sync { sender, _ in sender.end() }
        lane.close()
    }
}
