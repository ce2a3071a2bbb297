/// Calls that differ in what the server does with their media.
enum CallKind: CaseIterable {
    /// Sent back to us: RTCP on a port of its own; on the same; with keys in the description.
    case echo, echoMultiplexed, encrypted
    /// Decoded, and mixed with another.
    case conferenceOpus, conferencePCMU
    /// Decoded, and written to a file.
    case mailbox
    /// Sent to us, whatever we send.
    case tone
    /// Passed on to a device of ours that has another codec: decoded and encoded.
    case bridged
    /// The handshake is begun by us, or by the server.
    case handshakeOurs, handshakeTheirs
    /// Connectivity checks, without and with a handshake.
    case checks, checksAndHandshake
    /// Not answered: an early dialog, whose 180 waits for a PRACK.
    case ringing

    var number: String {
        switch self {
        case .echo, .echoMultiplexed: "9196"
        case .tone: "9197"
        case .conferenceOpus, .conferencePCMU: "3000"
        case .mailbox: "9200"
        case .encrypted, .handshakeOurs, .handshakeTheirs: "9198"
        case .checks, .checksAndHandshake: "9199"
        case .bridged: "1004"
        case .ringing: "9102"
        }
    }

    var hasHandshake: Bool { [.handshakeOurs, .handshakeTheirs, .checksAndHandshake].contains(self) }
    var hasChecks: Bool { self == .checks || self == .checksAndHandshake }
}
