import Audio
import Foundation
import Media
import Primitives
import SIP
import Synchronization
import Testing
import Workbench

/// Over the sockets of this machine, in real time.
@Suite struct LiveTests {
    @Test(.timeLimit(.minutes(30))) func `two telephones on loopback call each other, and what was played comes back and is in the file`()
        throws
    {
        var answerSettings = LivePhoneSettings(user: "callee", server: SocketAddress(.loopback, port: 5060))
        answerSettings.mediaPorts = 8_400...8_499
        let callee = try LivePhone(answerSettings) { phone in
            var policy = AnswerPolicy()
            (policy.totalCalls, policy.answersAfter) = (1, .milliseconds(50))
            policy.script.source = .echo
            return LoadClient(phone: phone, plan: .answering(policy))
        }
        let path = NSTemporaryDirectory() + "hookswitch-\(callee.address.port).wav"
        defer { try? FileManager.default.removeItem(atPath: path) }
        let record = Mutex<CallRecord?>(nil)
        var callSettings = LivePhoneSettings(user: "caller", server: callee.address)
        callSettings.mediaPorts = 8_500...8_599
        let caller = try LivePhone(callSettings) { [callee] phone in
            var script = CallScript()
            script.source = samples(seed: 1, seconds: 2)
            script.expectation = .echo
            script.hangUpAfterPlaying = .milliseconds(300)
            script.tellsRecording = true
            let client = LoadClient(phone: phone, plan: .call(URI(user: "callee", address: callee.address), script))
            let file = try? WAVFile(path: path)
            client.onEvent = { event, _ in
                switch event {
                case .leg(_, .recorded(let samples, let rate)): file?.append(samples, sampleRate: rate)
                case .call(let call): record.withLock { $0 = call.caller }
                case .finished: file?.finish()
                default: break
                }
            }
            return client
        }
        #expect(caller.waitUntilFinished(timeout: .seconds(30)) && callee.waitUntilFinished(timeout: .seconds(30)))
        caller.close()
        callee.close()
        let ended = try #require(record.withLock { $0 }), result = ended.result()
        #expect(result.verdict == .bothWays && result.isGood)
        #expect(try #require(result.packets).received > 80)
        let file = try WAV(contentsOf: path)
        #expect(file.sampleRate == 48_000)
        #expect(
            try SignalCorrelation(sent: babble(seed: 1, seconds: 2), received: file.resampled(to: 8_000).samples, sampleRate: 8_000).matches
        )
    }

    @Test func `a port in use is one sentence`() throws {
        let settings = LivePhoneSettings(user: "one", server: SocketAddress(.loopback, port: 5060))
        let first = try LivePhone(settings) { LoadClient(phone: $0, plan: .answering(AnswerPolicy())) }
        defer { first.close() }
        var taken = settings
        taken.port = first.address.port
        do throws(LivePhoneError) {
            try LivePhone(taken) { LoadClient(phone: $0, plan: .answering(AnswerPolicy())) }.close()
            Issue.record("the port was taken twice")
        } catch {
            #expect(error.description.contains("\(taken.port)"))
        }
    }

    @Test(arguments: [
        ("/nonexistent.wav", WAVFileError.cannotRead("/nonexistent.wav")), ("/dev/null", .notAudio("/dev/null", .wav(.notWAV))),
    ])
    func `a file that cannot be played says why`(path: String, error: WAVFileError) {
        #expect(throws: error) { _ = try WAV(contentsOf: path) }
    }

    /// Seven minutes of 24 bits in stereo are as long; what is beside the samples is cheaper to read.
    @Test func `a file is not called too long for its bytes`() throws {
        let path = NSTemporaryDirectory() + "hookswitch-long-\(UUID()).wav", sound = WAV(sampleRate: 8_000, samples: [1, 2, 3]),
            padding: UInt32 = 121_000_000
        defer { try? FileManager.default.removeItem(atPath: path) }
        let size = withUnsafeBytes(of: padding.littleEndian) { Array($0) }, bytes = sound.serialized()
        try Data(bytes[..<12] + Array("JUNK".utf8) + size).write(to: URL(filePath: path))
        let file = try #require(FileHandle(forWritingAtPath: path))
        try file.truncate(atOffset: 20 + UInt64(padding))
        try file.seekToEnd()
        try file.write(contentsOf: Data(bytes[12...]))
        try file.close()
        #expect(try WAV(contentsOf: path).samples == [1, 2, 3])
    }
}
