import Primitives
import SIP
import Testing

func at(_ milliseconds: Int) -> Instant { Instant.zero + .milliseconds(milliseconds) }

@Suite struct TransactionClientTests {
    enum Input: Sendable {
        case response(Int)
        case advance(milliseconds: Int)
        case transportFailure
        case abandon
    }

    typealias Invite = InviteClientTransaction
    typealias Other = NonInviteClientTransaction

    struct InviteRow: Sendable, CustomTestStringConvertible {
        let name: String
        let reliable: Bool
        let before: [Input]
        let input: Input
        let outputs: [Invite.Output]
        let state: Invite.State
        var testDescription: String { name }
    }

    static let inviteRows: [InviteRow] = [
        .init(
            name: "calling, timer A", reliable: false, before: [], input: .advance(milliseconds: 500), outputs: [.sendRequest],
            state: .calling),
        .init(
            name: "calling, before timer A", reliable: false, before: [], input: .advance(milliseconds: 499), outputs: [], state: .calling),
        .init(
            name: "calling, no timer A on TCP", reliable: true, before: [], input: .advance(milliseconds: 500), outputs: [], state: .calling
        ),
        .init(
            name: "calling, timer B", reliable: false, before: [], input: .advance(milliseconds: 32_000),
            outputs: [.timedOut, .terminated], state: .terminated),
        .init(
            name: "calling, timer B on TCP", reliable: true, before: [], input: .advance(milliseconds: 32_000),
            outputs: [.timedOut, .terminated], state: .terminated),
        .init(
            name: "calling, transport error", reliable: false, before: [], input: .transportFailure,
            outputs: [.transportFailed, .terminated], state: .terminated),
        .init(name: "calling, 1xx", reliable: false, before: [], input: .response(100), outputs: [.deliver], state: .proceeding),
        .init(name: "calling, 2xx", reliable: false, before: [], input: .response(200), outputs: [.deliver], state: .accepted),
        .init(
            name: "calling, 300", reliable: false, before: [], input: .response(300), outputs: [.sendAcknowledgement, .deliver],
            state: .completed),
        .init(
            name: "calling, 699 on TCP", reliable: true, before: [], input: .response(699),
            outputs: [.sendAcknowledgement, .deliver, .terminated], state: .terminated),
        .init(name: "calling, 700 is no response", reliable: false, before: [], input: .response(700), outputs: [], state: .calling),
        .init(
            name: "proceeding, 1xx", reliable: false, before: [.response(100)], input: .response(180), outputs: [.deliver],
            state: .proceeding),
        .init(
            name: "proceeding, time", reliable: false, before: [.response(100)], input: .advance(milliseconds: 600_000), outputs: [],
            state: .proceeding),
        .init(
            name: "proceeding, 2xx", reliable: false, before: [.response(180)], input: .response(299), outputs: [.deliver], state: .accepted
        ),
        .init(
            name: "proceeding, 486", reliable: false, before: [.response(180)], input: .response(486),
            outputs: [.sendAcknowledgement, .deliver], state: .completed),
        .init(
            name: "proceeding, connection lost", reliable: true, before: [.response(180)], input: .transportFailure, outputs: [],
            state: .proceeding),
        .init(
            name: "proceeding, abandoned", reliable: false, before: [.response(180)], input: .abandon, outputs: [.terminated],
            state: .terminated),
        .init(
            name: "accepted, 2xx of a fork", reliable: false, before: [.response(200)], input: .response(200), outputs: [.deliver],
            state: .accepted),
        .init(name: "accepted, 1xx", reliable: false, before: [.response(200)], input: .response(180), outputs: [], state: .accepted),
        .init(name: "accepted, 486", reliable: false, before: [.response(200)], input: .response(486), outputs: [], state: .accepted),
        .init(
            name: "accepted, transport error", reliable: false, before: [.response(200)], input: .transportFailure, outputs: [],
            state: .accepted),
        .init(
            name: "accepted, before timer M", reliable: false, before: [.response(200)], input: .advance(milliseconds: 31_999), outputs: [],
            state: .accepted),
        .init(
            name: "accepted, timer M", reliable: false, before: [.response(200)], input: .advance(milliseconds: 32_000),
            outputs: [.terminated], state: .terminated),
        .init(
            name: "accepted, timer M on TCP", reliable: true, before: [.response(200)], input: .advance(milliseconds: 32_000),
            outputs: [.terminated], state: .terminated),
        .init(
            name: "completed, 300–699", reliable: false, before: [.response(486)], input: .response(486), outputs: [.sendAcknowledgement],
            state: .completed),
        .init(name: "completed, 2xx", reliable: false, before: [.response(486)], input: .response(200), outputs: [], state: .completed),
        .init(name: "completed, 1xx", reliable: false, before: [.response(486)], input: .response(180), outputs: [], state: .completed),
        .init(
            name: "completed, transport error", reliable: false, before: [.response(486)], input: .transportFailure, outputs: [.terminated],
            state: .terminated),
        .init(
            name: "completed, timer D", reliable: false, before: [.response(486)], input: .advance(milliseconds: 32_000),
            outputs: [.terminated], state: .terminated),
        .init(name: "terminated, 200", reliable: true, before: [.response(486)], input: .response(200), outputs: [], state: .terminated),
        .init(
            name: "terminated, abandoned again", reliable: true, before: [.response(486)], input: .abandon, outputs: [], state: .terminated),
    ]

