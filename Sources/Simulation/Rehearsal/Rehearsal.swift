import Foundation
import Gateway
import Media
import Primitives
import Runtime
import UserAgent

/// The settings of a rehearsal. The same settings give the same calls, datagram for datagram.
public struct RehearsalSettings: Sendable {
    public var seed: UInt64
    public var calls = 100
    /// Calls begin at random within this time.
    public var spread = Duration.seconds(20)
    /// nil: drawn from the seed.
    public var faults: LinkFaults?
    /// Binds that fail, out of a thousand. nil: drawn from the seed.
    public var bindFailures: Int?
    /// Ends all calls in the middle, as a stop of the server does. nil: drawn from the seed.
    public var stopsEarly: Bool?
    /// Kills the gateway among the calls, and starts another from what was kept. nil: drawn from the seed.
    public var isKilled: Bool?
    /// Times that the process of the gateway gets no time for a while. nil: drawn from the seed.
    public var pauses: Int?
    /// The calls that are made, by their place among all that are drawn; nil: all of them.
    public var only: Set<Int>?
    /// Calls are moved into conversations and taken out of them, too.
    public var regroups = true
    /// Port pairs of the pool; few of them make calls fail with 503.
    public var portPairs = 200

    public init(seed: UInt64) { self.seed = seed }
}

/// The outcome of a rehearsal.
public struct RehearsalVerdict: Sendable {
    public let seed: UInt64
    public var violations: [Violation] = []
    /// Things that were left when everything should have been over, one sentence each; and the findings of the wire's witness.
    public var leaks: [String] = []
    public var tally = Tally()
    public var failedBinds = 0
    /// Bridges of two legs without a common codec, and changes of codec within a call.
    public var transcoded = 0, codecChanges = 0
    /// 2xx of a fork whose other branch had been taken; 2xx that reached the gateway after its CANCEL had left.
    public var secondAcceptances = 0, acceptancesAfterCancel = 0
    /// Sessions that the gateway ended because nobody refreshed them; PRACKs that never arrived.
    public var expiredSessions = 0, lostAcknowledgements = 0
    /// Calls that were moved into another conversation, and that were taken out of one, by transactions of their lines.
    public var groupedCalls = 0, partedCalls = 0
    /// Dialogs that were up when the gateway was killed; nil: it was not.
    public var killedDialogs: Int?
    /// Calls that rang at registered devices after the kill, which the next gateway knows from the store alone.
    public var rungAfterKill = 0
    /// Times that the process of the gateway stood still.
    public var pauses = 0
    public var messages = 0, lostDatagrams = 0, cutConnections = 0
    public var events: UInt64 = 0
    public var virtualTime = Duration.zero
    /// The story of the first call that broke a rule.
    public var ladder = ""

    public var isGood: Bool { violations.isEmpty && leaks.isEmpty }

    /// For a person: what went wrong, the story of the first call that did, and how to see it again.
    public var report: String {
        let lines = ["seed \(seed) (replay with HOOKSWITCH_SEED=\(seed))"] + violations.map(\.description) + leaks
        return (lines + [ladder]).joined(separator: "\n")
    }
}

/// The whole gateway with everybody around it, in virtual time on one thread.
///
/// Callers of several kinds call lines of several kinds over a network that loses, copies, delays and reorders; some give up, some
/// vanish, some hang up at the same moment as the other end. Everything is drawn from one seed.
public final class Rehearsal {
    public let settings: RehearsalSettings
    let world: World
    let network: VirtualNetwork
    /// The process of the gateway.
    var life: GatewayLife
    let configuration: GatewayConfiguration
    /// The state that outlives the process, where it is to be killed.
    let store: VirtualStore?
    /// Calls that were up when the process was killed.
    var unfinished: Set<UUID> = []
    let sink = Transcript()
    private var random: SeededRandom
    private var callers: [Caller] = []
    private var devices: [Phone] = []
    var witness = WireWitness(gateway: Cast.gateway)
    var verdict: RehearsalVerdict
    /// The draws about a kill, apart from all others: those are the same without one.
    var fate: SeededRandom
    private var groups: RandomGroups
    private var pracksSent = 0, pracksDelivered = 0
    private static let prack = Array("PRACK ".utf8)

    private struct Caller {
        let phone: Phone
        let transport: Transport
        /// The line that it calls as, with its password.
        let line: (number: Text, password: Text)?
    }

