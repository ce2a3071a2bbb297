import CallKit
import Foundation
import Primitives
import Testing

/// Random wishes, reports and delegates, in virtual time. A seed replays.
@Suite struct RandomTests {
    /// Does everything that an app may do, at any moment, also inside callbacks.
    final class Chaos: NSObject, CXProviderDelegate {
        var random: SeededRandom
        let host = InlineHost()
        let system: CallSystem
        let provider: CXProvider
        let controller: CXCallController
        /// Actions that the delegate has not completed yet.
        var stash: [CXAction] = []
        var calls: [UUID] = []
        var transactions = 0
        var isCalm = false

        init(seed: UInt64) {
            random = SeededRandom(seed: seed)
            var configuration = CallSystemConfiguration()
            configuration.audioScope = Bool.random(using: &random) ? .perSystem : .perGroup
            configuration.activation = Bool.random(using: &random) ? .afterStarted : .afterConnected
            configuration.holdsAutomatically = Bool.random(using: &random)
            configuration.ringTimeout = Bool.random(using: &random) ? .seconds(20) : nil
            configuration.isCalledByOneAtATime = seed.isMultiple(of: 2)
            system = CallSystem(configuration: configuration, host: host)
            provider = CXProvider(
                configuration: .limited(.random(in: 2...8, using: &random), .random(in: 2...4, using: &random)), system: system)
            controller = CXCallController(system: system)
            super.init()
            provider.setDelegate(self, queue: nil)
        }

