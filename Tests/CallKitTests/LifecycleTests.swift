import CallKit
import Foundation
import Primitives
import Testing

@Suite struct LifecycleTests {
    @Test func `an incoming call, answered and ended by the user, in the order of the contract`() {
        let rig = Rig()
        rig.ring("A")
        #expect(rig.log.take() == ["incoming A", "admitted A", "→ incoming A ok"])
        rig.request(.answer("A"))
        #expect(
            rig.log.take() == [
                "requested answer A", "accepted answer A", "→ answer ok", "perform answer A", "→ perform answer A",
                "fulfilled answer A", "activated A", "→ activate A",
            ])
        rig.request(.end("A"))
        #expect(
            rig.log.take() == [
                "requested end A", "accepted end A", "→ answer ok", "perform end A", "→ perform end A", "fulfilled end A",
                "ended A action", "deactivated A", "→ deactivate A",
            ])
        #expect(rig.system.counts == .idle)
    }

    @Test func `an outgoing call, answered and ended by the remote party, in the order of the contract`() {
        let rig = Rig(.line)
        rig.request(.start("A"))
        rig.provider.reportOutgoingCall(with: .call("A"), startedConnectingAt: nil)
        #expect(
            rig.log.take() == [
                "requested start A", "accepted start A", "→ answer ok", "perform start A", "→ perform start A",
                "fulfilled start A", "connecting A",
            ])
        rig.provider.reportOutgoingCall(with: .call("A"), connectedAt: nil)
        #expect(rig.log.take() == ["connected A", "activated A", "→ activate A"])
        rig.end("A")
        #expect(rig.log.take() == ["reported ended A remoteEnded", "ended A remoteEnded", "deactivated A", "→ deactivate A"])
        #expect(rig.system.counts == .idle)
    }

    /// R10, R7: once is once, and the end is the end.
    @Test func `reports count once, and not at all for unknown, incoming or ended calls`() {
        let rig = Rig(.line)
        rig.request(.start("A"))
        rig.connect("B")
        rig.log.clear()
        for _ in 0..<2 {
            rig.provider.reportOutgoingCall(with: .call("A"), startedConnectingAt: nil)
            rig.provider.reportOutgoingCall(with: .call("A"), connectedAt: nil)
        }
        #expect(rig.log.takeJournal() == ["connecting A", "connected A", "activated A"])
        rig.end("A")
        rig.log.clear()
        for call: Character in ["A", "B", "X"] {
            rig.provider.reportOutgoingCall(with: .call(call), startedConnectingAt: nil)
            rig.provider.reportOutgoingCall(with: .call(call), connectedAt: nil)
        }
        rig.end("A")
        rig.end("X")
        rig.provider.reportCall(with: .call("A"), updated: CXCallUpdate())
        #expect(rig.log.take() == [])
    }

    @Test func `a provider reports on its own calls only, and the host on all`() {
        let rig = Rig(.line)
        rig.request(.start("A"))
        let other = CXProvider(configuration: .limited(2, 5), system: rig.system)
        let update = CXCallUpdate()
        update.supportsHolding = false
        rig.log.clear()
        for _ in 0..<2 {
            other.reportOutgoingCall(with: .call("A"), startedConnectingAt: nil)
            other.reportOutgoingCall(with: .call("A"), connectedAt: nil)
            other.reportCall(with: .call("A"), updated: update)
            other.reportCall(with: .call("A"), endedAt: nil, reason: .failed)
            other.invalidate()
        }
        #expect(rig.log.take() == ["invalidated"])
        #expect(rig.refusal(.hold("A")) == nil)
        rig.log.clear()
        rig.system.reportConnected(.call("A"))
        rig.system.reportEnded(.call("A"), reason: .failed)
        #expect(rig.log.takeJournal() == ["connected A", "reported ended A failed", "ended A failed"])
    }

    @Test func `an update changes what it sets and nothing else`() {
        let rig = Rig()
        let first = CXCallUpdate()
        first.remoteHandle = .bob
        first.localizedCallerName = "Bob"
        rig.ring("A", update: first)
        let second = CXCallUpdate()
        second.localizedCallerName = nil
        second.supportsDTMF = false
        rig.provider.reportCall(with: .call("A"), updated: second)
        #expect(rig.call("A")?.handle == .bob)
        #expect(rig.call("A")?.localizedCallerName == nil)
        #expect(rig.refusal(.tones("A")) == 6)
        #expect(rig.refusal(.hold("A")) == nil)
    }

    /// Behaviour §4.6: what a fulfilled action does, and what a failed one does not.
    @Test(arguments: [true, false])
    func `flags follow fulfilled actions only`(fulfilled: Bool) {
        let rig = Rig()
        rig.connect("A")
        rig.delegate.act = { fulfilled ? $0.fulfill() : $0.fail() }
        rig.request(.hold("A"), .mute("A"))
        #expect(rig.call("A")?.isOnHold == fulfilled)
        #expect(rig.call("A")?.isMuted == fulfilled)
        rig.request(.end("A"))
        #expect((rig.call("A") == nil) == fulfilled)
    }

    @Test func `a failed start or answer ends the call, and so does nothing else`() {
        let rig = Rig()
        rig.ring("A")
        rig.delegate.act = { $0.fail() }
        rig.request(.start("B"))
        rig.log.clear()
        rig.request(.end("A"))
        #expect(rig.calls == "A")
        rig.log.clear()
        rig.request(.answer("A"))
        #expect(
            rig.log.take() == [
                "requested answer A", "accepted answer A", "→ answer ok", "perform answer A", "→ perform answer A",
                "failed answer A", "ended A answerFailed",
            ])
        rig.request(.start("B"))
        #expect(rig.log.take().suffix(2) == ["failed start B", "ended B startFailed"])
        #expect(rig.system.counts == .idle)
    }

    /// R5: exactly one of fulfil, fail, timeout.
    @Test func `an action is completed once`() {
        let rig = Rig()
        rig.connect("A")
        let hold = CXAction.hold("A")
        rig.delegate.act = {
            $0.fulfill()
            $0.fail()
            $0.fulfill()
        }
        rig.log.clear()
        rig.request(hold)
        hold.fail()
        #expect(hold.isComplete)
        #expect(rig.log.takeJournal().filter { $0.hasSuffix("hold A") }.suffix(2) == ["perform hold A", "fulfilled hold A"])
        #expect(rig.call("A")?.isOnHold == true)
    }

    @Test func `a copy of an action is refused while the action is under way, and beside it`() throws {
        let rig = Rig(), hold = CXAction.hold("A"), copy = try #require(hold.copy() as? CXCallAction)
        rig.connect("A")
        rig.delegate.act = { _ in }
        #expect(rig.refusal(hold, copy) == 6)
        #expect(rig.refusal(hold) == nil && rig.refusal(copy) == 6)
        #expect(rig.log.takeJournal().count { $0 == "perform hold A" } == 1)
        hold.fulfill()
        #expect(rig.provider.pendingTransactions == [] && rig.call("A")?.isOnHold == true)
        #expect(rig.refusal(copy) == nil)
        copy.fulfill()
        #expect(rig.provider.pendingTransactions == [] && copy.isComplete)
    }

    @Test func `completing an action that no system holds does nothing`() {
        let action = CXAction.end("A")
        action.fulfill()
        action.fail()
        #expect(!action.isComplete)
    }

    /// R4: accepted before performed, in list order, without waiting for the one before.
    @Test func `the actions of a transaction are performed in list order, and none waits for the one before`() {
        let rig = Rig()
        rig.connect("A")
        rig.delegate.act = { _ in }
        rig.log.clear()
        rig.request(.mute("A"), .hold("A"), .tones("A"))
        #expect(rig.log.takeCallbacks() == ["answer ok", "perform mute A", "perform hold A", "perform tones A"])
        #expect(rig.provider.pendingTransactions.map { $0.actions.map(text) } == [["mute A", "hold A", "tones A"]])
        let holds = rig.provider.pendingCallActions(of: CXSetHeldCallAction.self, withCall: .call("A"))
        #expect(holds.map(text) == ["hold A"])
        holds.first?.fulfill()
        #expect(rig.call("A")?.isOnHold == true)
        #expect(rig.provider.pendingCallActions(of: CXCallAction.self, withCall: .call("A")).count == 3)
        for action in rig.provider.pendingTransactions[0].actions { action.fulfill() }
        #expect(rig.provider.pendingTransactions == [])
    }

    @Test func `one failed action does not stop the others`() {
        let rig = Rig()
        rig.connect("A")
        rig.delegate.act = { $0 is CXSetMutedCallAction ? $0.fail() : $0.fulfill() }
        rig.request(.mute("A"), .hold("A"))
        #expect(rig.call("A")?.isMuted == false)
        #expect(rig.call("A")?.isOnHold == true)
    }

    @Test func `a delegate that executes a transaction is not asked to perform it`() {
        let rig = Rig()
        rig.connect("A")
        rig.delegate.takesTransactions = true
        rig.log.clear()
        rig.request(.mute("A"), .hold("A"))
        #expect(
            rig.log.take() == [
                "requested mute A, hold A", "accepted mute A, hold A", "→ answer ok", "→ execute 2", "handled",
            ])
        for action in rig.provider.pendingTransactions[0].actions { action.fulfill() }
        #expect(rig.call("A")?.isMuted == true)
        #expect(rig.call("A")?.isOnHold == true)
    }

    @Test func `a transaction is what it was when it was requested`() {
        let rig = Rig()
        rig.connect("A")
        rig.delegate.act = { _ in }
        let transaction = CXTransaction(action: .mute("A"))
        rig.controller.request(transaction) { _ in }
        transaction.addAction(.hold("A"))
        #expect(rig.provider.pendingTransactions[0].actions.map(text) == ["mute A"])
        #expect(rig.provider.pendingTransactions[0].uuid == transaction.uuid)
    }

    /// R9: an end from outside voids what is outstanding, silently; nothing of it is performed afterwards.
    @Test func `a reported end makes outstanding actions void without a word`() {
        let rig = Rig()
        rig.ring("A")
        let answer = CXAction.answer("A")
        rig.delegate.act = { _ in rig.end("A") }
        rig.log.clear()
        rig.request(answer, .end("A"))
        #expect(
            rig.log.take() == [
                "requested answer A, end A", "accepted answer A, end A", "→ answer ok", "perform answer A", "→ perform answer A",
                "reported ended A remoteEnded", "voided answer A", "voided end A",
                "ended A remoteEnded",
            ])
        #expect(answer.isComplete)
        answer.fulfill()
        rig.runOut()
        #expect(rig.log.take() == [])
        #expect(rig.system.counts == .idle)
    }

    @Test func `an end voids the other actions of its own transaction`() {
        let rig = Rig()
        rig.connect("A")
        rig.log.clear()
        rig.request(.end("A"), .hold("A"))
        #expect(rig.log.takeJournal().suffix(4) == ["fulfilled end A", "voided hold A", "ended A action", "deactivated A"])
    }
}

