import Audio
import Foundation
import Primitives
import Testing
import Workbench

@testable import hookswitch

/// Apps of this package as processes, with a scripted far end, on sockets.
@Suite struct AppCommandTests {
    private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    private static let scenarios = root.appending(path: "Examples/CallTest/Scenarios")

    private static func built(_ name: String) -> String {
        let bundle = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? "/"
        return URL(filePath: bundle).deletingLastPathComponent().appending(path: name).path
    }

    private func play(_ yaml: String, _ app: String = "MyPhone", _ arguments: [String] = []) throws -> AppTestResult {
        let folder = try SoundFolder(), file = folder.path + "/scenario.yaml"
        try Data(yaml.utf8).write(to: URL(filePath: file))
        var run = try AppTestRun(try AppScenarioFile.read(file), file: "scenario.yaml", app: [Self.built(app)] + arguments)
        return withExtendedLifetime(folder) { run.perform() }
    }

    private func messages(_ result: AppTestResult) -> [String] { result.failures.map { "\($0.line ?? 0): \($0.message)" } }

    @Test(.timeLimit(.minutes(30)), arguments: ["answer", "decline", "dial", "second-call"])
    func `the template's scenarios pass: reports under the app's own UUIDs, and sound without a hook`(name: String) throws {
        let file = Self.scenarios.appending(path: name + ".yaml").path, scenario = try AppScenarioFile.read(file)
        #expect(scenario.app == ["MyPhone"])
        var run = try AppTestRun(scenario, file: file, app: [Self.built("MyPhone")])
        let result = run.perform()
        #expect(result.passed && result.advice == [] && result.refusals == 0, "\(AppTestText.lines(result).joined(separator: "\n"))")
    }

    @Test(.timeLimit(.minutes(30))) func `it says in which order perform, the answer, didActivate and media came`() throws {
        let result = try play(
            """
            steps:
              - far calls: { from: "2001", push: { caller: "{caller}" } }
              - user answers
              - expect: app hears sound
            """)
        #expect(result.passed, "\(messages(result))")
        let order = try #require(result.order.first), events = order.steps.map { String($0.event.split(separator: " ")[0]) }
        #expect(order.call == "2001" && result.order.count == 1)
        #expect(events.prefix(6) == ["perform.answer", "media.opened", "sip.tx", "action.fulfilled", "session.activated", "media.started"])
        #expect(order.steps.map(\.ms) == order.steps.map(\.ms).sorted() && order.steps.last?.event.hasPrefix("app ") == true)
        #expect(AppTestText.lines(result).contains { $0.hasPrefix("order   2001: perform.answer 0.00, media.opened") })
    }

    @Test(.timeLimit(.minutes(30))) func `the user says a file`() throws {
        let folder = try SoundFolder()
        try folder.write(tone: 1_000, seconds: 2, to: "voice.wav")
        let yaml = """
            steps:
              - user dials: 2002
              - far answers
              - expect: [far hears 1000 Hz]
            """
        let result = try play(yaml, "MyPhone", ["\(folder.path)/voice.wav"])
        #expect(result.passed, "\(messages(result))")
        #expect(try messages(play("timeout: 3\n" + yaml)) == ["5: 'far hears 1000 Hz' did not come within 3 s"])
    }

    @Test(.timeLimit(.minutes(30))) func `an app with a media library of its own, which finds its calls before they start`() throws {
        let result = try play(
            """
            steps:
              - user dials: 2002
              - expect: [perform.start, far invited]
              - far answers
              - expect: [session.activated, media.started, far hears 440 Hz, app hears sound]
              - user hangs up
              - expect: [perform.end, call.ended, far ended]
              - far calls: 2001
              - user answers
              - expect: [media.started, far hears 440 Hz]
              - far goes away
              - user hangs up
              - expect: [media.stopped, call.ended]
            """, "Hotline")
        #expect(result.passed, "\(AppTestText.lines(result).joined(separator: "\n"))")
    }

    @Test(
        .timeLimit(.minutes(30)),
        arguments: [
            ("expect: [session.activated, perform.answer]", "6: 'perform.answer' came, but before what is expected ahead of it"),
            ("expect: perform.end", "6: 'perform.end' did not come within 2 s"),
            ("expect no: media.started", "6: 'media.started' has come"),
            ("user holds: 2009", "6: the telephone shows no call of 2009: the app has not reported it, or has not started it"),
            ("far answers", "6: there is no call with which the far end can do that"),
        ]) func `what is not as expected is told with its line`(step: String, message: String) throws
    {
        let result = try play(
            """
            timeout: 2
            steps:
              - far calls: { from: "2001", push: { caller: "{caller}" } }
              - user answers
              - expect: media.started
              - \(step)
            """)
        #expect(messages(result) == [message], "\(AppTestText.lines(result).joined(separator: "\n"))")
    }

    @Test(.timeLimit(.minutes(30))) func `an app that reports a call of nobody breaks a rule, and the scenario fails`() throws {
        let result = try play("steps:\n  - push: { caller: \"2001\" }\n  - expect: [push reported, call.ended failed]\n")
        #expect(!result.passed && result.violations.contains { $0.hasPrefix("R1 ") })
        #expect(result.failures.map { $0.message.hasPrefix("the audit: R1 ") } == result.failures.map { _ in true })
    }

