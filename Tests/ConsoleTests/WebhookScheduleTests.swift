import CallJournal
import Foundation
import Primitives
import Testing

@testable import Console

@Suite struct WebhookScheduleTests {
    private static func at(_ seconds: Double) -> Instant { Instant(nanoseconds: UInt64(seconds * 1e9)) }
    private static func call(_ number: UInt64) -> WebhookSchedule.Subject { .call(CallUUID(high: 0, low: number)) }

    private static func item(_ sequence: UInt64, _ subject: WebhookSchedule.Subject = call(1), end: Double = 86_400) -> WebhookSchedule.Item
    {
        .init(position: EventPosition(run: "r", sequence: sequence), subject: subject, json: [], end: at(end))
    }

    /// The events that are sent now.
    private static func sent(_ schedule: inout WebhookSchedule, at seconds: Double) -> [UInt64] {
        var sent: [UInt64] = []
        while let item = schedule.next(at: at(seconds)) { sent.append(item.position.sequence) }
        return sent
    }

    @discardableResult
    private static func finish(
        _ schedule: inout WebhookSchedule, _ sequence: UInt64, _ outcome: WebhookSchedule.Outcome, at seconds: Double, jitter: Double = 0
    ) -> Bool {
        schedule.finish(EventPosition(run: "r", sequence: sequence), outcome, at: at(seconds), jitter: jitter)
    }

    @Test func `the next event of a call goes when the one before was taken, and other calls do not wait for it`() {
        var schedule = WebhookSchedule()
        for item in [Self.item(1), Self.item(2), Self.item(3, Self.call(2)), Self.item(4, .line("")), Self.item(5, .line(""))] {
            schedule.add(item)
        }
        #expect(Self.sent(&schedule, at: 0) == [1, 3, 4])
        #expect(Self.sent(&schedule, at: 5) == [])
        Self.finish(&schedule, 3, .taken, at: 5)
        #expect(Self.sent(&schedule, at: 5) == [], "the call has no more")
        Self.finish(&schedule, 1, .failed(pause: nil), at: 5)
        #expect(Self.sent(&schedule, at: 5.9) == [])
        #expect(schedule.deadline == Self.at(6))
        #expect(Self.sent(&schedule, at: 6) == [1], "before its second")
        Self.finish(&schedule, 1, .taken, at: 6)
        #expect(Self.sent(&schedule, at: 6) == [2])
        Self.finish(&schedule, 2, .taken, at: 6)
        Self.finish(&schedule, 4, .taken, at: 6)
        #expect(Self.sent(&schedule, at: 6) == [5] && schedule.count == 1 && schedule.positions.map(\.sequence) == [5])
    }

    @Test func `an event is tried later and later for a day, and then the next of its call follows`() {
        var schedule = WebhookSchedule(), times: [Double] = [], now = 0.0, isGivenUp = false
        schedule.add(Self.item(1))
        schedule.add(Self.item(2))
        while !isGivenUp {
            #expect(Self.sent(&schedule, at: now) == [1])
            times.append(now)
            isGivenUp = Self.finish(&schedule, 1, .failed(pause: nil), at: now, jitter: 0)
            if let due = schedule.deadline { now = Double(due.nanoseconds) / 1e9 }
        }
        #expect(times.prefix(7) == [0, 1, 6, 36, 156, 756, 2_556] && times.last == 86_400)
        #expect(Self.sent(&schedule, at: 86_400) == [2] && schedule.count == 1)
    }

    @Test func `jitter adds a quarter at most`() {
        var schedule = WebhookSchedule()
        schedule.add(Self.item(1))
        _ = Self.sent(&schedule, at: 0)
        Self.finish(&schedule, 1, .failed(pause: nil), at: 0, jitter: 1)
        #expect(schedule.deadline == Self.at(1.25))
    }

    @Test func `so many are under way, and so many in memory`() {
        var schedule = WebhookSchedule()
        for number in 1...1_000 { schedule.add(Self.item(UInt64(number), Self.call(UInt64(number)))) }
        #expect(!schedule.hasRoom)
        #expect(Self.sent(&schedule, at: 0) == Array(1...8))
        Self.finish(&schedule, 3, .taken, at: 0)
        #expect(schedule.hasRoom && Self.sent(&schedule, at: 0) == [9])
    }

    @Test func `a receiver that asks for time is left alone for it, an hour at most`() {
        var schedule = WebhookSchedule()
        schedule.add(Self.item(1))
        schedule.add(Self.item(2, Self.call(2)))
        #expect(Self.sent(&schedule, at: 0) == [1, 2])
        Self.finish(&schedule, 1, .failed(pause: .seconds(100)), at: 0)
        Self.finish(&schedule, 2, .failed(pause: nil), at: 0)
        schedule.add(Self.item(3, Self.call(3)))
        #expect(Self.sent(&schedule, at: 99) == [] && schedule.deadline == Self.at(100))
        #expect(Self.sent(&schedule, at: 100).sorted() == [1, 2, 3])
        Self.finish(&schedule, 1, .failed(pause: .seconds(90_000)), at: 100)
        #expect(schedule.deadline == Self.at(3_700))
    }