@Suite struct ObserverTests {
    final class Watcher: NSObject, CXCallObserverDelegate {
        var changes: [String] = []
        func callObserver(_ callObserver: CXCallObserver, callChanged call: CXCall) {
            let flags = [
                call.isOutgoing ? "outgoing" : "incoming", call.hasConnected ? "connected" : nil, call.isOnHold ? "held" : nil,
                call.hasEnded ? "ended" : nil,
            ]
            changes.append("\(Character(call.uuid)) \(flags.compactMap(\.self).joined(separator: " "))")
        }
    }

    @Test func `an observer sees each call appear, change and end`() {
        let (rig, watcher) = (Rig(), Watcher())
        let observer = CXCallObserver(system: rig.system)
        observer.setDelegate(watcher, queue: nil)
        rig.connect("A")
        rig.request(.hold("A"))
        rig.end("A")
        #expect(
            watcher.changes == ["A incoming", "A incoming connected", "A incoming connected held", "A incoming connected held ended"])
        #expect(observer.calls == [])
    }

    @Test func `an outgoing call appears when its start is fulfilled`() {
        let (rig, watcher) = (Rig(), Watcher())
        rig.controller.callObserver.setDelegate(watcher, queue: nil)
        rig.delegate.act = { _ in }
        let start = CXAction.start("A")
        rig.request(start)
        #expect(rig.controller.callObserver.calls.isEmpty)
        #expect(rig.calls == "A")
        start.fulfill()
        #expect(rig.controller.callObserver.calls.map(\.uuid) == [.call("A")])
        rig.provider.reportOutgoingCall(with: .call("A"), connectedAt: nil)
        rig.end("A")
        #expect(watcher.changes == ["A outgoing", "A outgoing connected", "A outgoing connected ended"])
    }

    @Test func `a call that never started is not seen to end`() {
        let (rig, watcher) = (Rig(), Watcher())
        rig.controller.callObserver.setDelegate(watcher, queue: nil)
        rig.delegate.act = { $0.fail() }
        rig.request(.start("A"))
        #expect(watcher.changes == [])
        #expect(rig.calls == "")
    }

    @Test func `snapshots are equal when call and state are`() {
        let rig = Rig()
        rig.ring("A")
        let ringing = rig.controller.callObserver.calls[0]
        #expect(ringing == rig.controller.callObserver.calls[0])
        #expect(ringing.isEqual(to: rig.controller.callObserver.calls[0]))
        rig.request(.answer("A"))
        #expect(ringing != rig.controller.callObserver.calls[0])
        #expect(!ringing.hasConnected)
    }
}
