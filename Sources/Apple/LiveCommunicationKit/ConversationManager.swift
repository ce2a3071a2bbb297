import CallKit
import Foundation
import Observation

/// An app's door to the system: it reports what happened out there, asks for what the user wishes, and has its delegate act.
///
/// A provider and a controller of the same telephone as those of CallKit. Keep one manager per app, for as long as the app lives;
/// `invalidate` it before letting go. Safe to use from any thread on a system whose host runs queues.
public final class ConversationManager: Observable, @unchecked Sendable {
    public let configuration: Configuration
    let provider: CXProvider
    private let controller: CXCallController
    private let observer: CXCallObserver
    private let relay = ProviderRelay()
    private let lock = NSLock()
    private let registrar = ObservationRegistrar()
    private weak var heldDelegate: (any ConversationManagerDelegate)?
    private var held: [Conversation] = []
    private var actions: [UUID: ConversationAction] = [:]

    /// Registers with `CallSystem.current`.
    public convenience init(configuration: Configuration) { self.init(configuration: configuration, system: .current) }

    /// A manager of this system, whatever `CallSystem.current` is. Not on a telephone.
    public init(configuration: Configuration, system: CallSystem) {
        self.configuration = configuration
        provider = CXProvider(configuration: configuration.cxConfiguration, system: system)
        controller = CXCallController(system: system)
        observer = CXCallObserver(system: system)
        relay.manager = self
        observer.setDelegate(relay, queue: nil)
    }

    /// The performer of actions. Held weakly; the first one is sent `conversationManagerDidBegin`.
    public var delegate: (any ConversationManagerDelegate)? {
        get { lock.withLock { heldDelegate } }
        set {
            lock.withLock { heldDelegate = newValue }
            provider.setDelegate(newValue == nil ? nil : relay, queue: nil)
        }
    }

    /// The conversations that are not over, oldest first. Observed.
    public var conversations: [Conversation] {
        registrar.access(self, keyPath: \.conversations)
        return lock.withLock { held }
    }

    /// Actions that were asked for and are not complete, oldest first.
    public var pendingActions: [ConversationAction] {
        provider.pendingTransactions.flatMap(\.actions).filter { !$0.isComplete }.compactMap(action)
    }

    /// The pending actions on one conversation that are of one class.
    public func pendingConversationActions(
        of conversationActionClass: ConversationAction.Type, for conversation: Conversation
    ) -> [ConversationAction] {
        pendingActions.filter { action in
            let isOfClass = conversationActionClass == ConversationAction.self || type(of: action) == conversationActionClass
            return isOfClass && action.conversationUUID == conversation.uuid
        }
    }

    /// Asks for actions, which are accepted or refused as one and performed in their order. Returns when they are accepted, not when they
    /// are performed; throws a `CXErrorCodeRequestTransactionError` of CallKit where they are refused.
    public func perform(_ actions: [ConversationAction]) async throws {
        let started = actions.filter { $0 is StartConversationAction }.compactMap { add(Conversation($0.conversationUUID)) }
        let free = actions.filter { adopt($0, isRequested: true) }
        do { try await controller.request(CXTransaction(actions: actions.map(\.call))) } catch {
            for conversation in started { remove(conversation) }
            free.forEach(release)
            throw error
        }
    }

    /// A conversation comes in. Returns when the system rings; throws CallKit's error where there is no such conversation.
    public func reportNewIncomingConversation(uuid: UUID, update: Conversation.Update) async throws {
        let record = ConversationRecord(handles: update.remoteMembers, started: date)
        let conversation = add(Conversation(uuid, localMember: update.localMember, record: record))
        do { try await provider.reportNewIncomingCall(with: uuid, update: update.cxUpdate) } catch {
            if let conversation { remove(conversation) }
            throw error
        }
    }

