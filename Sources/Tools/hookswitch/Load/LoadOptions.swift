import ArgumentParser
import Foundation
import Workbench

/// Options of `hookswitch load`, as typed.
struct LoadOptions: ParsableArguments {
    @Argument(help: "sip:9196@127.0.0.1:5060; with --accounts a server alone, as 127.0.0.1:5060.") var target: String?

    @OptionGroup(title: "By what way") var phone: PhoneOptions

    @Option(help: ArgumentHelp("Lines of the target that the tool registers and plays (default: none).", valueName: "first..last"))
    var accounts: String?

    @Option(
        help: ArgumentHelp(
            "Over ws or wss each account has a connection of its own: so many are opened a second (default: 100).", valueName: "n"))
    var connectRate: Double?

    @OptionGroup(title: "How many calls, and how fast") var pace: PaceOptions

    @Option(help: ArgumentHelp("How long each lasts: 10, or exponential:10 for a mean of 10 s (default: 10).", valueName: "s"))
    var talkTime: String?

    /// The name of `--talk-time` before.
    @Option(help: .hidden) var hold: String?

    @Option(
        help: ArgumentHelp(
            "Percentages of other calls, as hold=5,dtmf=10,reinvite=2,cancel=3,busy=1 (default: none).", valueName: "kind=%,…"))
    var mix: String?

    @Option(help: ArgumentHelp("The keys that dtmf calls press.", valueName: "keys"))
    var keys = "159#"

    @Option(help: ArgumentHelp("Listen to a share of the calls, as 10% (default: as many as 64 at a time).", valueName: "share"))
    var listen: String?

    @Option(
        help: ArgumentHelp("What comes back: sound (any, to the end), prompt (any, may end), echo (our own), nothing.", valueName: "what"))
    var expect = "sound"

    @Flag(help: "The target leads the calls back to this tool (--local), which answers them.") var bothEnds = false

    @Option(help: ArgumentHelp("The tool's own callees ring so long.", valueName: "ms"))
    var answerAfter = 0

    @Option(help: ArgumentHelp("Cancel what is not answered for so long.", valueName: "s"))
    var timeout: Double = 32

    @Option(
        help: ArgumentHelp(
            "Terms that the run has to pass: 'setup_p95<200ms,failed<0.1%' (default: every call is good).", valueName: "terms"))
    var slo: String?

    @Flag(help: "Raise the rate by --ramp until a term of --slo fails; tell the last step that passed.") var findKnee = false

    @Flag(help: "Call an echo of the tool's own, up to --concurrent (2000) at a time: how many can it drive in time here?") var calibrate =
        false

    @Option(help: ArgumentHelp("Calls as this file says (YAML); options given as well go before it (default: none).", valueName: "file"))
    var scenario: String?

    @Option(name: .customLong("target"), help: .hidden) var scenarioTarget: String?

    @Option(
        help: ArgumentHelp(
            "What a plain call does in place of --talk-time: wait=1,press=12#,hold=2,reinvite,hang-up (default: it talks).",
            valueName: "step,…"))
    var steps: String?

    @Flag(help: "Check everything, make one call as the run would, and end.") var dryRun = false

    @Option(
        help: ArgumentHelp(
            "The gateway's journal: after the run it must be back to where it was (default: not looked at).", valueName: "file"))
    var targetJournal: String?

    @Option(
        help: ArgumentHelp(
            "The gateway's process, on this machine: its descriptors and memory must not grow (default: not looked at).", valueName: "pid"))
    var targetPid: Int?

    @Flag(help: "Beside a gateway of this machine: the kernel's sockets agree with --target-journal all the time.") var witness = false

    @Option(help: ArgumentHelp("The same number makes the same calls (default: by chance; the report has it).", valueName: "n"))
    var seed: UInt64?

    @OptionGroup(title: "From which machines") var agents: AgentOptions

    @OptionGroup(title: "Where the results go") var results: ResultOptions
}

/// When the calls of a load begin.
struct PaceOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Calls a second (default: 10).", valueName: "n"))
    var rate: Double?

    @Flag(help: "Calls begin by chance, as people's do, at the same mean rate.") var poisson = false

    @Option(
        help: ArgumentHelp(
            "Rates in steps, as 10:100:10:30: from 10 to 100 by 10, each for 30 s (default: one rate; of --find-knee 10:1000:10:10).",
            valueName: "from:to:step:every"))
    var ramp: String?

    @Option(help: ArgumentHelp("Begin so many calls (default: as many as --duration allows).", valueName: "n"))
    var calls: Int?

    @Option(help: ArgumentHelp("Begin calls for so long (default: 60 without --calls and --ramp).", valueName: "s"))
    var duration: Double?

    @Option(
        help: ArgumentHelp(
            "At most so many at a time; more are not begun, and the rate is not kept then (default: as many as rate and talk time make).",
            valueName: "n"))
    var concurrent: Int?

    @Option(
        help: ArgumentHelp("How long a step of a ramp goes on before it is judged (default: a fifth of it, 3 at most).", valueName: "s"))
    var settle: Double?
}

/// Reports of a load: after it, and while it runs.
struct ResultOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Write the report as JSON; - for standard output (default: not written).", valueName: "file"))
    var json: String?

    @Option(help: ArgumentHelp("Write a line for each call as CSV (default: not written).", valueName: "file"))
    var csv: String?

    @Option(help: ArgumentHelp("Write the verdicts as JUnit XML (default: not written).", valueName: "file"))
    var junit: String?

    @Option(
        help: ArgumentHelp(
            "Write all evidence into one archive, for 'hookswitch verify': the report, --target-journal and --witness (default: not written).",
            valueName: "file"))
    var bundle: String?

    @Option(help: ArgumentHelp("Write one page with plots (default: not written).", valueName: "file"))
    var html: String?

    @Option(
        help: ArgumentHelp(
            "Compare with an earlier report of --json: figures beside each other, with ratios (default: none).", valueName: "file"))
    var baseline: String?

    @Option(
        help: ArgumentHelp("Write a line of JSON a second while the run lasts; - for standard output (default: none).", valueName: "file"))
    var stream: String?

    @Option(
        help: ArgumentHelp("Tell Prometheus the figures while the run lasts, at /metrics (default: nobody).", valueName: "address:port"))
    var metrics: String?

    @Option(
        help: ArgumentHelp("Show the run in a browser while it lasts, and its report then (default: not shown).", valueName: "address:port")
    )
    var web: String?
}
