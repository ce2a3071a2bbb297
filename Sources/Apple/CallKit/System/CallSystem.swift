import Foundation
import Primitives

/// The system of one telephone: what `callservicesd` is to an iPhone.
///
/// Providers report to it, controllers request from it, and it asks providers' delegates to act. Apps never meet it: they
/// get `CallSystem.shared`. A gateway makes one for each line:
///
///     let host = InlineHost()
///     let system = CallSystem(configuration: .line, host: host)
///     let provider = CXProvider(configuration: configuration, system: system)
///     let controller = CXCallController(system: system)
///
/// On a `QueueHost` everything here is safe from any thread. On an `InlineHost` it belongs to the host's thread.
public final class CallSystem: @unchecked Sendable {
    /// Decides about a call that comes in; nil lets it in. Called by the report, on its thread.
    public typealias Filter = (_ call: UUID, _ update: CXCallUpdate) -> CXErrorCodeIncomingCallError.Code?

    /// The system of this process, on Dispatch queues.
    public static let shared: CallSystem = {
        let configuration = sharedConfiguration.withLock { shared in
            shared.isUsed = true
            return shared.configuration
        }
        return CallSystem(configuration: configuration, host: QueueHost())
    }()

    private static let sharedConfiguration = Locked((configuration: CallSystemConfiguration(), isUsed: false))

    /// Says how the shared telephone behaves, before anybody has used it. False: it is too late.
    @discardableResult
    public static func configureShared(_ configuration: CallSystemConfiguration) -> Bool {
        sharedConfiguration.withLock { shared in
            guard !shared.isUsed else { return false }
            shared.configuration = configuration
            return true
        }
    }

    /// The system that `CXProvider(configuration:)`, `CXCallController()` and `CXCallObserver()` belong to.
    @TaskLocal public static var current: CallSystem = .shared

    /// The app whose code makes providers and controllers now, where several share a telephone: what one of its controllers starts goes to
    /// its own provider. nil, as with a single app: to the provider that registered last.
    @TaskLocal public static var currentApp: String?

    public let configuration: CallSystemConfiguration
    public let host: any CallSystemHost
    let core: Locked<Core>
    /// Held by the thread that tells the journal; always outside of the core's lock.
    let telling: Locked<Void>

    public init(configuration: CallSystemConfiguration, host: any CallSystemHost) {
        precondition(!configuration.isCalledByOneAtATime || host is InlineHost, "only an InlineHost calls back on the thread that calls in")
        (self.configuration, self.host) = (configuration, host)
        core = Locked(Core(configuration: configuration), hasLock: !configuration.isCalledByOneAtATime)
        telling = Locked((), hasLock: !configuration.isCalledByOneAtATime)
    }

    /// The time that calls ring that come from now on; nil: for ever. At first as `configuration` has it.
    public var ringTimeout: Duration? {
        get { core.withLock { $0.state.ringTimeout } }
        set { core.withLock { $0.state.ringTimeout = newValue } }
    }

    /// Do Not Disturb, the block list, and whatever else may turn a call away. nil lets every call in.
    public var filter: Filter? {
        get { core.withLock { $0.hooks.filter } }
        set { setHook(\.filter, newValue) }
    }

    /// The journal of what happens. Held weakly; set it before the first call.
    public var journal: (any CallSystemJournal)? {
        get { core.withLock { $0.journal } }
        set { core.withLock { $0.journal = newValue } }
    }

    public var now: Instant { host.now }

    /// When `advance` next has something to do; nil while nothing is waited for.
    public var deadline: Instant? { core.withLock { $0.state.deadline } }

    /// Deals with every deadline that has come. On an `InlineHost`, also sets its clock if `now` is later.
    public func advance(to now: Instant) {
        if let inline = host as? InlineHost, inline.now < now { inline.now = now }
        submit { $0.state.advance(to: now) }
    }

    /// The connection between apps and system is lost and made again: every provider's calls end in failure, its delegate
    /// gets `providerDidReset`, then `providerDidBegin`.
    public func reset() {
        submit { core in
            for number in core.state.providers.numbers.sorted() { core.state.reset(number, invalidate: false) }
        }
    }

    /// The calls that have not ended, oldest first.
    public var calls: [CallSnapshot] {
        core.withLock { core in
            core.state.calls.values.sorted { $0.serial < $1.serial }.map { core.state.snapshot($0) }
        }
    }

    /// One call; nil when there is none, or not any more.
    public func call(_ uuid: UUID) -> CallSnapshot? {
        core.withLock { core in core.state.calls[uuid].map { core.state.snapshot($0) } }
    }

    /// Counts of what the system holds, for the gate against leaks: all zero but `providers` when nothing goes on.
    public struct Counts: Hashable, Sendable {
        public var providers = 0, calls = 0, groups = 0, transactions = 0, actions = 0, deadlines = 0, sessions = 0
    }

    public var counts: Counts {
        core.withLock { core in
            let state = core.state
            return Counts(
                providers: state.providers.count, calls: state.calls.count,
                groups: state.providers.values.reduce(0) { $0 + max($1.groups.count, $1.planned.count) },
                transactions: max(state.transactions.count, core.transactions.count),
                actions: max(state.actions.count, core.actions.count), deadlines: state.clock.count,
                sessions: max(state.audio.count, core.sessions.count))
        }
    }
}
