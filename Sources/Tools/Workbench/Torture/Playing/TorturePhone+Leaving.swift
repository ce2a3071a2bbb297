import Primitives
import SIP
import UserAgent

/// The clean-up of a telephone: it leaves the state in which a case has left it.
extension TorturePhone {
    /// Acknowledges, cancels, hangs up and refuses whatever is open. To be called until `unfinished` is nil.
    func tidy(at now: Instant) {
        acknowledgeAll(at: now)
        let invites = sent.filter { $0.method == .invite && $0.isSent }
        if let ringing = invites.last, ringing.isProvisional, last(.cancel) == nil { send(.cancel, at: now) }
        if received.contains(where: { $0.message.method == .invite && $0.answer == nil }) {
            _ = answer(.invite, 480, .none, tag: nil, at: now)
        }
        for method in [Method.bye, .cancel] where received.contains(where: { $0.message.method == method && $0.answer == nil }) {
            _ = answer(method, 200, .none, tag: nil, at: now)
        }
        if isUp, last(.bye)?.isSent != true { send(.bye, at: now) }
    }

    /// Both sides are in a call.
    private var isUp: Bool {
        let wasAnswered =
            sent.contains { $0.method == .invite && $0.acceptance != nil }
            || received.contains { $0.message.method == .invite && $0.wasAccepted }
        return wasAnswered && !received.contains { $0.message.method == .bye }
    }

    /// The method of the request that the target still has to answer.
    var unfinished: String? {
        let open = sent.last {
            [.invite, .bye].contains($0.method) && $0.isSent && $0.finals.isEmpty && ($0.method == .bye || $0.isProvisional)
        }
        return open?.method?.description
    }
}

extension TortureArrival {
    fileprivate var wasAccepted: Bool { answer?.statusOfResponse.map { (200..<300).contains($0) } ?? false }
}

/// Requests of the target to a telephone, and its registration.
extension TorturePhone {
    /// Sends the REGISTER of a line of the target's; nobody else calls with this telephone.
    func register(_ address: NameAddress, at now: Instant) {
        identify(as: address)
        send(TortureRequest(method: .register, headers: [(.expires, "600")]), at: now)
    }

    func unregister(at now: Instant) { send(TortureRequest(method: .register, headers: [(.expires, "0")]), at: now) }

    /// Notes a request of the target, and answers what is not a matter of the case.
    func receive(_ request: Message, over flow: Flow, holding holds: Set<Method>) {
        if let known = received.first(where: {
            $0.message.method == request.method && $0.message.via.branch == request.via.branch && request.method != .ack
        }) {
            if let answer = known.answer { setting.network.send(answer, over: known.flow) }
            return
        }
        received.append(TortureArrival(message: request, flow: flow))
        let isFirst = request.method == .invite && request.to.tag == nil
        if request.method == .ack { return wasAcknowledged() }
        guard !isFirst, !holds.contains(request.method) else { return }
        if request.method == .cancel { return cancelled(request, over: flow) }
        let status = request.method == .invite ? 488 : 200
        _ = answer(request.method, status, .none, tag: nil, at: .zero)
    }

    /// 200 to the CANCEL; the INVITE ends with 487 where no step has answered it.
    private func cancelled(_ request: Message, over flow: Flow) {
        _ = answer(.cancel, 200, .none, tag: nil, at: .zero)
        let invite = received.last { $0.message.method == .invite }
        if invite?.answer?.statusOfResponse.map({ $0 < 200 }) ?? true { _ = answer(.invite, 487, .none, tag: nil, at: .zero) }
    }
}
