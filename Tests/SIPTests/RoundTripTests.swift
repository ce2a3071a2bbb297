import Primitives
import Testing

@testable import SIP

/// Writes messages of every shape that the grammar allows, one for each seed.
struct MessageWriter {
    var random: SeededRandom

    init(seed: UInt64) { random = SeededRandom(seed: seed) }

    mutating func pick<Element>(_ choices: [Element]) -> Element { choices[Int.random(in: 0..<choices.count, using: &random)] }
    mutating func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &random) < percent }

    mutating func word(_ alphabet: String, _ length: ClosedRange<Int>) -> String {
        let letters = Array(alphabet)
        return String((0..<Int.random(in: length, using: &random)).map { _ in letters[Int.random(in: 0..<letters.count, using: &random)] })
    }

    mutating func token() -> String { word("abcXYZ019-.!%*_+`'~", 1...12) }
    mutating func space() -> String { pick(["", "", "", " ", "\t", "\r\n ", "\r\n\t  "]) }
    mutating func host() -> String { pick(["example.com", "192.0.2.1", "[2001:db8::1]", "a-b.c_d.test", word("abc01", 1...20)]) }
    mutating func port() -> String { chance(30) ? ":\(Int.random(in: 0...65_535, using: &random))" : "" }
    mutating func quoted() -> String { "\"" + word("ab <>,;:@é\t", 0...15) + pick(["", "\\\"", "\\\\", ""]) + "\"" }

    mutating func uri() -> String {
        var text = pick(["sip:", "sips:", "SIP:"])
        if chance(80) {
            text +=
                word("abz019-_.!~*'()&=+$,;?/#", 1...12) + pick(["", "%41%2f"]) + (chance(10) ? ":" + word("ab&=+$,", 0...5) : "") + "@"
        }
        text += host() + port()
        for _ in 0..<Int.random(in: 0...3, using: &random) {
            text += ";" + word("abt", 1...6) + (chance(60) ? "=" + word("abc[]/:&+$=", 1...3) + pick(["", "%41"]) : "")
        }
        if chance(10) { text += "?a=b&c=%20" }
        return text
    }

    mutating func parameters() -> String {
        (0..<Int.random(in: 0...3, using: &random)).map { _ in
            space() + ";" + space() + token() + (chance(70) ? space() + "=" + space() + pick([token(), quoted(), host()]) : "")
        }.joined()
    }

    mutating func address(tag: String? = nil) -> String {
        let bare = "sip:" + (chance(50) ? word("abc", 1...5) + "@" : "") + host() + port()
        let body = pick([quoted() + space() + "<" + uri() + ">", token() + " " + token() + " <" + uri() + ">", "<" + uri() + ">", bare])
        return body + (tag.map { space() + ";tag=" + $0 } ?? "") + parameters()
    }

    mutating func via() -> String {
        "SIP" + space() + "/" + space() + "2.0/" + pick(["UDP", "TCP", "TLS", token()]) + " " + space() + host()
            + (chance(40) ? space() + ":" + space() + "5060" : "") + ";branch=z9hG4bK" + token()
            + parameters()
    }

    mutating func field(_ long: String, _ short: String? = nil, _ value: String) -> String {
        var name = chance(30) ? short ?? long : long
        if chance(20) { name = name.uppercased() }
        return name + (chance(10) ? " " : "") + ":" + space() + value + pick(["", "", " "]) + "\r\n"
    }

    mutating func message() -> [UInt8] {
        let method = pick(["INVITE", "ACK", "BYE", "REGISTER", "NOTIFY", token()])
        let isRequest = chance(70)
        let body = word("v=0\r\n abc", 0...60)
        var lines = [field("Via", "v", via() + (chance(20) ? space() + "," + space() + via() : ""))]
        lines.append(field("From", "f", address(tag: token())))
        lines.append(field("To", "t", address(tag: chance(50) ? token() : nil)))
        lines.append(field("Call-ID", "i", word("abcABC123-.@<>:\\\"/[]?{}()", 1...30)))
        lines.append(field("CSeq", nil, "\(UInt32.random(in: 0...0x7FFF_FFFF, using: &random)) \(method)"))
        if chance(80) { lines.append(field("Max-Forwards", nil, "\(Int.random(in: 0...255, using: &random))")) }
        if chance(60) { lines.append(field("Contact", "m", chance(10) ? "*" : address() + (chance(30) ? " , " + address() : ""))) }
        for name in ["Route", "Record-Route", "Path", "P-Asserted-Identity", "Refer-To", "Contact"] where chance(20) {
            lines.append(field(name, name == "Refer-To" ? "r" : nil, address() + (chance(30) ? space() + "," + space() + address() : "")))
        }
        if chance(20) { lines.append(field("Reason", nil, token() + parameters())) }
        if chance(20) {
            lines.append(
                field(
                    "Supported", "k",
                    (0..<Int.random(in: 0...3, using: &random)).map { _ in token() }.joined(separator: space() + "," + space())))
        }
        if chance(20) { lines.append(field("Expires", nil, "\(UInt32.random(in: 0...UInt32.max, using: &random))")) }
        for _ in 0..<Int.random(in: 0...4, using: &random) {
            lines.append(field("X-" + word("abc-", 1...5), nil, word("any;,:<>\"= \u{7F}é", 0...20).trimmed))
        }
        if chance(60) { lines.append(field("Content-Length", "l", "\(body.utf8.count)")) }
        lines.shuffle(using: &random)
        let start =
            isRequest
            ? "\(method) \(uri()) SIP/2.0\r\n" : "SIP/2.0 \(Int.random(in: 100...699, using: &random)) \(word("OK no: é", 0...10))\r\n"
        return Array((start + lines.joined() + "\r\n" + body).utf8)
    }
}

