import Audio
import Dispatch
import Foundation
import Gateway
import Media
import Primitives
import SDP
import Testing
import Workbench

@testable import hookswitch

/// What lines play and record, over the sockets of this machine, from the configuration file to the sound in the file.
@Suite(.serialized, .timeLimit(.minutes(30))) struct SoundLineTests {
    @Test(arguments: ["wav", "opus"]) func `a playback line plays its file once, and hangs up`(format: String) throws {
        let place = try SoundGateway { folder in
            try folder.write(tone: 600, seconds: 1.5, to: "message." + format)
            return #"{ number: "9198", application: playback, file: "\#(folder.path)/message.\#(format)" }"#
        }
        let outcome = try place.call("9198 --duration 20 --record \(place.folder.path)/heard.wav").perform()
        #expect(CallText.status(outcome.result).contains("ended by the other side"))
        let heard = try WAV(contentsOf: place.folder.path + "/heard.wav")
        #expect(presence(of: 600, in: heard) > 0.7, "\(presence(of: 600, in: heard))")
        try place.expectCleanEnd()
    }

    @Test(arguments: ["wav", "opus"]) func `a mailbox beeps, and has what the caller said after that in its file, alone`(format: String)
        throws
    {
        let place = try SoundGateway { folder in
            #"{ number: "9200", application: record, record: "\#(folder.path)/{called}-{caller}.\#(format)" }"#
        }
        let outcome = try place.call("9200 --tone 440 --duration 2.5 --codec pcmu --record \(place.folder.path)/heard.wav").perform()
        #expect(outcome.result.status == 200)
        let journal = try place.expectCleanEnd()
        let heard = try WAV(contentsOf: place.folder.path + "/heard.wav")
        #expect((0.1...0.3).contains(presence(of: 1_000, in: heard)), "half a second of 1,000 Hz, and then nothing")
        let path = place.folder.path + "/9200-hookswitch." + format, message = try WAV(contentsOf: path)
        #expect(try Stereo.channels(path) == 1)
        #expect(abs(Double(message.samples.count) / Double(message.sampleRate) - 2) < 0.4, "\(message.samples.count)")
        #expect(presence(of: 440, in: message) > 0.85 && presence(of: 1_000, in: message) == 0)
        #expect(journal.filter { $0.kind == .recordingStarted || $0.kind == .recordingEnded }.count == 2)
    }

    @Test(arguments: ["wav", "opus"])
    func `a bridged call is recorded: who calls left, who is called right, nothing of it before the answer`(format: String) throws {
        let callee = try SIPPort(),
            place = try SoundGateway { folder in
                #"{ number: "7000", trunk: { host: "\#(callee.address)" }, record: "\#(folder.path)/{line}.\#(format)" }"#
            }
        let answerer = try callee.answer("--tone 700 --calls 1 --after 300 --codec pcmu")
        let outcome = try place.call("7000 --tone 440 --duration 2 --codec pcmu").perform()
        try answerer.wait()
        #expect(outcome.result.isGood)
        let journal = try place.expectCleanEnd()
        let path = place.folder.path + "/7000." + format
        if format == "wav" {
            let (left, right, rate) = try Stereo.read(path)
            for (samples, own, other) in [(left, 440.0, 700.0), (right, 700, 440)] {
                let side = WAV(sampleRate: rate, samples: samples)
                #expect(presence(of: own, in: side) > 0.6 && presence(of: other, in: side) == 0, "\(own)")
            }
        } else {
            let both = try WAV(contentsOf: path)
            #expect(Double(both.samples.count) / 48_000 > 1.7 && LevelMeter.level(of: both.samples.span) > -30)
        }
        let begins = try #require(journal.firstIndex { $0.kind == .recordingStarted }),
            ends = try #require(journal.firstIndex { $0.kind == .recordingEnded })
        let opened = try #require(journal.lastIndex { $0.kind == .mediaOpened }),
            closed = try #require(journal.firstIndex { $0.kind == .mediaClosed })
        #expect(opened < begins && begins < ends && ends < closed)
        #expect(journal[ends].details.number(.count) == 0 && journal[ends].details[.cause] == nil)
    }

    @Test func `a recording has the name of the line that wants it`() throws {
        let callee = try SIPPort(),
            place = try SoundGateway { folder in
                """
                { number: "1001", open: true, record: "\(folder.path)/{line}-{called}.wav" }
                  - { number: "7000", trunk: { host: "\(callee.address)" } }
                """
            }
        let answerer = try callee.answer("--tone 700 --calls 1 --after 0 --codec pcmu")
        let outcome = try place.call("7000 --from 1001 --tone 440 --duration 1 --codec pcmu").perform()
        try answerer.wait()
        #expect(outcome.result.isGood)
        try place.expectCleanEnd()
        #expect(try Stereo.read(place.folder.path + "/1001-7000.wav").left.count > 4_000)
    }

    @Test(arguments: ["l16/16000", "l16/48000"]) func `a caller that speaks L16 alone talks with one that speaks G.711 alone`(codec: String)
        throws
    {
        let callee = try SIPPort(), place = try SoundGateway { _ in #"{ number: "7000", trunk: { host: "\#(callee.address)" } }"# }
        let heard = (place.folder.path + "/caller.wav", place.folder.path + "/callee.wav")
        let answerer = try callee.answer("--tone 700 --calls 1 --after 0 --codec pcmu --record \(heard.1)")
        let outcome = try place.call("7000 --tone 440 --duration 1.5 --codec \(codec) --record \(heard.0)").perform()
        try answerer.wait()
        #expect(outcome.result.codec == "L16" && outcome.result.isGood)
        // A busy machine tears holes into it; the other tone, or what was decoded wrong, would be at 0.
        #expect(try presence(of: 700, in: WAV(contentsOf: heard.0)) > 0.25)
        #expect(try presence(of: 440, in: WAV(contentsOf: heard.1)) > 0.25)
        try place.expectCleanEnd()
    }

    @Test func `whom the caller holds hears the music of the caller's line, and the caller's voice again after it`() throws {
        let callee = try SIPPort(),
            place = try SoundGateway { folder in
                try folder.write(tone: 900, seconds: 1, to: "music.wav")
                return """
                    { number: "1001", open: true, hold-music: "\(folder.path)/music.wav" }
                      - { number: "7000", trunk: { host: "\(callee.address)" } }
                    """
            }
        let heard = place.folder.path + "/callee.wav"
        let answerer = try callee.answer("--tone 700 --calls 1 --after 0 --codec pcmu --record \(heard)")
        var plan = try place.plan("7000 --from 1001 --tone 440 --duration 20 --codec pcmu")
        plan.script.duration = nil
        plan.script.steps = [
            .wait(.milliseconds(1_000)), .hold, .wait(.milliseconds(1_500)), .resume, .wait(.milliseconds(1_000)), .hangUp,
        ]
        _ = try CallRun(plan, reporter: ProgressReporter(nil)).perform()
        try answerer.wait()
        let journal = try place.expectCleanEnd()
        let sound = try WAV(contentsOf: heard), length = Double(sound.samples.count)
        #expect((0.2...0.6).contains(presence(of: 900, in: sound)), "music: \(presence(of: 900, in: sound)) of \(length / 8_000) s")
        #expect((0.3...0.7).contains(presence(of: 440, in: sound)), "voice: \(presence(of: 440, in: sound))")
        let music = journal.filter { $0.kind == .holdMusic }.map { $0.details.flag(.on) }
        #expect(music == [true, false])
        #expect(!journal.contains { $0.kind == .performHeld }, "the held party's own call is not on hold")
    }

    @Test func `a recording that cannot be written is one line, and the call goes on`() throws {
        let callee = try SIPPort(),
            place = try SoundGateway { folder in
                try FileManager.default.createDirectory(atPath: folder.path + "/rec", withIntermediateDirectories: true)
                return #"{ number: "7000", trunk: { host: "\#(callee.address)" }, record: "\#(folder.path)/rec/{call}.wav" }"#
            }
        // A file in the place of the folder.
        try FileManager.default.removeItem(atPath: place.folder.path + "/rec")
        try Data().write(to: URL(filePath: place.folder.path + "/rec"))
        let answerer = try callee.answer("--tone 700 --calls 1 --after 0 --codec pcmu")
        let outcome = try place.call("7000 --tone 440 --duration 1.5 --codec pcmu").perform()
        try answerer.wait()
        #expect(outcome.result.isGood)
        let journal = try place.expectCleanEnd()
        #expect(journal.filter { $0.kind == .recordingEnded }.compactMap { $0.details.text(.cause)?.description } == ["Not a directory"])
        #expect(place.failures.all.count == 1)
    }

    private func presence(of frequency: Double, in sound: WAV) -> Double {
        var detector = ToneDetector(frequency: frequency, sampleRate: sound.sampleRate)
        detector.listen(to: sound.samples.span)
        return detector.presence
    }
}
