import Primitives
import SIP

/// The second witness: it reads the datagrams of the virtual wire, knows nothing of the gateway's code, and says how many answered dialogs
/// the gateway has. More legs with bound sockets than these is media outside of answer and end.
struct WireWitness {
    private let gateway: SocketAddress
    private var answered: Set<End> = []
    private var ended: Set<End> = []
    private var first: [Text: Dialog] = [:]
    /// 2xx of a fork whose other dialog had been accepted already.
    private(set) var secondAcceptances = 0
    private var cancelled: Set<Text> = []
    /// 2xx that reached the gateway after its CANCEL had left.
    private(set) var acceptancesAfterCancel = 0
    private(set) var messages = 0
    /// BYEs by which the gateway ended a session that nobody refreshed.
    private(set) var expiredSessions = 0

    /// A dialog by its Call-ID and the two tags, whoever is who.
    private struct Dialog: Hashable {
        let callID: Text
        let tags: Set<Text>
    }

    init(gateway: SocketAddress) { self.gateway = gateway }

    /// The gateway's end of a dialog, by its own tag: of a call to itself it has both.
    private struct End: Hashable {
        let dialog: Dialog
        let tag: Text
    }

    /// Ends of dialogs in which a 2xx to INVITE reached or left the gateway, and no BYE did.
    var answeredDialogs: Int { answered.count }

    /// The gateway is another one from now on, and knows none of its dialogs.
    mutating func forgetDialogs() {
        ended.formUnion(answered)
        answered = []
    }

    mutating func sent(_ bytes: [UInt8], from source: SocketAddress) {
        guard source == gateway, let message = try? Message(parsing: bytes) else { return }
        if message.isRequest, message.method == .bye,
            message.reasons.contains(where: { $0.isSIP && $0.cause == 408 && $0.text == "Session timer expired" })
        {
            expiredSessions += 1
        }
        if message.isRequest, message.method == .cancel { cancelled.insert(Text(Array(message.callID.bytes))) }
        note(message, isOurs: true)
    }

    mutating func delivered(_ bytes: [UInt8], to destination: SocketAddress) {
        guard destination == gateway, let message = try? Message(parsing: bytes) else { return }
        if message.status == 200, message.cseq.method == .invite, cancelled.remove(message.callID) != nil { acceptancesAfterCancel += 1 }
        note(message, isOurs: false)
    }

    /// - Parameter isOurs: whether it leaves the gateway, or reaches it.
    private mutating func note(_ message: Message, isOurs: Bool) {
        guard let from = message.from.tag.map({ Text(Array($0.bytes)) }), let to = message.to.tag.map({ Text(Array($0.bytes)) }) else {
            return
        }
        messages += 1
        let dialog = Dialog(callID: Text(Array(message.callID.bytes)), tags: [from, to])
        if let status = message.status, (200..<300).contains(status), message.cseq.method == .invite {
            let end = End(dialog: dialog, tag: isOurs ? to : from)
            noteFork(dialog)
            if !ended.contains(end) { answered.insert(end) }
        } else if message.isRequest, message.method == .bye {
            let end = End(dialog: dialog, tag: isOurs ? from : to)
            answered.remove(end)
            ended.insert(end)
        }
    }

    private mutating func noteFork(_ dialog: Dialog) {
        guard let known = first[dialog.callID] else { return first[dialog.callID] = dialog }
        if known != dialog, !answered.contains(where: { $0.dialog == dialog }), !ended.contains(where: { $0.dialog == dialog }) {
            secondAcceptances += 1
        }
    }
}
