import CallKit
import Foundation
import Media
import Primitives
import SIP
import Testing

@testable import Gateway
@testable import Rehearsal

/// Which calls of a line are recorded, and under what name.
@Suite struct RecordedCallTests {
    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("recorded-\(UUID().uuidString)").path
    private let writer = RecordingWriter(clock: nil) { _ in }
    private let stage: Stage

    init() throws { stage = try Self.stage(writing: folder + "/{caller}-{called}-{call}.wav", by: writer) }

    private static func stage(writing pattern: String, by writer: RecordingWriter) throws -> Stage {
        let place = try RecordingPlace(pattern)
        return Stage { configuration, environment in
            configuration.lines[0].recording = place
            environment.recordings = writer
            var other = LineConfiguration(number: "2001")
            other.isOpen = true
            configuration.lines.append(other)
        }
    }

    private var paths: [String] { stage.events(.recordingStarted).compactMap { $0.details.text(.text)?.description } }

    private func clearUp() { try? FileManager.default.removeItem(atPath: folder) }

    @Test func `a caller who is not to be known is not named by the recording`() throws {
        defer { clearUp() }
        let call = try stage.bridge(headers: ["Privacy: id"])
        #expect(paths.count == 1 && paths[0].contains("/unknown-"), "\(paths)")
        call.hangUp()
        stage.expectQuiet()
    }

    @Test func `the journal names the file that was written where another has that name`() throws {
        defer { clearUp() }
        let stage = try Self.stage(writing: folder + "/{caller}.wav", by: writer)
        for _ in 0..<2 {
            let call = try stage.bridge()
            writer.synchronize()
            call.hangUp()
            stage.expectQuiet()
            writer.synchronize()
        }
        let ended = stage.events(.recordingEnded).compactMap { $0.details.text(.text)?.description }
        #expect(ended.count == 2 && ended[0] != ended[1], "\(ended)")
        #expect(ended.allSatisfy { FileManager.default.fileExists(atPath: $0) })
    }

    @Test func `a call that a user asked for is recorded once, as the call that it is`() throws {
        defer { clearUp() }
        let near = RawPeer(stage, 2), far = RawPeer(stage, 3)
        near.request("REGISTER", "sip:2000@hookswitch.test", call: "near", 1)
        far.request("REGISTER", "sip:2001@hookswitch.test", call: "far", 1)
        try stage.gateway.start(CallRequest(handle: CXHandle(type: .phoneNumber, value: "2001")), ofLine: "2000", at: stage.world.now)
        stage.run(seconds: 0.5)
        near.answer(try near.received(.invite), 200, body: near.description("0"))
        stage.run(seconds: 0.5)
        let invite = try far.received(.invite)
        far.answer(invite, 200, body: far.description("0"))
        stage.run(seconds: 1)
        // The media of both ends begins anew when a hold is over.
        for (number, directions) in [("sendonly", "recvonly"), ("sendrecv", "sendrecv")].enumerated() {
            far.request("INVITE", in: invite, 2 + number, body: far.description("0", directions.0, version: 2 + number))
            far.request("ACK", in: invite, 2 + number)
            stage.run(seconds: 0.5)
            near.answer(try near.received(.invite), 200, body: near.description("0", directions.1, version: 2 + number))
            stage.run(seconds: 0.5)
        }
        #expect(stage.events(.performHeld).count == 4)
        #expect(paths.count == 1 && paths.first?.contains("/2000-2001-") == true, "\(paths)")
        far.request("BYE", in: invite, 4)
        near.answer(try near.received(.bye), 200)
        stage.expectQuiet()
    }

    @Test func `who is transferred to an application goes on being recorded, once`() throws {
        defer { clearUp() }
        let caller = RawPeer(stage, 2), device = RawPeer(stage, 3)
        device.request("REGISTER", "sip:2001@hookswitch.test", call: "device", 1)
        caller.request(
            "INVITE", "sip:2001@hookswitch.test", call: "call", 1, body: caller.description("0"), from: "<sip:2000@hookswitch.test>")
        let invite = try device.received(.invite)
        device.answer(invite, 200, body: device.description("0"))
        let tag = try #require(caller.final(.invite, 1)?.to.tag)
        caller.request("ACK", "sip:2001@hookswitch.test", call: "call", 1, toTag: tag, from: "<sip:2000@hookswitch.test>")
        device.request("REFER", in: invite, 2, headers: ["Refer-To: <sip:9196@hookswitch.test>"])
        stage.run(seconds: 1)
        for notify in device.heard where notify.isRequest && notify.method == .notify { device.answer(notify, 200) }
        device.answer(try device.received(.bye), 200)
        #expect(paths.count == 1 && stage.events(.recordingEnded).isEmpty, "\(paths)")
        caller.request("BYE", "sip:2001@hookswitch.test", call: "call", 2, toTag: tag, from: "<sip:2000@hookswitch.test>")
        stage.expectQuiet()
    }

