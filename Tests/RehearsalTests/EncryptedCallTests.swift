import Gateway
import Primitives
import SDP
import SIP
import Testing

@testable import Rehearsal

/// A call to a line that must be encrypted, as its signalling sees it.
@Suite struct EncryptedCallTests {
    /// The device's description over SAVP, with a key for the first suite that it was offered.
    private static func description(_ device: RawPeer, to offer: Message, _ direction: String = "sendrecv", version: Int = 1) throws -> String {
        let lines = String(decoding: offer.body, as: UTF8.self).split(separator: "\r\n")
        let key = try #require(lines.first { $0.hasPrefix("a=crypto:") })
        return device.description("0", direction, version: version).replacing("RTP/AVP", with: "RTP/SAVP") + key + "\r\n"
    }

    @Test(arguments: [true, false])
    func `an answer in the clear to a later offer of ours ends the call, as the first would`(isClear: Bool) throws {
        let stage = Stage { configuration in
            var own = LineConfiguration(number: "2001")
            own.isOpen = true
            configuration.lines[0].srtp = .required
            configuration.lines.append(own)
        }
        let (caller, device) = (RawPeer(stage, 1), RawPeer(stage, 2)), sender = "<sip:2001@hookswitch.test>"
        device.request("REGISTER", BridgedCall.line, call: "register", 1)
        func offer(_ sequence: Int, _ direction: String, tag: Text?) {
            caller.request("INVITE", BridgedCall.line, call: "e", sequence, toTag: tag, body: caller.description("0", direction, version: sequence), from: sender)
        }
        offer(1, "sendrecv", tag: nil)
        let invite = try device.received(.invite)
        device.answer(invite, 200, body: try Self.description(device, to: invite))
        let tag = try #require(caller.final(.invite, 1)?.to.tag)
        #expect(caller.final(.invite, 1)?.status == 200)
        caller.request("ACK", BridgedCall.line, call: "e", 1, toTag: tag, from: sender)
        offer(2, "sendonly", tag: tag)
        caller.request("ACK", BridgedCall.line, call: "e", 2, toTag: tag, from: sender)
        let again = try device.received(.invite), agreed = try Self.description(device, to: again, "recvonly", version: 2)
        #expect(again.cseq != invite.cseq)
        device.answer(again, 200, body: isClear ? device.description("0", "recvonly", version: 2) : agreed)
        #expect(device.request(.ack)?.cseq.number == again.cseq.number)
        #expect((device.request(.bye) != nil) == isClear && (caller.request(.bye) != nil) == isClear)
        if !isClear { caller.request("BYE", BridgedCall.line, call: "e", 3, toTag: tag, from: sender) }
        device.answer(device.request(.bye), 200)
        caller.answer(caller.request(.bye), 200)
        stage.expectQuiet()
    }
}
