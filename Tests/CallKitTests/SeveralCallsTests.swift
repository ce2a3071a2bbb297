import CallKit
import Foundation
import Testing

/// What a telephone does by itself when there is more than one call. Behaviour §6.
@Suite struct SeveralCallsTests {
    @Test func `starting a call holds the active one first`() {
        let rig = Rig()
        rig.connect("A")
        rig.log.clear()
        rig.request(.start("B"))
        #expect(
            rig.log.takeJournal() == [
                "requested start B", "accepted start B", "system hold A automaticHold", "perform hold A", "fulfilled hold A",
                "deactivated A", "perform start B", "fulfilled start B", "activated B",
            ])
    }

    @Test func `answering holds the active call, unless the transaction deals with it`() {
        for companion: CXCallAction? in [nil, .hold("A"), .end("A")] {
            let rig = Rig()
            rig.connect("A")
            rig.ring("B")
            rig.log.clear()
            rig.controller.requestTransaction(with: [companion, .answer("B")].compactMap(\.self)) { _ in }
            #expect(rig.log.takeCallbacks().filter { $0.hasPrefix("perform") }.count == 2)
            #expect(rig.call("A")?.isOnHold ?? true)
        }
    }

    @Test func `an active call that cannot be held is ended`() {
        let rig = Rig()
        let update = CXCallUpdate()
        update.supportsHolding = false
        rig.ring("A", update: update)
        rig.request(.answer("A"))
        rig.ring("B")
        rig.log.clear()
        rig.request(.answer("B"))
        #expect(rig.log.takeJournal()[2] == "system end A automaticHold")
        #expect(rig.calls == "B")
    }

    @Test func `resuming one call holds the other`() {
        let rig = Rig()
        rig.connect("A")
        rig.connect("B")
        #expect(rig.call("A")?.isOnHold == true)
        rig.request(.resume("A"))
        #expect(rig.call("A")?.isOnHold == false)
        #expect(rig.call("B")?.isOnHold == true)
    }

    @Test func `calls of one group are active together`() {
        let rig = Rig()
        rig.connect("A")
        rig.connect("B")
        rig.request(.join("B", "A"))
        rig.request(.resume("A"))
        #expect(rig.call("A")?.isOnHold == false)
        #expect(rig.call("B")?.isOnHold == false)
    }

    @Test func `when the user ends the active call the held one comes back`() {
        let rig = Rig()
        rig.connect("A")
        rig.connect("B")
        rig.log.clear()
        rig.request(.end("B"))
        #expect(
            rig.log.takeJournal() == [
                "requested end B", "accepted end B", "perform end B", "fulfilled end B", "ended B action",
                "system resume A automaticResume", "deactivated B", "perform resume A", "fulfilled resume A", "activated A",
            ])
    }

    // MARK: Dialled, and not answered yet

    private static let activations: [CallSystemConfiguration.Activation] = [.afterStarted, .afterConnected]

    private func rig(_ activation: CallSystemConfiguration.Activation) -> Rig {
        var configuration = CallSystemConfiguration()
        configuration.activation = activation
        return Rig(configuration, groups: 3)
    }

    /// R16, whenever a call gets its audio.
    @Test(arguments: activations)
    func `a call that is dialled is held when another is answered, resumed or started`(activation: CallSystemConfiguration.Activation) {
        for other in [{ $0.connect("A") }, { $0.request(.resume("H")) }, { $0.dial("A") }] as [(Rig) -> Void] {
            let rig = rig(activation)
            rig.connect("H")
            rig.request(.start("B"))
            other(rig)
            rig.provider.reportOutgoingCall(with: .call("B"), connectedAt: nil)
            #expect(rig.call("B")?.isOnHold == true)
            #expect(rig.system.calls.count { !$0.isOnHold } == 1)
        }
    }

    /// R16, when the app is slow.
    @Test(arguments: activations)
    func `what is fulfilled late does not get between`(activation: CallSystemConfiguration.Activation) {
        for late in [.answer("A"), .start("B")] as [CXCallAction] {
            let rig = rig(activation)
            rig.delegate.act = { if $0 !== late { $0.fulfill() } }
            rig.ring("A")
            rig.request(late)
            rig.dial("C")
            late.fulfill()
            rig.provider.reportOutgoingCall(with: .call("B"), connectedAt: nil)
            #expect(rig.system.calls.filter { $0.hasConnected && !$0.isOnHold }.map(\.uuid) == [.call("C")], "\(text(late))")
        }
    }

    @Test(arguments: activations)
    func `when the user gives up a call that nobody has answered the held one comes back`(activation: CallSystemConfiguration.Activation) {
        let rig = rig(activation)
        rig.connect("A")
        rig.request(.start("B"))
        #expect(rig.call("A")?.isOnHold == true)
        rig.request(.end("B"))
        #expect(rig.call("A")?.isOnHold == false)
        rig.delegate.act = { if !($0 is CXStartCallAction) { $0.fulfill() } }
        rig.request(.start("B"))
        rig.request(.end("B"))
        #expect(rig.call("A")?.isOnHold == false, "the app had not begun it yet")
    }

    @Test(arguments: activations)
    func `a held call that nobody has answered comes back, too`(activation: CallSystemConfiguration.Activation) {
        let rig = rig(activation)
        rig.request(.start("B"))
        rig.connect("C")
        rig.request(.end("C"))
        #expect(rig.call("B")?.isOnHold == false)
    }

    /// Nobody shall be overheard: F749202.
    @Test func `when the remote party ends the active call the held one stays held`() {
        let rig = Rig()
        rig.connect("A")
        rig.connect("B")
        rig.end("B")
        #expect(rig.call("A")?.isOnHold == true)
    }

    @Test func `ending a held call resumes nothing, and neither does End and Accept`() {
        let rig = Rig(groups: 3)
        rig.connect("A")
        rig.connect("B")
        rig.request(.end("A"))
        #expect(rig.call("B")?.isOnHold == false)
        rig.connect("C")
        rig.ring("D")
        rig.log.clear()
        rig.request(.end("C"), .answer("D"))
        #expect(rig.call("B")?.isOnHold == true)
        #expect(!rig.log.takeJournal().contains { $0.hasPrefix("system") })
    }

    @Test func `of several held calls none is chosen`() {
        let rig = Rig(groups: 3)
        for call: Character in ["A", "B", "C"] { rig.connect(call) }
        rig.request(.end("C"))
        #expect(rig.call("A")?.isOnHold == true)
        #expect(rig.call("B")?.isOnHold == true)
    }

    @Test(arguments: [CallSystemConfiguration.AudioScope.perGroup, .perSystem])
    func `a line holds nothing by itself, and neither does a phone told not to`(scope: CallSystemConfiguration.AudioScope) {
        var configuration = CallSystemConfiguration()
        configuration.audioScope = scope
        configuration.holdsAutomatically = scope == .perGroup
        let rig = Rig(configuration)
        rig.connect("A")
        rig.connect("B")
        #expect(rig.system.calls.map(\.isOnHold) == [false, false])
    }
}
