import CallKit
import Primitives
import SIP
import Testing

@testable import Gateway
@testable import Rehearsal

/// Feature codes, dialled on a line's own device.
@Suite struct FeatureCodeTests {
    let stage: Stage
    let caller: RawPeer, device: RawPeer

    init() {
        stage = Stage { configuration, _ in
            var other = LineConfiguration(number: "2001")
            (other.isOpen, other.handles) = (true, [.phoneNumber])
            configuration.lines.append(other)
        }
        (caller, device) = (RawPeer(stage, 1), RawPeer(stage, 2))
        stage.telephonesRing = true
        device.request("REGISTER", "sip:2000@hookswitch.test", call: "register", 1)
    }

    private func over(_ location: SourceLocation = #_sourceLocation) {
        stage.run(seconds: 200)
        #expect(stage.gateway.counts(at: stage.world.now).isIdle, sourceLocation: location)
        #expect(stage.violations.isEmpty, sourceLocation: location)
    }

    /// What the device gets for a number, acknowledged where it is a 200.
    private func dial(_ number: String, by peer: RawPeer? = nil, from sender: String = "<sip:2000@hookswitch.test>") -> Message? {
        let peer = peer ?? device, call = "dial\(peer.heard.count)"
        peer.request("INVITE", "sip:\(number)@hookswitch.test", call: call, 1, body: peer.description(), from: sender)
        let answer = peer.heard.last { $0.callID == Text(call) }
        if answer?.status == 200 {
            peer.request("ACK", "sip:\(number)@hookswitch.test", call: call, 1, toTag: answer?.to.tag, from: sender)
        }
        return answer
    }

    /// The last answer to somebody's call to the line, which the device declines.
    private func ring(from sender: String) -> Int? {
        let call = "ring\(caller.heard.count)"
        caller.request("INVITE", "sip:2000@hookswitch.test", call: call, 1, body: caller.description(), from: sender)
        let status = caller.heard.last { $0.callID == Text(call) }?.status
        if status == 180 { device.answer(device.heard.last { $0.isRequest && $0.method == .invite }, 480) }
        return status
    }

    /// The call is answered, a tone plays, and the gateway hangs up.
    private func expectConfirmation(_ answer: Message?, _ location: SourceLocation = #_sourceLocation) {
        #expect(answer?.status == 200, sourceLocation: location)
        #expect(stage.media.openLegs == 1, sourceLocation: location)
        let packets = stage.media.packets
        stage.run(seconds: 2)
        #expect(device.request(.bye)?.callID == answer?.callID, "it ends by itself", sourceLocation: location)
        #expect(stage.media.openLegs == 0 && stage.media.packets > packets, "it was heard", sourceLocation: location)
        device.answer(device.request(.bye), 200)
    }

    @Test func `*78 and *79 turn Do Not Disturb on and off, and say so with a tone`() {
        expectConfirmation(dial("*78"))
        #expect(stage.gateway.isDoNotDisturbOn(ofLine: "2000", at: stage.world.now) == true)
        #expect(ring(from: "<sip:+391@192.0.2.9>") == 480)
        #expect(caller.heard.last?.reasonPhrase == "Do Not Disturb")
        expectConfirmation(dial("*79"))
        #expect(ring(from: "<sip:+391@192.0.2.9>") == 180)
        #expect(stage.events(.featureDialled).map { $0.details.text(.digits) } == ["*78", "*79"])
        over()
    }

    @Test func `*60 blocks who called last, and *80 lets that caller in again`() {
        #expect(dial("*60")?.status == 404)
        #expect(ring(from: "<sip:+391@192.0.2.9>") == 180)
        expectConfirmation(dial("*60"))
        #expect(ring(from: "<sip:+391@192.0.2.9>") == 607)
        #expect(ring(from: "<sip:+392@192.0.2.9>") == 180)
        #expect(ring(from: "<sip:+391@192.0.2.9>") == 607)
        stage.gateway.line(numbered: "2000")?.features.lastCaller = CXHandle(type: .phoneNumber, value: "+391")
        expectConfirmation(dial("*80"))
        #expect(ring(from: "<sip:+391@192.0.2.9>") == 180)
        over()
    }

