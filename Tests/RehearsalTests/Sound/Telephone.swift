import Audio
import Media
import Primitives
import Runtime
import SDP
import SIP
import UserAgent

@testable import Gateway
@testable import Rehearsal

/// A telephone with a whole media engine of its own: it says who it is, in sound, and keeps what it hears.
final class Telephone: Inhabitant, UserAgentDelegate, InviteSessionDelegate {
    let address: SocketAddress
    /// Who speaks; nil for one that sends what `source` says.
    var signature: SoundSignature?
    var source: MediaSource = .silence
    var codecs: [Codec] = [.pcmu]
    private(set) var heard: [Int16] = []
    private(set) var heardRate = 8_000
    private(set) var firstSent: Instant?, firstReceived: Instant?
    private(set) var audio: NegotiatedAudio?
    private(set) var isUp = false
    private var closing: MediaStatistics?
    private unowned let stage: SoundStage
    private let agent: UserAgent
    private let seat: MediaSeat
    private var session: InviteSession?
    private var negotiation: OfferAnswer?
    private var isHolding = false
    private let number: Int
    private var calls: UInt16 = 0
    private var leg: MediaLegID { MediaLegID(UInt64(calls)) }

    static func address(_ number: Int) -> SocketAddress { SocketAddress(IPAddress(v4: 0xC000_0250 + UInt32(number)), port: 5060) }
    static func line(_ number: Int) -> Text { Text(5_000 + number) }

    init(_ stage: SoundStage, number: Int) {
        let address = Self.address(number)
        (self.stage, self.number, self.address) = (stage, number, address)
        signature = SoundSignature(run: 3, call: UInt32(100 + number / 2), side: number.isMultiple(of: 2) ? .caller : .callee)
        agent = UserAgent(
            configuration: UserAgentConfiguration(contactAddress: { _ in address }), network: stage.network,
            random: SeededRandom(seed: 50 + UInt64(number)), hash: OpenSSLDigest.sip)
        seat = MediaSeat(stage.ports, seed: 90 + UInt64(number), at: stage.world.now)
        agent.delegate = self
        seat.onEvent = { [unowned self] in take($1, at: $2) }
        stage.world.add(self)
        stage.world.add(seat)
        stage.network.attach(self, to: address)
    }

    var now: Instant { stage.world.now }
    var deadline: Instant? { agent.deadline }
    func advance(to now: Instant) { agent.advance(to: now) }
    func receive(_ bytes: [UInt8], over flow: Flow, at now: Instant) { agent.receive(bytes, over: flow, at: now) }
    func failed(_ flow: Flow, at now: Instant) { agent.failed(flow, at: now) }

    // MARK: What its user does

    func call(_ line: Text) {
        var negotiation = makeNegotiation()
        let target = URI(user: line, host: Cast.domain)
        let from = NameAddress(uri: URI(user: Text("telephone-\(number)"), host: "elsewhere.test"))
        var invite = OutgoingInvite(
            target: target, flow: Flow(transport: .udp, local: address, remote: Cast.gateway), from: from, to: NameAddress(uri: target))
        invite.body = negotiation.offer().serialized()
        self.negotiation = negotiation
        session = agent.invite(invite, delegate: self, at: now)
    }

    func hangUp() {
        fallSilent()
        session?.bye(at: now)
    }

    /// The first half of that: media ends, with its last report.
    func fallSilent() { stopMedia(ending: true) }

    func hold() {
        isHolding = true
        stopMedia(ending: false)
        offer(.sendonly)
    }

    func resume() {
        isHolding = false
        offer(.sendrecv)
    }

    func statistics() throws -> MediaStatistics { try closing ?? seat.engine.statistics(of: leg, at: now) }

    // MARK: What it heard

    func forgetHeard() { (heard, firstReceived) = ([], nil) }

