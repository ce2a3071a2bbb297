import Audio
import Foundation
import Gateway
import Primitives
import RTP
import Streaming
import Synchronization
import Testing
import Workbench

@testable import hookswitch

/// Lines whose calls a program speaks in, from the configuration file to the sound that is heard.
@Suite(.serialized, .timeLimit(.minutes(30))) struct StreamLineTests {
    /// The payload of a message of sound of the format `twilio`.
    private static func payload(_ text: String) -> Substring? {
        text.range(of: #""payload":""#).map { text[$0.upperBound...].prefix { $0 != "\"" } }
    }

    private static let echo = StreamProgram { message in
        switch message {
        case .text(let text): payload(text).map { [.text(#"{"event":"media","media":{"payload":"\#($0)"}}"#)] } ?? []
        case .binary(let bytes): [.binary(bytes)]
        }
    }

    /// So many seconds of a tone, as bytes of L16 at 8 kHz or of µ-law.
    private static func tone(_ frequency: Double, seconds: Double, isMu: Bool) -> [UInt8] {
        var generator = ToneGenerator(Tone(frequency), sampleRate: 8_000), samples = [Int16](repeating: 0, count: Int(seconds * 8_000)),
            room = samples.mutableSpan
        generator.fill(&room)
        return isMu
            ? samples.map(G711.encodeMu) : samples.flatMap { [UInt8(truncatingIfNeeded: $0), UInt8(truncatingIfNeeded: $0 >> 8)] }
    }

    private static func media(_ bytes: [UInt8]) -> StreamProgram.Reply {
        .text(#"{"event":"media","media":{"payload":"\#(String(decoding: Base64.encode(bytes), as: UTF8.self))"}}"#)
    }

    /// A minute of a tone in messages of a second.
    private static let burst = [StreamProgram.Reply](repeating: media(tone(700, seconds: 1, isMu: true)), count: 60)

    private func heard(_ frequency: Double, in place: SoundGateway) throws -> Double {
        let sound = try WAV(contentsOf: place.folder.path + "/heard.wav")
        var detector = ToneDetector(frequency: frequency, sampleRate: sound.sampleRate)
        detector.listen(to: sound.samples.span)
        return detector.presence
    }

    private func gateway(_ program: StreamProgram, _ more: String = "", lines: String = "") throws -> SoundGateway {
        try SoundGateway { folder in
            try folder.write(tone: 900, seconds: 1, to: "sorry.wav")
            let keys = more.replacingOccurrences(of: "FOLDER", with: folder.path)
            return #"{ number: "9300", application: stream, url: "\#(program.url)"\#(keys.isEmpty ? "" : ", " + keys) }"#
                + lines.replacingOccurrences(of: "FOLDER", with: folder.path)
        }
    }

    private func stop(_ journal: [JournalEvent]) -> String? {
        journal.last { $0.kind == .streamStopped }?.details.text(.cause)?.description
    }

    @Test(arguments: [
        ("", "pcmu"), ("format: raw, encoding: l16/48000", "pcmu"), ("format: raw, encoding: l16/16000", "g722"),
        ("format: raw, encoding: opus", "opus"), ("", "opus"),
    ]) func `a program that echoes is heard, and the stream lies between the answer and the end`(keys: String, codec: String) throws {
        let program = Self.echo, before = program.words.count, heads = program.heads.count
        let place = try gateway(program, keys + (keys.isEmpty ? "" : ", ") + #"headers: { Authorization: "Bearer t" }"#)
        let outcome = try place.call("9300 --tone 440 --duration 2.5 --codec \(codec) --record \(place.folder.path)/heard.wav").perform()
        #expect(outcome.result.status == 200)
        let presence = try heard(440, in: place)
        #expect(presence > 0.5, "\(presence)")
        let journal = try place.expectCleanEnd()
        let answered = try #require(journal.firstIndex { $0.kind == .sipSent && $0.details.number(.status) == 200 }),
            began = try #require(journal.firstIndex { $0.kind == .streamStarted }),
            stopped = try #require(journal.firstIndex { $0.kind == .streamStopped }),
            ended = try #require(journal.firstIndex { $0.kind == .callEnded })
        #expect(answered < began && began < stopped && stopped < ended)
        #expect(stop(journal) == "call-ended" && journal[stopped].details.text(.direction) == "both")
        let words = program.words.dropFirst(before)
        #expect(words.contains { $0.contains(#""event":"start""#) && $0.contains(#""called":"9300""#) })
        #expect(words.last?.contains(#""event":"stop""#) == true)
        #expect(program.heads.dropFirst(heads).first?.contains("Authorization: Bearer t\r\n") == true)
        #expect(!journal.contains { "\($0)".contains("secret") })
    }

    @Test func `a minute in one burst is paced, and clear forgets it within a frame`() throws {
        let heard = Mutex(0)
        let program = StreamProgram { message in
            guard case .text(let text) = message else { return [] }
            if text.contains(#""event":"start""#) {
                return Self.burst + [.text(#"{"event":"mark","mark":{"name":"end"}}"#)]
            }
            let count = heard.withLock { heard in
                heard += text.contains(#""event":"media""#) ? 1 : 0
                return heard
            }
            return count == 75 && text.contains(#""event":"media""#) ? [.text(#"{"event":"clear"}"#)] : []
        }
        let place = try gateway(program)
        _ = try place.call("9300 --tone 440 --duration 3 --codec pcmu --record \(place.folder.path)/heard.wav").perform()
        // It ends after a second and a half.
        let presence = try self.heard(700, in: place)
        #expect((0.3...0.7).contains(presence), "\(presence)")
        #expect(program.words.contains { $0.contains(#""event":"mark""#) && $0.contains(#""name":"end""#) })
        #expect(stop(try place.expectCleanEnd()) == "call-ended")
    }

    @Test func `frames of one byte are sound, a mark comes when they were played, and keys are told`() throws {
        let program = StreamProgram { message in
            guard case .text(let text) = message, text.contains(#""event":"start""#) else { return [] }
            return Self.tone(700, seconds: 1, isMu: false).map { .binary([$0]) } + [.text(#"{"event":"mark","name":"said"}"#)]
        }
        let place = try gateway(program, "format: raw, encoding: l16/8000")
        var plan = try place.plan("9300 --tone 440 --duration 20 --codec pcmu --record \(place.folder.path)/heard.wav")
        plan.script.duration = nil
        plan.script.steps = [.wait(.milliseconds(1_500)), .press([.init("5")!]), .wait(.milliseconds(500)), .hangUp]
        _ = try CallRun(plan, reporter: ProgressReporter(nil)).perform()
        let presence = try heard(700, in: place)
        #expect((0.3...0.75).contains(presence), "\(presence)")
        #expect(program.events == ["start", "mark", "digits", "stop"], "\(program.words)")
        try place.expectCleanEnd()
    }

    @Test func `a program that never speaks is a silent call`() throws {
        let program = StreamProgram { _ in [] }, place = try gateway(program)
        let outcome = try place.call("9300 --tone 440 --duration 1.5 --codec pcmu --record \(place.folder.path)/heard.wav").perform()
        #expect(outcome.result.status == 200 && program.soundCount > 50)
        #expect(try heard(440, in: place) == 0)
        #expect(stop(try place.expectCleanEnd()) == "call-ended")
    }

    @Test func `one that dies in mid-word is followed by the announcement`() throws {
        let program = StreamProgram { message in
            guard case .text(let text) = message else { return [] }
            return text.contains(#""event":"start""#)
                ? [Self.media(Self.tone(700, seconds: 5, isMu: true))] : text.contains(#""chunk":"20""#) ? [.drop] : []
        }
        let place = try gateway(program, "on-failure: { announcement: FOLDER/sorry.wav }")
        let outcome = try place.call("9300 --tone 440 --duration 20 --codec pcmu --record \(place.folder.path)/heard.wav").perform()
        #expect(CallText.status(outcome.result).contains("ended by the other side"))
        let word = try heard(700, in: place), sorry = try heard(900, in: place)
        #expect(word > 0.05 && sorry > 0.4, "\(word) and \(sorry)")
        #expect(stop(try place.expectCleanEnd()) == "gone")
    }

    @Test func `one that does not read loses the call within half a minute, and its sound is counted`() throws {
        let program = StreamProgram { message in
            if case .text(let text) = message, text.contains(#""event":"start""#) { [.stall] } else { [] }
        }
        let place = try gateway(program, "format: raw, encoding: l16/48000")
        let outcome = try place.call("9300 --tone 440 --duration 60 --codec pcmu").perform()
        #expect(CallText.status(outcome.result).contains("ended by the other side"))
        let journal = try place.expectCleanEnd(), stopped = journal.last { $0.kind == .streamStopped }
        #expect(stop(journal) == "stalled")
        #expect(stopped?.details.text(.text)?.description.contains("unsent:") == true)
        let began = try #require(journal.first { $0.kind == .streamStarted }), end = try #require(stopped)
        #expect(end.time - began.time < .seconds(30), "\(end.time - began.time)")
    }

    @Test func `one that talks nonsense loses the call`() throws {
        let program = StreamProgram { message in
            guard case .text(let text) = message, text.contains(#""event":"start""#) else { return [] }
            return (0...20).map { .text("nonsense \($0)") }
        }
        let place = try gateway(program)
        let outcome = try place.call("9300 --duration 20 --codec pcmu").perform()
        #expect(CallText.status(outcome.result).contains("ended by the other side"))
        #expect(place.streams.ends == [.nonsense: 1] && place.streams.counts.malformed == 21)
        let journal = try place.expectCleanEnd()
        #expect(stop(journal) == "nonsense")
        #expect(journal.last { $0.kind == .streamStopped }?.details.text(.text) == "malformed:21")
    }

    @Test(arguments: [#"{"event":"hang-up"}"#, ""]) func `one that hangs up, or says goodbye, ends the call`(word: String) throws {
        let program = StreamProgram { message in
            guard case .text(let text) = message, text.contains(#""event":"start""#) else { return [] }
            return word.isEmpty ? [.close] : [.text(word)]
        }
        let place = try gateway(program, "format: raw")
        let outcome = try place.call("9300 --duration 20 --codec pcmu").perform()
        #expect(CallText.status(outcome.result).contains("ended by the other side"))
        #expect(stop(try place.expectCleanEnd()) == (word.isEmpty ? "closed" : "hang-up"))
    }

    @Test(arguments: [true, false]) func `where it wants a transfer, or is not there, the call goes on with another number`(isThere: Bool)
        throws
    {
        let program = StreamProgram { message in
            guard isThere, case .text(let text) = message else { return [.drop] }
            return text.contains(#""event":"start""#) ? [.text(#"{"event":"transfer","to":"9400"}"#)] : []
        }
        let place = try gateway(
            program, "format: raw, on-failure: { transfer: \"9400\" }",
            lines: "\n  - { number: \"9400\", application: playback, file: \"FOLDER/sorry.wav\" }")
        let outcome = try place.call("9300 --tone 440 --duration 20 --codec pcmu --record \(place.folder.path)/heard.wav").perform()
        #expect(CallText.status(outcome.result).contains("ended by the other side"))
        let presence = try heard(900, in: place)
        #expect(presence > 0.4, "\(presence)")
        #expect(stop(try place.expectCleanEnd()) == (isThere ? "transferred" : "gone"))
    }

    @Test func `the stream of a held call rests, and says so`() throws {
        let program = Self.echo, place = try gateway(program, "format: raw"), before = program.events.count
        var plan = try place.plan("9300 --tone 440 --duration 20 --codec pcmu")
        plan.script.duration = nil
        plan.script.steps = [
            .wait(.milliseconds(500)), .hold, .wait(.milliseconds(800)), .resume, .wait(.milliseconds(500)), .hangUp,
        ]
        let sound = program.soundCount
        _ = try CallRun(plan, reporter: ProgressReporter(nil)).perform()
        let journal = try place.expectCleanEnd()
        #expect(journal.filter { $0.kind == .streamPaused }.map { $0.details.flag(.on) } == [true, false])
        #expect(program.events.dropFirst(before).filter { $0 != "underrun" } == ["start", "pause", "resume", "stop"])
        #expect(program.soundCount - sound < 70, "none of the hold is heard")
    }
}
