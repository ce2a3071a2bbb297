import CallKit
import Primitives
import SIP
import Testing

@testable import Gateway

/// The ends of a leg, as the call system and the far end are told of them.
@Suite struct LegEndTests {
    struct Row: CustomTestStringConvertible {
        var name: String, end: LegEnd, report: CXCallEndedReason?, tellsPeer: Bool, decides: Bool
        /// The causes where none was known, while it rings and after, and where one was.
        var ringing: EndCause, talking: EndCause, known: EndCause
        var testDescription: String { name }
    }

    private static let known = EndCause.maximumDuration

    @Test(arguments: [
        Row(
            name: "the network ends it", end: .reported(.failed, .mediaTimeout), report: .failed, tellsPeer: true, decides: true,
            ringing: .mediaTimeout, talking: .mediaTimeout, known: .mediaTimeout),
        Row(
            name: "the far end ends it", end: .reported(.remoteEnded, .normalClearing, tellsPeer: false), report: .remoteEnded,
            tellsPeer: false, decides: true, ringing: .normalClearing, talking: .normalClearing, known: .normalClearing),
        Row(
            name: "a user ends it", end: .action, report: nil, tellsPeer: true, decides: true, ringing: .declined,
            talking: .normalClearing, known: Self.known),
        Row(
            name: "the system ends it", end: .system, report: nil, tellsPeer: true, decides: false, ringing: .failed, talking: .failed,
            known: Self.known),
        Row(
            name: "the provider is reset", end: .reset, report: nil, tellsPeer: true, decides: true, ringing: .failed,
            talking: .failed, known: Self.known),
    ])
    func `each end has a report, a cause, and says whether the far end is told`(row: Row) {
        #expect(row.end.report == row.report && row.end.tellsPeer == row.tellsPeer && row.end.decidesCause == row.decides)
        #expect(row.end.cause(isRinging: true, known: nil) == row.ringing)
        #expect(row.end.cause(isRinging: false, known: nil) == row.talking)
        #expect(row.end.cause(isRinging: true, known: Self.known) == row.known)
    }

    /// A leg that has come so far, by its name.
    private func leg(_ state: String, _ parts: Parts) throws -> Leg {
        switch state {
        case "ringing": return try #require(try parts.call())
        case "calling", "early":
            _ = try parts.call()
            if state == "early" { parts.answer(try #require(parts.wire.requests(.invite).last), 180) }
            return try #require(parts.table.legs.values.first { $0.direction == .outgoing })
        case "caller": return try parts.talk().caller
        default: return try parts.talk().callee
        }
    }

    @Test(arguments: [
        ("ringing", "603 INVITE"), ("calling", ""), ("early", "CANCEL"), ("caller", "BYE"), ("callee", "BYE"),
    ])
    func `the far end gets a response, a CANCEL or a BYE, by the state of the dialog`(state: String, message: String) throws {
        let parts = Parts()
        try parts.register("2000")
        let leg = try leg(state, parts), before = parts.wire.sent.count
        leg.end(.action)
        leg.end(.reset)
        let told = parts.wire.sent[before...].map(\.message).map { $0.status.map { "\($0) INVITE" } ?? "\($0.method)" }
        #expect(told.joined(separator: " ") == message)
        #expect(leg.state == .ended && leg.endCause == (state == "ringing" ? .declined : .normalClearing))
    }

    @Test func `a far end that ended the call is told nothing, and the call system is`() throws {
        let parts = Parts(), leg = try parts.talk().caller, before = parts.wire.sent.count
        leg.end(.reported(.remoteEnded, .transferred, tellsPeer: false))
        #expect(parts.wire.sent.count == before)
        #expect(parts.ends.map(\.call) == [leg.uuid] && parts.ends.map(\.end) == [.reported(.remoteEnded)])
    }

    @Test func `media stops before the report and before the BYE, and the first cause stays`() throws {
        let parts = Parts(), leg = try parts.talk().callee
        leg.endCause = .maximumDuration
        leg.end(.reported(.failed, .mediaTimeout))
        let kinds = [JournalEvent.Kind.mediaStopped, .reportEnded, .sipSent].compactMap { parts.events($0).last?.sequence }
        #expect(kinds.count == 3 && kinds == kinds.sorted())
        #expect(leg.endCause == .maximumDuration && parts.wire.requests(.bye).last?.reasons == EndCause.mediaTimeout.reasons)
    }

    @Test func `an end by the system decides no cause`() throws {
        let parts = Parts(), leg = try parts.talk().caller
        leg.end(.system)
        #expect(leg.state == .ended && leg.endCause == nil)
    }
}
