import Audio
import CallApp
import CallKit
import Foundation
import Gateway
import Media
import Primitives
import Runtime
import SDP
import SIP
import UserAgent

import struct Gateway.WallClock

@testable import Rehearsal

/// An app on its telephone, in virtual time: the app's line, a far end that says what a test makes it say, the wire between them, and the
/// journal.
///
/// Everything that happens runs inline, on one thread. A test ends with `leftovers()`, which must be empty: nothing is left, and the audit
/// is clean.
final class Stage {
    static let address = SocketAddress(IPAddress(v4: 0xC000_0201), port: 5060)

    /// One message on the wire.
    struct Line {
        let time: Instant
        let isFromApp: Bool
        let message: Message
        /// `app INVITE`, `far 180 INVITE`.
        var text: String { "\(isFromApp ? "app" : "far") " + (message.status.map { "\($0) " } ?? "") + "\(message.method.text)" }
        var body: String { String(decoding: message.body, as: UTF8.self) }
        var reason: String { message.headers.all(.reason).map(\.description).joined(separator: ", ") }
    }

    let world = World(at: Instant(nanoseconds: 1_000_000_000))
    let network: VirtualNetwork
    let media: VirtualMediaPlane
    /// The media engines of a stage with sound; `media` then stays unused.
    let sound: StageSound?
    let host: InlineHost
    let system: CallSystem
    let controller: CXCallController
    let line: AppLine
    private(set) var far: FarPhone!
    private(set) var wire: [Line] = []
    private(set) var violations: [String] = []
    private(set) var advice: [String] = []
    private(set) var events: [AppLineEvent] = []
    /// What the network tells it.
    var app: (any StageApp)?
    private let sink = Transcript()
    private var seat: Seat?

    init(
        _ configuration: CallSystemConfiguration = .app, ports: Int = 100, hasSound: Bool = false,
        adjust: (inout AppLineSettings) -> Void = { _ in }
    ) {
        network = VirtualNetwork(world: world, seed: 1)
        media = VirtualMediaPlane(ports: 20_000...UInt16(20_000 + 2 * ports - 1), quarantine: .seconds(1), seed: 2)
        sound = hasSound ? StageSound(world: world) : nil
        host = InlineHost(now: world.now)
        system = CallSystem(configuration: configuration, host: host)
        controller = CXCallController(system: system)
        let flow = Flow(transport: .udp, local: Self.address, remote: FarPhone.address)
        var settings = AppLineSettings(number: "1001", domain: "app.test", flow: flow, mediaAddress: Self.address.address)
        settings.microphone = .tone(Tone(440))
        settings.registers = false
        adjust(&settings)
        let clock = WallClock(instant: world.now, unixNanoseconds: 1_790_000_000_000_000_000)
        let journal = Journal(lane: "stage", clock: clock, sink: sink)
        line = AppLine(
            settings,
            .init(
                system: system, network: network, media: sound.map { $0.plane as any MediaPlane } ?? media, random: SeededRandom(seed: 3),
                hash: OpenSSLDigest.sip, journal: journal), at: world.now)
        line.onEvent = { [unowned self] in heard($0) }
        sound?.app.onEvent = { [unowned self] in line.receive($1, of: $0, at: $2) }
        far = FarPhone(self)
        let seat = Seat(self)
        self.seat = seat
        world.add(seat)
        world.add(far)
        network.attach(seat, to: Self.address)
        network.attach(far, to: FarPhone.address)
        network.onSend = { [unowned self] bytes, source, _ in
            if let message = try? Message(parsing: bytes) {
                wire.append(Line(time: world.now, isFromApp: source == Self.address, message: message))
            }
        }
    }

    deinit {
        network.detachAll()
        world.removeAll()
    }

    private func heard(_ event: AppLineEvent) {
        events.append(event)
        switch event {
        case .incoming(let call, let caller): app?.incoming(call, caller)
        case .connecting(let call): app?.connecting(call)
        case .connected(let call): app?.connected(call)
        case .ended(let call, let reason): app?.ended(call, reason)
        case .advice(let violation): advice.append(violation.description)
        case .violation(let violation): violations.append(violation.description)
        default: break
        }
    }

    // MARK: Time

