import Primitives
import Testing

@testable import SDP

/// Makes session descriptions of every shape that the grammar allows (RFC 8866 §9), one for each seed.
private struct DescriptionMaker {
    var random: SeededRandom

    init(seed: UInt64) { random = SeededRandom(seed: seed) }

    mutating func pick<Element>(_ choices: [Element]) -> Element { choices[Int.random(in: 0..<choices.count, using: &random)] }
    mutating func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &random) < percent }

    mutating func word(_ alphabet: String, _ length: ClosedRange<Int>) -> Text {
        let letters = Array(alphabet)
        return Text(
            String((0..<Int.random(in: length, using: &random)).map { _ in letters[Int.random(in: 0..<letters.count, using: &random)] }))
    }

    mutating func token() -> Text { word("abcXYZ019-.!%*_+`'~{}|^", 1...12) }
    /// What may stand in a line: everything but NUL and line ends.
    mutating func line() -> Text { word("any :;/=,\"<>\tbcé\u{7F}0", 0...24) }
    mutating func number() -> Text { word("0123456789", 1...22) }
    mutating func family() -> Text { pick(["IP4", "IP6"]) }
    mutating func host() -> Text {
        pick(["192.0.2.1", "2001:db8::1", "224.2.1.1/127", "224.2.1.1/127/3", "host.example.com", "0.0.0.0", "::"])
    }

    mutating func description() -> SessionDescription {
        let origin = SessionDescription.Origin(
            username: pick(["-", "alice", "with some spaces", token()]), sessionID: number(), version: number(), addressType: family(),
            address: host())
        var description = SessionDescription(
            origin: origin, sessionName: pick(["-", " ", "", line()]), connection: connection(), timing: number() + " " + number())
        description.otherLines = lines()
        description.attributes = attributes()
        description.media = (0..<Int.random(in: 0...4, using: &random)).map { _ in media() }
        return description
    }

    private mutating func connection() -> SessionDescription.Connection? { chance(60) ? .init(addressType: family(), host: host()) : nil }

    /// In the order in which they are written: `i= u= e= p=`, then `b=`, then the rest.
    private mutating func lines() -> [SessionDescription.Line] {
        let made = "iuepbrzkx".utf8.filter { _ in Int.random(in: 0..<4, using: &random) == 0 }
        return made.map { type in SessionDescription.Line(type: type, value: line()) }
    }

    private mutating func attributes() -> [SessionDescription.Attribute] {
        (0..<Int.random(in: 0...5, using: &random)).map { _ in
            SessionDescription.Attribute(
                pick(["rtpmap", "fmtp", "sendonly", "inactive", "crypto", "candidate", token()]), chance(70) ? line() : nil)
        }
    }

    private mutating func media() -> SessionDescription.Media {
        var media = SessionDescription.Media(
            kind: pick(["audio", "video", "application", token()]), port: UInt16.random(in: 0...65_535, using: &random),
            proto: pick(["RTP/AVP", "RTP/SAVP", "UDP/TLS/RTP/SAVPF", "TCP/BFCP", "udptl"]),
            formats: (0..<Int.random(in: 0...6, using: &random)).map { _ in pick(["0", "8", "96", "127", "*", "t38", token()]) })
        media.portCount = chance(15) ? number() : nil
        media.connection = connection()
        media.otherLines = lines()
        media.attributes = attributes()
        return media
    }
}

@Suite struct RoundTripTests {
    @Test(arguments: 0..<8)
    func `what is written is what is read, for descriptions of every shape`(hundred: Int) throws {
        for seed in (hundred * 200)..<(hundred * 200 + 200) {
            var maker = DescriptionMaker(seed: UInt64(seed))
            let description = maker.description(), bytes = description.serialized()
            let again: SessionDescription
            do { again = try SessionDescription(parsing: bytes) } catch {
                Issue.record("seed \(seed): \(error)\n\(String(decoding: bytes, as: UTF8.self))")
                continue
            }
            #expect(again == description, "seed \(seed)\n\(String(decoding: bytes, as: UTF8.self))")
            #expect(again.serialized() == bytes, "seed \(seed)")
        }
    }

    @Test func `lines of other orders, with line feeds alone, are the same description`() throws {
        for seed in 0..<200 {
            var maker = DescriptionMaker(seed: UInt64(seed))
            let description = maker.description()
            var text = String(decoding: description.serialized(), as: UTF8.self).split(separator: "\r\n", omittingEmptySubsequences: true)
                .map(String.init)
            let session = text.firstIndex { $0.hasPrefix("m=") } ?? text.endIndex
            // The order of attributes, and of lines of one kind, is a part of what they say.
            text[2..<session].sort { rank($0) < rank($1) }
            let shuffled = Array((text.joined(separator: "\n") + "\n").utf8)
            #expect(try SessionDescription(parsing: shuffled) == description, "seed \(seed)")
        }
    }

    /// Attributes first, then what has one place of its own, then the rest: stable within each.
    private func rank(_ line: String) -> Int { line.hasPrefix("a=") ? 0 : ["s=", "t=", "c="].contains { line.hasPrefix($0) } ? 1 : 2 }
}
