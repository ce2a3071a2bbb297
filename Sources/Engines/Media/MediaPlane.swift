import Primitives
import RTP
import Runtime

/// Names one leg's media. Given by the caller, who must not use one twice.
public struct MediaLegID: Hashable, Sendable, CustomStringConvertible {
    /// Any number that was not used before.
    public var rawValue: UInt64

    /// - Parameter rawValue: not used before.
    public init(_ rawValue: UInt64) { self.rawValue = rawValue }

    public var description: String { "media-\(rawValue)" }
}

/// The port numbers of one leg. Only numbers: nothing is bound.
public struct PortReservation: Hashable, Sendable {
    /// The number for RTP.
    public let rtp: UInt16
    /// The number above; nil where RTCP has the port of RTP.
    public let rtcp: UInt16?

    /// An even number for RTP and the odd one above it for RTCP. `rtp` must be even.
    public init(rtp: UInt16) {
        precondition(rtp.isMultiple(of: 2), "RTP ports are even")
        (self.rtp, rtcp) = (rtp, rtp | 1)
    }

    /// One number for both (RFC 5761).
    public init(shared: UInt16) { (rtp, rtcp) = (shared, nil) }
}

/// Errors of the media plane.
public enum MediaError: Error, Hashable, Sendable {
    /// No port is free. `retryAfter` is when the next comes out of quarantine, if one is there: 503 with Retry-After.
    case portsExhausted(retryAfter: Duration?)
    /// A socket could not be bound; the error says in a sentence which and why.
    case cannotBind(SocketError)
    /// The plan names no audio codec that can be sent, or one that this source cannot produce.
    case unsupportedPlan
    /// More digits than may wait.
    case tooManyDigits
    /// A step that may not follow (programmer's error); nothing was done.
    case outOfOrder(MediaStep, in: LegMediaState)
    /// No open leg has this name, or one already has it (programmer's error); nothing was done.
    case unknownLeg(MediaLegID), knownLeg(MediaLegID)
    /// This number is not in the state that the call needs (programmer's error); nothing was done.
    case notReserved(PortReservation), notOpen(PortReservation), stillOpen(PortReservation)
    /// A leg can be linked to one other and not to itself (programmer's error); nothing was done.
    case cannotLink(MediaLegID, MediaLegID)
}

/// Everything that signalling may do to media.
///
/// Called from the signalling lane alone, and synchronous: when a call returns, its effect is there. After `stop` has returned no
/// packet of that leg leaves; after `close` has returned its sockets are gone. Steps out of order throw (`LegMediaState`).
/// Events of media come back as a `MediaEvent` through the callback that the implementation was made with, and not before the call has
/// returned.
public protocol MediaPlane: AnyObject {
    /// Takes numbers out of the pool. Binds nothing. Throws `.portsExhausted`.
    func reserve(_ demand: PortPool.Demand, at now: Instant) throws(MediaError) -> PortReservation

    /// Binds the sockets and makes the codecs of a leg: `configured` and `opened` in one. Nothing flows yet, and what arrives is dropped.
    ///
    /// - Parameter near: the leg that this one will be linked to, when it is open already: both come to one media lane.
    /// - Returns: what the leg keeps, to be released later. Where RTCP shares the port of RTP the other number goes back to the pool.
    /// - Throws: `.cannotBind`, `.unsupportedPlan`, `.notReserved`, `.knownLeg`. The reservation then is what it was: release it.
    func open(_ leg: MediaLegID, reservation: PortReservation, plan: MediaPlan, near: MediaLegID?, at now: Instant) throws(MediaError)
        -> PortReservation

    /// `didActivate` of the audio session reached this leg; `start` is allowed from here on.
    func activate(_ leg: MediaLegID) throws(MediaError)

    /// Packets flow: those of the source are sent where the plan lets us send, those received are used where it lets us receive.
    func start(_ leg: MediaLegID, at now: Instant) throws(MediaError)

