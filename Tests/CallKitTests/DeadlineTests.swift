import CallKit
import Foundation
import Primitives
import Testing

/// In virtual time; the delegate is silent.
@Suite struct DeadlineTests {
    private func silentRig(_ configure: (inout CallSystemConfiguration) -> Void = { _ in }) -> Rig {
        var configuration = CallSystemConfiguration()
        configure(&configuration)
        let rig = Rig(configuration)
        rig.delegate.act = { _ in }
        return rig
    }

    struct Limit: CustomTestStringConvertible, Sendable {
        let name: String
        let action: @Sendable () -> CXAction
        let seconds: Double
        var testDescription: String { name }
    }

    static let limits: [Limit] = [
        Limit(name: "start", action: { .start("B") }, seconds: 600), Limit(name: "answer", action: { .answer("A") }, seconds: 60),
        Limit(name: "end", action: { .end("A") }, seconds: 5), Limit(name: "hold", action: { .hold("A") }, seconds: 5),
        Limit(name: "mute", action: { .mute("A") }, seconds: 5), Limit(name: "leave", action: { .leave("A") }, seconds: 5),
        Limit(name: "tones", action: { .tones("A") }, seconds: 5),
    ]

    @Test(arguments: limits)
    func `an action fails at its deadline, and not a nanosecond before`(limit: Limit) {
        let rig = silentRig { $0.ringTimeout = nil }
        rig.ring("A")
        rig.advance(seconds: 7)
        let action = limit.action()
        rig.request(action)
        #expect(rig.system.deadline == rig.host.now + .seconds(limit.seconds))
        #expect(action.timeoutDate == rig.host.date(at: rig.host.now).addingTimeInterval(limit.seconds))
        rig.log.clear()
        rig.advance(seconds: limit.seconds, nanoseconds: -1)
        #expect(rig.log.take() == [])
        #expect(!action.isComplete)
        rig.advance(seconds: 0, nanoseconds: 1)
        #expect(rig.log.takeJournal().first == "timed out \(text(action))")
        #expect(action.isComplete)
    }

    @Test(arguments: limits)
    func `nothing comes after the timeout`(limit: Limit) {
        let rig = silentRig()
        rig.ring("A")
        let action = limit.action()
        rig.request(action)
        rig.log.clear()
        // As real apps do, against the contract.
        rig.delegate.onTimeout = {
            $0.fulfill()
            $0.fail()
        }
        rig.runOut()
        action.fulfill()
        let mine = rig.log.takeJournal().filter { $0.hasSuffix(text(action)) }
        #expect(mine == ["timed out \(text(action))"])
    }

    @Test func `a completed action has no deadline`() {
        let rig = Rig()
        rig.connect("A")
        rig.request(.hold("A"), .mute("A"), .tones("A"))
        #expect(rig.system.deadline == nil)
    }

    @Test func `an end that is not completed ends the call by force`() {
        let rig = silentRig()
        rig.ring("A")
        rig.request(.end("A"))
        rig.log.clear()
        rig.advance(seconds: 5)
        #expect(rig.log.take() == ["timed out end A", "ended A endTimedOut", "→ timed out end A"])
        #expect(rig.calls == "")
    }

    @Test func `a start that is not completed ends the call as failed`() {
        let rig = silentRig()
        rig.request(.start("A"))
        rig.log.clear()
        rig.advance(seconds: 600)
        #expect(rig.log.take() == ["timed out start A", "ended A startTimedOut", "→ timed out start A"])
    }

