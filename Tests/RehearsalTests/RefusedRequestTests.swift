import Primitives
import SIP
import Testing

@testable import Rehearsal

/// What a device asks for and does not get changes nothing: neither in the call nor for the audit.
@Suite struct RefusedRequestTests {
    @Test func `a callee that says BYE before it answers is told that there is no such dialog, and may answer`() throws {
        let play = MappingPlay()
        play.invite()
        play.device.answer(try play.called, 180)
        play.device.request("BYE", in: try play.called, 1)
        #expect(play.device.final(.bye, 1)?.status == 481)
        play.device.answer(try play.called, 200, body: play.device.description("0"))
        play.acknowledge()
        play.hangUp()
        play.finish()
    }

    @Test(arguments: [(1, "", 500), (9, "Require: foo", 420)])
    func `a BYE that is refused ends nothing`(sequence: Int, header: String, status: Int) throws {
        let play = MappingPlay()
        try play.talk()
        play.device.request("INFO", in: try play.called, 5)
        play.device.request("BYE", in: try play.called, sequence, headers: header.isEmpty ? [] : [header])
        #expect(play.device.final(.bye, sequence)?.status == status)
        play.hangUp()
        play.finish()
    }

    @Test func `an INVITE of a device in its early dialog is refused, and the first one is the call`() throws {
        let play = MappingPlay()
        play.invite()
        play.device.answer(try play.called, 180)
        play.device.request("INVITE", in: try play.called, 1, body: play.device.description("0"))
        #expect(play.device.final(.invite, 1)?.status == 491)
        play.device.answer(try play.called, 200, body: play.device.description("0"))
        play.acknowledge()
        play.hangUp()
        play.finish()
    }
}
