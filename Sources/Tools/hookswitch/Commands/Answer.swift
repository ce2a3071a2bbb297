import ArgumentParser
import Foundation
import Primitives
import SDP
import UserAgent
import Workbench

struct Answer: ExplainedCommand {
    static let exits: KeyValuePairs<ExitStatus, String> = [
        .good: "it ended in good order",
        .bad: "the registration is refused",
        .cannotRun: "the port is in use, or a file cannot be used",
    ]

    static let configuration = CommandConfiguration(
        abstract: "Be a telephone that answers, or does not.",
        discussion: """
            Sends every call its own sound back unless told otherwise. Ends after --calls, or by SIGTERM or SIGINT: then it hangs up, takes its \
            registration back, and exits with 0. \(ExitStatus.sentence(exits))

            Examples:
              hookswitch answer --register 1002 --password secret-1002 --server 127.0.0.1
              hookswitch answer --listen 127.0.0.1:5070 --after 2000 --play hello.wav --record heard.wav --calls 1 --json
              hookswitch answer --listen 127.0.0.1:5070 --manual --json-lines

            \(PhoneInterface.help) Of a call that rings: answer, reject 486.
            """)

    @OptionGroup(title: "By what way") var options: PhoneOptions
    @OptionGroup var line: RegistrationOptions

    @Option(help: ArgumentHelp("As --local (default: without either, and without a server, 127.0.0.1:5070).", valueName: "address:port"))
    var listen: String?

    @Option(help: ArgumentHelp("Ring so long before answering.", valueName: "ms"))
    var after = 200

    @Flag(help: "Let calls ring until standard input says answer or reject; with --json-lines.") var manual = false

    @Option(
        help: ArgumentHelp("Refuse every call with this status instead: 486 busy, 603 declined (default: answer).", valueName: "status"))
    var reject: Int?

    @Option(help: ArgumentHelp("Be busy (486) for every n-th call (default: for none).", valueName: "n"))
    var busyEvery: Int?

    @Flag(help: "Send back what comes (default: on without --play and --tone).") var echo = false

    @Option(help: ArgumentHelp("Play this WAV file, again and again (default: what comes is sent back).", valueName: "wav"))
    var play: String?

    @Option(help: ArgumentHelp("Play a tone of so many Hz (default: none).", valueName: "hz"))
    var tone: Double?

    @Option(
        help: ArgumentHelp(
            "Write what is heard to this WAV file; further calls get a number in the name (default: none).", valueName: "wav"))
    var record: String?

    @Option(help: ArgumentHelp("End after so many calls, refused ones included (default: by a signal).", valueName: "n"))
    var calls: Int?

    @Flag(
        help:
            "Print one JSON object a line for each call that is over, with its number and the file of --record; all else goes to standard error."
    ) var json = false

    @Flag(help: "Print one JSON object a line for each thing that happens, take commands from standard input, all else to standard error.")
    var jsonLines = false

    func run() throws {
        let plan = try plan(), reporter = ProgressReporter(json || jsonLines ? .standardError : .standardOutput)
        let interface = jsonLines ? PhoneInterface(PhoneLines(reporter: reporter)) : nil
        defer { reporter.finish() }
        try AnswerRun(plan, reporter: reporter, interface: interface) { number, result, file in
            let call = AnsweredCall(number: number, recordedIn: file, result: result)
            if let lines = interface?.lines {
                lines.tellResult(call, of: number, recordedIn: nil)
            } else if json {
                try printJSONLine(call)
            } else {
                reporter.say("call \(number) is over\n" + Self.indented(CallText.result(result, recordedIn: file)))
            }
        }.perform()
        try interface?.lines.finish()
    }

    /// A line of `--json`: the result, with the call's number and the file that its sound is in.
    struct AnsweredCall: Encodable {
        enum CodingKeys: CodingKey { case number, recordedIn }

        var number: UInt64
        var recordedIn: String?
        var result: CallResult

        func encode(to encoder: any Encoder) throws {
            try result.encode(to: encoder)
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(number, forKey: .number)
            try container.encodeIfPresent(recordedIn, forKey: .recordedIn)
        }
    }

    private static func indented(_ text: String) -> String { text.split(separator: "\n").map { "    " + $0 }.joined(separator: "\n") }

    /// - Throws: a `Failure` in one line: 2 for what was typed, 3 for files and ports.
    func plan() throws -> AnswerPlan {
        let server = try phone.serverAddress(), registration = try line.registration()
        if registration != nil, server == nil { throw Failure.usage("--register needs --server: where to register?") }
        if options.local != nil, listen != nil { throw Failure.usage("--local and --listen exclude each other: both name the place") }
        if registration != nil, phone.from != nil {
            throw Failure.usage("--from and --register exclude each other: a registered line answers as itself")
        }
        if phone.password != nil, registration == nil { throw Failure.usage("--password needs --register: whose password is it?") }
        if echo, play != nil || tone != nil { throw Failure.usage("--echo excludes --play and --tone") }
        var policy = try policy()
        let sound = try Sound(play: play, tone: tone, otherwise: .echo)
        let recordings = try record.map { try CallRecordings(path: $0.named(by: "--record")) }
        (policy.script.source, policy.script.expectation, policy.script.tellsRecording) = (
            sound.source(repeats: true), .sound, recordings != nil
        )

        return AnswerPlan(
            settings: try settings(server, registration, calls: policy.maximumCalls), policy: policy, registers: registration != nil,
            recordings: recordings)
    }

    private static let ownPlace = SocketAddress(.loopback, port: 5_070)

    /// Both names of the place as one.
    private var phone: PhoneOptions {
        var phone = options
        phone.local = phone.local ?? listen
        return phone
    }

    private func settings(_ server: SocketAddress?, _ registration: Identity?, calls: Int) throws -> LivePhoneSettings {
        let localOption = options.local == nil ? "--listen" : "--local"
        let place = try phone.place(defaultPort: 5_060, option: localOption) ?? (server == nil ? Self.ownPlace : nil)
        var settings = try phone.settings(
            user: try registration?.user ?? phone.caller()?.user ?? "hookswitch", server: server ?? place ?? Self.ownPlace,
            transport: try phone.wantedTransport() ?? .udp,
            host: registration?.domain, codecs: PhoneOptions.everyCodec, isCalled: registration == nil, localOption: localOption)
        (settings.address, settings.port, settings.domain) = (place?.address, place?.port ?? 0, registration?.domain)
        settings.mediaPorts = try phone.portRange() ?? FreePorts.block(of: 4 * calls, settings.server.address.family)
        if jsonLines { settings.furtherMethods = PhoneInterface.methods }
        if let registration, let password = phone.password {
            settings.credentials = .init(username: registration.user, password: Text(password))
        }
        return settings
    }

    private func policy() throws -> AnswerPolicy {
        var policy = AnswerPolicy()
        if manual, !jsonLines { throw Failure.usage("--manual needs --json-lines: who would answer?") }
        let delay = try Bounded.whole(after, option: "--after", of: "milliseconds", in: 0...3_600_000)
        policy.answersAfter = manual ? nil : .milliseconds(delay)
        policy.refusal = try reject.map { try Bounded.whole($0, option: "--reject", of: "a status", in: 300...699) }
        policy.busyEvery = try busyEvery.map { try Bounded.whole($0, option: "--busy-every", of: "a number of calls", in: 1...1_000_000) }
        policy.totalCalls = try calls.map { try Bounded.whole($0, option: "--calls", of: "a number of calls", in: 1...1_000_000_000) }
        policy.maximumCalls = 64
        return policy
    }
}
