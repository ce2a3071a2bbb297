import Audio
import Foundation
import Media
import Primitives
import Runtime
import SDP
import SIP
import UserAgent

@testable import Gateway
@testable import Rehearsal

/// A whole gateway with its real media engine, and telephones that speak signatures and listen, in virtual time.
///
/// Each telephone has a line of its own number; 3900 is a conference, 9196 an echo.
final class SoundStage {
    let world = World(at: Instant(nanoseconds: 1_000_000_000))
    let network: VirtualNetwork
    let ports: VirtualPorts
    let seat: MediaSeat
    let gateway: Gateway
    private(set) var violations: [String] = []
    private let sink = Transcript()
    private let host: GatewayStage
    private(set) var telephones: [Telephone] = []

    /// - Parameter adapt: other settings of the gateway.
    init(telephones count: Int, opus: OpusSettings = OpusSettings(), _ adapt: (inout GatewayConfiguration) -> Void = { _ in }) {
        network = VirtualNetwork(world: world, seed: 1)
        ports = VirtualPorts(world: world)
        seat = MediaSeat(ports, seed: 2, at: world.now)
        var configuration = Self.configuration(count)
        adapt(&configuration)
        let lanes = MediaLanes(
            settings: MediaSettings(ports: configuration.media.ports, quarantine: configuration.media.quarantine, lanes: 1, opus: opus),
            random: SeededRandom(seed: 4),
            driving: seat.engine)
        let journal = Journal(lane: "stage", clock: WallClock(instant: world.now, unixNanoseconds: 1_790_000_000_000_000_000), sink: sink)
        let environment = Gateway.Environment(
            network: network, media: lanes, random: SeededRandom(seed: 3), hash: OpenSSLDigest.sip, addressTowards: { _ in nil },
            listeners: [Transports.Listener(.udp, Cast.gateway)], journal: journal, epoch: Date(timeIntervalSince1970: 1_790_000_000))
        gateway = Gateway(configuration, environment, at: world.now)
        host = GatewayStage(gateway)
        world.add(host)
        world.add(seat)
        network.attach(host, to: Cast.gateway)
        journal.onViolation = { [unowned self] in violations.append($0.description) }
        seat.onEvent = { [unowned self] in gateway.receive($1, of: $0, at: $2) }
        telephones = (0..<count).map { Telephone(self, number: $0) }
    }

    deinit {
        network.detachAll()
        world.removeAll()
    }

    private static func configuration(_ count: Int) -> GatewayConfiguration {
        var configuration = GatewayConfiguration()
        configuration.domain = Cast.domain
        configuration.access.trusted = [IPNetwork("0.0.0.0/0")!]
        for number in 0..<count {
            var line = LineConfiguration(number: Telephone.line(number))
            line.endpoint = .trunk(LineEndpoint.Trunk(address: Telephone.address(number)))
            configuration.lines.append(line)
        }
        var conference = LineConfiguration(number: "3900"), echo = LineConfiguration(number: "9196")
        (conference.endpoint, echo.endpoint) = (.application(.conference), .application(.echo))
        configuration.lines += [conference, echo]
        return configuration
    }

    func run(seconds: Double) {
        let end = world.now + .milliseconds(Int64(seconds * 1_000))
        while world.step(until: end) {}
    }

    /// A call from the first telephone to the second that is up.
    func connect(_ codec: Codec = .pcmu, _ other: Codec? = nil) -> (caller: Telephone, callee: Telephone) {
        let (caller, callee) = (telephones[0], telephones[1])
        (caller.codecs, callee.codecs) = ([codec], [other ?? codec])
        caller.call(Telephone.line(1))
        run(seconds: 0.2)
        return (caller, callee)
    }

    /// RTP from a telephone to the gateway fares like this from now on.
    func impair(from telephone: Telephone, _ settings: Impairment.Settings, seed: UInt64 = 7) {
        ports.impair(from: telephone.address.address, to: Cast.gateway.address, settings, seed: seed)
    }

    func impairment(from telephone: Telephone) -> Impairment? {
        ports.impairment(from: telephone.address.address, to: Cast.gateway.address)
    }

    /// Of the gateway's leg with this number; they count from 1 in the order in which they were made.
    func statistics(ofLeg number: UInt64) throws -> MediaStatistics { try seat.engine.statistics(of: MediaLegID(number), at: world.now) }

    var journal: [JournalEvent] {
        gateway.journal.flush()
        return JournalReader.parse(sink.bytes, name: "stage").events
    }

    /// What the end-of-media lines of the journal say, in order: `heard`, `nothing`, … in and out, and whether the leg is called one-way.
    var endOfMedia: [(incoming: String?, outgoing: String?, basis: String?, isOneWay: Bool)] {
        journal.filter { $0.kind == .mediaStopped }.map { event in
            (
                event.details.text(.incoming)?.description, event.details.text(.outgoing)?.description,
                event.details.text(.incomingBasis)?.description, event.details.flag(.oneWay)
            )
        }
    }

    var ladder: String { Ladder(journal, options: LadderOptions(width: 200)).text }

    /// Nothing is left, and no rule was broken: one sentence for each thing that is.
    func leftovers() -> [String] {
        run(seconds: 40)
        let counts = gateway.counts(at: world.now)
        return (counts.isIdle ? [] : ["\(counts)"]) + violations + (ports.boundPorts > 0 ? ["\(ports.boundPorts) ports are bound"] : [])
    }
}
