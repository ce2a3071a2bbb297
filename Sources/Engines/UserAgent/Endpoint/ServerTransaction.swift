import Primitives
import SIP

/// Names a request from the network for as long as its transaction lives: RFC 3261 §17.2.3.
public struct ServerTransactionID: Hashable, Sendable {
    /// Branch, Call-ID, CSeq number and sent-by; for a peer of RFC 2543 what §17.2.3 compares instead. An ACK and a CANCEL have the Call-ID
    /// and the number of their INVITE (§17.1.1.3, §9.1), and where a peer's branches are not unique these two tell its requests apart.
    let key: Text
    let method: Method

    /// - Parameter method: that of the transaction looked for; an ACK or CANCEL looks for its INVITE.
    init(_ request: Message, _ via: Via, method: Method) {
        var bytes: [UInt8] = []
        if via.hasMagicCookie, let branch = via.branch {
            let callID = request.callID
            bytes.reserveCapacity(branch.count + callID.count + via.host.count + 10)
            bytes.append(contentsOf: branch.bytes)
            bytes.append(0x20)
            bytes.append(contentsOf: callID.bytes)
            bytes.append(0x20)
            withUnsafeBytes(of: request.cseq.number) { bytes.append(contentsOf: $0) }
        } else {
            Self.appendOldStyle(request, via, to: &bytes)
        }
        bytes.append(0x20)
        for byte in via.host.bytes { bytes.append(asciiLowercased(byte)) }
        if let port = via.port {
            bytes.append(0x3A)
            bytes.append(UInt8(port >> 8))
            bytes.append(UInt8(truncatingIfNeeded: port))
        }
        (key, self.method) = (Text(bytes), method)
    }

    /// The To tag is left out: that of an ACK is the one that we added.
    private static func appendOldStyle(_ request: Message, _ via: Via, to bytes: inout [UInt8]) {
        for part in [request.callID, request.from.tag ?? .empty, Text(request.cseq.number), request.requestURI?.text ?? .empty, via.text] {
            bytes.append(contentsOf: part.bytes)
            bytes.append(0x20)
        }
    }
}

/// A request from the network that is being answered, or whose answer may have to be repeated.
final class ServerTransaction {
    enum Machine {
        case invite(InviteServerTransaction)
        case other(NonInviteServerTransaction)
    }

    let id: ServerTransactionID
    private(set) var flow: Flow {
        didSet { if isOpen { unanswered.move(from: oldValue.connection, to: flow.connection) } }
    }
    /// Over UDP, and over a connection that has to be opened anew.
    private let responsePort: UInt16
    private var received: Boxed<Message>?
    private let unanswered: UnansweredRequests
    /// The tag that this agent's answer adds to To.
    let toTag: Text
    let session: InviteSession?
    var machine: Machine
    var lastResponse: [UInt8] = []
    var mergeKey: MergeKey?
    let alarm = Alarm()

    init(
        id: ServerTransactionID, request: Boxed<Message>, flow: Flow, toTag: Text, session: InviteSession?,
        among unanswered: UnansweredRequests,
        timers: TimerValues
    ) {
        (self.id, received, self.flow, self.toTag, self.session, self.unanswered) = (id, request, flow, toTag, session, unanswered)
        responsePort =
            flow.transport == .udp
            ? flow.responseFlow(to: request.value.via).remote.port : request.value.via.port ?? flow.transport.standardPort
        let isReliable = flow.transport.isReliable
        machine =
            id.method == .invite
            ? .invite(InviteServerTransaction(isReliable: isReliable, timers: timers))
            : .other(NonInviteServerTransaction(isReliable: isReliable, timers: timers))
        unanswered.move(from: 0, to: flow.connection)
    }

    /// The way of its responses.
    var responseFlow: Flow {
        guard flow.connection == 0 else { return flow }
        var flow = flow
        flow.remote.port = responsePort
        return flow
    }

    /// Its connection is gone: its responses go over a new one, to where the peer takes requests (RFC 3261 §18.2.2).
    func lost(_ connection: UInt64) {
        if flow.connection == connection { flow.connection = 0 }
    }

    /// Moves the transaction to the connection by which a copy of its request came: the copy is answered there (RFC 3261 §17.2.1). A
    /// datagram's source proves nothing, and changes nothing.
    func follow(_ flow: Flow) {
        guard flow.connection != 0, flow.transport == self.flow.transport else { return }
        self.flow = flow
        if session?.flow.connection == 0, session?.flow.transport == flow.transport { session?.flow = flow }
    }

    /// Until the final response.
    var request: Message? { received?.value }
    var isOpen: Bool { received != nil }

    /// The final response leaves, or there will be none.
    func close() {
        guard isOpen else { return }
        received = nil
        unanswered.move(from: flow.connection, to: 0)
    }

    var deadline: Instant? {
        switch machine {
        case .invite(let machine):
            machine.state == .accepted || machine.state == .confirmed ? machine.deadline?.nextTenth : machine.deadline
        case .other(let machine): machine.state == .completed ? machine.deadline?.nextTenth : machine.deadline
        }
    }
}

/// The number of requests without a final response over each connection.
final class UnansweredRequests {
    private var counts: [UInt64: Int] = [:]

    func exist(over connection: UInt64) -> Bool { counts[connection] != nil }

    /// One request that came over a connection is to be answered over another; 0 is none.
    func move(from old: UInt64, to new: UInt64) {
        guard old != new else { return }
        if new != 0 { counts[new, default: 0] += 1 }
        if old != 0 { counts[old] = counts[old].flatMap { $0 > 1 ? $0 - 1 : nil } }
    }
}

/// The fields that two copies of one request share when they came by different ways (RFC 3261 §8.2.2.2).
struct MergeKey: Hashable {
    let callID: Text
    let fromTag: Text
    let sequence: UInt32
    let method: Method

    init(_ request: Message) {
        (callID, fromTag) = (request.callID.detached, (request.from.tag ?? .empty).detached)
        (sequence, method) = (request.cseq.number, request.method)
    }
}

extension Flow {
    /// The way of the response to a request whose top Via has been stamped (RFC 3261 §18.2.2, RFC 3581 §4).
    ///
    /// Over UDP always to the address that the request came from. A `maddr` in the Via is not followed: anyone could have
    /// responses sent to third parties with it.
    func responseFlow(to via: Via) -> Flow {
        guard transport == .udp else { return self }
        var flow = self
        if !via.asksForPort { flow.remote.port = via.port ?? 5060 }
        return flow
    }
}
