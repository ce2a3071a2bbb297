import ArgumentParser
import Foundation
import Gateway
import Primitives
import Testing

@testable import hookswitch

/// `hookswitch calls`: what is listed, how it reads, and what is refused.
@Suite struct CallsCommandTests {
    private static func history(_ text: JournalText) -> CallHistory {
        var history = CallHistory()
        for event in JournalReader.parse(Array(text.data), name: "j").events { history.note(event) }
        history.finish(isBeingWritten: false)
        return history
    }

    /// The first 8 digits of the calls that the options leave.
    private static func listed(_ text: JournalText, _ options: String...) throws -> [String] {
        let command = try #require(try Hookswitch.parseAsRoot(["calls", "j"] + options) as? CallsCommand)
        return try command.listing().chosen(history(text).calls).map { CallWords.name($0.first) }
    }

    private static func table(_ text: JournalText, showsLegs: Bool = false) -> [String] {
        var table = CallsTable(showsLegs: showsLegs)
        return table.whole(history(text).calls).split(separator: "\n").map(String.init)
    }

    /// Without the time, which is that of the place.
    private static func rest(_ line: String) -> String { String(line.dropFirst(25)) }

    @Test func `a call is found by its UUIDs, an app's own too, and by its Call-ID`() throws {
        var text = JournalText.four
        text.adopted("DDDD0000-0000-0000-0000-000000000005", as: "EEEE0000-0000-0000-0000-000000000006", id: "id-4")
        for name in ["dddd", "EEEE0000", "EEEE0000-0000-0000-0000-000000000006", "id-4"] {
            #expect(try Self.listed(text, "--call", name) == ["DDDD0000"])
        }
        #expect(try Self.listed(text, "--call", "BBBB") == ["BBBB0000", "BBBB0001"] && Self.listed(text, "--call", "1234") == [])
        let legs = try #require(Self.history(text).calls.last).legs.map { CallDescription.Leg($0) }
        #expect(legs.map(\.appCall) == ["EEEE0000-0000-0000-0000-000000000006"])
    }

    // MARK: The table

