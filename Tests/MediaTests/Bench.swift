import Media
import Primitives
import RTP
import SDP
import Testing

/// One engine on a virtual network, with a clock that the test turns.
final class Bench {
    let network = VirtualNetwork()
    let engine: MediaEngine
    var now = Instant.zero + .seconds(1_000)
    var events: [MediaLegID: [MediaEvent]] = [:]
    static let host = IPAddress("192.0.2.1")!

    init() { engine = MediaEngine(binder: network, random: SeededRandom(seed: 11), at: now) }

    func address(_ port: UInt16) -> SocketAddress { SocketAddress(Self.host, port: port) }

    /// An open and activated leg on `port`, talking to `far`.
    @discardableResult
    func open(
        _ id: UInt64, port: UInt16, far: SocketAddress, codecs: [NegotiatedCodec] = [.pcmu()], keys: [NegotiatedCodec] = [],
        source: MediaSource = .relay,
        sink: MediaSink = .none, mux: Bool = true, silenceLimit: Duration? = nil
    ) throws -> MediaLegID {
        let leg = MediaLegID(id)
        let audio = NegotiatedAudio(
            codecs: codecs, telephoneEvents: keys, remoteRTP: far, remoteRTCP: mux ? far : SocketAddress(far.address, port: far.port + 1),
            rtcpMux: mux)
        let plan = MediaPlan(localAddress: Self.host, audio: audio, source: source, sink: sink, silenceLimit: silenceLimit)
        try engine.open(leg, reservation: PortReservation(rtp: port), plan: plan, at: now)
        try engine.activate(leg)
        plans[leg] = plan
        return leg
    }

    var plans: [MediaLegID: MediaPlan] = [:]

    func start(_ legs: MediaLegID...) throws { for leg in legs { try engine.start(leg, at: now) } }

    func update(_ leg: MediaLegID, _ change: (inout MediaPlan) -> Void) throws {
        var plan = try #require(plans[leg])
        change(&plan)
        try engine.update(leg, plan: plan, at: now)
        plans[leg] = plan
    }

    /// A packet arrives.
    func arrive(_ bytes: [UInt8], from sender: SocketAddress, at port: UInt16) {
        network.deliver(bytes, from: sender, to: address(port), engine, at: now)
        collect()
    }

    /// Lets time pass, with every timer at its time.
    func pass(_ duration: Duration) {
        let end = now + duration
        while let due = engine.deadline, due <= end {
            now = max(now, due)
            engine.advance(to: now)
            collect()
        }
        now = end
    }

    /// RTP that was sent to an address since the last call.
    func heard(by address: SocketAddress) -> [[UInt8]] { network.take(to: address).filter(isRTP) }

    func statistics(_ leg: MediaLegID) throws -> MediaStatistics { try engine.statistics(of: leg) }

    private func collect() {
        for (leg, event) in engine.takeEvents() { events[leg, default: []].append(event) }
    }

    var digits: [MediaLegID: String] {
        events.mapValues { list in String(list.compactMap { if case .digit(let digit) = $0 { digit.character } else { nil } }) }.filter {
            !$0.value.isEmpty
        }
    }
}
