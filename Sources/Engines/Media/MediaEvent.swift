import Primitives
import RTP

/// An event of media about one leg, for signalling. Posted from the media lane, in order.
public enum MediaEvent: Hashable, Sendable {
    /// The first packet after a `start` left, or arrived.
    case firstSent(Instant), firstReceived(Instant)
    /// The far end pressed a key; posted once, when its first packet is seen.
    case digit(DTMFDigit)
    /// The digits of `send` have all left.
    case digitsSent
    /// The last packet of `.samples` has left.
    case sourceFinished
    /// A second of received audio, and the rest of it at `stop`; one channel.
    case recorded([Int16], sampleRate: Int)
    /// Neither RTP nor RTCP arrived for the plan's `silenceLimit`; posted once, and again only after packets came back.
    case silent
    /// The handshake for the keys of an encrypted stream failed: nothing can be heard or said.
    case unprotected
    /// The relay (`PacketRelay`) has the direction that the leg receives from now on, or no longer. At `stop` the interval says it, too.
    case relayArmed(RelayArming), relayTaken(RelayArming, RelayEnd)
    /// Figures with each RTCP report that was sent, about every five seconds.
    case report(MediaStatistics)
}