    @Test func `a line has who called whom, how it ended, how long it was, who was heard, and why`() {
        let lines = Self.table(.four)
        #expect(
            lines.map(Self.rest) == [
                "FROM         TO           STATUS       LENGTH  HEARD        CALL      REASON",
                "1001@a.test  9196@a.test  answered     2.0s    both ways    AAAA0000  the caller hung up",
                "1001@a.test  777@a.test   refused 404  –       –            BBBB0000  no line has this number",
                "zoe@b.test   9196@a.test  answered     2.0s    caller only  BBBB0001  the callee was not heard: no packets",
                "–            1002         answered     2.0s    both ways    CCCC0000  the caller hung up",
            ])
        #expect(lines[0].hasPrefix("TIME "))
        #expect(lines[1].hasPrefix(WallTime.local(UInt64(JournalText.begin + 1_000) * 1_000_000) + "  "))
    }

    @Test func `runs are kept apart`() {
        var text = JournalText(version: "hookswitch 1")
        text.invite(JournalText.names[0], id: "a", from: nil, to: nil)
        text.start(version: "hookswitch 2", run: "5B4E7C36-FF65-4837-8F5D-C1CB53AF67E2")
        text.answered(JournalText.names[0], id: "a")
        let lines = Self.table(text)
        #expect(lines.count == 4 && lines[2] == "-- run 5B4E7C36, hookswitch 2")
        #expect(lines[1].hasSuffix("the gateway was killed meanwhile") && lines[1].contains("cut-off"))
    }

    @Test func `with the legs there is a line for each that was called`() {
        var text = JournalText()
        text.invite(JournalText.names[0], id: "a", from: "sip:1001@a.test", to: "sip:1002@a.test")
        text.add("report.incoming", JournalText.names[0])
        text.add("perform.start", JournalText.names[1], #""action":1,"remote":"sip:1002@127.0.0.1:5080""#)
        text.add("sip.tx", JournalText.names[1], #""method":"INVITE","cseq":1,"callid":"b""#)
        text.add("perform.group", JournalText.names[1], #""action":2,"with":"\#(JournalText.names[0])""#)
        text.add("sip.rx", JournalText.names[1], #""method":"INVITE","status":486,"phrase":"Busy Here","cseq":1,"callid":"b""#)
        text.add("call.ended", JournalText.names[1])
        text.add("sip.tx", JournalText.names[0], #""method":"INVITE","status":486,"phrase":"Busy Here","cseq":1,"callid":"a""#)
        text.add("call.ended", JournalText.names[0])
        #expect(Self.table(text).count == 2)
        let lines = Self.table(text, showsLegs: true).map(Self.rest)
        #expect(lines.count == 3 && lines[1].hasSuffix("1002@127.0.0.1:5080: 486 Busy Here"))
        #expect(lines[2].hasPrefix("  leg        1002@127.0.0.1:5080  busy 486") && lines[2].contains("BBBB0000"))
    }

    @Test func `what a stranger wrote is no command to a terminal, and takes no more room than it is given`() {
        var text = JournalText()
        let from = "\\\"x\\\" <sip:" + String(repeating: "y", count: 80) + "@a.test>"
        text.refused(JournalText.names[0], id: "a", from: from, to: "\\u001b[2J\\nno address", status: 404, "wrong\\u001b[31m")
        let lines = Self.table(text)
        #expect(lines.count == 2 && !lines[1].contains("\u{1B}"))
        #expect(lines[1].contains("y…") && Self.rest(lines[1]).prefix(42).hasSuffix("  "))
    }

    @Test(arguments: [
        (0, "0.0s"), (1_499, "1.4s"), (59_999, "59.9s"), (60_000, "1m00s"), (3_599_000, "59m59s"), (3_723_000, "1h02m"),
    ])
    func `a length reads as people say it`(milliseconds: Int, text: String) {
        #expect(CallWords.length(.milliseconds(milliseconds)) == text)
    }

    @Test(
        arguments: [
            ("heard", "heard", "both ways"), ("paused", "heard", "both ways"), ("heard", "silent", "caller only"),
            ("nothing", "heard", "callee only"), ("silent", "nothing", "nobody"), ("packets", "packets", "packets"),
            ("packets", "nothing", "caller only"), (nil, nil, "–"), ("heard", nil, "caller"), (nil, "heard", "callee"),
            ("nothing", nil, "nobody"),
        ] as [(String?, String?, String)])
    func `who was heard is told in a word or two`(caller: String?, callee: String?, text: String) {
        #expect(CallWords.heard(caller.flatMap(LegSound.Heard.init), callee.flatMap(LegSound.Heard.init)) == text)
    }

    // MARK: Which

    @Test(
        arguments: [
            ([], ["AAAA0000", "BBBB0000", "BBBB0001", "CCCC0000"]), (["--failed"], ["BBBB0000", "BBBB0001"]),
            (["--from", "ZOE"], ["BBBB0001"]), (["--from", "1001"], ["AAAA0000", "BBBB0000"]), (["--to", "777"], ["BBBB0000"]),
            (["--to", "1002"], ["AAAA0000", "BBBB0001", "CCCC0000"]), (["--status", "404"], ["BBBB0000"]),
            (["--status", "4xx"], ["BBBB0000"]),
            (["--status", "refused,BUSY"], ["BBBB0000"]), (["--status", "answered", "--last", "1"], ["CCCC0000"]),
            (["--status", "486"], []),
            (["--since", "2026-11-26T18:24:05Z"], ["BBBB0001", "CCCC0000"]), (["--last", "3", "--failed"], ["BBBB0000", "BBBB0001"]),
        ] as [([String], [String])])
    func `options leave the calls that are like that`(options: [String], calls: [String]) throws {
        let command = try #require(try Hookswitch.parseAsRoot(["calls", "j"] + options) as? CallsCommand)
        #expect(try command.listing().chosen(Self.history(.four).calls).map { CallWords.name($0.first) } == calls)
    }

    @Test(
        arguments: [
            (
                ["--status", "bussy"],
                "--status takes answered, missed, cancelled, busy, declined, refused, failed, elsewhere, up, cut-off, a status as 404 or a class as 4xx, "
                    + "got 'bussy' (did you mean 'busy'?)"
            ),
            (
                ["--since", "yesterday"],
                "--since takes a time as 14:05, 2026-11-26 or 2026-11-26T14:05:30Z, or how long ago as 30s, 10m, 2h or 3d, got 'yesterday'"
            ),
            (["--last", "0"], "--last takes calls from 1 to 1000000, got 0"),
        ] as [([String], String)])
    func `a value that is none is refused with what is taken`(options: [String], message: String) throws {
        let command = try #require(try Hookswitch.parseAsRoot(["calls", "j"] + options) as? CallsCommand)
        let failure = try #require(throws: Failure.self) { try command.listing() }
        #expect(failure.exitCode == 2 && failure.message == message)
    }

    @Test(arguments: [("30s", 30), ("10m", 600), ("1.5h", 5_400), ("3d", 259_200)]) func `since may be so long ago`(
        text: String, ago: UInt64
    ) throws {
        let now: UInt64 = 1_795_717_440_000_000_000
        #expect(try SinceTime.parse(text, now: now) == now - ago * 1_000_000_000)
    }

    @Test func `since may be a time of the last day, or a date`() throws {
        let now: UInt64 = 1_795_717_440_000_000_000
        #expect(try SinceTime.parse("2026-11-26T18:24Z", now: now) == now)
        let midnight = try SinceTime.parse("2026-11-26", now: now)
        #expect(WallTime.local(midnight) == "2026-11-26 00:00:00.000")
        let clock = String(WallTime.local(now).dropFirst(11).prefix(8))
        #expect(try SinceTime.parse(clock, now: now) == now, "\(clock)")
        let later = String(WallTime.local(now + 60_000_000_000).dropFirst(11).prefix(5))
        let yesterday = try SinceTime.parse(later, now: now)
        #expect(yesterday < now && now - yesterday > 82_000_000_000_000, "\(later) is yesterday's")
        #expect(throws: Failure.self) { try SinceTime.parse("2026-13-26", now: now) }
        #expect(throws: Failure.self) { try SinceTime.parse("24:00", now: now) }
    }

    // MARK: JSON

    @Test func `a call is an object of one line, with what is known of it`() throws {
        let calls = Self.history(.four).calls.map(CallDescription.init)
        let line = try jsonLine(calls[0]), object = try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
        #expect(line.hasSuffix("\n") && !line.dropLast().contains("\n"))
        #expect(object["call"] as? String == JournalText.names[0] && object["callID"] as? String == "id-0")
        #expect(object["from"] as? String == "sip:1001@a.test" && object["to"] as? String == "sip:9196@a.test")
        #expect(object["position"] as? String == "1.2" && object["event"] as? Int == 2 && object["run"] as? String == "1")
        #expect(object["time"] as? String == "2026-11-26T18:24:01.000Z" && object["agent"] as? String == "Phone 1")
        #expect(object["status"] as? String == "answered" && object["sipStatus"] as? Int == 200 && object["failed"] as? Bool == false)
        #expect(object["setupTime"] as? Double == 100 && object["answerTime"] as? Double == 500 && object["duration"] as? Double == 2_000)
        #expect(object["heard"] as? [String: String] == ["caller": "heard", "callee": "heard"] && object["endedBy"] as? String == "caller")
        let leg = try #require((object["legs"] as? [[String: Any]])?.first), incoming = try #require(leg["incoming"] as? [String: Any])
        #expect(leg["remote"] as? String == "127.0.0.1:5070" && leg["codec"] as? String == "opus" && leg["roundTrip"] as? Double == 4)
        #expect(incoming["packets"] as? Int == 99 && incoming["lossPercent"] as? Double == 0.67 && incoming["mos"] as? Double == 4.37)
    }

    @Test func `what is not known of a call is not in its object`() throws {
        let line = try jsonLine(CallDescription(Self.history(.four).calls[1]))
        for name in ["duration", "answerTime", "agent", "offer", "incoming", "codec"] { #expect(!line.contains("\"\(name)\":")) }
        #expect(
            line.contains(#""failed":true"#) && line.contains(#""sipStatus":404"#) && line.contains(#""reason":"no line has this number""#))
    }

    // MARK: Files

    @Test func `several files are one journal, and what cannot be read is exit code 1 or 3`() throws {
        let folder = try SoundFolder(), lines = JournalText.four.lines
        try Data((lines.prefix(9) + [""]).joined(separator: "\n").utf8).write(to: URL(filePath: folder.path + "/j.1"))
        try Data((lines.dropFirst(9) + [""]).joined(separator: "\n").utf8).write(to: URL(filePath: folder.path + "/j"))
        var found: [JournalEvent] = []
        #expect(try JournalFiles.read([folder.path + "/j", folder.path + "/j.1"], by: "calls") { found.append($0) }.isEmpty)
        #expect(found.map(\.sequence) == Array(1...UInt64(lines.count)))
        let missing = try #require(throws: Failure.self) { try JournalFiles.read(["/nowhere/j"], by: "calls") { _ in } }
        #expect(missing.exitCode == 3 && missing.message == "/nowhere/j: cannot be read")
        try Data("nonsense\n".utf8).write(to: URL(filePath: folder.path + "/n"))
        #expect(throws: ExitCode(1)) { try CallsListing(filter: CallsFilter()).list([folder.path + "/n"]) }
        let several = try #require(throws: Failure.self) { try CallsListing(filter: CallsFilter()).follow(["a", "b"]) }
        #expect(several.exitCode == 2 && several.message == "--follow takes one journal, got 2")
    }
}

/// `hookswitch calls --follow`, with a journal that a `JournalFile` writes and rotates.
@Suite struct CallsFollowTests {
    private final class Output {
        var lines: [String] = []
        func take(_ text: String) { lines += text.split(separator: "\n").map(String.init) }
    }

    private static let step = JournalText.begin

    private static func follow(_ path: String, _ listing: CallsListing, _ output: Output) throws -> CallsFollow {
        try CallsFollow(path, listing) { output.take($0) }
    }

    private static func names(_ lines: [String]) throws -> [String] {
        try lines.map { line in
            let object = try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
            return String((object["call"] as? String ?? "").prefix(8))
        }
    }

    @Test(arguments: [nil, 600]) func `calls are listed when they are over, each once, also over rotations`(rotation: Int?) throws {
        let folder = try SoundFolder(), path = folder.path + "/j", output = Output()
        var settings = JournalFile.Settings(rotationBytes: rotation)
        settings.rotatedFiles = 100
        let file = try JournalFile(path: path, settings: settings) { _ in Issue.record("no report is due") }
        var run = try Self.follow(path, CallsListing(filter: CallsFilter(), isJSON: true), output)
        for line in JournalText.four.lines {
            file.accept(Array((line + "\n").utf8))
            file.synchronize()
            try run.step(at: 0)
        }
        #expect(try Self.names(output.lines) == ["AAAA0000", "BBBB0000", "BBBB0001", "CCCC0000"])
        #expect((file.counts.rotations > 5) == (rotation != nil))
    }

    @Test func `of what is there the last calls are listed, and of what comes all that the filter takes`() throws {
        let folder = try SoundFolder(), path = folder.path + "/j", output = Output()
        var text = JournalText.four
        try text.write(to: path)
        var run = try Self.follow(path, CallsListing(filter: CallsFilter(isFailedOnly: true), last: 1), output)
        try run.step(at: 0)
        #expect(output.lines.count == 2 && output.lines[0].hasPrefix("TIME") && output.lines[1].contains("BBBB0001"))
        text.refused(
            "DDDD0000-0000-0000-0000-000000000005", id: "id-5", from: "sip:a@b", to: "sip:c@d", status: 404, "no line has this number")
        text.answered("EEEE0000-0000-0000-0000-000000000006", id: "id-6")
        text.refused("FFFF0000-0000-0000-0000-000000000007", id: "id-7", from: "sip:a@b", to: "sip:c@d", status: 486, "busy")
        try text.write(to: path)
        try run.step(at: 0)
        #expect(output.lines.dropFirst(2).map { $0.contains("DDDD0000") || $0.contains("FFFF0000") } == [true, true])
    }

    @Test func `an INVITE without a password is listed when none came with one`() throws {
        let folder = try SoundFolder(), path = folder.path + "/j", output = Output()
        var text = JournalText()
        text.refused(JournalText.names[0], id: "id-0", from: "sip:a@b", to: "sip:c@d", status: 401, "a password is asked for")
        try text.write(to: path)
        var run = try Self.follow(path, CallsListing(filter: CallsFilter(), isJSON: true), output)
        let refused = UInt64(JournalText.begin + 1_000) * 1_000_000
        try run.step(at: refused + CallsFollow.challengeTime)
        #expect(output.lines.isEmpty)
        try run.step(at: refused + CallsFollow.challengeTime + 1)
        #expect(try Self.names(output.lines) == ["AAAA0000"])
    }

    @Test func `a journal that is not there is exit code 3`() throws {
        let failure = try #require(throws: Failure.self) { _ = try CallsFollow("/nowhere/j", CallsListing(filter: CallsFilter())) { _ in } }
        #expect(failure.exitCode == 3 && failure.message == "/nowhere/j: cannot be read")
    }
}
