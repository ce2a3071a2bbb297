import CallKit
import Foundation
import Testing

/// On an `InlineHost` callbacks come one after the other, never inside one another.
@Suite struct ReentrancyTests {
    final class Nosy: NSObject, CXProviderDelegate {
        var depth = 0
        var log: [String] = []
        var during: (String) -> Void = { _ in }

        private func enter(_ name: String) {
            depth += 1
            log.append("\(depth) \(name)")
            during(name)
            depth -= 1
        }

        func providerDidBegin(_ provider: CXProvider) { enter("begin") }
        func providerDidReset(_ provider: CXProvider) { enter("reset") }
        func provider(_ provider: CXProvider, perform action: CXAnswerCallAction) {
            enter("answer")
            action.fulfill()
        }
        func provider(_ provider: CXProvider, perform action: CXEndCallAction) {
            enter("end")
            action.fulfill()
        }
        func provider(_ provider: CXProvider, perform action: CXSetMutedCallAction) {
            enter("mute")
            action.fulfill()
        }
        func provider(_ provider: CXProvider, didActivate audioSession: AVAudioSession) { enter("activate") }
        func provider(_ provider: CXProvider, didDeactivate audioSession: AVAudioSession) { enter("deactivate") }
    }

    /// With a lock, or as a line has it.
    private func rig(_ isOneAtATime: Bool, groups: Int = 2) -> Rig {
        var configuration = CallSystemConfiguration()
        configuration.isCalledByOneAtATime = isOneAtATime
        return Rig(configuration, groups: groups)
    }

    @Test(arguments: [false, true]) func `what a callback causes is told after it returned`(isOneAtATime: Bool) {
        let (rig, nosy) = (self.rig(isOneAtATime), Nosy())
        rig.provider.setDelegate(nosy, queue: nil)
        nosy.during = { name in
            switch name {
            case "answer":
                rig.controller.hookswitchRequest(CXTransaction(action: .mute("A"))) { _ in nosy.log.append("\(nosy.depth) accepted") }
            case "activate": rig.controller.request(CXTransaction(action: .end("A"))) { _ in }
            case "mute":
                rig.provider.hookswitchReport(.call("B"), update: CXCallUpdate()) { _ in
                    nosy.log.append("\(nosy.depth) incoming")
                }
            default: break
            }
        }
        rig.ring("A")
        rig.request(.answer("A"))
        #expect(nosy.log == ["1 answer", "0 accepted", "1 activate", "1 mute", "0 incoming", "1 end", "1 deactivate"])
    }

