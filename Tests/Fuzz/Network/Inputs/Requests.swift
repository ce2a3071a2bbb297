import Primitives

/// Makes requests outside of dialogs that are well-formed before they are damaged.
struct Requests {
    var transport: String
    /// Answers are taken here.
    var local: SocketAddress
    /// The address that descriptions name.
    var media: SocketAddress
    /// The nonce of the last challenge.
    var nonce: String

    static let methods = [
        "INVITE", "REGISTER", "OPTIONS", "MESSAGE", "SUBSCRIBE", "NOTIFY", "REFER", "PUBLISH", "CANCEL", "ACK", "BYE", "PRACK", "UPDATE",
        "INFO", "SERVICE",
    ]
    private static let usual = ["INVITE", "INVITE", "REGISTER", "REGISTER", "OPTIONS", "MESSAGE"]

    func draft(using random: inout SeededRandom) -> MessageDraft {
        let method = random.pick(random.happens(percent: 60) ? Self.usual : Self.methods)
        return draft(method, using: &random)
    }

    func draft(_ method: String, using random: inout SeededRandom) -> MessageDraft {
        let tag = random.word(8), user = random.pick(Self.callers), number = random.pick(Self.numbers)
        let isRegister = method == "REGISTER", scheme = random.happens(percent: 6) ? "sips" : "sip"
        let target = isRegister ? "sip:fuzz.test" : "\(scheme):\(number)@\(random.pick(Self.hosts))"
        var lines = [
            "\(method) \(target) SIP/2.0",
            "Via: SIP/2.0/\(transport) \(local);branch=z9hG4bK\(random.word(10))\(random.pick(["", ";rport", ";rport;alias"]))",
            "From: \(random.pick(["", "\"A \\\" B\" ", "Bob "]))<sip:\(user)@fuzz.test>;tag=\(tag)",
            "To: <sip:\(isRegister ? user : number)@fuzz.test>\(toTag(method, &random))",
            "Call-ID: \(random.word(12))@fuzz", "CSeq: \(1 + random.number(below: 1_000)) \(method)",
            "Max-Forwards: \(random.pick([70, 70, 70, 70, 70, 70, 1, 0]))",
        ]
        lines += contacts(method, user, using: &random) + credentials(method, target, user, using: &random)
        lines += RequestFields.some(using: &random)
        guard let body = body(method, using: &random) else { return MessageDraft(lines) }
        return MessageDraft(lines + ["Content-Type: \(body.type)"], body: body.text)
    }

    private static let callers = ["guest", "guest", "guest", "1001", "1002", "1003", "+39021234", "anonymous", "a;b=c", "%61"]
    /// Applications, devices, scripts, a group, a trunk, nobody.
    private static let numbers = [
        "9196", "9197", "3000", "9200", "9198", "9199", "1001", "1002", "1003", "9101", "9102", "9103", "2000", "2001", "7000", "4711",
        "*78", "*60",
    ]
    private static let hosts = [
        "fuzz.test", "127.0.0.1", "127.0.0.1:5060", "[::1]", "localhost", "other.test", "fuzz.test;user=phone", "127.0.0.1;transport=tcp",
    ]

    private func toTag(_ method: String, _ random: inout SeededRandom) -> String {
        let isInDialog = ["ACK", "BYE", "PRACK", "UPDATE", "INFO"].contains(method)
        return random.happens(percent: isInDialog ? 80 : 4) ? ";tag=\(random.word(8))" : ""
    }

    private func contacts(_ method: String, _ user: String, using random: inout SeededRandom) -> [String] {
        let plain = "<sip:\(user)@\(local);transport=\(transport.lowercased())>"
        guard method == "REGISTER" else { return ["Contact: \(plain)"] }
        let push = "<sip:\(user)@\(local);pn-provider=apns;pn-param=ABC.voip;pn-prid=00fc>"
        let outbound = "\(plain);+sip.instance=\"<urn:uuid:00000000-0000-1000-8000-000A95A0E128>\";reg-id=1"
        return [
            "Contact: \(random.pick([plain, plain, "*", outbound, push, "\(plain);q=0.7;expires=60, <sip:b@127.0.0.9>;q=0.1"]))",
            "Expires: \(random.pick(["60", "0", "3600"]))",
        ]
    }

    private func credentials(_ method: String, _ target: String, _ user: String, using random: inout SeededRandom) -> [String] {
        guard random.happens(percent: method == "REGISTER" ? 50 : 8) else { return [] }
        let digest =
            "Digest username=\"\(user)\", realm=\"fuzz.test\", nonce=\"\(nonce)\", uri=\"\(target)\", response=\"\(random.word(32))\""
        let more = random.pick([
            "", ", algorithm=MD5", ", algorithm=SHA-256, qop=auth, nc=00000001, cnonce=\"0a4f113b\"",
            ", qop=auth-int, nc=ffffffff, cnonce=\"\"",
        ])
        return ["\(random.pick(["Authorization", "Proxy-Authorization"])): \(digest)\(more), opaque=\"\""]
    }

    private func body(_ method: String, using random: inout SeededRandom) -> (type: String, text: String)? {
        guard method == "INVITE" || method == "UPDATE" else { return Bodies.any(for: method, using: &random) }
        guard random.happens(percent: 92) else { return nil }
        var description = Description(media: media, codecs: random.pick([Description.usual, Description.wide]))
        description.protection = random.pick([.none, .none, .none, .keys, .dtls(setup: "active"), .dtls(setup: "actpass")])
        if random.happens(percent: 15) { description.ice = ICECredentials(using: &random) }
        description.add(using: &random)
        return random.happens(percent: 10) ? Bodies.multipart(description.text) : ("application/sdp", description.text)
    }
}