    @Test func `an answer that is not completed makes the system ask for the end`() {
        let rig = silentRig()
        rig.ring("A")
        rig.request(.answer("A"))
        rig.log.clear()
        rig.advance(seconds: 60)
        #expect(
            rig.log.take() == [
                "timed out answer A", "system end A answerTimeout", "→ timed out answer A", "perform end A", "→ perform end A",
            ])
        rig.advance(seconds: 5)
        #expect(rig.log.take() == ["timed out end A", "ended A endTimedOut", "→ timed out end A"])
        #expect(rig.system.counts == .idle)
    }

    @Test(arguments: ["hold", "mute", "leave", "tones"])
    func `other timeouts leave the call as it was`(name: String) {
        let rig = silentRig()
        rig.ring("A")
        let before = rig.system.calls
        rig.request(Self.limits.first { $0.name == name }!.action())
        rig.advance(seconds: 5)
        #expect(rig.system.calls == before)
        #expect(rig.system.counts.actions == 0)
    }

    @Test(arguments: [30.0, 60, 90])
    func `a call that rings too long is ended by the system`(seconds: Double) {
        let rig = silentRig { $0.ringTimeout = .seconds(seconds) }
        rig.ring("A")
        rig.log.clear()
        rig.advance(seconds: seconds, nanoseconds: -1)
        #expect(rig.log.take() == [])
        rig.advance(seconds: 0, nanoseconds: 1)
        #expect(rig.log.take() == ["system end A ringTimeout", "perform end A", "→ perform end A"])
    }

    @Test func `without a ring timeout a call rings for ever`() {
        let rig = silentRig { $0.ringTimeout = nil }
        rig.ring("A")
        #expect(rig.system.deadline == nil)
        rig.advance(seconds: 1_000_000)
        #expect(rig.calls == "A")
    }

    @Test func `the ring timeout leaves answered calls and calls being answered alone`() {
        let rig = silentRig()
        rig.ring("A")
        rig.advance(seconds: 30)
        let answer = CXAction.answer("A")
        rig.request(answer)
        rig.advance(seconds: 59)
        answer.fulfill()
        rig.log.clear()
        rig.advance(seconds: 1_000)
        #expect(rig.log.take() == [])
        #expect(rig.calls == "A")
    }

    @Test func `a call whose end failed rings on, and not for ever`() {
        let rig = silentRig()
        rig.ring("A")
        let end = CXAction.end("A")
        rig.request(end)
        end.fail()
        #expect(rig.system.deadline == rig.host.now + .seconds(60))
        rig.advance(seconds: 60)
        #expect(rig.log.takeJournal().suffix(2) == ["system end A ringTimeout", "perform end A"])
    }

    @Test func `an action whose method is left out is not performed and times out`() {
        final class Silent: NSObject, CXProviderDelegate {
            func providerDidReset(_ provider: CXProvider) {}
        }
        let (rig, silent) = (Rig(), Silent())
        rig.provider.setDelegate(silent, queue: nil)
        rig.ring("A")
        rig.log.clear()
        rig.request(.answer("A"))
        #expect(rig.log.takeJournal().suffix(2) == ["perform answer A", "unimplemented answer A"])
        rig.runOut()
        #expect(
            rig.log.takeJournal() == [
                "timed out answer A", "system end A answerTimeout", "perform end A", "unimplemented end A", "timed out end A",
                "ended A endTimedOut",
            ])
    }

    @Test func `without a delegate actions time out unperformed`() {
        let rig = Rig()
        rig.ring("A")
        rig.provider.setDelegate(nil, queue: nil)
        rig.log.clear()
        rig.request(.end("A"))
        rig.runOut()
        #expect(rig.log.takeJournal() == ["requested end A", "accepted end A", "timed out end A", "ended A endTimedOut"])
    }

    @Test func `a call action of an unknown class is not performed and times out`() {
        final class Wave: CXCallAction, @unchecked Sendable {}
        let rig = Rig()
        rig.connect("A")
        rig.log.clear()
        rig.request(Wave(call: .call("A")))
        rig.runOut()
        #expect(rig.log.takeJournal().suffix(2) == ["unimplemented other A", "timed out other A"])
        #expect(rig.calls == "A")
    }

    @Test func `the owner of the thread hears where the deadline moved`() {
        var deadlines: [Instant?] = []
        let host = InlineHost(now: Instant.zero + .seconds(1)) { _, deadline in deadlines.append(deadline) }
        let system = CallSystem(configuration: CallSystemConfiguration(), host: host)
        let provider = CXProvider(configuration: .limited(2, 5), system: system)
        let delegate = Delegate(Log())
        provider.setDelegate(delegate, queue: nil)
        provider.reportNewIncomingCall(with: .call("A"), update: CXCallUpdate()) { _ in }
        CXCallController(system: system).request(CXTransaction(action: .answer("A"))) { _ in }
        #expect(deadlines == [Instant.zero + .seconds(61), nil])
    }

    /// Deadlines run from the creation of an action, where its host can tell when that was.
    @Test func `an action that was made a while ago has less time left`() {
        final class LateHost: CallSystemHost {
            let now = Instant.zero + .seconds(100)
            func date(at instant: Instant) -> Date { Date(timeIntervalSince1970: Double(instant.nanoseconds) / 1e9) }
            func instant(at date: Date) -> Instant { now + .seconds(-3) }
            func run(on queue: CallbackQueue, _ callback: @escaping @Sendable () -> Void) { callback() }
            func deadlineMoved(to deadline: Instant?, of system: CallSystem) {}
        }
        var configuration = CallSystemConfiguration()
        configuration.ringTimeout = nil
        let system = CallSystem(configuration: configuration, host: LateHost())
        let provider = CXProvider(configuration: .limited(2, 5), system: system)
        provider.reportNewIncomingCall(with: .call("A"), update: CXCallUpdate()) { _ in }
        let action = CXAction.mute("A")
        CXCallController(system: system).request(CXTransaction(action: action)) { _ in }
        #expect(system.deadline == Instant.zero + .seconds(102))
        #expect(action.timeoutDate == Date(timeIntervalSince1970: 102))
    }
}
