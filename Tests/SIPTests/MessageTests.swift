import Primitives
import Testing

@testable import SIP

@Suite struct MessageTests {
    @Test(.timeLimit(.minutes(30))) func `a message of many lines without a colon is read once, and not for each of them`() {
        let bytes = Array("OPTIONS sip:a SIP/2.0\r\n".utf8) + Array(repeating: Array("x\r\n".utf8), count: 21_800).joined()
        for _ in 0..<120 { #expect(throws: Message.ParseError.self) { try Message(parsing: bytes) } }
    }

    @Test func `an INVITE comes out byte for byte as it went in`() throws {
        let bytes = request(adding: ["Content-Type: application/sdp", "X-Unknown :  kept,  as is ", "Content-Length: 3"], body: "v=0")
        let message = try Message(parsing: bytes)
        #expect(message.serialized() == bytes)
        #expect(message.method == .invite && message.requestURI?.user == "bob" && message.via.branch == "z9hG4bK776asdhds")
        #expect(message.from.displayName == "Alice" && message.from.tag == "1928301774" && message.to.tag == nil)
        #expect(message.callID == "a84b4c76e66710@pc33.atlanta.com" && message.cseq.number == 314_159 && message.maxForwards == 70)
        #expect(message.contentType == "application/sdp" && message.body == Array("v=0".utf8))
        #expect(message.headers["x-unknown"] == "kept,  as is")
    }

    @Test func `a response has status and phrase and the method of its request`() throws {
        let message = try Message(
            parsing: wire([
                "SIP/2.0 486 Busy Here", "v: SIP/2.0/UDP a", "f: <sip:a@b>;tag=1", "t: <sip:c@d>;tag=2", "i: x", "CSeq: 1 INVITE",
            ]))
        #expect(message.status == 486 && message.reasonPhrase == "Busy Here" && message.method == .invite && !message.isRequest)
        #expect(String(decoding: message.serialized(), as: UTF8.self).hasSuffix("CSeq: 1 INVITE\r\nContent-Length: 0\r\n\r\n"))
    }

    @Test func `one bad Contact does not lose a response`() throws {
        let lines = [
            "SIP/2.0 200 OK", "v: SIP/2.0/UDP a", "f: <sip:a@b>;tag=1", "t: <sip:c@d>;tag=2", "i: x", "CSeq: 1 REGISTER",
            "m: <sip:good@a>, <sip:bad", "m: <sip:fine@b>",
        ]
        #expect(try Message(parsing: wire(lines)).contacts.map(\.uri.user) == ["good", "fine"])
        let broken = Array(lines.dropLast(2)) + ["m: \"Not me\" <sip:bad;x=1", "m: sip:fine@b"]
        let contact = try #require(try Message(parsing: wire(broken)).contact)
        #expect(contact.text == "sip:fine@b" && contact.displayName == nil && contact.uri.parameters.isEmpty)
    }

    /// What RFC 3261 and RFC 4475 ask for of broken requests.
    @Test(
        arguments: [
            (request(), "ok"), (Array("\r\n\r\n".utf8), "drop"), ([], "drop"), (Array("hello".utf8), "drop"),
            (Array("\r\n\r\n".utf8) + request(), "ok"),
            (request(replacing: ["Via": nil]), "drop"), (request(replacing: ["CSeq": nil]), "drop"),
            (request(replacing: ["To": nil]), "400"),
            (request(replacing: ["From": nil]), "400"), (request(replacing: ["Call-ID": nil]), "400"),
            (request(replacing: ["Max-Forwards": nil]), "ok"),
            (request(replacing: ["Via": "Via: nonsense"]), "drop"), (request(replacing: ["To": "To: x"]), "400"),
            (request(replacing: ["Contact": "Contact: *"]), "ok"),
            (request(replacing: ["Contact": "Contact: <sip:a@b>, <sip:c@d"]), "400"), (request(replacing: ["Contact": "Contact: "]), "400"),
            (request(replacing: ["Max-Forwards": "Max-Forwards: 256"]), "400"), (request(replacing: ["CSeq": "CSeq: 1 BYE"]), "400"),
            (request("ACK", replacing: ["To": "To: x"]), "drop"), (request(uri: "http://x"), "416"),
            (request(uri: "sip:a@b SIP/2.0 "), "400"),
            (request(uri: "sip:" + String(repeating: "a", count: 3_000)), "414"), (request(adding: ["no colon here"]), "400"),
            (request(adding: [": x"]), "400"),
            (request(adding: ["bad name: x"]), "400"), (request(adding: ["To: <sip:other@host>"]), "400"),
            (request(adding: ["Content-Length: 1"]), "400"),
            (request(adding: ["Content-Length: 99999999999999999999"]), "400"), (request(adding: ["Content-Length: -1"]), "400"),
            (request(adding: ["Content-Length: "]), "400"),
            (request(adding: ["Content-Length: 0", "l: 0"]), "400"),
            (request(adding: ["X: " + String(repeating: "a", count: 9_000)]), "513"),
            (request(adding: Array(repeating: "X: y", count: 300)), "513"),
            (request(replacing: ["CSeq": nil], adding: Array(repeating: "Via: SIP/2.0/UDP a", count: 300) + ["CSeq: 1 INVITE"]), "513"),
            (
                request(replacing: ["Via": nil], adding: Array(repeating: "X: y", count: 300) + ["Via: SIP/2.0/UDP a;branch=z9hG4bK1"]),
                "513"
            ), (request(body: String(repeating: "a", count: 65_536)), "513"),
            (request(adding: ["X: bare\rreturn"]), "400"), (request(adding: ["X: bare\nfeed"]), "400"),
            (Array(request().dropLast(2)), "400"),
            (wire(["INVITE sip:a@b SIP/3.0"] + ["Via: SIP/3.0/UDP h", "CSeq: 1 INVITE"]), "505"),
            (wire(["SIP/2.0 200 OK", "Via: SIP/2.0/UDP h"]), "drop"), (wire(["SIP/2.0 99 Low", "Via: SIP/2.0/UDP h"]), "drop"),
            (wire(["sip/2.0 700 X", "Via: SIP/2.0/UDP h", "CSeq: 1 INVITE"]), "drop"),
            (wire([" SIP/2.0 200 OK", "Via: SIP/2.0/UDP h", "CSeq: 1 INVITE"]), "drop"),
        ] as [([UInt8], String)])
    func `a broken message is answered when its sender can be told`(bytes: [UInt8], expected: String) {
        #expect(outcome(bytes) == expected)
    }

    @Test(arguments: [
        (";branch=z9hG4bKkeep;rport;;", ";branch=z9hG4bKkeep;rport"), (";branch=z9hG4bKkeep;rport;x=\"abc", ";branch=z9hG4bKkeep;rport"),
        (";;branch=z9hG4bK1", ""),
        (";x=\"abc;branch=z9hG4bK1", ""),
    ])
    func `the answer to a broken Via has of it what stands before the fault`(parameters: String, kept: String) throws {
        let error = #expect(throws: Message.ParseError.self) {
            try Message(parsing: request(replacing: ["Via": "Via: SIP/2.0/UDP host" + parameters]))
        }
        guard case .reject(let rejection) = try #require(error) else { return #expect(Bool(false), "dropped") }
        #expect(rejection.via.text.description == "SIP/2.0/UDP host" + kept)
    }

