import CallKit
import Media
import Primitives
import RTP
import Runtime
import SIP
import Testing
import UserAgent

@testable import Gateway
@testable import Rehearsal

/// Who calls, as it is believed and told: RFC 3323, RFC 3325.
@Suite struct IdentityTests {
    /// The caller's network asserts identities, that of the device does not; or the other way round.
    private func stage(asserting network: String) -> Stage { Stage { $0.access.asserting = [IPNetwork(network)!] } }

    private func called(_ stage: Stage, _ headers: [String]) throws -> (RawPeer, RawPeer, Message) {
        let (caller, device) = (RawPeer(stage, 1), RawPeer(stage, 2))
        device.request("REGISTER", BridgedCall.line, call: "register", 1)
        caller.request("INVITE", BridgedCall.line, call: "who", 1, body: caller.description(), headers: headers)
        return (caller, device, try device.received(.invite))
    }

    private func over(_ stage: Stage, _ device: RawPeer) {
        device.answer(device.request(.invite), 486)
        stage.expectQuiet()
    }

    @Test func `a caller is named without escapes that it does not need`() throws {
        let world = stage(asserting: "192.0.2.1/32")
        for (asserted, user) in [("%2B15550100", "+15550100"), ("a%3Eb", "a%3Eb"), ("j%20doe", "j%20doe")] {
            let (_, device, invite) = try called(world, ["P-Asserted-Identity: <sip:\(asserted)@carrier.test>"])
            #expect(invite.from.uri.user == Text(user))
            over(world, device)
        }
    }

    @Test func `an identity is believed of peers that assert, and of nobody else`() throws {
        for (network, user) in [("192.0.2.1/32", "+15550100"), ("192.0.2.2/32", "peer")] {
            let stage = stage(asserting: network)
            let (_, device, invite) = try called(stage, ["P-Asserted-Identity: \"Ann\" <sip:+15550100@carrier.test>"])
            #expect(invite.from.uri.user == Text(user))
            // Told to peers that assert alone.
            #expect(invite.headers[.pAssertedIdentity] == (network == "192.0.2.1/32" ? nil : "<sip:peer@hookswitch.test>"))
            over(stage, device)
        }
    }

    @Test func `a caller that wants to stay unknown is anonymous, but not to peers that assert`() throws {
        for (network, isTold) in [("192.0.2.1/32", false), ("192.0.2.2/32", true)] {
            let stage = stage(asserting: network)
            let (_, device, invite) = try called(stage, ["Privacy: id;critical"])
            #expect(invite.from.uri.text == "sip:anonymous@anonymous.invalid" && invite.from.displayName == "Anonymous")
            #expect(invite.headers[.privacy] == "id")
            #expect(invite.headers.contains(.pAssertedIdentity) == isTold)
            over(stage, device)
        }
    }

    @Test func `a line of ours that calls as nobody is nobody to those that it calls`() throws {
        let stage = Stage { configuration in
            configuration.access.trusted = []
            var line = LineConfiguration(number: "2001")
            line.password = "secret"
            configuration.lines.append(line)
        }
        let (caller, device) = (RawPeer(stage, 1), RawPeer(stage, 2)), nobody = "\"Anonymous\" <sip:anonymous@anonymous.invalid>"
        device.request("REGISTER", BridgedCall.line, call: "register", 1, from: "<\(BridgedCall.line)>")
        caller.request("INVITE", BridgedCall.line, call: "who", 1, body: caller.description(), from: nobody)
        let challenge = try #require(caller.final(.invite, 1))
        let lines = [
            "INVITE \(BridgedCall.line) SIP/2.0", "Via: \(challenge.via.text)", "From: \(nobody);tag=who", "To: <\(BridgedCall.line)>",
            "Call-ID: who", "CSeq: 2 INVITE",
        ]
        var proof = try Message(parsing: Array((lines + ["", ""]).joined(separator: "\r\n").utf8))
        var client = DigestClient(user: "2001", secret: .password("secret"), hash: OpenSSLDigest.sip)
        try client.answer(challenge, in: &proof, clientNonce: "nonce")
        let credentials = try #require(proof.headers[.authorization])
        caller.request(
            "INVITE", BridgedCall.line, call: "who", 2, body: caller.description(), headers: ["Authorization: \(credentials)"], from: nobody
        )
        let invite = try device.received(.invite)
        #expect(invite.from.uri.text == "sip:anonymous@anonymous.invalid" && invite.contact?.uri.user != "2001")
        over(stage, device)
    }

