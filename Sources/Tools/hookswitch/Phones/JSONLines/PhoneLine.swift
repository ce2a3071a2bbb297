import Foundation
import Media

/// One line of `--json-lines`: something that happened, as one JSON object. A field that says nothing of an event is absent.
struct PhoneLine: Encodable {
    enum Event: String, Encodable, CaseIterable {
        /// `seconds`
        case registered
        /// `status`, or `failure` where nobody answered; `seconds` until the next attempt
        case registrationFailed = "registration-failed"
        /// `answer` takes calls: `local`, `transport`
        case listening
        /// An INVITE was sent to `peer`.
        case calling
        /// An INVITE came from `peer`.
        case incoming
        /// 101–199, sent or received: `status`
        case ringing
        /// `codec`, `encryption`; the packets of the two ends go to `local` and `remote`
        case answered
        case mediaStarted = "media-started"
        /// No packet leaves any more, for good or for a hold: `packets`
        case mediaStopped = "media-stopped"
        /// The other side pressed a key: `digit`
        case digit
        /// All keys of ours have left.
        case digitsSent = "digits-sent"
        case remoteHold = "remote-hold"
        case remoteResume = "remote-resume"
        case holdDone = "hold-done"
        /// `status`, as all that failed
        case holdFailed = "hold-failed"
        case resumeDone = "resume-done"
        case resumeFailed = "resume-failed"
        /// `status` below 200
        case transferProgress = "transfer-progress"
        case transferDone = "transfer-done"
        case transferFailed = "transfer-failed"
        case muted, unmuted
        /// A SIP MESSAGE came: `from`, `text`, `contentType`
        case message
        /// A command cannot be done, and everything is as before: `command`, `reason`, `nearest`
        case refused
        /// Lines were not written, for too many waited to be read: `count`
        case lost
        /// The last of a call but its result: `status`, `reason`, `cause`, `causeText`, `endedBy`, `failure`, `duration`
        case ended
        /// `result`, as `--json` prints it; `recordedIn`
        case result
    }

    var event: Event
    /// RFC 3339, UTC. It and the next are set when the line is written.
    var time = ""
    /// Milliseconds since the command began.
    var ms: Int64 = 0
    /// Our number for the call, from 1 on.
    var call: UInt64?
    var callID: String?

    /// As a URI.
    var peer: String?
    /// The status of SIP.
    var status: Int?
    var reason: String?
    var seconds: Int64?
    var transport: String?
    var codec: String?
    var encryption: String?
    var local: String?
    var remote: String?
    var packets: StreamFigures?
    var digit: String?
    var from: String?
    var text: String?
    var contentType: String?
    /// The cause of Q.850, where the other side gave it (RFC 3326).
    var cause: Int?
    var causeText: String?
    /// `us`, `them`, `nobody`.
    var endedBy: String?
    var failure: String?
    /// Milliseconds from the answer to the end.
    var duration: Double?
    var command: String?
    /// The nearest command that can be done.
    var nearest: String?
    var count: Int?
    var result: CallObject?
    var recordedIn: String?

    init(_ event: Event) { self.event = event }
}

/// RTP of one call when its media stops: names and units are those of `packets` in the result. What was not measured is absent.
struct StreamFigures: Encodable {
    /// Since the media started, or was resumed.
    var sent: UInt64, received: UInt64
    /// Packets that were lost of all that came in the call so far; the figures below are of the whole call too.
    var lost: UInt64?, expected: UInt64?, lossPercent: Double?
    /// Milliseconds.
    var jitter: Double?
    /// By ITU-T G.107, 1 to 4.5.
    var mos: Double?
    /// Figures of our packets, as the other side reported last.
    var remoteLost: UInt64?, remoteExpected: UInt64?, remoteLossPercent: Double?, remoteJitter: Double?, remoteMOS: Double?
    /// Milliseconds.
    var roundTrip: Double?

    init(_ interval: MediaInterval) {
        (sent, received) = (interval.packetsSent, interval.packetsReceived)
        guard let quality = interval.quality else { return }
        let (came, left) = (quality.receiving, quality.sending)
        func part(_ value: Int?, of whole: Double) -> Double? { value.map { Double($0) / whole } }
        (lost, expected, lossPercent) = (came.lost, came.expected, part(came.loss, of: 100))
        (jitter, mos) = (part(came.jitter, of: 1_000), part(came.score, of: 100))
        (remoteLost, remoteExpected, remoteLossPercent) = (left.lost, left.expected, part(left.loss, of: 100))
        (remoteJitter, remoteMOS, roundTrip) = (part(left.jitter, of: 1_000), part(left.score, of: 100), part(quality.roundTrip, of: 1_000))
    }
}

/// The object that `--json` prints for a call.
struct CallObject: Encodable, Sendable {
    private let object: any Encodable & Sendable

    init(_ object: some Encodable & Sendable) { self.object = object }

    func encode(to encoder: any Encoder) throws { try object.encode(to: encoder) }
}
