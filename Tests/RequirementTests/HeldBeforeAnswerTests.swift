import CallKit
import Foundation
import Primitives
import Testing

/// Calls that are put on hold before they are up, because another one is taken meanwhile (R14, R16).
@Suite struct HeldBeforeAnswerTests {
    private let stage = Stage()

    /// A call that the far end lets ring.
    private func dial() -> (uuid: UUID, far: FarCall) {
        stage.far.onInvite = { $0.ring() }
        stage.dial("2002")
        stage.run(0.2)
        return (stage.calls.last ?? UUID(), stage.far.calls.last!)
    }

    @Test func `a call that was dialled is silent when it is answered late, and its far end is told`() {
        let app = HotlineApp(stage), dialled = dial(), taken = stage.takeCall()
        #expect(stage.call(dialled.uuid)?.isOnHold == true)
        dialled.far.answer()
        stage.run(1)
        #expect(dialled.far.isHeld && !taken.far.isHeld)
        #expect(stage.story(of: taken.uuid).contains("media.started") && !stage.story(of: dialled.uuid).contains("media.started"))
        stage.hold(dialled.uuid, false)
        stage.run(1)
        #expect(!dialled.far.isHeld && taken.far.isHeld)
        for call in stage.calls { stage.end(call) }
        #expect(stage.leftovers() == [])
        withExtendedLifetime(app) {}
    }

    @Test func `a call that was taken back before its answer never was on hold for the far end`() {
        let app = HotlineApp(stage), dialled = dial(), taken = stage.takeCall()
        stage.end(taken.uuid)
        #expect(stage.call(dialled.uuid)?.isOnHold == false)
        dialled.far.answer()
        stage.run(1)
        #expect(stage.sent("app INVITE").count == 1 && !dialled.far.isHeld)
        #expect(stage.story(of: dialled.uuid).contains("media.started"))
        stage.end(dialled.uuid)
        #expect(stage.leftovers() == [])
        withExtendedLifetime(app) {}
    }

    @Test(arguments: [true, false])
    func `an answer that is fulfilled late does not sound over the call that was dialled meanwhile`(isSent: Bool) {
        let app = ProbeApp(stage)
        var late: CXAnswerCallAction?
        app.does(CXAnswerCallAction.self) {
            late = $0
            if isSent { _ = app.link.answer($0.callUUID) }
        }
        let taken = stage.takeCall(), dialled = dial()
        dialled.far.answer()
        stage.run(0.5)
        if !isSent { #expect(late.map { app.link.answer($0.callUUID) } == true) }
        late?.fulfill()
        stage.run(1)
        #expect(stage.call(taken.uuid)?.isOnHold == true && stage.call(dialled.uuid)?.isOnHold == false)
        #expect(taken.far.isHeld && !dialled.far.isHeld)
        for call in stage.calls { stage.end(call) }
        #expect(stage.leftovers() == [])
    }
}