    @Test(arguments: [
        ("<sip:20-01@d.test;user=phone>", 401), ("<sip:2001;x=y@d.test>", 401), ("<sip:2001;x=y@d.test;user=phone>", 401),
        ("<sip:20-01@d.test>", 180),
    ])
    func `a caller proves to be the line that it names by whatever spelling`(sender: String, status: Int) throws {
        let stage = Stage { configuration in
            (configuration.access.trusted, configuration.access.guests) = ([], [IPNetwork("0.0.0.0/0")!])
            var line = LineConfiguration(number: "2001")
            line.password = "secret"
            configuration.lines.append(line)
        }
        let (caller, device) = (RawPeer(stage, 1), RawPeer(stage, 2))
        stage.telephonesRing = true
        device.request("REGISTER", BridgedCall.line, call: "register", 1, from: "<\(BridgedCall.line)>")
        caller.request("INVITE", BridgedCall.line, call: "who", 1, body: caller.description(), from: sender)
        #expect(caller.heard.last?.status == status)
    }

    @Test func `without a wish for privacy the caller is named`() throws {
        let stage = stage(asserting: "192.0.2.1/32")
        let (_, device, invite) = try called(stage, ["Privacy: none"])
        #expect(invite.from.uri.user == "peer" && !invite.headers.contains(.privacy))
        over(stage, device)
    }
}

