import Foundation
import Primitives
import SIP
import Testing
import UserAgent

@testable import Gateway

/// A registration that is kept over a restart, as texts and dates.
@Suite struct SavedRegistrationTests {
    /// The wall clock at `Instant.zero` of the process before.
    private static let epoch = Date(timeIntervalSince1970: 1_790_000_000)

    /// - Parameter isBare: without a name, a path and an agent.
    private static func contact(isBare: Bool = false) throws -> Registrar.Contact {
        let address = try NameAddress(parsing: "\"Desk\" <sip:1001@192.0.2.7:5062;transport=tcp>;+sip.instance=\"<urn:uuid:1>\";q=0.5")
        let flow = Flow(transport: .tcp, local: SocketAddress("192.0.2.1:5060")!, remote: SocketAddress("[2001:db8::7]:40000")!)
        let path = [try NameAddress(parsing: "<sip:p1.test;lr>"), try NameAddress(parsing: "<sip:p2.test;lr>")]
        return Registrar.Contact(
            uri: address.uri, displayName: isBare ? nil : address.displayName, parameters: address.parameters, path: isBare ? [] : path,
            origin: flow, userAgent: isBare ? nil : "Phone/1", callID: "abc", cseq: 7, refreshed: .zero + .seconds(100),
            expiry: .zero + .seconds(700))
    }

    @Test func `it comes back as it was, on the clock of another process`() throws {
        let contact = try Self.contact(), saved = SavedRegistration(contact, user: "1001", epoch: Self.epoch)
        #expect(saved.user == "1001" && saved.transport == "tcp" && saved.remote == "[2001:db8::7]:40000")
        #expect(saved.refreshed == Self.epoch.addingTimeInterval(100) && saved.expiry == Self.epoch.addingTimeInterval(700))
        // The process after it began 90 s later, and has run for 20 s.
        let back = try #require(saved.contact(epoch: Self.epoch.addingTimeInterval(90), at: .zero + .seconds(20)))
        #expect(back.uri == contact.uri && back.displayName == contact.displayName && back.parameters == contact.parameters)
        #expect(back.path == contact.path && back.origin == contact.origin && back.userAgent == "Phone/1")
        #expect(back.callID == "abc" && back.cseq == 7)
        #expect(back.refreshed == .zero + .seconds(10) && back.expiry == .zero + .seconds(610))
    }

    @Test(
        arguments: [
            // How much later the new process began than the old, and what is left at 20 s on its clock.
            (0, 100, 700), (690, 0, 10), (-50, 20, 620), (-1_000_000, 20, 620), (1_000, 0, 0),
        ] as [(Double, Int64, Int64)])
    func `a wall clock that was set back or forth gives nobody more than was granted`(later: Double, refreshed: Int64, expiry: Int64) throws
    {
        let saved = SavedRegistration(try Self.contact(), user: "1001", epoch: Self.epoch)
        let now = Instant.zero + .seconds(refreshed == 100 ? 200 : 20)
        let back = try #require(saved.contact(epoch: Self.epoch.addingTimeInterval(later), at: now))
        #expect(back.refreshed == .zero + .seconds(refreshed) && back.expiry == .zero + .seconds(expiry))
    }

    @Test(
        arguments: [
            { $0.contact = "<sip:" }, { $0.transport = "carrier-pigeon" }, { $0.local = "here" }, { $0.remote = "" },
        ] as [@Sendable (inout SavedRegistration) -> Void])
    func `what cannot be read is none`(damage: @Sendable (inout SavedRegistration) -> Void) throws {
        var saved = SavedRegistration(try Self.contact(), user: "1001", epoch: Self.epoch)
        damage(&saved)
        #expect(saved.contact(epoch: Self.epoch, at: .zero) == nil)
    }

    @Test func `without a path, an agent and a name there are none`() throws {
        let saved = SavedRegistration(try Self.contact(isBare: true), user: "1001", epoch: Self.epoch)
        #expect(saved.path.isEmpty && saved.userAgent == nil)
        let back = try #require(saved.contact(epoch: Self.epoch, at: .zero + .seconds(200)))
        #expect(back.path.isEmpty && back.userAgent == nil && back.displayName == nil)
    }

    @Test func `lines that were never kept are empty`() {
        var state = KeptState()
        #expect(state["1001"] == LineRecord() && state.lines.isEmpty)
        state["1001"].blocked.insert("666")
        #expect(state["1001"].blocked == ["666"] && state["1002"].blocked.isEmpty && state.lines.count == 1)
    }
}
