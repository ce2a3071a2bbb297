import RTP

// Pauses of a stream, and changes of its clock.
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

    /// The next packets are of a codec with this clock.
    func turn(to rate: UInt32) {
        guard rate != stream.clockRate else { return }
        stream.turn(to: rate)
        rtcp.sender.turn(to: rate)
    }
}
