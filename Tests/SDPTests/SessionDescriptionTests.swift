import Primitives
import Testing

@testable import SDP

@Suite struct SessionDescriptionTests {
    @Test func `reads every part of a description`() throws {
        let description = try SessionDescription(
            parsing: body(
                """
                v=0
                o=alice smith 123456789012345678901 7 IN IP6 2001:db8::1
                s=A call
                i=about
                c=IN IP6 2001:db8::2
                b=AS:64
                t=10 20
                z=1 2
                a=sendonly
                m=audio 49170/2 RTP/AVP 0 96
                c=IN IP4 224.2.1.1/127
                a=rtpmap:96 opus/48000/2
                a=rtcp-mux
                m=video 0 UDP/TLS/RTP/SAVPF 97
                """))
        #expect(description.origin.username == "alice smith")
        #expect(description.origin.sessionID == "123456789012345678901")
        #expect(description.sessionName == "A call")
        #expect(description.connection?.address == IPAddress("2001:db8::2"))
        #expect(description.timing == "10 20")
        #expect(
            description.otherLines.map { String(UnicodeScalar($0.type)) + "=" + $0.value.description } == ["i=about", "b=AS:64", "z=1 2"])
        #expect(description.attribute("sendonly") == .init("sendonly"))
        #expect(description.media.count == 2)
        let audio = description.media[0]
        #expect((audio.port, audio.portCount, audio.formats) == (49_170, "2", ["0", "96"]))
        #expect(audio.connection?.address == IPAddress("224.2.1.1"))
        #expect(audio.attribute("rtpmap")?.value == "96 opus/48000/2")
        #expect(audio.attribute("rtcp-mux")?.value == nil)
        #expect(description.media[1].port == 0)
    }

    @Test func `takes bare line feeds, a lost last line end, blank lines and lines in any order`() throws {
        let text = "\nv=0\nt=0 0\na=tool:x\nc=IN IP4 192.0.2.1\ns=-\no=- 1 1 IN IP4 192.0.2.1\nm=audio 4000 RTP/AVP 0\na=ptime:20"
        let description = try SessionDescription(parsing: Array(text.utf8))
        #expect(description.media[0].attributes == [.init("ptime", "20")])
        #expect(description.connection?.address == IPAddress("192.0.2.1"))
    }

    @Test func `what it does not know comes out as it went in`() throws {
        let text =
            "v=0\r\no=- 1 1 IN IP4 192.0.2.1\r\ns=-\r\nu=http://x\r\nt=0 0\r\nr=7d 1h 0 25h\r\nk=prompt\r\ny=novel line\r\na=what:ever:it is\r\na=\r\nm=application 5 TCP/BFCP *\r\ni=floor\r\nb=AS:1\r\nq= \r\na=floorctrl:c-only\r\n"
        let description = try SessionDescription(parsing: Array(text.utf8))
        #expect(String(decoding: description.serialized(), as: UTF8.self) == text)
    }

    static let bad: [(String, SessionDescription.ParseError)] = [
        ("", .version), ("\r\n\r\n", .version), ("v=1\r\n", .version), ("o=- 1 1 IN IP4 h\r\nv=0\r\n", .version),
        ("INVITE sip:a SIP/2.0", .version),
        ("v=0\r\ns=-\r\n", .missingOrigin), ("v=0\r\no=- 1 IN IP4 h\r\n", .malformed(line: 2)),
        ("v=0\r\no=- 1 1 IN IP4 h\r\nnonsense\r\n", .malformed(line: 3)), ("v=0\r\no=- 1 1 IN IP4 h\r\na\r\n", .malformed(line: 3)),
        ("v=0\r\no=- 1 1 IN IP4 h\r\nm=audio\r\n", .malformed(line: 3)),
        ("v=0\r\no=- 1 1 IN IP4 h\r\nm=audio 65536 RTP/AVP 0\r\n", .malformed(line: 3)),
        ("v=0\r\no=- 1 1 IN IP4 h\r\nm=audio -1 RTP/AVP 0\r\n", .malformed(line: 3)),
        ("v=0\r\no=- 1 1 IN IP4 h\r\nc=IN IP4\r\n", .malformed(line: 3)),
        ("v=0\r\no=- 1 1 IN IP4 h\r\na=x\ry\r\n", .malformed(line: 3)), ("v=0\r\no=- 1 1 IN IP4 h\r\na=x\0y\r\n", .malformed(line: 3)),
    ]

    @Test(arguments: bad)
    func `refuses what is no description`(text: String, error: SessionDescription.ParseError) {
        #expect(throws: error) { try SessionDescription(parsing: Array(text.utf8)) }
    }

    static let head = "v=0\no=- 1 1 IN IP4 h\n"
    static let stream = "m=audio 1 RTP/AVP 0\n"
    struct Cap: CustomStringConvertible, Sendable {
        var description: String
        var unit: String
        var most: Int
    }
    static let caps = [
        Cap(description: "attributes", unit: "a=x\n", most: 128), Cap(description: "other lines", unit: "b=x:1\n", most: 128),
        Cap(description: "streams", unit: stream, most: 64),
        Cap(description: "attributes of a stream", unit: "a=y\n", most: 1_024),
        Cap(description: "other lines of a stream", unit: "b=y:1\n", most: 1_024),
    ]

    @Test(arguments: caps)
    func `holds as many lines as it says and no more`(cap: Cap) throws {
        let head = Self.head + (cap.description.hasSuffix("of a stream") ? Self.stream + "a=z\n" + Self.stream : "")
        _ = try SessionDescription(parsing: Array((head + String(repeating: cap.unit, count: cap.most)).utf8))
        #expect(throws: SessionDescription.ParseError.tooLarge) {
            try SessionDescription(parsing: Array((head + String(repeating: cap.unit, count: cap.most + 1)).utf8))
        }
    }

    @Test func `refuses more than 64 KiB and more formats than a stream may have`() throws {
        let filler = Self.head + "s=" + String(repeating: "x", count: 65_536 - Self.head.utf8.count - 2)
        #expect(try SessionDescription(parsing: Array(filler.utf8)).sessionName.count > 65_000)
        #expect(throws: SessionDescription.ParseError.tooLarge) { try SessionDescription(parsing: Array((filler + "x").utf8)) }
        let formats = Self.head + "m=audio 1 RTP/AVP" + String(repeating: " 0", count: 129)
        #expect(throws: SessionDescription.ParseError.tooLarge) { try SessionDescription(parsing: Array(formats.utf8)) }
    }

    @Test(arguments: 0..<50)
    func `a made description parses to itself`(seed: UInt64) throws {
        var maker = Maker(random: SeededRandom(seed: seed))
        let made = maker.description()
        #expect(try SessionDescription(parsing: made.serialized()) == made)
    }

    @Test(arguments: 0..<20)
    func `a damaged description parses to what it serialises to, or is an error`(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        var parsed = 0
        for _ in 0..<200 {
            var bytes = RealOffers.all.randomElement(using: &random)!.body
            for _ in 0..<Int.random(in: 1...6, using: &random) { mutate(&bytes, &random) }
            guard let description = try? SessionDescription(parsing: bytes) else { continue }
            parsed += 1
            #expect(try SessionDescription(parsing: description.serialized()) == description)
            negotiate(bytes, description)
        }
        #expect(parsed > 0)
    }

    private func negotiate(_ bytes: [UInt8], _ description: SessionDescription) {
        var callee = engine()
        if (try? callee.receive(offer: bytes)) != nil, let answer = try? callee.answer() {
            #expect(answer.description.media.count == description.media.count)
            #expect(answer.audio.map { !$0.codecs.isEmpty && $0.remoteRTP.port != 0 } ?? false)
        }
        var caller = engine()
        _ = caller.offer()
        _ = try? caller.receive(answer: bytes)
        #expect(caller.state == .stable)
    }

    private func mutate(_ bytes: inout [UInt8], _ random: inout SeededRandom) {
        guard !bytes.isEmpty else { return }
        let place = Int.random(in: bytes.indices, using: &random)
        switch Int.random(in: 0..<5, using: &random) {
        case 0: bytes[place] = UInt8.random(in: 0...255, using: &random)
        case 1: bytes.remove(at: place)
        case 2: bytes.insert(Array("0=: /\n9m".utf8).randomElement(using: &random)!, at: place)
        case 3: bytes.removeSubrange(place..<min(bytes.count, place + Int.random(in: 1...30, using: &random)))
        default: bytes.insert(contentsOf: bytes[place..<min(bytes.count, place + 40)], at: Int.random(in: bytes.indices, using: &random))
        }
    }
}

