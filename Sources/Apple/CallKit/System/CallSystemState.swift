import Foundation
import Primitives

typealias ProviderNumber = Int

/// The system behind CallKit, of one telephone: inputs in, events and outputs out, each in the order that is the contract.
///
/// It has no clock, no queue and no CallKit object; `CallSystem` gives it those. Reports are in `+Reports`, requests in
/// `+Transactions` and `Preflight`, completed actions in `+Actions`.
struct CallSystemState {
    /// Outputs for the owner to carry out, in order.
    enum Output {
        /// The answer to the report or request just made; nil is yes.
        case answer((any Error)?)
        /// The system's own transaction: make its objects.
        case issue(CallTransaction)
        /// Ask the provider's delegate to execute a transaction, then to perform the actions that `performNext` gives.
        case deliver(UUID, ProviderNumber)
        /// Tell the delegate that an action timed out. Comes before its `finished`.
        case timedOut(UUID, ProviderNumber)
        /// The action is complete.
        case finished(UUID)
        /// All actions of the transaction are complete.
        case closed(UUID)
        /// Ask `settleAudio` when the delegate can be told.
        case settle(AudioSessionName)
        case begin(ProviderNumber)
        case reset(ProviderNumber)
        /// For observers; in memory of its own, so that the others are small.
        indirect case changed(CallSnapshot)
    }

    // Objects: in a table a value would be copied for each look at it. One lock is around them all.

    final class Provider {
        var limits: GroupLimits
        /// The app that made it, where several share the telephone.
        let app: String?
        var hasBegun = false
        var groups = CallGroups()
        /// The groups as they will be when all accepted actions have been fulfilled.
        var planned = CallGroups()

        init(limits: GroupLimits, app: String?) { (self.limits, self.app) = (limits, app) }
    }

    final class Call {
        let uuid: UUID
        let provider: ProviderNumber
        let serial: UInt64
        let isOutgoing: Bool
        var handle: CXHandle?
        var localizedCallerName: String?
        var hasVideo = false
        var supportsHolding = true
        var supportsGrouping = true
        var supportsUngrouping = true
        var supportsDTMF = true
        /// Outgoing: the start action is fulfilled. Incoming: always.
        var isStarted: Bool
        var isConnecting = false
        var isConnected = false
        var isOnHold = false
        var isMuted = false
        /// The engine that translates the call; nil while none does.
        var translation: CXTranslationEngine?
        /// The identity of the caller, as the system sees it.
        var identification: CallIdentification?
        /// Incomplete actions on this call, oldest first.
        var outstanding: [UUID] = []

        init(uuid: UUID, provider: ProviderNumber, serial: UInt64, isOutgoing: Bool, isStarted: Bool) {
            (self.uuid, self.provider, self.serial, self.isOutgoing, self.isStarted) = (uuid, provider, serial, isOutgoing, isStarted)
        }

        var isRinging: Bool { !isOutgoing && !isConnected }
        /// The user has dialled it, or answered it.
        var isTakenUp: Bool { isOutgoing ? isStarted : isConnected }
        /// It has audio, or gets it when the other side answers. Of a telephone's calls one is active, or one group.
        var isActive: Bool { isTakenUp && !isOnHold }
    }

    final class Action {
        let action: CallAction
        let call: UUID
        let transaction: UUID
        /// The group that a start or a leave was given when it was accepted.
        let group: Int?

        init(_ action: CallAction, call: UUID, transaction: UUID, group: Int?) {
            (self.action, self.call, self.transaction, self.group) = (action, call, transaction, group)
        }
    }

    final class Transaction {
        let uuid: UUID
        let provider: ProviderNumber
        let serial: UInt64
        let actions: [CallAction]
        /// Index of the next action to perform.
        var next = 0
        var incomplete: Int

        init(uuid: UUID, provider: ProviderNumber, serial: UInt64, actions: [CallAction]) {
            (self.uuid, self.provider, self.serial, self.actions, incomplete) = (uuid, provider, serial, actions, actions.count)
        }
    }

