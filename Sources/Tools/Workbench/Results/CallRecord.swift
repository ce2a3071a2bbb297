import Media
import Primitives
import RTP
import SDP
import SIP

/// The party that ended a call.
public enum CallEnder: String, Codable, Hashable, Sendable {
    /// By BYE, CANCEL or a refusal of ours, or of theirs.
    case us, them
    /// It failed on its own: no answer in time, no transport, no ACK.
    case nobody
}

/// The protection of the sound of a call on the way.
public enum MediaEncryption: String, Codable, Hashable, Sendable, CaseIterable {
    /// RTP as it is.
    case clear
    /// SRTP with keys from the descriptions (RFC 4568).
    case sdes
    /// SRTP with keys from a handshake between the sockets (RFC 5764).
    case dtls

    init(_ security: NegotiatedSecurity) {
        self =
            switch security {
            case .none: .clear
            case .keys: .sdes
            case .dtls: .dtls
            }
    }
}

/// The data of one call when it is over. Its sound is judged by `result()`, which takes its time and needs no lane.
public struct CallRecord: Sendable {
    /// Outcomes of our re-INVITEs.
    public struct Offers: Sendable {
        /// Number of offers that were agreed.
        public var agreed = 0
        /// The status of the last one that was refused; nil: none was.
        public var refusal: Int?
        /// When the one was sent that nobody has answered; nil: none is under way.
        public var pending: Instant?
    }

    /// The other side, as a URI.
    public var peer: Text
    /// Whether we called.
    public var isOutgoing: Bool
    /// The Call-ID of the INVITE.
    public var callID: Text = .empty
    /// The final status of the INVITE; 0 when there was none.
    public var status = 0
    /// The same; nil where nobody sent one.
    public var sentStatus: Int? { isUnheard || status == 0 ? nil : status }
    /// Nobody sent that status: nothing came in time (408), or nothing could be sent there (503).
    public var isUnheard = false
    /// Its phrase, with the words of its Warning in brackets.
    public var reason: Text = .empty
    /// The party that ended the call.
    public var endedBy = CallEnder.nobody
    /// Why, where no status says it.
    public var failure: Text?
    /// Why the other side ended it, as a cause of Q.850 (RFC 3326); nil where it did not say.
    public var cause: Reason?
    /// This machine had no port or no socket for the media: nothing that the other side did.
    public var couldNotBind = false

    /// When the INVITE was sent or came, and what followed.
    public var began: Instant
    /// The first 101–199; nil: there was none.
    public var ringing: Instant?
    /// The 200; nil: there was none.
    public var answered: Instant?
    /// When its media was gone.
    public var ended: Instant
    /// When the end was agreed: the BYE, ours or theirs, was answered; nil when there was none, no answer, or a refusal.
    public var disconnected: Instant?
    /// The status of the answer to our BYE; nil when there was none.
    public var byeStatus: Int?
    /// Messages that either side had to send again.
    public var retransmissions = 0
    /// Re-INVITEs of ours.
    public var offers = Offers()

    /// A provisional response had a session description. No media was opened for it.
    public var earlyMediaIgnored = false
    /// The name of the codec that was agreed; nil before there is one.
    public var codec: Text?
    /// The encryption of its sound; nil before there is an answer.
    public var encryption: MediaEncryption?
    /// The statistics of the whole call; nil where no media was opened.
    public var statistics: MediaStatistics?
    /// Keys of the script that have left.
    public var pressed: [DTMFDigit] = []
    /// Keys that the other side pressed.
    public var digits: [DTMFDigit] = []
    /// By the other side.
    public var timesHeld = 0
    /// Since when sound of the other side was due without a break; nil: not at the end, as in a hold of either side, while keys were
    /// pressed, or where the other side may not send.
    public var soundDueSince: Instant?
    /// Keys of ours made what we played wait: it cannot be laid over what came back.
    public var playedWithPauses = false
    /// Number of times that we held the other side or were muted though no script asked for it.
    public var pauses = 0
    /// The decoded part of the sound that came.
    public var heard = Heard()
    /// The script of the call: the actions in it, and the sound that should have been heard.
    public var script: CallScript

    /// Number of times that the sound that was played had to wait, or was stopped: for keys of ours, and for a hold of either side.
    var interruptions: Int { timesHeld + script.interruptions + pauses }

    /// From the answer to the end; nil where there was no media.
    var media: EndMedia? {
        guard let statistics, let answered else { return nil }
        return EndMedia(now: statistics, answered: answered, from: answered, until: ended, dueSince: soundDueSince)
    }

    /// The result of our BYE, where the end was not agreed.
    var brokenBye: String { byeStatus.map { "the BYE was answered \($0)" } ?? "the BYE was not answered" }

    init(peer: Text, isOutgoing: Bool, script: CallScript, began: Instant) {
        (self.peer, self.isOutgoing, self.script, self.began, ended) = (peer, isOutgoing, script, began, began)
    }

    /// Makes the record of a call that this machine had no port for.
    init(withoutPort peer: Text, isOutgoing: Bool, began: Instant) {
        self.init(peer: peer, isOutgoing: isOutgoing, script: CallScript(), began: began)
        (failure, couldNotBind) = ("the tool has no port for its media", true)
    }
}