extension String {
    fileprivate var trimmed: String { Text(self).trimmed.description }
}

@Suite struct RoundTripTests {
    @Test(arguments: 0..<8)
    func `what is written is what was read, for messages of every shape`(hundred: Int) throws {
        for seed in (hundred * 100)..<(hundred * 100 + 100) {
            var writer = MessageWriter(seed: UInt64(seed))
            let bytes = writer.message()
            let message: Message
            do { message = try Message(parsing: bytes) } catch {
                Issue.record("seed \(seed): \(error.defect)\n\(String(decoding: bytes, as: UTF8.self))")
                continue
            }
            let once = message.serialized()
            if message.headers.contains(.contentLength) { #expect(once == Self.unfolded(bytes), "seed \(seed)") }
            let again = try Message(parsing: once)
            #expect(again.serialized() == once, "seed \(seed)")
            #expect(again.startLine == message.startLine && again.content == message.content, "seed \(seed)")
            #expect(
                again.from == message.from && again.to == message.to && again.callID == message.callID && again.cseq == message.cseq,
                "seed \(seed)")
            #expect(
                again.vias == message.vias && again.contacts == message.contacts && again.maxForwards == message.maxForwards, "seed \(seed)"
            )
            for address in message.contacts + [message.from, message.to] { try self.survivesRewriting(address, seed) }
        }
    }

    @Test func `a message that is kept is the same, and all of it in one buffer that has no more room than it needs`() throws {
        for (seed, isStamped) in (UInt64(0)..<400).map({ ($0 / 2, $0 % 2 == 0) }) {
            var writer = MessageWriter(seed: seed)
            var message = try Message(parsing: writer.message())
            if isStamped { message.via.stamp(source: try #require(SocketAddress("192.0.2.99:7000"))) }
            let bytes = message.serialized(), kept = message.compacted
            #expect(kept.serialized() == bytes && kept.startLine == message.startLine && kept.content == message.content, "seed \(seed)")
            #expect(
                kept.via == message.via && kept.from == message.from && kept.to == message.to && kept.cseq == message.cseq
                    && kept.contacts == message.contacts, "seed \(seed)")
            #expect(
                kept.headers.buffer.capacity <= bytes.count + (isStamped ? 64 : 512)
                    && kept.headers.fields.capacity <= kept.headers.count + 2, "seed \(seed)")
            let isShared = kept.headers.buffer.withUnsafeBytes { buffer in
                kept.content.bytes.withUnsafeBytes {
                    $0.isEmpty || buffer.baseAddress! <= $0.baseAddress! && $0.baseAddress! < buffer.baseAddress! + buffer.count
                }
            }
            #expect(isShared, "seed \(seed)")
        }
    }

    @Test func `blanks behind a Via are no place in it`() throws {
        let via = try Via(parsing: Text("SIP/2.0/UDP h" + String(repeating: " ", count: 2_000)))
        let party = try NameAddress(parsing: "<sip:a@h>;tag=1")
        let request = Message.request(.options, uri: party.uri, via: via, from: party, to: party, callID: "c", cseq: 1)
        #expect(request.via.parameters.isEmpty && !request.via.asksForPort && request.via.text == "SIP/2.0/UDP h")
    }

    /// The octets that a message is written as: its own, with a fold in the head as two spaces (RFC 3261 §7.3.1).
    private static func unfolded(_ bytes: [UInt8]) -> [UInt8] {
        var bytes = bytes, at = 0
        while at + 3 < bytes.count, bytes[at...].prefix(4) != [0x0D, 0x0A, 0x0D, 0x0A] {
            if bytes[at] == 0x0D, bytes[at + 1] == 0x0A, bytes[at + 2] == 0x20 || bytes[at + 2] == 0x09 {
                (bytes[at], bytes[at + 1]) = (0x20, 0x20)
            }
            at += 1
        }
        return bytes
    }

    /// An address that is taken apart and made anew means the same.
    private func survivesRewriting(_ address: NameAddress, _ seed: Int) throws {
        let made = NameAddress(displayName: address.displayName, uri: address.uri, parameters: address.parameters)
        #expect(made.uri == address.uri && made.displayName == address.displayName && made.tag == address.tag, "seed \(seed)")
        var uri = address.uri
        if uri.isSIP {
            uri.port = 5999
            #expect(
                uri.port == 5999 && uri.user == address.uri.user && uri.host == address.uri.host
                    && uri.parameters == address.uri.parameters, "seed \(seed)")
        }
    }
}

