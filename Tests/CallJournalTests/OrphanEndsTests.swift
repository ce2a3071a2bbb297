import CallJournal
import Primitives
import Testing

/// A call that was up when its gateway was killed, in its journal and in that of the gateway that ended it, or went on with it.
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

    /// The journal of the gateway that was killed has the number 0, others in their order.
    private func ends(killed: [JournalEvent]?, _ others: [JournalEvent]..., last isKilledLast: Bool = false) -> OrphanEnds {
        var ends = OrphanEnds()
        let journals = others.enumerated().map { (number: $0 + 1, events: $1) }, own = [(number: 0, events: killed ?? [])]
        for journal in isKilledLast ? journals + own : own + journals {
            for event in journal.events { ends.note(event, of: journal.number) }
        }
        return ends
    }

    private static func adopter(_ callID: Text = "alice@a", isOver: Bool) -> [JournalEvent] {
        var script = JournalScript(scope: "perGroup")
        script.adopt(alice, callID, script.request("start")[0])
        script.answered(alice, cseq: 1_001)
        script.activate(alice)
        script.start(alice)
        guard isOver else { return script.events }
        script.bye(alice)
        script.deactivate()
        script.close(alice)
        return script.stop()
    }

    @Test func `a call is ended by the journal of the survivor, in whatever order they are read`() {
        for ends in [false, true].map({ ends(killed: Self.killed(), Self.survivor(), last: $0) }) {
            #expect(ends[Self.alice, 0]?.node == "a" && ends[Self.alice, 0]?.status == 200 && ends[Self.alice, 0]?.callID == "alice@a")
            #expect(ends[Self.bob, 0] == nil, "nobody has ended it")
        }
    }

    @Test func `a caller that was refused before the answer has an end without a status`() {
        var script = JournalScript()
        script.add(.callOrphanEnded, nil, [.callid: "alice@a", .with: .uuid(Self.alice), .node: "a", .remote: "sip:1@192.0.2.1"])
        let ends = ends(killed: Self.killed(), script.stop())
        #expect(ends[Self.alice, 0]?.node == "a" && ends[Self.alice, 0]?.status == nil)
    }

    @Test func `without the survivor's line, or with another Call-ID or call, it is not`() {
        let broken = Self.survivor().filter { $0.kind != .callOrphanEnded }
        #expect(ends(killed: Self.killed(), broken)[Self.alice, 0] == nil)
        #expect(ends(killed: Self.killed(), Self.survivor("other@a"))[Self.alice, 0] == nil)
        #expect(ends(killed: Self.killed(), Self.survivor("alice@a", of: Self.bob))[Self.alice, 0] == nil)
        #expect(ends(killed: nil, Self.survivor())[Self.alice, 0] == nil, "its own journal is not there")
    }

    @Test func `the journal of a survivor breaks no rule`() {
        #expect(JournalAuditTests.violations(of: Self.survivor()) == [])
    }

    @Test(arguments: [true, false]) func `a call that went on is followed to where it did, over or not, in whatever order they are read`(
        isOver: Bool
    ) {
        for ends in [false, true].map({ ends(killed: Self.killed(), Self.adopter(isOver: isOver), last: $0) }) {
            #expect(ends[Self.alice, 0]?.node == "a" && ends[Self.alice, 0]?.isAdopted == true && ends[Self.alice, 0]?.status == nil)
            #expect(ends[Self.bob, 0] == nil && ends[Self.alice, 1] == nil || isOver, "nobody has taken it from there")
        }
        #expect(JournalAuditTests.violations(of: Self.adopter(isOver: isOver)) == [])
    }

    @Test func `without its call.adopted, or with another Call-ID, it is not`() {
        let broken = Self.adopter(isOver: true).filter { $0.kind != .callAdopted }
        #expect(ends(killed: Self.killed(), broken)[Self.alice, 0] == nil)
        #expect(ends(killed: Self.killed(), Self.adopter("other@a", isOver: true))[Self.alice, 0] == nil)
    }

    @Test func `a call that went on, and whose second gateway died, too, has the end that the third gave it`() {
        let ends = ends(killed: Self.killed(), Self.adopter(isOver: false), Self.survivor())
        for journal in [0, 1] { #expect(ends[Self.alice, journal]?.isAdopted == false && ends[Self.alice, journal]?.status == 200) }
    }

    @Test func `a gateway that comes back goes on with a call of its own`() {
        let ends = ends(killed: Self.killed() + Self.adopter(isOver: true))
        #expect(ends[Self.alice, 0]?.isAdopted == true)
    }
}