    public init(_ settings: RehearsalSettings) {
        self.settings = settings
        verdict = RehearsalVerdict(seed: settings.seed)
        random = SeededRandom(seed: settings.seed)
        groups = RandomGroups(seed: ~settings.seed)
        world = World(at: GatewayLife.start)
        network = VirtualNetwork(world: world, seed: random.next())
        var drawn = SeededRandom(seed: settings.seed ^ 0x6B69_6C6C)
        let isDrawn = drawn.chance(50), isKilled = settings.isKilled ?? isDrawn
        fate = drawn
        var cast = Cast.configuration(portPairs: settings.portPairs, random: &random)
        if isKilled { for index in cast.lines.indices { cast.lines[index].recents = true } }
        (configuration, store) = (cast, isKilled ? VirtualStore() : nil)
        life = GatewayLife(configuration, world, network, store, sink, seeds: (random.next(), random.next()))
        makeCast()
    }

    /// Plays it to the end.
    public func run() -> RehearsalVerdict {
        watch()
        registerDevices()
        network.faults = settings.faults ?? .random(using: &random)
        media.bindFailures = settings.bindFailures ?? [0, 0, 30, 150][Int.random(in: 0...3, using: &random)]
        let begin = world.now
        scheduleCalls()
        playOut()
        verdict.virtualTime = world.now - begin
        judge()
        network.detachAll()
        world.removeAll()
        return verdict
    }

    // MARK: Before

    private func makeCast() {
        for (index, caller) in Cast.callers.enumerated() {
            let phone = makePhone("caller-\(index)", caller.address)
            callers.append(Caller(phone: phone, transport: caller.transport, line: caller.line))
        }
        for device in Cast.devices { devices.append(makePhone(device.user, device.address)) }
        for trunk in Cast.trunks {
            for (index, own) in trunk.members.enumerated() {
                let phone = makePhone("trunk-\(index)", own)
                if own != trunk.address { network.attach(phone, to: trunk.address) }
                devices.append(phone)
            }
        }
    }

    private func makePhone(_ user: String, _ address: SocketAddress) -> Phone {
        Phone(user: Text(user), address: address, world: world, network: network, seed: random.next())
    }

    var gateway: Gateway { life.gateway }
    var media: VirtualMediaPlane { life.media }
    var phones: [Phone] { callers.map(\.phone) + devices }

    func watchGateway() {
        gateway.journal.onViolation = { [unowned self] in verdict.violations.append($0) }
        gateway.journal.onEvent = { [unowned self] in groups.note($0) }
    }

    private func watch() {
        watchGateway()
        network.onSend = { [unowned self] bytes, source, _ in
            if bytes.starts(with: Self.prack) { pracksSent += 1 }
            witness.sent(bytes, from: source)
        }
        network.onDelivery = { [unowned self] bytes, _, destination in
            if bytes.starts(with: Self.prack) { pracksDelivered += 1 }
            witness.delivered(bytes, to: destination)
        }
        world.afterEach = { [unowned self] in checkMedia() }
    }

    private func registerDevices() {
        for (device, phone) in zip(Cast.devices, devices) {
            phone.register(line: device.line, password: Cast.password, domain: Cast.domain, at: Cast.gateway)
        }
        while world.step(until: world.now + .seconds(5)) {}
        for (device, phone) in zip(Cast.devices, devices) where !phone.isRegistered {
            verdict.leaks.append("\(device.user) could not register")
        }
    }

    private func scheduleCalls() {
        for index in 0..<settings.calls {
            let script = random.callerScript(to: Cast.numbers)
            let caller = callers[Int.random(in: callers.indices, using: &random)]
            let delay = Duration.milliseconds(Int64.random(in: 0...settings.spread.wholeMilliseconds, using: &random))
            guard settings.only?.contains(index) ?? true else { continue }
            world.after(delay) {
                caller.phone.call(script, as: caller.line, domain: Cast.domain, over: caller.transport, at: Cast.gateway)
            }
        }
        for _ in 0..<settings.calls / 4 {
            let delay = Int64.random(in: 0...(settings.spread.wholeMilliseconds + 5_000), using: &random)
            guard settings.regroups else { continue }
            world.after(.milliseconds(delay)) { [unowned self] in regroup() }
        }
        world.after(settings.spread + .seconds(60)) { [unowned self] in
            network.perform(at: Cast.gateway) { [unowned self] in
                for order in groups.ends() { _ = try? gateway.request(order, at: world.now) }
            }
        }
        if store != nil {
            world.after(.milliseconds(Int64.random(in: 2_000...settings.spread.wholeMilliseconds, using: &fate))) { [unowned self] in kill()
            }
        }
        schedulePauses()
        guard settings.stopsEarly ?? random.chance(100) else { return }
        world.after(settings.spread) { [unowned self] in
            network.perform(at: Cast.gateway) { [unowned self] in
                gateway.drain(at: world.now)
                gateway.endAll(at: world.now)
            }
        }
    }

