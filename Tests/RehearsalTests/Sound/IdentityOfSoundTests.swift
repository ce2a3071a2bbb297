import Audio
import Media
import Primitives
import SDP
import Testing

@testable import Rehearsal

/// Through a whole gateway: the right sound of the right call arrives in the right direction, soon, and without gaps.
@Suite struct IdentityOfSoundTests {
    @Test(arguments: [(Codec.pcmu, Codec.pcmu), (.opus, .opus), (.g722, .g722), (.opus, .pcmu), (.pcma, .g722), (.g722, .opus)])
    func `a bridge carries each voice to the other end`(codec: Codec, other: Codec) throws {
        let stage = SoundStage(telephones: 2), (caller, callee) = stage.connect(codec, other)
        #expect(caller.audio?.primary.codec.matches(codec) == true && callee.audio?.primary.codec.matches(other) == true)
        stage.run(seconds: 6)
        caller.hangUp()
        let left = stage.leftovers()
        #expect(left.isEmpty, "\(left)")
        for (listener, speaker) in [(caller, callee), (callee, caller)] {
            let verdict = try listener.verdict(expecting: speaker), delay = try #require(verdict.delay),
                last = try #require(verdict.lastDelay)
            #expect(verdict.sound == .right && verdict.rounds >= 12 && verdict.gaps.isEmpty, "\(verdict)")
            #expect((0..<150).contains(delay) && abs(last - delay) < 40, "\(verdict)")
        }
    }

    @Test func `two calls at a time do not hear each other`() throws {
        let stage = SoundStage(telephones: 4)
        stage.telephones[0].call(Telephone.line(1))
        stage.telephones[2].call(Telephone.line(3))
        stage.run(seconds: 5)
        for (listener, speaker) in [(0, 1), (1, 0), (2, 3), (3, 2)] {
            #expect(try stage.telephones[listener].verdict(expecting: stage.telephones[speaker]).sound == .right)
        }
        #expect(try stage.telephones[2].verdict(expecting: stage.telephones[1]).sound == .crossTalk, "the detector tells them apart")
        stage.telephones[0].hangUp()
        stage.telephones[2].hangUp()
        #expect(stage.leftovers().isEmpty)
    }

    @Test(arguments: [Codec.pcmu, .opus]) func `who is held hears nothing, and the right voice again after it`(codec: Codec) throws {
        let stage = SoundStage(telephones: 2), (caller, callee) = stage.connect(codec)
        stage.run(seconds: 3)
        caller.hold()
        stage.run(seconds: 0.2)
        let before = callee.heard.count
        stage.run(seconds: 4)
        #expect(callee.heard.count - before <= callee.heardRate, "nothing comes while held")
        caller.resume()
        stage.run(seconds: 5)
        caller.hangUp()
        #expect(stage.leftovers().isEmpty)
        let verdict = try callee.verdict(expecting: caller)
        #expect(verdict.sound == .right && verdict.rounds >= 14, "\(verdict)")
        #expect(verdict.gaps.count == 1 && verdict.gaps[0].length > 3_500 && verdict.gaps[0].length < 4_800, "\(verdict)")
        #expect(try caller.verdict(expecting: callee).sound == .right)
    }

    @Test func `a conference carries the voice of who speaks to all others, and not back`() throws {
        let stage = SoundStage(telephones: 3)
        for (telephone, codec) in zip(stage.telephones, [Codec.opus, .pcmu, .g722]) { telephone.codecs = [codec] }
        for listener in stage.telephones.dropFirst() { listener.signature = nil }
        for telephone in stage.telephones { telephone.call("3900") }
        stage.run(seconds: 7)
        for listener in stage.telephones.dropFirst() {
            let verdict = try listener.verdict(expecting: stage.telephones[0])
            #expect(verdict.sound == .right && verdict.rounds >= 12 && verdict.gaps.isEmpty, "\(verdict)")
            #expect((0..<200).contains(try #require(verdict.delay)), "\(verdict)")
        }
        #expect(try stage.telephones[0].verdict(expecting: stage.telephones[1]).sound == .silence, "nobody hears himself")
        for telephone in stage.telephones { telephone.hangUp() }
        #expect(stage.leftovers().isEmpty)
    }
}
