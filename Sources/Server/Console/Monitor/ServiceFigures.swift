import Foundation
import Gateway
import Primitives

/// Figures of what a server does beside its gateway.
public struct ServiceFigures: Sendable {
    public var webhooks: [WebhookStatus]
    /// Time from each question of the decision hook to its answer or default, in seconds; nil: there is no hook.
    public var hookWait: FixedHistogram?
    /// nil: there is no control interface.
    public var api: ControlFigures?

    /// nil: nothing is kept.
    public var store: LineStoreFigures?
    /// The name of this gateway among others.
    public var node: String

    public init(
        webhooks: [WebhookStatus] = [], hookWait: FixedHistogram? = nil, api: ControlFigures? = nil, store: LineStoreFigures? = nil,
        node: String = ""
    ) {
        (self.webhooks, self.hookWait, self.api, self.store, self.node) = (webhooks, hookWait, api, store, node)
    }
}

extension MetricFamily {
    static let service: [MetricFamily] = [
        single("hookswitch_store_up", .gauge, "1 while the database of the lines' state is written, 0 while it is away.") { source in
            source.service.store.map { $0.isUp ? 1 : 0 }
        },
        single("hookswitch_store_changes_waiting", .gauge, "Changes that wait to be written to the database.") { source in
            source.service.store?.waiting
        },
        single("hookswitch_store_changes_lost_total", .counter, "Changes that were never written to the database.") { source in
            source.service.store?.lost
        },
        MetricFamily(
            name: "hookswitch_hook_wait_seconds", kind: .histogram,
            help: "Time from each question of the decision hook to its answer, or to its default.", labels: []
        ) { source in source.service.hookWait.map { [Sample(labels: [], value: $0)] } },
        webhook("hookswitch_webhook_events_taken_total", .counter, "Events that a webhook's receiver took.") { $0.deliveredCount },
        webhook(
            "hookswitch_webhook_events_given_up_total", .counter, "Events that a webhook's receiver did not take within a day."
        ) { $0.givenUpCount },
        webhook("hookswitch_webhook_gaps_total", .counter, "Places where the journal lacks events for a webhook.") { $0.gapCount },
        webhook(
            "hookswitch_webhook_events_waiting", .gauge, "Events in memory that a webhook's receiver has not taken; 1000 or so at most."
        ) { $0.waiting },
        webhook("hookswitch_webhook_oldest_seconds", .gauge, "Age of the oldest event that a webhook's receiver has not taken.") { status in
            status.oldest.map { max(0, Date().timeIntervalSince1970 - Double($0) / 1e9) } ?? 0.0
        },
        MetricFamily(
            name: "hookswitch_webhook_failures_total", kind: .counter, help: "Attempts that failed, by webhook and cause.",
            labels: [webhookName, Label(name: "cause", values: WebhookStatus.Cause.allCases.map { .init(name: $0.rawValue) })]
        ) { source in
            source.service.webhooks.isEmpty
                ? nil
                : source.service.webhooks.flatMap { status in
                    WebhookStatus.Cause.allCases.map { Sample(labels: [status.name, $0.rawValue], value: status.failures[$0] ?? 0) }
                }
        },
    ]

    private static let webhookName = Label(name: "webhook", meaning: "as the configuration names it")

    private static func webhook(
        _ name: String, _ kind: Kind, _ help: String, _ value: @escaping @Sendable (WebhookStatus) -> any MetricValue
    ) -> MetricFamily {
        MetricFamily(name: name, kind: kind, help: help, labels: [webhookName]) { source in
            source.service.webhooks.isEmpty ? nil : source.service.webhooks.map { Sample(labels: [$0.name], value: value($0)) }
        }
    }
}