    var now: Instant { world.now }

    func run(_ seconds: Double) {
        host.now = world.now
        let end = world.now + .nanoseconds(Int64(seconds * 1e9))
        while world.step(until: end) {}
        host.now = world.now
    }

    func after(_ delay: Duration, _ work: @escaping () -> Void) {
        world.after(delay) { [unowned self] in
            host.now = world.now
            work()
        }
    }

    private final class Seat: Inhabitant {
        private unowned let stage: Stage
        init(_ stage: Stage) { self.stage = stage }
        var deadline: Instant? { [stage.line.deadline, stage.system.deadline].compactMap(\.self).min() }
        private func at(_ now: Instant) { stage.host.now = max(stage.host.now, now) }
        func advance(to now: Instant) {
            at(now)
            stage.system.advance(to: now)
            stage.line.advance(to: now)
        }
        func receive(_ bytes: [UInt8], over flow: Flow, at now: Instant) {
            at(now)
            stage.line.receive(bytes, over: flow, at: now)
        }
        func failed(_ flow: Flow, at now: Instant) {
            at(now)
            stage.line.failed(flow, at: now)
        }
    }

    // MARK: The user

    /// What the user wants, as one transaction. The code of its refusal; nil when it was accepted.
    @discardableResult
    func request(_ actions: CXAction...) -> Int? {
        host.now = world.now
        var code: Int?
        controller.hookswitchRequest(CXTransaction(actions: actions)) { code = ($0 as? CXErrorCodeRequestTransactionError)?.code.rawValue }
        return code
    }

    func dial(_ handle: String) {
        host.now = world.now
        app?.dial(handle)
    }

    /// The calls that CallKit has, oldest first.
    var calls: [UUID] { system.calls.map(\.uuid) }
    func call(_ uuid: UUID) -> CallSnapshot? { system.call(uuid) }

    // MARK: Witnesses

    var journal: [JournalEvent] {
        line.journal.flush()
        return JournalReader.parse(sink.bytes, name: "stage").events
    }

    /// The journal in words: `sip.rx INVITE`, `sip.tx 100`, `perform.start`, `action.fulfilled end`.
    var story: [String] { journal.map(\.words) }
    func story(of call: UUID) -> [String] { journal.filter { $0.call == CallUUID(call) }.map(\.words) }

    /// The wire in words, without what was sent again.
    var traffic: [String] { wire.map(\.text) }
    func sent(_ text: String) -> [Line] { wire.filter { $0.text == text } }

    /// The direction of each description that the app has sent, in order.
    var directions: [String] {
        wire.filter { $0.isFromApp && !$0.message.body.isEmpty }.map { line in
            ["sendonly", "recvonly", "inactive"].first { line.body.contains("a=\($0)") } ?? "sendrecv"
        }
    }

    /// Legs with bound sockets: what a kernel would show.
    var openLegs: Int { media.openLegs }
    /// Packets of sound that left.
    var packets: UInt64 { media.packets }

    /// The end of a test: lets everything finish, and tells what should not be.
    func leftovers() -> [String] {
        run(70)
        let counts = line.counts(at: world.now)
        var found = counts.isIdle ? [] : ["\(counts)"]
        if line.finish(at: world.now) > 0 { found += violations }
        if !system.counts.isQuiet { found.append("\(system.counts)") }
        return found
    }
}

extension CallSystem.Counts {
    var isQuiet: Bool { calls + groups + transactions + actions + deadlines + sessions == 0 }
}

extension JournalEvent {
    var words: String {
        switch kind {
        case .sipReceived, .sipSent: "\(kind.rawValue) " + (details.number(.status).map { "\($0)" } ?? "\(details.text(.method) ?? "")")
        case .actionFulfilled, .actionFailed, .actionTimedOut: "\(kind.rawValue) \(details.text(.class) ?? "")"
        default: kind.rawValue
        }
    }
}

extension [String] {
    /// Whether these come in this order, with anything between them.
    func haveInOrder(_ wanted: [String]) -> Bool {
        var rest = wanted[...]
        for word in self where word == rest.first { rest.removeFirst() }
        return rest.isEmpty
    }

    func count(of word: String) -> Int { filter { $0 == word }.count }
}
