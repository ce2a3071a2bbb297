import Primitives

/// The receiver of the messages of a lane's sockets: a `UserAgent`, or something bigger that holds one.
public protocol SignallingEndpoint: AnyObject, SendableMetatype {
    /// One whole message as it came over the flow, or the CRLF that answers a ping of ours (RFC 5626 §4.4.1); over UDP whatever came.
    func receive(_ bytes: [UInt8], over flow: Flow, at now: Instant)
    /// Whether who sends what cannot be read is told so; counts it.
    func answersMalformed(over flow: Flow, at now: Instant) -> Bool
    /// Whether a ping (RFC 5626 §4.4.1) over a connection that nothing was sent over yet gets its pong; counts the one that does not.
    func answersPing(over flow: Flow, at now: Instant) -> Bool
    /// Whether a request that came over the flow's connection is still to be answered over it. Asked also while a message is being sent.
    func owesAnswer(over flow: Flow) -> Bool
    /// Nothing more is heard over the flow's connection: requests of ours get no answer, theirs still do. `failed` follows when it is gone.
    func peerHalfClosed(_ flow: Flow, at now: Instant)
    /// The flow is gone, or nothing could be sent over it.
    func failed(_ flow: Flow, at now: Instant)
    /// The network says that nobody takes a datagram of ours where it went (ICMP, RFC 3261 §18.4). It quotes the beginning of it, and
    /// anybody may have sent that.
    func portUnreachable(_ beginning: [UInt8], at now: Instant)
    /// Does everything that is due.
    func advance(to now: Instant)
    /// When `advance` next has something to do.
    var deadline: Instant? { get }
}

extension SignallingEndpoint {
    public func answersPing(over flow: Flow, at now: Instant) -> Bool { true }
}

extension UserAgent: SignallingEndpoint {}
