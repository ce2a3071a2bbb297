import Primitives
import RTP
import Runtime
import SIP
import Testing

@testable import Gateway
@testable import UserAgent

/// Sources that are listened to, callers that may call, and refusals.
@Suite struct AdmissionTests {
    /// 192.0.2.1 is trusted and 192.0.2.2 is a guest; line 2000 is open, and line 2001 has a password.
    private static func parts(_ change: (inout GatewayConfiguration) -> Void = { _ in }) -> Parts {
        Parts { configuration in
            configuration.access.trusted = [IPNetwork("192.0.2.1/32")!]
            configuration.access.guests = [IPNetwork("192.0.2.2/32")!]
            var secret = LineConfiguration(number: "2001")
            (secret.password, secret.name) = ("secret", "Bob")
            configuration.lines.append(secret)
            change(&configuration)
        }
    }

    private static let line = "<sip:2001@gateway.test>"

    // MARK: Callers

    private static func text(_ verdict: Admission.Verdict) -> String {
        switch verdict {
        case .admitted(let caller, let line):
            let facts = [caller.isKnown ? "known" : nil, caller.isPrivate ? "private" : nil, caller.displayName.map { "\($0)" }]
            let who = "\(caller.user ?? "-")@\(caller.host) line \(line?.configuration.number ?? "-")"
            return ([who] + facts.compactMap(\.self)).joined(separator: " ")
        case .challenged: return "challenged"
        case .forbidden: return "forbidden"
        }
    }

    @Test(
        arguments: [
            (1, "<sip:1000@192.0.2.1>", "1000@192.0.2.1 line - known"), (1, line, "2001@gateway.test line 2001 known Bob"),
            (9, "<sip:2000@gateway.test>", "2000@gateway.test line 2000 known"), (2, "<sip:1000@192.0.2.2>", "1000@192.0.2.2 line -"),
            (2, line, "challenged"), (9, "<sip:1000@192.0.2.9>", "challenged"), (9, line, "challenged"),
        ] as [(UInt32, String, String)])
    func `a caller is trusted, a guest, of an open line, or challenged`(source: UInt32, sender: String, verdict: String) {
        let request = Parts.request(from: sender)
        #expect(Self.text(Self.parts().admission.admission(of: request, from: Flow.peer(source).remote.address)) == verdict)
    }

    /// The request again, with the answer of a user to its challenge.
    private static func prove(_ parts: Parts, _ request: Message, _ user: Text, _ password: Text) throws -> Message {
        guard case .challenged(let headers) = parts.admission.admission(of: request, from: Flow.peer(9).remote.address) else {
            return request
        }
        var challenge = Message.response(to: request, status: 401, toTag: "t"), proof = request
        for (name, value) in headers { challenge.headers.append(name, value) }
        var client = DigestClient(user: user, secret: .password(password), hash: OpenSSLDigest.sip)
        try client.answer(challenge, in: &proof, clientNonce: "nonce")
        return proof
    }

    @Test(
        arguments: [
            (line, "2001", "secret", "2001@gateway.test line 2001 known Bob"), (line, "2001", "wrong", "challenged"),
            ("<sip:1000@192.0.2.9>", "2001", "secret", "2001@gateway.test line 2001 known Bob"),
            ("<sip:2002@gateway.test>", "2001", "secret", "forbidden"),
            ("<sip:anonymous@anonymous.invalid>", "2001", "secret", "2001@gateway.test line 2001 known private Bob"),
        ] as [(String, Text, Text, String)])
    func `a password proves its own line and no other`(sender: String, user: Text, password: Text, verdict: String) throws {
        let parts = Self.parts { configuration in
            var other = LineConfiguration(number: "2002")
            other.password = "other"
            configuration.lines.append(other)
        }
        let request = try Self.prove(parts, Parts.request(from: sender), user, password)
        #expect(Self.text(parts.admission.admission(of: request, from: Flow.peer(9).remote.address)) == verdict)
    }