@Suite struct MutationTests {
    /// Changes a few bytes: flips, inserts, deletes, doubles, or splices another message in.
    static func mutate(_ bytes: inout [UInt8], with other: [UInt8], _ random: inout SeededRandom) {
        let telling = Array("\r\n\t ;,<>\":@=%/?[]*0\u{0}".utf8)
        for _ in 0..<Int.random(in: 1...4, using: &random) where !bytes.isEmpty {
            let at = Int.random(in: 0..<bytes.count, using: &random)
            switch Int.random(in: 0..<6, using: &random) {
            case 0: bytes[at] ^= 1 << UInt8.random(in: 0..<8, using: &random)
            case 1: bytes[at] = telling[Int.random(in: 0..<telling.count, using: &random)]
            case 2: bytes.insert(telling[Int.random(in: 0..<telling.count, using: &random)], at: at)
            case 3: bytes.removeSubrange(at..<min(bytes.count, at + Int.random(in: 1...8, using: &random)))
            case 4: bytes.insert(contentsOf: bytes[at..<min(bytes.count, at + 20)], at: at)
            default: bytes.replaceSubrange(at..., with: other.suffix(Int.random(in: 0...other.count, using: &random)))
            }
        }
    }

    @Test(arguments: 0..<8)
    func `no mutation of the corpus traps, and what is read is bounded and stable`(seed: Int) throws {
        var random = SeededRandom(seed: UInt64(seed))
        let inputs = try (corpusFiles("rfc4475") + corpusFiles("rfc5118")).map(corpus)
        var taken = 0
        for _ in 0..<800 {
            var bytes = inputs[Int.random(in: 0..<inputs.count, using: &random)]
            Self.mutate(&bytes, with: inputs[Int.random(in: 0..<inputs.count, using: &random)], &random)
            taken += exercise(bytes) ? 1 : 0
        }
        #expect(taken > 50, "the mutations must leave something to read")
    }
}