    @Test func `a rejection copies what a response needs and tags To`() throws {
        let bytes = request(replacing: ["From": "From: \"open <sip:a@b>"], adding: ["v: SIP/2.0/UDP second"])
        let error = #expect(throws: Message.ParseError.self) { try Message(parsing: bytes) }
        guard case .reject(var rejection) = try #require(error) else { return #expect(Bool(false), "dropped") }
        #expect(rejection.defect == .malformed(.from) && rejection.method == "INVITE")
        rejection.via.stamp(source: try #require(SocketAddress("192.0.2.9:7000")))
        let lines = String(decoding: rejection.response(toTag: "xyz"), as: UTF8.self).components(separatedBy: "\r\n")
        #expect(
            lines == [
                "SIP/2.0 400 Malformed From", "Via: SIP/2.0/UDP pc33.atlanta.com;branch=z9hG4bK776asdhds;received=192.0.2.9",
                "v: SIP/2.0/UDP second",
                "From: \"open <sip:a@b>", "To: Bob <sip:bob@biloxi.com>;tag=xyz", "Call-ID: a84b4c76e66710@pc33.atlanta.com",
                "CSeq: 314159 INVITE", "Content-Length: 0", "", "",
            ])
    }

    @Test func `folded lines are one line and lists are split where they should be`() throws {
        let bytes = request(
            replacing: ["Contact": "Contact: \"a, b\" <sip:x,1@y>\r\n ,\r\n\t<sip:z@y> ; q=0.1"],
            adding: ["Route: <sip:r1;lr>,<sip:r2;lr>", "Route: <sip:r3>"])
        let message = try Message(parsing: bytes)
        #expect(message.contacts.map(\.uri.user) == ["x,1", "z"])
        #expect(message.contacts.map(\.displayName) == ["a, b", nil])
        #expect(message.routes.map(\.uri.host) == ["r1", "r2", "r3"])
        #expect(try Message(parsing: message.serialized()).contacts == message.contacts)
    }

