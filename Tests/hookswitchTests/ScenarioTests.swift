import ArgumentParser
import Foundation
import Primitives
import Testing
import Workbench

@testable import hookswitch

@Suite struct ScenarioTests {
    @Test func `ten lines are a load`() throws {
        let words = try expand(
            """
            target: sip:9196@127.0.0.1
            rate: 20
            calls: 100
            mix: { }
            """.replacing("mix: { }", with: "mix: hold=5,cancel=1") + """

                steps:
                  - wait: 0.5
                  - press: 12#
                  - hold: 2
                  - reinvite
                slo: setup_p95<200ms, failed<0.1%
                """)
        let order = try #require(try Hookswitch.parseAsRoot(words) as? Load).options.order(), plan = order.plan
        #expect(plan.calls == 100 && plan.arrivals == ArrivalPlan(rate: 20) && plan.mix == CallMix([.hold: 5, .cancel: 1]))
        #expect(plan.target.map { "\($0)" } == "sip:9196@127.0.0.1" && order.slo?.terms.count == 2)
        let press = try #require(try CallSteps.parse("press=12#").first)
        #expect(plan.steps == [.wait(.milliseconds(500)), press, .hold, .wait(.seconds(2)), .resume, .reinvite, .hangUp])
    }

    @Test func `what is typed goes before the file, and a dry run is one call`() throws {
        let words = try expand(
            "target: sip:9196@127.0.0.1\nrate: 20\ncalls: 100\n", more: ["--rate", "3", "--dry-run", "sip:9197@127.0.0.1"])
        let plan = try #require(try Hookswitch.parseAsRoot(words) as? Load).options.order().plan
        #expect(plan.arrivals == ArrivalPlan(rate: 3) && plan.calls == 1 && plan.target.map { "\($0)" } == "sip:9197@127.0.0.1")
    }

    @Test func `a value may begin with a dash`() throws {
        let words = try expand("target: 127.0.0.1\naccounts: 1001..1002\npassword: -Xy7\nca: -ca.pem\n")
        let options = try #require(try Hookswitch.parseAsRoot(words) as? Load).options
        #expect(options.phone.password == "-Xy7" && options.phone.ca == "-ca.pem")
    }

    @Test(arguments: [
        ("targte: x\n", ":1: unknown setting 'targte' (did you mean 'target'?)"),
        ("target: sip:1@127.0.0.1\nrate: fast\n", ":2: The value 'fast' is invalid for '--rate <n>'"),
        ("rate: 1\nmix: hodl=5\n", ":2: --mix knows no 'hodl' (did you mean 'hold'?); there are hold, dtmf, reinvite, cancel, busy"),
        ("rate: 1\nslo: setpu_p95<1ms\n", ":2: --slo: 'setpu_p95<1ms': there is no 'setpu' (did you mean 'setup'?)"),
        (
            "steps:\n  - wait: 1\n  - pres: 12\n",
            ":3: step 2: unknown step 'pres' (did you mean 'press'?); there are wait, press, hold, resume, reinvite, hang-up"
        ),
        ("steps:\n  - wait\n", ":2: step 1: 'wait' needs a value, as wait: 1"),
        ("steps:\n  - press: 12x\n", ":2: step 1: 'press' takes up to 32 keys of 0-9, *, # and A-D, got '12x'"),
        (
            "rate: 1\nsteps:\n  - hold\n  - press: 12\n  - resume\n",
            ":3: steps: 'press' between 'hold' and 'resume' presses nothing: no sound of ours leaves then"
        ),
        ("steps:\n  - reinvite\n  - hold: long\n", ":3: step 2: 'hold' takes seconds, got 'long'"),
        ("poisson: maybe\n", ":1: 'poisson' is true or false, got 'maybe'"),
        ("transport: tsl\n", ":1: --transport is udp, tcp, tls, ws or wss, got 'tsl' (did you mean 'tls'?)"),
        ("srtp: sdse\n", ":1: --srtp is sdes, dtls, optional or off, got 'sdse' (did you mean 'sdes'?)"),
        ("rate: 1\npassword: ~\n", ":2: 'password' has no value: '~' is null in YAML, and text only in quotes"),
        ("steps:\n  - wait: 1\n  - press:\n", ":3: 'press' has no value"),
        ("- rate\n", ": is no scenario: a list of settings as 'rate: 10'"),
    ])
    func `a mistake is named with its line and its step`(yaml: String, complaint: String) throws {
        let failure = try #require(throws: Failure.self) { try self.expand(yaml) }
        #expect(failure.message.hasSuffix("scenario.yaml" + complaint), "\(failure.message)")
        #expect(failure.exitCode == 2)
    }

    @Test func `a certificate and its key are checked together, wherever each is said`() throws {
        let words = try expand("target: sips:1@127.0.0.1\ncertificate: cert.pem\n", more: ["--certificate-key", "key.pem"])
        let phone = try #require(try Hookswitch.parseAsRoot(words) as? Load).options.phone
        #expect(phone.certificate == "cert.pem" && phone.certificateKey == "key.pem")
        let both = try expand("target: sips:1@127.0.0.1\ncertificate: cert.pem\ncertificate-key: key.pem\n")
        let alone = try expand("target: sips:1@127.0.0.1\ncertificate: cert.pem\n")
        for (words, line, code) in [
            (both, "'cert.pem' cannot be read", 3), (alone, "--certificate and --certificate-key belong together", 2),
        ] {
            let failure = try #require(throws: Failure.self) {
                _ = try #require(try Hookswitch.parseAsRoot(words) as? Load).options.order()
            }
            #expect(failure.message == line && failure.exitCode == code)
        }
    }

    @Test(arguments: [("/nowhere.yaml", "No such file or directory"), ("/tmp", "Is a directory"), ("/dev/null/x.yaml", "Not a directory")])
    func `a file that cannot be read is exit code 2, with the cause`(path: String, cause: String) throws {
        let failure = try #require(throws: Failure.self) { try ScenarioFile.expand(["load", "--scenario", path]) }
        #expect(failure.message == "\(path): cannot be read (\(cause))" && failure.exitCode == 2)
        let compose = try #require(throws: Failure.self) { try ComposePorts(path: path) }
        #expect(compose.message == failure.message && compose.exitCode == 2)
    }

    @Test(.timeLimit(.minutes(30))) func `the steps are taken, one after the other`() throws {
        let target = try FaultyTarget { _, _ in }
        defer { target.phone.close() }
        let words = try expand(
            "target: sip:echo@\(target.address)\nrate: 5\ncalls: 2\nsteps:\n  - wait: 0.2\n  - hold: 0.3\n  - reinvite\n  - wait: 0.3\n")
        let report = try LoadRun(try #require(try Hookswitch.parseAsRoot(words) as? Load).options.order(), reporter: ProgressReporter(nil))
            .perform()
        #expect(report.counts.good == 2, "\(report.findings)")
        #expect(
            report.calls.allSatisfy { ($0.duration ?? 0) > 790 && ($0.duration ?? 0) < 3_000 },
            "the waits, and not --hold: \(report.calls.map(\.duration))")
    }

    private func expand(_ yaml: String, more: [String] = []) throws -> [String] {
        let folder = FileManager.default.temporaryDirectory.appending(path: "hookswitch-scenario-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appending(path: "scenario.yaml")
        try yaml.write(to: file, atomically: true, encoding: .utf8)
        return try ScenarioFile.expand(["load", "--scenario", file.path] + more)
    }
}
