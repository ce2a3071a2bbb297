/// One step in the life of a leg's media, in the order in which they come. The names are those of the journal.
public enum MediaStep: String, Hashable, Sendable, CaseIterable {
    /// Codecs, addresses and direction are decided; still no socket.
    case configure
    /// Sockets are bound and codecs made.
    case open
    /// The audio session of the line is on for this leg.
    case activate
    /// Packets may flow from here on.
    case start
    /// No packet leaves from here on.
    case stop
    /// The audio session of the line is off for this leg.
    case deactivate
    /// Sockets closed, codecs freed.
    case close
    /// The port number goes to quarantine.
    case release
}

/// The progress of the media of one leg. It begins as `reserved`: a number has left the port pool and nothing else exists.
///
/// A value without effects: whoever owns a leg's media applies the step first and acts only when it was legal. That is what makes
/// "media only between answer and end" impossible to break by accident. A step out of order is a programmer's error and is thrown,
/// so that a server can report it and lose one call instead of all.
public enum LegMediaState: Hashable, Sendable, CaseIterable {
    /// Next: `configured`, or `released` for a call that was never answered.
    case reserved
    /// Next: `opened`, or `released` when the call fails first.
    case configured
    /// Next: `activated`, or `closed`.
    case opened
    /// Next: `started`, `deactivated` or `closed`.
    case activated
    /// Next: `stopped` and nothing else: what runs is stopped before it is taken away.
    case started
    /// Next: `started` again (resume), `deactivated` or `closed`.
    case stopped
    /// Next: `activated` again (resume), or `closed`.
    case deactivated
    /// Next: `released`.
    case closed
    /// Absorbing.
    case released

    /// Port numbers are reserved, and nothing is open.
    public init() { self = .reserved }

    /// The state that `step` leads to, or nil where it may not be taken.
    public func after(_ step: MediaStep) -> LegMediaState? {
        switch (self, step) {
        case (.reserved, .configure): .configured
        case (.configured, .open): .opened
        case (.opened, .activate), (.deactivated, .activate): .activated
        case (.activated, .start), (.stopped, .start): .started
        case (.started, .stop): .stopped
        case (.activated, .deactivate), (.stopped, .deactivate): .deactivated
        case (.opened, .close), (.activated, .close), (.stopped, .close), (.deactivated, .close): .closed
        case (.reserved, .release), (.configured, .release), (.closed, .release): .released
        default: nil
        }
    }

    /// Takes one step. Throws, and stays as it was, when the step may not follow.
    public mutating func apply(_ step: MediaStep) throws(MediaError) {
        guard let next = after(step) else { throw .outOfOrder(step, in: self) }
        self = next
    }

    /// Packets flowed, and may again.
    public var wasStarted: Bool { self == .stopped || self == .deactivated }

    /// Sockets are bound.
    public var isOpen: Bool {
        switch self {
        case .opened, .activated, .started, .stopped, .deactivated: true
        case .reserved, .configured, .closed, .released: false
        }
    }
}
