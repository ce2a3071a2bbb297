import Dispatch
import Foundation

/// An app's door to the system for what happened out there: incoming calls, calls that connected or ended by themselves.
///
/// Its delegate hears what to do. Keep one provider per app, for as long as the app lives; `invalidate` it before letting go.
/// Safe to use from any thread on a system whose host runs queues; on an `InlineHost`, on that host's thread only.
open class CXProvider: NSObject, @unchecked Sendable {
    struct Wiring {
        var configuration: CXProviderConfiguration
        weak var delegate: (any CXProviderDelegate)?
        weak var audioDelegate: (any CallSystemAudioDelegate)?
        var queue: DispatchQueue?
    }

    let system: CallSystem
    let number: ProviderNumber
    private let wiring: Locked<Wiring>

    /// Registers with `CallSystem.current`.
    public init(configuration: CXProviderConfiguration) {
        system = CallSystem.current
        wiring = Locked(Wiring(configuration: configuration.snapshot), hasLock: !system.configuration.isCalledByOneAtATime)
        number = system.newProviderNumber()
        super.init()
        system.register(self, limits: GroupLimits(configuration))
    }

    init(configuration: CXProviderConfiguration, registeringWith system: CallSystem) {
        self.system = system
        wiring = Locked(Wiring(configuration: configuration.snapshot), hasLock: !system.configuration.isCalledByOneAtATime)
        number = system.newProviderNumber()
        super.init()
        system.register(self, limits: GroupLimits(configuration))
    }

    deinit { system.forget(number) }

    /// Sets who performs actions, and where. The delegate is held weakly; a nil queue is the main queue.
    /// The first delegate is sent `providerDidBegin`.
    open func setDelegate(_ delegate: (any CXProviderDelegate)?, queue: DispatchQueue?) {
        let audioDelegate = delegate as? any CallSystemAudioDelegate
        wiring.withLock { ($0.delegate, $0.audioDelegate, $0.queue) = (delegate, audioDelegate, queue) }
        if delegate != nil { system.begin(number) }
    }

    /// A copy, both ways.
    open var configuration: CXProviderConfiguration {
        get { wiring.withLock { $0.configuration }.snapshot }
        set {
            let copy = newValue.snapshot
            wiring.withLock { $0.configuration = copy }
            system.configure(number, limits: GroupLimits(copy))
        }
    }

    /// A call comes in. Completion nil: the system rings; an error: there is no such call, and the app must not go on with it.
    ///
    /// The completion runs on the delegate's queue if one was given, else on a private serial queue.
    @preconcurrency open func reportNewIncomingCall(
        with uuid: UUID, update: CXCallUpdate, completion: @escaping @Sendable ((any Error)?) -> Void
    ) {
        system.reportIncoming(uuid, update: update, provider: self, completion: completion)
    }

    /// As with a completion: throws where there is no such call.
    open func reportNewIncomingCall(with uuid: UUID, update: CXCallUpdate) async throws {
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            reportNewIncomingCall(with: uuid, update: update) { continuation.resume(with: $0.map(Result.failure) ?? .success(())) }
        }
    }

    /// Reports a change in what is known about a call. An unknown call is ignored, as in all reports below; so is another provider's.
    open func reportCall(with uuid: UUID, updated update: CXCallUpdate) { system.reportUpdate(uuid, update: update, by: number) }

    /// A call has ended for a reason other than the user's wish; nil is now. Actions outstanding on it fail silently.
    open func reportCall(with uuid: UUID, endedAt dateEnded: Date?, reason endedReason: CXCallEndedReason) {
        system.reportEnded(uuid, at: dateEnded, reason: endedReason, by: number)
    }

    /// An outgoing call has begun to connect; nil is now. Only the first report counts.
    open func reportOutgoingCall(with uuid: UUID, startedConnectingAt dateStartedConnecting: Date?) {
        system.reportConnecting(uuid, at: dateStartedConnecting, by: number)
    }

    /// An outgoing call was answered; nil is now. Only the first report counts.
    open func reportOutgoingCall(with uuid: UUID, connectedAt dateConnected: Date?) {
        system.reportConnected(uuid, at: dateConnected, by: number)
    }

    /// From a notification service extension: hands a push to `CallSystem.voipPush` of the current system. Without that,
    /// fails with `missingNotificationFilteringEntitlement`. The completion runs on a queue of the system.
    @preconcurrency open class func reportNewIncomingVoIPPushPayload(
        _ dictionaryPayload: [AnyHashable: Any], completion: (@Sendable ((any Error)?) -> Void)? = nil
    ) {
        let push = CallSystem.current.voipPush
        push?(dictionaryPayload)
        guard let completion else { return }
        let error = push == nil ? CXErrorCodeNotificationServiceExtensionError(.missingNotificationFilteringEntitlement) : nil
        DispatchQueue.global().async { completion(error) }
    }

    /// As with a completion: throws where nobody takes the push.
    open class func reportNewIncomingVoIPPushPayload(_ dictionaryPayload: [AnyHashable: Any]) async throws {
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            reportNewIncomingVoIPPushPayload(dictionaryPayload) { continuation.resume(with: $0.map(Result.failure) ?? .success(())) }
        }
    }

    /// Ends all calls in failure and leaves the system; the delegate gets `providerDidReset`. For good.
    open func invalidate() { system.invalidate(number) }

    /// Accepted transactions that have incomplete actions, oldest first.
    open var pendingTransactions: [CXTransaction] { system.pendingTransactions(of: number) }

    /// The actions of the pending transactions that are of this class and on this call.
    open func pendingCallActions(of callActionClass: AnyClass, withCall callUUID: UUID) -> [CXCallAction] {
        pendingTransactions.flatMap(\.actions).compactMap { $0 as? CXCallAction }
            .filter { $0.callUUID == callUUID && $0.isKind(of: callActionClass) }
    }

    /// Called by the default implementations of the delegate's `perform` methods.
    public func _unimplemented(_ action: CXCallAction) { system.noteUnimplemented(action.uuid) }

    final var delegate: (any CXProviderDelegate)? { wiring.withLock { $0.delegate } }
    final var audioDelegate: (any CallSystemAudioDelegate)? { wiring.withLock { $0.audioDelegate } }
    final var queue: DispatchQueue? { wiring.withLock { $0.queue } }
}

/// Why a call ended, other than by the user's wish.
public enum CXCallEndedReason: Int, Sendable {
    /// An error occurred while trying to service the call.
    case failed = 1
    /// The remote party explicitly ended the call.
    case remoteEnded = 2
    /// The call was never answered and never explicitly ended.
    case unanswered = 3
    case answeredElsewhere = 4
    case declinedElsewhere = 5
}
