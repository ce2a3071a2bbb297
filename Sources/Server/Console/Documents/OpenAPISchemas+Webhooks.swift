// Webhooks.
extension OpenAPISchemas {
    static let webhooks: [String: JSONSchema] = [
        "Webhook": webhook,
        "Webhooks": .object("The webhooks, by name.", [.always("webhooks", .list(of: .reference("Webhook")))]),
        "WebhookTest": .object(
            "The outcome of a test event.",
            [
                .always("isTaken", .flag("the receiver answered 2xx")),
                .maybe("status", .number("of its answer")),
                .maybe("error", .text("why it was not taken")),
                .always("milliseconds", .number("until the outcome")),
            ]),
    ]

    private static let webhook = JSONSchema.object(
        "A webhook: a receiver that the gateway posts its events to.",
        [
            .always("name", .text("as the configuration has it")),
            .always("url", .text("its address, without user, password and query")),
            .always("state", .choice(WebhookStatus.State.allCases.map(\.rawValue), "how it is with it")),
            .maybe("delivered", position),
            .maybe("waitingSince", .time("when the oldest event happened that was read and is not taken")),
            .always("waiting", .number("events that were read and are not taken; more may wait in the journal")),
            .maybe("lastError", .text("why the last attempt failed; absent after one that did not")),
            .always("taken", .number("events, since the start")),
            .always("failed", .number("attempts, since the start")),
            .always("givenUp", .number("events that were not taken within a day, since the start")),
            .always("gaps", .number("places where events of the journal are missing, since the start")),
        ])
}
