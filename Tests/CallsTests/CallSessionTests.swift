import Primitives
import SDP
import SIP
import Testing

@testable import Calls

/// Scripts of one call: what comes and what is wanted on the left, what the session says to it on the right.
@Suite struct CallSessionTests {
    /// A script is lines of `input -> output`. An output of an offer or answer is its direction, `port 0`, or `none`.
    struct Script: CustomTestStringConvertible {
        var name: String, lines: [String]
        var testDescription: String { name }

        init(_ name: String, _ lines: String...) { (self.name, self.lines) = (name, lines) }
    }

    // MARK: The first exchange

    static let first = [
        Script("an offer is answered", "take sendrecv -> ok", "describe -> sendrecv", "connect -> connected", "held? -> no no"),
        Script("an offer that holds is answered, and holds", "take sendonly -> ok", "describe -> recvonly", "held? -> no yes"),
        Script("an inactive offer", "take inactive -> ok", "describe -> inactive", "held? -> no yes"),
        Script("an offer at 0.0.0.0", "take zero -> ok", "describe -> recvonly", "held? -> no yes"),
        Script("an offer that only listens holds nobody", "take recvonly -> ok", "describe -> sendonly", "held? -> no no"),
        Script("an offer without sound is refused", "take port0 -> 488"),
        Script("an offer that is none is refused", "take garbage -> 488"),
        Script("an offer without a codec of ours", "take unknown -> 488"),
        Script(
            "no offer: ours is in the 200, the answer in the ACK", "take none -> ok", "describe -> sendrecv", "connect -> connected",
            "ack sendrecv -> first"),
        Script("no offer, and no answer", "take none -> ok", "describe -> sendrecv", "connect -> connected", "ack none -> unusable"),
        Script(
            "no offer, and an answer without sound", "take none -> ok", "describe -> sendrecv", "connect -> connected",
            "ack port0 -> unusable"),
        Script(
            "no offer, and an answer that holds", "take none -> ok", "describe -> sendrecv", "connect -> connected",
            "ack sendonly -> first", "held? -> no yes"),
        Script(
            "an ACK with nothing to answer", "take sendrecv -> ok", "describe -> sendrecv", "connect -> connected", "ack none -> nothing",
            "ack sendrecv -> nothing"),
        Script("a call is answered", "invite -> sendrecv", "2xx a sendrecv -> agreed", "connect -> connected"),
        Script("a 2xx without an answer", "invite -> sendrecv", "2xx a none -> 488"),
        Script("a 2xx without sound", "invite -> sendrecv", "2xx a port0 -> 488"),
        Script("a 2xx that holds", "invite -> sendrecv", "2xx a sendonly -> agreed", "held? -> no yes"),
        Script("the answer came in a 183", "invite -> sendrecv", "18x a sendrecv", "2xx a none -> agreed"),
        Script("that of another fork is none", "invite -> sendrecv", "18x a sendrecv", "2xx b none -> 488"),
        Script("the 2xx has an answer of its own", "invite -> sendrecv", "18x a sendrecv", "2xx a sendonly -> agreed", "held? -> no yes"),
        Script("a reliable answer stands", "invite -> sendrecv", "18x a sendrecv reliable", "2xx a sendonly -> agreed", "held? -> no no"),
        Script(
            "the second answer of a fork is none", "invite -> sendrecv", "18x a sendrecv reliable", "18x a sendonly reliable",
            "2xx a none -> agreed", "held? -> no no"),
        Script("a fork that has gone answered nothing", "invite -> sendrecv", "18x a sendrecv", "199 a", "2xx a none -> 488"),
        Script("seventeen forks", "invite -> sendrecv") + (0..<17).map { "18x f\($0) sendrecv" } + ["2xx f15 none -> agreed"],
        Script("the seventeenth is passed over", "invite -> sendrecv") + (0..<17).map { "18x f\($0) sendrecv" } + ["2xx f16 none -> 488"],
    ]

