import Audio
import Media
import Primitives
import SDP

@testable import Rehearsal

/// The media of a stage with sound: the app's engine, and one for all far ends, which say signatures and keep what they hear.
final class StageSound {
    let app: MediaSeat
    let plane: MediaLanes
    private let far: MediaSeat
    private unowned let world: World
    private var heard: [MediaLegID: [Int16]] = [:]
    private var rates: [MediaLegID: Int] = [:]
    private var plans: [MediaLegID: MediaPlan] = [:]

    init(world: World) {
        self.world = world
        let ports = VirtualPorts(world: world)
        (app, far) = (MediaSeat(ports, seed: 11, at: world.now), MediaSeat(ports, seed: 12, at: world.now))
        plane = MediaLanes(
            settings: MediaSettings(ports: 20_000...20_199, quarantine: .seconds(1), lanes: 1), random: SeededRandom(seed: 13),
            driving: app.engine)
        world.add(app)
        world.add(far)
        far.onEvent = { [unowned self] leg, event, _ in
            guard case .recorded(let samples, let rate) = event else { return }
            heard[leg, default: []] += samples
            rates[leg] = rate
        }
    }

    /// The far end of a call begins to listen, and to speak if it has a signature.
    func begin(_ number: UInt64, _ call: FarCall, _ signature: SoundSignature?) throws {
        guard let audio = call.negotiation.audio else { return }
        let leg = MediaLegID(number),
            plan = MediaPlan(localAddress: FarPhone.address.address, audio: audio, source: source(signature), sink: .record)
        try far.engine.open(leg, reservation: PortReservation(rtp: call.negotiation.local.port), plan: plan, at: world.now)
        try far.engine.activate(leg)
        try far.engine.start(leg, at: world.now)
        plans[leg] = plan
    }

    /// It says something else from now on.
    func say(_ number: UInt64, _ signature: SoundSignature?) throws {
        let leg = MediaLegID(number)
        guard var plan = plans[leg] else { return }
        plan.source = source(signature)
        try far.engine.update(leg, plan: plan, at: world.now)
        plans[leg] = plan
    }

    private func source(_ signature: SoundSignature?) -> MediaSource {
        signature.map { .samples($0.samples(), sampleRate: SoundSignature.sampleRate, loops: true) } ?? .silence
    }

    /// What the far end of a call has heard since the last `forget`; nil where no packet came.
    func hears(_ number: UInt64, expecting signature: SoundSignature) throws -> SignatureVerdict? {
        guard let samples = heard[MediaLegID(number)], let rate = rates[MediaLegID(number)], !samples.isEmpty else { return nil }
        return SignatureHearing(try WAV(sampleRate: rate, samples: samples).resampled(to: SoundSignature.sampleRate).samples).verdict(
            expecting: signature)
    }

    func forget() { heard = [:] }
}
