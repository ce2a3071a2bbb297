import Primitives
import SIP
import Testing

@Suite struct TransactionServerTests {
    enum Input: Sendable {
        case respond(Int)
        case request
        case acknowledgement
        case advance(milliseconds: Int)
        case transportFailure
        case awaitUser
    }

    typealias Invite = InviteServerTransaction
    typealias Other = NonInviteServerTransaction

    struct InviteRow: Sendable, CustomTestStringConvertible {
        let name: String
        var reliable = false
        let before: [Input]
        let input: Input
        let outputs: [Invite.Output]
        let state: Invite.State
        var testDescription: String { name }
    }

    static let inviteRows: [InviteRow] = [
        .init(name: "proceeding, INVITE before any response", before: [], input: .request, outputs: [], state: .proceeding),
        .init(name: "proceeding, INVITE again", before: [.respond(100)], input: .request, outputs: [.resend], state: .proceeding),
        .init(name: "proceeding, 1xx", before: [.respond(100)], input: .respond(180), outputs: [.sendResponse], state: .proceeding),
        .init(name: "proceeding, 2xx", before: [], input: .respond(200), outputs: [.sendResponse], state: .accepted),
        .init(name: "proceeding, 486", before: [], input: .respond(486), outputs: [.sendResponse], state: .completed),
        .init(name: "proceeding, ACK", before: [], input: .acknowledgement, outputs: [], state: .proceeding),
        .init(name: "proceeding, time", before: [.respond(180)], input: .advance(milliseconds: 600_000), outputs: [], state: .proceeding),
        .init(
            name: "proceeding, transport error", before: [.respond(180)], input: .transportFailure, outputs: [.transportFailed],
            state: .proceeding),
        .init(name: "accepted, INVITE again", before: [.respond(200)], input: .request, outputs: [], state: .accepted),
        .init(
            name: "accepted, 2xx again from the user", before: [.respond(200)], input: .respond(200), outputs: [.sendResponse],
            state: .accepted),
        .init(name: "accepted, 486", before: [.respond(200)], input: .respond(486), outputs: [], state: .accepted),
        .init(name: "accepted, 1xx", before: [.respond(200)], input: .respond(180), outputs: [], state: .accepted),
        .init(
            name: "accepted, ACK", before: [.respond(200)], input: .acknowledgement, outputs: [.deliverAcknowledgement], state: .accepted),
        .init(
            name: "accepted, ACK again", before: [.respond(200), .acknowledgement], input: .acknowledgement,
            outputs: [.deliverAcknowledgement], state: .accepted),
        .init(
            name: "accepted, transport error", before: [.respond(200)], input: .transportFailure, outputs: [.transportFailed],
            state: .accepted),
        .init(
            name: "accepted, before timer L", before: [.respond(200)], input: .advance(milliseconds: 31_999), outputs: [], state: .accepted),
        .init(
            name: "accepted, timer L", before: [.respond(200)], input: .advance(milliseconds: 32_000), outputs: [.terminated],
            state: .terminated),
        .init(
            name: "accepted, timer L on TCP", reliable: true, before: [.respond(200)], input: .advance(milliseconds: 32_000),
            outputs: [.terminated], state: .terminated),
        .init(name: "completed, INVITE again", before: [.respond(486)], input: .request, outputs: [.resend], state: .completed),
        .init(
            name: "completed, timer G", before: [.respond(486)], input: .advance(milliseconds: 500), outputs: [.resend], state: .completed),
        .init(
            name: "completed, no timer G on TCP", reliable: true, before: [.respond(486)], input: .advance(milliseconds: 500), outputs: [],
            state: .completed),
        .init(
            name: "completed, timer H", before: [.respond(486)], input: .advance(milliseconds: 32_000), outputs: [.timedOut, .terminated],
            state: .terminated),
        .init(
            name: "completed, timer H on TCP", reliable: true, before: [.respond(486)], input: .advance(milliseconds: 32_000),
            outputs: [.timedOut, .terminated], state: .terminated),
        .init(
            name: "completed, transport error", before: [.respond(486)], input: .transportFailure, outputs: [.transportFailed],
            state: .completed),
        .init(name: "completed, 200 from the user", before: [.respond(486)], input: .respond(200), outputs: [], state: .completed),
        .init(name: "completed, 1xx from the user", before: [.respond(486)], input: .respond(180), outputs: [], state: .completed),
        .init(name: "completed, ACK", before: [.respond(486)], input: .acknowledgement, outputs: [], state: .confirmed),
        .init(
            name: "completed, ACK on TCP", reliable: true, before: [.respond(486)], input: .acknowledgement, outputs: [.terminated],
            state: .terminated),
        .init(
            name: "confirmed, ACK again", before: [.respond(486), .acknowledgement], input: .acknowledgement, outputs: [], state: .confirmed
        ),
        .init(name: "confirmed, INVITE again", before: [.respond(486), .acknowledgement], input: .request, outputs: [], state: .confirmed),
        .init(
            name: "confirmed, no timer G", before: [.respond(486), .acknowledgement], input: .advance(milliseconds: 4_999), outputs: [],
            state: .confirmed),
        .init(
            name: "confirmed, timer I", before: [.respond(486), .acknowledgement], input: .advance(milliseconds: 5_000),
            outputs: [.terminated], state: .terminated),
        .init(
            name: "terminated, INVITE again", reliable: true, before: [.respond(486), .acknowledgement], input: .request, outputs: [],
            state: .terminated),
        .init(
            name: "terminated, 200 from the user", reliable: true, before: [.respond(486), .acknowledgement], input: .respond(200),
            outputs: [], state: .terminated),
    ]

