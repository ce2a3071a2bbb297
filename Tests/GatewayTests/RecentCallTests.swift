import CallKit
import Foundation
import Testing

@testable import Gateway

@Suite struct RecentCallTests {
    private static func call(_ number: Int, _ direction: RecentCall.Direction = .incoming, connected: Double? = nil) -> RecentCall {
        let began = Date(timeIntervalSince1970: 1_790_000_000)
        return RecentCall(
            id: UUID(uuidString: "00000000-0000-0000-0000-\(String(format: "%012d", number))")!, line: "1001", direction: direction,
            handleType: .phoneNumber, handle: "\(number)", name: nil, began: began, connected: connected.map(began.addingTimeInterval),
            ended: began.addingTimeInterval(60), outcome: connected == nil ? .missed : .answered, reason: "remoteEnded")
    }

    @Test func `the newest call is the first, and the oldest gives way`() {
        var recents = RecentCalls(limit: 3)
        #expect(recents.calls.isEmpty && recents.lastCaller == nil)
        for number in 1...5 { recents.add(Self.call(number)) }
        #expect(recents.calls.map(\.handle) == ["5", "4", "3"])
        #expect(recents[Self.call(4).id]?.handle == "4" && recents[Self.call(1).id] == nil)
    }

    @Test(arguments: [(0, []), (2, ["1", "2"]), (9, ["1", "2", "3"])]) func `what was kept is taken up to the limit`(
        limit: Int, kept: [String]
    ) {
        var recents = RecentCalls(limit: limit, kept: (1...3).map { Self.call($0) })
        #expect(recents.calls.map(\.handle) == kept)
        recents.add(Self.call(7))
        #expect(recents.calls.map(\.handle) == Array((["7"] + kept).prefix(limit)))
    }

    @Test func `the last caller is that of the last incoming call`() {
        let recents = RecentCalls(limit: 9, kept: [Self.call(1, .outgoing), Self.call(2), Self.call(3)])
        #expect(recents.lastCaller == CXHandle(type: .phoneNumber, value: "2"))
        #expect(RecentCalls(limit: 9, kept: [Self.call(1, .outgoing)]).lastCaller == nil)
    }

    @Test func `a call lasts from its answer to its end`() {
        #expect(Self.call(1, connected: 12.5).duration == 47.5 && Self.call(1).duration == 0)
    }

    @Test(
        arguments: [
            (CallEnd.reported(.remoteEnded), nil, .missed), (.reported(.unanswered), nil, .missed), (.reported(.failed), nil, .failed),
            (.reported(.answeredElsewhere), nil, .answeredElsewhere), (.reported(.declinedElsewhere), nil, .declinedElsewhere),
            (.action, nil, .declined), (.action, 486, .declined), (.action, 600, .declined), (.action, 603, .declined),
            (.action, 607, .declined),
            (.action, 408, .missed), (.action, 480, .missed), (.action, 487, .missed), (.action, 404, .failed), (.action, 500, .failed),
            (.endTimedOut, nil, .failed), (.answerFailed, nil, .failed), (.reset, nil, .failed),
        ] as [(CallEnd, Int?, RecentCall.Outcome)])
    func `a call that came in ended unanswered by what ended it`(end: CallEnd, status: Int?, outcome: RecentCall.Outcome) {
        let cause = status.map { EndCause(status: $0, reasons: []) }
        #expect(RecentCall.Outcome(incoming: end, cause: cause, wasAnswered: false) == outcome)
        #expect(RecentCall.Outcome(incoming: end, cause: cause, wasAnswered: true) == .answered)
    }

    @Test(
        arguments: [
            (487, .cancelled), (486, .busy), (600, .busy), (603, .declined), (607, .declined), (608, .declined), (403, .declined),
            (408, .unanswered), (480, .unanswered), (404, .failed), (500, .failed), (nil, .failed),
        ] as [(Int?, RecentCall.Outcome)])
    func `a call that went out ended unanswered by its status`(status: Int?, outcome: RecentCall.Outcome) {
        let cause = status.map { EndCause(status: $0, reasons: []) }
        #expect(RecentCall.Outcome(outgoing: cause, wasAnswered: false) == outcome)
        #expect(RecentCall.Outcome(outgoing: cause, wasAnswered: true) == .answered)
    }
}
