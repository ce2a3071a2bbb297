import Audio
import Foundation
import Testing

/// A headless linphonec 5.1 with one account at the gateway, steered by what it reads.
///
/// It plays a WAV instead of a microphone, and writes what it hears into another, begun anew at each hold and resume.
final class Linphone: Sendable {
    struct Plan {
        var user: String
        /// The codec that it alone has, as its list shows it: `opus (48000)` or `PCMU (8000)`.
        var codec: String
        /// `none`, `srtp` or `dtls`.
        var encryption = "none"
        var port: UInt16
        var mediaPort: UInt16
        /// What it says.
        var source: String
        /// Takes every call.
        var answers = false
    }

    let program: Program
    private let commands: CommandPipe
    private let folder: String
    private let gateway: String
    private let codec: String

    /// Starts it and waits until it has registered.
    static func start(_ plan: Plan, at gateway: Gateway) async throws -> Linphone {
        let folder = try gateway.folder.folder("linphone-\(plan.user)-\(plan.port)")
        // Without these it does not open its sockets, and says nothing of it.
        for name in [".local/share/linphone", ".config/linphone"] {
            try FileManager.default.createDirectory(atPath: folder + "/" + name, withIntermediateDirectories: true)
        }
        try configuration(plan, gateway.address).write(toFile: folder + "/rc", atomically: true, encoding: .utf8)
        let commands = try CommandPipe(folder + "/in")
        let words = "exec linphonec \(plan.answers ? "-a" : "") -c \(folder)/rc -d 0 < \(commands.path)"
        let program = try Program("/bin/sh", ["-c", words], in: folder, environment: ["HOME": folder], playsSound: true)
        let phone = Linphone(program, commands, folder, gateway.address, plan.codec)
        try await phone.prepare(plan)
        return phone
    }

    private init(_ program: Program, _ commands: CommandPipe, _ folder: String, _ gateway: String, _ codec: String) {
        (self.program, self.commands, self.folder, self.gateway, self.codec) = (program, commands, folder, gateway, codec)
    }

    private static func configuration(_ plan: Plan, _ gateway: String) -> String {
        """
        [sip]
        sip_port=\(plan.port)
        sip_tcp_port=0
        sip_tls_port=0
        use_ipv6=0
        contact="\(plan.user)" <sip:\(plan.user)@127.0.0.1>
        default_proxy=0
        media_encryption=\(plan.encryption)
        [rtp]
        audio_rtp_port=\(plan.mediaPort)
        [video]
        capture=0
        display=0
        [proxy_0]
        reg_proxy=<sip:\(gateway)>
        reg_identity=sip:\(plan.user)@\(gateway)
        reg_expires=600
        reg_sendregister=1
        [auth_info_0]
        username=\(plan.user)
        passwd=secret-\(plan.user)
        realm=127.0.0.1

        """
    }

    private func prepare(_ plan: Plan) async throws {
        try await waitUntilRegistered()
        for command in ["soundcard use files", "play \(plan.source)", "record \(recordingFile)", "codec disable all", "codec list"] {
            say(command)
        }
        let line = try await program.line(containing: ": \(plan.codec)")
        guard let number = line.split(separator: ":").first?.split(separator: " ").last else {
            throw Unmet("linphonec has no \(plan.codec)")
        }
        say("codec enable \(number)")
        try await program.line(containing: "\(plan.codec) enabled")
    }

    /// It says so when asked.
    private func waitUntilRegistered() async throws {
        let start = ContinuousClock.now
        repeat {
            say("status register")
            if (try? await program.line(containing: "registered, identity=", within: .milliseconds(300))) != nil { return }
        } while program.isRunning && ContinuousClock.now - start < .seconds(20)
        throw Unmet("linphonec did not register.\(program.transcript)")
    }

    /// Waits until it has recorded that many seconds; the file has no header before the end of the call.
    func waitForRecording(of seconds: Double) async throws {
        let bytesPerSecond = codec.contains("48000") ? 96_000.0 : 16_000.0
        try await eventually("linphonec recorded \(seconds) s", within: .seconds(30)) {
            let size = (try? FileManager.default.attributesOfItem(atPath: recordingFile)[.size] as? Int) ?? 0
            return Double(size) >= 44 + seconds * bytesPerSecond
        }
    }

    var recordingFile: String { folder + "/heard.wav" }

    func dial(_ number: String) { say("call sip:\(number)@\(gateway)") }
    func hangUp() { say("terminate") }
    func waitUntilConnected() async throws { try await program.line(containing: "Media streams established") }
    func waitUntilEnded() async throws { try await program.line(containing: " ended") }

    private func say(_ command: String) { commands.say(command) }

    func recording() throws -> WAV { try Recordings.read(recordingFile) }
}