    @Test func `a response copies what RFC 3261 section 8.2.6 says`() throws {
        let invite = try Message(
            parsing: request(adding: [
                "Via: SIP/2.0/TCP other;branch=2", "Record-Route: <sip:p1;lr>", "Record-Route: <sip:p2;lr>", "Timestamp: 54", "Subject: no",
            ]))
        let trying = Message.response(to: invite, status: 100, toTag: "t")
        #expect(trying.to.tag == nil && trying.headers[.timestamp] == "54" && trying.recordRoutes.isEmpty)
        let ringing = Message.response(to: invite, status: 180, toTag: "t")
        #expect(
            ringing.to.tag == "t" && ringing.to.uri == invite.to.uri && ringing.recordRoutes == invite.recordRoutes
                && ringing.vias == invite.vias)
        #expect(
            ringing.from == invite.from && ringing.callID == invite.callID && ringing.cseq == invite.cseq
                && ringing.headers[.subject] == nil)
        #expect(Message.response(to: invite, status: 486, toTag: "t").recordRoutes.isEmpty)
        #expect(Message.response(to: invite, status: 603, reason: "No, thank you").reasonPhrase == "No, thank you")
        let again = try Message(parsing: request(replacing: ["To": "To: <sip:bob@biloxi.com>;tag=old"]))
        #expect(Message.response(to: again, status: 200, toTag: "new").to.tag == "old")
    }

    @Test func `a request that is built is a request that can be read`() throws {
        let uri = URI(user: "1002", host: "192.0.2.7", port: 5062)
        var message = Message.request(
            .invite, uri: uri, via: Via(transport: "UDP", host: "2001:db8::5", port: 5060, branch: "z9hG4bKabc"),
            from: NameAddress(displayName: "A \"B\"", uri: URI(user: "1001", host: "example.test"), parameters: ["tag": "ft"]),
            to: NameAddress(uri: URI(user: "1002", host: "example.test")), callID: "c@h", cseq: 7,
            routes: [NameAddress(uri: try URI(parsing: "sip:p;lr"))],
            contact: NameAddress(uri: URI(user: "gw", host: "2001:db8::5", port: 5060)))
        message.headers.append(.contentType, "application/sdp")
        message.headers.append("X-Note", "one\r\nInjected: two")
        message.body = Array("v=0\r\n".utf8)
        let read = try Message(parsing: message.serialized())
        #expect(
            read.requestURI == uri && read.via.host == "[2001:db8::5]" && read.via.asksForPort && read.from.displayName == "A \"B\""
                && read.from.tag == "ft")
        #expect(
            read.cseq == CSeq(number: 7, method: .invite) && read.routes.count == 1 && read.headers["Injected"] == nil
                && read.headers["X-Note"] == "one  Injected: two")
        #expect(read.body == Array("v=0\r\n".utf8) && read.contact?.uri.port == 5060)
    }

    @Test func `typed headers follow their text when it is changed`() throws {
        var message = try Message(parsing: request(adding: ["Via: SIP/2.0/UDP second;branch=b2, SIP/2.0/UDP third;branch=b3"]))
        message.via.stamp(source: try #require(SocketAddress("10.1.1.1:9")))
        #expect(message.vias.map(\.branch) == ["z9hG4bK776asdhds", "b2", "b3"] && message.vias.map(\.received) == ["10.1.1.1", nil, nil])
        message.to.tag = "t"
        message.cseq.number += 1
        message.maxForwards = 69
        message.callID = "new"
        message.contact = nil
        message.headers.prepend(.via, "SIP/2.0/UDP mine;branch=b0")
        #expect(message.via.host == "mine" && message.vias.count == 4 && message.contact == nil)
        let read = try Message(parsing: message.serialized())
        #expect(
            read.to.tag == "t" && read.cseq.number == 314_160 && read.maxForwards == 69 && read.callID == "new" && read.vias == message.vias
                && read.contacts.isEmpty)
    }

    @Test func `headers are set in place, removed and listed`() throws {
        var headers = Headers()
        for (name, value) in [("Allow", "INVITE, ACK"), ("X-A", "1"), ("allow", "BYE"), ("k", "timer"), ("x-a", "2")] as [(Text, Text)] {
            headers.append(HeaderName(name), value)
        }
        #expect(
            headers.elements(.allow) == ["INVITE", "ACK", "BYE"] && headers.lists("bye", in: .allow) && !headers.lists("INFO", in: .allow))
        #expect(headers[.supported] == "timer" && headers.all("X-a") == ["1", "2"])
        headers.set("X-A", "3")
        headers.remove(.allow)
        #expect(headers.all.map(\.name) == ["X-A", "Supported"] && headers["x-A"] == "3")
    }

    @Test func `a message that is edited for long does not grow`() throws {
        var message = try Message(parsing: request())
        for number in 0..<20_000 { message.headers.set("X-Count", Text(number)) }
        message.to.tag = "end"
        #expect(message.headers.buffer.count <= 2 * Limits.message + 100)
        #expect(try Message(parsing: message.serialized()).headers["X-Count"] == "19999")
    }

    @Test func `expiry and reasons are read leniently`() throws {
        let message = try Message(
            parsing: request(adding: ["Expires: 99999999999999", "Reason: SIP;cause=200;text=\"a, b\", Q.850;cause=16", "Reason: ;;"]))
        #expect(message.expires == .max)
        #expect(message.reasons == [Reason(protocol: "SIP", cause: 200, text: "a, b"), Reason(protocol: "Q.850", cause: 16)])
        #expect(try Message(parsing: request(adding: ["Expires: soon"])).expires == 3_600)
        #expect(try Message(parsing: request()).expires == nil)
    }
}

extension String {
    fileprivate func components(separatedBy separator: String) -> [String] {
        var parts: [String] = []
        var rest = self[...]
        while let range = rest.firstRange(of: separator) {
            parts.append(String(rest[..<range.lowerBound]))
            rest = rest[range.upperBound...]
        }
        return parts + [String(rest)]
    }
}
