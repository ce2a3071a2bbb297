import Primitives
import SIP

/// Messages that a user agent sends because of those it received.
enum Reply {
    /// A response to a request of the server.
    static func response(to request: Message, _ status: Int, from local: SocketAddress, tag: String = "fuzztag1", body: String = "")
        -> [UInt8]
    {
        draft(of: request, status, from: local, tag: tag, body: body).bytes
    }

    static func draft(of request: Message, _ status: Int, from local: SocketAddress, tag: String, body: String = "") -> MessageDraft {
        var lines = ["SIP/2.0 \(status) \(Message.reasonPhrase(status))"] + request.vias.map { "Via: \($0.text)" }
        lines += [
            "From: \(request.from.text)", "To: \(request.to.text)\(request.to.tag == nil ? ";tag=\(tag)" : "")",
            "Call-ID: \(request.callID)", "CSeq: \(request.cseq.text)",
        ]
        let fixed = lines.count
        lines += ["Contact: <sip:fuzz@\(local)>"] + (body.isEmpty ? [] : ["Content-Type: application/sdp"])
        var draft = MessageDraft(lines, body: body)
        draft.fixedLines = fixed
        return draft
    }

    /// The ACK of a refusal, which is part of the INVITE's transaction (RFC 3261 §17.1.1.3).
    static func acknowledgement(ofRefusal response: Message) -> [UInt8] {
        request("ACK", after: response, target: "sip:127.0.0.1:5060", via: "Via: \(response.via.text)", number: response.cseq.number)
    }

    /// The ACK and the BYE of a call that nobody wanted.
    static func hangUp(_ response: Message, from local: SocketAddress) -> [[UInt8]] {
        let target = response.contact.map { "\($0.uri)" } ?? "sip:127.0.0.1:5060", number = response.cseq.number
        let tail = response.callID.bytes.reduce(UInt32(number)) { $0 &* 31 &+ UInt32($1) }
        return [("ACK", number), ("BYE", min(number, 0x7FFF_FFFE) + 1)].map { method, number in
            request(
                method, after: response, target: target, via: "Via: SIP/2.0/UDP \(local);branch=z9hG4bK\(method)\(tail);rport",
                number: number)
        }
    }

    private static func request(_ method: String, after response: Message, target: String, via: String, number: UInt32) -> [UInt8] {
        MessageDraft([
            "\(method) \(target) SIP/2.0", via, "From: \(response.from.text)", "To: \(response.to.text)", "Call-ID: \(response.callID)",
            "CSeq: \(number) \(method)",
            "Max-Forwards: 70",
        ]).bytes
    }
}
