import CallJournal
import Primitives
import Testing

/// A call that was up when its gateway was killed, in its journal and in that of the gateway that ended it.
@Suite struct OrphanEndsTests {
    private static let alice = JournalScript.alice, bob = JournalScript.bob

    private static func killed() -> [JournalEvent] {
        var script = JournalScript()
        for (call, callID) in [(alice, "alice@a"), (bob, "bob@a")] as [(CallUUID, Text)] {
            script.add(.inviteReceived, call, [.callid: .text(callID), .from: "<sip:1@a>", .to: "<sip:2@a>"])
            script.connect(call)
        }
        return script.events
    }

    private static func survivor(_ callID: Text = "alice@a", of call: CallUUID = alice) -> [JournalEvent] {
        var script = JournalScript()
        script.add(
            .callOrphanEnded, nil,
            [.callid: .text(callID), .with: .uuid(call), .node: "a", .remote: "sip:1@192.0.2.1", .status: 200])
        return script.stop()
    }

    private func ends(_ journals: [JournalEvent]...) -> OrphanEnds {
        var ends = OrphanEnds()
        for event in journals.joined() { ends.note(event) }
        return ends
    }

    @Test func `a call is ended by the journal of the survivor, in whatever order they are read`() {
        for ends in [ends(Self.killed(), Self.survivor()), ends(Self.survivor(), Self.killed())] {
            #expect(ends[Self.alice]?.node == "a" && ends[Self.alice]?.status == 200 && ends[Self.alice]?.callID == "alice@a")
            #expect(ends[Self.bob] == nil, "nobody has ended it")
        }
    }

    @Test func `a caller that was refused before the answer has an end without a status`() {
        var script = JournalScript()
        script.add(.callOrphanEnded, nil, [.callid: "alice@a", .with: .uuid(Self.alice), .node: "a", .remote: "sip:1@192.0.2.1"])
        let ends = ends(Self.killed(), script.stop())
        #expect(ends[Self.alice]?.node == "a" && ends[Self.alice]?.status == nil)
    }

    @Test func `without the survivor's line, or with another Call-ID or call, it is not`() {
        let broken = Self.survivor().filter { $0.kind != .callOrphanEnded }
        #expect(ends(Self.killed(), broken)[Self.alice] == nil)
        #expect(ends(Self.killed(), Self.survivor("other@a"))[Self.alice] == nil)
        #expect(ends(Self.killed(), Self.survivor("alice@a", of: Self.bob))[Self.alice] == nil)
        #expect(ends(Self.survivor())[Self.alice] == nil, "its own journal is not there")
    }

    @Test func `the journal of a survivor breaks no rule`() {
        #expect(JournalAuditTests.violations(of: Self.survivor()) == [])
    }
}
