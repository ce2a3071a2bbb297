import Primitives
import Testing

@testable import SIP

@Suite struct SessionTimerTests {
    private static func message(_ start: String, _ headers: [String]) throws -> Message {
        let lines =
            [start, "Via: SIP/2.0/UDP 192.0.2.1;branch=z9hG4bKa", "From: <sip:a@b>;tag=1", "To: <sip:c@d>", "Call-ID: x", "CSeq: 1 INVITE"]
            + headers
        return try Message(parsing: Array((lines + ["", ""]).joined(separator: "\r\n").utf8))
    }

    private static func request(_ headers: String...) throws -> Message { try message("INVITE sip:c@d SIP/2.0", headers) }
    private static func accepted(_ headers: String...) throws -> Message { try message("SIP/2.0 200 OK", headers) }

    private static func at(_ seconds: Int64) -> Instant { .zero + .seconds(seconds) }

    struct Row: Sendable, CustomTestStringConvertible {
        let name: String
        let headers: [String]
        let expires: Text?
        let requires: Bool
        var testDescription: String { name }

        init(_ name: String, _ headers: [String], _ expires: Text?, requires: Bool = false) {
            (self.name, self.headers, self.expires, self.requires) = (name, headers, expires, requires)
        }
    }

    /// Table 2 of RFC 4028 §9, and the bounds of the interval.
    static let answers = [
        Row("no support, no wish", [], nil),
        Row("no support, a proxy's wish", ["Session-Expires: 600"], "600;refresher=uas"),
        Row("support, no wish", ["Supported: timer"], "1800;refresher=uac", requires: true),
        Row("support and a wish", ["Supported: timer", "Session-Expires: 600"], "600;refresher=uac", requires: true),
        Row("the caller refreshes", ["Supported: timer", "Session-Expires: 600;refresher=uac"], "600;refresher=uac", requires: true),
        Row("we refresh", ["Supported: timer", "x: 600;refresher=uas"], "600;refresher=uas"),
        Row("a longer wish is cut to ours", ["Supported: timer", "Session-Expires: 7200"], "1800;refresher=uac", requires: true),
        Row(
            "not below the caller's Min-SE", ["Supported: timer", "Session-Expires: 7200", "Min-SE: 3600"], "3600;refresher=uac",
            requires: true),
        Row("a proxy's wish below 90 is not taken", ["Session-Expires: 1"], "90;refresher=uas"),
        Row("what cannot be read is no wish", ["Supported: timer", "Session-Expires: soon"], "1800;refresher=uac", requires: true),
    ]

    @Test(arguments: answers)
    func `a 2xx says the interval and who refreshes`(row: Row) throws {
        var timer = SessionTimer(policy: .init())
        let headers = timer.answer(try Self.message("INVITE sip:c@d SIP/2.0", row.headers), at: .zero)
        #expect(headers.first { $0.0 == .sessionExpires }?.1 == row.expires)
        #expect(headers.contains { $0.0 == .require && $0.1 == "timer" } == row.requires)
        #expect(timer.deadline != nil)
    }

    @Test(arguments: [("Supported: timer", "60", true), ("Supported: timer", "90", false), ("Supported: x", "60", false)])
    func `too short an interval is refused where the caller knows what 422 means`(supported: String, seconds: String, isRefused: Bool)
        throws
    {
        let timer = SessionTimer(policy: .init(interval: 1_800, minimum: 90))
        #expect(timer.refusal(of: try Self.request(supported, "Session-Expires: \(seconds)")) == (isRefused ? "90" : nil))
    }

    @Test func `the refresher refreshes after half of the interval, and the end comes 32 seconds before its own`() throws {
        var timer = SessionTimer(policy: .init())
        timer.accept(try Self.accepted("Session-Expires: 600;refresher=uac"), at: .zero)
        #expect(timer.advance(to: Self.at(299)) == nil && timer.deadline == Self.at(300))
        #expect(timer.advance(to: Self.at(300)) == .refresh && timer.isRefreshing)
        #expect(timer.deadline == Self.at(568) && timer.advance(to: Self.at(567)) == nil)
        #expect(timer.advance(to: Self.at(568)) == .expire && timer.deadline == nil)
    }

    @Test func `of a short interval the end comes a third before`() throws {
        var timer = SessionTimer(policy: .init())
        timer.accept(try Self.accepted("Session-Expires: 90;refresher=uas"), at: .zero)
        #expect(timer.refresher == .them && timer.deadline == Self.at(60))
        #expect(timer.advance(to: Self.at(59)) == nil && timer.advance(to: Self.at(60)) == .expire)
    }

    @Test func `a refresh begins the interval anew, and keeps the roles`() throws {
        var timer = SessionTimer(policy: .init())
        #expect(timer.requestHeaders.first?.1 == "1800")
        timer.accept(try Self.accepted("Session-Expires: 600;refresher=uas"), at: .zero)
        #expect(timer.requestHeaders.first?.1 == "600;refresher=uas")
        _ = timer.answer(try Self.request("Supported: timer", "Session-Expires: 600;refresher=uac"), at: Self.at(300))
        #expect(timer.refresher == .them && timer.deadline == Self.at(868))
    }

    @Test func `a 422 raises the interval, and is not believed beyond a day or below what was said`() throws {
        var timer = SessionTimer(policy: .init(interval: 600))
        #expect(try timer.raise(by: Self.message("SIP/2.0 422 Small", ["Min-SE: 3600"])))
        #expect(timer.requestHeaders.map(\.1) == ["3600", "3600"])
        #expect(try !timer.raise(by: Self.message("SIP/2.0 422 Small", ["Min-SE: 3600"])))
        #expect(try !timer.raise(by: Self.message("SIP/2.0 422 Small", ["Min-SE: 4000000000"])))
        #expect(try !timer.raise(by: Self.message("SIP/2.0 422 Small", [])))
    }

    @Test func `a refused refresh is tried again until the end; a peer without timers that answers anything is alive`() throws {
        var timer = SessionTimer(policy: .init())
        timer.accept(try Self.accepted("Session-Expires: 600;refresher=uac"), at: .zero)
        _ = timer.advance(to: Self.at(300))
        timer.refreshFailed(wasAnswered: true, at: Self.at(300))
        #expect(timer.deadline == Self.at(434))
        timer.accept(try Self.accepted(), at: Self.at(434))
        #expect(!timer.isAgreed && timer.refresher == .us && timer.interval == 1_800)
        _ = timer.advance(to: Self.at(434 + 900))
        timer.refreshFailed(wasAnswered: true, at: Self.at(434 + 900))
        #expect(timer.deadline == Self.at(434 + 1_800))
    }

    @Test func `a peer without timers that answers nothing is not alive`() throws {
        var timer = SessionTimer(policy: .init())
        timer.accept(try Self.accepted(), at: .zero)
        while let due = timer.deadline, due < Self.at(1_800), timer.advance(to: due) == .refresh {
            timer.refreshFailed(wasAnswered: false, at: due)
        }
        #expect(timer.deadline == nil)
    }

    @Test(arguments: ["0", "1", "89"])
    func `no interval that a peer agrees on is shorter than the shortest`(seconds: String) throws {
        var timer = SessionTimer(policy: .init())
        timer.accept(try Self.accepted("Session-Expires: \(seconds);refresher=uac"), at: .zero)
        #expect(timer.interval == 90 && timer.deadline == Self.at(45))
    }
}
