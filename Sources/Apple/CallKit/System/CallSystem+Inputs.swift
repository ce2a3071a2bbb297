import Dispatch
import Foundation
import Primitives

// Inputs of the CX classes to the system. Each input changes the state under the lock; its effects are told outside of it.

extension CallSystem {
    /// Feeds the state, then tells what came of it.
    func submit(_ completion: Completion? = nil, _ input: (inout Core) -> Void) {
        core.withLock { core in
            core.state.now = host.now
            input(&core)
            core.absorb(system: self, completion: completion)
        }
        settle()
    }

    // MARK: Providers

    func newProviderNumber() -> ProviderNumber {
        core.withLock { core in
            core.lastProvider += 1
            return core.lastProvider
        }
    }

    func register(_ provider: CXProvider, limits: GroupLimits) {
        let (number, app) = (provider.number, Self.currentApp)
        core.withLock { core in
            core.providers[number] = ProviderEntry(provider)
            core.state.register(number, limits: limits, app: app)
        }
    }

    func configure(_ provider: ProviderNumber, limits: GroupLimits) {
        core.withLock { $0.state.configure(provider, limits: limits) }
    }

    func begin(_ provider: ProviderNumber) { submit { $0.state.begin(provider) } }

    func invalidate(_ provider: ProviderNumber) { submit { $0.state.reset(provider, invalidate: true) } }

    /// The provider object is gone.
    func forget(_ provider: ProviderNumber) {
        submit { core in
            core.providers[provider] = nil
            core.state.reset(provider, invalidate: true)
        }
    }

    func setObserving(_ observer: CXCallObserver, _ isObserving: Bool) {
        core.withLock { core in
            core.observers = core.observers.filter { $0.value.object != nil }
            core.observers[ObjectIdentifier(observer)] = isObserving ? WeakObserver(object: observer) : nil
        }
    }

    // MARK: Reports

    func reportIncoming(
        _ uuid: UUID, update: CXCallUpdate, provider: CXProvider, completion: @escaping @Sendable ((any Error)?) -> Void
    ) {
        let (fields, number, screening) = (update.fields, provider.number, screen(fields: update.fields))
        let verdict = filter?(uuid, update) ?? screening.verdict
        submit(.incoming(completion, number)) { core in
            core.incomingReports += 1
            core.state.reportIncoming(
                uuid, update: fields, provider: number, verdict: verdict, identification: screening.identification, at: core.state.now)
        }
    }

    // A nil provider: the host itself.

    func reportUpdate(_ uuid: UUID, update: CXCallUpdate, by provider: ProviderNumber?) {
        let fields = update.fields
        let identification = fields.remoteHandle == nil ? nil : screen(fields: fields).identification
        submit { $0.state.reportUpdate(uuid, fields, identification: identification, by: provider) }
    }

    func reportEnded(_ uuid: UUID, at date: Date?, reason: CXCallEndedReason, by provider: ProviderNumber?) {
        submit { $0.state.reportEnded(uuid, reason: reason, at: date, by: provider) }
    }

    func reportConnecting(_ uuid: UUID, at date: Date?, by provider: ProviderNumber?) {
        submit { $0.state.reportConnecting(uuid, at: date, by: provider) }
    }

    func reportConnected(_ uuid: UUID, at date: Date?, by provider: ProviderNumber?) {
        submit { $0.state.reportConnected(uuid, at: date, by: provider) }
    }

    // MARK: Requests

    /// - Parameters:
    ///   - transaction: the wish.
    ///   - app: whose wish it is; nil: that of any.
    ///   - queue: where the completion runs.
    ///   - completion: told whether it is accepted.
    func request(
        _ transaction: CXTransaction, by app: String?, queue: DispatchQueue?, completion: @escaping @Sendable ((any Error)?) -> Void
    ) {
        let objects = transaction.actions
        let now = host.now
        let claimed = objects.prefix { $0.claim(for: self) }
        let wish = CallTransaction(uuid: transaction.uuid, actions: objects.map { CallAction($0, host: host) })
        submit(.request(completion, queue.map(CallbackQueue.given) ?? .private)) { core in
            // A transaction under way keeps its identity to itself, and so does an action, whose copies have the same.
            let isFree = claimed.count == objects.count && core.transactions[wish.uuid] == nil && core.isFree(wish.actions)
            core.state.request(wish, by: app, isFree: isFree, at: now)
            guard core.state.transactions[wish.uuid] != nil, isFree else { return claimed.forEach { $0.release() } }
            for (object, action) in zip(objects, wish.actions) {
                object.hold(until: host.date(at: action.created + action.kind.limit))
                core.actions[object.uuid] = object
            }
            core.transactions[wish.uuid] = CXTransaction(uuid: wish.uuid, actions: objects)
        }
    }

    /// The app has completed an action.
    func complete(_ action: UUID, _ completion: ActionCompletion) {
        submit { $0.state.complete(action, completion, at: $0.state.now) }
    }

    func noteUnimplemented(_ action: UUID) {
        submit { core in
            if let record = core.state.actions[action] { core.state.note(.actionUnimplemented(record.action)) }
        }
    }

    func pendingTransactions(of provider: ProviderNumber) -> [CXTransaction] {
        core.withLock { core in
            core.state.transactions.values.filter { $0.provider == provider }.sorted { $0.serial < $1.serial }
                .compactMap { core.transactions[$0.uuid] }
        }
    }
}

extension CallSystem.Core {
    /// Whether no action with the identity of one of these is under way, or comes twice.
    fileprivate func isFree(_ wishes: [CallAction]) -> Bool {
        wishes.indices.allSatisfy { index in
            actions[wishes[index].uuid] == nil && !wishes[..<index].contains { $0.uuid == wishes[index].uuid }
        }
    }
}

extension CallAction {
    init(_ object: CXAction, host: any CallSystemHost) {
        self.init(
            uuid: object.uuid, call: (object as? CXCallAction)?.callUUID, kind: Kind(object),
            created: host.instant(at: object.created))
    }
}

extension CallAction.Kind {
    init(_ object: CXAction) {
        switch object {
        case let object as CXStartCallAction: self = .start(object.handle, isVideo: object.isVideo)
        case is CXAnswerCallAction: self = .answer
        case is CXEndCallAction: self = .end
        case let object as CXSetHeldCallAction: self = .hold(object.isOnHold)
        case let object as CXSetMutedCallAction: self = .mute(object.isMuted)
        case let object as CXSetGroupCallAction: self = .group(with: object.callUUIDToGroupWith)
        case let object as CXPlayDTMFCallAction: self = .tones(object.digits, object.type)
        case let object as CXSetTranslatingCallAction:
            self = .translate(object.isTranslating, local: object.localLanguage, remote: object.remoteLanguage)
        default: self = .other
        }
    }
}
