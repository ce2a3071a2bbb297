import CallJournal
import Primitives

/// Writes the journal of a rehearsed call, step by step, as a gateway without faults would.
struct JournalScript {
    static let alice = CallUUID(high: 0xA, low: 1)
    static let bob = CallUUID(high: 0xB, low: 2)
    static let carol = CallUUID(high: 0xC, low: 3)

    private(set) var events: [JournalEvent] = []
    var now = Instant(nanoseconds: 1_000_000_000)
    private var identities: Int64 = 100
    private var ports: [CallUUID: Int64] = [:]
    private var started: [CallUUID: Instant] = [:]
    private var packets: [CallUUID: Int64] = [:]
    let line: Text = "1002"
    private var session: JournalEvent.Value = "s"
    private var perGroup = false

    init(scope: Text = "perLine") {
        perGroup = scope == "perGroup"
        add(.gatewayStarted, line: .empty)
        add(.lineConfigured, nil, [.scope: .text(scope)])
    }

    mutating func add(_ kind: JournalEvent.Kind, _ call: CallUUID? = nil, line: Text? = nil, _ details: JournalEvent.Details = [:]) {
        now += .milliseconds(1)
        events.append(
            JournalEvent(
                sequence: UInt64(events.count + 1), time: now, wall: now.nanoseconds, call: call, line: line ?? self.line, lane: "s0",
                kind: kind,
                details: details))
    }

    mutating func wait(_ duration: Duration) { now += duration }

    /// Waits out the quarantine and stops the gateway.
    mutating func stop() -> [JournalEvent] {
        wait(.seconds(2))
        for port in Set(freed).sorted() { add(.portFree, nil, [.port: .number(port)]) }
        add(.gatewayStopped, line: .empty)
        return events
    }
    private var freed: [Int64] = []

    // MARK: SIP

    mutating func received(_ method: Text, _ call: CallUUID, status: Int64? = nil, cseq: Int64 = 1, tag: Text? = nil, reason: Text? = nil) {
        message(.sipReceived, method, call, status, cseq, tag, reason)
    }

    mutating func sent(_ method: Text, _ call: CallUUID, status: Int64? = nil, cseq: Int64 = 1, tag: Text? = nil, reason: Text? = nil) {
        message(.sipSent, method, call, status, cseq, tag, reason)
    }

    private mutating func message(
        _ kind: JournalEvent.Kind, _ method: Text, _ call: CallUUID, _ status: Int64?, _ cseq: Int64, _ tag: Text?, _ reason: Text?
    ) {
        var details: JournalEvent.Details = [.method: .text(method)]
        details[.status] = status.map { .number($0) }
        details[.cseq] = .number(cseq)
        details[.remoteTag] = tag.map { .text($0) }
        details[.reason] = reason.map { .text($0) }
        add(kind, call, details)
    }

    // MARK: Transactions

    /// Requests a transaction and has it accepted; the identities of its actions.
    mutating func request(_ classes: Text...) -> [JournalEvent.Value] { accept(classes, requested: true) }
    /// The system issues actions itself.
    mutating func issue(_ classes: Text...) -> [JournalEvent.Value] { accept(classes, requested: false) }

    private mutating func accept(_ classes: [Text], requested: Bool) -> [JournalEvent.Value] {
        let actions = classes.indices.map { identities + 1 + Int64($0) }
        let list = Text(zip(classes, actions).map { "\($0):\($1)" }.joined(separator: " "))
        let details: JournalEvent.Details = [.transaction: .number(identities), .actions: .text(list)]
        identities += 10
        if requested { add(.transactionRequested, nil, details) }
        add(requested ? .transactionAccepted : .systemAction, nil, details)
        return actions.map { .number($0) }
    }

    mutating func perform(
        _ kind: JournalEvent.Kind, _ call: CallUUID, _ action: JournalEvent.Value, on: Bool? = nil, with other: CallUUID? = nil
    ) {
        var details: JournalEvent.Details = [.action: action, .created: .init(now)]
        details[.on] = on.map { .init($0) }
        details[.with] = other.map { .text($0.text) }
        add(kind, call, details)
    }

    mutating func fulfil(_ call: CallUUID, _ action: JournalEvent.Value) { add(.actionFulfilled, call, [.action: action]) }
    mutating func fail(_ call: CallUUID, _ action: JournalEvent.Value) { add(.actionFailed, call, [.action: action]) }

    // MARK: Media

    mutating func reserve(_ call: CallUUID, port chosen: Int64? = nil) {
        let port = chosen ?? 20_000 + Int64(ports.count) * 2
        ports[call] = port
        add(.mediaReserved, call, [.port: .number(port), .rtcpPort: .number(port + 1)])
    }

    /// Another program has the call's port: it takes another one.
    mutating func exchangePort(_ call: CallUUID) {
        let taken = ports[call] ?? 0
        add(.mediaRefused, call, [.cause: "bind", .port: .number(taken)])
        exchanged[call, default: []].append(taken)
        reserve(call, port: taken + 100)
    }
    private var exchanged: [CallUUID: [Int64]] = [:]

    mutating func open(_ call: CallUUID) {
        add(.mediaConfigured, call, [.codec: "opus"])
        add(.mediaOpened, call, [.port: .number(ports[call] ?? 0)])
    }