        func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &random) < percent }
        func newCall() -> UUID {
            let (high, low) = (random.next(), random.next())
            var bytes = (high, low)
            let call = withUnsafeBytes(of: &bytes) { UUID(uuid: $0.load(as: uuid_t.self)) }
            calls.append(call)
            if calls.count > 12 { calls.removeFirst() }
            return call
        }
        /// Mostly one that lives.
        func anyCall() -> UUID {
            let live = chance(90) ? system.calls.randomElement(using: &random)?.uuid : nil
            return live ?? calls.randomElement(using: &random) ?? newCall()
        }

        /// One that never was, or one that is there already: no UUID is used again after its call has ended.
        func freshCall() -> UUID { chance(10) ? system.calls.randomElement(using: &random)?.uuid ?? newCall() : newCall() }

        func anyAction() -> CXAction {
            let ringing = system.calls.filter { !$0.isOutgoing && !$0.hasConnected }.randomElement(using: &random)?.uuid
            return switch Int.random(in: 0..<20, using: &random) {
            case 0..<5: CXStartCallAction(call: freshCall(), handle: .bob)
            case 5..<9: CXAnswerCallAction(call: chance(80) ? ringing ?? anyCall() : anyCall())
            case 9..<11: CXEndCallAction(call: anyCall())
            case 11..<15: CXSetHeldCallAction(call: anyCall(), onHold: chance(50))
            case 15: CXSetMutedCallAction(call: anyCall(), muted: chance(50))
            case 16..<19: CXSetGroupCallAction(call: anyCall(), callUUIDToGroupWith: chance(70) ? anyCall() : nil)
            default: CXPlayDTMFCallAction(call: anyCall(), digits: "5", type: .singleTone)
            }
        }

        func request() {
            transactions += 1
            let actions = (0..<Int.random(in: chance(3) ? 0...0 : chance(60) ? 1...1 : 2...3, using: &random)).map { _ in anyAction() }
            controller.hookswitchRequest(CXTransaction(actions: actions)) { [self] _ in if chance(3) { step() } }
        }

        func report() {
            switch Int.random(in: 0..<8, using: &random) {
            case 0..<3:
                provider.hookswitchReport(freshCall(), update: CXCallUpdate()) { [self] _ in
                    if chance(3) { step() }
                }
            case 3: provider.reportOutgoingCall(with: anyCall(), startedConnectingAt: nil)
            case 4, 5: provider.reportOutgoingCall(with: anyCall(), connectedAt: nil)
            case 6: provider.reportCall(with: anyCall(), endedAt: nil, reason: .remoteEnded)
            default: provider.reportCall(with: anyCall(), updated: CXCallUpdate())
            }
        }

        func step() {
            switch Int.random(in: 0..<100, using: &random) {
            case 0..<50: request()
            case 50..<80: report()
            case 80..<90: if let action = stash.popLast() { chance(80) ? action.fulfill() : action.fail() }
            case 90..<99: system.advance(to: host.now + .milliseconds(Int64.random(in: 0...4_000, using: &random)))
            default: if chance(10) { system.reset() }
            }
        }

        func perform(_ action: CXAction) {
            if isCalm { return action.fulfill() }
            if chance(10) { step() }
            switch Int.random(in: 0..<10, using: &random) {
            case 0..<6: action.fulfill()
            case 6: action.fail()
            case 7: break
            default: stash.append(action)
            }
            if chance(10) { step() }
        }

        func providerDidReset(_ provider: CXProvider) { if !isCalm, chance(20) { step() } }
        func provider(_ provider: CXProvider, execute transaction: CXTransaction) -> Bool {
            guard !isCalm, chance(5) else { return false }
            transaction.actions.forEach(perform)
            return true
        }
        func provider(_ provider: CXProvider, perform action: CXStartCallAction) { perform(action) }
        func provider(_ provider: CXProvider, perform action: CXAnswerCallAction) { perform(action) }
        func provider(_ provider: CXProvider, perform action: CXEndCallAction) { perform(action) }
        func provider(_ provider: CXProvider, perform action: CXSetHeldCallAction) { perform(action) }
        func provider(_ provider: CXProvider, perform action: CXSetMutedCallAction) { perform(action) }
        func provider(_ provider: CXProvider, perform action: CXSetGroupCallAction) { perform(action) }
        func provider(_ provider: CXProvider, perform action: CXPlayDTMFCallAction) { perform(action) }
        func provider(_ provider: CXProvider, timedOutPerforming action: CXAction) { action.fail() }
        func provider(_ provider: CXProvider, didActivate audioSession: AVAudioSession) { if !isCalm, chance(10) { step() } }
        func provider(_ provider: CXProvider, didDeactivate audioSession: AVAudioSession) { if !isCalm, chance(10) { step() } }

        /// The user hangs up on everything.
        func calmDown() {
            isCalm = true
            for call in system.calls { controller.request(CXTransaction(action: CXEndCallAction(call: call.uuid))) { _ in } }
            while let deadline = system.deadline { system.advance(to: max(deadline, host.now)) }
            for call in system.calls { provider.reportCall(with: call.uuid, endedAt: nil, reason: .failed) }
        }
    }

    /// Five hundred transactions each.
    @Test(arguments: 1...20 as ClosedRange<UInt64>)
    func `no random app breaks a rule or leaves anything behind`(seed: UInt64) {
        let chaos = Chaos(seed: seed)
        let keeper = RuleKeeper(chaos.system.configuration.activation)
        chaos.system.journal = keeper
        while chaos.transactions < 500 { chaos.step() }
        chaos.calmDown()
        #expect(keeper.violations == [])
        #expect(keeper.leftovers == 0)
        #expect(chaos.system.counts == .idle)
        #expect(chaos.provider.pendingTransactions == [])
        for kind in ["refused", "accepted", "performed", "fulfilled", "failed", "voided", "timedOut", "ended", "activated"] {
            #expect(keeper.seen[kind, default: 0] > 5, "too few \(kind) to tell anything: \(keeper.seen)")
        }
    }

    @Test func `the same seed gives the same story`() {
        func story() -> [CallSnapshot] {
            let chaos = Chaos(seed: 42)
            while chaos.transactions < 200 { chaos.step() }
            return chaos.system.calls
        }
        let first = story()
        #expect(!first.isEmpty)
        #expect(first == story())
    }
}
