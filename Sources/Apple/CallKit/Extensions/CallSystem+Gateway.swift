import Dispatch
import Foundation
import Primitives

// Functions that CallKit does not have and a gateway needs. None of them exists on a telephone.

extension CXProvider {
    /// A provider of this system, whatever `CallSystem.current` is.
    public convenience init(configuration: CXProviderConfiguration, system: CallSystem) {
        self.init(configuration: configuration, registeringWith: system)
    }

    public var callSystem: CallSystem { system }
}

extension CXCallController {
    /// A controller of this system, whatever `CallSystem.current` is. nil queue: a serial queue of its own.
    public convenience init(system: CallSystem, queue: DispatchQueue? = nil) {
        self.init(system: system, completionQueue: queue)
    }

    public var callSystem: CallSystem { system }
}

extension CXTransaction {
    /// A transaction under an identity of the caller's choice: a request from outside is told apart by it from one that comes again.
    public convenience init(uuid: UUID, hookswitchActions actions: [CXAction]) { self.init(uuid: uuid, actions: actions) }
}

extension CXCallObserver {
    /// An observer of this system, whatever `CallSystem.current` is.
    public convenience init(system: CallSystem) { self.init(observing: system) }
}

/// A provider's delegate that also wants to know which calls join a session that is already active.
///
/// `didActivate` comes once per session; the calls that get audio later are told here, those of the activation itself are
/// in its session's `hookswitchCalls`. Together they name each call once for each time that its audio may start.
public protocol CallSystemAudioDelegate: CXProviderDelegate {
    func provider(_ provider: CXProvider, didAdmit calls: [UUID], to audioSession: AVAudioSession)
}

extension AVAudioSession {
    /// In `didActivate` and `didAdmit`: the calls whose audio may start now. In `didDeactivate`: the one that had audio last. The same in a
    /// task that is made there.
    public var hookswitchCalls: [UUID] { ofCalls?.calls ?? [] }
    /// The session's name in the journal; nil for a session that is not a call's, and for that of the process outside of these callbacks.
    public var hookswitchName: AudioSessionName? { ofCalls?.name }

    private var ofCalls: CallAudioSession? {
        self as? CallAudioSession ?? (self === AVAudioSession.sharedInstance() ? CallAudioSession.current : nil)
    }
}

// On an `InlineHost` a completion never leaves the thread that it was made on.

extension CXProvider {
    /// `reportNewIncomingCall` for the owner of the system's `InlineHost`.
    public func hookswitchReport(_ uuid: UUID, update: CXCallUpdate, completion: @escaping ((any Error)?) -> Void) {
        precondition(system.host is InlineHost, "completions of other hosts go to other threads")
        let relay = UncheckedBox(completion)
        reportNewIncomingCall(with: uuid, update: update) { relay.value($0) }
    }
}

extension CXCallController {
    /// `request` for the owner of the system's `InlineHost`.
    public func hookswitchRequest(_ transaction: CXTransaction, completion: @escaping ((any Error)?) -> Void) {
        precondition(system.host is InlineHost, "completions of other hosts go to other threads")
        let relay = UncheckedBox(completion)
        request(transaction) { relay.value($0) }
    }
}

extension CallSystem {
    /// Number of incoming calls that were reported so far, accepted or not.
    public var incomingReports: Int { core.withLock { $0.incomingReports } }

    /// The network says by itself what an app may not have reported yet: the call is over. Ignored when it is not there any more.
    public func reportEnded(_ call: UUID, reason: CXCallEndedReason) { reportEnded(call, at: nil, reason: reason, by: nil) }

    /// The network says by itself that an outgoing call was answered. Ignored when the app has reported it.
    public func reportConnected(_ call: UUID) { reportConnected(call, at: nil, by: nil) }
}
