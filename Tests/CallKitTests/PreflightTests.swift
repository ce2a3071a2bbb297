import CallKit
import Foundation
import Primitives
import Testing

/// What is asked of a telephone with a call A that rings (in a system with room for two groups), and the answer.
struct Row: CustomTestStringConvertible, Sendable {
    let name: String
    let actions: @Sendable () -> [CXAction]
    let code: Int?
    var update: @Sendable (CXCallUpdate) -> Void = { _ in }
    var testDescription: String { name }
}

@Suite struct PreflightTests {
    static let rows: [Row] = [
        Row(name: "nothing", actions: { [] }, code: 3),
        Row(name: "not a call action", actions: { [CXAction()] }, code: 6),
        Row(name: "not a call action, before an unknown call", actions: { [CXAction(), .end("X")] }, code: 6),
        Row(name: "an unknown call, before what is not a call action", actions: { [.end("X"), CXAction()] }, code: 4),
        Row(name: "start of a known call", actions: { [.start("A")] }, code: 5),
        Row(name: "start of the same call twice", actions: { [.start("B"), .start("B")] }, code: 5),
        Row(name: "start within the limit", actions: { [.start("B")] }, code: nil),
        Row(name: "start beyond the limit", actions: { [.start("B"), .start("C")] }, code: 7),
        Row(name: "start beyond the limit, before an unknown call", actions: { [.start("B"), .start("C"), .end("X")] }, code: 7),
        Row(name: "an end frees a group", actions: { [.end("A"), .start("B"), .start("C")] }, code: nil),
        Row(name: "also when it comes later in the list", actions: { [.start("B"), .start("C"), .end("A")] }, code: nil),
        Row(name: "joining adds no group", actions: { [.start("B"), .start("C"), .join("C", "A")] }, code: nil),
        Row(name: "leaving adds one", actions: { [.start("B"), .join("B", "A"), .start("C"), .leave("B")] }, code: 7),
        Row(name: "answer of an unknown call", actions: { [.answer("X")] }, code: 4),
        Row(name: "end of an unknown call", actions: { [.end("X")] }, code: 4),
        Row(name: "hold of an unknown call", actions: { [.hold("X")] }, code: 4),
        Row(name: "mute of an unknown call", actions: { [.mute("X")] }, code: 4),
        Row(name: "tones to an unknown call", actions: { [.tones("X")] }, code: 4),
        Row(name: "an unknown call joining", actions: { [.join("X", "A")] }, code: 4),
        Row(name: "joining an unknown call", actions: { [.join("A", "X")] }, code: 4),
        Row(name: "joining before the start", actions: { [.join("B", "A"), .start("B")] }, code: 4),
        Row(name: "joining oneself", actions: { [.join("A", "A")] }, code: 6),
        Row(name: "answer of a call that rings", actions: { [.answer("A")] }, code: nil),
        Row(name: "answering twice", actions: { [.answer("A"), .answer("A")] }, code: 6),
        Row(name: "answering an outgoing call", actions: { [.start("B"), .answer("B")] }, code: 6),
        Row(name: "hold", actions: { [.hold("A")] }, code: nil),
        Row(name: "hold where it is not supported", actions: { [.hold("A")] }, code: 6, update: { $0.supportsHolding = false }),
        Row(name: "tones", actions: { [.tones("A")] }, code: nil),
        Row(name: "tones where they are not supported", actions: { [.tones("A")] }, code: 6, update: { $0.supportsDTMF = false }),
        Row(name: "mute", actions: { [.mute("A")] }, code: nil),
        Row(
            name: "joining a call that does not support grouping", actions: { [.start("B"), .join("B", "A")] }, code: 6,
            update: { $0.supportsGrouping = false }),
        Row(
            name: "a call that does not support grouping joining", actions: { [.start("B"), .join("A", "B")] }, code: 6,
            update: { $0.supportsGrouping = false }),
        Row(name: "leaving a group of one", actions: { [.leave("A")] }, code: nil, update: { $0.supportsUngrouping = false }),
    ]