/// Random descriptions that keep to the grammar.
private struct Maker {
    var random: SeededRandom

    mutating func description() -> SessionDescription {
        var made = SessionDescription(
            origin: .init(username: word(), sessionID: number(), version: number(), addressType: "IP4", address: word()),
            sessionName: text(),
            connection: connection(), timing: number() + " " + number())
        made.otherLines = lines("iuepbrzky")
        made.attributes = attributes()
        made.media = (0..<count(4)).map { _ in media() }
        return made
    }

    private mutating func media() -> SessionDescription.Media {
        var media = SessionDescription.Media(
            kind: word(), port: .random(in: 0 ... .max, using: &random), proto: word(), formats: (0..<count(5)).map { _ in word() })
        media.portCount = Bool.random(using: &random) ? number() : nil
        media.connection = connection()
        media.otherLines = lines("ibkz")
        media.attributes = attributes()
        return media
    }

    /// In the canonical order, several of each kind.
    private mutating func lines(_ types: String) -> [SessionDescription.Line] {
        types.utf8.flatMap { type in (0..<count(2)).map { _ in SessionDescription.Line(type: type, value: text()) } }
    }

    private mutating func attributes() -> [SessionDescription.Attribute] {
        (0..<count(5)).map { _ in .init(word(), Bool.random(using: &random) ? text() : nil) }
    }

    private mutating func connection() -> SessionDescription.Connection? {
        Bool.random(using: &random) ? .init(addressType: "IP6", host: word()) : nil
    }

    private mutating func count(_ most: Int) -> Int { Int.random(in: 0...most, using: &random) }
    private mutating func number() -> Text { Text(UInt64.random(in: 0 ... .max, using: &random)) }
    private mutating func word() -> Text { letters(from: 1, of: Array("abcXYZ0189-._*".utf8)) }
    private mutating func text() -> Text { letters(from: 0, of: Array("ab Z09:=/;é ".utf8)) }

    private mutating func letters(from least: Int, of alphabet: [UInt8]) -> Text {
        Text((0..<Int.random(in: least...12, using: &random)).map { _ in alphabet.randomElement(using: &random)! })
    }
}
