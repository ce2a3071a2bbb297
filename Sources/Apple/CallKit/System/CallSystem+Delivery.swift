import AVFoundation
import Foundation
import Primitives

// Deliveries of the system to the outside: never while it holds its lock, always in the order of the state's outputs.

extension CallSystem {
    /// Writes the journal, then hands every delivery that is due to its queue. When another call into the system is handing over
    /// already, further up this stack or on another thread, it goes on with what this one left.
    func settle() {
        writeJournal()
        var batch: [Delivery] = []
        var (isMore, deadline) = core.withLock { core -> (Bool, Instant??) in
            core.deliveries.beginEmptying(&batch) ? (true, nil) : (false, core.movedDeadline())
        }
        while isMore {
            while let delivery = batch.popLast() { hand(over: delivery) }
            (isMore, deadline) = core.withLock { core in
                core.deliveries.next(&batch) ? (true, nil) : (false, core.movedDeadline())
            }
        }
        if let deadline { host.deadlineMoved(to: deadline, of: self) }
    }

    /// Returns when the journal knows of all that this thread has caused: where another thread is writing, that one is waited for.
    private func writeJournal() {
        // A journal that calls in is told the rest when it has returned.
        guard core.withLock({ !$0.state.events.isIdle && !$0.state.events.isBeingEmptiedHere }) else { return }
        // Let go outside of the lock: a journal may hold the last reference to a provider.
        telling.withLock { _ in tellJournal() }?.callSystemHasTold(self)
    }

    /// - Returns: who heard the last of it; where another thread told all, who hears what comes.
    private func tellJournal() -> (any CallSystemJournal)? {
        var batch: [(event: CallSystemEvent, time: Instant)] = []
        var (isMore, journal) = core.withLock { ($0.state.events.beginEmptying(&batch), $0.journal) }
        while isMore {
            while let (event, time) = batch.popLast() { journal?.callSystem(self, did: event, at: time) }
            let next = core.withLock { $0.state.events.next(&batch) ? $0.journal : nil }
            isMore = !batch.isEmpty
            if isMore { journal = next }
        }
        return journal
    }

    func provider(_ number: ProviderNumber) -> CXProvider? {
        core.withLock { $0.providers[number]?.object }
    }

    private func hand(over delivery: Delivery) {
        switch delivery {
        case .completion(let completion, let error, let queue): host.run(on: queue) { completion(error) }
        case .incomingCompletion(let completion, let error, let number):
            let queue = provider(number)?.queue.map(CallbackQueue.given) ?? .private
            host.run(on: queue) { completion(error) }
        case .changed(let call): tellObservers(of: call)
        case .begin(let number), .reset(let number), .execute(_, let number), .perform(_, let number), .timedOut(_, let number),
            .extended(_, _, let number):
            tell(number, delivery)
        case .audio(let name): tell(name.provider, delivery)
        case .release: break
        }
    }

    /// Runs a delivery on the queue of the provider's delegate. Nobody to tell: an audio session changes all the same.
    private func tell(_ number: ProviderNumber, _ delivery: Delivery) {
        guard let provider = provider(number) else {
            if case .audio(let name) = delivery { activate(name, of: nil) }
            return
        }
        host.run(on: provider.queue.map(CallbackQueue.given) ?? .main) { self.carryOut(delivery, on: provider) }
    }

    private func carryOut(_ delivery: Delivery, on provider: CXProvider) {
        if case .audio(let name) = delivery { return activate(name, of: provider) }
        let delegate = provider.delegate
        switch delivery {
        case .begin: delegate?.providerDidBegin(provider)
        case .reset: delegate?.providerDidReset(provider)
        case .timedOut(let action, _): delegate?.provider(provider, timedOutPerforming: action)
        case .extended(let call, let event, _): (delegate as? any CallExtensionDelegate)?.provider(provider, call: call, did: event)
        case .execute(let uuid, _): if !execute(uuid, on: provider, delegate) { startNext(of: provider) }
        case .perform(let uuid, _): if !perform(uuid, on: provider, delegate) { startNext(of: provider) }
        case .audio, .changed, .completion, .incomingCompletion, .release: break
        }
    }

