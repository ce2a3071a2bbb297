import Audio
import Foundation
import Testing

/// aiortc with a little SIP (`Scenarios/webrtc-phone.py`): ICE as a full agent, DTLS-SRTP, RTCP on the port of RTP. `scripts/test` installs
/// it.
final class WebRTCPhone: Sendable {
    struct Plan {
        var user: String
        /// `opus` or `PCMU`.
        var codec: String
        var port: UInt16
        /// What it says.
        var source: String
        /// Whom it calls, and for how many seconds of sound it listens; nil: it registers and answers.
        var call: (number: String, seconds: Double)?
    }

    let program: Program
    private let folder: String

    static func start(_ plan: Plan, at gateway: Gateway) throws -> WebRTCPhone {
        let folder = try gateway.folder.folder("webrtc-\(plan.user)-\(plan.port)")
        var words = [
            Place.scenario("webrtc-phone.py"), plan.call == nil ? "answer" : "call", "--server", gateway.address, "--port", "\(plan.port)",
        ]
        words += [
            "--user", plan.user, "--password", "secret-\(plan.user)", "--codec", plan.codec, "--play", plan.source, "--record",
            folder + "/heard.wav",
        ]
        if let call = plan.call { words += ["--number", call.number, "--seconds", "\(call.seconds)"] }
        return WebRTCPhone(try Program(Place.python, words, playsSound: true), folder)
    }

    private init(_ program: Program, _ folder: String) { (self.program, self.folder) = (program, folder) }

    func waitUntilRegistered() async throws { try await program.line(containing: "REGISTERED") }

    /// It has ended, and nothing went wrong with it.
    func waitUntilEnded(within limit: Duration = .seconds(40)) async throws {
        let code = try await program.exitCode(within: limit)
        guard code == 0 else { throw Unmet("the WebRTC phone ended with \(code).\(program.transcript)") }
    }

    func recording() throws -> WAV { try Recordings.read(folder + "/heard.wav") }
}