    let configuration: CallSystemConfiguration
    /// The time that calls ring that begin to ring from now on.
    var ringTimeout: Duration?
    /// Identities for what the system asks by itself.
    let identify: () -> UUID
    var providers = IdentityTable<Provider>()
    var calls = IdentityTable<Call>()
    var actions = IdentityTable<Action>()
    var transactions = IdentityTable<Transaction>()
    var clock = ActionClock()
    var audio = AudioActivation()
    /// The time of the input that is under way.
    var now = Instant.zero
    /// Events and their times, for the journal; nothing where there is none.
    var events = Backlog<(event: CallSystemEvent, time: Instant)>()
    var isJournalled = false
    /// The outputs of the input under way; its owner takes them away.
    var outputs: [Output] = []
    /// Somebody wants to know how calls change.
    var isObserved = false
    private var serial: UInt64 = 0
    private var group = 0

    init(configuration: CallSystemConfiguration, identify: @escaping () -> UUID) {
        (self.configuration, self.identify) = (configuration, identify)
        ringTimeout = configuration.ringTimeout
    }

    /// When `advance` next has something to do; nil while there is nothing to wait for.
    var deadline: Instant? { clock.deadline }

    mutating func note(_ event: CallSystemEvent) {
        if isJournalled { events.append((event, now)) }
    }

    mutating func put(_ output: Output) { outputs.append(output) }

    mutating func nextSerial() -> UInt64 {
        serial += 1
        return serial
    }

    mutating func newGroup() -> Int {
        group += 1
        return group
    }

    func snapshot(_ call: Call, hasEnded: Bool = false) -> CallSnapshot {
        CallSnapshot(
            uuid: call.uuid, provider: call.provider, group: providers[call.provider]?.groups.group(of: call.uuid) ?? 0,
            isOutgoing: call.isOutgoing, handle: call.handle, localizedCallerName: call.localizedCallerName, hasVideo: call.hasVideo,
            identification: call.identification, isOnHold: call.isOnHold, isMuted: call.isMuted, translation: call.translation,
            hasConnected: call.isConnected, hasEnded: hasEnded, isVisible: call.isStarted)
    }
}

// MARK: - Time

extension CallSystemState {
    /// Deals with every deadline that has come.
    mutating func advance(to now: Instant) {
        while let subject = clock.next(at: now) {
            switch subject {
            case .action(let uuid): timeOut(uuid, at: now)
            case .ring(let uuid): ringTimedOut(uuid, at: now)
            }
        }
    }

    private mutating func ringTimedOut(_ uuid: UUID, at now: Instant) {
        guard let call = calls[uuid] else { return }
        issue([(uuid, .end)], cause: .ringTimeout, provider: call.provider, at: now)
    }

    /// Whether an outstanding action will answer or end the call, one way or the other.
    func isBeingSettled(_ call: Call) -> Bool {
        call.outstanding.contains { actions[$0]?.action.kind == .answer || actions[$0]?.action.kind == .end }
    }

    /// A ringing call is always waited for: by its ring timeout, or by the deadline of an answer or an end.
    mutating func armRinging(_ call: Call, at now: Instant) {
        guard let timeout = ringTimeout, call.isRinging, !isBeingSettled(call) else { return }
        clock.set(.ring(call.uuid), at: now + timeout)
    }
}

// MARK: - Audio

extension CallSystemState {
    /// Gives the call audio, or takes it away, as its state demands.
    mutating func refreshAudio(_ uuid: UUID) {
        let name = calls[uuid].flatMap(audioName), before = audio.set(uuid, in: name)
        guard before != name else { return }
        // The new one first.
        if let name { put(.settle(name)) }
        if let before { put(.settle(before)) }
    }

    private func audioName(_ call: Call) -> AudioSessionName? {
        let mayHaveAudio =
            call.isOutgoing ? call.isStarted && (call.isConnected || configuration.activation == .afterStarted) : call.isConnected
        guard mayHaveAudio, !call.isOnHold else { return nil }
        let group = configuration.audioScope == .perGroup ? providers[call.provider]?.groups.group(of: call.uuid) : nil
        return AudioSessionName(provider: call.provider, group: group)
    }

    /// Called when the delegate can be told about a session, right before it is.
    mutating func settleAudio(_ name: AudioSessionName) -> AudioActivation.Change? {
        guard let change = audio.settle(name) else { return nil }
        switch change {
        case .activated(let calls): note(.sessionActivated(name, calls: calls))
        case .admitted(let calls): note(.sessionAdmitted(name, calls: calls))
        case .deactivated(let last): note(.sessionDeactivated(name, last: last))
        }
        return change
    }
}

/// The delegate's completion of an action.
struct ActionCompletion {
    let isFulfilled: Bool
    /// When it was done; nil is now.
    let date: Date?
    /// For a translation.
    let engine: CXTranslationEngine
}
