import Primitives
import Runtime
import SIP

/// Responses to requests of the server's own: a device of ours is called, and says anything.
final class AnswerAttack: Attack {
    private let context: AttackContext
    private let device: Device
    private let caller: DatagramSocket
    private var strays: Strays
    /// The INVITE that rings, and how often it was answered.
    private var ringing: (invite: Message, answers: Int)?
    private var calls = 0

    init(_ context: AttackContext) throws {
        self.context = context
        var random = SeededRandom(seed: context.seed &+ 1)
        device = try Device(number: "1005", server: context.addresses.sip, using: &random)
        caller = try DatagramSocket(at: random.loopback())
        strays = Strays(server: context.addresses.sip)
    }

    func prepare() throws { try device.register() }

    func send(_ random: inout SeededRandom) throws {
        guard let (invite, answers) = try ringing ?? ring() else { return }
        let status = random.pick(Self.statuses)
        var draft = Reply.draft(
            of: invite, status, from: device.socket.local, tag: random.pick(["one", "one", "one", "two", random.word(6)]),
            body: body(status, &random))
        draft.lines += (RequestFields.some(using: &random) + fields(status, &random)).map { Array($0.utf8) }
        if random.happens(percent: 8) { draft.fixedLines = 1 }
        draft.damage(using: &random)
        context.log.note(draft.bytes, to: context.addresses.sip)
        device.socket.send(draft.bytes, to: context.addresses.sip)
        ringing = (invite, answers + 1)
        if status >= 200 || answers > 12 { giveUp(invite) }
    }

    private static let statuses = [
        100, 180, 180, 181, 183, 183, 183, 199, 200, 200, 200, 202, 300, 302, 302, 401, 407, 404, 422, 480, 486, 488, 491, 500, 503, 600,
        608, 699,
    ]

    private func body(_ status: Int, _ random: inout SeededRandom) -> String {
        guard status == 183 || 200..<300 ~= status, random.happens(percent: 85) else { return "" }
        var description = Description(
            media: SocketAddress(device.socket.local.address, port: 40_002), codecs: random.pick([Description.usual, Description.wide]))
        description.protection = random.pick([.none, .none, .keys, .dtls(setup: "active"), .dtls(setup: "passive")])
        if random.happens(percent: 30) { description.ice = ICECredentials(using: &random) }
        description.add(using: &random)
        return description.text
    }

    private func fields(_ status: Int, _ random: inout SeededRandom) -> [String] {
        let algorithm = random.pick(["MD5", "SHA-256", "MD5-sess", "X"])
        let challenge = "Digest realm=\"fuzz\", nonce=\"\(random.word(16))\", qop=\"auth,auth-int\", algorithm=\(algorithm)"
        return switch status {
        case 300..<400:
            ["Contact: <sip:\(random.pick(["1002", "9196", "1004"]))@127.0.0.1>;q=0.5, <sip:1006@127.0.0.9:5090;transport=tcp>;expires=9"]
        case 401: ["WWW-Authenticate: \(challenge)"]
        case 407: ["Proxy-Authenticate: \(challenge)"]
        case 183 where random.happens(percent: 50): ["Require: 100rel", "RSeq: \(1 + random.number(below: 3))"]
        default: []
        }
    }

    /// Has the server call the device.
    private func ring() throws -> (Message, Int)? {
        for attempt in 0..<3 {
            if attempt > 0 { device.forgetRegistration() }
            try device.register()
            calls += 1
            caller.send(request("INVITE").bytes, to: context.addresses.sip)
            if let invite = device.invite(by: MonotonicClock.now + .seconds(2)) { return (invite, 0) }
            try strays.drain(caller)
        }
        throw Broken("a device that is registered is not called any more")
    }

    private func request(_ method: String) -> MessageDraft {
        let description = Description(media: SocketAddress(caller.local.address, port: 40_004), codecs: Description.wide).text,
            isInvite = method == "INVITE"
        return MessageDraft(
            [
                "\(method) sip:1005@fuzz.test SIP/2.0", "Via: SIP/2.0/UDP \(caller.local);branch=z9hG4bKanswers\(calls);rport",
                "From: <sip:1001@fuzz.test>;tag=a\(calls)",
                "To: <sip:1005@fuzz.test>", "Call-ID: answers-\(calls)@fuzz", "CSeq: 1 \(method)", "Max-Forwards: 70",
                "Contact: <sip:1001@\(caller.local)>",
            ] + (isInvite ? ["Supported: 100rel, timer", "Content-Type: application/sdp"] : []), body: isInvite ? description : "")
    }

    /// The caller hangs up while it rings; where it does not ring any more, `strays` hangs up.
    private func giveUp(_ invite: Message) {
        caller.send(request("CANCEL").bytes, to: context.addresses.sip)
        device.socket.send(Reply.response(to: invite, 487, from: device.socket.local), to: context.addresses.sip)
        ringing = nil
    }

    func listen() throws {
        device.listen()
        try strays.drain(caller)
    }

    func finish() {
        if let ringing { giveUp(ringing.invite) }
        device.unregister()
    }
}