    /// What it heard, judged: whether it is the other telephone, and how long it took.
    func verdict(expecting other: Telephone) throws -> SignatureVerdict {
        let narrow = try WAV(sampleRate: heardRate, samples: heard).resampled(to: SoundSignature.sampleRate).samples
        let began = firstReceived.flatMap { first in other.firstSent.map { Double((first - $0).wholeNanoseconds) / 1e9 } }
        return SignatureHearing(narrow).verdict(
            expecting: other.signature ?? SoundSignature(run: 0, call: 0, side: .caller),
            context: SignatureContext(own: signature, began: began))
    }

    // MARK: Signalling

    private func makeNegotiation() -> OfferAnswer {
        calls += 1
        let port = 40_000 + 4 * calls
        return OfferAnswer(local: LocalMedia(address: address.address, port: port, rtcpPort: port + 1, codecs: codecs), sessionID: 9)
    }

    func userAgent(_ agent: UserAgent, incoming session: InviteSession, at now: Instant) {
        self.session = session
        session.delegate = self
        var negotiation = makeNegotiation()
        guard (try? negotiation.receive(offer: session.request.body)) != nil, let (answer, agreed) = try? negotiation.answer(),
            let audio = agreed
        else {
            session.respond(status: 488, at: now)
            return
        }
        self.negotiation = negotiation
        session.respond(status: 200, body: answer.serialized(), at: now)
        begin(audio)
    }

    func session(_ session: InviteSession, did event: SessionEvent, at now: Instant) {
        switch event {
        case .accepted(let response):
            if let audio = try? negotiation?.receive(answer: response.body) { begin(audio) }
            session.acknowledge(at: now)
        case .offered(let offer):
            guard let body = offer.body, (try? negotiation?.receive(offer: body)) != nil, let (answer, audio) = try? negotiation?.answer()
            else {
                return session.answer(offer, status: 488, at: now)
            }
            session.answer(offer, status: 200, body: answer.serialized(), at: now)
            if let audio { adopt(audio) }
        case .reanswered(let response): if let audio = try? negotiation?.receive(answer: response.body) { adopt(audio) }
        case .ended, .byeCompleted, .cancelled, .rejected: over()
        default: break
        }
    }

    private func offer(_ direction: SDP.Direction) {
        guard let body = negotiation?.offer(direction: direction).serialized() else { return }
        session?.reinvite(body: body, at: now)
    }

    private func over() {
        stopMedia(ending: true)
        if isUp { closing = try? seat.engine.close(leg) }
        (isUp, session) = (false, nil)
    }

    // MARK: Media

    private func plan(_ audio: NegotiatedAudio) -> MediaPlan {
        let sound = signature.map { MediaSource.samples($0.samples(), sampleRate: SoundSignature.sampleRate, loops: true) } ?? source
        return MediaPlan(localAddress: address.address, audio: audio, source: sound, sink: .record)
    }

    private func begin(_ audio: NegotiatedAudio) {
        self.audio = audio
        guard let port = negotiation?.local.port,
            (try? seat.engine.open(leg, reservation: PortReservation(rtp: port), plan: plan(audio), at: now)) != nil
        else { return }
        isUp = true
        try? seat.engine.activate(leg)
        try? seat.engine.start(leg, at: now)
        seat.tell(now)
    }

    private func adopt(_ audio: NegotiatedAudio) {
        self.audio = audio
        try? seat.engine.update(leg, plan: plan(audio), at: now)
        if !isHolding { try? seat.engine.start(leg, at: now) }
        seat.tell(now)
    }

    private func stopMedia(ending: Bool) {
        _ = try? seat.engine.stop(leg, ending: ending, at: now)
        seat.tell(now)
    }

    private func take(_ event: MediaEvent, at now: Instant) {
        switch event {
        case .recorded(let samples, let rate):
            heardRate = rate
            heard += samples
        case .firstSent(let time): firstSent = firstSent ?? time
        case .firstReceived(let time): firstReceived = firstReceived ?? time
        default: break
        }
    }
}
