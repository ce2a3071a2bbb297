import Primitives

/// A part of the running server that takes what anybody sends.
enum Surface: String, CaseIterable {
    /// SIP outside of dialogs, by transport.
    case udp, tcp, tls
    /// Requests within calls that are up.
    case dialog
    /// Responses to requests of the server's own.
    case answers
    /// Media ports of calls that are up.
    case rtp, rtcp, stun, dtls
    /// The listener for metrics and health.
    case http
    /// WebSockets: SIP, and events of the control interface.
    case ws, events

    /// Inputs of a round of `roundSize`.
    var share: Int {
        switch self {
        case .udp: 280
        case .dialog: 190
        case .rtp: 150
        case .tcp, .rtcp: 80
        case .stun: 60
        case .answers: 50
        case .ws, .http: 30
        case .tls, .dtls: 20
        case .events: 10
        }
    }

    static let roundSize = allCases.reduce(0) { $0 + $1.share }
}
