import Primitives
import Testing

@testable import SIP

@Suite struct RegistrationTests {
    typealias Bindings = RegistrationBindings<String>

    /// A REGISTER with these header lines.
    func register(_ lines: [String], callID: String = "c1", cseq: Int = 1) throws -> Message {
        try Message(
            parsing: wire(
                [
                    "REGISTER sip:example.test SIP/2.0", "Via: SIP/2.0/UDP h;branch=z9hG4bK1", "From: <sip:1001@example.test>;tag=1",
                    "To: <sip:1001@example.test>",
                    "Call-ID: \(callID)", "CSeq: \(cseq) REGISTER",
                ] + lines))
    }

    func at(_ seconds: Int) -> Instant { Instant(nanoseconds: 1_000_000_000) + .seconds(seconds) }

    /// The bindings as `uri;seconds left`, the newest first.
    func listing(_ bindings: Bindings, _ now: Instant) -> [String] {
        bindings.current(at: now).map { binding in "\(binding.uri);\(binding.contact(at: now).parameters["expires"] ?? "?")" }
    }

    /// Where the time comes from: the Contact's parameter, the Expires header, the default; shortened, and refused when too short.
    @Test(
        arguments: [
            (["Contact: <sip:a@h>;expires=100", "Expires: 900"], ["sip:a@h;100"]),
            (["Contact: <sip:a@h>", "Expires: 900"], ["sip:a@h;900"]),
            (["Contact: <sip:a@h>"], ["sip:a@h;3600"]), (["Contact: <sip:a@h>;expires=999999"], ["sip:a@h;7200"]),
            (["Contact: <sip:a@h>;expires=x"], ["sip:a@h;3600"]),
            (["Contact: <sip:a@h>;expires=60"], ["sip:a@h;60"]), (["Contact: <sip:a@h>;expires=59"], ["423"]),
            (["Contact: <sip:a@h>", "Expires: 1"], ["423"]),
            (["Contact: <sip:a@h>;expires=0"], []), (["Contact: <sip:a@h>, <sip:b@h>;expires=70"], ["sip:b@h;70", "sip:a@h;3600"]),
            ([], []),
            (["Contact: <sip:a@h>", "Contact: <sip:a@h>;expires=77"], ["sip:a@h;77"]), (["Contact: *", "Expires: 0"], []),
            (["Contact: *"], ["400"]),
            (["Contact: *", "Expires: 10"], ["400"]), (["Contact: *, <sip:a@h>", "Expires: 0"], ["rejected"]),
            (["Contact: *", "Contact: <sip:a@h>", "Expires: 0"], ["400"]),
            (["Contact: <tel:123>"], ["400"]), (["Contact: <sip:a@h;x=\(String(repeating: "y", count: Limits.requestURI))>"], ["400"]),
            (["Contact: <sip:a@h?Route=x>;expires=100"], ["sip:a@h?Route=x;100"]),
            (["Contact: <sip:a@h;method=SUBSCRIBE>;expires=100"], ["sip:a@h;method=SUBSCRIBE;100"]),
            ((1...11).map { "Contact: <sip:a\($0)@h>" }, ["403"]),
        ] as [([String], [String])])
    func `a first REGISTER binds what it says`(lines: [String], expected: [String]) throws {
        guard let request = try? register(lines) else { return #expect(expected == ["rejected"]) }
        var bindings = Bindings()
        do throws(Bindings.Refusal) {
            try bindings.apply(request, from: "flow", at: at(0))
            #expect(listing(bindings, at(0)) == expected)
        } catch {
            #expect(["\(error.status)"] == expected)
            #expect(bindings.isEmpty)
        }
    }

    @Test func `a binding is refreshed, moved and taken back by its own client in order only`() throws {
        var bindings = Bindings()
        try bindings.apply(register(["Contact: <sip:a@h>"], cseq: 5), from: "one", at: at(0))
        try bindings.apply(register(["Contact: <sip:A@h>;expires=0", "Contact: <sip:a@H>;x=1"], cseq: 6), from: "two", at: at(10))
        #expect(bindings.current(at: at(10)).map(\.origin) == ["two"] && listing(bindings, at(10)) == ["sip:a@H;3600"])
        for cseq in [5, 6] {
            #expect(throws: Bindings.Refusal.outOfOrder) {
                try bindings.apply(register(["Contact: <sip:a@h>;expires=0"], cseq: cseq), from: "x", at: at(11))
            }
            #expect(throws: Bindings.Refusal.outOfOrder) {
                try bindings.apply(register(["Contact: *", "Expires: 0"], cseq: cseq), from: "x", at: at(11))
            }
        }
        try bindings.apply(register(["Contact: <sip:b@h>"], callID: "c2", cseq: 1), from: "three", at: at(12))
        #expect(listing(bindings, at(12)) == ["sip:b@h;3600", "sip:a@H;3598"])
        try bindings.apply(register(["Contact: <sip:a@h>;expires=0"], callID: "c9", cseq: 1), from: "x", at: at(13))
        #expect(listing(bindings, at(13)) == ["sip:b@h;3599"])
        try bindings.apply(register(["Contact: *", "Expires: 0"], callID: "c9", cseq: 2), from: "x", at: at(14))
        #expect(bindings.isEmpty)
    }

    @Test func `the headers of a Contact are listed and tell contacts apart, and no request is sent to them`() throws {
        var bindings = Bindings()
        try bindings.apply(
            register(["Contact: <sip:a@h;method=INVITE?Route=x>", "Contact: <sip:a@h>, <sip:b@h?Priority=urgent>"]), from: "one", at: at(0))
        #expect(bindings.current(at: at(0)).map(\.target.text) == ["sip:b@h", "sip:a@h", "sip:a@h"])
        try bindings.apply(register(["Contact: <sip:b@h?priority=urgent>;expires=0"], cseq: 2), from: "one", at: at(1))
        #expect(listing(bindings, at(1)) == ["sip:a@h;3599", "sip:a@h;method=INVITE?Route=x;3599"])
        #expect(try bindings.remove(URI(parsing: "sip:a@h"), registered: at(0)) && bindings.isEmpty)
    }

    @Test func `one bad contact leaves everything as it was`() throws {
        var bindings = Bindings()
        try bindings.apply(register(["Contact: <sip:a@h>"]), from: "one", at: at(0))
        #expect(throws: Bindings.Refusal.intervalTooBrief(minimumSeconds: 60)) {
            try bindings.apply(register(["Contact: <sip:a@h>;expires=0, <sip:b@h>, <sip:c@h>;expires=3"], cseq: 2), from: "two", at: at(1))
        }
        #expect(listing(bindings, at(1)) == ["sip:a@h;3599"])
    }

    @Test func `a device that comes back from another address replaces itself`() throws {
        var bindings = Bindings()
        let instance = "+sip.instance=\"<urn:uuid:00000000-0000-1000-8000-000A95A0E128>\""
        try bindings.apply(register(["Contact: <sip:a@h1:5060>;\(instance)"], callID: "c1"), from: "one", at: at(0))
        try bindings.apply(register(["Contact: <sip:a@h2:9999>;\(instance)"], callID: "c2"), from: "two", at: at(5))
        #expect(bindings.current(at: at(5)).map(\.uri.text) == ["sip:a@h2:9999"])
        try bindings.apply(
            register(["Contact: <sip:a@h2:9999>;\(instance);reg-id=1", "Contact: <sip:a@h3>;\(instance);reg-id=2"], callID: "c3"),
            from: "x", at: at(6))
        #expect(bindings.current(at: at(6)).map(\.flowNumber) == ["2", "1"])
    }

    /// RFC 3261 §10.3 item 7: without numbers, contacts compare by URI.
    @Test func `a device may name two addresses at once, and replaces both when it comes back`() throws {
        var bindings = Bindings()
        let instance = "+sip.instance=\"<urn:uuid:00000000-0000-1000-8000-000A95A0E128>\""
        let both = ["Contact: <sip:a@h1>;\(instance)", "Contact: <sip:a@h2>;\(instance);q=0.5", "Contact: <sip:a@H1>;\(instance)"]
        try bindings.apply(register(both, callID: "c1"), from: "one", at: at(0))
        #expect(listing(bindings, at(0)) == ["sip:a@H1;3600", "sip:a@h2;3600"])
        try bindings.apply(register(both, callID: "c1", cseq: 2), from: "one", at: at(5))
        #expect(bindings.count == 2)
        try bindings.apply(register(["Contact: <sip:a@h3>;\(instance)"], callID: "c2"), from: "two", at: at(6))
        #expect(listing(bindings, at(6)) == ["sip:a@h3;3600"])
    }

    @Test func `bindings expire when their time has come`() throws {
        var bindings = Bindings()
        try bindings.apply(register(["Contact: <sip:a@h>;expires=60, <sip:b@h>;expires=90"]), from: "one", at: at(0))
        #expect(bindings.deadline == at(60))
        #expect(bindings.current(at: at(60)).map(\.uri.user) == ["b"])
        #expect(bindings.advance(to: at(59)).isEmpty)
        #expect(bindings.advance(to: at(60)).map(\.uri.user) == ["a"])
        #expect(bindings.deadline == at(90) && bindings.count == 1)
        try bindings.apply(register([], cseq: 2), from: "one", at: at(91))
        #expect(bindings.isEmpty && bindings.deadline == nil)
    }

    @Test func `the least recently refreshed goes when there are too many`() throws {
        var bindings = Bindings(limits: .init(contacts: 2))
        for (index, user) in ["a", "b", "c"].enumerated() {
            try bindings.apply(register(["Contact: <sip:\(user)@h>"], callID: user), from: user, at: at(index))
        }
        #expect(bindings.current(at: at(3)).map(\.uri.user) == ["c", "b"])
    }

    @Test func `a dead contact can be taken away`() throws {
        var bindings = Bindings()
        try bindings.apply(register(["Contact: <sip:a@h>, <sip:b@h>"]), from: "one", at: at(0))
        let later = bindings.remove(try URI(parsing: "sip:a@h"), registered: at(-1))
        let removed = bindings.remove(try URI(parsing: "sip:a@H"), registered: at(0)),
            again = bindings.remove(try URI(parsing: "sip:a@h"), registered: at(0))
        #expect(!later && removed && !again && bindings.current(at: at(0)).map(\.uri.user) == ["b"])
    }

    @Test func `parameters, path and name are kept and told`() throws {
        var bindings = Bindings()
        try bindings.apply(
            register(["Contact: \"Desk\" <sip:a@h>;q=0.7;+sip.ice;expires=100", "Path: <sip:edge;lr>, <sip:p2;lr>", "User-Agent: phone/1"]),
            from: "one", at: at(0))
        let binding = try #require(bindings.current(at: at(1)).first)
        #expect(binding.contact(at: at(1)).text == "\"Desk\" <sip:a@h>;q=0.7;+sip.ice;expires=99")
        #expect(binding.path.map(\.uri.host) == ["edge", "p2"] && binding.preference == 700 && binding.userAgent == "phone/1")
    }

    @Test(arguments: [
        ("0.5", 500), ("1", 1_000), ("1.000", 1_000), ("0.123", 123), ("0", 0), ("0.", 0), ("1.5", 1_000), ("x", 1_000), ("0.1234", 1_000),
        ("2", 1_000), ("0.5.1", 1_000),
    ])
    func `a preference is read in thousandths`(text: String, thousandths: Int) throws {
        var bindings = Bindings()
        try bindings.apply(register(["Contact: <sip:a@h>;q=\(text)"]), from: "one", at: at(0))
        #expect(bindings.current(at: at(0)).first?.preference == thousandths)
    }
}
