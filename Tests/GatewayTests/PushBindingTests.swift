import Foundation
import Primitives
import SIP
import Testing

@testable import Gateway

/// What REGISTERs say of pushes (RFC 8599 §4.1), without a registrar.
@Suite struct PushBindingTests {
    private static let start = Date(timeIntervalSince1970: 1_790_000_000)

    private static func register(_ contacts: [String], expires: Int? = nil) throws -> Message {
        let lines =
            ["REGISTER sip:a.test SIP/2.0", "Via: SIP/2.0/UDP h;branch=z9hG4bK1", "From: <sip:2000@a.test>;tag=1", "To: <sip:2000@a.test>"]
            + ["Call-ID: x", "CSeq: 1 REGISTER"] + contacts.map { "Contact: " + $0 } + (expires.map { ["Expires: \($0)"] } ?? [])
        return try Message(parsing: Array((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8))
    }

    private static func contact(_ token: String, port: Int = 5060, _ parameters: String = "") -> String {
        "<sip:d@192.0.2.1:\(port);pn-provider=acme;pn-prid=\(token)>\(parameters)"
    }

    /// The tokens that are kept after these REGISTERs, one a second.
    private static func tokens(_ requests: [([String], Int?)], at seconds: Double = 60) throws -> [Text] {
        var bindings = PushBindings()
        for (index, request) in requests.enumerated() {
            _ = bindings.apply(
                try register(request.0, expires: request.1), at: start.addingTimeInterval(Double(index)), keep: 3_600)
        }
        return bindings.current(at: start.addingTimeInterval(seconds)).map(\.identifier)
    }

    @Test(
        arguments: [
            ([([contact("a")], nil)], ["a"]), ([([contact("a"), contact("b", port: 5061)], nil)], ["b", "a"]),
            // The same device says something else, or nothing any more.
            ([([contact("a")], nil), ([contact("b")], nil)], ["b"]), ([([contact("a")], nil), (["<sip:d@192.0.2.1:5060>"], nil)], []),
            ([([contact("a")], nil), (["<sip:d@192.0.2.1:5061>"], nil)], ["a"]),
            // The same token at another address, and the same instance with another token.
            ([([contact("a")], nil), ([contact("a", port: 5061)], nil)], ["a"]),
            ([([contact("a", ";+sip.instance=\"1\"")], nil), ([contact("b", port: 5061, ";+sip.instance=\"1\"")], nil)], ["b"]),
            ([([contact("a", ";+sip.instance=\"1\"")], nil), ([contact("b", ";+sip.instance=\"2\"")], nil)], ["b", "a"]),
            // It unregisters: by its Contact, by the header, or all at once.
            ([([contact("a")], nil), ([contact("a", ";expires=0")], nil)], []), ([([contact("a")], nil), ([contact("a")], 0)], []),
            ([([contact("a")], nil), ([contact("a", ";expires=60")], 0)], ["a"]),
            ([([contact("a"), contact("b", port: 5061)], nil), (["*"], 0)], []),
            ([([contact("a")], nil), ([contact("a", ";expires=soon")], 0)], ["a"]),
            // A query changes nothing.
            ([([contact("a")], nil), ([], nil)], ["a"]),
            // Half of what a push takes is nothing.
            ([(["<sip:d@192.0.2.1;pn-provider=acme>"], nil)], []), ([(["<sip:d@192.0.2.1;pn-prid=a>"], nil)], []),
            ([(["<sip:d@192.0.2.1;pn-provider=acme;pn-prid>"], nil)], []),
        ] as [([([String], Int?)], [Text])])
    func `of each device counts what it said last`(requests: [([String], Int?)], tokens: [Text]) throws {
        #expect(try Self.tokens(requests) == tokens)
    }

    @Test func `a binding is kept for its time after the last REGISTER, and not longer`() throws {
        let requests: [([String], Int?)] = [([Self.contact("a")], nil), ([Self.contact("b", port: 5061)], nil)]
        #expect(try Self.tokens(requests, at: 3_599.5) == ["b", "a"])
        #expect(try Self.tokens(requests, at: 3_600) == ["b"])
        #expect(try Self.tokens(requests, at: 3_601).isEmpty)
    }

    @Test func `ten devices are kept, the last that registered`() throws {
        let requests = (0..<12).map { ([Self.contact("t\($0)", port: 5_000 + $0)], nil as Int?) }
        #expect(try Self.tokens(requests) == (2..<12).reversed().map { Text("t\($0)") })
    }

    @Test func `what a Contact of more than 2,048 bytes says is not looked at`() throws {
        let long = Self.contact("a", ";x=\"" + String(repeating: "x", count: 2_048) + "\"")
        #expect(try Self.tokens([([long, Self.contact("b", port: 5061)], nil)]) == ["b"])
    }

    @Test func `a change is told, and a repetition changes the time alone`() throws {
        var bindings = PushBindings()
        let request = try Self.register([Self.contact("a", ";pn-x=1")])
        let first = bindings.apply(request, at: Self.start, keep: 60), again = bindings.apply(request, at: Self.start, keep: 60)
        #expect(first && !again)
        let later = bindings.apply(request, at: Self.start.addingTimeInterval(1), keep: 60)
        #expect(later, "it is kept for longer")
        #expect(bindings.bindings.first?.keptUntil == Self.start.addingTimeInterval(61))
        let nothing = try Self.register(["*"], expires: 0)
        let gone = bindings.apply(nothing, at: Self.start, keep: 60), still = bindings.apply(nothing, at: Self.start, keep: 60)
        #expect(gone && !still && bindings.bindings.isEmpty)
    }

    @Test func `a binding has provider, token and parameter, and tells its device without them`() throws {
        var bindings = PushBindings()
        let contact = "<sip:d@192.0.2.1;transport=tcp;pn-provider=acme;pn-prid=tok;pn-param=team.app;x=y>"
        _ = bindings.apply(try Self.register([contact]), at: Self.start, keep: 60)
        let binding = try #require(bindings.bindings.first)
        #expect(binding.provider == "acme" && binding.identifier == "tok" && binding.parameter == "team.app")
        #expect(binding.device == "sip:d@192.0.2.1;transport=tcp;x=y")
    }

    @Test(arguments: [
        ("sip:a@b;pn-prid=1;PN-Param=2;x=y", "sip:a@b;x=y"), ("sip:a@b;x=y", "sip:a@b;x=y"), ("sip:a@b", "sip:a@b"),
        ("sip:a@b;pn-provider=c", "sip:a@b"),
        ("sip:a@b;xpn-prid=1", "sip:a@b;xpn-prid=1"),
    ])
    func `a URI loses what a push takes, and nothing else`(uri: Text, rest: Text) throws {
        #expect(try URI(parsing: uri).withoutPushParameters.text == rest)
    }
}
