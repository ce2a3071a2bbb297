import Audio
import Foundation
import Gateway
import Primitives
import RTP
import Testing
import Workbench

@testable import hookswitch

/// A public framework for voice agents at the other end of a stream, with its own serializer as it stands: pipecat, of `.build/agents`.
@Suite(.serialized, .timeLimit(.minutes(10))) struct VoiceAgentTests {
    @Test func `an agent on pipecat hears the caller, speaks, is interrupted, and hangs up`() throws {
        let port = try FreePorts.block(of: 1, .v4).lowerBound, agent = try Agent(port: port)
        #expect(agent.wait(for: "LISTENS"), "\(agent.lines)")
        let place = try SoundGateway { _ in #"{ number: "9300", application: stream, url: "ws://127.0.0.1:\#(port)/calls" }"# }
        var plan = try place.plan("9300 --tone 440 --duration 60 --codec pcmu --record \(place.folder.path)/heard.wav")
        plan.script.duration = nil
        // It speaks half a second after the answer; the first key silences it, the second has it hang up.
        plan.script.steps = [
            .wait(.milliseconds(4_000)), .press([.init("5")!]), .wait(.milliseconds(2_500)), .press([.init("9")!]), .wait(.seconds(20)),
            .hangUp,
        ]
        let outcome = try CallRun(plan, reporter: ProgressReporter(nil)).perform()
        #expect(CallText.status(outcome.result).contains("ended by the other side"), "\(agent.lines)")
        #expect(agent.wait(for: "CALL OVER"), "\(agent.lines)")
        #expect(agent.lines == ["LISTENS", "CALL twilio hookswitch 9300", "HEARD", "INTERRUPTED", "ENDS", "CALL OVER"])
        let sound = try WAV(contentsOf: place.folder.path + "/heard.wav"), rate = sound.sampleRate
        #expect(presence(of: 700, in: sound.samples.dropFirst(rate * 3 / 2).prefix(rate * 3 / 2), rate) > 0.7)
        #expect(presence(of: 700, in: sound.samples.dropFirst(rate * 5).prefix(rate), rate) < 0.1, "it was interrupted")
        let journal = try place.expectCleanEnd()
        #expect(journal.last { $0.kind == .streamStopped }?.details.text(.cause) == "closed")
    }

    @Test(arguments: [("server.pem", "call-ended"), ("domain.pem", "tls")])
    func `over TLS an agent is heard, unless its certificate has another name`(certificate: String, end: String) throws {
        let port = try FreePorts.block(of: 1, .v4).lowerBound, folder = Self.root.appending(path: "Tests/Corpus/certificates").path
        let agent = try Agent(port: port, ["\(folder)/\(certificate)", "\(folder)/leaf.key"])
        #expect(agent.wait(for: "LISTENS"), "\(agent.lines)")
        let place = try SoundGateway(sip: "tls: { ca: \(folder)/ca.pem }") { _ in
            #"{ number: "9300", application: stream, url: "wss://localhost:\#(port)/calls" }"#
        }
        let call = try place.call("9300 --tone 440 --duration 4 --codec pcmu --record \(place.folder.path)/heard.wav")
        let outcome = try call.perform()
        #expect(outcome.result.status == 200)
        if end == "call-ended" {
            let sound = try WAV(contentsOf: place.folder.path + "/heard.wav"), rate = sound.sampleRate
            #expect(presence(of: 700, in: sound.samples.dropFirst(rate * 2).prefix(rate), rate) > 0.7, "\(agent.lines)")
        }
        #expect(try place.expectCleanEnd().last { $0.kind == .streamStopped }?.details.text(.cause)?.description == end)
    }

    private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    private func presence(of frequency: Double, in samples: ArraySlice<Int16>, _ rate: Int) -> Double {
        var detector = ToneDetector(frequency: frequency, sampleRate: rate)
        detector.listen(to: Array(samples).span)
        return detector.presence
    }

    /// The agent's process, and what it says.
    private final class Agent: @unchecked Sendable {
        /// The agent is over when its input is: it does not outlive the tests, however they end.
        private let process = Process(), said = NSCondition(), input = Pipe()
        private var text = ""

        /// - Parameter identity: the files of a certificate and its key; empty: in the clear.
        init(port: UInt16, _ identity: [String] = []) throws {
            process.executableURL = VoiceAgentTests.root.appending(path: ".build/agents/bin/python")
            let script = VoiceAgentTests.root.appending(path: "Tests/InteropTests/Scenarios/voice-agent.py").path
            process.arguments = [script, "\(port)"] + identity
            let output = Pipe()
            (process.standardInput, process.standardOutput) = (input, output)
            process.standardError = FileHandle.nullDevice
            try process.run()
            Thread.detachNewThread { [weak self] in
                while case let bytes = output.fileHandleForReading.availableData, !bytes.isEmpty { self?.note(bytes) }
            }
        }

        deinit {
            try? input.fileHandleForWriting.close()
            process.waitUntilExit()
        }

        private func note(_ bytes: Data) {
            said.lock()
            text += String(decoding: bytes, as: UTF8.self)
            said.broadcast()
            said.unlock()
        }

        var lines: [String] {
            said.lock()
            defer { said.unlock() }
            return text.split(separator: "\n").map(String.init)
        }

        /// Until it has said the line; false: it did not within a minute.
        func wait(for line: String) -> Bool {
            let end = Date() + 60
            said.lock()
            defer { said.unlock() }
            while !text.split(separator: "\n").contains(Substring(line)) {
                guard said.wait(until: end) else { return false }
            }
            return true
        }
    }
}
