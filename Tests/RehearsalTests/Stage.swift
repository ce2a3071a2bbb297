import Foundation
import Media
import Primitives
import Runtime
import SDP
import SIP
import Testing
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
    private var host: GatewayStage?
    private let sink = Transcript()
    /// What DNS knows; each question takes a while.
    var zone: [DNSQuestion: DNSAnswer] = [:]
    private(set) var questions: [DNSQuestion] = []
    /// Whether each peer answers an INVITE with 180 by itself, as a telephone does.
    var telephonesRing = false

    /// Lines: 2000 for devices without a password, 9196 echo; and what the test makes of them.
    convenience init(_ configure: (inout GatewayConfiguration) -> Void, zone: [DNSQuestion: DNSAnswer] = [:]) {
        self.init(zone: zone) { configuration, _ in configure(&configuration) }
    }

    /// As above, and what the gateway has of the outside.
    init(zone: [DNSQuestion: DNSAnswer] = [:], _ adapt: (inout GatewayConfiguration, inout Gateway.Environment) -> Void = { _, _ in }) {
        self.zone = zone
        network = VirtualNetwork(world: world, seed: 1)
        var configuration = GatewayConfiguration()
        configuration.domain = Cast.domain
        configuration.access.trusted = [IPNetwork("0.0.0.0/0")!]
        var devices = LineConfiguration(number: "2000"), echo = LineConfiguration(number: "9196")
        devices.isOpen = true
        echo.endpoint = .application(.echo)
        configuration.lines = [devices, echo]
        media = VirtualMediaPlane(ports: configuration.media.ports, quarantine: configuration.media.quarantine, seed: 2)
        let journal = Journal(lane: "stage", clock: WallClock(instant: world.now, unixNanoseconds: 1_790_000_000_000_000_000), sink: sink)
        var resolve: (DNSQuestion, UInt64) -> Void = { _, _ in }
        var environment = Gateway.Environment(
            network: network, media: media, random: SeededRandom(seed: 3), hash: OpenSSLDigest.sip, addressTowards: { _ in nil },
            listeners: [Transports.Listener(.udp, Cast.gateway)], journal: journal, epoch: Date(timeIntervalSince1970: 1_790_000_000))
        environment.resolve = { resolve($0, $1) }
        // Questions that the gateway asks while it is made are kept until it is there to hear the answers.
        var early: [(DNSQuestion, UInt64)] = []
        resolve = { early.append(($0, $1)) }
        adapt(&configuration, &environment)
        gateway = Gateway(configuration, environment, at: world.now)
        resolve = { [unowned self] in answer($0, $1) }
        for (question, id) in early { answer(question, id) }
        journal.onViolation = { [unowned self] in violations.append($0.description) }
        let host = GatewayStage(gateway)
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

    /// What the journal has of a kind so far.
    func events(_ kind: JournalEvent.Kind) -> [JournalEvent] {
        gateway.journal.flush()
        let events = transcript.events.filter { $0.kind == kind }
        for event in events { #expect(event.offences.isEmpty) }
        return events
    }

    func run(seconds: Double) {
        let end = world.now + .milliseconds(Int64(seconds * 1_000))
        while world.step(until: end) {}
    }
}

/// Somebody at an address of his own.
final class RawPeer: Inhabitant {
    let address: SocketAddress
    /// Takes each INVITE in the moment in which it comes.
    var answersAtOnce = false
    private let stage: Stage
    private(set) var heard: [Message] = []
    private var branches = 0, inviteBranch = 0
    private var invited: [String: (uri: String, branch: Int, sender: String)] = [:]

    init(_ stage: Stage, _ last: UInt32) {
        (self.stage, address) = (stage, SocketAddress(IPAddress(v4: 0xC000_0200 + last), port: 5060))
        stage.network.attach(self, to: address)
    }

    var deadline: Instant? { nil }
    func advance(to now: Instant) {}
    func failed(_ flow: Flow, at now: Instant) {}
    func receive(_ bytes: [UInt8], over flow: Flow, at now: Instant) {
        guard let message = try? Message(parsing: bytes) else { return }
        heard.append(message)
        if stage.telephonesRing, message.isRequest, message.method == .invite, message.to.tag == nil { ring(message) }
        if answersAtOnce, message.isRequest, message.method == .invite { take(message) }
    }

    private func take(_ invite: Message) {
        var response = Message.response(to: invite, status: 200, toTag: tag)
        response.headers.append(.contact, Text("<sip:peer@\(address)>"))
        response.headers.append(.contentType, "application/sdp")
        response.body = Array(description(version: 2).utf8)
        stage.network.send(response.serialized(), over: Flow(transport: .udp, local: address, remote: Cast.gateway))
    }

    private func ring(_ invite: Message) {
        var response = Message.response(to: invite, status: 180, toTag: tag)
        response.headers.append(.contact, Text("<sip:peer@\(address)>"))
        stage.network.send(response.serialized(), over: Flow(transport: .udp, local: address, remote: Cast.gateway))
    }

    /// The last request of a method; there must be one.
    func received(_ method: SIP.Method, _ location: SourceLocation = #_sourceLocation) throws -> Message {
        try #require(request(method), sourceLocation: location)
    }

    /// The last one heard: requests of a method, or final responses to it.
    func request(_ method: SIP.Method) -> Message? { heard.last { $0.isRequest && $0.method == method } }
    func final(_ method: SIP.Method, _ sequence: Int) -> Message? {
        heard.last { ($0.status ?? 0) >= 200 && $0.method == method && $0.cseq.number == UInt32(sequence) }
    }

    func send(_ bytes: [UInt8]) {
        stage.network.send(bytes, over: Flow(transport: .udp, local: address, remote: Cast.gateway))
        stage.run(seconds: 0.1)
    }

    /// - Parameters:
    ///   - sender: name and address of the From header.
    ///   - contact: the URI of Contact, with parameters; its own when nil.
    func request(
        _ method: String, _ uri: String, call: String, _ sequence: Int, toTag: Text? = nil, body: String = "", headers: [String] = [],
        from sender: String = "<sip:peer@192.0.2.9>", contact: String? = nil
    ) {
        if method == "INVITE" { invited[call] = (uri, branches + 1, sender) }
        let tag = toTag.map { ";tag=\($0)" } ?? ""
        write(method, uri, sequence, ["From: \(sender);tag=\(call)", "To: <\(uri)>\(tag)", "Call-ID: \(call)"], body, headers, contact)
    }

    /// A request in the dialog that the gateway's INVITE made.
    func request(_ method: String, in invite: Message, _ sequence: Int, body: String = "", headers: [String] = []) {
        let uri = invite.contact?.uri.text.description ?? "sip:nobody"
        write(
            method, uri, sequence, ["From: \(invite.to.text);tag=\(tag)", "To: \(invite.from.text)", "Call-ID: \(invite.callID)"], body,
            headers)
    }

    /// - Parameter dialog: From, To and Call-ID.
    func write(
        _ method: String, _ uri: String, _ sequence: Int, _ dialog: [String], _ body: String, _ headers: [String], _ contact: String? = nil
    ) {
        branches += 1
        if method == "INVITE" { inviteBranch = branches }
        var lines = [
            "\(method) \(uri) SIP/2.0", "Via: SIP/2.0/UDP \(address);branch=z9hG4bK\(address.address.low & 0xFF)x\(branches);rport",
            "Max-Forwards: 70",
        ]
        lines += dialog + ["CSeq: \(sequence) \(method)", "Contact: \(contact ?? "<sip:peer@\(address)>")"] + headers
        if !body.isEmpty, !headers.contains(where: { $0.hasPrefix("Content-Type") }) { lines.append("Content-Type: application/sdp") }
        send(Array((lines + ["Content-Length: \(body.utf8.count)", "", body]).joined(separator: "\r\n").utf8))
    }

    /// The tag of its answers.
    var tag: Text { Text("raw\(address.address.low & 0xFF)") }

    /// Gives up the INVITE with this number, as it was sent last.
    func cancel(_ uri: String, call: String, _ sequence: Int, headers: [String] = []) {
        branches = inviteBranch - 1
        request("CANCEL", uri, call: call, sequence, headers: headers)
        branches += 1_000
    }

    /// - Parameters:
    ///   - tag: of the fork that answers; its own when nil.
    ///   - contact: the address in Contact; its own when nil.
    func answer(
        _ request: Message?, _ status: Int, body: String = "", headers: [(HeaderName, Text)] = [], tag: Text? = nil, contact: Text? = nil
    ) {
        guard let request else { return }
        var response = Message.response(to: request, status: status, toTag: tag ?? self.tag)
        for (name, value) in headers { response.headers.append(name, value) }
        response.headers.append(.contact, contact ?? Text("<sip:peer@\(address)>"))
        if !body.isEmpty { response.headers.append(.contentType, "application/sdp") }
        response.body = Array(body.utf8)
        send(response.serialized())
    }

    /// Gives up the last INVITE of a call.
    func cancel(_ call: String, reason: String = "") {
        guard let (uri, branch, sender) = invited[call] else { return }
        let lines = [
            "CANCEL \(uri) SIP/2.0", "Via: SIP/2.0/UDP \(address);branch=z9hG4bK\(address.address.low & 0xFF)x\(branch);rport",
            "Max-Forwards: 70",
            "From: \(sender);tag=\(call)", "To: <\(uri)>", "Call-ID: \(call)", "CSeq: 1 CANCEL",
        ]
        send(Array((lines + (reason.isEmpty ? [] : ["Reason: \(reason)"]) + ["Content-Length: 0", "", ""]).joined(separator: "\r\n").utf8))
    }

    /// Hangs up a call that it was called with, and answered.
    func hangUp(_ invite: Message?) { if let invite { request("BYE", in: invite, 1) } }

    func description(_ formats: String = "0", _ direction: String = "sendrecv", version: Int = 1, port: Int = 4000) -> String {
        let events = formats.hasSuffix(" 101") ? ["a=rtpmap:101 telephone-event/8000"] : []
        return
            ([
                "v=0", "o=- 7 \(version) IN IP4 \(address.address)", "s=-", "c=IN IP4 \(address.address)", "t=0 0",
                "m=audio \(port) RTP/AVP \(formats)",
            ] + events + ["a=\(direction)", ""])
            .joined(separator: "\r\n")
    }
}

extension Stage {
    /// A call from a peer over the gateway to a device, confirmed on both sides.
    func bridge(_ formats: String = "0 8", headers: [String] = [], answerHeaders: [(HeaderName, Text)] = []) throws -> BridgedCall {
        try BridgedCall(self, formats, headers, answerHeaders)
    }

    /// Nothing of any call is left, and no rule was broken.
    func expectQuiet(after seconds: Double = 200, _ location: SourceLocation = #_sourceLocation) {
        run(seconds: seconds)
        let counts = gateway.counts(at: world.now)
        #expect(counts.isIdle, "\(counts)", sourceLocation: location)
        #expect(violations.isEmpty, sourceLocation: location)
    }

    /// How calls ended, as the journal has it: `failed`, `remoteEnded`, `action`.
    var endReasons: [String] { transcript.events.filter { $0.kind == .callEnded }.compactMap { $0.details.text(.reason)?.description } }

    /// The journal so far.
    var transcript: JournalReader.Result { JournalReader.parse(sink.bytes, name: "stage") }
}

/// A call through the gateway whose two ends say what a test makes them say.
final class BridgedCall {
    static let line = "sip:2000@hookswitch.test"
    let stage: Stage
    let caller: RawPeer
    let device: RawPeer
    /// The gateway's tag towards the caller.
    let tag: Text
    /// The gateway's INVITE to the device.
    let invite: Message
    private(set) var callerSequence = 1, deviceSequence = 1

    fileprivate init(_ stage: Stage, _ formats: String, _ headers: [String], _ answerHeaders: [(HeaderName, Text)]) throws {
        self.stage = stage
        (caller, device) = (RawPeer(stage, 1), RawPeer(stage, 2))
        device.request("REGISTER", Self.line, call: "register", 1)
        caller.request("INVITE", Self.line, call: "bridged", 1, body: caller.description(formats), headers: headers)
        invite = try #require(device.request(.invite))
        device.answer(invite, 200, body: device.description(formats), headers: answerHeaders)
        tag = try #require(caller.final(.invite, 1)?.to.tag)
        caller.request("ACK", Self.line, call: "bridged", 1, toTag: tag)
    }

    func fromCaller(_ method: String, body: String = "", headers: [String] = []) {
        callerSequence += method == "ACK" ? 0 : 1
        caller.request(method, Self.line, call: "bridged", callerSequence, toTag: tag, body: body, headers: headers)
    }

    func fromDevice(_ method: String, body: String = "", headers: [String] = []) {
        deviceSequence += method == "ACK" ? 0 : 1
        device.request(method, in: invite, deviceSequence, body: body, headers: headers)
    }

    /// A re-INVITE of the caller with its ACK.
    func callerOffers(_ direction: String, formats: String = "0 8", port: Int = 4000) {
        fromCaller("INVITE", body: caller.description(formats, direction, version: callerSequence + 1, port: port))
        fromCaller("ACK")
    }

    /// The device answers the last re-INVITE.
    func deviceAnswers(_ status: Int, _ direction: String = "sendrecv", formats: String = "0") {
        device.answer(device.request(.invite), status, body: status < 300 ? device.description(formats, direction, version: 9) : "")
    }

    /// The last final response that the caller got.
    var callerAnswer: Message? { caller.heard.last { ($0.status ?? 0) >= 200 } }

    func hangUp() {
        fromCaller("BYE")
        device.answer(device.request(.bye), 200)
    }
}

extension Stage {
    /// The media plane says something of its leg with this number; they count from 1 in the order in which they were made.
    func tell(_ event: MediaEvent, of leg: UInt64) {
        gateway.receive(event, of: MediaLegID(leg), at: world.now)
        run(seconds: 0.1)
    }
}