/// What is located of a message, piece by piece.
private func places(_ message: Message) -> [Text?] {
    let (via, cseq) = (message.via, message.cseq)
    let ways = [via.text, via.transport, via.host, via.port.map { Text($0) }, via.parameters.text, via.branch, message.callID, cseq.text]
    return ways + places(message.from) + places(message.to) + (message.contact.map(places) ?? [])
}

private func places(_ address: NameAddress) -> [Text?] {
    let uri = address.uri
    let parts = [uri.text, uri.user, uri.password, uri.host, uri.port.map { Text($0) }, uri.parameters.text, uri.headers]
    return [address.text, address.displayName, address.parameters.text, address.tag] + parts
}

/// Reads bytes and uses everything that can be read of them; true when they were a message. Shared with the fuzzer's idea of what must
/// hold.
func exercise(_ bytes: [UInt8]) -> Bool {
    do {
        let message = try Message(parsing: bytes)
        let written = message.serialized()
        precondition(written.count <= bytes.count + 64, "grew")
        guard let again = try? Message(parsing: written) else { preconditionFailure("cannot read what was written") }
        precondition(again.serialized() == written, "unstable")
        _ = (
            message.vias, message.contacts, message.routes, message.recordRoutes, message.paths, message.reasons, message.expires,
            message.contentType
        )
        _ = (message.from.displayName, message.to.parameters.all, message.via.received, message.via.rport, message.headers.all)
        _ = message.requestURI.map { $0.isEquivalent(to: message.from.uri) }
        guard let uri = message.requestURI else { return true }
        let made = Message.request(
            message.method, uri: uri, via: message.via, from: message.from, to: message.to, callID: message.callID,
            cseq: message.cseq.number,
            routes: message.routes, contact: message.contact)
        guard let read = try? Message(parsing: made.serialized()) else { preconditionFailure("cannot read our request") }
        precondition(places(read) == places(made), "a request is not what it says")
        var response = Message.response(to: message, status: 200, toTag: "t", contact: message.contact)
        guard let copy = try? Message(parsing: response.serialized()) else { preconditionFailure("cannot read our response") }
        precondition(places(copy) == places(response), "a response is not what it says")
        precondition(places(message.from) == places(message.from.detached), "a copy is not what it was made of")
        // As the transport leaves it: its Via stands behind all other lines.
        var stamped = message
        // More than once, so that what is kept of it has lines to let go.
        for _ in 0..<20 { stamped.via.stamp(source: SocketAddress(.loopback, port: 1)) }
        precondition(
            places(stamped.withoutBody) == places(stamped) && stamped.withoutBody.body.isEmpty,
            "what is kept of a request is not what it was")
        for status in [100, 180, 486] {
            let answer = Message.response(to: stamped, status: status, toTag: "t")
            guard let copy = try? Message(parsing: answer.serialized()) else { preconditionFailure("cannot read our response") }
            precondition(
                places(copy) == places(answer) && copy.vias.map(\.text) == answer.vias.map(\.text), "a response is not what it says")
        }
        response.via.stamp(source: SocketAddress(.loopback, port: 1))
        response.to.displayName = response.from.displayName
        if let contact = message.contact {
            response.contact = NameAddress(displayName: contact.displayName, uri: contact.uri, parameters: contact.parameters)
        }
        precondition((try? Message(parsing: response.serialized())) != nil, "cannot read our response")
        return true
    } catch {
        if case .reject(let rejection) = error { precondition(rejection.response(toTag: "t").count <= bytes.count + 256) }
        return false
    }
}
