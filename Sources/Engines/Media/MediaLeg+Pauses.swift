import RTP

// Pauses of a stream, and changes of its clock.
extension MediaLeg {
    /// Notes that packets are passed on no more, or again: those that did not go on meanwhile are no loss for the leg that they go to.
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
