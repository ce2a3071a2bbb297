import Audio
import Glibc
import Media
import Primitives
import SDP
import SIP
import UserAgent
import Workbench

/// A calling and an answering client of ours, face to face.
final class Pair {
    let room = Room()
    let callerSeat: Room.Seat
    let calleeSeat: Room.Seat
    let caller: LoadClient
    let callee: LoadClient
    let target = URI(user: "callee", address: Room.address(2))
    private(set) var finished: (record: CallRecord?, failure: String?)?
    private var record: CallRecord?
    private(set) var answered: [CallRecord] = []
    private(set) var calleeFinished = false
    private(set) var events: [String] = []

    init(
        codecs: [Codec] = [.pcmu], registers: Bool = false, timeout: Duration = .seconds(20), calling: CallScript = CallScript(),
        answering: (inout AnswerPolicy) -> Void = { _ in }
    ) {
        callerSeat = room.seat("caller", 1, server: Room.address(registers ? 3 : 2), codecs: codecs)
        calleeSeat = room.seat("callee", 2, server: Room.address(registers ? 3 : 1))
        var policy = AnswerPolicy()
        answering(&policy)
        caller = LoadClient(
            phone: callerSeat.phone, plan: .call(target, calling, as: registers ? LoadAccount(user: "caller") : nil, timeout: timeout))
        callee = LoadClient(phone: calleeSeat.phone, plan: .answering(policy, as: registers ? LoadAccount(user: "callee") : nil))
        (callerSeat.client, calleeSeat.client) = (caller, callee)
        caller.onEvent = { [unowned self] event, _ in noteCaller(event) }
        callee.onEvent = { [unowned self] event, _ in noteCallee(event) }
    }

    func start() {
        callee.start(at: room.now)
        caller.start(at: room.now)
    }

    /// The call in progress at the caller.
    var call: PhoneCall? { callerSeat.phone.calls.values.first }
    var answeredCall: PhoneCall? { calleeSeat.phone.calls.values.first }

    private func noteCaller(_ event: LoadClient.Event) {
        switch event {
        case .registered: events.append("caller registered")
        case .leg(_, let event): note(event, "caller")
        case .call(let call): record = call.caller
        case .finished(let failure): finished = (record, failure)
        case .began, .registrationFailed, .step: break
        }
    }

    private func noteCallee(_ event: LoadClient.Event) {
        switch event {
        case .registered: events.append("callee registered")
        case .registrationFailed: events.append("callee not registered")
        case .leg(_, .ended(let record)): answered.append(record)
        case .leg(_, let event): note(event, "callee")
        case .finished: calleeFinished = true
        case .began, .call, .step: break
        }
    }

    private func note(_ event: PhoneCall.Event, _ name: String) {
        switch event {
        case .traced, .recorded, .ended: break
        case .ringing(let status): events.append("\(name) ringing \(status)")
        default: events.append("\(name) \(event)")
        }
    }

    /// Calls, sockets, reserved or open ports, and sessions that are still there; empty when all is over.
    var leftovers: [String] {
        [callerSeat, calleeSeat].flatMap { seat -> [String] in
            let counts = seat.plane.counts(at: room.now), sessions = seat.phone.agent.counts.sessions
            return (seat.phone.calls.isEmpty ? [] : ["\(seat.name) calls"]) + (counts.isIdle ? [] : ["\(seat.name) \(counts)"])
                + (sessions == 0 ? [] : ["\(seat.name) sessions \(sessions)"])
        } + (room.boundSockets == 0 ? [] : ["sockets"])
    }

    var isIdle: Bool { leftovers.isEmpty }
}

/// Sound that is never the same twice: a pitch and a loudness that wander, from a seed.
func babble(seed: UInt64, seconds: Double, sampleRate: Int = 8_000) -> [Int16] {
    var random = SeededRandom(seed: seed), phase = 0.0, pitch = 200.0, loudness = 0.5
    return (0..<Int(seconds * Double(sampleRate))).map { index in
        if index % (sampleRate / 12) == 0 {
            pitch = 120 + Double(random.next() % 500)
            loudness = Double(random.next() % 100) / 100
        }
        phase += 2 * .pi * pitch / Double(sampleRate)
        let hiss = Double(random.next() % 2_000) - 1_000
        return Int16(6_000 * loudness * (sin(phase) + 0.6 * sin(3 * phase) + 0.3 * sin(5 * phase)) + hiss)
    }
}

func samples(seed: UInt64, seconds: Double) -> MediaSource {
    .samples(babble(seed: seed, seconds: seconds), sampleRate: 8_000, loops: false)
}
