import Audio
import CallKit
import Foundation
import Media
import Primitives
import SDP
import Testing

@testable import Rehearsal

/// A conference is a call group of three: made, muted, held and left by CallKit transactions alone, and heard.
@Suite struct ConferenceTests {
    private let stage = Stage(hasSound: true)
    private let voices = (0..<3).map { SoundSignature(run: 7, call: UInt32(900 + $0), side: .caller) }

    private func answer(_ user: String, _ codec: Codec) -> (uuid: UUID, far: FarCall) {
        let far = stage.far.call(from: .init(user), codecs: [codec])
        stage.run(0.1)
        let uuid = stage.calls.last ?? UUID()
        stage.request(CXAnswerCallAction(call: uuid))
        stage.run(0.5)
        return (uuid, far)
    }

    /// What each far end has heard of a voice after a while; nil where nothing came.
    private func listen(to voice: SoundSignature) throws -> [SignatureVerdict.Sound?] {
        let sound = try #require(stage.sound)
        stage.run(1)
        sound.forget()
        stage.run(3)
        return try (0..<3).map { try sound.hears(UInt64($0 + 1), expecting: voice)?.sound }
    }

    @Test func `three calls of a group hear each other; one is muted, held and leaves while it goes on`() throws {
        let app = ProbeApp(stage), sound = try #require(stage.sound)
        let first = answer("2001", .opus), second = answer("2002", .opus)
        #expect(
            stage.request(
                CXSetGroupCallAction(call: second.uuid, callUUIDToGroupWith: first.uuid),
                CXSetHeldCallAction(call: first.uuid, onHold: false)) == nil)
        stage.run(1)
        let third = answer("2003", .pcmu)
        #expect(
            stage.request(
                CXSetGroupCallAction(call: third.uuid, callUUIDToGroupWith: first.uuid),
                CXSetHeldCallAction(call: first.uuid, onHold: false),
                CXSetHeldCallAction(call: second.uuid, onHold: false)) == nil)
        stage.run(1)
        #expect(stage.system.counts.groups == 1 && app.heard.count(of: "group") == 2)
        for (number, call) in [first, second, third].enumerated() {
            try sound.begin(UInt64(number + 1), call.far, number == 0 ? voices[0] : nil)
        }

        #expect(try listen(to: voices[0]) == [.silence, .right, .right], "all but who speaks")
        #expect(stage.request(CXSetMutedCallAction(call: first.uuid, muted: true)) == nil)
        #expect(try listen(to: voices[0]) == [.silence, .silence, .silence])
        #expect(stage.request(CXSetMutedCallAction(call: first.uuid, muted: false)) == nil)
        #expect(try listen(to: voices[0]) == [.silence, .right, .right])
        stage.hold(second.uuid)
        #expect(try listen(to: voices[0]) == [.silence, nil, .right], "who is held hears nothing, and the others go on")
        stage.hold(second.uuid, false)
        #expect(try listen(to: voices[0]) == [.silence, .right, .right])
        #expect(stage.request(CXSetGroupCallAction(call: third.uuid, callUUIDToGroupWith: nil)) == nil)
        #expect(try listen(to: voices[0])[1...] == [.right, .unsigned], "who has left hears the app")
        stage.end(first.uuid)
        stage.run(1)
        #expect(stage.openFarLegs == 2)
        for call in [second, third] { stage.end(call.uuid) }
        let left = stage.leftovers()
        #expect(left.allSatisfy { $0.contains("R16") }, "\(left)")
    }
}

extension Stage {
    /// Legs of the app with bound sockets.
    fileprivate var openFarLegs: Int { sound?.plane.counts(at: now).legs ?? 0 }
}