    @Test(arguments: inviteRows)
    func `an INVITE client follows its state table`(row: InviteRow) {
        var machine = Invite(isReliable: row.reliable, timers: TimerValues())
        #expect(machine.start(at: .zero) == [.sendRequest])
        for input in row.before { _ = step(&machine, input) }
        #expect(step(&machine, row.input) == row.outputs)
        #expect(machine.state == row.state)
        #expect(machine.state != .terminated || machine.deadline == nil)
    }

    private func step(_ machine: inout Invite, _ input: Input) -> [Invite.Output] {
        switch input {
        case .response(let status): machine.receive(status: status, at: .zero)
        case .advance(let milliseconds): machine.advance(to: at(milliseconds))
        case .transportFailure: machine.transportFailed()
        case .abandon: machine.abandon()
        }
    }

    @Test func `an INVITE is sent at 0, 0,5, 1,5, 3,5, 7,5, 15,5 and 31,5 s, and given up at 32 s`() {
        var machine = Invite(isReliable: false, timers: TimerValues())
        var sends: [Int] = machine.start(at: .zero) == [.sendRequest] ? [0] : []
        var end: Int?
        while let due = machine.deadline {
            let outputs = machine.advance(to: due)
            let time = Int((due - .zero).wholeMilliseconds)
            if outputs == [.sendRequest] { sends.append(time) } else if outputs == [.timedOut, .terminated] { end = time }
        }
        #expect(sends == [0, 500, 1_500, 3_500, 7_500, 15_500, 31_500])
        #expect(end == 32_000)
    }

    struct OtherRow: Sendable, CustomTestStringConvertible {
        let name: String
        let reliable: Bool
        let before: [Input]
        let input: Input
        let outputs: [Other.Output]
        let state: Other.State
        var testDescription: String { name }
    }

