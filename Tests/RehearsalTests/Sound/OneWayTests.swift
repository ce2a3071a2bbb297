import Audio
import Media
import Primitives
import SDP
import Testing

@testable import Gateway
@testable import Rehearsal

/// The verdict on one-way audio, through a whole gateway: in the figures of a leg, in the journal's end-of-media line and on the ladder.
@Suite struct OneWayTests {
    private let stage = SoundStage(telephones: 2)
    private var caller: Telephone { stage.telephones[0] }
    private var callee: Telephone { stage.telephones[1] }

    private func end() {
        caller.hangUp()
        let left = stage.leftovers()
        #expect(left.isEmpty, "\(left)")
    }

    @Test(arguments: [(Codec.pcmu, Codec.pcmu, "level"), (.opus, .opus, "size"), (.opus, .pcma, "level"), (.g722, .g722, "packets")])
    func `a call that is heard both ways is called that, and by what`(codec: Codec, other: Codec, basis: String) throws {
        _ = stage.connect(codec, other)
        stage.run(seconds: 1)
        #expect(try stage.statistics(ofLeg: 1).incoming == nil, "not measured yet")
        stage.run(seconds: 5)
        let figures = try stage.statistics(ofLeg: 1)
        #expect(figures.incoming?.sound == .heard && figures.outgoing?.sound == .heard && !figures.isOneWay)
        end()
        #expect(stage.endOfMedia.map(\.incoming) == ["heard", "heard"] && stage.endOfMedia.map(\.outgoing) == ["heard", "heard"])
        #expect(stage.endOfMedia.contains { $0.basis == basis } && stage.endOfMedia.allSatisfy { !$0.isOneWay })
        #expect(!stage.ladder.contains("ONE WAY") && stage.ladder.contains("in heard, out heard"))
        #expect(try caller.statistics().incoming?.sound == .heard)
    }

    @Test(arguments: [(Codec.pcmu, Codec.pcmu), (.opus, .pcmu)])
    func `a target whose sound is dropped on its way is one-way audio, on both legs`(codec: Codec, other: Codec) throws {
        stage.impair(from: callee, .init(loss: 1))
        _ = stage.connect(codec, other)
        stage.run(seconds: 6)
        let (there, back) = (try stage.statistics(ofLeg: 1), try stage.statistics(ofLeg: 2))
        #expect(there.incoming?.sound == .heard && there.outgoing?.sound == .nothing && there.isOneWay)
        #expect(back.incoming == DirectionVerdict(.nothing, by: .packets) && back.outgoing?.sound == .heard && back.isOneWay)
        end()
        #expect(stage.endOfMedia.allSatisfy { $0.isOneWay } && Set(stage.endOfMedia.map(\.incoming)) == ["heard", "nothing"])
        #expect(stage.ladder.contains("ONE WAY"))
        #expect(try caller.statistics().isOneWay, "and the telephone sees it too")
    }

    @Test(arguments: [(Codec.pcmu, "level"), (.pcma, "level"), (.opus, "size")])
    func `packets of silence are no sound`(codec: Codec, basis: String) throws {
        callee.signature = nil
        callee.source = .samples([Int16](repeating: 0, count: 16_000), sampleRate: 8_000, loops: true)
        _ = stage.connect(codec)
        stage.run(seconds: 6)
        let figures = try stage.statistics(ofLeg: 2)
        #expect(figures.incoming?.sound == .silent && figures.incoming?.basis.rawValue == basis && figures.isOneWay)
        end()
        #expect(stage.endOfMedia.allSatisfy { $0.isOneWay })
    }

    @Test func `sound that ends in the midst of a call is missed, and one that never began is, too`() throws {
        _ = stage.connect(.pcmu)
        stage.run(seconds: 4)
        #expect(try stage.statistics(ofLeg: 2).incoming?.sound == .heard)
        stage.impair(from: callee, .init(loss: 1))
        stage.run(seconds: 4)
        #expect(try stage.statistics(ofLeg: 2).incoming?.sound == .heard, "five seconds are not over")
        stage.run(seconds: 2)
        #expect(try stage.statistics(ofLeg: 2).incoming?.sound == .nothing)
        end()
        #expect(stage.endOfMedia.allSatisfy { $0.isOneWay })
    }

    @Test(arguments: [Codec.pcmu, .opus]) func `a hold is not called one-way, and its end begins anew`(codec: Codec) throws {
        _ = stage.connect(codec)
        stage.run(seconds: 4)
        caller.hold()
        stage.run(seconds: 20)
        let held = [try stage.statistics(ofLeg: 1), try stage.statistics(ofLeg: 2)]
        #expect(held.allSatisfy { !$0.isOneWay })
        caller.resume()
        stage.run(seconds: 4)
        #expect(try stage.statistics(ofLeg: 1).incoming?.sound == .heard && stage.statistics(ofLeg: 2).incoming?.sound == .heard)
        stage.impair(from: callee, .init(loss: 1))
        caller.hold()
        stage.run(seconds: 1)
        caller.resume()
        stage.run(seconds: 4)
        #expect(try stage.statistics(ofLeg: 2).incoming?.sound == .nothing, "it was heard before the hold, and is not after it")
        end()
        #expect(stage.endOfMedia.last?.isOneWay == true)
    }

    @Test func `in a conference what comes is judged by its level, and what goes out by whether somebody else spoke`() throws {
        callee.signature = nil
        callee.source = .silence
        for telephone in [caller, callee] { telephone.call("3900") }
        stage.run(seconds: 6)
        #expect(try stage.statistics(ofLeg: 1).incoming == DirectionVerdict(.heard, by: .level))
        #expect(try stage.statistics(ofLeg: 1).outgoing == nil, "there is nobody to hear")
        #expect(try stage.statistics(ofLeg: 2).outgoing?.sound == .heard)
        callee.hangUp()
        end()
    }
}
