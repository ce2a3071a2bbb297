import ArgumentParser
import Foundation
import HTTP

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

    private struct Webhooks: Decodable {
        struct Webhook: Decodable {
            var name: String, url: String, state: String, delivered: String?, waitingSince: String?, waiting: Int, lastError: String?
            var taken: UInt64, failed: UInt64, givenUp: UInt64, gaps: UInt64
        }
        var webhooks: [Webhook]
    }

    func run() throws {
        let content = try control.ask(.get, "/v1/webhooks")
        if json { return try StandardOutput.printExactly(String(decoding: content, as: UTF8.self)) }
        for webhook in try JSONDecoder().decode(Webhooks.self, from: content).webhooks {
            var words = [
                "\(webhook.name)  \(webhook.url)  \(webhook.state)  \(webhook.taken) taken, the last \(webhook.delivered ?? "–")",
                "\(webhook.failed) attempts failed",
            ]
            if let since = webhook.waitingSince { words.append("\(webhook.waiting) wait since \(since)") }
            if webhook.givenUp > 0 { words.append("\(webhook.givenUp) given up") }
            if webhook.gaps > 0 { words.append("\(webhook.gaps) gaps") }
            if let error = webhook.lastError { words.append(error) }
            try StandardOutput.print(words.joined(separator: ", "))
        }
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

    private struct Outcome: Decodable { var isTaken: Bool, status: Int?, error: String?, milliseconds: Int64 }

    func run() throws {
        let outcome = try JSONDecoder().decode(Outcome.self, from: try control.ask(.post, "/v1/webhooks/\(name.inPath)/test"))
        guard outcome.isTaken else { throw Failure.bad("the receiver did not take it: \(outcome.error ?? "")") }
        try StandardOutput.print("taken: \(outcome.status ?? 0) after \(outcome.milliseconds) ms")
    }
}
