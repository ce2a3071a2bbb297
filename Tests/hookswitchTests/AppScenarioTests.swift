import ArgumentParser
import Foundation
import Primitives
import Testing
import Workbench

@testable import hookswitch

@Suite struct AppScenarioTests {
    private func read(_ yaml: String) throws -> AppScenario {
        let folder = try SoundFolder(), file = folder.path + "/scenario.yaml"
        try Data(yaml.utf8).write(to: URL(filePath: file))
        return try withExtendedLifetime(folder) { try AppScenarioFile.read(file) }
    }

    @Test func `a scenario has its steps with their lines`() throws {
        let scenario = try read(
            """
            name: Two calls
            app: MyPhone --quiet
            line: 1002
            timeout: 2.5
            steps:
              - far calls: { from: 2001, name: Alice, push: { caller: "{caller}", aps: { alert: Hi } } }
              - user answers
              - far presses: 12#
              - far refuses: { status: 603, call: "2002" }
              - user joins: { call: 2002, with: 2001 }
              - wait: 0.5
              - expect: [media.started, far hears 440 Hz, push reported]
              - expect no: call.ended
            """)
        #expect(scenario.name == "Two calls" && scenario.app == ["MyPhone", "--quiet"] && scenario.line == "1002")
        #expect(scenario.timeout == .milliseconds(2_500) && scenario.steps.map(\.line) == Array(6...13))
        let push = #"{"aps":{"alert":"Hi"},"caller":"{caller}"}"#
        let acts = scenario.steps.map(\.act)
        #expect(acts[0] == .far(.call(from: "2001", name: "Alice", push: push), call: nil))
        #expect(acts[1] == .user(.answer(endsOthers: false), call: nil) && acts[3] == .far(.refuse(603), call: "2002"))
        #expect(acts[4] == .user(.join(with: "2001"), call: "2002") && acts[5] == .wait(.milliseconds(500)))
        #expect(acts[6] == .expect([AppExpectation("media.started"), AppExpectation("far hears 440 Hz"), AppExpectation("push reported")]))
        #expect(acts[7] == .expectNone([AppExpectation("call.ended")]) && scenario.steps[2].text == "far presses: 12#")
    }

    @Test(arguments: [
        ("setps:\n  - user answers\n", ":1: unknown setting 'setps' (did you mean 'steps'?)"),
        ("app: MyPhone\n", ": there are no steps"),
        ("- user answers\n", ": is no scenario: a list as 'steps: [user answers]'"),
        ("timeout: soon\nsteps: [user answers]\n", ":1: 'timeout' takes seconds, got 'soon'"),
        ("timeout: 0\nsteps: [user answers]\n", ":1: 'timeout' takes seconds from 0.1 to 3600, got 0"),
        (
            "steps:\n  - user answers\n  - user dails: 2001\n",
            ":3: step 2: unknown step 'user dails' (did you mean 'user dials'?); there are "
        ),
        ("steps:\n  - far calls\n", ":2: step 1: 'far calls' needs a value, as far calls: 2001"),
        ("steps:\n  - far calls: { form: 2001 }\n", ":2: step 1: 'far calls' has no 'form' (did you mean 'from'?)"),
        ("steps:\n  - far calls: a b\n", ":2: step 1: a number is of digits, letters, + - _ and ., got 'a b'"),
        ("steps:\n  - far refuses: 200\n", ":2: step 1: 'far refuses' takes a status from 300 to 699, got '200'"),
        ("steps:\n  - far presses: 12x\n", ":2: step 1: 'far presses' takes up to 32 keys of 0-9, *, # and A-D, got '12x'"),
        ("steps:\n  - user answers: [1]\n", ":2: step 1: 'user answers' takes the number of a call, as 'user answers: 2001'"),
        ("steps:\n  - wait: long\n", ":2: step 1: 'wait' takes seconds, got 'long'"),
        ("steps:\n  - from here: 1\n", ":2: step 1: 'from here' takes no value"),
        ("steps:\n  - push: 7\n", ":2: step 1: a push is a list of values, as { caller: \"2001\" }"),
        ("steps:\n  - expect: media.strated\n", ":2: step 1: there is no event 'media.strated' (did you mean 'media.started'?)"),
        ("steps:\n  - expect: [far conected]\n", ":2: step 1: there is no event 'far conected' (did you mean 'far connected'?)"),
        ("steps:\n  - expect:\n", ":2: 'expect' has no value"),
        ("steps: user answers\n", ":1: steps are a list, as '- user answers'"),
        ("app: []\nsteps: [user answers]\n", ":1: 'app' is a program and its arguments"),
        ("steps:\n  - user answers\n - x\n", ":"),
    ])
    func `a mistake is one line with the file, the line and the step`(yaml: String, complaint: String) throws {
        let failure = try #require(throws: Failure.self) { try self.read(yaml) }
        #expect(failure.message.contains("scenario.yaml" + complaint), "\(failure.message)")
        #expect(failure.exitCode == 2 && !failure.message.contains("\n"))
    }

    @Test func `without an app, and with one that is not there, it does not begin`() throws {
        let folder = try SoundFolder(), file = folder.path + "/a.yaml"
        try Data("steps: [user answers]".utf8).write(to: URL(filePath: file))
        for (more, complaint) in [
            ([], "\(file): which app? Name it by --app, or by 'app: MyPhone' in the scenario"),
            (["--app", "/no/such"], "there is no program /no/such"),
            (["--app", "no-such-app"], "there is no program no-such-app in .build/debug, in .build/release or on the PATH"),
        ] {
            let command = try #require(try Hookswitch.parseAsRoot(["app", file] + more) as? App)
            let failure = try #require(throws: Failure.self) { try command.run() }
            #expect(failure.message == complaint && failure.exitCode == 2)
        }
    }
}
