import Audio
import Media
import Primitives

/// One call of a load, when both ends are over: what is known of each.
public struct LoadedCall: Sendable {
    /// From 1 on, in the order of their beginning.
    public var number: UInt32
    /// The kind of the call: the task that it was given.
    public var kind: CallKind
    /// The step of the arrival plan.
    public var step: Int
    /// After the first call could begin.
    public var began: Duration
    /// When it was due by the plan, and was begun so much later.
    public var lateness: Duration
    /// The end that called.
    public var caller: CallRecord
    /// The end that the tool answered; nil where it plays none, or no INVITE came.
    public var callee: CallRecord?
    /// When that INVITE came.
    public var calleeExpected: Bool
    /// Whether its sound was decoded.
    public var isListenedTo: Bool
    /// The signature that each side played; 0 is nobody's number.
    public var signatures: (caller: SoundSignature, callee: SoundSignature)
    /// The sound that the caller should hear.
    public var expects: ExpectedSound
    /// The other end tells which keys came: it is ours, or an echo.
    public var judgesKeys: Bool
    /// The callee was not told of the end, and the tool had to end that side.
    public var calleeWasForgotten = false
    /// The run was stopped before the call was over, and the tool ended it then.
    public var wasStopped = false
    /// Listened-to calls that were not over when this one began: what tells cross-talk from the sound of an earlier call.
    public var upAtBeginning: Set<UInt32> = []
}

/// The progress of a run.
public struct LoadProgress: Codable, Hashable, Sendable {
    /// Phases of a run.
    public enum Phase: String, Codable, Hashable, Sendable { case registering, running, ending, over }

    /// The phase of the run.
    public var phase = Phase.registering
    /// Accounts that are registered, of all that are to be.
    public var registered = 0, accounts = 0
    /// All that is to be registered is, and the first call waits for the word.
    public var isReady = false
    /// From the first registration that was begun to the last that was granted; nil until then.
    public var registrationTime: Duration?
    /// WebSockets of accounts that were opened before the first call.
    public var connections = 0
    /// Calls: begun, up now, up at most, answered, and over.
    public var begun = 0, active = 0, mostActive = 0, answered = 0, over = 0
    /// Not begun, because so many were there already.
    public var skipped = 0
    /// Not begun, because the tool had no port left.
    public var withoutPort = 0
    /// Calls of the plan that were not begun: the tool offered less than it had to.
    var notBegun: Int { skipped + withoutPort }
    /// INVITEs that came and belong to no call of this run.
    public var strangers = 0
    /// The step of the arrival plan.
    public var step = 0
    /// Calls a second at present.
    public var rate = 0.0
    /// The lateness with which calls were begun, by the plan.
    public var lateness = Lateness()

    /// Nothing has begun.
    public init() {}
}