    @Test(
        arguments: [
            (1, "<sip:+39@carrier.test>", "", "+39@carrier.test"), (1, nil, "", "1000@192.0.2.1"),
            (9, "<sip:+39@carrier.test>", "", "1000@192.0.2.1"),
            (1, "<sip:+39@carrier.test>", "id", "+39@carrier.test private"), (9, nil, "Header;critical", "1000@192.0.2.1 private"),
            (9, nil, "user", "1000@192.0.2.1 private"), (9, nil, "none", "1000@192.0.2.1"),
        ] as [(UInt32, Text?, Text, String)])
    func `an asserted identity counts from a believed source, and Privacy from any`(
        source: UInt32, asserted: Text?, privacy: Text, expected: String
    ) {
        let parts = Self.parts { $0.access.asserting = [IPNetwork("192.0.2.1/32")!] }
        let headers = (asserted.map { [(HeaderName.pAssertedIdentity, $0)] } ?? []) + (privacy.isEmpty ? [] : [(.privacy, privacy)])
        let caller = parts.admission.identity(in: Parts.request(headers: headers), from: Flow.peer(source).remote.address)
        #expect("\(caller.user ?? "-")@\(caller.host)" + (caller.isPrivate ? " private" : "") == expected && !caller.isKnown)
    }

    // MARK: Sources

    @Test(
        arguments: [
            (1, "REGISTER", "sip:8888@gateway.test", "sip:1000@a.test", true), (2, "OPTIONS", "sip:gateway.test", "sip:1000@a.test", true),
            (9, "INVITE", "sip:2000@gateway.test", "sip:2001@gateway.test", true),
            (9, "INVITE", "sip:2000@gateway.test", "sip:1000@a.test", false),
            (9, "REGISTER", "sip:2001@gateway.test", "sip:1000@a.test", true),
            (9, "REGISTER", "sip:8888@gateway.test", "sip:2001@a.test", false),
            (7, "INVITE", "sip:2000@gateway.test", "sip:1000@a.test", true),
        ] as [(UInt32, Text, String, String, Bool)])
    func `a silent gateway ignores an unknown source that names no line`(
        source: UInt32, method: Text, uri: String, sender: String, isHeard: Bool
    ) {
        let parts = Self.parts { configuration in
            configuration.access.isSilent = true
            var carrier = TrunkConfiguration(address: Flow.peer(6).remote)
            carrier.sources = [IPNetwork("192.0.2.7/32")!]
            configuration.lines.append(.devices("carrier") { $0.endpoint = .trunk(carrier) })
        }
        let request = Parts.request(SIP.Method(method), uri, from: "<\(sender)>")
        #expect(parts.admission.admits(request, over: .peer(source)) == (isHeard ? .admitted : .ignored))
        #expect(parts.admission.rateControl.counts[.stranger] == (isHeard ? nil : 1))
    }

    @Test(
        arguments: [(1, false, true), (2, false, true), (9, false, true), (1, true, true), (2, true, true), (9, true, false)]
            as [(UInt32, Bool, Bool)])
    func `a malformed request, a ping and a binding request are answered as other requests are`(
        source: UInt32, isSilent: Bool, isAnswered: Bool
    ) {
        let parts = Self.parts { $0.access.isSilent = isSilent }, binding = STUNBinding.request(transaction: Array(repeating: 7, count: 12))
        #expect(parts.admission.answersMalformed(over: .peer(source)) == isAnswered)
        #expect(parts.admission.answersPing(over: .peer(source, .tcp)) == isAnswered)
        let (isRequest, answer) = parts.admission.answer(toBinding: binding, over: .peer(source))
        #expect(isRequest && (answer != nil) == isAnswered)
        #expect(parts.admission.answer(toBinding: [0, 1, 2], over: .peer(source)).isRequest == false)
    }

