import CallKit
import Foundation
import Testing

@Suite struct GroupTests {
    private func group(_ rig: Rig, _ call: Character) -> Int? { rig.call(call)?.group }

    /// As a gateway bridges: the called device's leg starts inside the caller's group.
    @Test func `a call started into a group adds none, and joins when that is fulfilled`() {
        let rig = Rig(.line, groups: 1)
        rig.ring("A")
        #expect(rig.refusal(.start("B")) == 7)
        rig.delegate.act = { _ in }
        #expect(rig.refusal(.start("B"), .join("B", "A")) == nil)
        #expect(group(rig, "B") != group(rig, "A"))
        for action in rig.provider.pendingTransactions[0].actions { action.fulfill() }
        #expect(group(rig, "B") == group(rig, "A"))
    }

    @Test func `what is accepted counts before it is fulfilled`() {
        let rig = Rig(.line, groups: 2)
        rig.ring("A")
        rig.delegate.act = { _ in }
        for device: Character in ["B", "C", "D"] { #expect(rig.refusal(.start(device), .join(device, "A")) == nil) }
        #expect(rig.refusal(.start("E")) == nil)
        #expect(rig.refusal(.start("F")) == 7)
        #expect(rig.refusal(.end("E"), .start("F")) == nil)
    }

    @Test func `a join that failed counts as the group that it did not leave`() {
        let rig = Rig(.line, groups: 2)
        rig.ring("A")
        rig.delegate.act = { $0 is CXSetGroupCallAction ? $0.fail() : $0.fulfill() }
        rig.request(.start("B"), .join("B", "A"))
        #expect(rig.refusal(.start("C")) == 7)
        rig.end("B")
        #expect(rig.refusal(.start("C")) == nil)
    }

    @Test func `an end that failed counts as the group that it did not free`() {
        let rig = Rig(.line, groups: 1)
        rig.ring("A")
        rig.delegate.act = { $0.fail() }
        rig.request(.end("A"))
        #expect(rig.refusal(.start("B")) == 7)
        rig.ring("C")
        #expect(rig.calls == "A")
    }

    @Test func `a group has room for so many calls`() {
        let rig = Rig(.line, groups: 2, callsPerGroup: 3)
        rig.ring("A")
        for call: Character in ["B", "C"] { #expect(rig.refusal(.start(call), .join(call, "A")) == nil) }
        #expect(rig.refusal(.start("D"), .join("D", "A")) == 6)
        #expect(rig.refusal(.start("D")) == nil)
        #expect(rig.refusal(.join("D", "B")) == 6)
        // One goes, one comes, in one transaction.
        #expect(rig.refusal(.join("D", "A"), .end("C")) == nil)
        #expect(rig.calls == "ABD")
        #expect(group(rig, "D") == group(rig, "A"))
    }

    @Test func `leaving makes a group of one, if there is room for it`() {
        let rig = Rig(.line, groups: 1)
        rig.ring("A")
        rig.request(.start("B"), .join("B", "A"))
        #expect(rig.refusal(.leave("B")) == 7)
        let larger = CXProviderConfiguration.limited(2, 5)
        rig.provider.configuration = larger
        #expect(rig.refusal(.leave("B")) == nil)
        #expect(group(rig, "B") != group(rig, "A"))
        #expect(rig.refusal(.leave("B")) == nil)
        #expect(rig.refusal(.start("C")) == 7)
    }

    @Test func `a call that does not support ungrouping stays in its group`() {
        let rig = Rig(.line, groups: 3)
        let update = CXCallUpdate()
        update.supportsUngrouping = false
        rig.ring("A", update: update)
        rig.ring("C")
        rig.request(.start("B"), .join("B", "A"))
        #expect(rig.refusal(.leave("A")) == 6)
        #expect(rig.refusal(.join("A", "C")) == 6)
        #expect(rig.refusal(.leave("B")) == nil)
    }

    @Test func `a group lives on when the call that made it ends`() {
        let rig = Rig(.line, groups: 1)
        rig.connect("A")
        rig.dial2("B", joining: "A")
        let before = group(rig, "B")
        rig.end("A")
        #expect(group(rig, "B") == before)
        rig.dial2("C", joining: "B")
        #expect(group(rig, "C") == before)
    }

    @Test func `a join whose other call has ended leaves the call where it is`() {
        let rig = Rig(.line, groups: 2)
        rig.ring("A")
        rig.delegate.act = { _ in }
        rig.request(.start("B"), .join("B", "A"))
        let actions = rig.provider.pendingTransactions[0].actions
        rig.end("A")
        for action in actions { action.fulfill() }
        #expect(rig.calls == "B")
        #expect(rig.system.counts.groups == 1)
    }

    @Test func `a lowered limit refuses what is new and nothing else`() {
        let rig = Rig(.line, groups: 3)
        for call: Character in ["A", "B", "C"] { rig.ring(call) }
        rig.provider.configuration = .limited(1, 5)
        #expect(rig.refusal(.start("D")) == 7)
        #expect(rig.refusal(.answer("A")) == nil)
        #expect(rig.refusal(.join("B", "A")) == nil)
        #expect(rig.refusal(.end("C"), .start("D")) == nil)
    }
}

extension Rig {
    func dial2(_ call: Character, joining other: Character) {
        request(.start(call), .join(call, other))
        provider.reportOutgoingCall(with: .call(call), connectedAt: nil)
    }
}