    @Test(arguments: inviteRows)
    func `an INVITE server follows its state table`(row: InviteRow) {
        var machine = Invite(isReliable: row.reliable, timers: TimerValues())
        for input in row.before { _ = step(&machine, input) }
        #expect(step(&machine, row.input) == row.outputs)
        #expect(machine.state == row.state)
        #expect(machine.state != .terminated || machine.deadline == nil)
    }

    private func step(_ machine: inout Invite, _ input: Input) -> [Invite.Output] {
        switch input {
        case .respond(let status): machine.respond(status: status, at: .zero)
        case .request: machine.receiveInvite()
        case .acknowledgement: machine.receiveAcknowledgement(at: .zero)
        case .advance(let milliseconds): machine.advance(to: at(milliseconds))
        case .transportFailure: machine.transportFailed()
        case .awaitUser: []
        }
    }

    @Test func `a refusal of an INVITE is repeated with doubling intervals up to T2 for 32 s`() {
        var machine = Invite(isReliable: false, timers: TimerValues())
        var sends: [Int] = machine.respond(status: 486, at: .zero) == [.sendResponse] ? [0] : []
        var end: Int?
        while let due = machine.deadline {
            let outputs = machine.advance(to: due)
            let time = Int((due - .zero).wholeMilliseconds)
            if outputs == [.resend] { sends.append(time) } else if outputs == [.timedOut, .terminated] { end = time }
        }
        #expect(sends == [0, 500, 1_500, 3_500, 7_500, 11_500, 15_500, 19_500, 23_500, 27_500, 31_500])
        #expect(end == 32_000)
    }

    struct OtherRow: Sendable, CustomTestStringConvertible {
        let name: String
        var reliable = false
        let before: [Input]
        let input: Input
        let outputs: [Other.Output]
        let state: Other.State
        var testDescription: String { name }
    }

    static let otherRows: [OtherRow] = [
        .init(name: "trying, request again", before: [], input: .request, outputs: [], state: .trying),
        .init(name: "trying, transport error", before: [], input: .transportFailure, outputs: [], state: .trying),
        .init(name: "trying, 1xx", before: [], input: .respond(100), outputs: [.sendResponse], state: .proceeding),
        .init(
            name: "trying, the user takes its time", before: [.awaitUser], input: .advance(milliseconds: 3_499), outputs: [], state: .trying
        ),
        .init(
            name: "trying, the user has taken its time", before: [.awaitUser], input: .advance(milliseconds: 3_500), outputs: [.sendTrying],
            state: .trying),
        .init(
            name: "trying, a 100 was due before", before: [.awaitUser, .advance(milliseconds: 3_500)], input: .advance(milliseconds: 3_600),
            outputs: [], state: .trying),
        .init(
            name: "proceeding, no 100 of our own", before: [.awaitUser, .respond(100)], input: .advance(milliseconds: 3_500), outputs: [],
            state: .proceeding),
        .init(name: "trying, 200", before: [], input: .respond(200), outputs: [.sendResponse], state: .completed),
        .init(
            name: "trying, 200 on TCP", reliable: true, before: [], input: .respond(200), outputs: [.sendResponse, .terminated],
            state: .terminated),
        .init(name: "proceeding, request again", before: [.respond(100)], input: .request, outputs: [.resend], state: .proceeding),
        .init(name: "proceeding, 1xx", before: [.respond(100)], input: .respond(183), outputs: [.sendResponse], state: .proceeding),
        .init(name: "proceeding, 500", before: [.respond(100)], input: .respond(500), outputs: [.sendResponse], state: .completed),
        .init(
            name: "proceeding, transport error", before: [.respond(100)], input: .transportFailure, outputs: [.transportFailed],
            state: .proceeding),
        .init(name: "completed, request again", before: [.respond(200)], input: .request, outputs: [.resend], state: .completed),
        .init(name: "completed, another final", before: [.respond(200)], input: .respond(500), outputs: [], state: .completed),
        .init(
            name: "completed, transport error", before: [.respond(200)], input: .transportFailure, outputs: [.transportFailed],
            state: .completed),
        .init(
            name: "completed, before timer J", before: [.respond(200)], input: .advance(milliseconds: 31_999), outputs: [],
            state: .completed),
        .init(
            name: "completed, timer J", before: [.respond(200)], input: .advance(milliseconds: 32_000), outputs: [.terminated],
            state: .terminated),
        .init(name: "terminated, request again", reliable: true, before: [.respond(200)], input: .request, outputs: [], state: .terminated),
    ]

    @Test(arguments: otherRows)
    func `a non-INVITE server follows its state table`(row: OtherRow) {
        var machine = Other(isReliable: row.reliable, timers: TimerValues())
        for input in row.before { _ = step(&machine, input) }
        #expect(step(&machine, row.input) == row.outputs)
        #expect(machine.state == row.state)
        #expect(machine.state != .terminated || machine.deadline == nil)
    }

    private func step(_ machine: inout Other, _ input: Input) -> [Other.Output] {
        switch input {
        case .respond(let status): machine.respond(status: status, at: .zero)
        case .request: machine.receiveRequest()
        case .acknowledgement: []
        case .advance(let milliseconds): machine.advance(to: at(milliseconds))
        case .transportFailure: machine.transportFailed()
        case .awaitUser: wait(&machine)
        }
    }

    private func wait(_ machine: inout Other) -> [Other.Output] {
        machine.awaitUser(at: .zero)
        return []
    }

    @Test(arguments: [(500, 4_000, 3_500), (100, 4_000, 6_300), (4_000, 4_000, 4_000)])
    func `a 100 waits until its sender has come to repeat itself every T2`(t1: Int64, t2: Int64, due: Int64) {
        #expect(TimerValues(t1: .milliseconds(t1), t2: .milliseconds(t2)).untilRare == .milliseconds(due))
    }
}