    @Test func `requests of one source are limited, those of a trusted one and our own calls are not`() throws {
        let parts = Self.parts {
            $0.limits.requestsPerSource = 1
            $0.limits.retryAfter = 7
        }
        let request = Parts.request()
        #expect((1...3).map { _ in parts.admission.admits(request, over: .peer(9)) } == [.admitted, .admitted, .refused(retryAfter: 7)])
        #expect((1...3).allSatisfy { _ in parts.admission.admits(request, over: .peer(1)) == .admitted })
        parts.wait(.seconds(1))
        #expect(parts.admission.admits(request, over: .peer(9)) == .admitted && parts.admission.rateControl.counts == [.source: 1])
        var own = OutgoingInvite(
            target: URI(user: "2000", host: Parts.domain), flow: .peer(9), from: NameAddress(uri: URI(host: Parts.domain)),
            to: NameAddress(uri: URI(user: "2000", host: Parts.domain)))
        own.isToOurselves = true
        let session = parts.userAgent.invite(own, at: parts.context.now)
        #expect((1...5).allSatisfy { _ in parts.admission.admits(session.request, over: .peer(9)) == .admitted })
    }

    @Test func `calls in a second are limited, those of a trusted source are not`() {
        let parts = Self.parts { $0.limits.callsPerSecond = 2 }, invite = Parts.request()
        #expect((1...3).map { _ in parts.admission.admitsCall(invite, over: .peer(9)) } == [true, true, false])
        #expect(parts.admission.admitsCall(invite, over: .peer(1)) && parts.admission.rateControl.counts == [.callRate: 1])
        #expect(parts.events(.overload).map { $0.details.text(.cause) } == ["call-rate"])
    }

    @Test func `requests are refused while the backlog stands, but for OPTIONS`() {
        let parts = Self.parts()
        for _ in 0..<2 {
            parts.admission.note(backlog: .milliseconds(300))
            parts.wait(.milliseconds(250))
        }
        #expect(parts.admission.admits(Parts.request(), over: .peer(1)) == .refused(retryAfter: 5))
        #expect(parts.admission.admits(Parts.request(.options), over: .peer(1)) == .admitted)
        #expect(parts.admission.rateControl.counts == [.backlog: 1])
        parts.admission.note(backlog: .zero)
        #expect(parts.admission.admits(Parts.request(), over: .peer(1)) == .admitted)
    }

    // MARK: The journal

    @Test func `each refusal is counted, and the journal has one of a cause in ten seconds`() {
        let parts = Self.parts(), source = Flow.peer(9).remote.address
        for _ in 0..<3 {
            parts.admission.refused(.legs, source)
            parts.wait(.milliseconds(3_333))
        }
        parts.admission.refused(.ports, source)
        parts.wait(.milliseconds(1))
        parts.admission.refused(.legs, source)
        #expect(parts.admission.rateControl.counts == [.legs: 4, .ports: 1])
        let told = parts.events(.overload).map { "\($0.details.text(.cause)!) \($0.details.number(.count)!) \($0.details.text(.remote)!)" }
        #expect(told == ["legs 1 192.0.2.9", "ports 1 192.0.2.9", "legs 4 192.0.2.9"])
    }

    @Test(
        arguments: [(.none, "wrong-password", false), (.first, "throttled", true), (.further, nil, false)]
            as [(WrongPassword.Excess, Text?, Bool)])
    func `wrong passwords are journalled up to the first one too many, which is reported`(
        excess: WrongPassword.Excess, cause: Text?, isTold: Bool
    ) {
        let parts = Self.parts()
        parts.admission.note(WrongPassword(user: "2001", source: Flow.peer(9).remote.address, count: 4, excess: excess))
        #expect(parts.events(.accessRefused).map { $0.details.text(.cause) } == [cause].compactMap(\.self))
        #expect(parts.guesses.count == (isTold ? 1 : 0))
    }
}
