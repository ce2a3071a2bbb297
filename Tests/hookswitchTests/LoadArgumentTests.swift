import ArgumentParser
import Foundation
import Primitives
import Testing
import UserAgent
import Workbench

@testable import hookswitch

/// What is typed at `load`.
@Suite struct LoadArgumentTests {
    private func order(_ line: String) throws -> LoadOrder {
        let command = try #require(try Hookswitch.parseAsRoot(["load"] + line.split(separator: " ").map(String.init)) as? Load)
        return try command.options.order()
    }

    @Test(arguments: [
        ("", "whom to call? 'hookswitch load sip:9196@ADDRESS'"),
        ("127.0.0.1", "'127.0.0.1' names nobody to call: write sip:9196@ADDRESS, or add --accounts FIRST..LAST"),
        ("127.0.0.1 --accounts 1001..1001", "--accounts needs two lines or more: the first half calls the second"),
        ("127.0.0.1 --accounts 1001,1002", "--accounts takes lines as 1001..1100, got '1001,1002'"),
        (
            "127.0.0.1 --accounts 1001..1002 --connect-rate 5",
            "--connect-rate needs WebSockets of accounts: --transport ws or wss, and --accounts"
        ),
        (
            "127.0.0.1 --transport ws --accounts 1001..1002 --connect-rate 0",
            "--connect-rate takes connections a second from 0.1 to 10000, got 0"
        ),
        ("sip:1@127.0.0.1 --transport tpc", "--transport is udp, tcp, tls, ws or wss, got 'tpc' (did you mean 'tcp'?)"),
        ("sip:1@127.0.0.1 --rate 0", "--rate takes calls a second from 0.001 to 10000, got 0"),
        ("sip:1@127.0.0.1 --rate 5 --ramp 1:2:1:1", "--rate and --ramp exclude each other"),
        (
            "sip:1@127.0.0.1 --ramp 10:5:1:1",
            "--ramp takes FROM:TO:STEP:EVERY as 10:100:10:30 (calls a second, and seconds), got '10:5:1:1'"
        ),
        (
            "sip:1@127.0.0.1 --ramp 10:100:inf:30",
            "--ramp takes FROM:TO:STEP:EVERY as 10:100:10:30 (calls a second, and seconds), got '10:100:inf:30'"
        ),
        ("--calibrate --ports 40000-40001", "--calibrate needs four media ports or more: a pair for each end; got '40000-40001'"),
        ("sip:1@127.0.0.1 --hold long", "--hold takes seconds as 10, or exponential:10, got 'long'"),
        ("sip:1@127.0.0.1 --talk-time long", "--talk-time takes seconds as 10, or exponential:10, got 'long'"),
        ("sip:1@127.0.0.1 --talk-time 0", "--talk-time takes seconds from 0.1 to 86400, got 0"),
        ("sip:1@127.0.0.1 --metrics 127.0.0.1", "--metrics takes an address and a port as 127.0.0.1:9465, got '127.0.0.1'"),
        ("sip:1@127.0.0.1 --baseline \(#filePath)", "--baseline: '\(#filePath)' is no report of 'hookswitch load --json FILE'"),
        ("sip:1@127.0.0.1 --json - --stream -", "only one report can go to standard output"),
        ("--calibrate --baseline x", "--calibrate calls an echo of its own: leave --baseline out"),
        ("sip:1@127.0.0.1 --mix hodl=5", "--mix knows no 'hodl' (did you mean 'hold'?); there are hold, dtmf, reinvite, cancel, busy"),
        ("sip:1@127.0.0.1 --mix hold=60,dtmf=60", "--mix makes more than 100 %: 'hold=60,dtmf=60'"),
        ("sip:1@127.0.0.1 --mix hold=1,hold=2", "--mix names 'hold' twice: 'hold=1,hold=2'"),
        ("sip:1@127.0.0.1 --both-ends", "--both-ends needs --local ADDRESS:PORT, or --accounts: where do the calls come back to?"),
        ("sip:1@127.0.0.1 --mix =", "--mix knows no ''; there are hold, dtmf, reinvite, cancel, busy"),
        ("sip:1@127.0.0.1 --mix hold=5,=", "--mix knows no ''; there are hold, dtmf, reinvite, cancel, busy"),
        ("sip:1@127.0.0.1 --mix ,", "--mix takes percentages as hold=5,dtmf=10, got ','"),
        ("sip:1@127.0.0.1 --mix hold", "--mix takes percentages as hold=5, got 'hold'"),
        ("sip:1@127.0.0.1 --ramp 1:100:1e-300:1", "--ramp makes more than 10000 steps: '1:100:1e-300:1'"),
        ("sip:1@127.0.0.1 --ramp 1:10000:0.0001:1", "--ramp makes more than 10000 steps: '1:10000:0.0001:1'"),
        ("sip:1@127.0.0.1 --listen 10", "--listen takes a share as 10%, got '10'"),
        ("sip:1@127.0.0.1 --expect ecco", "--expect is sound, prompt, echo or nothing, got 'ecco' (did you mean 'echo'?)"),
        ("sip:1@127.0.0.1 --slo setpu_p95<200ms", "--slo: 'setpu_p95<200ms': there is no 'setpu' (did you mean 'setup'?)"),
        ("sip:1@127.0.0.1 --slo setup<200ms", "--slo: 'setup<200ms': say which: setup_p95, setup_mean, setup_min or setup_max"),
        ("sip:1@127.0.0.1 --slo failed<5ms", "--slo: 'failed<5ms': '5ms' is no limit in %"),
        (
            "sip:1@127.0.0.1 --find-knee --rate 3 --slo failed<1%",
            "--find-knee and --rate exclude each other: the rate is raised by --ramp (10:1000:10:10 without one)"
        ),
        ("sip:1@127.0.0.1 --mix busy=5", "--mix busy=… needs the other end to be the tool's: add --accounts, or --both-ends"),
        ("sip:1@127.0.0.1 --find-knee", "--find-knee needs --slo: what must hold?"),
        ("sip:1@127.0.0.1 --find-knee --slo failed<1% --dry-run", "--dry-run and --find-knee exclude each other: one call has no knee"),
        ("--calibrate --slo failed<1%", "--calibrate calls an echo of its own: leave --slo out"),
        ("--calibrate --transport tcp", "--calibrate calls an echo of its own: leave --transport out"),
        ("--calibrate --dry-run", "--calibrate calls an echo of its own: leave --dry-run out"),
        ("--calibrate --calls 5", "--calibrate calls an echo of its own: leave --calls out"),
        ("sip:1@127.0.0.1 --witness", "--witness needs --target-journal: what are the sockets held against?"),
        ("--calibrate --witness", "--calibrate calls an echo of its own: leave --witness out"),
        ("--calibrate --target-pid 1", "--calibrate calls an echo of its own: leave --target-pid out"),
        ("sip:1@127.0.0.1 --calibrate", "--calibrate calls an echo of its own: leave a target out"),
        ("sip:1@127.0.0.1 --ports 9", "--ports takes ports as 40000-41999, got '9'"),
        ("sip:1@127.0.0.1 --ports +40000--41999", "--ports takes ports as 40000-41999, got '+40000--41999'"),
        (
            "sip:1@127.0.0.1 --local 0.0.0.0",
            "--local takes one address of this machine, as callers are told it: 127.0.0.1:5070; got '0.0.0.0'"
        ),
        ("sip:1@127.0.0.1 --srtp zrtp", "--srtp is sdes, dtls, optional or off, got 'zrtp'"),
        (
            "sip:1@127.0.0.1 --transport tls --both-ends --local 127.0.0.1",
            "to be called over TLS needs --certificate and --certificate-key: what is shown to who connects?"
        ),
        ("sip:1@127.0.0.1 --json - --csv -", "only one report can go to standard output"),
    ])
    func `a mistake gets one line, and exit code 2`(arguments: String, line: String) throws {
        let failure = try #require(throws: Failure.self) { try self.order(arguments) }
        #expect(failure.message == line && failure.exitCode == 2)
    }

