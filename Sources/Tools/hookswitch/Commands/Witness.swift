import ArgumentParser
import Dispatch
import Foundation
import Gateway
import Primitives
import Runtime

struct WitnessCommand: ExplainedCommand {
    static let exits: KeyValuePairs<ExitStatus, String> = [
        .good: "the kernel and the journal agree on all that was seen",
        .bad: "they disagree, and a line names each port",
        .cannotRun: "nothing was seen: no gateway runs there, no call had a port, or the kernel may not be asked",
    ]

    static let configuration = CommandConfiguration(
        commandName: "witness",
        abstract: "Watch the kernel's sockets and packets beside a gateway that runs, and hold them against its journal.",
        discussion: """
            Runs where the gateway runs: on its machine, in its container. It asks the kernel (sock_diag) for the UDP sockets on the ports for media and \
            follows the journal. A line tells of each socket that is there while the journal says that no call has it open, and of each that the journal \
            says is open and that is not there; the last line is the verdict. Only what was so for the whole of a sample counts: what changes meanwhile \
            is no disagreement. A socket of RTCP on the odd port above an open one belongs to it.

            Where it may capture (CAP_NET_RAW) it reads the headers of the packets that leave, too. A line tells of each port from which \
            one left while the journal says that it is not open, and of RTP that left while the call's media did not run. --packets \
            insists on it, --no-packets leaves it out.

            It ends with --for, Ctrl-C, or the gateway. Where samples cost more than 1.5 % of a core they are taken less often than --every says. \
            Sockets of every program count unless --pid names the gateway's process, which only its own user and root may look at. \
            \(ExitStatus.sentence(exits))

            Examples:
              hookswitch witness --data data
              hookswitch witness --journal data/journal.jsonl --for 60 --json
              hookswitch witness --data data --pid 4711
            """)

    @Option(help: ArgumentHelp("The gateway's data folder, with its journal (default: HOOKSWITCH_DATA, else data).", valueName: "folder"))
    var data: String?
    @Option(help: ArgumentHelp("Its journal (default: journal.jsonl in the data folder).", valueName: "file")) var journal: String?
    @Option(help: ArgumentHelp("The ports for its media (default: as the journal says).", valueName: "first-last")) var ports: String?
    @Option(help: ArgumentHelp("Only sockets of this process count (default: those of all programs).", valueName: "n")) var pid: Int?
    @Option(help: ArgumentHelp("The milliseconds between two samples, at least.", valueName: "ms")) var every = 20
    @Option(name: .customLong("for"), help: ArgumentHelp("End after so many seconds (default: go on).", valueName: "s"))
    var duration: Double?
    @Flag(inversion: .prefixedNo, help: "Watch the packets that leave, too (default: where CAP_NET_RAW is there).") var packets: Bool?
    @Flag(help: "Print JSON objects, one a line; the last is the verdict.") var json = false

    func run() throws {
        let reporter = ProgressReporter(json ? nil : .standardError)
        var run = try WitnessRun.begin(try order(), reporter: reporter)
        let signals = SignalTrap(on: DispatchQueue(label: "witness")) { [end = run.ender] _ in end() }
        defer { withExtendedLifetime(signals) {} }
        let report = try run.perform { found in try json ? printJSONLine(found) : StandardOutput.print(found.text) }
        reporter.finish()
        try json ? printJSONLine(report) : StandardOutput.print(report.text)
        switch report.verdict {
        case .agree: break
        case .disagree: throw ExitCode(.bad)
        case .nothingSeen: throw ExitCode(.cannotRun)
        }
    }

    func order() throws -> WitnessOrder {
        guard data == nil || journal == nil else { throw Failure.usage("--journal names the file already: leave --data out") }
        let folder = DataPlaces.folder(data)
        var order = WitnessOrder(journal: try journal?.named(by: "--journal") ?? folder + "/journal.jsonl")
        order.ports = try ports.map { text in
            if let range = MediaPorts.range(text) { return range }
            throw Failure.usage("--ports takes a range from 1024 on as 20000-20199, got '\(text)'")
        }
        order.packets = packets
        order.process = try pid.map { Int32(try Bounded.whole($0, option: "--pid", of: "numbers", in: 1...Int(Int32.max))) }
        order.pause = .milliseconds(try Bounded.whole(every, option: "--every", of: "milliseconds", in: 1...10_000))
        order.duration = try duration.map { try Bounded.seconds($0, option: "--for", in: 0.1...1_000_000) }
        return order
    }
}