    // MARK: Offers of the far end

    static let offered = [
        Script("a hold and its end", "up", "offer sendonly -> recvonly", "held? -> no yes", "offer sendrecv -> sendrecv", "held? -> no no"),
        Script("a hold of the old kind", "up", "offer zero -> recvonly", "held? -> no yes"),
        Script(
            "who is held answers a hold inactive", "up", "hold", "next -> sendonly", "answer recvonly -> agreed",
            "offer sendonly -> inactive", "held? -> yes yes"),
        Script(
            "who is held answers a resume with his hold", "up", "hold", "next -> sendonly", "answer recvonly -> agreed",
            "offer sendrecv -> sendonly", "held? -> yes no"),
        Script(
            "sound is taken away and brought back", "up", "offer port0 -> port 0", "sound? -> no", "offer sendrecv -> sendrecv",
            "sound? -> yes"),
        Script("it is taken away once", "up", "offer port0 -> port 0", "gone? -> no"),
        Script("an INVITE without an offer asks for ours", "up", "offer none -> sendrecv", "ack sendrecv -> again"),
        Script("its ACK has no answer", "up", "offer none -> sendrecv", "ack none -> nothing", "offer sendonly -> recvonly"),
        Script("its ACK takes the sound away", "up", "offer none -> sendrecv", "ack port0 -> audioRemoved"),
        Script("its ACK is garbage", "up", "offer none -> sendrecv", "ack garbage -> unusable"),
        Script("of a held call the offer holds", "up", "hold", "next -> sendonly", "answer recvonly -> agreed", "offer none -> sendonly"),
        Script("an UPDATE without an offer refreshes", "up", "update none -> refresh", "offer sendonly -> recvonly"),
        Script("an UPDATE with one is answered", "up", "update sendonly -> recvonly", "held? -> no yes"),
        Script(
            "an offer without a codec of ours is refused, and changes nothing", "up", "offer unknown -> 488", "held? -> no no",
            "offer sendonly -> recvonly"),
        Script("an offer that is none is refused", "up", "offer garbage -> 488", "offer sendrecv -> sendrecv"),
        Script("glare: an offer while ours is open", "up", "hold", "next -> sendonly", "offer sendrecv -> 491", "refused 500 -> nothing"),
        Script("an offer before the call is answered", "take sendrecv -> ok", "offer sendonly -> tooEarly"),
        Script("an offer in an early dialog that has agreed nothing", "invite -> sendrecv", "offer sendrecv a -> tooEarly"),
        Script(
            "an offer in an early dialog that has", "invite -> sendrecv", "18x a sendrecv reliable", "update sendonly a -> recvonly",
            "held? -> no no", "2xx a none -> agreed", "held? -> no yes"),
        Script(
            "of another fork", "invite -> sendrecv", "18x a sendrecv reliable", "update sendonly b -> tooEarly", "2xx a none -> agreed",
            "held? -> no no"),
        Script("an early UPDATE without an offer", "invite -> sendrecv", "18x a sendrecv reliable", "update none a -> tooEarly"),
    ]

    // MARK: Offers of ours

