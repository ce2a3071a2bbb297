import AVFoundation
import Foundation
import Primitives

// How the system calls out: never while it holds its lock, always in the order of the state's outputs.

extension CallSystem {
    /// Writes the journal, then hands every delivery that is due to its queue. When another call into the system is handing over
    /// already, further up this stack or on another thread, it goes on with what this one left.
    func settle() {
        writeJournal()
        if core.withLock({ $0.deliveries.beginEmptying() }) {
            while let delivery = core.withLock({ $0.deliveries.next() }) { hand(over: delivery) }
        }
        tellDeadline()
    }

    /// Returns when the journal knows of all that this thread has caused: where another thread is writing, that one is waited for.
    private func writeJournal() {
        // A journal that calls in is told the rest when it has returned.
        guard core.withLock({ !$0.events.isIdle && !$0.events.isBeingEmptiedHere }) else { return }
        telling.withLock { _ in tellJournal() }
        journal?.callSystemHasTold(self)
    }

    private func tellJournal() {
        guard core.withLock({ $0.events.beginEmptying() }) else { return }
        while let (event, now) = core.withLock({ $0.events.next() }) { journal?.callSystem(self, did: event, at: now) }
    }

    private func tellDeadline() {
        let moved = core.withLock { core -> Instant?? in
            let deadline = core.state.deadline
            guard deadline != core.toldDeadline else { return nil }
            core.toldDeadline = deadline
            return .some(deadline)
        }
        if let deadline = moved { host.deadlineMoved(to: deadline, of: self) }
    }

    func provider(_ number: ProviderNumber) -> CXProvider? {
        core.withLock { $0.providers[number]?.object }
    }

    private func hand(over delivery: Delivery) {
        switch delivery {
        case .completion(let completion, let error, let queue): host.run(on: queue) { completion(error) }
        case .incomingCompletion(let completion, let error, let number):
            let queue = provider(number)?.current.queue.map(CallbackQueue.given) ?? .private
            host.run(on: queue) { completion(error) }
        case .changed(let call): tellObservers(of: call)
        case .begin(let number), .reset(let number), .execute(_, let number), .perform(_, let number), .timedOut(_, let number),
            .extended(_, _, let number):
            tell(number, delivery)
        case .audio(let name): tell(name.provider, delivery)
        }
    }

    /// Runs a delivery on the queue of the provider's delegate. Nobody to tell: an audio session changes all the same.
    private func tell(_ number: ProviderNumber, _ delivery: Delivery) {
        guard let provider = provider(number) else {
            if case .audio(let name) = delivery { activate(name, of: nil) }
            return
        }
        let queue = provider.current.queue.map(CallbackQueue.given) ?? .main
        host.run(on: queue) { self.carryOut(delivery, on: provider) }
    }

    private func carryOut(_ delivery: Delivery, on provider: CXProvider) {
        let delegate = provider.current.delegate
        switch delivery {
        case .begin: delegate?.providerDidBegin(provider)
        case .reset: delegate?.providerDidReset(provider)
        case .timedOut(let action, _): delegate?.provider(provider, timedOutPerforming: action)
        case .audio(let name): activate(name, of: provider)
        case .extended(let call, let event, _): (delegate as? any CallExtensionDelegate)?.provider(provider, call: call, did: event)
        case .execute(let uuid, _): if !execute(uuid, on: provider, delegate) { startNext(of: provider) }
        case .perform(let uuid, _): if !perform(uuid, on: provider, delegate) { startNext(of: provider) }
        case .changed, .completion, .incomingCompletion: break
        }
    }

    // MARK: Transactions

    /// False when there is nothing to perform: no delegate, void, or the delegate deals with the whole.
    private func execute(_ uuid: UUID, on provider: CXProvider, _ delegate: (any CXProviderDelegate)?) -> Bool {
        guard let delegate, let transaction = offer(uuid) else { return false }
        writeJournal()
        guard delegate.provider(provider, execute: transaction) else { return perform(uuid, on: provider, delegate) }
        submit { _ in [.event(.transactionHandled(uuid))] }
        return false
    }

    private func offer(_ uuid: UUID) -> CXTransaction? {
        core.withLock { core in
            guard let transaction = core.transactions[uuid] else { return nil }
            core.absorb([.event(.transactionOffered(uuid))], at: host.now, system: self, completion: nil)
            return transaction
        }
    }

    /// Has one action performed; the next one is due when the delegate has returned. False when there was none left.
    private func perform(_ uuid: UUID, on provider: CXProvider, _ delegate: (any CXProviderDelegate)?) -> Bool {
        guard let delegate else { return false }
        let action = core.withLock { core -> CXAction? in
            guard let action = core.state.performNext(of: uuid) else { return nil }
            core.absorb([.event(.actionPerformed(action))], at: host.now, system: self, completion: nil)
            return core.actions[action.uuid]
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
            guard let (change, event) = core.state.settleAudio(name) else { return nil }
            let session = core.sessions[name] ?? CallAudioSession(name: name)
            switch change {
            case .activated(let calls), .admitted(let calls):
                session.calls = calls
                core.sessions[name] = session
            case .deactivated(let last):
                session.calls = [last]
                core.sessions[name] = nil
            }
            core.absorb([.event(event)], at: host.now, system: self, completion: nil)
            return (change, session)
        }
        guard let (change, session) = settled else { return }
        writeJournal()
        guard let provider else { return }
        let wiring = provider.current
        guard session.isShared else { return tell(change, of: session, session, provider, wiring) }
        CallAudioSession.$current.withValue(session) { tell(change, of: session, .sharedInstance(), provider, wiring) }
    }

    private func tell(_ change: AudioActivation.Change, of session: CallAudioSession, _ delivered: AVAudioSession, _ provider: CXProvider, _ wiring: CXProvider.Wiring) {
        switch change {
        case .activated: wiring.delegate?.provider(provider, didActivate: delivered)
        case .admitted(let calls): wiring.audioDelegate?.provider(provider, didAdmit: calls, to: delivered)
        case .deactivated: wiring.delegate?.provider(provider, didDeactivate: delivered)
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
