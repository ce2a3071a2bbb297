import Primitives
import Runtime
import SDP
import SIP
import UserAgent

/// A scripted phone: a whole user agent with one way of behaving per call, drawn from a seed.
final class Phone: Inhabitant, UserAgentDelegate {
    let agent: UserAgent
    let address: SocketAddress
    let user: Text
    unowned let world: World
    private var random: SeededRandom
    private var calls: [ObjectIdentifier: PhoneCall] = [:]
    private var ports: UInt16 = 10_000
    private(set) var isRegistered = false
    private var registration: Registration?
    var tally = Tally()
    /// The ports at which it speaks; nil for a phone that is mute.
    var wires: VirtualPorts?
    /// The script for a call that comes in.
    var script: (inout SeededRandom) -> CalleeScript = { $0.calleeScript() }

    init(user: Text, address: SocketAddress, world: World, network: VirtualNetwork, seed: UInt64) {
        (self.user, self.address, self.world) = (user, address, world)
        random = SeededRandom(seed: seed)
        var configuration = UserAgentConfiguration(contactAddress: { _ in address })
        configuration.allowedMethods += [.refer, .notify]
        // Every other phone speaks of timers, and some want their 180 acknowledged.
        if address.address.low & 1 == 0 { configuration.sessionTimer = SessionTimer.Policy(interval: 90) }
        if address.address.low & 2 == 0 { configuration.reliability = .whenSupported }
        agent = UserAgent(configuration: configuration, network: network, random: SeededRandom(seed: ~seed), hash: OpenSSLDigest.sip)
        agent.delegate = self
        world.add(self)
        network.attach(self, to: address)
    }

    var deadline: Instant? { agent.deadline }
    func advance(to now: Instant) { agent.advance(to: now) }

    func receive(_ bytes: [UInt8], over flow: Flow, at now: Instant) { agent.receive(bytes, over: flow, at: now) }
    func failed(_ flow: Flow, at now: Instant) { agent.failed(flow, at: now) }
    func portUnreachable(_ beginning: [UInt8], at now: Instant) { agent.portUnreachable(beginning, at: now) }

    /// Calls that are not over for it.
    var openCalls: Int { calls.count }

    func register(line: Text, password: Text, domain: Text, at gateway: SocketAddress) {
        let flow = Flow(transport: .udp, local: address, remote: gateway)
        var request = OutgoingRegistration(
            registrar: URI(host: domain), flow: flow, address: NameAddress(uri: URI(user: line, host: domain)))
        request.contactUser = user
        request.expires = 3_600
        request.credentials = Credentials(username: line, password: password)
        registration = agent.register(request, at: world.now) { [unowned self] _, event, _ in
            if case .registered = event { isRegistered = true }
        }
    }

    func call(
        _ script: CallerScript, as line: (number: Text, password: Text)?, domain: Text, over transport: Transport, at gateway: SocketAddress
    ) {
        tally.calls += 1
        let call = PhoneCall(caller: script, phone: self, local: makeMedia(), sessionID: random.next())
        let flow = Flow(transport: transport, local: address, remote: gateway)
        let target = URI(user: script.number, host: domain)
        let from = NameAddress(uri: URI(user: line?.number ?? user, host: line == nil ? "elsewhere.test" : domain))
        var invite = OutgoingInvite(target: target, flow: flow, from: from, to: NameAddress(uri: target))
        invite.credentials = line.map { Credentials(username: $0.number, password: $0.password) }
        invite.body = call.firstOffer()
        if script.requiresReliability { invite.headers.append((.require, "100rel")) }
        let session = agent.invite(invite, delegate: call, at: world.now)
        adopt(call, session)
        call.begin(session)
    }

    func userAgent(_ agent: UserAgent, incoming session: InviteSession, at now: Instant) {
        tally.rung += 1
        let call = PhoneCall(callee: script(&random), phone: self, local: makeMedia(), sessionID: random.next())
        session.delegate = call
        adopt(call, session)
        call.begin(session)
    }

    private func adopt(_ call: PhoneCall, _ session: InviteSession) { calls[ObjectIdentifier(call)] = call }

    /// The gateway has died, and nothing is heard: whoever is in a call hangs up after a while.
    func hangUpSoon() { for call in calls.values { call.hangUpSoon() } }

    func makeVoice() -> Voice? { wires.map { Voice($0, world: world, seed: random.next()) } }

    func forget(_ call: PhoneCall) { calls[ObjectIdentifier(call)] = nil }

    private func makeMedia() -> LocalMedia {
        ports = ports >= 60_000 ? 10_000 : ports + 2
        return LocalMedia(address: address.address, port: ports, rtcpPort: ports + 1, codecs: someCodecs(), offersMux: random.chance(500))
    }

    /// One codec or more, in any order.
    func someCodecs() -> [Codec] {
        let all = Codec.usual
        return Array(all.shuffled(using: &random).prefix(Int.random(in: 1...all.count, using: &random)))
    }
}
