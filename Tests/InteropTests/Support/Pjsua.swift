import Audio
import Foundation
import Testing

/// pjsip's telephone (`Scenarios/pjsua-phone.py`), registered at the gateway and steered over a pipe. `scripts/test` installs it.
///
/// As it comes from its registry it has no Opus, no DTLS, and no ICE on loopback.
final class Pjsua: Sendable {
    struct Plan {
        var user: String
        /// `PCMU`, `PCMA`, `G722` or `L16/44100/1`.
        var codec: String
        /// `udp`, `tcp` or `tls`.
        var transport = "udp"
        /// `none` or `sdes`.
        var encryption = "none"
        var port: UInt16
        var mediaPort: UInt16
        /// What it says.
        var source: String
        /// Takes every call.
        var answers = false
        /// Of its own sound and its recording, in Hz.
        var rate = 16_000
    }

    let program: Program
    private let commands: CommandPipe
    private let recordingFile: String

    /// Starts it and waits until it has registered.
    static func start(_ plan: Plan, at gateway: Gateway) async throws -> Pjsua {
        let folder = try gateway.folder.folder("pjsua-\(plan.user)-\(plan.port)")
        let commands = try CommandPipe(folder + "/in"), recording = folder + "/heard.wav"
        let server = plan.transport == "tls" ? "127.0.0.1:\(gateway.tlsPort)" : gateway.address
        var words = [Place.scenario("pjsua-phone.py"), "--server", server, "--port", "\(plan.port)", "--media-port", "\(plan.mediaPort)"]
        words += [
            "--user", plan.user, "--password", "secret-\(plan.user)", "--codec", plan.codec, "--rate", "\(plan.rate)", "--encryption",
            plan.encryption,
        ]
        words += [
            "--transport", plan.transport, "--ca", Place.certificate("ca.pem"), "--play", plan.source, "--record", recording, "--commands",
            commands.path,
        ]
        let phone = Pjsua(try Program(Place.python, words + (plan.answers ? ["--answers"] : []), playsSound: true), commands, recording)
        try await phone.program.line(containing: "REGISTERED")
        return phone
    }

    private init(_ program: Program, _ commands: CommandPipe, _ recordingFile: String) {
        (self.program, self.commands, self.recordingFile) = (program, commands, recordingFile)
    }

    /// `dial NUMBER`, `answer STATUS`, `hold`, `resume`, `update`, `keys 12#`, `info 12#`, `transfer NUMBER` or `hang up`.
    func say(_ command: String) { commands.say(command) }

    /// The first line from `start` on in which it says that.
    @discardableResult
    func event(_ text: String, from start: Int = 0) async throws -> String { try await program.line(containing: text, from: start) }

    /// How much it has said: where to look from for what comes next.
    var position: Int { program.lines.end }

    /// It stops, and its recording is whole.
    func recording() async throws -> WAV {
        say("quit")
        try await program.exitCode(within: .seconds(10))
        return try Recordings.read(recordingFile)
    }
}
