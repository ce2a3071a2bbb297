import ArgumentParser
import Foundation
import Workbench

/// What is typed at `hookswitch load`.
struct LoadOptions: ParsableArguments {
    @Argument(help: "sip:9196@127.0.0.1:5060; with --accounts a server alone, as 127.0.0.1:5060.") var target: String?

    @OptionGroup(title: "By what way") var phone: PhoneOptions

    @Option(help: ArgumentHelp("Lines of the target that the tool registers and plays.", valueName: "first..last"))
    var accounts: String?

    @Option(help: ArgumentHelp("Calls a second (default: 10).", valueName: "n"))
    var rate: Double?

    @Flag(help: "Calls begin by chance, as people's do, at the same mean rate.") var poisson = false

    @Option(
        help: ArgumentHelp(
            "Rates in steps, as 10:100:10:30: from 10 to 100 by 10, each for 30 s (default: 10:1000:10:10 with --find-knee).",
            valueName: "from:to:step:every"))
    var ramp: String?

    @Option(help: ArgumentHelp("Begin so many calls (default: as many as --duration allows).", valueName: "n"))
    var calls: Int?

    @Option(help: ArgumentHelp("Begin calls for so long (default: 60 without --calls and --ramp).", valueName: "s"))
    var duration: Double?

    @Option(
        help: ArgumentHelp(
            "At most so many at a time; more are not begun, and counted (default: as many as rate and hold time make).", valueName: "n"))
    var concurrent: Int?

    @Option(help: ArgumentHelp("How long each lasts: 10, or exponential:10 for a mean of 10 s (default: 10).", valueName: "s"))
    var hold: String?

    @Option(
        help: ArgumentHelp(
            "Percentages of other calls: hold=5,dtmf=10,reinvite=2,cancel=3,busy=1 (default: plain calls alone).", valueName: "kind=%,…"))
    var mix: String?

    @Option(help: ArgumentHelp("The keys that dtmf calls press.", valueName: "keys"))
    var keys = "159#"

    @Option(help: ArgumentHelp("Listen to a share of the calls, as 10% (default: as many as 64 at a time).", valueName: "share"))
    var listen: String?

    @Option(help: ArgumentHelp("What comes back: sound, echo (our own, or it is a fault), nothing.", valueName: "what"))
    var expect = "sound"

    @Flag(help: "The target leads the calls back to this tool (--local), which answers them.") var bothEnds = false

    @Option(help: ArgumentHelp("The tool's own callees ring so long.", valueName: "ms"))
    var answerAfter = 0

    @Option(help: ArgumentHelp("Cancel what is not answered for so long.", valueName: "s"))
    var timeout: Double = 32

    @Option(help: ArgumentHelp("What the run has to keep: 'setup_p95<200ms,failed<0.1%'.", valueName: "terms"))
    var slo: String?

    @Flag(help: "Raise the rate by --ramp until --slo breaks; tell the last step that held.") var findKnee = false

    @Option(help: ArgumentHelp("How long a step goes on before it is judged (default: a fifth of the step, 3 at most).", valueName: "s"))
    var settle: Double?

    @Flag(help: "Call an echo of the tool's own, up to --concurrent (2000) at a time: how many can it drive in time here?") var calibrate =
        false

    @Option(help: ArgumentHelp("Calls as this file says (YAML); options given as well go before it.", valueName: "file"))
    var scenario: String?

    @Option(name: .customLong("target"), help: .hidden) var scenarioTarget: String?

    @Option(help: ArgumentHelp("What a plain call does in place of --hold: wait=1,press=12#,hold=2,reinvite,hang-up.", valueName: "step,…"))
    var steps: String?

    @Flag(help: "Check everything, make one call as the run would, and end.") var dryRun = false

    @Option(help: ArgumentHelp("The gateway's journal: after the run it must be back to where it was.", valueName: "file"))
    var targetJournal: String?

    @Option(help: ArgumentHelp("The gateway's process, on this machine: its descriptors and memory must not grow.", valueName: "pid"))
    var targetPid: Int?

    @Option(help: ArgumentHelp("The same number makes the same calls (default: by chance).", valueName: "n"))
    var seed: UInt64?

    @Option(help: ArgumentHelp("Write the report as JSON; - for standard output.", valueName: "file"))
    var json: String?

    @Option(help: ArgumentHelp("Write a line for each call as CSV.", valueName: "file"))
    var csv: String?

    @Option(help: ArgumentHelp("Write the verdicts as JUnit XML.", valueName: "file"))
    var junit: String?

    @Option(help: ArgumentHelp("Write one page with plots.", valueName: "file"))
    var html: String?
}
