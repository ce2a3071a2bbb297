import ArgumentParser
import Foundation
import HookswitchClient

struct WebhooksCommand: ExplainedCommand {
    static let exits = ControlOptions.exits
    static let configuration = CommandConfiguration(
        commandName: "webhooks", abstract: "Tell of the webhooks of a gateway that runs, or send one a test event.",
        discussion: ExitStatus.sentence(exits), subcommands: [WebhooksList.self, WebhooksTest.self], defaultSubcommand: WebhooksList.self)
}

struct WebhooksList: ExplainedCommand {
    static let exits = ControlOptions.exits
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "Print how far each webhook is.", discussion: ExitStatus.sentence(exits))
    @OptionGroup var control: ControlOptions
    @Flag(help: "Print the gateway's answer, JSON.") var json = false

    func run() throws { try control.show(.webhooks, isJSON: json) { $0.webhooks.map(Self.text) } }

    private static func text(_ webhook: HookswitchClient.Webhook) -> String {
        var words = [
            "\(webhook.name)  \(webhook.url)  \(webhook.state)  \(webhook.taken) taken, the last \(webhook.delivered?.description ?? "–")",
            "\(webhook.failed) attempts failed",
        ]
        if let since = webhook.waitingSince { words.append("\(webhook.waiting) wait since \(since.formatted(.iso8601))") }
        if webhook.givenUp > 0 { words.append("\(webhook.givenUp) given up") }
        if webhook.gaps > 0 { words.append("\(webhook.gaps) gaps") }
        if let error = webhook.lastError { words.append(error) }
        return words.joined(separator: ", ")
    }
}

struct WebhooksTest: ExplainedCommand {
    static let exits: KeyValuePairs<ExitStatus, String> = [
        .good: "the receiver took it", .bad: "it did not, or there is no such webhook", .cannotRun: "no gateway answers there",
    ]
    static let configuration = CommandConfiguration(
        commandName: "test", abstract: "Send the receiver of a webhook an event of type webhook.ping, signed as all are.",
        discussion: ExitStatus.sentence(exits))
    @Argument(help: "The webhook, as the configuration names it.") var name: String
    @OptionGroup var control: ControlOptions

    func run() throws {
        let outcome = try control.ask(.testWebhook(name))
        guard outcome.isTaken else { throw Failure.bad("the receiver did not take it: \(outcome.error ?? "")") }
        try StandardOutput.print("taken: \(outcome.status ?? 0) after \(outcome.milliseconds) ms")
    }
}