    @Test func `the journal is written before the input returns, wherever that is`() {
        let rig = Rig()
        rig.ring("A")
        var seen: [String] = []
        rig.delegate.act = { action in
            action.fulfill()
            rig.end("A")
            seen = rig.log.takeJournal()
        }
        rig.log.clear()
        rig.request(.answer("A"))
        #expect(
            seen == [
                "requested answer A", "accepted answer A", "perform answer A", "fulfilled answer A", "reported ended A remoteEnded",
                "ended A remoteEnded",
            ])
    }

    @Test func `a call that ended before its action could be performed is not asked about`() {
        let rig = Rig()
        rig.connect("A")
        rig.delegate.act = { action in
            action.fulfill()
            guard action is CXSetMutedCallAction else { return }
            rig.request(.hold("A"))
            rig.end("A")
        }
        rig.log.clear()
        rig.request(.mute("A"))
        #expect(!rig.log.takeCallbacks().contains("perform hold A"))
        #expect(rig.system.counts == .idle)
    }

    @Test(arguments: [false, true]) func `a completion and a filter may hold the last reference to a provider`(isOneAtATime: Bool) {
        let rig = self.rig(isOneAtATime)
        weak var weakProvider: CXProvider?
        do {
            let provider = CXProvider(configuration: .limited(2, 5), system: rig.system)
            weakProvider = provider
            provider.reportNewIncomingCall(with: .call("A"), update: CXCallUpdate()) { _ in _ = provider }
        }
        #expect(weakProvider == nil)
        do {
            let provider = CXProvider(configuration: .limited(2, 5), system: rig.system)
            weakProvider = provider
            rig.system.filter = { _, _ in provider.pendingTransactions.isEmpty ? nil : .unknown }
        }
        #expect(weakProvider != nil)
        rig.system.filter = nil
        #expect(weakProvider == nil)
        #expect(rig.system.counts == .idle)
    }

    /// Only the delivery owns what the completion holds by then: it must not be let go while the system holds its lock.
    @Test(arguments: [false, true]) func `a completion that waits for the end of a callback may hold the last reference to a provider`(
        isOneAtATime: Bool
    ) {
        let rig = self.rig(isOneAtATime, groups: 3)
        let nosy = Nosy()
        rig.provider.setDelegate(nosy, queue: nil)
        weak var weakProvider: CXProvider?
        rig.ring("A")
        nosy.during = { name in
            guard name == "answer" else { return }
            let provider = CXProvider(configuration: .limited(2, 5), system: rig.system)
            weakProvider = provider
            provider.reportNewIncomingCall(with: .call("B"), update: CXCallUpdate()) { _ in _ = provider }
        }
        rig.request(.answer("A"))
        #expect(nosy.log.contains("1 answer"))
        #expect(weakProvider == nil)
        #expect(rig.system.calls.count == 1)
    }

    final class KeepingAction: CXSetHeldCallAction, @unchecked Sendable {
        var kept: (provider: CXProvider, controller: CXCallController)?
    }

    /// Only the system has the action by then: it must not be let go while the system holds its lock.
    @Test(arguments: [false, true])
    func `an action that is never handed over may hold the last reference to a provider and a controller`(isOneAtATime: Bool) {
        let rig = self.rig(isOneAtATime)
        weak var weakProvider: CXProvider?
        weak var weakController: CXCallController?
        rig.connect("A")
        rig.delegate.act = { action in
            action.fulfill()
            do {
                let kept = (CXProvider(configuration: .limited(2, 5), system: rig.system), CXCallController(system: rig.system))
                let keeping = KeepingAction(call: .call("A"), onHold: true)
                (weakProvider, weakController, keeping.kept) = (kept.0, kept.1, kept)
                rig.request(keeping)
            }
            #expect(weakProvider != nil)
            rig.end("A")
        }
        rig.request(.mute("A"))
        #expect(weakProvider == nil)
        #expect(weakController == nil)
        #expect(rig.system.counts == .idle)
    }

    @Test(arguments: [false, true]) func `a provider that is let go inside a callback takes its calls with it`(isOneAtATime: Bool) {
        let rig = self.rig(isOneAtATime)
        let nosy = Nosy()
        var other: CXProvider? = CXProvider(configuration: .limited(2, 5), system: rig.system)
        other?.setDelegate(nosy, queue: nil)
        other?.reportNewIncomingCall(with: .call("A"), update: CXCallUpdate()) { _ in }
        nosy.during = { name in if name == "answer" { other = nil } }
        rig.request(.answer("A"))
        #expect(other == nil)
        #expect(rig.calls == "")
        #expect(rig.system.counts == .idle)
    }
}

@Suite struct ResetTests {
    @Test func `invalidate ends all calls in failure, then resets the delegate, for good`() {
        let rig = Rig(groups: 3)
        rig.connect("A")
        rig.ring("B")
        rig.delegate.act = { _ in }
        rig.request(.mute("A"))
        rig.log.clear()
        rig.provider.invalidate()
        #expect(
            rig.log.take() == [
                "invalidated", "voided mute A", "ended A reset", "ended B reset", "→ reset", "deactivated A", "→ deactivate A",
            ])
        rig.provider.invalidate()
        rig.runOut()
        #expect(rig.log.take() == [])
        #expect(rig.provider.pendingTransactions == [])
    }

    /// R17: nothing is performed for calls of before.
    @Test func `a reset ends all calls, and the provider begins anew`() {
        let rig = Rig()
        rig.ring("A")
        rig.delegate.act = { _ in rig.system.reset() }
        rig.log.clear()
        rig.request(.answer("A"), .mute("A"))
        #expect(
            rig.log.take() == [
                "requested answer A, mute A", "accepted answer A, mute A", "→ answer ok", "perform answer A", "→ perform answer A",
                "reset", "voided answer A", "voided mute A", "ended A reset", "began", "→ reset", "→ begin",
            ])
        rig.ring("B")
        #expect(rig.calls == "B")
        #expect(rig.refusal(.mute("A")) == 4)
    }

    @Test func `a provider begins once, when it gets a delegate`() {
        let rig = Rig()
        let provider = CXProvider(configuration: .limited(1, 1), system: rig.system)
        rig.log.clear()
        provider.setDelegate(rig.delegate, queue: nil)
        provider.setDelegate(rig.delegate, queue: nil)
        #expect(rig.log.take() == ["began", "→ begin"])
    }

    @Test func `a provider is not kept by its system`() {
        let rig = Rig()
        weak var provider: CXProvider?
        do {
            let other = CXProvider(configuration: .limited(2, 5), system: rig.system)
            provider = other
            other.reportNewIncomingCall(with: .call("B"), update: CXCallUpdate()) { _ in }
            #expect(rig.calls == "B")
        }
        #expect(provider == nil)
        #expect(rig.system.counts == .idle)
    }
}
