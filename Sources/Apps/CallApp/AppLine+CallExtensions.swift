import CallJournal
import CallKit
import Calls
import Foundation
import Media
import Primitives
import RTP
import SIP
import UserAgent

/// Actions of an app on a call that CallKit has no action for. Events of the call are told as a `CallExtension`.
extension AppLine {
    /// Asks the far end of a call to call somebody else (REFER): in the place of another call of this line where `other` names one, which
    /// was made to consult (RFC 5589). `transferProgress` follows; end the call by `CXEndCallAction` when its status is 200 or more and
    /// below 300.
    /// - Returns: false, and counted, where there is no such call that is connected, the handle is none, or another transfer is under way.
    @discardableResult
    public func transfer(_ uuid: UUID, to handle: String, replacing other: UUID? = nil, at now: Instant) -> Bool {
        enter(now)
        defer { settle() }
        guard let call = self.call(uuid), call.state == .connected, call.standing == .up, let session = call.session,
            let target = settings.target(handle)
        else { return refuse() }
        let dialog = other.flatMap { self.call($0)?.session?.dialogAsPeerSees }
        guard other == nil || dialog != nil else { return refuse() }
        let own = NameAddress(uri: URI(user: settings.number, host: settings.domain))
        return session.refer(to: target, replacing: dialog, referredBy: own, at: self.now) || refuse()
    }

    /// Gives the figures that a call's media has measured so far; nil where it has none.
    public func statistics(of uuid: UUID, at now: Instant) -> CallMediaStatistics? {
        enter(now)
        defer { settle() }
        guard let call = self.call(uuid), call.media.state.isOpen else { return nil }
        return (try? plane.statistics(of: call.media.id, at: self.now)).map(CallMediaStatistics.init)
    }

    /// To the app, and to the delegate of the call's provider where it wants to know.
    func tell(_ event: CallExtension, of call: AppCall) {
        tell(.extended(call.uuid, event))
        if let provider = call.provider { system.report(event, of: call.uuid, by: provider) }
    }
}

extension CallMediaStatistics {
    init(_ figures: MediaStatistics) {
        self.init()
        (packetsSent, packetsReceived) = (figures.sending.packets, figures.receiving.packets)
        packetsLost = figures.receiving.lost.map { Int64($0) }
        jitter = figures.receiving.jitter.map { .nanoseconds(Int64($0 * 1e6)) }
        roundTrip = figures.roundTrip
        score = figures.receivingQuality?.meanOpinionScore
    }
}