    @Test func `a file of TLS that is not to be had is exit code 3`() throws {
        let failure = try #require(throws: Failure.self) { try self.order("sip:1@127.0.0.1 --transport tls --ca /nowhere.pem") }
        #expect(failure.exitCode == 3 && failure.message == "'/nowhere.pem' cannot be read")
    }

    @Test func `a place where no report can be written is exit code 3, before a call is made`() throws {
        let failure = try #require(throws: Failure.self) { try self.order("sip:1@127.0.0.1 --html /nowhere/load.html") }
        #expect(failure.exitCode == 3 && failure.message == "/nowhere/load.html cannot be written: the place is not writable")
    }

    @Test func `a report of before that is not there is exit code 3`() throws {
        let failure = try #require(throws: Failure.self) { try self.order("sip:1@127.0.0.1 --baseline /nowhere.json") }
        #expect(failure.exitCode == 3 && failure.message == "/nowhere.json cannot be read")
    }

    @Test(arguments: ["--talk-time 7", "--hold 7", "--hold 3 --talk-time 7"]) func `a call lasts as long as is said`(option: String) throws
    {
        #expect(try order("sip:1@127.0.0.1 " + option).plan.hold == .fixed(.seconds(7)))
        #expect(try order("sip:1@127.0.0.1").plan.hold == .fixed(.seconds(10)))
    }

