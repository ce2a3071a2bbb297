import Primitives
import SIP

// Callee: several behind us ring for one INVITE, and the caller has an early dialog with each (RFC 3261 §12.1, RFC 6228).
extension InviteSession {
    /// The caller wants to know which of several forks rings no more. One that requires reliable responses is told nothing that it would
    /// have to acknowledge to a fork (RFC 6228 §6).
    public var hearsOfForks: Bool { request.headers.lists("199", in: .supported) && !request.headers.lists("100rel", in: .require) }

    /// One of several forks rings: 180 in an early dialog of its own. The 2xx comes in the session's dialog, whoever answered.
    ///
    /// - Returns: the tag that `endFork` names; nil where the caller does not hear of forks, has its final response, or has heard of too
    ///   many.
    public func ringFork(at now: Instant) -> Text? {
        guard hearsOfForks, state == .inviting, callee.forkCount < ClientTransaction.maximumForks else { return nil }
        callee.forkCount += 1
        let tag = agent.makeTag()
        tellOfFork(180, tag, [], at: now)
        return tag
    }

    /// That fork rings no more, and others still do: 199.
    /// - Parameter reasons: those of Q.850; others may not stand in a response (RFC 6432 §3).
    public func endFork(_ tag: Text, reasons: [Reason], at now: Instant) {
        guard state == .inviting else { return }
        tellOfFork(199, tag, reasons.map { (.reason, $0.value) }, at: now)
    }

    private func tellOfFork(_ status: Int, _ tag: Text, _ headers: [(HeaderName, Text)], at now: Instant) {
        guard let transaction = callee.transaction, transaction.isOpen else { return }
        // The response that is repeated later tells how the call stands, and not how one of its forks does.
        let last = transaction.lastResponse
        agent.respond(transaction, status: status, headers: headers, contact: contact, toTag: tag, at: now)
        if !last.isEmpty { transaction.lastResponse = last }
    }
}
