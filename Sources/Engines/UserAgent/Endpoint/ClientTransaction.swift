import Primitives
import Runtime
import SIP

/// Names a request of ours: RFC 3261 §17.1.3. A CANCEL has the branch of its INVITE.
struct ClientTransactionID: Hashable {
    let branch: Text
    let isCancel: Bool
}

/// The outcome of a request of ours.
enum ClientOutcome {
    case response(Message, over: Flow)
    case timedOut
    case transportFailed
    /// Nothing more comes. Always last.
    case terminated
}

/// A request of ours that waits for its response, or for repetitions of it.
final class ClientTransaction {
    enum Machine {
        case invite(InviteClientTransaction)
        case other(NonInviteClientTransaction)
    }

    let id: ClientTransactionID
    /// Counts the agent's transactions, so that a replay treats them in the same order.
    let serial: UInt64
    var sent: Boxed<Message>
    /// Until the final response: nothing is repeated after it.
    var bytes: [UInt8]
    private(set) var flow: Flow
    /// The connection that it was just given to; 0 where there is none.
    var carrier: UInt64 = 0
    let session: InviteSession?
    var machine: Machine
    /// Taken away when the transaction ends, so that nothing is kept alive by it.
    var handler: ((ClientOutcome, Instant) -> Void)?
    /// Our ACK of a 300–699.
    var acknowledgement: [UInt8] = []
    /// The To tags of the 2xx that came; a sender of more forks than this is not listened to.
    var acceptedTags: [Text] = []
    static let maximumForks = 16
    var wasSent = false
    /// The network has said once that nobody takes it.
    var cameBack = false
    /// When it is given up, unless there is a final response by then (RFC 3261 §9.1, RFC 3263 §4.3).
    var timeout: Instant?
    let alarm = Alarm()

    init(
        id: ClientTransactionID, serial: UInt64, request: Boxed<Message>, bytes: [UInt8], flow: Flow, session: InviteSession?,
        timers: TimerValues,
        handler: @escaping (ClientOutcome, Instant) -> Void
    ) {
        (self.id, self.serial, sent, self.flow, self.session, self.handler) = (id, serial, request, flow, session, handler)
        self.bytes = bytes
        let isReliable = flow.transport.isReliable
        machine =
            request.value.method == .invite
            ? .invite(InviteClientTransaction(isReliable: isReliable, timers: timers))
            : .other(NonInviteClientTransaction(isReliable: isReliable, timers: timers))
    }

    var request: Message { sent.value }

    /// No datagram takes it: it has failed, and that concerns nobody else who speaks with its peer (RFC 3261 §17.1.4).
    var isTooLong: Bool { flow.transport == .udp && bytes.count > UDPSocket.longestDatagram }

    /// Whether what was sent is lost with a flow that failed: an older connection to the same peer may end after it was sent.
    func isCarried(by failed: Flow) -> Bool { carrier == 0 ? flow.isCarried(by: failed) : carrier == failed.connection }

    /// Its connection is gone: what is still to be sent needs a new one, to where the peer takes requests. The Via says by what transport.
    func lost(_ connection: UInt64) {
        guard connection != 0, flow.connection == connection else { return }
        flow.connection = 0
        guard let next = request.routes.first?.uri ?? request.requestURI else { return }
        let way = flow.towards(next, speaksUDP: false)
        if way.transport == flow.transport { flow = way }
    }

    var deadline: Instant? {
        let due: Instant? =
            switch machine {
            case .invite(let machine): machine.deadline
            case .other(let machine): machine.deadline
            }
        if hasFinalResponse { return due?.nextTenth }
        guard let due, let timeout else { return due ?? timeout }
        return min(due, timeout)
    }

    var hasFinalResponse: Bool {
        switch machine {
        case .invite(let machine): machine.state != .calling && machine.state != .proceeding
        case .other(let machine): machine.state != .trying && machine.state != .proceeding
        }
    }

    var hasProvisionalResponse: Bool {
        switch machine {
        case .invite(let machine): machine.state == .proceeding
        case .other(let machine): machine.state == .proceeding
        }
    }
}