    /// Mostly shorter than the timers of SIP, now and then longer than a transaction lives.
    private func schedulePauses() {
        var drawn = SeededRandom(seed: settings.seed ^ 0x7061_7573_65)
        let isDrawn = drawn.chance(100), count = settings.pauses ?? (isDrawn ? Int.random(in: 1...3, using: &drawn) : 0)
        for _ in 0..<count {
            let longest: Int64 = [400, 4_000, 40_000][Int.random(in: 0...2, using: &drawn)]
            let length = Int64.random(in: 50...longest, using: &drawn), timersFirst = Bool.random(using: &drawn)
            let begin = Int64.random(in: 0...settings.spread.wholeMilliseconds, using: &drawn)
            world.after(.milliseconds(begin)) { [unowned self] in pause(for: .milliseconds(length), timersFirst: timersFirst) }
        }
    }

    private func regroup() {
        // A call may have ended, or move at the moment: the line's system refuses that.
        network.perform(at: Cast.gateway) { [unowned self] in
            if let order = groups.order() { _ = try? gateway.request(order, at: world.now) }
        }
    }

    // MARK: Play

    /// Until nothing is left, or longer than anything may last.
    private func playOut() {
        let limit = world.now + settings.spread + .seconds(400)
        while !isOver, world.step(until: limit) {}
        // Quarantined numbers come back.
        let rest = world.now + .seconds(2)
        while world.step(until: rest) {}
    }

    private var isOver: Bool {
        world.pending == 0 && gateway.counts(at: world.now).isIdle
            && phones.allSatisfy { $0.agent.counts.isQuiet && $0.openCalls == 0 }
    }

    /// The wire's witness: no more legs with sockets than dialogs that are answered and not ended.
    private func checkMedia() {
        guard media.openLegs > witness.answeredDialogs, verdict.leaks.count < 10 else { return }
        verdict.leaks.append(
            "at \(world.now.nanoseconds) ns \(media.openLegs) legs are open, but only \(witness.answeredDialogs) dialogs are answered")
    }

    // MARK: After

    private func judge() {
        let counts = gateway.counts(at: world.now)
        if !counts.isIdle || counts.agent.timers != 0 || counts.media.ports.quarantined != 0 {
            verdict.leaks.append("the gateway holds \(counts)")
        }
        for phone in phones {
            if !phone.agent.counts.isQuiet || phone.openCalls > 0 {
                verdict.leaks.append("\(phone.user) holds \(phone.openCalls) calls and \(phone.agent.counts)")
            }
            verdict.tally.add(phone.tally)
        }
        judgeStore()
        _ = gateway.finish(at: world.now)
        verdict.failedBinds += media.failedBinds
        (verdict.groupedCalls, verdict.partedCalls) = (groups.grouped, groups.parted)
        (verdict.transcoded, verdict.codecChanges) = (media.transcoded, media.codecChanges)
        (verdict.secondAcceptances, verdict.acceptancesAfterCancel) = (witness.secondAcceptances, witness.acceptancesAfterCancel)
        (verdict.expiredSessions, verdict.lostAcknowledgements) = (witness.expiredSessions, pracksSent - pracksDelivered)
        (verdict.messages, verdict.lostDatagrams, verdict.cutConnections) = (network.sent, network.lost, network.cut)
        verdict.events += gateway.journal.count
        if let call = verdict.violations.first?.call { verdict.ladder = ladder(of: call) }
    }

    private func ladder(of call: CallUUID) -> String {
        let events = transcript().events
        return Ladder(events, calls: Ladder.calls(joinedWith: call, in: events), options: LadderOptions(width: 140)).text
    }

    /// The journal so far, as lines of JSON.
    public var journal: [UInt8] { sink.bytes }

    /// The journal as it was written.
    public func transcript() -> JournalReader.Result { JournalReader.parse(sink.bytes, name: "rehearsal \(settings.seed)") }
}

extension UserAgent.Counts {
    /// Nothing goes on but registrations.
    var isQuiet: Bool { sessions + clientTransactions + serverTransactions == 0 }
}
