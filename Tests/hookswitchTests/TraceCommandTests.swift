import ArgumentParser
import Foundation
import Gateway
import Primitives
import Synchronization
import Testing
import UserAgent

@testable import hookswitch

/// `hookswitch trace`: which calls are listed, how one is drawn, and what is refused.
@Suite struct TraceCommandTests {
    private let folder: SoundFolder
    private var path: String { folder.path + "/t.pcapng" }

    init() throws { folder = try SoundFolder() }

    private static func command(_ options: [String]) throws -> TraceCommand {
        try #require(try Hookswitch.parseAsRoot(["trace", "t"] + options) as? TraceCommand)
    }

    private static func listed(_ options: String...) throws -> [Int] {
        try command(options).listing().chosen(TraceTalk.four.history.calls).map(\.number)
    }

    // MARK: The list

    @Test func `a line has who called whom, how it stands, and how many messages there were`() {
        var table = TraceTable()
        let lines = table.whole(TraceTalk.four.history.calls).split(separator: "\n").map { line in
            // Without the time, which is that of the place.
            String(line.prefix(3)) + line.dropFirst(28)
        }
        #expect(
            lines == [
                "#  METHOD    FROM         TO           STATUS    MSGS  PEER                CALL-ID",
                "1  INVITE    1001@a.test  9196@b.test  answered  5     udp 192.0.2.7:5060  aaaa-1",
                "2  INVITE    1001@a.test  777@b.test   busy 486  3     udp 192.0.2.7:5060  bbbb-2",
                "3  INVITE    1001@a.test  9196@b.test  ringing   2     udp 192.0.2.7:5060  aaaa-3",
                "4  REGISTER  1001@a.test  1001@b.test  answered  4     udp 192.0.2.7:5060  reg-4",
            ])
    }

    @Test func `filters leave the calls that are like that, and --last the last of those`() throws {
        #expect(try Self.listed() == [1, 2, 3, 4])
        #expect(try Self.listed("--method", "invite") == [1, 2, 3] && Self.listed("--method", "BYE,REGISTER") == [4])
        #expect(
            try Self.listed("--status", "busy") == [2] && Self.listed("--status", "4xx,up") == [2, 3]
                && Self.listed("--status", "200") == [1, 4])
        #expect(
            try Self.listed("--to", "777") == [2] && Self.listed("--from", "1001@A").count == 4 && Self.listed("--call", "AAAA") == [1, 3])
        #expect(try Self.listed("--method", "INVITE", "--last", "2") == [2, 3])
    }

    @Test(arguments: [
        (["--last", "0"], "--last takes calls from 1 to 1000000, got 0"),
        (["--method", "INVITE,"], "--method takes methods as INVITE,REGISTER, got 'INVITE,'"),
        (["--journal", "j"], "--journal names a call: give its UUID, too"), (["1", "--from", "a"], "a call is named, and needs no filter"),
        (["--follow", "-o", "x"], "--follow has no end, and --output is written at the end: give one of them"),
    ]) func `a wrong option is named`(options: [String], message: String) throws {
        let command = try Self.command(options)
        let failure = #expect(throws: Failure.self) { try command.run() }
        #expect(failure?.message == message && failure?.exitCode == 2)
    }

    // MARK: One call

    @Test(arguments: [("aaaa-1", 1), ("2", 2), ("bbbb", 2), ("reg-", 4), ("reg-4", 4)])
    func `a call is named by its number, its Call-ID, or the beginning of it`(name: String, number: Int) throws {
        #expect(try TraceChoice.calls(name, in: TraceTalk.four.history.calls, of: "t", journal: nil).map(\.number) == [number])
    }

    @Test(arguments: [
        ("aaaa", "'aaaa' is 2 calls: 1 (aaaa-1), 3 (aaaa-3)", 2),
        ("9", "t: there is no call 9; 'hookswitch trace t' lists the 4 that are there; a UUID needs --journal", 1),
    ]) func `a name of none or several is refused`(name: String, message: String, code: Int32) {
        let failure = #expect(throws: Failure.self) { try TraceChoice.calls(name, in: TraceTalk.four.history.calls, of: "t", journal: nil) }
        #expect(failure?.message == message && failure?.exitCode == code)
    }

    @Test func `with a journal a UUID names all legs of its call`() throws {
        var text = JournalText()
        text.answered(JournalText.names[0], id: "bbbb-2")
        try text.write(to: folder.path + "/j")
        let calls = TraceTalk.four.history.calls
        #expect(try TraceChoice.calls("AAAA", in: calls, of: "t", journal: folder.path + "/j").map(\.number) == [2])
        // Not of the journal: a name of the trace.
        #expect(try TraceChoice.calls("reg-4", in: calls, of: "t", journal: folder.path + "/j").map(\.number) == [4])
    }

    @Test func `a call is a ladder, and below it each message as text`() throws {
        var talk = TraceTalk.four
        talk.add(.sent, "SIP/2.0 486 Busy Here", "INVITE", id: "bbbb-2", to: "777", more: "Reason: \u{1B}[2J\r\n")
        let text = TraceFlow([talk.history.calls[1]]).text(LadderOptions(width: 80))
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        #expect(lines[0].contains("192.0.2.7:5060") && lines[0].hasSuffix("gateway"))
        #expect(lines[1].contains("── INVITE ──") && lines[1].hasSuffix("▶│") && lines[2].contains("╌╌ INVITE ╌╌"))
        #expect(lines[3].contains("◀") && lines[3].contains("486 Busy Here"))
        let place = try #require(lines.firstIndex { $0.hasPrefix("-- ") })
        #expect(lines[place].hasSuffix("received udp 192.0.2.7:5060 → 192.0.2.1:5060"))
        #expect(lines[place + 1] == "INVITE sip:777@b.test SIP/2.0" && lines.contains("Call-ID: bbbb-2"))
        #expect(lines.contains("Reason: \u{FFFD}[2J") && !text.contains("\u{1B}") && !text.contains("\r"))
    }

    @Test func `a call goes into a file of its own`() throws {
        try Data(TraceTalk.four.file).write(to: URL(filePath: path))
        let command = try #require(
            try Hookswitch.parseAsRoot(["trace", path, "bbbb-2", "-o", folder.path + "/one.pcapng"]) as? TraceCommand)
        try command.run()
        var source = try TraceSource(folder.path + "/one.pcapng"), found: [TracedMessage] = []
        try source.poll { found.append($0) }
        #expect(found == TraceTalk.four.messages.filter { $0.callID == "bbbb-2" } && found.count == 3)
    }

    @Test func `what is no trace is said to be none`() throws {
        try Data("INVITE sip:a SIP/2.0\r\n".utf8).write(to: URL(filePath: path))
        let none = #expect(throws: Failure.self) { try Hookswitch.parseAsRoot(["trace", path]).runForTest() }
        #expect(none?.message == "\(path): is no pcapng file" && none?.exitCode == 1)
        let missing = #expect(throws: Failure.self) { try Hookswitch.parseAsRoot(["trace", path + "x"]).runForTest() }
        #expect(missing?.message == "\(path)x: cannot be read (No such file or directory)" && missing?.exitCode == 3)
    }

    // MARK: What comes

    private func written(_ bytes: [UInt8]) throws {
        let file = try FileHandle(forWritingTo: URL(filePath: path))
        try file.seekToEnd()
        try file.write(contentsOf: Data(bytes))
        try file.close()
    }

    @Test func `a list that goes on has a line for each call that begins or changes, also in the next file`() throws {
        let messages = TraceTalk.four.messages, told = Mutex<[String]>([])
        try Data(Pcapng.header(program: "t") + Pcapng.packet(messages[0])).write(to: URL(filePath: path))
        var run = try TraceFollow(path, TraceListing()) { text in told.withLock { $0.append(text) } }
        func lines(of step: () throws -> Void) rethrows -> [String] {
            told.withLock { $0 = [] }
            try step()
            return told.withLock { $0.map { String($0.dropFirst(31)) } }
        }
        #expect(try lines { try run.step() }.map { $0.contains("no answer yet") } == [false, true])
        #expect(try lines { try run.step() }.isEmpty)
        try written(messages[1...2].flatMap(Pcapng.packet))
        #expect(try lines { try run.step() }.count == 1 && told.withLock { $0[0].contains("  up  ") })
        try FileManager.default.moveItem(atPath: path, toPath: path + ".1")
        try Data(Pcapng.header(program: "t") + messages[3...7].flatMap(Pcapng.packet)).write(to: URL(filePath: path))
        let last = try lines { try run.step() }
        #expect(last.count == 2 && last[0].contains("answered") && last[1].contains("busy 486"))
    }
}

extension ParsableCommand {
    fileprivate func runForTest() throws {
        var command = self
        try command.run()
    }
}
