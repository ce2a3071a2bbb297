import Audio
import CallJournal
import Foundation
import Gateway
import Primitives
import Synchronization
import Testing
import Workbench

@testable import hookswitch

/// Programs that come to the control interface, speak in calls that are up, and listen to them.
@Suite(.serialized, .timeLimit(.minutes(30))) struct StreamAttachTests {
    private static let echo = StreamProgram { message in
        if case .binary(let bytes) = message { [.binary(bytes)] } else { [] }
    }

    private static let silent = StreamProgram { _ in [] }

    /// A call beside the test, until the far end hangs up or its duration is over.
    private final class PlacedCall: Sendable {
        private let done = DispatchSemaphore(value: 0)
        private let outcome = Mutex<Result<CallResult, any Error>?>(nil)

        init(_ plan: CallPlan) {
            Thread.detachNewThread {
                let outcome = Result { try CallRun(plan, reporter: ProgressReporter(nil)).perform().result }
                self.outcome.withLock { $0 = outcome }
                self.done.signal()
            }
        }

        func result() throws -> CallResult {
            done.wait()
            return try #require(try outcome.withLock { try $0?.get() })
        }
    }

    private func presence(of frequency: Double, in samples: [Int16], _ rate: Int) -> Double {
        var detector = ToneDetector(frequency: frequency, sampleRate: rate)
        detector.listen(to: samples.span)
        return detector.presence
    }

    private func heard(_ frequency: Double, in place: SoundGateway) throws -> Double {
        let sound = try WAV(contentsOf: place.folder.path + "/heard.wav")
        return presence(of: frequency, in: sound.samples, sound.sampleRate)
    }

    private func samples(_ bytes: [UInt8]) -> [Int16] {
        (0..<bytes.count / 2).map { Int16(bitPattern: UInt16(bytes[2 * $0]) | UInt16(bytes[2 * $0 + 1]) << 8) }
    }

    private func stops(_ journal: [JournalEvent]) -> [String] {
        journal.filter { $0.kind == .streamStopped }.map {
            "\($0.details.text(.direction) ?? "") \($0.details.text(.cause) ?? "")"
        }
    }

    @Test func `a call whose line waits for its program is spoken in when that comes`() throws {
        let place = try SoundGateway { _ in #"{ number: "9300", application: stream, url: api, format: raw, encoding: l16/8000 }"# }
        let call = PlacedCall(try place.plan("9300 --tone 440 --duration 3 --codec pcmu --record \(place.folder.path)/heard.wav"))
        let id = try #require(place.call(with: .streamStarted)), target = "/v1/calls/\(id)/stream"
        #expect(Self.silent.come(to: place.api, target + "?format=twilio") == 409, "of another format")
        #expect(Self.echo.come(to: place.api, target) == 101)
        #expect(Self.silent.come(to: place.api, target) == 409, "a second one")
        #expect(try call.result().status == 200)
        let presence = try heard(440, in: place)
        #expect(presence > 0.5, "\(presence)")
        place.waits(5) { place.streams.open == 0 }
        #expect(place.streams.open == 0 && place.streams.ends == [.callEnded: 1])
        let journal = try place.expectCleanEnd()
        #expect(stops(journal) == ["both call-ended"])
        #expect(journal.first { $0.kind == .streamStarted }?.details.text(.remote) == "api")
    }

    @Test func `where nobody comes the call goes the way of a program that failed`() throws {
        let place = try SoundGateway { folder in
            try folder.write(tone: 900, seconds: 1, to: "sorry.wav")
            return #"{ number: "9300", application: stream, url: api, on-failure: { announcement: "\#(folder.path)/sorry.wav" } }"#
        }
        let outcome = try place.call("9300 --duration 20 --codec pcmu --record \(place.folder.path)/heard.wav").perform()
        #expect(CallText.status(outcome.result).contains("ended by the other side"))
        let presence = try heard(900, in: place)
        #expect(presence > 0.05, "\(presence)")
        #expect(stops(try place.expectCleanEnd()) == ["both timeout"])
    }

    @Test func `a program takes the place of an application, and the call ends with it`() throws {
        let place = try SoundGateway { folder in
            try folder.write(tone: 900, seconds: 1, to: "music.wav")
            return #"{ number: "9300", application: playback, file: "\#(folder.path)/music.wav", loop: true }"#
        }
        let call = PlacedCall(try place.plan("9300 --tone 440 --duration 20 --codec pcmu --record \(place.folder.path)/heard.wav"))
        let id = try #require(place.call(with: .mediaStarted)), target = "/v1/calls/\(id)/stream"
        #expect(Self.silent.come(to: place.api, target + "?tap=in") == 403, "its line lets nobody listen")
        #expect(Self.echo.come(to: place.api, target + "?format=raw&encoding=l16/8000") == 101)
        let before = Self.echo.soundCount
        #expect(place.waits(20) { Self.echo.soundCount > before + 75 })
        #expect(try place.ask("DELETE", target) == 204)
        #expect(CallText.status(try call.result()).contains("ended by the other side"))
        let presence = try heard(440, in: place)
        #expect(presence > 0.3, "\(presence)")
        #expect(stops(try place.expectCleanEnd()) == ["both detached"])
    }

    @Test func `both directions of two who talk are heard apart, and the two hear each other`() throws {
        let phone = try SIPPort(), callee = try phone.answer("--calls 1 --tone 700 --codec pcmu")
        let place = try SoundGateway { _ in
            #"{ number: "9300", tap: true, trunk: { host: "\#(phone.address)" } }"#
        }
        let program = StreamProgram { _ in [] }
        let call = PlacedCall(try place.plan("9300 --tone 440 --duration 4 --codec pcmu --record \(place.folder.path)/heard.wav"))
        let id = try #require(place.call(with: .reportIncoming)), _ = try #require(place.call(with: .mediaStarted, 1)),
            other = try #require(place.call(with: .performStart))
        let target = "/v1/calls/\(other)/stream?format=raw&encoding=l16/8000&tap="
        #expect(program.come(to: place.api, "/v1/calls/\(id)/stream?format=raw&tap=both") == 101)
        #expect(Self.silent.come(to: place.api, target.replacingOccurrences(of: "&tap=", with: "")) == 409, "it would speak in between")
        #expect(Self.silent.come(to: place.api, target + "none") == 400)
        _ = try call.result()
        try callee.wait()
        let presence = try heard(700, in: place)
        #expect(presence > 0.5, "\(presence)")
        let journal = try place.expectCleanEnd()
        let sound = samples(program.sound), left = sound.indices.filter { $0 % 2 == 0 }.map { sound[$0] },
            right = sound.indices.filter { $0 % 2 == 1 }.map { sound[$0] }
        #expect(self.presence(of: 440, in: left, 16_000) > 0.5 && self.presence(of: 700, in: left, 16_000) < 0.1)
        #expect(self.presence(of: 700, in: right, 16_000) > 0.5 && self.presence(of: 440, in: right, 16_000) < 0.1)
        #expect(stops(journal) == ["tap-both call-ended"])
        #expect(program.words.first?.contains(#""channels":2"#) == true)
    }

    @Test func `the server calls who is to listen, and the call outlives the listener`() throws {
        let place = try SoundGateway { _ in #"{ number: "9300", application: echo, tap: true }"# }
        let program = StreamProgram { message in
            if case .binary(let bytes) = message { [.binary(bytes)] } else { [] }
        }
        let call = PlacedCall(try place.plan("9300 --tone 440 --duration 4 --codec pcmu --record \(place.folder.path)/heard.wav"))
        let id = try #require(place.call(with: .mediaStarted)), target = "/v1/calls/\(id)/stream"
        let form = #"{"url":"\#(program.url)","format":"raw","encoding":"l16/8000","tap":"out","headers":[{"name":"X-A","value":"b"}]}"#
        #expect(try place.ask("POST", target, form) == 202)
        #expect(place.waits(20) { program.soundCount > 50 })
        #expect(try place.ask("POST", target, form) == 409, "one at a time")
        #expect(try place.ask("DELETE", target) == 204)
        #expect(try place.ask("DELETE", target) == 404)
        #expect(try place.ask("POST", "/v1/calls/\(UUID())/stream", form) == 404)
        let result = try call.result()
        #expect(result.status == 200 && !CallText.status(result).contains("ended by the other side"))
        #expect(self.presence(of: 440, in: samples(program.sound), 8_000) > 0.5)
        let journal = try place.expectCleanEnd()
        #expect(stops(journal) == ["tap-out detached"])
        #expect(program.heads.first?.contains("X-A: b\r\n") == true)
        let counts = journal.last { $0.kind == .streamStopped }?.details.text(.text)?.description ?? ""
        #expect(counts.contains("unknown:"), "it does not speak")
    }
}
