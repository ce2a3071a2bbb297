import Primitives

/// Checks the rules of the journal event by event, as a value: the same events give the same violations, live or from a file.
///
/// What it remembers of a call is bounded and goes when the call is over. An event outside any run (a journal cut at its start) is not
/// judged.
public struct Audit: Sendable {
    public struct Options: Sendable {
        /// Also checks M5s (released only after the session was deactivated when no other connected call needs it).
        public var strict = true
        /// Whether the journal is all of a run. nil: it is if it ends with `gateway.stopped`; otherwise the process was killed and
        /// calls without an end are told of by `unfinishedCalls` instead of being violations.
        public var complete: Bool?
        /// RFC 3261 T1; a callee may send BYE 64·T1 after a 200 that nobody acknowledged.
        public var t1 = Duration.milliseconds(500)
        /// How long a released port number stays out of the pool at least.
        public var quarantine = Duration.seconds(1)
        /// By when every call must be over after a reset.
        public var resetLimit = Duration.seconds(5)
        /// How much later than `media.stopped` says the last packet may have left: the lane's time is that of its wake-up.
        public var stopTolerance = Duration.milliseconds(20)

        public init() {}
    }

    public let options: Options

    public init(options: Options = Options()) { self.options = options }

    /// The violations of one event.
    public mutating func observe(_ event: JournalEvent) -> [Violation] { [] }

    /// The violations of what is missing when nothing more will happen.
    public mutating func finish() -> [Violation] { [] }
}