    /// No packet of media leaves after this returns, RTCP neither; connectivity checks of the far end are answered on (RFC 7675), for
    /// without it would give the call up. Digits that wait are dropped; what was recorded comes as a last event. The figures are of the
    /// interval since `start`.
    ///
    /// - Parameter ending: for good, not for a hold: the last packet that leaves is an RTCP BYE.
    @discardableResult
    func stop(_ leg: MediaLegID, ending: Bool, at now: Instant) throws(MediaError) -> MediaInterval

    /// The audio session is off for this leg. It may be activated again.
    func deactivate(_ leg: MediaLegID) throws(MediaError)

    /// After a re-INVITE or UPDATE: a new remote address, direction, codec or source. Allowed in every open state; rebinds nothing,
    /// starts and stops nothing: local address, ports and the number of sockets stay what they were at `open`. A changed remote address is
    /// latched anew. Throws `.unsupportedPlan`, and then nothing has changed.
    func update(_ leg: MediaLegID, plan: MediaPlan, at now: Instant) throws(MediaError)

    /// Relays between two open legs whose source is `.relay`, both ways. Each leg sends only while it is started itself.
    func link(_ first: MediaLegID, _ second: MediaLegID, at now: Instant) throws(MediaError)

    /// Ends the relay of this leg and of its partner; nothing when there is none.
    func unlink(_ leg: MediaLegID) throws(MediaError)

    /// Sends digits as RFC 4733 events, one after the other, in place of what the source sends meanwhile. The leg must be started.
    /// Throws `.unsupportedPlan` when telephone-event was not agreed, `.tooManyDigits` when more than 64 would wait (none is then sent).
    ///
    /// - Parameter length: how long each key is held, within 40 ms and 5 s; nil: as long as usual.
    func send(_ digits: [DTMFDigit], lasting length: Duration?, on leg: MediaLegID, at now: Instant) throws(MediaError)

    /// The statistics of the leg until now.
    func statistics(of leg: MediaLegID, at now: Instant) throws(MediaError) -> MediaStatistics

    /// Closes sockets and frees codecs, unlinks, and forgets the leg. The leg must have been stopped.
    @discardableResult
    func close(_ leg: MediaLegID, at now: Instant) throws(MediaError) -> MediaStatistics

    /// The numbers go to quarantine and then back to the pool. Its leg must be closed, or never have been opened.
    func release(_ reservation: PortReservation, at now: Instant) throws(MediaError)

    /// As `release`, of numbers that another program has (`open` threw `.cannotBind`): they are not drawn for a while.
    func releaseTaken(_ reservation: PortReservation, at now: Instant) throws(MediaError)

    /// The numbers of everything that there is now, for metrics and for the leak check.
    func counts(at now: Instant) -> MediaCounts
}

/// The numbers of everything that a media plane holds.
public struct MediaCounts: Hashable, Sendable {
    /// Port numbers by state.
    public var ports: PortPool.Counts
    /// Legs that are open, and those of them that are started.
    public var legs = 0, started = 0
    /// Bound sockets.
    public var sockets = 0
    /// Armed timers.
    public var timers = 0
    /// Directions that relay packets before a socket sees them, and those that did.
    public var relayed = RelayCounts()

    /// Nothing open; the numbers of a pool.
    public init(ports: PortPool.Counts) { self.ports = ports }

    /// Nothing is open and nothing is reserved: what an idle server must show.
    public var isIdle: Bool { ports.reserved == 0 && ports.open == 0 && legs == 0 && sockets == 0 && timers == 0 }
}

extension MediaPlane {
    /// A pair.
    public func reserve(at now: Instant) throws(MediaError) -> PortReservation { try reserve(.two, at: now) }

    /// Keys as long as usual.
    public func send(_ digits: [DTMFDigit], on leg: MediaLegID, at now: Instant) throws(MediaError) {
        try send(digits, lasting: nil, on: leg, at: now)
    }

    /// Stops for a while.
    @discardableResult
    public func stop(_ leg: MediaLegID, at now: Instant) throws(MediaError) -> MediaInterval { try stop(leg, ending: false, at: now) }
}