    @Test(.timeLimit(.minutes(30))) func `call code over a vendor's SDK hears and is heard, in both directions`() throws {
        let result = try play(
            """
            steps:
              - far calls: 2001
              - user answers
              - expect: [sip.tx 200 INVITE, session.activated, media.started, app hears sound, far hears 440 Hz]
              - user holds
              - expect: [media.stopped, far held]
              - user resumes
              - expect: [media.started, far resumed]
              - user presses: 9
              - expect: far got key 9
              - user hangs up
              - expect: [sip.tx BYE, call.ended, far ended]
              - far calls: 2002
              - expect: far got 180
              - far hangs up
              - expect: [call.ended remoteEnded, far ended 487]
              - user dials: 2003
              - far answers
              - expect: [report.connected, session.activated, media.started, app hears sound]
              - far hangs up
              - expect: [call.ended remoteEnded, media.closed]
            """, "vendor-sdk-example")
        #expect(result.passed && result.advice == [] && result.refusals == 0, "\(AppTestText.lines(result).joined(separator: "\n"))")
    }

    @Test(.timeLimit(.minutes(30))) func `call code over LiveCommunicationKit joins, pauses, ends and starts as over CallKit`() throws {
        let result = try play(
            """
            steps:
              - far calls: { from: "2001", push: { caller: "{caller}" } }
              - expect: [report.adopted, report.incoming.ok, sip.tx 180, far got 180]
              - user answers
              - expect: [perform.answer, media.opened, sip.tx 200 INVITE, session.activated, media.started]
              - expect: [app hears sound, far hears 440 Hz]
              - user holds
              - expect: [media.stopped, far held]
              - user resumes
              - expect: [media.started, far resumed]
              - user presses: 9
              - expect: far got key 9
              - user hangs up
              - expect: [perform.end, media.stopped, sip.tx BYE, call.ended, far ended]
              - user dials: 2002
              - expect: [perform.start, sip.tx INVITE, report.connecting]
              - far refuses: 486
              - expect: [call.ended, far ended 486]
              - user dials: 2003
              - expect: far invited
              - far answers
              - expect: [report.connected, session.activated, media.started, app hears sound]
              - far hangs up
              - expect: [call.ended remoteEnded, session.deactivated, media.closed]
            """, "live-communication-example")
        #expect(result.passed && result.advice == [] && result.refusals == 0, "\(AppTestText.lines(result).joined(separator: "\n"))")
    }

    @Test(arguments: ["VoiceSDK.swift", "main.swift"])
    func `the guide of a vendor's SDK shows the files that are compiled`(file: String) throws {
        let page = try String(contentsOf: Self.root.appending(path: "docs/guides/vendor-sdk.md"), encoding: .utf8)
        let source = try String(contentsOf: Self.root.appending(path: "Examples/VendorSDK").appending(path: file), encoding: .utf8)
        #expect(page.contains("```swift\n\(source)```"))
    }

    @Test(.timeLimit(.minutes(30))) func `what the telephone refuses fails the scenario, unless it is expected`() throws {
        let yaml = """
            steps:
              - far calls: { from: "2001", push: { caller: "{caller}" } }
              - user answers
              - expect: media.started
              - user answers
              - expect: REFUSAL
            """
        #expect(try play(yaml.replacing("REFUSAL", with: "user refused")).passed)
        let failed = try play("timeout: 2\n" + yaml.replacing("REFUSAL", with: "perform.end"))
        #expect(messages(failed).first?.contains("did not come within 2 s; the telephone refused what the user wanted: ") == true)
    }

    @Test(.timeLimit(.minutes(30))) func `an app that ends, or has no line, is told of`() throws {
        var run = try AppTestRun(try AppScenarioFile.read(Self.scenarios.path + "/answer.yaml"), file: "a.yaml", app: ["/bin/false"])
        let result = run.perform()
        #expect(messages(result) == ["0: the app ended with exit code 1 before its line was registered"])
    }

    @Test(.timeLimit(.minutes(30))) func `the command writes JUnit and JSON, and its exit code is the verdict`() throws {
        let folder = try SoundFolder(), good = Self.scenarios.path + "/decline.yaml", bad = folder.path + "/bad.yaml"
        try Data("timeout: 1\nsteps:\n  - user answers\n".utf8).write(to: URL(filePath: bad))
        let process = Process(), output = Pipe()
        process.executableURL = URL(filePath: Self.built("hookswitch"))
        process.arguments = ["app", good, bad, "--app", Self.built("MyPhone"), "--json", "--junit", folder.path + "/app.xml"]
        process.standardOutput = output
        try process.run()
        let json = try output.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        #expect(process.terminationStatus == 1)
        let report = try #require(try JSONSerialization.jsonObject(with: json) as? [String: Any])
        #expect(report["schema"] as? String == "hookswitch.app/1" && report["passed"] as? Int == 1 && report["failed"] as? Int == 1)
        let page = try String(contentsOfFile: folder.path + "/app.xml", encoding: .utf8)
        #expect(page.contains("<testsuite name=\"hookswitch app\" tests=\"2\" failures=\"1\""))
        #expect(page.contains("\(bad):3: 'user answers': the telephone shows no call"))
        #expect(page.contains("perform.end"), "the timeline is in it")
    }
}
