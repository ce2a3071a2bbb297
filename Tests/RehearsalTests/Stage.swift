import Foundation
import Media
import Primitives
import Runtime
import SDP
import SIP
import UserAgent

@testable import Gateway
@testable import Rehearsal

/// A gateway in virtual time, and peers that say what a test makes them say, byte for byte.
final class Stage {
    let world = World(at: Instant(nanoseconds: 1_000_000_000))
    let network: VirtualNetwork
    let media: VirtualMediaPlane
    let gateway: Gateway
    private(set) var violations: [String] = []
    private var host: Host?
    /// What the name system knows; each question takes a while.
    var zone: [DNSQuestion: DNSAnswer] = [:]
    private(set) var questions: [DNSQuestion] = []

    /// Lines: 2000 for devices without a password, 9196 echo, and what a test adds.
    init(_ change: (inout GatewayConfiguration) -> Void = { _ in }, zone: [DNSQuestion: DNSAnswer] = [:]) {
        self.zone = zone
        network = VirtualNetwork(world: world, seed: 1)
        var configuration = GatewayConfiguration()
        configuration.domain = Cast.domain
        configuration.access.trusted = [IPNetwork("0.0.0.0/0")!]
        var devices = LineConfiguration(number: "2000"), echo = LineConfiguration(number: "9196")
        devices.isOpen = true
        echo.endpoint = .application(.echo)
        configuration.lines = [devices, echo]
        change(&configuration)
        media = VirtualMediaPlane(ports: configuration.media.ports, quarantine: configuration.media.quarantine, seed: 2)
        let journal = Journal(lane: "stage", clock: WallClock(instant: world.now, unixNanoseconds: 1_790_000_000_000_000_000), sink: nil)
        var resolve: (DNSQuestion, UInt64) -> Void = { _, _ in }
        var environment = Gateway.Environment(
            network: network, media: media, random: SeededRandom(seed: 3), hash: OpenSSLDigest.sip, addressTowards: { _ in nil },
            listeners: [Transports.Listener(.udp, Cast.gateway)], journal: journal, epoch: Date(timeIntervalSince1970: 1_790_000_000))
        environment.resolve = { resolve($0, $1) }
        // Questions that the gateway asks while it is made are kept until it is there to hear the answers.
        var early: [(DNSQuestion, UInt64)] = []
        resolve = { early.append(($0, $1)) }
        gateway = Gateway(configuration, environment, at: world.now)
        resolve = { [unowned self] in answer($0, $1) }
        for (question, id) in early { answer(question, id) }
        journal.onViolation = { [unowned self] in violations.append($0.description) }
        let host = Host(gateway)
        self.host = host
        world.add(host)
        network.attach(host, to: Cast.gateway)
    }

    private func answer(_ question: DNSQuestion, _ id: UInt64) {
        questions.append(question)
        world.after(.milliseconds(5)) { [unowned self] in gateway.receive(zone[question] ?? DNSAnswer(.nothing), of: id, at: world.now) }
    }

    deinit {
        network.detachAll()
        world.removeAll()
    }

    func run(seconds: Double) {
        let end = world.now + .milliseconds(Int64(seconds * 1_000))
        while world.step(until: end) {}
    }

    private final class Host: Inhabitant {
        let gateway: Gateway
        init(_ gateway: Gateway) { self.gateway = gateway }
        var deadline: Instant? { gateway.deadline }
        func advance(to now: Instant) { gateway.advance(to: now) }
        func receive(_ bytes: [UInt8], over flow: Flow, at now: Instant) { gateway.receive(bytes, over: flow, at: now) }
        func failed(_ flow: Flow, at now: Instant) { gateway.failed(flow, at: now) }
    }
}

/// Somebody at an address of his own.
final class RawPeer: Inhabitant {
    let address: SocketAddress
    private let stage: Stage
    private(set) var heard: [Message] = []
    private var branches = 0

    init(_ stage: Stage, _ last: UInt32) {
        (self.stage, address) = (stage, SocketAddress(IPAddress(v4: 0xC000_0200 + last), port: 5060))
        stage.network.attach(self, to: address)
    }

    var deadline: Instant? { nil }
    func advance(to now: Instant) {}
    func failed(_ flow: Flow, at now: Instant) {}
    func receive(_ bytes: [UInt8], over flow: Flow, at now: Instant) { if let message = try? Message(parsing: bytes) { heard.append(message) } }

    /// The last one heard: requests of a method, or final responses to it.
    func request(_ method: SIP.Method) -> Message? { heard.last { $0.isRequest && $0.method == method } }
    func final(_ method: SIP.Method, _ sequence: Int) -> Message? {
        heard.last { ($0.status ?? 0) >= 200 && $0.method == method && $0.cseq.number == UInt32(sequence) }
    }

    func send(_ bytes: [UInt8]) {
        stage.network.send(bytes, over: Flow(transport: .udp, local: address, remote: Cast.gateway))
        stage.run(seconds: 0.1)
    }

    func request(_ method: String, _ uri: String, call: String, _ sequence: Int, toTag: Text? = nil, body: String = "", headers: [String] = []) {
        branches += 1
        let tag = toTag.map { ";tag=\($0)" } ?? ""
        var lines = [
            "\(method) \(uri) SIP/2.0", "Via: SIP/2.0/UDP \(address);branch=z9hG4bK\(address.address.low & 0xFF)x\(branches);rport", "Max-Forwards: 70",
            "From: <sip:peer@192.0.2.9>;tag=\(call)", "To: <\(uri)>\(tag)", "Call-ID: \(call)", "CSeq: \(sequence) \(method)", "Contact: <sip:peer@\(address)>",
        ]
        lines += headers
        if !body.isEmpty { lines.append("Content-Type: application/sdp") }
        send(Array((lines + ["Content-Length: \(body.utf8.count)", "", body]).joined(separator: "\r\n").utf8))
    }

    func answer(_ request: Message?, _ status: Int, body: String = "") {
        guard let request else { return }
        var response = Message.response(to: request, status: status, toTag: Text("raw\(address.address.low & 0xFF)"))
        response.headers.append(.contact, Text("<sip:peer@\(address)>"))
        if !body.isEmpty { response.headers.append(.contentType, "application/sdp") }
        response.body = Array(body.utf8)
        send(response.serialized())
    }

    func description(_ formats: String = "0", _ direction: String = "sendrecv", version: Int = 1) -> String {
        ["v=0", "o=- 7 \(version) IN IP4 \(address.address)", "s=-", "c=IN IP4 \(address.address)", "t=0 0", "m=audio 4000 RTP/AVP \(formats)", "a=\(direction)", ""]
            .joined(separator: "\r\n")
    }
}