    static let own = [
        Script(
            "a hold and its end", "up", "hold", "next -> sendonly", "answer recvonly -> agreed", "resume -> asked", "next -> sendrecv",
            "answer sendrecv -> resumed", "held? -> no no"),
        Script("a hold is offered once", "up", "hold", "next -> sendonly", "next -> none"),
        Script("a hold waits until the dialog is free", "up", "hold", "busy -> none", "next -> sendonly"),
        Script(
            "a resume before its hold is answered goes out next", "up", "hold", "next -> sendonly", "resume -> asked",
            "answer recvonly -> agreed", "held? -> yes no", "next -> sendrecv", "answer sendrecv -> resumed"),
        Script(
            "a hold overtakes a resume", "up", "hold", "next -> sendonly", "answer recvonly -> agreed", "resume -> asked", "hold",
            "next -> sendonly"),
        Script(
            "a resume is refused", "up", "hold", "next -> sendonly", "answer recvonly -> agreed", "resume -> asked", "next -> sendrecv",
            "refused 488 -> resumeRefused", "held? -> yes no"),
        Script(
            "a resume has an answer that cannot be used", "up", "hold", "next -> sendonly", "answer recvonly -> agreed", "resume -> asked",
            "next -> sendrecv", "answer garbage -> resumeUnusable"),
        Script(
            "a resume is answered without sound", "up", "hold", "next -> sendonly", "answer recvonly -> agreed", "resume -> asked",
            "next -> sendrecv", "answer port0 -> removedResumed"),
        Script(
            "a resume that was given up stays held", "up", "hold", "next -> sendonly", "answer recvonly -> agreed", "resume -> asked",
            "give up", "next -> sendonly"),
        Script("a hold is refused, and stands", "up", "hold", "next -> sendonly", "refused 500 -> nothing", "held? -> yes no"),
        Script("a hold meets an unknown dialog", "up", "hold", "next -> sendonly", "refused 481 -> dialogGone"),
        Script("a hold has an answer that is none", "up", "hold", "next -> sendonly", "answer garbage -> unusable", "held? -> yes no"),
        Script("a hold has an answer without sound", "up", "hold", "next -> sendonly", "answer port0 -> removed"),
        Script(
            "a resume after a hold without sound goes out next", "up", "hold", "next -> sendonly", "resume -> asked",
            "answer port0 -> removed", "next -> sendrecv"),
        Script("an answer to nothing", "up", "answer sendrecv -> nothing"),
        Script("glare: ours is due again", "up", "hold", "next -> sendonly", "refused 491 -> again", "next -> sendonly"),
        Script("glare of a refresh is not repeated", "up", "refresh -> sendrecv", "refused 491 -> nothing", "next -> none"),
        Script("an offer that was withdrawn is none", "up", "hold", "next -> sendonly", "withdrawn", "offer sendrecv -> sendonly"),
        Script("a refresh says what is said", "up", "hold", "next -> sendonly", "answer recvonly -> agreed", "refresh -> sendonly"),
        Script("where an offer is due there is no refresh", "up", "hold", "refresh -> none", "next -> sendonly"),
        Script("without sound there is nothing to be held", "up", "offer port0 -> port 0", "hold", "next -> none", "held? -> yes no"),
        Script("nor to be resumed", "up", "offer port0 -> port 0", "hold", "resume -> done", "held? -> no no"),
        Script("an offer without sound has none", "up", "offer port0 -> port 0", "renegotiate", "next -> port 0"),
        Script("nothing is offered before the answer", "take sendrecv -> ok", "renegotiate", "next -> none"),
        Script("nor after the end", "up", "renegotiate", "end", "next -> none"),
        Script(
            "nothing comes after the end", "up", "hold", "next -> sendonly", "end", "answer sendrecv -> nothing", "ack sendrecv -> nothing",
            "offer sendrecv -> tooEarly"),
    ]

