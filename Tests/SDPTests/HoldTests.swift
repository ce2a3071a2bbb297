import Primitives
import Testing

@testable import SDP

/// mapping.md §6 and RFC 3264 §8.4, row by row.
@Suite struct HoldTests {
    struct Row: CustomStringConvertible, Sendable {
        var description: String
        var address = "IN IP4 198.51.100.5"
        var session = ""
        var stream = ""
        var heldHere = false
        var answer: String
        var sends: Bool
        var receives: Bool
        var hold: RemoteHold
    }

    static let offered: [Row] = [
        Row(description: "nothing said", answer: "sendrecv", sends: true, receives: true, hold: .none),
        Row(description: "sendrecv", stream: "a=sendrecv", answer: "sendrecv", sends: true, receives: true, hold: .none),
        Row(description: "sendonly", stream: "a=sendonly", answer: "recvonly", sends: false, receives: true, hold: .sendonly),
        Row(description: "inactive", stream: "a=inactive", answer: "inactive", sends: false, receives: false, hold: .inactive),
        Row(description: "recvonly", stream: "a=recvonly", answer: "sendonly", sends: true, receives: false, hold: .none),
        Row(description: "zero address", address: "IN IP4 0.0.0.0", answer: "recvonly", sends: false, receives: true, hold: .zeroAddress),
        Row(description: "zero IPv6 address", address: "IN IP6 ::", answer: "recvonly", sends: false, receives: true, hold: .zeroAddress),
        Row(
            description: "zero address at the stream", stream: "c=IN IP4 0.0.0.0", answer: "recvonly", sends: false, receives: true,
            hold: .zeroAddress),
        Row(
            description: "zero address, inactive", address: "IN IP4 0.0.0.0", stream: "a=inactive", answer: "inactive", sends: false,
            receives: false, hold: .zeroAddress),
        Row(description: "session sendonly", session: "a=sendonly", answer: "recvonly", sends: false, receives: true, hold: .sendonly),
        Row(
            description: "stream over session", session: "a=inactive", stream: "a=sendrecv", answer: "sendrecv", sends: true,
            receives: true, hold: .none),
        Row(description: "held here", heldHere: true, answer: "sendonly", sends: true, receives: false, hold: .none),
        Row(
            description: "both held", stream: "a=sendonly", heldHere: true, answer: "inactive", sends: false, receives: false,
            hold: .sendonly),
        Row(
            description: "held here, recvonly", stream: "a=recvonly", heldHere: true, answer: "sendonly", sends: true, receives: false,
            hold: .none),
        Row(
            description: "held here, inactive", stream: "a=inactive", heldHere: true, answer: "inactive", sends: false, receives: false,
            hold: .inactive),
    ]

    @Test(arguments: offered)
    func `answers a held offer`(row: Row) throws {
        var callee = engine()
        try callee.receive(offer: plainOffer(address: row.address, session: row.session, stream: row.stream))
        #expect(callee.remoteOffer?.hold == row.hold)
        let (description, audio) = try callee.answer(direction: row.heldHere ? .sendonly : .sendrecv)
        #expect(mediaLines(description).last == "a=" + row.answer)
        #expect(audio?.sends == row.sends)
        #expect(audio?.receives == row.receives)
        #expect(audio?.remoteHold == row.hold)
        #expect(audio?.sendsRTCP == (row.hold != .zeroAddress))
    }

    static let answered: [(Direction, String, Bool, Bool, RemoteHold)] = [
        (.sendrecv, "a=sendrecv", true, true, .none), (.sendrecv, "a=recvonly", true, false, .none),
        (.sendrecv, "a=sendonly", false, true, .sendonly), (.sendrecv, "a=inactive", false, false, .inactive),
        (.sendrecv, "c=IN IP4 0.0.0.0", false, true, .zeroAddress), (.sendonly, "a=recvonly", true, false, .none),
        (.sendonly, "a=inactive", false, false, .none), (.sendonly, "", true, false, .none), (.inactive, "a=inactive", false, false, .none),
    ]

    @Test(arguments: answered)
    func `reads the direction of an answer`(wish: Direction, line: String, sends: Bool, receives: Bool, hold: RemoteHold) throws {
        var caller = engine()
        _ = caller.offer(direction: wish)
        let audio = try caller.receive(answer: plainOffer(stream: line))
        #expect(audio.sends == sends)
        #expect(audio.receives == receives)
        #expect(audio.remoteHold == hold)
    }

    @Test func `both sides hold and resume, each for itself`() throws {
        var party = engine()
        try party.receive(offer: plainOffer())
        _ = try party.answer()
        try party.receive(offer: plainOffer(stream: "a=sendonly", version: 2))
        _ = try party.answer()
        // RFC 3264 §8.4: recvonly becomes inactive.
        #expect(mediaLines(party.offer(direction: .sendonly)).last == "a=inactive")
        var audio = try party.receive(answer: plainOffer(stream: "a=inactive", version: 2))
        #expect(audio.remoteHold == .sendonly, "an answer to inactive tells nothing new")
        try party.receive(offer: plainOffer(version: 3))
        let resumed = try party.answer(direction: .sendonly)
        #expect(mediaLines(resumed.description).last == "a=sendonly")
        #expect(resumed.audio?.remoteHold == RemoteHold.none)
        #expect(mediaLines(party.offer()).last == "a=sendrecv")
        audio = try party.receive(answer: plainOffer(version: 3))
        #expect(audio.sends && audio.receives)
    }

    @Test func `after a local resume the peer's hold stays`() throws {
        var party = engine()
        try party.receive(offer: plainOffer(stream: "a=sendonly"))
        _ = try party.answer(direction: .sendonly)
        #expect(mediaLines(party.offer()).last == "a=sendrecv")
        let audio = try party.receive(answer: plainOffer(stream: "a=sendonly"))
        #expect(!audio.sends && audio.receives)
        #expect(audio.remoteHold == .sendonly)
    }

    @Test func `an unchanged re-offer changes nothing for the media`() throws {
        var party = engine()
        try party.receive(offer: RealOffers.pjsua.body)
        let first = try party.answer().audio
        try party.receive(offer: RealOffers.pjsua.body)
        #expect(try party.answer().audio == first)
        try party.receive(offer: RealOffers.asterisk.body)
        #expect(try party.answer().audio != first)
    }
}
