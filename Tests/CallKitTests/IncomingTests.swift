import CallKit
import Foundation
import Testing

@Suite struct IncomingTests {
    private static let codes: [CXErrorCodeIncomingCallError.Code] = [
        .unentitled, .filteredByDoNotDisturb, .filteredByBlockList, .filteredDuringRestrictedSharingMode, .callIsProtected,
        .filteredBySensitiveParticipants,
    ]

    /// R13: a call that was turned away never existed.
    @Test(arguments: codes)
    func `the filter's error is the completion's, and there is no call`(code: CXErrorCodeIncomingCallError.Code) {
        let rig = Rig()
        rig.system.filter = { _, update in update.remoteHandle == .bob ? code : nil }
        let update = CXCallUpdate()
        update.remoteHandle = .bob
        rig.ring("A", update: update)
        #expect(
            rig.log.take() == [
                "incoming A", "turned away A incoming error \(code.rawValue)", "→ incoming A incoming error \(code.rawValue)",
            ])
        #expect(rig.calls == "")
        rig.ring("A")
        #expect(rig.calls == "A")
    }

    @Test func `a known call is refused first, then what the filter says, then the limit`() {
        let rig = Rig(groups: 1)
        rig.ring("A")
        rig.log.clear()
        rig.system.filter = { _, _ in .filteredByDoNotDisturb }
        rig.ring("A")
        #expect(rig.log.takeCallbacks() == ["incoming A incoming error 2"])
        rig.ring("B")
        #expect(rig.log.takeCallbacks() == ["incoming B incoming error 3"])
        rig.system.filter = nil
        rig.ring("B")
        #expect(rig.log.takeCallbacks() == ["incoming B request error 7"])
    }

    @Test func `the error beyond the limit is a knob`() {
        var configuration = CallSystemConfiguration()
        configuration.overLimitError = .unknownIncomingCallError
        let rig = Rig(configuration, groups: 1)
        rig.ring("A")
        rig.log.clear()
        rig.ring("B")
        #expect(rig.log.takeCallbacks() == ["incoming B incoming error 0"])
    }

    @Test func `a call that joins a group leaves room for another`() {
        let rig = Rig(groups: 2)
        rig.connect("A")
        rig.request(.start("B"))
        rig.request(.join("B", "A"))
        rig.ring("C")
        #expect(rig.calls == "ABC")
        rig.ring("D")
        #expect(rig.calls == "ABC")
    }

    @Test func `a uuid may be used again after its call has ended`() {
        let rig = Rig()
        rig.ring("A")
        rig.end("A")
        rig.ring("A")
        #expect(rig.calls == "A")
    }

    @Test func `an invalid provider has no calls`() {
        let rig = Rig()
        rig.provider.invalidate()
        rig.log.clear()
        rig.ring("A")
        #expect(rig.log.takeCallbacks() == ["incoming A incoming error 0"])
    }
}
