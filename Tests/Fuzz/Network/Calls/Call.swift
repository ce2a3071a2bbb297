import Primitives
import RTP
import Runtime
import SDP
import SIP

/// A call with the server that is up, and our end of it: a small SIP user agent that answers what the server asks.
final class Call {
    let kind: CallKind
    let signalling: DatagramSocket, media: DatagramSocket
    /// RTCP, where it has a port of its own.
    let control: DatagramSocket?
    private(set) var dialog: Dialog
    /// The server's ports of RTP and RTCP.
    private(set) var remoteMedia = SocketAddress(.loopback, port: 9), remoteControl = SocketAddress(.loopback, port: 9)
    private(set) var remoteCredentials: (user: String, password: String)?
    private(set) var remoteFingerprint: [UInt8]?
    let credentials: ICECredentials
    var packets: MediaPackets
    private(set) var isUp = false
    /// RSeq of the provisional response that waits for a PRACK.
    private(set) var reliableNumber = "1"
    /// The last final status for each of our requests, by its number in the dialog.
    private(set) var statuses: [Int: Int] = [:]
    private let server: SocketAddress
    private var branches = 0
    private let setup: String

    /// Begins nothing yet.
    init(_ kind: CallKind, dialog: Dialog, server: SocketAddress, using random: inout SeededRandom) throws {
        (self.kind, self.dialog, self.server) = (kind, dialog, server)
        let address = random.loopback()
        (signalling, media) = (try DatagramSocket(at: address), try DatagramSocket(at: address))
        control = kind == .echo ? try DatagramSocket(at: address) : nil
        credentials = ICECredentials(using: &random)
        packets = MediaPackets(ssrc: UInt32(truncatingIfNeeded: random.next()))
        setup = kind == .handshakeTheirs ? "passive" : "active"
    }

    // MARK: Requests of ours

    /// A request in the dialog. Its first lines are what makes it belong there.
    func draft(_ method: String, sequence: Int? = nil, _ more: [String] = [], body: String = "") -> MessageDraft {
        branches += 1
        let number = sequence ?? dialog.nextSequence()
        let lines = dialog.lines(method, sequence: number, from: signalling.local, branch: "\(dialog.callID.prefix(12))\(branches)")
        var draft = MessageDraft(lines + ["Max-Forwards: 70", "Contact: <sip:fuzz@\(signalling.local)>"] + more, body: body)
        draft.fixedLines = lines.count
        return draft
    }

    func send(_ bytes: [UInt8]) { signalling.send(bytes, to: server) }

    /// The description of our media.
    var description: Description {
        var description = Description(media: media.local, control: control?.local)
        description.version = branches + 1
        switch kind {
        case .encrypted: description.protection = .keys
        case .handshakeOurs, .handshakeTheirs, .checksAndHandshake: description.protection = .dtls(setup: setup)
        case .conferenceOpus, .echoMultiplexed, .bridged: description.codecs = Description.wide
        default: break
        }
        if kind.hasChecks { description.ice = credentials }
        return description
    }

    // MARK: What the server says

    /// Takes all that has come.
    func listen() { while let datagram = signalling.receive() { take(datagram.bytes) } }

    /// Waits for the final response to a request of ours; of an INVITE that only rings, for its dialog.
    func status(of number: Int, by deadline: Instant) -> Int? {
        while statuses[number] == nil, !(kind == .ringing && isUp && number == 1), let datagram = signalling.receive(by: deadline) {
            take(datagram.bytes)
        }
        return statuses[number]
    }

    private func take(_ bytes: [UInt8]) {
        guard let message = try? Message(parsing: bytes) else { return }
        if message.isRequest { answer(message) } else { note(message) }
    }

    private func note(_ response: Message) {
        guard let status = response.status else { return }
        guard status >= 200 else { return noteRinging(response, status) }
        if response.method == .invite { acknowledge(response, status) }
        guard "\(response.callID)" == dialog.callID else { return }
        statuses[Int(response.cseq.number)] = status
        if statuses.count > 1_000 { statuses = [:] }
        if status == 481 || status == 408 { isUp = false }
    }

    /// A reliable provisional response makes a dialog (RFC 3262 §4).
    private func noteRinging(_ response: Message, _ status: Int) {
        guard kind == .ringing, status > 100, !isUp, response.to.tag != nil else { return }
        if let number = response.headers[.rseq] { reliableNumber = "\(number)" }
        establish(by: response)
    }

    private func acknowledge(_ response: Message, _ status: Int) {
        guard status < 300 else {
            if response.cseq.number == 1 { isUp = false }
            return send(Reply.acknowledgement(ofRefusal: response))
        }
        if !isUp, response.cseq.number == 1 { establish(by: response) }
        send(draft("ACK", sequence: Int(response.cseq.number)).bytes)
    }

    private func establish(by response: Message) {
        dialog.establish(by: response)
        adopt(response.body)
        isUp = true
    }

    /// Takes over what a description of the server says.
    func adopt(_ body: [UInt8]) {
        guard let description = try? SessionDescription(parsing: body), let audio = description.media.first else { return }
        let address = (audio.connection ?? description.connection)?.address ?? .loopback
        remoteMedia = SocketAddress(address, port: audio.port)
        remoteControl = audio.attribute("rtcp-mux") != nil ? remoteMedia : SocketAddress(address, port: audio.port &+ 1)
        func value(_ name: Text) -> Text? { (audio.attribute(name) ?? description.attribute(name))?.value }
        if let user = value("ice-ufrag"), let password = value("ice-pwd") { remoteCredentials = ("\(user)", "\(password)") }
        remoteFingerprint = value("fingerprint").map { text in
            "\(text)".split(separator: " ").last.map { $0.split(separator: ":").compactMap { UInt8($0, radix: 16) } } ?? []
        }
    }

    private func answer(_ request: Message) {
        if request.method == .ack || request.method == .cancel && request.to.tag == nil { return }
        if request.method == .bye { isUp = false }
        let needsOffer = request.method == .invite || request.method == .update && !request.body.isEmpty
        send(Reply.response(to: request, 200, from: signalling.local, body: needsOffer ? description.text : ""))
    }

    /// A call that the server began is up when we have answered.
    func accept(_ invite: Message) {
        adopt(invite.body)
        isUp = true
        send(Reply.response(to: invite, 200, from: signalling.local, tag: String(dialog.local.suffix(8)), body: description.text))
    }

    /// Hangs up, and does not wait. A number of ours that a damaged request took too high is passed by the highest that there is.
    func hangUp() {
        guard isUp else { return }
        isUp = false
        send(draft("BYE").bytes)
        send(draft("BYE", sequence: 0x7FFF_FFFF).bytes)
    }
}
