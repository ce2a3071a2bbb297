import Primitives

/// The behaviour of one telephone where Apple's documentation leaves it open, or where a gateway line differs from a phone.
public struct CallSystemConfiguration: Sendable {
    /// The scope of an audio session: the calls that share it.
    public enum AudioScope: Sendable {
        /// One session for all calls of a provider, as on a telephone.
        case perSystem
        /// One session for each call group: trunks, applications, and lines with several devices.
        case perGroup
    }

    /// When an outgoing call may have audio.
    public enum Activation: Sendable {
        /// When the start action is fulfilled, so that an app can play ringback.
        case afterStarted
        /// When the start action is fulfilled and the call was reported connected.
        case afterConnected
    }

    /// The error for an incoming call beyond the provider's group limit.
    public enum OverLimitError: Sendable {
        /// `CXErrorCodeRequestTransactionError(.maximumCallGroupsReached)`
        case maximumCallGroupsReached
        /// `CXErrorCodeIncomingCallError(.unknown)`
        case unknownIncomingCallError
    }

    /// The account of the telephone: the line's number, or whatever its owner calls it. For `CXProvider.account`.
    public var account: String?
    public var audioScope = AudioScope.perSystem
    public var activation = Activation.afterStarted
    /// Answering, starting or resuming a call holds the others, and ending the active call resumes the only held group.
    /// Only with the `.perSystem` scope.
    public var holdsAutomatically = true
    /// The time that an incoming call rings before the system issues a `CXEndCallAction`; nil: for ever.
    public var ringTimeout: Duration? = .seconds(60)
    /// Whether call directories may block the user's contacts, too.
    public var directoriesBlockContacts = false
    public var overLimitError = OverLimitError.maximumCallGroupsReached
    /// The owner of the `InlineHost` that it has then sees to it that one thread at a time uses the system, its providers and its actions:
    /// it needs no locks.
    package var isCalledByOneAtATime = false

    /// As a telephone.
    public init() {}

    /// As the telephone of an app whose sound is on the network: one session, and audio only after the call is connected.
    public static var app: CallSystemConfiguration {
        var configuration = CallSystemConfiguration()
        configuration.activation = .afterConnected
        return configuration
    }

    /// As a gateway line: a session per group, audio only after the call is connected.
    public static var line: CallSystemConfiguration {
        var configuration = CallSystemConfiguration()
        configuration.audioScope = .perGroup
        configuration.activation = .afterConnected
        return configuration
    }
}
