import Primitives
import SIP

/// Our end of a dialog with the server: enough of RFC 3261 §12 to make requests that belong to it.
struct Dialog {
    let callID: String
    /// The From and the To of our requests, with their tags.
    let local: String
    private(set) var remote: String
    /// The server's Contact.
    private(set) var target: String
    private(set) var sequence: Int

    /// A call that we begin.
    init(from local: String, to remote: String, target: String, callID: String) {
        (self.local, self.remote, self.target, self.callID, sequence) = (local, remote, target, callID, 0)
    }

    /// A call that the server begins.
    init(answering invite: Message, tag: String) {
        callID = "\(invite.callID)"
        (local, remote) = ("\(invite.to.text);tag=\(tag)", "\(invite.from.text)")
        (target, sequence) = (invite.contact.map { "\($0.uri)" } ?? "sip:127.0.0.1:5060", 100)
    }

    /// Takes the server's tag and Contact.
    mutating func establish(by response: Message) {
        remote = "\(response.to.text)"
        if let contact = response.contact { target = "\(contact.uri)" }
    }

    mutating func nextSequence() -> Int {
        sequence += 1
        return sequence
    }

    /// The first lines of a request in it; these make it one.
    func lines(_ method: String, sequence: Int, from address: SocketAddress, branch: String) -> [String] {
        [
            "\(method) \(target) SIP/2.0", "Via: SIP/2.0/UDP \(address);branch=z9hG4bK\(branch);rport", "From: \(local)", "To: \(remote)",
            "Call-ID: \(callID)",
            "CSeq: \(sequence) \(method)",
        ]
    }
}
