import Primitives
import SIP

// RFC 4028: a session that is not refreshed in time is over, so that nobody stays in a call whose other end is gone.
extension InviteSession {
    /// The headers of our INVITE, re-INVITE or UPDATE.
    var timerRequestHeaders: [(HeaderName, Text)] { timer?.requestHeaders ?? [] }

    /// The headers of our 2xx to the peer's INVITE, re-INVITE or UPDATE, which begins the interval anew.
    func timerAnswerHeaders(to request: Message, at now: Instant) -> [(HeaderName, Text)] {
        guard request.method == .invite || request.method == .update else { return [] }
        noteAllowed(in: request)
        defer { refreshAlarm() }
        return timer?.answer(request, at: now) ?? []
    }

    /// A 2xx to our INVITE, re-INVITE or UPDATE.
    func refreshTimer(by response: Message, at now: Instant) {
        noteAllowed(in: response)
        timer?.accept(response, at: now)
        refreshAlarm()
    }

    /// A peer that does not say what it allows is sent no UPDATE, and no INFO of our own.
    func noteAllowed(in message: Message) {
        guard message.headers.contains(.allow) else { return }
        (peerAllowsUpdate, peerAllowsInfo) = (message.headers.lists("UPDATE", in: .allow), message.headers.lists("INFO", in: .allow))
    }

    /// When the timer has something to do: once there is an answer, and until the end.
    var timerDeadline: Instant? { state == .confirmed || state == .answered ? timer?.deadline : nil }

    func advanceTimer(to now: Instant) {
        guard let due = timerDeadline, now >= due else { return }
        switch timer?.advance(to: now) {
        case .refresh: refresh(at: now)
        case .expire: emit(.expired, at: now)
        case nil: break
        }
    }

    /// UPDATE where the peer allows it, for it asks nothing of the media; else the delegate's re-INVITE (§7.4).
    private func refresh(at now: Instant) {
        guard canOffer else { timer?.postpone(at: now); return }
        if peerAllowsUpdate { sendRefresh(at: now) } else { emit(.refreshDue, at: now) }
    }

    /// Our UPDATE without an offer was refused, and neither with 491 nor in a way that ends the dialog; or it could not be sent.
    func refreshWasRefused(_ status: Int, wasAnswered: Bool, at now: Instant) {
        if status == 405 || status == 501 {
            peerAllowsUpdate = false
            timer?.postpone(at: now)
        } else {
            timer?.refreshFailed(wasAnswered: wasAnswered, at: now)
        }
    }
}