    mutating func activate(_ call: CallUUID) { add(.sessionActivated, perGroup ? call : nil, [.session: session]) }
    mutating func deactivate() { add(.sessionDeactivated, nil, [.session: session]) }

    mutating func start(_ call: CallUUID) {
        add(.mediaStarted, call, [.session: session])
        started[call] = now
    }

    mutating func pause(_ call: CallUUID) {
        wait(.milliseconds(100))
        packets[call, default: 0] += 5
        let first = (started[call] ?? .zero) + .milliseconds(1)
        add(.mediaStopped, call, [.packets: 5, .firstSent: .init(first), .lastSent: .init(first + .milliseconds(80))])
    }

    mutating func close(_ call: CallUUID) {
        add(.mediaClosed, call, [.packets: .number(packets[call] ?? 0)])
        release(call)
    }

    mutating func release(_ call: CallUUID) {
        for port in [ports[call] ?? 0] + (exchanged.removeValue(forKey: call) ?? []) {
            add(.mediaReleased, call, [.port: .number(port)])
            freed.append(port)
        }
    }

    // MARK: Whole steps

    /// INVITE, 100, reserved, reported, 180.
    mutating func ring(_ call: CallUUID, port: Int64? = nil) {
        received("INVITE", call)
        sent("INVITE", call, status: 100)
        reserve(call, port: port)
        add(.reportIncoming, call)
        add(.reportIncomingAccepted, call)
        sent("INVITE", call, status: 180)
    }

    /// The answer's perform, up to and with its fulfilment.
    mutating func answer(_ call: CallUUID, _ action: JournalEvent.Value) {
        perform(.performAnswer, call, action)
        open(call)
        sent("INVITE", call, status: 200)
        fulfil(call, action)
    }

    /// A call that comes, is answered, and runs.
    mutating func connect(_ call: CallUUID) {
        ring(call)
        answer(call, request("answer")[0])
        received("ACK", call)
        activate(call)
        start(call)
    }

    /// Our hold of a call that runs, with our re-INVITE.
    /// - Parameters:
    ///   - beforePause: adds what comes before the end of its sound.
    ///   - whenPaused: adds what follows it.
    mutating func hold(
        _ call: CallUUID, beforePause: (inout JournalScript) -> Void = { _ in }, whenPaused: (inout JournalScript) -> Void = { _ in }
    ) {
        let action = request("held")[0]
        perform(.performHeld, call, action, on: true)
        beforePause(&self)
        pause(call)
        whenPaused(&self)
        sent("INVITE", call, cseq: 5)
        fulfil(call, action)
        deactivate()
        received("INVITE", call, status: 200, cseq: 5)
        sent("ACK", call, cseq: 5)
    }

    /// The end of our hold.
    mutating func resume(_ call: CallUUID) {
        let action = request("held")[0]
        perform(.performHeld, call, action, on: false)
        sent("INVITE", call, cseq: 6)
        received("INVITE", call, status: 200, cseq: 6)
        sent("ACK", call, cseq: 6)
        fulfil(call, action)
        activate(call)
        start(call)
    }

    /// Start's perform: reserve, INVITE, fulfilled.
    mutating func call(_ call: CallUUID, _ action: JournalEvent.Value) {
        perform(.performStart, call, action)
        reserve(call)
        sent("INVITE", call)
        fulfil(call, action)
    }

    /// Start's perform for a call of another gateway: reserve, call.adopted, the INVITE in its dialog, fulfilled.
    mutating func adopt(_ call: CallUUID, _ callID: Text, _ action: JournalEvent.Value) {
        perform(.performStart, call, action)
        reserve(call)
        add(
            .callAdopted, call,
            [.callid: .text(callID), .node: "a", .with: .text(Self.carol.text), .remote: "sip:1@192.0.2.1", .count: 90])
        add(.sipSent, call, [.method: "INVITE", .cseq: 1_001, .remoteTag: "won", .callid: .text(callID)])
        fulfil(call, action)
    }

    /// 100, 180, connecting.
    mutating func rings(_ call: CallUUID) {
        received("INVITE", call, status: 100)
        received("INVITE", call, status: 180, tag: "won")
        add(.reportConnecting, call)
    }

    /// 200, opened, ACK, connected.
    mutating func answered(_ call: CallUUID, cseq: Int64 = 1) {
        received("INVITE", call, status: 200, cseq: cseq, tag: "won")
        open(call)
        sent("ACK", call, cseq: cseq, tag: "won")
        add(.reportConnected, call)
    }

    /// The far end's BYE, while media runs.
    mutating func bye(_ call: CallUUID) {
        received("BYE", call, cseq: 9)
        sent("BYE", call, status: 200, cseq: 9)
        pause(call)
        add(.reportEnded, call, [.reason: "remoteEnded"])
        add(.callEnded, call)
    }

    /// Our BYE, while media runs.
    mutating func hangUp(_ call: CallUUID, _ action: JournalEvent.Value) {
        perform(.performEnd, call, action)
        pause(call)
        sent("BYE", call, cseq: 9, reason: "Q.850;cause=16;text=\"Normal call clearing\"")
        fulfil(call, action)
        add(.callEnded, call)
    }
}