    @Test func `a receiver that was away gets at once what waits, and one bad event is not hammered`() {
        var schedule = WebhookSchedule()
        for number in 1...4 { schedule.add(Self.item(UInt64(number), Self.call(UInt64(number)))) }
        #expect(Self.sent(&schedule, at: 0).count == 4)
        for number in 1...4 { Self.finish(&schedule, UInt64(number), .failed(pause: nil), at: 10) }
        #expect(Self.sent(&schedule, at: 11).count == 4)
        for number in 1...4 { Self.finish(&schedule, UInt64(number), .failed(pause: nil), at: 11) }
        schedule.add(Self.item(5, Self.call(5)))
        #expect(Self.sent(&schedule, at: 12) == [5])
        Self.finish(&schedule, 5, .taken, at: 12)
        #expect(Self.sent(&schedule, at: 12).sorted() == [1, 2, 3, 4])
        Self.finish(&schedule, 1, .failed(pause: nil), at: 12)
        for number in 2...4 { Self.finish(&schedule, UInt64(number), .taken, at: 12) }
        #expect(Self.sent(&schedule, at: 12) == [] && schedule.deadline == Self.at(42))
    }

    @Test func `one that is gone gets nothing until it is asked again`() {
        var schedule = WebhookSchedule()
        schedule.add(Self.item(1))
        #expect(Self.sent(&schedule, at: 0) == [1])
        Self.finish(&schedule, 1, .gone, at: 0)
        schedule.add(Self.item(2, Self.call(2)))
        #expect(schedule.isGone && !schedule.hasRoom && Self.sent(&schedule, at: 90_000) == [])
        schedule.begin(at: Self.at(90_000))
        #expect(Self.sent(&schedule, at: 90_000) == [1, 2])
    }

    // MARK: Requests

    /// The vector of the specification's own libraries.
    @Test func `a request is signed as the specification wants it, once for each secret`() throws {
        let key = try #require(WebhookSecret("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"))
        let other = try #require(WebhookSecret("whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD"))
        let body = Array(#"{"test": 2432232314}"#.utf8), id = "msg_p5jXN8AQM9LWM0D4loKWxJek"
        let expected = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
        #expect(key.signature(of: id, 1_614_265_330, body) == expected)
        let webhook = WebhookSettings(name: "a", url: try #require(URL(string: "http://u:p@h/x?t=1#f")), secrets: [key, other])
        let request = WebhookRequest(webhook, id: id, content: body, timestamp: 1_614_265_330)
        let fields = Dictionary(uniqueKeysWithValues: request.fields.map { ($0.name, $0.value) })
        #expect(fields["webhook-id"] == id && fields["webhook-timestamp"] == "1614265330")
        #expect(fields["webhook-signature"] == "\(expected) \(other.signature(of: id, 1_614_265_330, body))")
        #expect(webhook.shownURL == "http://h/x" && !"\(webhook)".contains("MfKQ"))
    }

    @Test(arguments: [
        ("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", true), ("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", false), ("whsec_", false),
        ("whsec_c2hvcnQ=", false), ("whsec_!!!", false),
    ])
    func `a secret has a mark and 24 bytes or more`(text: String, isOne: Bool) { #expect((WebhookSecret(text) != nil) == isOne) }

    @Test(
        arguments: [
            (.answered(status: 204, retryAfter: nil), .taken, nil),
            (.answered(status: 301, retryAfter: nil), .failed(pause: nil), .redirect),
            (.answered(status: 404, retryAfter: "9"), .failed(pause: nil), .client),
            (.answered(status: 410, retryAfter: nil), .gone, .client),
            (.answered(status: 429, retryAfter: "120"), .failed(pause: .seconds(120)), .client),
            (.answered(status: 503, retryAfter: "Thu, 01 Jan 1970 00:02:00 GMT"), .failed(pause: .seconds(20)), .server),
            (.answered(status: 503, retryAfter: "soon"), .failed(pause: nil), .server), (.timeout("x"), .failed(pause: nil), .timeout),
            (.unreachable("x"), .failed(pause: nil), .unreachable), (.broken("x"), .failed(pause: nil), .broken),
        ] as [(WebhookAnswer, WebhookSchedule.Outcome, WebhookStatus.Cause?)])
    func `an answer is taken, a failure, or the end`(answer: WebhookAnswer, outcome: WebhookSchedule.Outcome, cause: WebhookStatus.Cause?) {
        #expect(answer.outcome(at: Date(timeIntervalSince1970: 100)) == outcome && answer.failure?.cause == cause)
    }
}
