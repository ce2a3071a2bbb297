import Primitives
import SIP
import UserAgent

/// An agent, and a peer that sends whatever bytes a test wants and keeps the answers.
final class Bench {
    let link: Link
    let phone: Phone
    let peer = SocketAddress(IPAddress(v4: 0xC633_6407), port: 5070)
    private(set) var answers: [Message] = []

    init(_ configure: (inout UserAgentConfiguration) -> Void = { _ in }) {
        link = Link(seed: 5)
        phone = Phone(link, "192.0.2.2:5060", configure)
        link.place(.raw { [unowned self] bytes, _ in if let message = try? Message(parsing: bytes) { answers.append(message) } }, at: peer)
    }

    var flow: Flow { Flow(transport: .udp, local: phone.address, remote: peer) }

    func send(_ text: String) {
        phone.agent.receive(Array(text.utf8), over: flow, at: link.now)
        link.run(seconds: 0.05)
    }

    var statuses: [Int] { answers.compactMap(\.status) }
}

/// A request as text, which a test changes where it likes.
struct RawRequest {
    var method = "INVITE"
    var uri = "sip:phone@192.0.2.2:5060"
    var version = "SIP/2.0"
    var via = "SIP/2.0/UDP 198.51.100.7:5070;branch=z9hG4bKraw1;rport"
    var from = "<sip:peer@198.51.100.7>;tag=peer"
    var to = "<sip:phone@192.0.2.2>"
    var callID = "raw-call"
    var sequence = 1
    var maxForwards = "70"
    var contact: String? = "<sip:peer@198.51.100.7:5070>"
    var headers: [String] = []
    var body = ""
    var type = "application/sdp"

    var text: String {
        var lines = [
            "\(method) \(uri) \(version)", "Via: \(via)", "From: \(from)", "To: \(to)", "Call-ID: \(callID)", "CSeq: \(sequence) \(method)",
            "Max-Forwards: \(maxForwards)",
        ]
        if let contact { lines.append("Contact: \(contact)") }
        lines += headers
        if !body.isEmpty { lines.append("Content-Type: \(type)") }
        lines.append("Content-Length: \(body.utf8.count)")
        return lines.joined(separator: "\r\n") + "\r\n\r\n" + body
    }
}
