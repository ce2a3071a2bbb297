import Primitives
import SIP

/// The statements of a `UserAgent` about itself, and its bounds.
public struct UserAgentConfiguration {
    /// The base timers of all transactions.
    public var timers = TimerValues()
    /// The Server and User-Agent fields; empty leaves both out.
    public var product: Text = "Hookswitch"
    /// The methods that are dealt with; others are answered 405. Add REGISTER when the delegate handles it.
    public var allowedMethods: [Method] = [.invite, .ack, .cancel, .bye, .options, .info, .update, .prack]
    /// Option tags for the Supported field besides those that the agent deals with itself (`100rel`, `199`, and `timer` with a session
    /// timer). A
    /// Require with any other tag is answered 420.
    public var supportedOptions: [Text] = []
    /// Event packages that peers may subscribe to, besides that of REFER; the delegate gets the SUBSCRIBEs. They need `.subscribe` among the
    /// methods.
    public var eventPackages: [Text] = []
    /// Sessions are refreshed, and end when they are not (RFC 4028); nil: they last until somebody ends them.
    public var sessionTimer: SessionTimer.Policy?
    /// When our provisional responses wait for a PRACK (RFC 3262).
    public var reliability = Reliability.whenRequired
    /// INVITEs beyond so many sessions are answered 503 with Retry-After.
    public var maximumSessions = 20_000
    /// SUBSCRIBEs beyond so many subscriptions are answered 503 with Retry-After.
    public var maximumSubscriptions = 20_000
    /// Requests beyond so many server transactions are answered 503 without making one.
    public var maximumTransactions = 200_000
    /// Requests longer than this go over TCP instead of UDP, and over UDP after all where nobody takes the connection (RFC 3261 §18.1.1);
    /// nil: never.
    public var longestDatagram: Int?
    /// TLS is listened for, and so sips URIs are ours to serve over it.
    public var hasTLS = false
    /// A non-100 provisional response is sent again so often while a call rings (RFC 3261 §13.3.1.1).
    public var provisionalInterval = Duration.seconds(60)
    /// The address that peers on this flow can reach us at: the host and port of our Via and Contact.
    public var contactAddress: (Flow) -> SocketAddress

    /// When a provisional response of ours waits for its PRACK (RFC 3262 §3).
    public enum Reliability: Hashable, Sendable {
        /// The INVITE requires it.
        case whenRequired
        /// Also where the INVITE only supports it.
        case whenSupported
    }

    var options: [Text] { ["100rel", "199"] + (sessionTimer == nil ? [] : ["timer"]) + supportedOptions }

    /// - Parameter contactAddress: where peers on a flow reach us; the socket's own address unless something else is advertised.
    public init(contactAddress: @escaping (Flow) -> SocketAddress = { $0.local }) {
        self.contactAddress = contactAddress
    }
}
