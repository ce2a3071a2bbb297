import Foundation
import Primitives

extension CallSystem {
    /// Everything behind the lock: the state, the CallKit objects that belong to it, and what is still to be told.
    ///
    /// A provider that is read out of here must leave the lock with the reader: its `deinit` comes back to the system.
    struct Core {
        var state: CallSystemState
        var hooks = Hooks()
        /// In the order in which they are asked.
        var enabledDirectories: [String] = []
        var directoryManager: CXCallDirectoryManager?
        weak var journal: (any CallSystemJournal)? { didSet { state.isJournalled = journal != nil } }
        var providers = IdentityTable<ProviderEntry>()
        var lastProvider = 0
        var observers: [ObjectIdentifier: WeakObserver] = [:] { didSet { state.isObserved = !observers.isEmpty } }
        var actions = IdentityTable<CXAction>()
        var transactions = IdentityTable<CXTransaction>()
        var sessions = IdentityTable<CallAudioSession>()
        var deliveries = Backlog<Delivery>()
        var toldDeadline: Instant?
        /// Incoming calls that were reported, accepted or not.
        var incomingReports = 0

        init(configuration: CallSystemConfiguration) {
            state = CallSystemState(configuration: configuration, identify: IdentifierSource.next)
        }
    }

    /// A provider, and the transactions that wait for the one that its delegate is performing.
    final class ProviderEntry {
        weak var object: CXProvider?
        var isPerforming = false
        var waiting: [UUID] = []

        init(_ object: CXProvider) { self.object = object }
    }

    struct WeakObserver { weak var object: CXCallObserver? }

    /// A callback that is due.
    enum Delivery: Sendable {
        case begin(ProviderNumber)
        case reset(ProviderNumber)
        case execute(UUID, ProviderNumber)
        /// The next action of a transaction.
        case perform(UUID, ProviderNumber)
        case timedOut(CXAction, ProviderNumber)
        case audio(AudioSessionName)
        case changed(CXCall)
        case extended(UUID, CallExtension, ProviderNumber)
        case completion(@Sendable ((any Error)?) -> Void, (any Error)?, CallbackQueue)
        case incomingCompletion(@Sendable ((any Error)?) -> Void, (any Error)?, ProviderNumber)
        /// An action or a transaction that is over. Tells nobody, and is let go outside of the lock as all here is.
        case release(any NSObject & Sendable)
    }

    /// The receiver of the answer to a request or report.
    enum Completion {
        case request(@Sendable ((any Error)?) -> Void, CallbackQueue)
        case incoming(@Sendable ((any Error)?) -> Void, ProviderNumber)
    }
}

/// First in, first out, and emptied by one at a time, a batch after the other.
///
/// A batch has its first element last: whoever empties takes them from the end, so that each is let go where it was used, one by one and
/// outside of the lock. A completion, or an app's own kind of action, may hold the last reference to a provider.
struct Backlog<Element> {
    private var elements: [Element] = []
    private var emptier: pthread_t?

    mutating func append(_ element: Element) { elements.append(element) }

    /// There is nothing in it, and nobody is emptying it.
    var isIdle: Bool { emptier == nil && elements.isEmpty }
    /// This thread is emptying it, further up its stack.
    var isBeingEmptiedHere: Bool { emptier == pthread_self() }

    /// Takes all that is in it. False when there is nothing in it, or somebody is emptying it already.
    mutating func beginEmptying(_ batch: inout [Element]) -> Bool {
        guard emptier == nil, !elements.isEmpty else { return false }
        emptier = pthread_self()
        take(&batch)
        return true
    }

    /// Takes all that came since. False, and the emptying is over, when there is nothing.
    /// - Precondition: all of the batch before was taken out of it.
    mutating func next(_ batch: inout [Element]) -> Bool {
        take(&batch)
        if batch.isEmpty { emptier = nil }
        return !batch.isEmpty
    }

    private mutating func take(_ batch: inout [Element]) {
        precondition(batch.isEmpty, "a batch is worked off before the next")
        // Its room stays here for what comes.
        if batch.capacity > 64 { batch = [] }
        swap(&batch, &elements)
        // In its memory: an array would copy what it moves.
        if batch.count > 1 { batch.withUnsafeMutableBufferPointer { $0.reverse() } }
    }
}

extension CallSystem.Core {
    /// Takes in what an input has put out: completes objects at once, and queues what is to be told.
    mutating func absorb(system: CallSystem, completion: CallSystem.Completion?) {
        guard !state.outputs.isEmpty else { return }
        for index in state.outputs.indices {
            switch state.outputs[index] {
            case .answer(let error): if let completion { deliveries.append(completion.delivery(of: error)) }
            case .issue(let transaction): makeObjects(for: transaction, system: system)
            case .deliver(let uuid, let provider): line(up: uuid, provider)
            case .timedOut(let uuid, let provider): if let action = actions[uuid] { deliveries.append(.timedOut(action, provider)) }
            case .finished(let uuid):
                guard let action = actions.removeValue(forKey: uuid) else { continue }
                action.markComplete()
                deliveries.append(.release(action))
            case .closed(let uuid): if let transaction = transactions.removeValue(forKey: uuid) { deliveries.append(.release(transaction)) }
            case .settle(let name): deliveries.append(.audio(name))
            case .begin(let provider): deliveries.append(.begin(provider))
            case .reset(let provider): deliveries.append(.reset(provider))
            case .changed(let call): deliveries.append(.changed(CXCall(call)))
            }
        }
        state.outputs.removeAll(keepingCapacity: state.outputs.capacity <= 64)
    }

    /// The deadline, where it is another than the host was told; it counts as told.
    mutating func movedDeadline() -> Instant?? {
        let deadline = state.deadline
        guard deadline != toldDeadline else { return nil }
        toldDeadline = deadline
        return .some(deadline)
    }

    /// One transaction at a time: the next is executed when all actions of the one before were handed out, so that what
    /// those caused is told in between.
    private mutating func line(up transaction: UUID, _ provider: ProviderNumber) {
        guard let seat = providers[provider] else { return }
        if seat.isPerforming {
            seat.waiting.append(transaction)
        } else {
            seat.isPerforming = true
            deliveries.append(.execute(transaction, provider))
        }
    }

    /// The transaction under way has been handed out.
    mutating func performNextInLine(_ provider: ProviderNumber) {
        guard let seat = providers[provider] else { return }
        if seat.waiting.isEmpty {
            seat.isPerforming = false
        } else {
            deliveries.append(.execute(seat.waiting.removeFirst(), provider))
        }
    }

    private mutating func makeObjects(for transaction: CallTransaction, system: CallSystem) {
        let objects = transaction.actions.compactMap { action -> CXAction? in
            guard let call = action.call else { return nil }
            switch action.kind {
            case .end: return CXEndCallAction(call: call, uuid: action.uuid)
            case .hold(let onHold): return CXSetHeldCallAction(call: call, onHold: onHold, uuid: action.uuid)
            // The system asks for nothing else by itself.
            default: return nil
            }
        }
        for object in objects where object.claim(for: system) { actions[object.uuid] = object }
        transactions[transaction.uuid] = CXTransaction(uuid: transaction.uuid, actions: objects)
    }
}

extension CallSystem.Completion {
    func delivery(of error: (any Error)?) -> CallSystem.Delivery {
        switch self {
        case .request(let completion, let queue): .completion(completion, error, queue)
        case .incoming(let completion, let provider): .incomingCompletion(completion, error, provider)
        }
    }
}
