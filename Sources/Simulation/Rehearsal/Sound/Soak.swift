import Foundation
import Gateway
import Media
import Primitives
import Runtime
import SDP
import Synchronization
import UserAgent

/// The settings of a soak: its length and its callers. The same settings give the same calls, datagram for datagram.
public struct SoakSettings: Sendable {
    public var seed: UInt64
    /// Waves of calls; behind each the gateway is empty.
    public var waves = 10
    /// Callers of a wave, two thirds of whom are bridged and talk so long each; the others meet in a conference for a tenth of that.
    public var calls = 12
    public var talk = Duration.seconds(450)
    /// Whether a relay in front of the ports passes on what is ordinary, as the kernel's does.
    public var hasPacketRelay = false

    public init(seed: UInt64) { self.seed = seed }
}

/// The outcome of a soak.
public struct SoakVerdict: Sendable {
    public let seed: UInt64
    public var violations: [Violation] = []
    /// Things that were left behind a wave, one sentence each.
    public var leaks: [String] = []
    public var tally = Tally()
    /// RTP that reached the phones.
    public var heard = 0
    public var virtualTime = Duration.zero
    /// RTP that the relay in front of the ports passed on.
    public var relayed = 0
    /// A hash of what the journal says of media: two soaks with the same one had the same media at the same times, with the same figures.
    public var media: UInt64 = 0

    public var isGood: Bool { violations.isEmpty && leaks.isEmpty }
}

/// Hours of call time through a whole gateway with its real media engine, in virtual time: callers and callees hold and resume at random,
/// send re-INVITEs and UPDATEs, and change codecs, while both talk. For what only grows over hours.
public final class Soak {
    private let settings: SoakSettings
    private let world: World
    private let network: VirtualNetwork
    private let ports: VirtualPorts
    private let seat: MediaSeat
    private let gateway: Gateway
    private let stage: GatewayStage
    private var random: SeededRandom
    private var callers: [Phone] = []
    private var callees: [Phone] = []
    private var verdict: SoakVerdict
    private let journalHash = JournalHash()
    private static let conference: Text = "3900"

    public init(_ settings: SoakSettings) {
        self.settings = settings
        verdict = SoakVerdict(seed: settings.seed)
        random = SeededRandom(seed: settings.seed)
        let start = Instant(nanoseconds: 1_000_000_000)
        world = World(at: start)
        network = VirtualNetwork(world: world, seed: random.next())
        ports = VirtualPorts(world: world)
        seat = MediaSeat(ports, seed: random.next(), at: start)
        if settings.hasPacketRelay { ports.relay = MemoryRelay() }
        seat.engine.packetRelay = ports.relay
        let configuration = Self.configuration(settings.calls)
        let lanes = MediaLanes(
            settings: MediaSettings(ports: configuration.media.ports, quarantine: configuration.media.quarantine, lanes: 1),
            random: SeededRandom(seed: random.next()),
            driving: seat.engine)
        let journal = Journal(lane: "soak", clock: WallClock(instant: start, unixNanoseconds: 1_790_000_000_000_000_000), sink: journalHash)
        let environment = Gateway.Environment(
            network: network, media: lanes, random: SeededRandom(seed: random.next()), hash: OpenSSLDigest.sip,
            addressTowards: { _ in nil },
            listeners: [Transports.Listener(.udp, Cast.gateway)], journal: journal, epoch: Date(timeIntervalSince1970: 1_790_000_000))
        gateway = Gateway(configuration, environment, at: start)
        stage = GatewayStage(gateway)
        world.add(stage)
        world.add(seat)
        network.attach(stage, to: Cast.gateway)
        makePhones()
    }

    /// Plays all waves.
    ///
    /// - Parameter checkpoint: called when the gateway is empty behind a wave, whose number it gets.
    public func run(checkpoint: (Int) -> Void) -> SoakVerdict {
        gateway.journal.onViolation = { [unowned self] in verdict.violations.append($0) }
        seat.onEvent = { [unowned self] in gateway.receive($1, of: $0, at: $2) }
        let begin = world.now
        for wave in 1...max(1, settings.waves) {
            playWave()
            judge(wave)
            checkpoint(wave)
        }
        (verdict.virtualTime, verdict.heard) = (world.now - begin, ports.unheard)
        for phone in callers + callees { verdict.tally.add(phone.tally) }
        (verdict.relayed, verdict.media) = (ports.relay?.passed ?? 0, journalHash.value)
        _ = gateway.finish(at: world.now)
        network.detachAll()
        world.removeAll()
        return verdict
    }

    // MARK: The cast

    private static func number(_ index: Int) -> Text { Text(4_000 + index) }
    private static func calleeAddress(_ index: Int) -> SocketAddress { Cast.deviceAddress(60 + index) }

