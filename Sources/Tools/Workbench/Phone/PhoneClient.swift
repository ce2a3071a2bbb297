import Primitives
import UserAgent

/// A caller or an answerer that drives a `Phone`.
public protocol PhoneClient: SignallingEndpoint {
    /// The telephone that it drives.
    var phone: Phone { get }
    /// Begins what it is for.
    func start(at now: Instant)
    /// Ends it in good order; `onFinish` follows.
    func stop(at now: Instant)
    /// Called once, when nothing is left to do.
    var onFinish: (() -> Void)? { get set }
}

extension PhoneClient {
    public func receive(_ bytes: [UInt8], over flow: Flow, at now: Instant) { phone.agent.receive(bytes, over: flow, at: now) }
    public func answersMalformed(over flow: Flow, at now: Instant) -> Bool { phone.agent.answersMalformed(over: flow, at: now) }
    public func owesAnswer(over flow: Flow) -> Bool { phone.agent.owesAnswer(over: flow) }
    public func peerHalfClosed(_ flow: Flow, at now: Instant) { phone.agent.peerHalfClosed(flow, at: now) }
    public func failed(_ flow: Flow, at now: Instant) { phone.agent.failed(flow, at: now) }
    public func portUnreachable(_ beginning: [UInt8], at now: Instant) { phone.portUnreachable(beginning, at: now) }
    public func advance(to now: Instant) { phone.advance(to: now) }
    public var deadline: Instant? { phone.deadline }
}
