import Foundation
import HTTP
import Primitives

/// The webhooks, as the control interface needs them. Thread-safe, and does not block.
public protocol WebhookControl: AnyObject, Sendable {
    var statuses: [WebhookStatus] { get }
    /// Sends a test event. False: there is no such webhook, and `then` is not called; else it is called once, on any thread.
    func ping(_ name: String, then: @escaping @Sendable (WebhookAnswer) -> Void) -> Bool
}

// Webhooks: how far each is. Those that get events of lines that the token does not cover are not there.
extension ControlAPI {
    struct Webhooks: Encodable {
        var webhooks: [WebhookBody]
    }

    struct WebhookBody: Encodable {
        var name: String, url: String, state: String
        /// The position of the last event that was taken in this run.
        var delivered: String?
        /// When the oldest event happened that is not taken.
        var waitingSince: String?
        var waiting: Int
        var lastError: String?
        var taken: UInt64, failed: UInt64, givenUp: UInt64, gaps: UInt64

        init(_ status: WebhookStatus) {
            (name, url, state) = (status.name, status.url, status.state.rawValue)
            (delivered, waiting, lastError) = (status.delivered?.description, status.waiting, status.error)
            waitingSince = status.oldest.map { Timestamp($0).description }
            (taken, givenUp, gaps) = (status.deliveredCount, status.givenUpCount, status.gapCount)
            failed = status.failures.values.reduce(0, +)
        }
    }

    /// The outcome of a test event.
    struct WebhookTest: Encodable {
        var isTaken: Bool
        var status: Int?
        var error: String?
        var milliseconds: Int64
    }

    func addWebhooks(to routes: inout HTTPRoutes) {
        routes.on(.get, "/v1/webhooks") { [unowned self] ask, responder in
            responder.reply(JSONBody.reply(.ok, Webhooks(webhooks: webhooks(for: ask.grant).map(WebhookBody.init))), at: ask.now)
        }
        routes.on(.post, "/v1/webhooks/{webhook}/test") { [unowned self] ask, responder in
            answer(ask, responder) { () throws(Problem) in
                try test(ask.parameters["webhook"] ?? "", ask, responder)
                return nil
            }
        }
    }

    private func webhooks(for grant: AccessGrant) -> [WebhookStatus] {
        (webhooks?.statuses ?? []).filter { grant.covers(all: $0.lines) }
    }

    private func test(_ name: String, _ ask: HTTPAsk, _ responder: HTTPResponder) throws(Problem) {
        guard let webhooks, self.webhooks(for: ask.grant).contains(where: { $0.name == name }) else {
            throw .notFound("there is no webhook '\(name)'")
        }
        let reply = park(responder), begun = ask.now
        let isThere = webhooks.ping(name) { answer in
            reply { responder, now in
                var status: Int?
                if case .answered(let code, _) = answer { status = code }
                let body = WebhookTest(
                    isTaken: answer.failure == nil, status: status, error: answer.failure?.text,
                    milliseconds: (now - begun).wholeMilliseconds)
                responder.reply(JSONBody.reply(.ok, body), at: now)
            }
        }
        if !isThere { reply { responder, now in responder.reply(Problem.notFound("there is no webhook '\(name)'").reply, at: now) } }
    }
}