    private static func configuration(_ calls: Int) -> GatewayConfiguration {
        var configuration = GatewayConfiguration()
        configuration.domain = Cast.domain
        configuration.access.trusted = [IPNetwork("198.51.100.0/24")!]
        configuration.media.ports = 20_000...20_999
        for index in 0..<calls {
            var line = LineConfiguration(number: number(index))
            line.endpoint = .trunk(LineEndpoint.Trunk(address: calleeAddress(index)))
            configuration.lines.append(line)
        }
        var conference = LineConfiguration(number: Self.conference)
        conference.endpoint = .application(.conference)
        configuration.lines.append(conference)
        return configuration
    }

    private func makePhones() {
        for index in 0..<settings.calls {
            callers.append(makePhone("caller-\(index)", Cast.callerAddress(10 + index)))
            let callee = makePhone("callee-\(index)", Self.calleeAddress(index))
            let talk = settings.talk
            callee.script = { random in
                var script = CalleeScript(decision: .answer, decidesAfter: .milliseconds(500))
                script.steps = random.longTalk(talk)
                return script
            }
            callees.append(callee)
        }
    }

    private func makePhone(_ user: String, _ address: SocketAddress) -> Phone {
        let phone = Phone(user: Text(user), address: address, world: world, network: network, seed: random.next())
        phone.wires = ports
        return phone
    }

    // MARK: A wave

    private func playWave() {
        for (index, caller) in callers.enumerated() {
            let confers = index % 6 >= 4
            var script = CallerScript(number: confers ? Self.conference : Self.number(index))
            script.steps =
                random.longTalk(confers ? .milliseconds(settings.talk.wholeMilliseconds / 10) : settings.talk) + [
                    TalkStep(delay: .milliseconds(200), action: .bye)
                ]
            world.after(.milliseconds(Int64.random(in: 0...5_000, using: &random))) {
                caller.call(script, as: nil, domain: Cast.domain, over: .udp, at: Cast.gateway)
            }
        }
        let limit = world.now + settings.talk + .seconds(120)
        while !isOver, world.step(until: limit) {}
        // Numbers come out of their quarantine, and what was on its way arrives.
        let rest = world.now + .seconds(40)
        while world.step(until: rest) {}
    }

    private var isOver: Bool {
        world.pending == 0 && gateway.counts(at: world.now).isIdle
            && (callers + callees).allSatisfy { $0.openCalls == 0 && $0.agent.counts.isQuiet }
    }

    private func judge(_ wave: Int) {
        let counts = gateway.counts(at: world.now)
        if !counts.isIdle || counts.agent.timers != 0 || counts.media.ports.quarantined != 0 {
            verdict.leaks.append("behind wave \(wave) the gateway holds \(counts)")
        }
        if let relay = ports.relay, relay.count > 0 {
            verdict.leaks.append("behind wave \(wave) the relay holds \(relay.count) directions")
        }
        if ports.boundPorts > 0 { verdict.leaks.append("behind wave \(wave) \(ports.boundPorts) ports are bound") }
        for phone in callers + callees where phone.openCalls > 0 {
            verdict.leaks.append("behind wave \(wave) \(phone.user) holds \(phone.openCalls) calls")
        }
    }
}

/// Keeps a hash of what is said of media alone (FNV-1a), but for what a relay takes over and gives back: actions have numbers that go on from
/// soak to soak of one process, and events those of their place.
private final class JournalHash: JournalSink {
    private let hash = Mutex<UInt64>(0xCBF2_9CE4_8422_2325)

    var value: UInt64 { hash.withLock(\.self) }

    func accept(_ lines: [UInt8]) {
        for line in String(decoding: lines, as: UTF8.self).split(separator: "\n") where line.contains(#""kind":"media."#) {
            guard !line.contains(#""media.armed""#), !line.contains(#""media.taken""#), let place = line.firstIndex(of: ",") else {
                continue
            }
            hash.withLock { for byte in line[place...].utf8 { $0 = ($0 ^ UInt64(byte)) &* 0x100_0000_01B3 } }
        }
    }
}

extension SeededRandom {
    /// A talk of about that length, in which something happens every few seconds; whoever holds resumes.
    mutating func longTalk(_ length: Duration) -> [TalkStep] {
        var steps: [TalkStep] = [], time: Int64 = 0
        while time < length.wholeMilliseconds {
            let delay = Int64.random(in: 2_000...20_000, using: &self)
            time += delay
            switch Int.random(in: 0..<10, using: &self) {
            case 0...2:
                let held = Int64.random(in: 200...8_000, using: &self)
                time += held
                steps += [TalkStep(delay: .milliseconds(delay), action: .hold), TalkStep(delay: .milliseconds(held), action: .resume)]
            case 3...6: steps.append(TalkStep(delay: .milliseconds(delay), action: .recode))
            case 7: steps.append(TalkStep(delay: .milliseconds(delay), action: .update))
            case 8: steps.append(TalkStep(delay: .milliseconds(delay), action: .resume))
            default: steps.append(TalkStep(delay: .milliseconds(delay), action: .info))
            }
        }
        return steps
    }
}
