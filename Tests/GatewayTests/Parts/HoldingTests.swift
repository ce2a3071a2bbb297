import Audio
import Primitives
import SDP
import SIP
import Testing

@testable import Gateway

/// Music on hold, or the hold itself, for the leg whose partner holds.
@Suite struct HoldingTests {
    enum Music: String { case none, sound, theirs }

    private static func parts(_ music: Music, of number: Text) -> Parts {
        Parts { configuration in
            let index = configuration.lines.firstIndex { $0.number == number }!
            configuration.lines[index].holdMusic =
                switch music {
                case .none: nil
                case .sound: .sound(WAV(sampleRate: 8_000, samples: [1, 2, 3]))
                case .theirs: .theirs
                }
        }
    }

    /// The state of a leg: it hears something, or is held.
    private static func state(_ leg: Leg) -> String {
        [leg.hold.music == nil ? nil : "music", leg.hold.hearsHolder ? "theirs" : nil, leg.call.isHeld ? "held" : nil].compactMap(\.self)
            .joined(separator: " ")
    }

    @Test(arguments: [
        (Music.none, RemoteHold.sendonly, "held"), (.none, .inactive, "held"), (.sound, .sendonly, "music"), (.sound, .inactive, "music"),
        (.theirs, .sendonly, "theirs"), (.theirs, .inactive, "held"),
    ])
    func `the holder's line plays music, lets the holder's sound through, or passes the hold on`(
        music: Music, hold: RemoteHold, heard: String
    )
        throws
    {
        let parts = Self.parts(music, of: "2000"), (caller, callee) = try parts.talk()
        callee.call.adopt(.pcmu(hold))
        parts.holding.hold(caller, true)
        #expect(Self.state(caller) == heard && caller.hold.isEntertained == (heard != "held"))
        #expect(parts.wire.requests(.invite).count == (heard == "held" ? 2 : 1), "a re-INVITE tells the far end that it is held")
        #expect(parts.events(.holdMusic).map { $0.details.flag(.on) } == (heard == "music" ? [true] : []))
    }

    @Test(arguments: [(Music.none, "held"), (.sound, ""), (.theirs, "")])
    func `a resume ends music, and resumes a leg that was held`(music: Music, heard: String) throws {
        let parts = Self.parts(music, of: "2000"), (caller, callee) = try parts.talk()
        callee.call.adopt(.pcmu(.sendonly))
        parts.holding.hold(caller, true)
        parts.holding.hold(caller, false)
        // A re-INVITE is under way; it is over with the far end's answer to the one that resumes.
        #expect(Self.state(caller) == heard && !caller.hold.isEntertained && caller.call.isResuming == (music == .none))
        #expect(parts.events(.holdMusic).map { $0.details.flag(.on) } == (music == .sound ? [true, false] : []))
    }

    @Test func `the line of the holder decides, not the line of the held party`() throws {
        let parts = Self.parts(.sound, of: "3000"), (caller, callee) = try parts.talk(from: "<sip:3000@gateway.test>")
        parts.holding.hold(callee, true)
        #expect(Self.state(callee) == "music")
        parts.holding.hold(caller, true)
        #expect(Self.state(caller) == "held", "line 2000 has none")
    }

    @Test func `a leg that is held already gets no music`() throws {
        let parts = Self.parts(.sound, of: "2000"), caller = try parts.talk().caller
        caller.call.hold()
        parts.holding.hold(caller, true)
        #expect(Self.state(caller) == "held")
    }

    @Test func `the hold is passed on where music cannot be played`() throws {
        let parts = Self.parts(.sound, of: "2000"), caller = try parts.talk().caller
        caller.media.stop(at: parts.context.now)
        _ = caller.media.finish(at: parts.context.now)
        parts.holding.hold(caller, true)
        #expect(Self.state(caller) == "held")
    }
}
