import ArgumentParser
import Foundation
import Workbench

struct App: ExplainedCommand {
    static let exits: KeyValuePairs<ExitStatus, String> = [
        .good: "every scenario passed",
        .bad: "a scenario failed",
        .cannotRun: "the app cannot be started, or a file cannot be written",
    ]

    static let configuration = CommandConfiguration(
        abstract: "Run an app's call code against a scripted far end.",
        discussion: """
            Starts the app once for each scenario. The app's LiveAppLine finds the command by itself: it registers with the far end, its journal \
            comes here, and its user does what the scenario says, on the telephone's own call screen. Everything is on sockets of this machine, in real \
            time. Prints a timeline of SIP, reports, actions, callbacks and media, and for each call in which order they came. A rule of the \
            contract that the app breaks fails the scenario; advice does not. What the app prints goes to standard error. \(ExitStatus.sentence(exits))

            Examples:
              hookswitch app Scenarios/answer.yaml
              hookswitch app Scenarios/answer.yaml Scenarios/decline.yaml --app .build/debug/MyPhone --junit app.xml
            """)

    @Argument(help: "Scenarios (YAML).") var files: [String]
    @Option(
        help: ArgumentHelp(
            "The app: a path, a product in .build, or a program, with its arguments (default: 'app' of the scenario).",
            valueName: "program"))
    var app: String?
    @Flag(help: "Print one JSON object.") var json = false
    @Option(help: ArgumentHelp("Write the verdicts as JUnit XML (default: not written).", valueName: "file")) var junit: String?

    func run() throws {
        let page = try junit.map { try ReportFile($0.named(by: "--junit")) }
        let scenarios = try files.map { file in (file, try AppScenarioFile.read(file)) }
        let apps = try scenarios.map { file, scenario in try words(of: scenario, in: file) }
        var results: [AppTestResult] = []
        for ((file, scenario), app) in zip(scenarios, apps) {
            var run = try AppTestRun(scenario, file: file, app: app)
            let result = run.perform()
            results.append(result)
            if !json { try StandardOutput.print(AppTestText.lines(result).joined(separator: "\n")) }
        }
        let report = AppTestReport(results)
        try Delivery.all([
            { if json { try printJSON(report) } else if results.count > 1 { try StandardOutput.print(AppTestText.summary(report)) } },
            { try page?.write(AppTestJUnit.text(report)) },
        ])
        if report.failed > 0 { throw ExitCode(.bad) }
    }

    private func words(of scenario: AppScenario, in file: String) throws -> [String] {
        let words = app.map { $0.split(separator: " ").map(String.init) } ?? scenario.app
        guard !words.isEmpty else { throw Failure.usage("\(file): which app? Name it by --app, or by 'app: MyPhone' in the scenario") }
        return words
    }
}