    @Test(arguments: ["load", "call", "answer"]) func `the help has a default for each option, and no old name`(name: String) throws {
        let command = try #require(Hookswitch.configuration.subcommands.first { $0._commandName == name })
        let lines = Hookswitch.helpMessage(for: command, columns: 200).split(separator: "\n", omittingEmptySubsequences: false)
        let starts = lines.indices.filter { lines[$0].hasPrefix("  -") && lines[$0].contains("<") }
        #expect(starts.count > 15 && !lines.contains { $0.contains("--hold ") })
        for start in starts {
            let text = lines[start...].dropFirst().prefix { $0.hasPrefix("          ") }.reduce(String(lines[start])) { $0 + " " + $1 }
            #expect(text.contains("(default: "), "\(text)")
        }
    }

    @Test func `accounts call each other in pairs, with passwords by their numbers`() throws {
        let plan = try order("127.0.0.1:5070 --accounts 0098..0101 --password s-{}").plan
        #expect(plan.accounts.map { "\($0.user)" } == ["0098", "0099", "0100", "0101"])
        #expect(plan.target == nil && plan.playsBothEnds)
        #expect(plan.accounts[3].credentials == .init(username: "0101", password: "s-0101"))
    }

    @Test(arguments: [(10.0, 1, 19_962), (3_000, 2, 2_498), (10_000, 1, 4_998), (10_000, 2, 2_498)])
    func `as many calls may be up at a time as there are ports for, with those that rest`(rate: Double, ends: Int, most: Int) {
        var plan = LoadPlan()
        (plan.arrivals, plan.playsBothEnds, plan.concurrent) = (ArrivalPlan(rate: rate), ends == 2, 20_000)
        #expect(LoadPorts.mostCalls(plan, in: nil) == most)
        plan.arrivals = ArrivalPlan(rate: 20)
        #expect(LoadPorts.mostCalls(plan, in: 40_000...40_199) == [40, 12][ends - 1], "of 100 pairs 60 may rest")
        plan.calls = 50
        #expect(LoadPorts.mostCalls(plan, in: 40_000...40_199) == 100 / ends, "each has its own")
    }

    @Test func `without bounds a run ends after a minute, and a ramp at its end`() throws {
        #expect(try order("sip:1@127.0.0.1").plan.duration == .seconds(60))
        let ramp = try order("sip:1@127.0.0.1 --ramp 10:30:10:5").plan
        #expect(
            ramp.duration == nil && ramp.arrivals.steps.map(\.rate) == [10, 20, 30]
                && ramp.arrivals.steps.allSatisfy { $0.time == .seconds(5) })
    }

    @Test func `a mix, an exponential hold and a share to listen to are read`() throws {
        let plan = try order("sip:1@127.0.0.1 --mix hold=5,cancel=3% --hold exponential:20 --listen 12.5%").plan
        #expect(plan.mix == CallMix([.hold: 5, .cancel: 3]) && plan.hold == .exponential(.seconds(20)) && plan.listening == .share(0.125))
    }
}