    static let otherRows: [OtherRow] = [
        .init(
            name: "trying, timer E", reliable: false, before: [], input: .advance(milliseconds: 500), outputs: [.sendRequest],
            state: .trying),
        .init(
            name: "trying, no timer E on TCP", reliable: true, before: [], input: .advance(milliseconds: 500), outputs: [], state: .trying),
        .init(
            name: "trying, timer F", reliable: false, before: [], input: .advance(milliseconds: 32_000), outputs: [.timedOut, .terminated],
            state: .terminated),
        .init(
            name: "trying, transport error", reliable: false, before: [], input: .transportFailure,
            outputs: [.transportFailed, .terminated], state: .terminated),
        .init(name: "trying, 1xx", reliable: false, before: [], input: .response(100), outputs: [.deliver], state: .proceeding),
        .init(name: "trying, 200", reliable: false, before: [], input: .response(200), outputs: [.deliver], state: .completed),
        .init(
            name: "trying, 481 on TCP", reliable: true, before: [], input: .response(481), outputs: [.deliver, .terminated],
            state: .terminated),
        .init(
            name: "proceeding, timer E", reliable: false, before: [.response(100)], input: .advance(milliseconds: 500),
            outputs: [.sendRequest], state: .proceeding),
        .init(
            name: "proceeding, timer F", reliable: false, before: [.response(100)], input: .advance(milliseconds: 32_000),
            outputs: [.timedOut, .terminated], state: .terminated),
        .init(
            name: "proceeding, transport error", reliable: true, before: [.response(100)], input: .transportFailure,
            outputs: [.transportFailed, .terminated], state: .terminated),
        .init(
            name: "proceeding, 1xx", reliable: false, before: [.response(100)], input: .response(183), outputs: [.deliver],
            state: .proceeding),
        .init(
            name: "proceeding, 603", reliable: false, before: [.response(100)], input: .response(603), outputs: [.deliver],
            state: .completed),
        .init(
            name: "completed, 200 again", reliable: false, before: [.response(200)], input: .response(200), outputs: [], state: .completed),
        .init(
            name: "completed, before timer K", reliable: false, before: [.response(200)], input: .advance(milliseconds: 4_999), outputs: [],
            state: .completed),
        .init(
            name: "completed, timer K", reliable: false, before: [.response(200)], input: .advance(milliseconds: 5_000),
            outputs: [.terminated], state: .terminated),
        .init(
            name: "completed, transport error", reliable: false, before: [.response(200)], input: .transportFailure, outputs: [.terminated],
            state: .terminated),
        .init(name: "terminated, 200", reliable: true, before: [.response(200)], input: .response(200), outputs: [], state: .terminated),
    ]

    @Test(arguments: otherRows)
    func `a non-INVITE client follows its state table`(row: OtherRow) {
        var machine = Other(isReliable: row.reliable, timers: TimerValues())
        #expect(machine.start(at: .zero) == [.sendRequest])
        for input in row.before { _ = step(&machine, input) }
        #expect(step(&machine, row.input) == row.outputs)
        #expect(machine.state == row.state)
        #expect(machine.state != .terminated || machine.deadline == nil)
    }

    private func step(_ machine: inout Other, _ input: Input) -> [Other.Output] {
        switch input {
        case .response(let status): machine.receive(status: status, at: .zero)
        case .advance(let milliseconds): machine.advance(to: at(milliseconds))
        case .transportFailure, .abandon: machine.transportFailed()
        }
    }

    @Test(arguments: [
        (nil as Int?, [0, 500, 1_500, 3_500, 7_500, 11_500, 15_500, 19_500, 23_500, 27_500, 31_500]),
        (400, [0, 500, 4_500, 8_500, 12_500, 16_500, 20_500, 24_500, 28_500]),
    ])
    func `a non-INVITE request is repeated with doubling intervals up to T2, and every T2 once a 1xx came`(
        provisional: Int?, expected: [Int]
    ) {
        var machine = Other(isReliable: false, timers: TimerValues())
        var sends: [Int] = machine.start(at: .zero) == [.sendRequest] ? [0] : []
        if let provisional { #expect(machine.receive(status: 100, at: at(provisional)) == [.deliver]) }
        var end: Int?
        while let due = machine.deadline {
            let outputs = machine.advance(to: due)
            let time = Int((due - .zero).wholeMilliseconds)
            if outputs == [.sendRequest] { sends.append(time) } else if outputs == [.timedOut, .terminated] { end = time }
        }
        #expect(sends == expected)
        #expect(end == 32_000)
    }
}