    /// Reports what has happened. An event of a conversation that is over, or another manager's, is ignored.
    public func reportConversationEvent(_ event: Conversation.Event, for conversation: Conversation) {
        let uuid = conversation.uuid
        conversation.note(event)
        switch event {
        case .conversationUpdated(let update):
            conversation.apply(update)
            provider.reportCall(with: uuid, updated: update.cxUpdate)
        case .conversationStartedConnecting(let date): provider.reportOutgoingCall(with: uuid, startedConnectingAt: date)
        case .conversationConnected(let date): provider.reportOutgoingCall(with: uuid, connectedAt: date)
        case .conversationEnded(let date, let reason):
            provider.reportCall(with: uuid, endedAt: date, reason: CXCallEndedReason(reason))
            review(uuid)
        }
    }

    /// From a notification service extension: as `CXProvider.reportNewIncomingVoIPPushPayload` of CallKit.
    public class func reportNewIncomingVoIPPushPayload(_ payload: [AnyHashable: Any]) async throws {
        try await CXProvider.reportNewIncomingVoIPPushPayload(payload)
    }

    /// Ends all conversations in failure and leaves the system; the delegate gets `conversationManagerDidReset`. For good.
    public func invalidate() { provider.invalidate() }
}

// MARK: - Conversations and actions under way

extension ConversationManager {
    /// Takes a conversation in; nil when there is one of its identity.
    @discardableResult
    func add(_ conversation: Conversation) -> Conversation? {
        let isNew = lock.withLock {
            guard !held.contains(where: { $0.uuid == conversation.uuid }) else { return false }
            held.append(conversation)
            return true
        }
        guard isNew else { return nil }
        tellOfConversations()
        return conversation
    }

    func conversation(_ uuid: UUID) -> Conversation? { lock.withLock { held.first { $0.uuid == uuid } } }

    /// False: it was not there any more.
    @discardableResult
    func remove(_ conversation: Conversation) -> Bool {
        let wasThere = lock.withLock {
            defer { held.removeAll { $0 === conversation } }
            return held.contains { $0 === conversation }
        }
        if wasThere { tellOfConversations() }
        return wasThere
    }

    private func tellOfConversations() { registrar.withMutation(of: self, keyPath: \.conversations) {} }

    /// The telephone's wall clock.
    var date: Date { provider.callSystem.host.date(at: provider.callSystem.now) }

    /// The action of this module that stands for one of the telephone's.
    func action(_ call: CXAction) -> ConversationAction? {
        if let known = lock.withLock({ actions[call.uuid] }) { return known }
        guard let action = ConversationAction.make(call) else { return nil }
        adopt(action, isRequested: false)
        return action
    }

    /// False: it is under way already.
    @discardableResult
    private func adopt(_ action: ConversationAction, isRequested: Bool) -> Bool {
        lock.withLock {
            actions = actions.filter { !$0.value.isOver }
            guard actions[action.uuid] == nil else { return false }
            actions[action.uuid] = action
            action.hold(by: self, isRequested: isRequested)
            return true
        }
    }

    private func release(_ action: ConversationAction) {
        lock.withLock { actions[action.uuid] = nil }
        action.release()
    }

    /// A start that failed is seen by no observer: looks whether the call is still there, in its turn.
    func review(_ uuid: UUID) {
        let system = provider.callSystem
        system.host.run(on: .main) { [weak self] in
            guard let self, let conversation = conversation(uuid), system.call(uuid) == nil else { return }
            leave(conversation)
        }
    }

    func leave(_ conversation: Conversation) {
        let now = date
        conversation.settle(.left, at: now)
        guard remove(conversation) else { return }
        if configuration.includesConversationInRecents, let entry = conversation.entry(at: now) {
            ConversationHistoryManager.of(provider.callSystem).add(entry)
        }
        tell(conversation)
    }

    /// Tells the delegate where the state is another than it was told last.
    func tell(_ conversation: Conversation) {
        if conversation.hasNews() { delegate?.conversationManager(self, conversationChanged: conversation) }
    }
}
