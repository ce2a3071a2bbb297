import Foundation
import Primitives
import Testing

@testable import HookswitchClient
@testable import hookswitch

/// `hookswitch top`: which frame a snapshot and events make, and which lines a frame.
@Suite struct TopScreenTests {
    private static let start = Date(timeIntervalSince1970: 1_800_000_000)
    private static let first = UUID(uuidString: "0B000000-0000-4000-8000-000000000001")!,
        second = UUID(uuidString: "0B000000-0000-4000-8000-000000000002")!

    private static func time(_ seconds: Int) -> String {
        start.addingTimeInterval(Double(seconds)).formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
    }

    private static func call(_ id: UUID, _ others: String = "", state: String = "connected", from: String = "alice") throws
        -> HookswitchClient.Call
    {
        let json =
            #"{"id":"\#(id)","line":"1001","direction":"incoming","state":"\#(state)","from":"\#(from)","to":"1001","isOutgoing":false,"#
            + #""isOnHold":false,"isMuted":false,"groupedWith":[],"hasConnected":true,"hasEnded":false,"isHeldByRemote":false,"#
            + #""began":"\#(time(-70))"\#(others)}"#
        return try HookswitchClient.decode(HookswitchClient.Call.self, Data(json.utf8))
    }

    private static func event(_ type: String, _ id: UUID? = first, at seconds: Int = 0, data: String = "{}") throws
        -> HookswitchClient.Event
    {
        let call = id.map { #","call":"\#($0)""# } ?? ""
        return try HookswitchClient.Event(
            #"{"id":"a.9","type":"\#(type)","time":"\#(time(seconds))","prev":null\#(call),"data":\#(data)}"#)
    }

    private static func state(_ calls: HookswitchClient.Call...) throws -> TopState {
        let json = #"{"version":"1.2.3","run":"a","started":"\#(time(-3_700))","calls":1,"readers":1,"isRunning":true}"#
        let lines =
            #"{"lines":[{"number":"1001","kind":"devices","doNotDisturb":false,"devices":[{"contact":"sip:a","expires":1}],"calls":0,"blocked":[]}]}"#
        var state = TopState(gateway: "/run/sock")
        state.begin(
            try HookswitchClient.decode(HookswitchClient.Server.self, Data(json.utf8)), .init(position: nil, calls: calls),
            try HookswitchClient.decode(HookswitchClient.Lines.self, Data(lines.utf8)).lines, at: start)
        return state
    }

    // MARK: Frames

    @Test func `a snapshot is a frame, and what was not measured is nothing`() throws {
        let frame = try Self.state(try Self.call(Self.first)).frame(at: Self.start)
        #expect(frame.version == "1.2.3" && frame.uptime == 3_700 && frame.registrations == 1 && frame.calls == 1)
        #expect(frame.connectedPerSecond == nil && frame.refusedPerSecond == nil && frame.quality == .init() && frame.measured == 0)
        #expect(frame.rows.map(\.age) == [70] && frame.rows.first?.incoming == nil && frame.rows.first?.quality == .init())
    }

    @Test func `events change the calls`() throws {
        var state = try Self.state(try Self.call(Self.first, state: "ringing"))
        for type in ["call.connected", "call.held", "call.muted"] { state.note(try Self.event(type, at: -5), at: Self.start) }
        state.note(try Self.event("call.remote-hold", data: #"{"on":1}"#), at: Self.start)
        var row = try #require(state.frame(at: Self.start).rows.first)
        #expect(row.state == "connected" && row.connected == 5 && row.isOnHold && row.isMuted && row.isHeldByRemote)
        for type in ["call.resumed", "call.unmuted"] { state.note(try Self.event(type), at: Self.start) }
        state.note(
            try Self.event("media.stopped", data: #"{"incoming":"heard","outgoing":"silent","loss":125,"jitter":3500,"mos":431}"#),
            at: Self.start)
        row = try #require(state.frame(at: Self.start).rows.first)
        #expect(!row.isOnHold && !row.isMuted && row.incoming == "heard" && row.outgoing == "silent")
        #expect(row.quality == .init(loss: 0.0125, jitter: 0.0035, mos: 4.31) && state.frame(at: Self.start).quality == row.quality)
        state.note(try Self.event("call.ended"), at: Self.start)
        let frame = state.frame(at: Self.start.addingTimeInterval(2))
        #expect(frame.rows.isEmpty && frame.calls == 0 && frame.measured == 1 && frame.connectedPerSecond == 0.5)
    }

    @Test func `what events leave open is asked for`() throws {
        var state = try Self.state()
        state.note(try Self.event("call.incoming"), at: Self.start)
        state.note(try Self.event("line.registered", nil), at: Self.start)
        #expect(state.wanted == [Self.first] && state.areLinesStale && !state.isStale)
        state.take(try Self.call(Self.first), of: Self.first)
        state.take([])
        #expect(state.wanted.isEmpty && !state.areLinesStale && state.frame(at: Self.start).calls == 1)
        state.take(nil, of: Self.first)
        #expect(state.frame(at: Self.start).calls == 0)
        state.note(try Self.event("server.started", nil), at: Self.start)
        #expect(state.isStale)
    }

    @Test func `rates are those of the last ten seconds`() throws {
        var state = try Self.state()
        for _ in 0..<20 { state.note(try Self.event("call.refused", nil), at: Self.start) }
        func rate(_ seconds: Double) -> Double? { state.frame(at: Self.start.addingTimeInterval(seconds)).refusedPerSecond }
        #expect(rate(0.5) == nil && rate(4) == 5 && rate(9) == 20.0 / 9 && rate(11) == 0)
    }

    // MARK: Lines

    private static func screen(_ calls: HookswitchClient.Call..., columns: Int = 120, rows: Int = 12) throws -> TopScreen {
        var state = try Self.state()
        for call in calls { state.take(call, of: call.id) }
        var screen = TopScreen(state.frame(at: start))
        screen.size = .init(rows: rows, columns: columns)
        return screen
    }

    @Test func `a frame has its head, a line for each call, and the keys`() throws {
        let lines = try Self.screen(try Self.call(Self.first)).lines
        #expect(lines.count == 12 && lines[0] == "hookswitch 1.2.3  run a  up 1:01:40  /run/sock")
        #expect(lines[1] == "calls 1  connected/s –  refused/s –  registrations 1" && lines[2] == "quality –")
        #expect(lines[4].hasPrefix("LINE      FROM") && lines[5].hasPrefix("1001      alice"))
        #expect(lines[5].split(separator: " ").map(String.init) == ["1001", "alice", "1001", "connected", "1:10", "–/–", "–", "–", "–"])
        #expect(lines[11].hasPrefix("q end"))
    }

    @Test(arguments: [1, 7, 20, 80, 200], [1, 3, 6, 24])
    func `no line is wider than the terminal, and no frame higher`(columns: Int, rows: Int) throws {
        let name = "アリス 👩‍👩‍👧 e\\u0301 日本語日本語日本語日本語日本語"
        let screen = try Self.screen(try Self.call(Self.first, from: name), try Self.call(Self.second), columns: columns, rows: rows)
        #expect(screen.lines.count <= max(rows, 1) && screen.lines.allSatisfy { $0.columns <= columns }, "\(screen.lines)")
    }

    @Test(arguments: [("日本", 4), ("é", 1), ("e\u{301}", 1), ("👍", 2), ("❤️", 2), ("ｱ", 1), ("Ａ", 2), ("한", 2), ("", 0)])
    func `a wide character takes two columns`(text: String, columns: Int) {
        #expect(text.columns == columns)
        #expect(text.cell(6).columns == 6 && (text + "日本語").cell(5).columns == 5 && text.cut(to: 1).columns <= 1)
    }

    @Test(
        arguments: [
            "\\u001b]0;owned\\u0007", "\\u001b[2J\\u001b[H", "\\u009b31m", "a\\r\\nb", "\\u202egnp.exe", "\\u001bPq\\u001b\\\\",
            "\\u0008\\u007f",
        ]) func `a name of a stranger is no command to the terminal`(name: String) throws
    {
        var screen = try Self.screen(try Self.call(Self.first, from: name))
        screen.frame.trouble = screen.frame.rows[0].from
        for key in ["/", "\u{9B}", "2", "J"] as [Character] { screen.press(.character(key)) }
        for line in screen.lines + [TopTable(screen.frame).text.replacing("\n", with: "")] {
            #expect(!line.unicodeScalars.contains { $0.isControlCharacter }, "\(line.debugDescription)")
        }
    }

    @Test func `keys sort, filter, scroll and end`() throws {
        var screen = try Self.screen(try Self.call(Self.first, from: "zoe"), try Self.call(Self.second, from: "bob"), rows: 7)
        func shown(_ screen: TopScreen) -> String { screen.lines[5] }
        #expect(shown(screen).contains("zoe") && screen.lines[6].contains("1–1 of 2"))
        screen.press(.down)
        #expect(shown(screen).contains("bob"))
        screen.press(.home)
        for _ in 0..<2 { screen.press(.character("s")) }
        #expect(screen.order == .from && shown(screen).contains("bob"))
        screen.press(.character("r"))
        #expect(shown(screen).contains("zoe"))
        for key in "/BO" { screen.press(.character(key)) }
        screen.press(.enter)
        #expect(shown(screen).contains("bob") && !screen.isOver)
        screen.press(.escape)
        #expect(!screen.isOver)
        screen.press(.character("q"))
        #expect(screen.isOver)
    }
}