    @Test(arguments: rows)
    func `accepts or refuses with the code of the first row that applies`(row: Row) {
        let rig = Rig()
        let update = CXCallUpdate()
        row.update(update)
        rig.ring("A", update: update)
        var code: Int?
        rig.controller.hookswitchRequest(CXTransaction(actions: row.actions())) {
            code = ($0 as? CXErrorCodeRequestTransactionError)?.code.rawValue
        }
        #expect(code == row.code)
    }

    @Test(arguments: rows.filter { $0.code != nil })
    func `a refused transaction performs nothing and leaves nothing`(row: Row) {
        let rig = Rig()
        let update = CXCallUpdate()
        row.update(update)
        rig.ring("A", update: update)
        rig.log.clear()
        let (before, counts) = (rig.system.calls, rig.system.counts)
        let actions = row.actions()
        rig.controller.request(CXTransaction(actions: actions)) { _ in }
        #expect(rig.system.calls == before)
        #expect(rig.system.counts == counts)
        #expect(rig.log.takeCallbacks() == [])
        #expect(rig.provider.pendingTransactions == [])
        // The actions are the requester's again: completing them does nothing, and they may be used once more.
        actions.first?.fulfill()
        #expect(actions.allSatisfy { !$0.isComplete })
        rig.controller.request(CXTransaction(actions: actions)) { #expect($0 != nil) }
    }

    @Test func `without a provider, or after its end, nothing is accepted`() {
        let system = CallSystem(configuration: CallSystemConfiguration(), host: InlineHost())
        var codes: [Int] = []
        func request(_ actions: [CXAction]) {
            CXCallController(system: system).hookswitchRequest(CXTransaction(actions: actions)) { error in
                codes.append((error as? CXErrorCodeRequestTransactionError)?.code.rawValue ?? -1)
            }
        }
        request([])
        request([CXAction()])
        let provider = CXProvider(configuration: .limited(2, 5), system: system)
        request([.start("A")])
        provider.invalidate()
        request([.start("B")])
        request([.end("A")])
        #expect(codes == [3, 2, -1, 2, 2])
    }

    @Test func `a transaction addresses the calls of one provider`() {
        let rig = Rig()
        let other = CXProvider(configuration: .limited(2, 5), system: rig.system)
        rig.ring("A")
        other.reportNewIncomingCall(with: .call("B"), update: CXCallUpdate()) { _ in }
        #expect(rig.refusal(.mute("A"), .mute("B")) == 2)
        #expect(rig.refusal(.join("A", "B")) == 2)
        #expect(rig.refusal(.mute("A")) == nil)
        #expect(rig.refusal(.mute("B")) == nil)
        // A new call goes to the provider that registered last.
        #expect(rig.refusal(.start("C")) == nil)
        #expect(rig.call("C")?.provider == rig.call("B")?.provider)
    }

    @Test func `an action is requested once`() {
        let rig = Rig()
        rig.ring("A")
        let mute = CXAction.mute("A")
        #expect(rig.refusal(mute, mute) == 6)
        #expect(rig.refusal(mute) == nil)
        #expect(rig.refusal(mute) == 6)
        rig.delegate.act = { _ in }
        let pending = CXAction.hold("A")
        #expect(rig.refusal(pending) == nil)
        #expect(rig.refusal(pending) == 6)
        #expect(rig.refusal(.answer("A")) == nil)
        #expect(rig.refusal(.answer("A")) == 6)
    }

    @Test func `an ended call is unknown`() {
        let rig = Rig()
        rig.connect("A")
        rig.end("A")
        for action: CXAction in [.answer("A"), .end("A"), .hold("A"), .mute("A"), .leave("A"), .tones("A")] {
            #expect(rig.refusal(action) == 4)
        }
    }
}