    // MARK: Transactions

    /// False when there is nothing to perform: no delegate, void, or the delegate deals with the whole.
    private func execute(_ uuid: UUID, on provider: CXProvider, _ delegate: (any CXProviderDelegate)?) -> Bool {
        guard let delegate, let transaction = offer(uuid) else { return false }
        writeJournal()
        guard delegate.provider(provider, execute: transaction) else { return perform(uuid, on: provider, delegate) }
        submit { $0.state.note(.transactionHandled(uuid)) }
        return false
    }

    private func offer(_ uuid: UUID) -> CXTransaction? {
        core.withLock { core in
            guard let transaction = core.transactions[uuid] else { return nil }
            core.state.now = host.now
            core.state.note(.transactionOffered(uuid))
            return transaction
        }
    }

    /// Has one action performed; the next one is due when the delegate has returned. False when there was none left.
    private func perform(_ uuid: UUID, on provider: CXProvider, _ delegate: (any CXProviderDelegate)?) -> Bool {
        guard let delegate else { return false }
        let action = core.withLock { core -> CXAction? in
            core.state.now = host.now
            return core.state.performNext(of: uuid).flatMap { core.actions[$0] }
        }
        guard let action else { return false }
        writeJournal()
        perform(action, on: provider, delegate)
        core.withLock { $0.deliveries.append(.perform(uuid, provider.number)) }
        settle()
        return true
    }

    private func startNext(of provider: CXProvider) {
        core.withLock { $0.performNextInLine(provider.number) }
        settle()
    }

    private func perform(_ action: CXAction, on provider: CXProvider, _ delegate: any CXProviderDelegate) {
        switch action {
        case let action as CXStartCallAction: delegate.provider(provider, perform: action)
        case let action as CXAnswerCallAction: delegate.provider(provider, perform: action)
        case let action as CXEndCallAction: delegate.provider(provider, perform: action)
        case let action as CXSetHeldCallAction: delegate.provider(provider, perform: action)
        case let action as CXSetMutedCallAction: delegate.provider(provider, perform: action)
        case let action as CXSetGroupCallAction: delegate.provider(provider, perform: action)
        case let action as CXPlayDTMFCallAction: delegate.provider(provider, perform: action)
        case let action as CXSetTranslatingCallAction: delegate.provider(provider, perform: action)
        default: noteUnimplemented(action.uuid)
        }
    }

    // MARK: Audio and observers

    private func activate(_ name: AudioSessionName, of provider: CXProvider?) {
        let settled = core.withLock { core -> (AudioActivation.Change, CallAudioSession)? in
            core.state.now = host.now
            guard let change = core.state.settleAudio(name) else { return nil }
            let session = core.sessions[name] ?? CallAudioSession(name: name)
            switch change {
            case .activated(let calls), .admitted(let calls):
                session.calls = calls
                core.sessions[name] = session
            case .deactivated(let last):
                session.calls = [last]
                core.sessions[name] = nil
            }
            return (change, session)
        }
        guard let (change, session) = settled else { return }
        writeJournal()
        guard let provider else { return }
        guard session.isShared else { return tell(change, session, provider) }
        CallAudioSession.$current.withValue(session) { tell(change, .sharedInstance(), provider) }
    }

    private func tell(_ change: AudioActivation.Change, _ session: AVAudioSession, _ provider: CXProvider) {
        switch change {
        case .activated: provider.delegate?.provider(provider, didActivate: session)
        case .admitted(let calls): provider.audioDelegate?.provider(provider, didAdmit: calls, to: session)
        case .deactivated: provider.delegate?.provider(provider, didDeactivate: session)
        }
    }

    private func tellObservers(of call: CXCall) {
        let observers = core.withLock { $0.observers.values.compactMap(\.object) }
        for observer in observers {
            let wiring = observer.current
            guard wiring.delegate != nil else { continue }
            host.run(on: wiring.queue.map(CallbackQueue.given) ?? .main) {
                observer.current.delegate?.callObserver(observer, callChanged: call)
            }
        }
    }
}
