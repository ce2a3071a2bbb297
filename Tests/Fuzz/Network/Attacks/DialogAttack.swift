import Primitives

/// Requests of the calls that are up, with right tags and a damaged rest.
final class DialogAttack: Attack {
    private let context: AttackContext
    private static let kinds: [CallKind] = [.echo, .conferencePCMU, .mailbox, .tone, .bridged, .encrypted, .checksAndHandshake, .ringing]

    init(_ context: AttackContext) { self.context = context }

    func prepare() throws {
        context.calls.check(Self.kinds)
        try context.calls.keepUp(Self.kinds)
    }

    func listen() throws {
        context.calls.listen()
        try context.calls.keepUp(Self.kinds)
    }

    func send(_ random: inout SeededRandom) throws {
        let call = try random.pick(context.calls.ends(of: random.pick(Self.kinds)))
        var draft = draft(for: call, &random)
        if random.happens(percent: 10) { draft.fixedLines = 1 }
        draft.damage(using: &random)
        var bytes = draft.bytes
        if random.happens(percent: 4) { ByteDamage.apply(to: &bytes, using: &random) }
        context.log.note(bytes, to: context.addresses.sip)
        call.send(bytes)
    }

    private static let methods = [
        "INVITE", "INVITE", "UPDATE", "UPDATE", "INFO", "MESSAGE", "REFER", "NOTIFY", "PRACK", "ACK", "OPTIONS", "SUBSCRIBE", "CANCEL",
        "PUBLISH", "SERVICE",
    ]

    private static let earlyMethods = ["PRACK", "PRACK", "UPDATE", "UPDATE", "INFO", "OPTIONS", "ACK", "INVITE", "CANCEL", "NOTIFY"]

    private func draft(for call: Call, _ random: inout SeededRandom) -> MessageDraft {
        let method = random.happens(percent: 2) ? "BYE" : random.pick(call.kind == .ringing ? Self.earlyMethods : Self.methods)
        let fields = RequestFields.some(using: &random) + usual(method, call, &random)
        let sequence = method == "ACK" || method == "CANCEL" ? call.dialog.sequence : nil
        guard let body = body(method, call, &random) else { return call.draft(method, sequence: sequence, fields) }
        return call.draft(method, sequence: sequence, fields + ["Content-Type: \(body.type)"], body: body.text)
    }

    /// Header fields that the method needs.
    private func usual(_ method: String, _ call: Call, _ random: inout SeededRandom) -> [String] {
        switch method {
        case "REFER": ["Refer-To: <sip:\(random.pick(["9196", "1002", "1004", "3000", "2000", "7000", "9102", "4711"]))@fuzz.test>"]
        case "NOTIFY": ["Event: refer", "Subscription-State: \(random.pick(["active;expires=60", "terminated;reason=noresource"]))"]
        case "PRACK": ["RAck: \(call.reliableNumber) 1 INVITE"]
        default: []
        }
    }

    private func body(_ method: String, _ call: Call, _ random: inout SeededRandom) -> (type: String, text: String)? {
        guard method == "INVITE" || method == "UPDATE" else { return Bodies.any(for: method, using: &random) }
        guard random.happens(percent: 85) else { return nil }
        var description = call.description
        if random.happens(percent: 40) { description.add(using: &random) }
        return random.happens(percent: 8) ? Bodies.multipart(description.text) : ("application/sdp", description.text)
    }
}
