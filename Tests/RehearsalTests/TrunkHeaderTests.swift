import Primitives
import SIP
import Testing
import UserAgent

@testable import Gateway
@testable import Rehearsal

/// What goes to a trunk and comes from one in headers, and to nobody else.
@Suite struct TrunkHeaderTests: TrunkSuite {
    @Test func `what a trunk is told in headers of ours, nobody is told whom it names in a 302`() throws {
        let tenant = try #require(HeaderRules.Field(name: "X-Tenant", value: "acme")),
            stage = Self.stage([Self.target(50)]) { $0.headers.set = [tenant] }
        let carrier = RawPeer(stage, 50), elsewhere = RawPeer(stage, 60), caller = RawPeer(stage, 9)
        caller.request("INVITE", "sip:+39055@gateway.test", call: "one", 1, body: caller.description())
        let invite = try #require(carrier.request(.invite))
        #expect(invite.headers["X-Tenant"] == "acme")
        carrier.answer(invite, 302, contact: Text("<sip:+39055@\(elsewhere.address)>"))
        #expect(try elsewhere.received(.invite).headers["X-Tenant"] == nil)
    }

    @Test func `who calls is told a trunk by its rules, each of its servers, and nobody whom it names in a 302`() throws {
        let field = try #require(HeaderRules.Field(name: "P-Asserted-Identity", value: "<sip:+49@provider.test>"))
        let stage = Stage { configuration in
            var trunk = TrunkConfiguration(targets: [Self.target(50), Self.target(51, priority: 1)]),
                line = LineConfiguration(number: "carrier")
            trunk.headers.set = [field]
            (line.match, line.endpoint) = (NumberPattern("^+"), .trunk(trunk))
            configuration.lines.append(line)
            configuration.access.asserting = [IPNetwork("192.0.2.99/32")!]
        }
        let first = RawPeer(stage, 50), second = RawPeer(stage, 51), elsewhere = RawPeer(stage, 60), caller = RawPeer(stage, 9)
        caller.request("INVITE", "sip:+39055@gateway.test", call: "one", 1, body: caller.description())
        first.answer(try first.received(.invite), 503)
        let invite = try second.received(.invite)
        #expect(invite.headers.all(.pAssertedIdentity) == ["<sip:+49@provider.test>"])
        second.answer(invite, 302, contact: Text("<sip:+39055@\(elsewhere.address)>"))
        #expect(try elsewhere.received(.invite).headers[.pAssertedIdentity] == nil)
    }

    @Test func `a caller's identity that a trunk is passed goes to nobody whom it names in a 302`() throws {
        let name = try #require(HeaderRules.NamePattern("P-Asserted-Identity")),
            stage = Self.stage([Self.target(50)]) { $0.headers.copy = [name] }
        let carrier = RawPeer(stage, 50), elsewhere = RawPeer(stage, 60), caller = RawPeer(stage, 9)
        caller.request(
            "INVITE", "sip:+39055@gateway.test", call: "one", 1, body: caller.description(),
            headers: ["P-Asserted-Identity: <sip:4711@house.test>", "Privacy: id"])
        let invite = try carrier.received(.invite)
        #expect(invite.headers[.pAssertedIdentity] == "<sip:4711@house.test>")
        carrier.answer(invite, 302, contact: Text("<sip:+39055@\(elsewhere.address)>"))
        #expect(try elsewhere.received(.invite).headers[.pAssertedIdentity] == nil)
    }

    @Test func `headers are passed on INVITE, 18x, 200 and BYE, and set towards the trunk`() throws {
        let stage = Self.stage([Self.target(50)]) { trunk in
            trunk.headers.copy = [HeaderRules.NamePattern("X-*")!]
            trunk.headers.remove = [HeaderRules.NamePattern("X-Secret")!]
            trunk.headers.set = [HeaderRules.Field(name: "X-Tenant", value: "acme")!]
        }
        let carrier = RawPeer(stage, 50), caller = RawPeer(stage, 9)
        caller.request(
            "INVITE", "sip:+39055@gateway.test", call: "one", 1, body: caller.description(),
            headers: ["X-One: 1", "X-Secret: 2", "Subject: no"])
        let invite = try #require(carrier.request(.invite))
        #expect(
            [invite.headers["X-One"], invite.headers["X-Tenant"], invite.headers["X-Secret"], invite.headers["Subject"]] == [
                "1", "acme", nil, nil,
            ])
        func answer(_ status: Int, _ value: Text, body: String = "") {
            var response = Message.response(to: invite, status: status, toTag: "raw")
            response.headers.append(.contact, Text("<sip:peer@\(carrier.address)>"))
            response.headers.append("X-Two", value)
            if !body.isEmpty { response.headers.append(.contentType, "application/sdp") }
            response.body = Array(body.utf8)
            carrier.send(response.serialized())
        }
        answer(183, "early")
        #expect(caller.heard.contains { $0.status == 180 && $0.headers["X-Two"] == "early" && $0.headers["X-Tenant"] == nil })
        answer(200, "answered", body: carrier.description())
        stage.run(seconds: 0.5)
        let accepted = try #require(caller.final(.invite, 1))
        #expect(accepted.status == 200 && accepted.headers["X-Two"] == "answered")
        caller.request("ACK", "sip:+39055@gateway.test", call: "one", 1, toTag: accepted.to.tag)
        caller.request("BYE", "sip:+39055@gateway.test", call: "one", 2, toTag: accepted.to.tag, headers: ["X-Three: 3", "X-Secret: 2"])
        stage.run(seconds: 0.5)
        let bye = try #require(carrier.request(.bye))
        #expect([bye.headers["X-Three"], bye.headers["X-Tenant"], bye.headers["X-Secret"]] == ["3", "acme", nil])
        #expect(stage.violations.isEmpty, "\(stage.violations)")
    }
}
