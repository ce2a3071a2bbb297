import Calls
import Media
import Primitives
import SDP
import SIP
import UserAgent

// Commands to a call while it is there, besides the steps of its script.
extension PhoneCall {
    /// Sends silence in place of what is played, or what is played again. The call's other end hears no other difference.
    ///
    /// - Returns: false where there is nothing to change, or media cannot be changed.
    @discardableResult
    public func setMute(_ mute: Bool, at now: Instant) -> Bool {
        guard state == .connected, mute != isMuted, let audio = signalling.agreed else { return false }
        isMuted = mute
        do throws(MediaError) { try media.update(plan(audio), at: now) } catch {
            isMuted = !mute
            return false
        }
        record.playedWithPauses = true
        if mute { record.pauses += 1 }
        report(.muted(mute), at: now)
        return true
    }

    /// As `setHold`, where no script wants it.
    @discardableResult
    public func commandHold(_ hold: Bool, at now: Instant) -> Bool {
        guard setHold(hold, at: now) else { return false }
        if hold { record.pauses += 1 }
        return true
    }

    /// Asks the other side to call somebody else instead of us (REFER, RFC 3515). `.transferProgress` follows; when it is done the other
    /// side usually hangs up.
    ///
    /// - Returns: false where nothing was sent, as while another transfer is under way.
    @discardableResult
    public func transfer(to target: URI, at now: Instant) -> Bool {
        guard state == .connected, let session else { return false }
        return session.refer(to: target, referredBy: identity.address, at: now)
    }

    /// Refuses a call that rings here.
    ///
    /// - Parameter status: 300 to 699.
    /// - Returns: false where none does.
    @discardableResult
    public func reject(status: Int, at now: Instant) -> Bool {
        guard isRinging else { return false }
        answersAt = nil
        refuse(status, headers: [], at: now)
        return true
    }

    /// It came in, and was neither answered nor refused.
    public var isRinging: Bool { state == .inviting && !record.isOutgoing && session?.state == .inviting }
}
