import ArgumentParser
import Foundation
import Primitives
import RTP
import SDP
import SIP
import UserAgent
import Workbench

struct Call: ExplainedCommand {
    static let exits: KeyValuePairs<ExitStatus, String> = [
        .good: "the call was answered and sound arrived to the end",
        .bad: "it failed, was silent or stopped",
        .cannotRun: "it could not be tried: no port is free, or a file cannot be used",
    ]

    static let configuration = CommandConfiguration(
        abstract: "Make a call, listen, and judge its sound.",
        discussion: """
            Plays a signal like speech unless told otherwise, and listens whether it comes back; any other sound will do too, \
            but what comes back has to go on to the end. An announcement may end with --expect prompt. \(ExitStatus.sentence(exits))

            Examples:
              hookswitch call sip:9196@127.0.0.1 --duration 3
              hookswitch call 1002 --server 127.0.0.1 --register 1001 --password secret-1001 --play hello.wav --record heard.wav
              hookswitch call sips:9196@127.0.0.1 --ca ca.pem --srtp dtls
              hookswitch call sip:9196@127.0.0.1 --duration 60 --json-lines

            \(PhoneInterface.help)
            """)

    @Argument(help: "sip:9196@127.0.0.1:5060, or a number alone with --server.") var target: String
    @OptionGroup(title: "By what way") var phone: PhoneOptions
    @OptionGroup var line: RegistrationOptions

    @Option(
        help: ArgumentHelp(
            "Play this WAV file: once and hang up, or again and again for --duration (default: a signal like speech).", valueName: "wav"))
    var play: String?

    @Option(help: ArgumentHelp("Play a tone of so many Hz (default: none).", valueName: "hz"))
    var tone: Double?

    @Option(help: ArgumentHelp("Write what is heard to this WAV file (default: none).", valueName: "wav"))
    var record: String?

    @Option(help: ArgumentHelp("Press these keys half a second after the answer: 0-9, *, #, A-D (default: none).", valueName: "keys"))
    var dtmf: String?

    @Option(help: ArgumentHelp("Hang up so many seconds after the answer (default: 5, or the end of the file).", valueName: "s"))
    var duration: Double?

    @Option(help: ArgumentHelp("Cancel when there is no answer for so many seconds.", valueName: "s"))
    var timeout = 60.0

    @Option(
        help: ArgumentHelp("What comes back: sound (any, to the end), prompt (any, may end), echo (our own), nothing.", valueName: "what"))
    var expect = "sound"

    @Flag(help: "Print the result as one JSON object, and nothing else.") var json = false

    @Flag(help: "Print one JSON object a line for each thing that happens, the result as the last, and take commands from standard input.")
    var jsonLines = false

    func run() throws {
        let plan = try plan(), reporter = ProgressReporter(json || jsonLines ? nil : .standardOutput)
        let interface = jsonLines ? PhoneInterface(PhoneLines(reporter: reporter)) : nil
        let outcome = try CallRun(plan, reporter: reporter, interface: interface).perform()
        reporter.finish()
        try tell(outcome, interface?.lines)
        if let complaint = outcome.complaint { throw complaint }
        if !outcome.result.isGood { throw ExitCode(.bad) }
    }

    private func tell(_ outcome: CallOutcome, _ lines: PhoneLines?) throws {
        if let lines {
            lines.tellResult(outcome.result, of: outcome.result.callID.isEmpty ? nil : 1, recordedIn: outcome.recordedIn)
            try lines.finish()
        } else if json {
            try printJSON(outcome.result)
        } else {
            try StandardOutput.print(CallText.result(outcome.result, recordedIn: outcome.recordedIn))
        }
    }

    /// - Throws: a `Failure` in one line: 2 for what was typed, 3 for files and ports.
    func plan() throws -> CallPlan {
        let target = try CallTarget(target, server: try phone.serverAddress(), transport: try phone.wantedTransport())
        let caller = try identity()
        let length = try duration.map { try Bounded.seconds($0, option: "--duration", in: 0.1...86_400) }
        let timeout = try Bounded.seconds(self.timeout, option: "--timeout", in: 1...3_600)
        let digits = try digits()
        let sound = try Sound(play: play, tone: tone, otherwise: .speech), expected = try ExpectedSound(option: expect)
        let recordings = try record.map { try CallRecordings(path: $0.named(by: "--record")) }
        return CallPlan(
            target: target.uri, settings: try settings(target, caller), script: script(sound, expected, digits, length), sound: sound,
            registers: line.register != nil, timeout: timeout, recordings: recordings)
    }

    private func settings(_ target: CallTarget, _ caller: Identity?) throws -> LivePhoneSettings {
        var settings = try phone.settings(
            user: caller?.user ?? "hookswitch", server: target.server, transport: target.transport, host: target.uri.host,
            codecs: PhoneOptions.everyCodec, isCalled: false)
        settings.domain = caller?.domain
        settings.mediaPorts = try phone.portRange() ?? FreePorts.block(of: 8, target.server.address.family)
        if jsonLines { settings.furtherMethods = PhoneInterface.methods }
        if let caller, let password = phone.password { settings.credentials = .init(username: caller.user, password: Text(password)) }
        return settings
    }

    private func script(_ sound: Sound, _ expected: ExpectedSound, _ digits: [DTMFDigit], _ length: Duration?) -> CallScript {
        var script = CallScript()
        (script.source, script.digits, script.tellsRecording) = (sound.source(repeats: length != nil), digits, true)
        script.expectation = sound.expectation(of: expected)
        if case .recording = sound, length == nil {
            script.hangUpAfterPlaying = .milliseconds(300)
        } else {
            script.duration = length ?? Self.length(for: digits)
        }
        return script
    }

    private func identity() throws -> Identity? {
        let registered = try line.registration(), named = try phone.caller()
        if registered != nil, named != nil {
            throw Failure.usage("--from and --register exclude each other: a registered line calls as itself")
        }
        if phone.password != nil, registered == nil, named == nil {
            throw Failure.usage("--password needs --register or --from: whose password is it?")
        }
        return registered ?? named
    }

    private func digits() throws -> [DTMFDigit] {
        guard let dtmf else { return [] }
        let digits = dtmf.compactMap(DTMFDigit.init)
        guard (1...100).contains(digits.count), digits.count == dtmf.count else {
            throw Failure.usage("--dtmf takes up to 100 keys of 0-9, *, # and A-D, got '\(dtmf)'")
        }
        return digits
    }

    /// Five seconds, or longer where the keys need it.
    private static func length(for digits: [DTMFDigit]) -> Duration { max(.seconds(5), .milliseconds(1_500 + 300 * digits.count)) }
}
