import ArgumentParser
import Console
import Foundation
import Primitives
import Runtime
import Synchronization
import Testing
import Workbench

@testable import hookswitch

/// A load that agents make: over HTTP, with real calls.
@Suite(.serialized, .timeLimit(.minutes(30))) struct AgentTests {
    /// An agent in this process, at a port that the kernel chose.
    private final class LocalAgent {
        let desk: AgentDesk
        let server: CommandServer
        private let pipe: Pipe
        /// Both ends stay open: what is told last may come after the test.
        private static let pipes = Mutex<[FileHandle]>([])

        init(token: String? = nil, patience: Duration = .seconds(15)) throws {
            let pipe = Pipe()
            self.pipe = pipe
            Self.pipes.withLock { $0 += [pipe.fileHandleForReading, pipe.fileHandleForWriting] }
            let desk = AgentDesk(patience: patience, ProgressReporter(pipe.fileHandleForWriting))
            self.desk = desk
            server = try CommandServer(listening: SocketAddress(.loopback, port: 0), token: token, AgentDesk.paths) { desk.answer($0, $1) }
        }

        var name: String { "\(server.address)" }

        func link(token: String? = nil) throws -> AgentLink {
            AgentLink(name, try #require(URL(string: "http://\(name)")), token: token, trusting: nil)
        }

        /// Waits for a line that begins so.
        func waitForLine(_ beginning: String) {
            var text = ""
            while !text.split(separator: "\n").contains(where: { $0.hasPrefix(beginning) }) {
                text += String(decoding: pipe.fileHandleForReading.availableData, as: UTF8.self)
            }
        }
    }

    private func report(_ words: String) throws -> LoadReport {
        let words = words.split(separator: " ").map(String.init)
        let expanded = try Hookswitch.expanded(words), order = try #require(try Hookswitch.parseAsRoot(expanded) as? Load).options.order()
        return try LoadRun(order, words: words, reporter: ProgressReporter(nil)).perform()
    }

    @Test func `two agents share a load, and the report is of both`() throws {
        let invites = Mutex(0)
        let target = try FaultyEcho { _ in
            let number = invites.withLock { count in
                count += 1
                return count
            }
            return number == 4 ? .refuses(486) : .none
        }
        defer { target.stop() }
        let one = try LocalAgent(), other = try LocalAgent()
        let report = try report(
            "load sip:a@\(target.address) --rate 8 --calls 24 --talk-time 1 --expect echo --seed 5 --agents \(one.name),\(other.name)")
        #expect(report.counts.begun == 24 && report.counts.failed == 1 && invites.withLock { $0 } == 24, "\(report.counts)")
        #expect(report.agents?.map(\.begun) == [12, 12] && report.agents?.map(\.name) == [one.name, other.name])
        #expect(report.calls.map(\.number) == Array(1...24) && report.run.seed == 5)
        #expect(report.findings.first { $0.kind == .refused }?.calls == 1 && report.validity.rate.asked == 8)
        #expect(report.metrics["setup"].flatMap(\.self)?.count == 24)
        // Both have forgotten it, and take the next.
        for agent in [one, other] { #expect(throws: Failure.self) { _ = try agent.link().state() } }
    }

    @Test func `an agent that dies is named, and the others go on to the end`() throws {
        let target = try FaultyEcho { _ in .none }
        defer { target.stop() }
        let one = try LocalAgent()
        var other: LocalAgent? = try LocalAgent()
        let name = try #require(other?.name), links = [one, other].compactMap { try? $0?.link() }
        let load = try AgentsLoad(
            links, arguments: ["sip:a@\(target.address)", "--rate=6", "--calls=24", "--talk-time=1"], endingWhenBroken: nil,
            patience: .seconds(5))
        let outcome = load.run(every: .milliseconds(200)) { snapshot in if snapshot.progress.begun >= 4 { other = nil } }
        let lost = try #require(outcome.agents.last)
        #expect(lost.name == name && (lost.lostAfter ?? 0) > 0 && lost.begun < 12, "\(lost)")
        #expect(outcome.agents.first?.begun == 12 && outcome.agents.first?.lostAfter == nil)
        var plan = LoadPlan()
        plan.arrivals = ArrivalPlan(rate: 6)
        let run = LoadReport.Run(command: "", target: "", transport: "udp", version: "", began: "", elapsed: 4, wasStopped: false, seed: 1)
        let report = try #require(outcome.report(run, plan: plan, slo: nil, findsKnee: false))
        #expect(
            !report.validity.isValid && report.validity.reasons.contains { $0.hasPrefix("\(name) was lost ") }, "\(report.validity.reasons)"
        )
    }

    @Test func `a load whose orderer is gone is given up, and the agent takes another`() throws {
        let target = try FaultyEcho { _ in .none }
        defer { target.stop() }
        let agent = try LocalAgent(patience: .seconds(1)), share = try #require(LoadShare(0, of: 1))
        let arguments = ["sip:a@\(target.address)", "--rate=5", "--calls=5000", "--talk-time=600"]
        let order = AgentOrder(version: Hookswitch.version, arguments: arguments, share: share)
        try agent.link().order(order)
        let busy = try #require(throws: Failure.self) { try agent.link().order(order) }
        #expect(busy.message.hasSuffix("it has a load of somebody else's") && busy.exitCode == 3, "\(busy)")
        while try !agent.link().state().progress.isReady {}
        try agent.link().start()
        agent.waitForLine("nobody has asked about the load for 1 s")
        agent.waitForLine("load: over, ")
        try agent.link().order(order)
        try agent.link().close()
    }

    @Test func `an order that an agent does not take is one line`() throws {
        let agent = try LocalAgent(token: "right"), share = try #require(LoadShare(0, of: 1))
        func refusal(_ arguments: [String], version: String = Hookswitch.version, token: String? = "right") throws -> Failure {
            try #require(throws: Failure.self) {
                try agent.link(token: token).order(AgentOrder(version: version, arguments: arguments, share: share))
            }
        }
        let target = "sip:a@127.0.0.1:9"
        for token in [nil, "wrong"] {
            let failure = try refusal([target], token: token)
            #expect(failure.message.contains("wants another token") && failure.exitCode == 3)
        }
        #expect(try refusal([target], version: "0.0").message.hasSuffix("it is version \(Hookswitch.version), and not 0.0"))
        for word in ["--json=/tmp/report", "--web=127.0.0.1:1", "--scenario=x", "--agents=a", "--local=127.0.0.1:1", "--target-journal=x"] {
            let failure = try refusal([target, word])
            #expect(failure.message.hasSuffix("an agent takes no \(word.split(separator: "=")[0])") && failure.exitCode == 2, "\(failure)")
        }
        #expect(try refusal([target, "--rate=x"]).message.contains("'x' is invalid for '--rate <n>'"))
        #expect(try refusal([target, "--codec=g729"]).message.contains("g729"))
    }

    @Test(
        arguments: [
            ("load sip:a@127.0.0.1 --agents 127.0.0.1:1,127.0.0.1:1", "--agents names one agent twice"),
            ("load sip:a@127.0.0.1 --agents 127.0.0.1:1,", "--agents takes addresses as"),
            ("load sip:a@127.0.0.1 --agents ftp://127.0.0.1", "--agents takes addresses as"),
            ("load sip:a@127.0.0.1 --agents 127.0.0.1:1 --local 127.0.0.1:5070", "--local and --agents exclude each other"),
            ("load sip:a@127.0.0.1 --agents 127.0.0.1:1,127.0.0.1:2 --calls 1", "--agents: 2 agents need 2 calls or more"),
            ("load 127.0.0.1 --accounts 1001..1003 --agents 127.0.0.1:1,127.0.0.1:2", "with --accounts two lines each"),
            ("load sip:a@127.0.0.1 --agent-token-file x", "--agent-token-file goes with --agents"),
            ("load sip:a@127.0.0.1 --agents 127.0.0.1:1 --agent-ca x", "--agent-ca goes with --agents https"),
            ("load --calibrate --agents 127.0.0.1:1", "leave --agents out"),
        ])
    func `a mistyped order of agents is one line and exit code 2`(words: String, line: String) throws {
        let failure = try #require(throws: Failure.self) { try report(words) }
        #expect(failure.message.contains(line) && failure.exitCode == 2, "\(failure)")
    }

    @Test(
        arguments: [
            ("agent --listen 0.0.0.0:0", "add --token-file"), ("agent --listen x", "--listen takes an address"),
            ("agent --local 0.0.0.0", "--local takes one address"), ("agent --certificate x", "belong together"),
            ("agent --token-file /nowhere", "--token-file /nowhere: cannot be read"),
        ])
    func `a mistyped agent is one line and exit code 2`(words: String, line: String) throws {
        let agent = try #require(try Hookswitch.parseAsRoot(words.split(separator: " ").map(String.init)) as? Agent)
        let failure = try #require(throws: Failure.self) { try agent.run() }
        #expect(failure.message.contains(line) && failure.exitCode == 2, "\(failure)")
    }

    @Test func `the options of files stay with the tool that orders`() {
        let words = [
            "sip:a@b", "--rate", "5", "--json", "out.json", "--csv=out.csv", "--witness", "--agents", "x,y", "--password=--json",
            "--seed=3",
        ]
        #expect(AgentArguments.forAgents(words, seed: 9) == ["sip:a@b", "--rate", "5", "--password=--json", "--seed=9"])
    }
}
