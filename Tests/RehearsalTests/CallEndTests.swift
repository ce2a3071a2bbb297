import CallJournal
import Foundation
import Primitives
import SIP
import Testing

@testable import Console
@testable import Gateway
@testable import Rehearsal

/// By whom and why a call ended, as events and reads of the control interface tell.
@Suite struct CallEndTests {
    private let stage = Stage { configuration in configuration.lines[0].ringTimeout = .seconds(20) }

    /// The call of the far end that was called, and that of its caller.
    private struct Ends: Equatable { var callee: String, caller: String }

    /// What `call.ended` tells of both calls, as `remote 16`.
    private func told(_ location: SourceLocation = #_sourceLocation) throws -> Ends {
        stage.expectQuiet(location)
        let hub = EventHub()
        var ends: [UUID: String] = [:]
        _ = hub.listen(EventFilter(types: [.callEnded]), after: nil) { json, event, _ in
            let object = (try? JSONSerialization.jsonObject(with: Data(json))) as? [String: Any]
            let data = object?["data"] as? [String: Any]
            ends[event.call!.uuid] = "\(data?["endedBy"] ?? "-") \(data?["q850"] ?? "-")"
        } end: { _ in
        }
        hub.accept(stage.transcript.events, at: .zero)
        func end(isOutgoing: Bool) throws -> String {
            let call = try #require(hub.view.calls.values.first { $0.isOutgoing == isOutgoing }), body = CallBody(call, with: [])
            let shown = "\(body.endedBy ?? "-") \(body.q850.map { "\($0)" } ?? "-")"
            #expect(ends[call.id.uuid] == shown, sourceLocation: location)
            return shown
        }
        return Ends(callee: try end(isOutgoing: true), caller: try end(isOutgoing: false))
    }

    @Test(arguments: [
        ("Q.850;cause=16", "16"), ("Q.850;cause=31;text=\"Normal, unspecified\"", "31"), ("SIP;cause=486", "17"), ("", "16"),
        ("Q.850;cause=999", "-"), ("Q.850;cause=-1", "-"), ("X.25;cause=7", "-"),
    ])
    func `a call that the far end hangs up is ended by it, for the reason that it gives`(reason: String, cause: String) throws {
        let call = try stage.bridge()
        call.fromDevice("BYE", headers: reason.isEmpty ? [] : ["Reason: \(reason)"])
        call.caller.answer(try call.caller.received(.bye), 200)
        #expect(try told() == Ends(callee: "remote \(cause)", caller: "local \(cause)"))
    }

    /// A call that rings, and the INVITE to the device.
    private func ring() throws -> (caller: RawPeer, device: RawPeer, invite: Message) {
        let (caller, device) = (RawPeer(stage, 1), RawPeer(stage, 2))
        device.request("REGISTER", BridgedCall.line, call: "register", 1)
        caller.request("INVITE", BridgedCall.line, call: "ringing", 1, body: caller.description())
        let invite = try device.received(.invite)
        device.answer(invite, 180)
        return (caller, device, invite)
    }

    @Test(arguments: [
        (486, "", "17"), (603, "", "21"), (480, "Q.850;cause=20", "20"), (603, "SIP;cause=486;text=\"Busy\"", "21"),
    ])
    func `a call that the far end rejects is ended by it, with the cause of its status`(status: Int, reason: Text, cause: String) throws {
        let (caller, device, invite) = try ring()
        device.answer(invite, status, headers: reason.isEmpty ? [] : [(.reason, reason)])
        #expect(caller.final(.invite, 1)?.status == status)
        #expect(try told() == Ends(callee: "remote \(cause)", caller: "local \(cause)"))
    }

    @Test(arguments: [("", "-"), ("Q.850;cause=31", "31")])
    func `a call that its caller gives up is ended by the caller`(reason: String, cause: String) throws {
        let (caller, device, invite) = try ring()
        caller.cancel("ringing", reason: reason)
        device.answer(invite, 487)
        #expect(try told() == Ends(callee: "local \(cause)", caller: "remote \(cause)"))
    }

    @Test func `a call that nobody answers in time is ended by the gateway`() throws {
        let (_, device, invite) = try ring()
        stage.run(seconds: 25)
        device.answer(invite, 487)
        #expect(try told() == Ends(callee: "gateway 19", caller: "gateway 19"))
    }

    @Test func `a call that its line does not take is told, and not shown as one that rings`() throws {
        let caller = RawPeer(stage, 1)
        stage.gateway.setDoNotDisturb(true, ofLine: "2000", at: stage.world.now)
        caller.request("INVITE", BridgedCall.line, call: "filtered", 1, body: caller.description())
        #expect(caller.final(.invite, 1)?.status == 480)
        stage.expectQuiet()
        let hub = EventHub()
        var told: [EventType] = []
        _ = hub.listen(EventFilter(types: [.callFiltered]), after: nil) { _, event, _ in
            told.append(event.type)
        } end: { _ in
        }
        hub.accept(stage.transcript.events, at: .zero)
        #expect(told == [.callFiltered] && hub.view.calls.isEmpty && hub.view.conversations.all.isEmpty)
    }

    @Test func `a call that lasts too long is ended by the gateway, and its other leg with it`() throws {
        let stage = Stage { configuration in configuration.lines[0].maximumDuration = .seconds(60) }
        let call = try stage.bridge()
        stage.run(seconds: 61)
        for peer in [call.caller, call.device] { peer.answer(try peer.received(.bye), 200) }
        stage.expectQuiet()
        let ends = stage.events(.callEnded)
        #expect(ends.count == 2 && ends.allSatisfy { $0.details.number(.q850) == 102 })
        #expect(ends.map { $0.details.text(.endedBy) } == ["gateway", "local"])
    }
}