    @Test(arguments: first + offered + own) func `a call does what its script says`(script: Script) throws {
        var player = Player()
        for (number, line) in script.lines.enumerated() {
            let parts = line.split(separator: " -> ", maxSplits: 1).map(String.init)
            let said = try player.play(parts[0].split(separator: " ").map(String.init))
            if parts.count > 1 { #expect(said == parts[1], "line \(number + 1): \(line)") }
        }
    }

    @Test func `there are 60 scripts and more, each with a name of its own in its list`() {
        #expect(Self.first.count + Self.offered.count + Self.own.count >= 60)
        for list in [Self.first, Self.offered, Self.own] { #expect(Set(list.map(\.name)).count == list.count) }
    }

    @Test func `the describer decides what is answered, offered and relayed`() throws {
        var owner = Owner()
        owner.codecs = [.pcma]
        var call = CallSession(OfferAnswer(local: Player.local, sessionID: 4))
        try call.take(offer: Text(Player.body("sendrecv")), owner)
        let answer = try call.describe(owner)
        #expect(answer.media[0].formats == ["8"] && call.agreed?.primary.codec.matches(.pcma) == true)
        call.enter(.connected)
        call.renegotiate()
        let next = call.nextOffer(canOffer: true, owner), offer = try #require(next)
        #expect(offer.media[0].formats == ["9", "8"], "as it prepared it")
    }
}

extension CallSessionTests.Script {
    static func + (script: Self, lines: [String]) -> Self {
        var script = script
        script.lines += lines
        return script
    }
}

/// Offers G.722 before the rest, and agrees to what it was told.
private struct Owner: CallDescriber {
    var codecs: [Codec]?

    func received(offerIn negotiation: inout OfferAnswer) {}
    func prepareAnswer(_ negotiation: inout OfferAnswer) {}
    func prepareOffer(_ negotiation: inout OfferAnswer, agreed: NegotiatedAudio?) {
        if let codecs { (negotiation.local.codecs, negotiation.local.telephoneEvents) = ([.g722] + codecs, false) }
    }
    func codecs(answering offer: OfferAnswer.RemoteOffer, ours: [Codec], agreed: NegotiatedAudio?) -> [Codec]? { codecs }
    var relayed: NegotiatedAudio? { nil }
}

/// Plays a script's lines on a session.
private struct Player {
    static let local = LocalMedia(address: .loopback, port: 20_000, codecs: [.pcmu, .pcma])
    private var call = CallSession(OfferAnswer(local: local, sessionID: 4))
    private static let owner = Owner()

    /// A description of the far end.
    static func body(_ kind: String) -> [UInt8] {
        guard kind != "none" else { return [] }
        guard kind != "garbage" else { return Array("v=1\r\n".utf8) }
        let address = kind == "zero" ? "0.0.0.0" : "198.51.100.7"
        let direction = ["sendonly", "recvonly", "inactive"].contains(kind) ? kind : "sendrecv"
        let format = kind == "unknown" ? "97\r\na=rtpmap:97 amr/8000" : "0 8"
        let text =
            "v=0\r\no=- 7 1 IN IP4 198.51.100.7\r\ns=-\r\nc=IN IP4 \(address)\r\nt=0 0\r\nm=audio \(kind == "port0" ? 0 : 4_000) RTP/AVP \(format)\r\na=\(direction)\r\n"
        return Array(text.utf8)
    }

    private func message(_ start: String, tag: String, _ kind: String, _ headers: [String] = []) throws -> Message {
        let body = Self.body(kind), isRequest = !start.hasPrefix("SIP/")
        let tags = isRequest ? (tag, "ours") : ("ours", tag)
        let lines = [
            start, "Via: SIP/2.0/UDP h;branch=z9hG4bK1", "From: <sip:a@h>;tag=\(tags.0)", "To: <sip:b@h>;tag=\(tags.1)", "Call-ID: x",
            "CSeq: 1 \(isRequest ? start.split(separator: " ")[0] : "INVITE")", "Contact: <sip:b@h>", "Max-Forwards: 70",
        ]
        let content = body.isEmpty ? [] : ["Content-Type: application/sdp"]
        return try Message(
            parsing: Array((lines + headers + content + ["Content-Length: \(body.count)", "", ""]).joined(separator: "\r\n").utf8) + body)
    }

    private static func text(_ description: SessionDescription) -> String {
        guard description.media[0].port != 0 else { return "port 0" }
        let names = description.media[0].attributes.map { "\($0.name)" }
        return names.first { ["sendrecv", "sendonly", "recvonly", "inactive"].contains($0) } ?? "sendrecv"
    }

    mutating func play(_ words: [String]) throws -> String {
        let last = words.last ?? ""
        switch words[0] {
        case "take":
            return said { call throws(NegotiationError) in
                try call.take(offer: Text(Self.body(last)), Self.owner); return "ok"
            }
        case "describe": return said { call throws(NegotiationError) in Self.text(try call.describe(Self.owner)) }
        case "invite":
            call.enter(.calling)
            return Self.text(call.invite(Self.owner))
        case "connect":
            call.enter(.connected)
            return "connected"
        case "end": call.enter(.ended)
        case "up":
            for line in [["take", "sendrecv"], ["describe"], ["connect"]] { _ = try play(line) }
        case "18x", "199": try noteProvisional(words)
        case "2xx":
            let response = try message("SIP/2.0 200 OK", tag: words[1], last)
            return said { call throws(NegotiationError) in
                _ = try call.accept(response); return "agreed"
            }
        case "ack": return acknowledge(last)
        case "offer", "update": return try offer(words)
        case "hold": call.hold()
        case "resume": return call.resume() ? "asked" : "done"
        case "give":
            call.giveUpResume()
            call.renegotiate()
        case "renegotiate": call.renegotiate()
        case "withdrawn": call.withdrawOffer()
        case "next": return call.nextOffer(canOffer: true, Self.owner).map(Self.text) ?? "none"
        case "busy": return call.nextOffer(canOffer: false, Self.owner).map(Self.text) ?? "none"
        case "refresh": return call.refreshingOffer(Self.owner).map(Self.text) ?? "none"
        case "answer": return try answer(last)
        case "refused": return "\(call.refused(Int(last) ?? 0))"
        case "held?": return "\(call.isHeld ? "yes" : "no") \(call.isHeldByRemote ? "yes" : "no")"
        case "sound?": return call.hasNoAudio ? "no" : "yes"
        case "gone?": return call.removeAudio() ? "yes" : "no"
        default: Issue.record("no input '\(words[0])'")
        }
        return ""
    }

    private mutating func said(_ step: (inout CallSession) throws(NegotiationError) -> String) -> String {
        do throws(NegotiationError) { return try step(&call) } catch { return "\(error.status)" }
    }

    private mutating func noteProvisional(_ words: [String]) throws {
        let headers = words.last == "reliable" ? ["Require: 100rel", "RSeq: 1"] : []
        call.note(
            provisional: try message(
                "SIP/2.0 \(words[0] == "199" ? 199 : 183) x", tag: words[1], words.count > 2 ? words[2] : "none", headers))
    }

    private mutating func acknowledge(_ kind: String) -> String {
        switch call.acknowledged(kind == "none" ? nil : Self.body(kind)) {
        case .nothing: return "nothing"
        case .first: return "first"
        case .again(let audio):
            call.adopt(audio)
            return "again"
        case .audioRemoved: return "audioRemoved"
        case .unusable: return "unusable"
        }
    }

    private mutating func offer(_ words: [String]) throws -> String {
        let request = try message(
            "\(words[0] == "update" ? "UPDATE" : "INVITE") sip:a@h SIP/2.0", tag: words.count > 2 ? words[2] : "theirs", words[1])
        return said { call throws(NegotiationError) in
            switch try call.receive(request, Self.owner) {
            case .agreed(let answer, let audio):
                call.adopt(audio)
                return Self.text(answer)
            case .audioRemoved(let answer):
                _ = call.removeAudio()
                return Self.text(answer)
            case .offer(let own), .early(let own): return Self.text(own)
            case .refresh: return "refresh"
            case .tooEarly: return "tooEarly"
            }
        }
    }

    private mutating func answer(_ kind: String) throws -> String {
        switch call.reanswered(try message("SIP/2.0 200 OK", tag: "theirs", kind)) {
        case .nothing: return "nothing"
        case .agreed(let audio, let endsResume):
            call.adopt(audio)
            return endsResume ? "resumed" : "agreed"
        case .audioRemoved(let endsResume): return endsResume ? "removedResumed" : "removed"
        case .unusable(_, let refusesResume): return refusesResume ? "resumeUnusable" : "unusable"
        case .insecure: return "insecure"
        }
    }
}
