import Primitives
import Testing

@testable import Gateway

@Suite struct RateControlTests {
    private static func keeper(_ adapt: (inout GatewayConfiguration.Limits) -> Void = { _ in }) -> RateControl {
        var limits = GatewayConfiguration.Limits()
        adapt(&limits)
        return RateControl(limits)
    }

    private static func at(_ seconds: Double) -> Instant { .zero + .milliseconds(Int64(seconds * 1_000)) }

    // MARK: Rates

    @Test func `without limits everybody is let in, and nothing is kept in mind`() {
        var keeper = Self.keeper()
        #expect((0..<10_000).allSatisfy { _ in keeper.admitsCall(at: .zero) && keeper.admitsRequest(from: .loopback, at: .zero) })
        #expect(keeper.counts.isEmpty && keeper.sourceCount == 0)
    }

    @Test func `a second's calls are let in at once, then one for each part of a second, and a pause saves no more than a second's`() {
        var keeper = Self.keeper { $0.callsPerSecond = 4 }
        func admitted(_ count: Int, at seconds: Double) -> Int { (0..<count).count { _ in keeper.admitsCall(at: Self.at(seconds)) } }
        #expect(admitted(10, at: 0) == 4 && admitted(3, at: 0.249) == 0 && admitted(3, at: 0.25) == 1 && admitted(3, at: 0.75) == 2)
        #expect(admitted(10, at: 3_600) == 4)
        #expect(keeper.counts == [.callRate: 6 + 3 + 2 + 1 + 6])
    }

    @Test func `a source may send two seconds' requests at once, and another source is not touched by it`() {
        var keeper = Self.keeper { $0.requestsPerSource = 3 }
        let (one, other) = (IPAddress(v4: 1), IPAddress(v4: 2))
        func admitted(_ source: IPAddress, at seconds: Double) -> Int {
            (0..<20).count { _ in keeper.admitsRequest(from: source, at: Self.at(seconds)) }
        }
        #expect(admitted(one, at: 0) == 6 && admitted(other, at: 0) == 6 && admitted(one, at: 1) == 3 && admitted(one, at: 100) == 6)
        #expect(keeper.sourceCount == 2 && keeper.counts == [.source: 14 + 14 + 17 + 14])
    }

    @Test func `a client of IPv6 is a network of 64 bits`() {
        var keeper = Self.keeper { $0.requestsPerSource = 1 }
        let sources = ["2001:db8::1", "2001:db8::ffff:1", "2001:db8:0:1::1"].map { IPAddress($0)! }
        #expect(sources.map { keeper.admitsRequest(from: $0, at: .zero) } == [true, true, true])
        #expect(sources.map { keeper.admitsRequest(from: $0, at: .zero) } == [false, false, true])
        #expect(keeper.sourceCount == 2)
    }

    @Test func `with too many sources the quiet ones are forgotten first, and then a quarter`() {
        var rates = SourceRates(perSecond: 1)
        let admitted = (0..<UInt32(SourceRates.limit)).count { rates.take(IPAddress(v4: $0), at: .zero) }
        #expect(admitted == SourceRates.limit && rates.count == SourceRates.limit)
        #expect(rates.take(IPAddress(v4: .max), at: .zero) && rates.count == SourceRates.limit / 4 * 3 + 1)
        // Two seconds later all of them have what they may have.
        for number in 0..<UInt32(SourceRates.limit / 4) { _ = rates.take(IPAddress(v4: 1 << 31 | number), at: Self.at(2)) }
        #expect(rates.count <= SourceRates.limit / 4 + 1)
    }

    @Test func `a bucket fills with time, up to its brim, and time that goes back takes nothing away`() {
        var bucket = Bucket(tokens: 0, at: Self.at(10))
        #expect(!bucket.take(rate: 2, burst: 5, at: Self.at(10)) && !bucket.take(rate: 2, burst: 5, at: Self.at(10.25)))
        #expect(bucket.filled(rate: 2, burst: 5, at: Self.at(11.25)) == 2.5 && bucket.filled(rate: 2, burst: 5, at: Self.at(99)) == 5)
        #expect(bucket.filled(rate: 2, burst: 5, at: Self.at(1)) == 0.5)
        let isTaken = bucket.take(rate: 2, burst: 5, at: Self.at(10.5))
        #expect(isTaken, "one is whole after half a second")
    }

    // MARK: Backlog

    @Test(
        arguments: [
            // What has lain unread, in milliseconds, and when; then whether that is too much at the last of these times.
            ([(201, 0)], 0, false), ([(201, 0), (201, 199)], 199, false), ([(201, 0), (201, 200)], 200, true),
            ([(200, 0), (200, 500)], 500, false),
            ([(201, 0), (200, 100), (201, 250)], 250, false), ([(201, 0), (500, 300)], 1_299, true),
            ([(201, 0), (500, 300)], 1_300, false),
            ([(201, 0), (500, 300), (0, 301)], 302, false), ([], 0, false),
        ] as [([(Int64, Int64)], Int64, Bool)])
    func `messages that lie unread for too long, for as long again, are a backlog`(notes: [(Int64, Int64)], now: Int64, isBehind: Bool) {
        var keeper = Self.keeper { $0.backlog = .milliseconds(200) }
        for (backlog, time) in notes { keeper.note(backlog: .milliseconds(backlog), at: .zero + .milliseconds(time)) }
        #expect(keeper.isBehind(at: .zero + .milliseconds(now)) == isBehind)
    }

    @Test func `a limit of zero means no limit`() {
        var keeper = Self.keeper { $0.backlog = .zero }
        for second in 0..<10 { keeper.note(backlog: .seconds(5), at: Self.at(Double(second))) }
        #expect(!keeper.isBehind(at: Self.at(9)))
    }

    // MARK: Counts

    @Test func `each refusal is counted under its cause, and every cause has a name of its own`() {
        var keeper = Self.keeper()
        for (index, cause) in RateControl.Cause.allCases.enumerated() {
            let answers = (0...index).map { _ in keeper.refuse(cause) }
            #expect(!answers.contains(true))
        }
        for (index, cause) in RateControl.Cause.allCases.enumerated() { #expect(keeper.counts[cause] == UInt64(index + 1)) }
        #expect(
            RateControl.Cause.allCases.map(\.rawValue) == [
                "legs", "call-rate", "source", "backlog", "ports", "port-taken", "stranger", "questions", "wakes",
            ], "the page Operating names them")
    }
}