    @Test func `*69 calls who called last`() throws {
        #expect(dial("*69")?.status == 404)
        let other = RawPeer(stage, 3)
        other.request("REGISTER", "sip:2001@hookswitch.test", call: "register-2001", 1)
        #expect(ring(from: "<sip:2001@hookswitch.test>") == 180)
        #expect(dial("*69")?.status == 180)
        let invite = try #require(other.request(.invite))
        #expect(invite.from.uri.user == "2000" && invite.to.uri.user == "2001")
        other.answer(invite, 486)
        #expect(stage.gateway.recents(ofLine: "2000")?.first?.direction == .outgoing)
        #expect(stage.gateway.recents(ofLine: "2000")?.first?.handle == "2001")
        over()
    }

    @Test func `*69 to a handle that the line does not take, or that nobody has, is refused and says why`() {
        device.request("REGISTER", "sip:2001@hookswitch.test", call: "register-too", 1)
        stage.gateway.line(numbered: "2001")?.features.lastCaller = CXHandle(type: .generic, value: "sip:alice@192.0.2.9")
        let answer = dial("*69", from: "<sip:2001@hookswitch.test>")
        #expect(answer?.status == 403 && answer?.reasonPhrase == "Handle Type Not Supported")
        #expect(stage.events(.callBackRefused).count == 1)
        stage.gateway.line(numbered: "2001")?.features.lastCaller = CXHandle(type: .phoneNumber, value: "+3999")
        #expect(dial("*69", from: "<sip:2001@hookswitch.test>")?.status == 404)
        over()
    }

    @Test func `the beginning of a code is incomplete, and another star code is nobody's`() {
        #expect(dial("*7")?.status == 484)
        #expect(dial("*99")?.status == 404)
        over()
    }

    @Test func `nobody but a device of the line dials its codes`() {
        #expect(dial("*78", by: caller)?.status == 404)
        #expect(dial("*78", by: caller, from: "<sip:peer@192.0.2.9>")?.status == 404)
        #expect(stage.gateway.isDoNotDisturbOn(ofLine: "2000", at: stage.world.now) == false)
        over()
    }

    @Test func `feature codes can be turned off, and a line of ours may have such a number`() {
        let stage = Stage { configuration, _ in
            configuration.lines[1].number = "*78"
            configuration.featureCodes = true
        }
        let device = RawPeer(stage, 2)
        device.request("REGISTER", "sip:2000@hookswitch.test", call: "register", 1)
        device.request("INVITE", "sip:*78@hookswitch.test", call: "own", 1, body: device.description(), from: "<sip:2000@hookswitch.test>")
        #expect(device.final(.invite, 1)?.status == 200)
        #expect(stage.gateway.isDoNotDisturbOn(ofLine: "2000", at: stage.world.now) == false)
        let silent = Stage { configuration, _ in configuration.featureCodes = false }
        let other = RawPeer(silent, 2)
        other.request("REGISTER", "sip:2000@hookswitch.test", call: "register", 1)
        other.request("INVITE", "sip:*78@hookswitch.test", call: "off", 1, body: other.description(), from: "<sip:2000@hookswitch.test>")
        #expect(other.final(.invite, 1)?.status == 404)
        stage.gateway.endAll(at: stage.world.now)
    }

    @Test func `a device that hangs up during the tone ends the call`() throws {
        let answer = try #require(dial("*78"))
        device.request(
            "BYE", "sip:*78@hookswitch.test", call: answer.callID.description, 2, toTag: answer.to.tag, from: "<sip:2000@hookswitch.test>")
        #expect(device.final(.bye, 2)?.status == 200)
        over()
    }
}
