import HTTP

// Webhooks.
extension OpenAPIOperation {
    static let webhooks: [OpenAPIOperation] = [
        OpenAPIOperation(
            method: .get, path: "/v1/webhooks", id: "getWebhooks", summary: "List the webhooks, and how far each is",
            answers: [.json(.ok, "the webhooks, by name", "Webhooks")]),
        OpenAPIOperation(
            method: .post, path: "/v1/webhooks/{webhook}/test", id: "testWebhook", summary: "Send a webhook's receiver a test event",
            details: "It is of type `webhook.ping`, signed as all events are, and sent once, beside those that wait.",
            answers: [.json(.ok, "whether it was taken", "WebhookTest"), .problem(.notFound, "there is no such webhook", "notFound")]),
    ]
}