    @Test func `who is joined with somebody else goes on being recorded`() throws {
        defer { clearUp() }
        let call = try stage.bridge(), third = RawPeer(stage, 8)
        third.request("REGISTER", "sip:2001@hookswitch.test", call: "third", 1)
        call.caller.request("INVITE", "sip:2001@hookswitch.test", call: "consult", 1, body: call.caller.description())
        let consultation = try third.received(.invite)
        third.answer(consultation, 200, body: third.description("0"))
        let tag = try #require(call.caller.heard.last { $0.status == 200 && $0.callID == "consult" }?.to.tag)
        call.caller.request("ACK", "sip:2001@hookswitch.test", call: "consult", 1, toTag: tag)
        #expect(paths.count == 1)
        call.fromCaller("REFER", headers: ["Refer-To: <sip:2001@hookswitch.test?Replaces=consult%3Bto-tag%3D\(tag)%3Bfrom-tag%3Dconsult>"])
        stage.run(seconds: 1)
        #expect(paths.count == 2, "\(paths)")
        for notify in call.caller.heard where notify.isRequest && notify.method == .notify { call.caller.answer(notify, 200) }
        for bye in call.caller.heard where bye.isRequest && bye.method == .bye { call.caller.answer(bye, 200) }
        call.fromDevice("BYE")
        third.answer(third.request(.bye), 200)
        stage.expectQuiet()
    }

    // MARK: Who talks is recorded

    /// A call to 2001, which is not recorded.
    private func callUnrecorded() throws -> (caller: RawPeer, device: RawPeer, invite: Message, tag: Text) {
        let caller = RawPeer(stage, 4), device = RawPeer(stage, 5)
        device.request("REGISTER", "sip:2001@hookswitch.test", call: "device", 1)
        caller.request("INVITE", "sip:2001@hookswitch.test", call: "call", 1, body: caller.description("0"))
        let invite = try device.received(.invite)
        device.answer(invite, 200, body: device.description("0"))
        let tag = try #require(caller.final(.invite, 1)?.to.tag)
        caller.request("ACK", "sip:2001@hookswitch.test", call: "call", 1, toTag: tag)
        return (caller, device, invite, tag)
    }

    /// Answers what whoever asked for a transfer is told, and its ends.
    private func settle(_ leaving: RawPeer) {
        for request in leaving.heard where request.isRequest && [.notify, .bye].contains(request.method) { leaving.answer(request, 200) }
    }

    private var endedCount: Int { stage.events(.recordingEnded).count }

    @Test func `whom a caller is transferred to has the call recorded, under its number`() throws {
        defer { clearUp() }
        let (caller, device, invite, tag) = try callUnrecorded(), target = RawPeer(stage, 6)
        target.request("REGISTER", BridgedCall.line, call: "target", 1)
        caller.request("REFER", "sip:2001@hookswitch.test", call: "call", 2, toTag: tag, headers: ["Refer-To: <\(BridgedCall.line)>"])
        #expect(paths.isEmpty)
        target.answer(try target.received(.invite), 200, body: target.description("0"))
        settle(caller)
        #expect(paths.count == 1 && paths.first?.contains("/2001-2000-") == true, "\(paths)")
        device.hangUp(invite)
        target.answer(try target.received(.bye), 200)
        stage.expectQuiet()
    }

    @Test func `who is joined with a line that was consulted is recorded by it`() throws {
        defer { clearUp() }
        let (caller, device, invite, tag) = try callUnrecorded(), consulted = RawPeer(stage, 6)
        consulted.request("REGISTER", BridgedCall.line, call: "consulted", 1)
        caller.request("INVITE", BridgedCall.line, call: "consult", 1, body: caller.description("0"))
        consulted.answer(try consulted.received(.invite), 200, body: consulted.description("0"))
        let other = try #require(caller.heard.last { $0.status == 200 && $0.callID == "consult" }?.to.tag)
        caller.request("ACK", BridgedCall.line, call: "consult", 1, toTag: other)
        #expect(paths.count == 1 && endedCount == 0)
        let dialog = "consult%3Bto-tag%3D\(other)%3Bfrom-tag%3Dconsult"
        caller.request(
            "REFER", "sip:2001@hookswitch.test", call: "call", 2, toTag: tag,
            headers: ["Refer-To: <\(BridgedCall.line)?Replaces=\(dialog)>"])
        settle(caller)
        #expect(paths.count == 2 && endedCount == 1, "the consulting, and what the two say")
        device.hangUp(invite)
        consulted.answer(try consulted.received(.bye), 200)
        #expect(endedCount == 2)
        stage.expectQuiet()
    }

    @Test func `a line that has its caller transferred away does not go on recording it`() throws {
        defer { clearUp() }
        let call = try stage.bridge(), target = RawPeer(stage, 6)
        target.request("REGISTER", "sip:2001@hookswitch.test", call: "target", 1)
        call.fromDevice("REFER", headers: ["Refer-To: <sip:2001@hookswitch.test>"])
        #expect(paths.count == 1 && endedCount == 0, "the two still talk")
        target.answer(try target.received(.invite), 200, body: target.description("0"))
        settle(call.device)
        #expect(paths.count == 1 && endedCount == 1)
        call.fromCaller("REFER", headers: ["Refer-To: <\(BridgedCall.line)>"])
        let second = try #require(call.device.heard.last { $0.isRequest && $0.method == .invite })
        call.device.answer(second, 200, body: call.device.description("0"))
        settle(call.caller)
        #expect(paths.count == 2, "the line has a call again")
        target.request("BYE", in: try target.received(.invite), 3)
        call.device.answer(call.device.heard.last { $0.isRequest && $0.method == .bye }, 200)
        stage.expectQuiet()
    }
}
