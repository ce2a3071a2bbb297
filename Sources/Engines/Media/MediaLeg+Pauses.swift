import RTP

// Where a stream begins anew, and in which clock it goes on.
extension MediaLeg {
    /// What comes is passed on no more, or again: what did not go on meanwhile is no loss for whoever it goes to.
    func pauseIncoming() {
        rtcp.receiver.rest()
        member?.receiver.pause()
        if plan.source == .echo { stream.pause() }
        guard let partner, partner.gates.isRelaying else { return }
        partner.stream.pause()
        partner.transcoding.transcoder?.receiver.pause()
    }

    /// What leaves next is of a codec with this clock.
    func turn(to rate: UInt32) {
        guard rate != stream.clockRate else { return }
        stream.turn(to: rate)
        rtcp.sender.turn(to: rate)
    }
}
