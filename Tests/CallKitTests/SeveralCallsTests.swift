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