/// What passes between lines beside calls.
@Suite struct PassingTests {
    @Test func `a MESSAGE reaches the devices of a line, and the answer comes back`() throws {
        for (status, told) in [(200, 200), (202, 202), (415, 415), (486, 486), (481, 500)] {
            let stage = Stage()
            let (caller, device) = (RawPeer(stage, 1), RawPeer(stage, 2))
            device.request("REGISTER", BridgedCall.line, call: "register", 1)
            caller.request(
                "MESSAGE", BridgedCall.line, call: "text", 1, body: "hello",
                headers: ["Content-Type: text/plain", "Subject: hi", "expires: 60"])
            let message = try device.received(.message)
            #expect(message.headers[.subject] == "hi" && message.headers[.expires] == "60")
            #expect(
                String(decoding: message.body, as: UTF8.self) == "hello" && message.contentType == "text/plain"
                    && message.from.uri.user == "peer")
            #expect(caller.final(.message, 1) == nil)
            device.answer(message, status, headers: [(.accept, "text/html;a=\u{1}b")])
            let told = (status: told, accept: status == 415 ? "text/html;a= b" as Text : nil)
            #expect(caller.final(.message, 1)?.status == told.status && caller.final(.message, 1)?.headers[.accept] == told.accept)
            stage.expectQuiet()
        }
    }

    /// It says that texts are not for that address (RFC 3261 §21.4.6), and a 503 would have our peers leave all of this gateway alone.
    @Test(
        arguments: [(405, "INVITE, ACK", 405, "INVITE, ACK"), (405, nil, 405, "INVITE, ACK, CANCEL, BYE, OPTIONS"), (503, nil, 500, nil)]
            as [(Int, Text?, Int, Text?)])
    func `a telephone that takes no texts says so, and one that is out of order is not the gateway`(
        status: Int, allow: Text?, told: Int, allowed: Text?
    ) throws {
        let stage = Stage()
        let (caller, device) = (RawPeer(stage, 1), RawPeer(stage, 2))
        device.request("REGISTER", BridgedCall.line, call: "register", 1)
        caller.request("MESSAGE", BridgedCall.line, call: "text", 1, body: "hello", headers: ["Content-Type: text/plain"])
        device.answer(try device.received(.message), status, headers: allow.map { [(.allow, $0)] } ?? [])
        #expect(caller.final(.message, 1)?.status == told && caller.final(.message, 1)?.headers[.allow] == allowed)
        stage.expectQuiet()
    }

    @Test(arguments: ["<tel:->", "<tel:()>", "<sip:-@peer.test;user=phone>"])
    func `whose number is nothing but separators has none`(sender: String) throws {
        let stage = Stage()
        let (caller, device) = (RawPeer(stage, 1), RawPeer(stage, 2))
        device.request("REGISTER", BridgedCall.line, call: "register", 1)
        caller.request("MESSAGE", BridgedCall.line, call: "text", 1, body: "hello", headers: ["Content-Type: text/plain"], from: sender)
        device.answer(try device.received(.message), 200)
        caller.request("INVITE", BridgedCall.line, call: "call", 1, body: caller.description(), from: sender)
        let invite = try device.received(.invite)
        #expect(try device.received(.message).from.uri.user == nil && invite.from.uri.user == nil)
        device.answer(invite, 486)
        #expect(caller.final(.message, 1)?.status == 200 && caller.final(.invite, 1)?.status == 486)
        stage.expectQuiet()
    }

    /// What a line gives on with an INVITE, the 18x and the 200 to it, and with its own BYE.
    @Test(arguments: [nil, ["x-*", "Diversion"], []] as [[Text]?])
    func `what one line says of a call reaches the other`(names: [Text]?) throws {
        let stage = Stage { configuration in if let names { configuration.headers.copy = names.map { HeaderRules.NamePattern($0)! } } }
        let isPassed = names?.isEmpty == false, (caller, device) = (RawPeer(stage, 1), RawPeer(stage, 2))
        device.request("REGISTER", BridgedCall.line, call: "register", 1)
        let said = [
            "s: lunch", "Priority: urgent", "User-to-User: 00aa;encoding=hex", "x-Trace: 1", "Diversion: <sip:a@b.test>",
            "Alert-Info: <http://a.test>",
        ]
        caller.request("INVITE", BridgedCall.line, call: "one", 1, body: caller.description(), headers: said)
        let invite = try device.received(.invite)
        let expected: [Text?] =
            names == nil
            ? ["lunch", nil, "00aa;encoding=hex", nil, nil, nil]
            : isPassed ? [nil, nil, nil, "1", "<sip:a@b.test>", nil] : [nil, nil, nil, nil, nil, nil]
        #expect(
            ["Subject", "Priority", "User-to-User", "X-Trace", "Diversion", "Alert-Info"].map { invite.headers[HeaderName($0)] } == expected
        )
        device.answer(invite, 180, headers: [("X-Ring", "2")])
        #expect(caller.heard.contains { $0.status == 180 && $0.headers["X-Ring"] == "2" } == isPassed)
        device.answer(invite, 200, body: device.description(), headers: [("X-Answer", "3")])
        stage.run(seconds: 0.5)
        let accepted = try #require(caller.final(.invite, 1))
        #expect(accepted.status == 200 && accepted.headers["X-Answer"] == (isPassed ? "3" : nil) && accepted.headers["X-Ring"] == nil)
        caller.request("ACK", BridgedCall.line, call: "one", 1, toTag: accepted.to.tag)
        caller.request("BYE", BridgedCall.line, call: "one", 2, toTag: accepted.to.tag, headers: ["X-Bye: 4"])
        stage.run(seconds: 0.5)
        #expect(try device.received(.bye).headers["X-Bye"] == (isPassed ? "4" : nil))
        stage.expectQuiet()
    }

    @Test func `of a caller who is not to be known nothing reaches the other end`() throws {
        let stage = Stage { $0.headers.copy = [HeaderRules.NamePattern("X-*")!] }
        let (caller, device) = (RawPeer(stage, 1), RawPeer(stage, 2))
        device.request("REGISTER", BridgedCall.line, call: "register", 1)
        caller.request("INVITE", BridgedCall.line, call: "one", 1, body: caller.description(), headers: ["Privacy: id", "X-Number: 4711"])
        let invite = try device.received(.invite)
        #expect(invite.headers["X-Number"] == nil && invite.from.uri.user == "anonymous")
        device.answer(invite, 200, body: device.description(), headers: [("X-Answer", "3")])
        stage.run(seconds: 0.5)
        let accepted = try #require(caller.final(.invite, 1))
        #expect(accepted.headers["X-Answer"] == "3")
        caller.request("ACK", BridgedCall.line, call: "one", 1, toTag: accepted.to.tag)
        caller.request("BYE", BridgedCall.line, call: "one", 2, toTag: accepted.to.tag, headers: ["X-Number: 4711"])
        stage.run(seconds: 0.5)
        #expect(try device.received(.bye).headers["X-Number"] == nil)
        stage.expectQuiet()
    }

    @Test func `a MESSAGE in a call reaches the other end of it alone, in its dialog`() throws {
        for (status, told) in [(200, 200), (202, 202), (415, 415), (420, 500)] {
            let stage = Stage(), call = try stage.bridge()
            call.fromCaller("MESSAGE", body: "hello", headers: ["Content-Type: text/plain"])
            let message = try call.device.received(.message)
            #expect(
                String(decoding: message.body, as: UTF8.self) == "hello" && message.contentType == "text/plain" && message.to.tag != nil)
            #expect(
                call.device.heard.count { $0.isRequest && $0.method == .message } == 1
                    && call.caller.final(.message, call.callerSequence) == nil)
            call.device.answer(message, status)
            #expect(call.caller.final(.message, call.callerSequence)?.status == told)
            call.hangUp()
            stage.expectQuiet()
        }
    }

    @Test func `what a text or an INFO in a call is comes through whole`() throws {
        let stage = Stage(), call = try stage.bridge()
        for (method, type, passes) in [
            ("MESSAGE", "Text/Plain;charset=ISO-8859-1", nil), ("INFO", "multipart/mixed;boundary=zz", nil),
            ("MESSAGE", "a/b;c=\u{1}d", "a/b;c= d"), ("INFO", "a/b\u{1B}", "a/b"),
        ] as [(String, String, String?)] {
            call.fromCaller(method, body: "--zz--", headers: ["Content-Type: \(type)"])
            let passed = try #require(call.device.heard.last { $0.isRequest })
            #expect(passed.method.text.description == method && passed.headers[.contentType].map { "\($0)" } == passes ?? type)
            call.device.answer(passed, 200)
        }
        call.hangUp()
        stage.expectQuiet()
    }

    @Test func `a MESSAGE in a call with an application has no reader`() throws {
        let play = MappingPlay()
        play.invite(MappingPlay.echo)
        play.acknowledge(MappingPlay.echo)
        play.caller.request(
            "MESSAGE", MappingPlay.echo, call: "row", 2, toTag: play.tag, body: "hello", headers: ["Content-Type: text/plain"])
        #expect(play.caller.final(.message, 2)?.status == 480)
        play.hangUp(MappingPlay.echo)
        play.finish()
    }

    @Test(arguments: [("sip:4040@hookswitch.test", 404), ("sip:9196@hookswitch.test", 480), ("sip:2000@hookswitch.test", 480)])
    func `a MESSAGE to nobody is refused`(target: String, status: Int) {
        let stage = Stage()
        let caller = RawPeer(stage, 1)
        caller.request("MESSAGE", target, call: "text", 1, body: "hello", headers: ["Content-Type: text/plain"])
        #expect(caller.final(.message, 1)?.status == status)
        stage.expectQuiet()
    }

    @Test(arguments: [
        "sip:2000@hookswitch.test", "sip:%32000@hookswitch.test", "sip:%32%30%30%30@hookswitch.test", "tel:2000", "tel:20-00",
    ]) func `whoever names a line of ours proves to be it, however it writes the name`(uri: String) {
        let stage = Stage { configuration in
            configuration.access.trusted = []
            configuration.access.guests = [IPNetwork("192.0.2.0/24")!]
            configuration.lines[0].isOpen = false
            configuration.lines[0].password = "secret"
        }
        let caller = RawPeer(stage, 1)
        caller.request("INVITE", "sip:9196@hookswitch.test", call: "spoof", 1, body: caller.description(), from: "<\(uri)>")
        #expect(caller.final(.invite, 1)?.status == 401)
        stage.expectQuiet()
    }

    @Test func `a MESSAGE of one of our lines is challenged`() {
        let stage = Stage { configuration in
            configuration.access.trusted = []
            configuration.lines[0].isOpen = false
            configuration.lines[0].password = "secret"
        }
        let caller = RawPeer(stage, 1)
        caller.request(
            "MESSAGE", "sip:2000@hookswitch.test", call: "text", 1, body: "hello", headers: ["Content-Type: text/plain"],
            from: "<sip:2000@hookswitch.test>")
        #expect(caller.final(.message, 1)?.status == 401 && caller.final(.message, 1)?.headers.contains(.wwwAuthenticate) == true)
        stage.expectQuiet()
    }

    @Test(arguments: [
        ("dtmf-relay", "Signal=5\r\nDuration=160\r\n", "5"), ("dtmf-relay", "signal = *", "*"), ("dtmf-relay", "Signal=11", "#"),
        ("dtmf", "b", "B"),
    ])
    func `a key in an INFO is an event like any other`(type: String, body: String, key: String) throws {
        let stage = Stage()
        let call = try stage.bridge()
        call.fromCaller("INFO", body: body, headers: ["Content-Type: application/\(type)"])
        #expect(stage.events(.dtmfReceived).compactMap { $0.details.text(.digits)?.description } == [key])
        // The device has no telephone-event: the INFO goes on as it came.
        let passed = try call.device.received(.info)
        #expect(String(decoding: passed.body, as: UTF8.self) == body)
        call.device.answer(passed, 200)
        call.hangUp()
        stage.expectQuiet()
    }

    @Test func `a key in an INFO becomes an event in the media of a far end that knows those`() throws {
        let stage = Stage()
        let call = try stage.bridge("0 101")
        call.fromCaller("INFO", body: "Signal=5\r\n", headers: ["Content-Type: application/dtmf-relay"])
        call.fromCaller("INFO", body: "Signal=#\r\nDuration=480\r\n", headers: ["Content-Type: application/dtmf-relay"])
        #expect(call.device.request(.info) == nil && stage.events(.dtmfReceived).count == 2)
        #expect(stage.media.keys.map(\.key) == ["5", "#"] && stage.media.keys.map(\.length) == [nil, .milliseconds(480)])
        call.hangUp()
        stage.expectQuiet()
    }

    /// A caller with telephone-event calls a device without, which takes INFO or does not say so.
    @Test(arguments: [("INVITE, ACK, INFO", ["5", "#", "0"]), ("INVITE, ACK", []), (nil, [])] as [(Text?, [String])])
    func `keys go by INFO to a far end that has no telephone-event and takes INFO, one after the other`(allow: Text?, told: [String]) throws
    {
        let stage = Stage(), caller = RawPeer(stage, 1), device = RawPeer(stage, 2)
        device.request("REGISTER", BridgedCall.line, call: "register", 1)
        caller.request("INVITE", BridgedCall.line, call: "k", 1, body: caller.description("0 101"))
        device.answer(try device.received(.invite), 200, body: device.description("0"), headers: allow.map { [(.allow, $0)] } ?? [])
        let answer = try #require(caller.final(.invite, 1))
        caller.request("ACK", BridgedCall.line, call: "k", 1, toTag: answer.to.tag)
        let leg = try #require(stage.gateway.legs.values.first { $0.direction == .incoming })
        for key in "5#0" { stage.gateway.receive(.digit(try #require(DTMFDigit(key))), of: leg.media.id, at: stage.world.now) }
        stage.run(seconds: 0.1)
        var heard: [String] = []
        while let info = device.request(.info), heard.count < 3,
            heard.count == Set(device.heard.filter { $0.isRequest && $0.method == .info }.map(\.cseq.number)).count - 1
        {
            #expect(info.contentType == "application/dtmf-relay")
            heard.append(DTMFPress(info).map { String(Unicode.Scalar($0.key)) } ?? "")
            device.answer(info, 200)
        }
        #expect(heard == told, "each waits for the answer to the one before")
        #expect(stage.events(.dtmfReceived).count == 3 && stage.media.keys.isEmpty)
        caller.request("BYE", BridgedCall.line, call: "k", 2, toTag: answer.to.tag)
        device.answer(device.request(.bye), 200)
        stage.expectQuiet()
    }

    @Test func `what names no key is passed on and is no event; an unknown package is refused`() throws {
        let stage = Stage()
        let call = try stage.bridge()
        call.fromCaller("INFO", body: "Signal=hook", headers: ["Content-Type: application/dtmf-relay"])
        call.device.answer(try call.device.received(.info), 200)
        call.fromCaller("INFO", body: "x", headers: ["Content-Type: text/plain", "Info-Package: nobody"])
        #expect(call.callerAnswer?.status == 469 && call.callerAnswer?.headers.contains("Recv-Info") == true)
        #expect(stage.events(.dtmfReceived).isEmpty)
        call.hangUp()
        stage.expectQuiet()
    }
}
