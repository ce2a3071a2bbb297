import ArgumentParser
import Foundation
import FoundationXML
import Gateway
import Primitives
import Testing

@testable import hookswitch

/// `hookswitch ladder`: which call is drawn, as text, JSON and a page.
@Suite struct LadderCommandTests {
    private let folder: SoundFolder
    private var path: String { folder.path + "/j" }

    init() throws { folder = try SoundFolder() }

    private func journal(_ text: JournalText) throws -> LadderJournal {
        try text.write(to: path)
        return try LadderJournal(path)
    }

    private func choice(_ text: JournalText, _ name: String?, isLast: Bool = false) throws -> LadderChoice {
        try LadderChoice(name, of: journal(text).history.calls, in: "j", isLast: isLast)
    }

    // MARK: Which call

    @Test(arguments: [
        (JournalText.names[0], "AAAA0000"), ("aaaa", "AAAA0000"), ("aaaa0000-0000", "AAAA0000"), ("BBBB0001", "BBBB0001"),
        ("id-2", "BBBB0001"),
        ("cccc0000000000000000000000000004", "CCCC0000"),
    ])
    func `a call is named by its UUID, the beginning of it, or its Call-ID`(name: String, call: String) throws {
        let choice = try choice(.four, name)
        #expect(CallWords.name(choice.call.first) == call && choice.note == nil)
    }

    @Test(arguments: ["EEEE0000-0000-0000-0000-000000000006", "eeee0000", "EEEE", "AAAA0000"])
    func `a call of an app is named by the app's own UUID, too`(name: String) throws {
        var text = JournalText()
        text.adopted(JournalText.names[0], as: "EEEE0000-0000-0000-0000-000000000006", id: "id-0")
        text.answered(JournalText.names[3], id: "id-3")
        #expect(CallWords.name(try choice(text, name).call.first) == "AAAA0000")
    }

    @Test func `a Call-ID that looks like the beginning of a UUID is a Call-ID`() throws {
        var text = JournalText.four
        text.answered("DDDD0000-0000-0000-0000-000000000005", id: "aaaa0000")
        #expect(CallWords.name(try choice(text, "aaaa0000").call.first) == "DDDD0000")
        #expect(CallWords.name(try choice(text, "AAAA").call.first) == "AAAA0000")
    }

    @Test func `a name that is several calls is refused with what they are`() throws {
        let failure = try #require(throws: Failure.self) { try choice(.four, "bbbb") }
        let times = [4_500, 5_500].map { WallTime.local(UInt64(JournalText.begin + $0) * 1_000_000) }
        #expect(
            failure.exitCode == 2
                && failure.message
                    == "'bbbb' is 2 calls: \(JournalText.names[1]) (run 1, \(times[0]), 1001@a.test to 777@a.test, refused 404), "
                    + "\(JournalText.names[2]) (run 1, \(times[1]), zoe@b.test to 9196@a.test, answered)"
        )
    }

    @Test(arguments: [
        ("DDDD", 1, "j: there is no call DDDD; 'hookswitch calls j' lists the 4 that are there"),
        ("bbb", 2, "'bbb' is too short for a call: a UUID, 4 digits of it or a Call-ID; 'hookswitch calls j' lists the 4 that are there"),
        ("no such id", 1, "j: there is no call no such id; 'hookswitch calls j' lists the 4 that are there"),
    ])
    func `a name of no call is refused, with how to find one`(name: String, code: Int32, message: String) throws {
        let failure = try #require(throws: Failure.self) { try choice(.four, name) }
        #expect(failure.exitCode == code && failure.message == message)
    }

    @Test func `without a name it is the last call, and who did not ask for that is told`() throws {
        let last = try choice(.four, nil)
        #expect(CallWords.name(last.call.first) == "CCCC0000")
        #expect(last.note == "CCCC0000 is the last of 4 calls; 'hookswitch calls j' lists them")
        #expect(try choice(.four, nil, isLast: true).note == nil)
        var one = JournalText()
        one.answered(JournalText.names[0], id: "a")
        #expect(try choice(one, nil).note == nil)
        let none = try #require(throws: Failure.self) { try choice(JournalText(), nil, isLast: true) }
        #expect(none.exitCode == 1 && none.message == "j: there are no calls")
    }

    @Test func `--last and a name are two calls`() throws {
        let command = try #require(try Hookswitch.parseAsRoot(["ladder", "j", "aaaa", "--last"]) as? LadderCommand)
        let failure = try #require(throws: Failure.self) { try command.run() }
        #expect(failure.exitCode == 2 && failure.message == "--last is one call, and 'aaaa' another: give one of them")
    }

    // MARK: What is drawn

    @Test func `a ladder has one run, though another has the same call`() throws {
        var text = JournalText()
        text.answered(JournalText.names[0], id: "a")
        text.now = 0
        text.start(run: "second")
        text.answered(JournalText.names[0], id: "a", heard: ("heard", "silent"))
        let journal = try journal(text), calls = journal.history.calls
        #expect(calls.count == 2)
        for call in calls {
            let events = try journal.events(of: call)
            #expect(events.count { $0.kind == .callEnded } == 1 && events.count { $0.kind == .gatewayStarted } == 1)
            #expect(Ladder(events).steps.first?.offset == .zero)
        }
        #expect(try journal.events(of: calls[1]).contains { $0.details.text(.outgoing) == "silent" })
        let drawn = LadderCommand.text(calls[1], Ladder(try journal.events(of: calls[1])))
        #expect(drawn.contains("\nfirst event second.2\n") && drawn.contains("the callee was not heard: packets of silence"))
    }

    @Test func `a journal out of a pipe is drawn as from a file`() throws {
        let pipe = Pipe()
        try pipe.fileHandleForWriting.write(contentsOf: JournalText.four.data)
        try pipe.fileHandleForWriting.close()
        let journal = try LadderJournal("/dev/fd/\(pipe.fileHandleForReading.fileDescriptor)")
        let call = try LadderChoice("aaaa", of: journal.history.calls, in: "j", isLast: false).call
        let other = try self.journal(.four), same = try LadderChoice("aaaa", of: other.history.calls, in: "j", isLast: false).call
        let drawn = try Ladder(journal.events(of: call)).text
        #expect(try drawn == Ladder(other.events(of: same)).text && drawn.contains("200 OK"))
    }

    @Test func `an INVITE that was refused is drawn from what the gateway says of it`() throws {
        let journal = try journal(.four), call = journal.history.calls[1]
        let text = Ladder(try journal.events(of: call), options: LadderOptions(width: 200)).text
        #expect(text.contains("─ INVITE ─") && text.contains("─ 404 ─"))
        #expect(
            text.contains("invite received A from sip:1001@a.test to sip:777@a.test")
                && text.contains("refused A 404: no line has this number"))
    }

    @Test func `steps of a call with messages have them once`() throws {
        let journal = try journal(.four), call = journal.history.calls[0], steps = Ladder(try journal.events(of: call)).steps
        let messages = steps.compactMap { if case .message(let message) = $0.content { message.label } else { nil } }
        #expect(messages == ["INVITE", "100", "180 Ringing", "200 OK", "ACK", "BYE", "200 (BYE)"])
        #expect(steps.map(\.media).last == [.open] && steps.contains { $0.media == [.flowing] })
    }

    @Test func `as JSON it has the call, its parties, and what happened step by step`() throws {
        let journal = try journal(.four), call = journal.history.calls[0]
        let encoded = try JSONEncoder().encode(LadderDescription(call, Ladder(try journal.events(of: call))))
        let object = try #require(try JSONSerialization.jsonObject(with: encoded) as? [String: Any])
        #expect((object["call"] as? [String: Any])?["callID"] as? String == "id-0" && object["version"] as? String == "hookswitch 1")
        let parties = try #require(object["parties"] as? [[String: String]])
        #expect(parties == [["name": "A", "call": JournalText.names[0], "line": "1002", "direction": "incoming"]])
        let steps = try #require(object["steps"] as? [[String: Any]]), bye = try #require(steps.first { $0["message"] as? String == "BYE" })
        #expect(bye["position"] as? String == "1.12" && bye["offset"] as? Double == 2_500 && bye["isReceived"] as? Bool == true)
        #expect(bye["time"] as? String == "2026-11-26T18:24:03.500Z" && bye["party"] as? String == "A")
        #expect(bye["media"] as? [String: String] == ["A": "flowing"] && bye["kind"] as? String == "sip.rx")
    }

    // MARK: The page

    /// XML of the drawing and the page's text; strict reading fails where something is not escaped or closed.
    private func page(_ text: JournalText, _ index: Int) throws -> String {
        let journal = try journal(text), call = journal.history.calls[index]
        return LadderPage.text(call, Ladder(try journal.events(of: call), options: LadderOptions(width: 1_000)), version: "1")
    }

    private final class Counter: NSObject, XMLParserDelegate {
        var elements: [String: Int] = [:], texts: [String] = []
        func parser(
            _ parser: XMLParser, didStartElement name: String, namespaceURI: String?, qualifiedName: String?, attributes: [String: String]
        ) { elements[name, default: 0] += 1 }
        func parser(_ parser: XMLParser, foundCharacters text: String) { texts.append(text) }
    }

    @Test func `a page is whole, draws each message, and says what became of the call`() throws {
        let page = try page(.four, 2)
        #expect(page.contains("<h1>zoe@b.test to 9196@a.test</h1>") && page.contains("the callee was not heard: no packets"))
        #expect(page.contains("banner bad") && page.contains("<th>Call-ID</th><td>id-2</td>") && page.contains("prefers-color-scheme:dark"))
        #expect(!page.contains("http://") && !page.contains("https://") && !page.contains("<script"))
        let svg = try #require(page.firstRange(of: /<svg(.|\n)*<\/svg>/).map { String(page[$0]) })
        let parser = XMLParser(data: Data(svg.utf8)), counter = Counter()
        parser.delegate = counter
        #expect(parser.parse(), "\(String(describing: parser.parserError))")
        // Seven messages, two lifelines; media that is open, flows, and is open again.
        #expect(counter.elements["line"] == 9 && counter.elements["rect"] == 3)
        #expect(counter.texts.contains("180 Ringing"))
    }

    @Test func `what a stranger wrote is text on a page`() throws {
        var text = JournalText()
        text.refused(JournalText.names[0], id: "<i>", from: "sip:<script>alert(1)</script>@a", to: "sip:b@c", status: 404, "<b>&")
        let page = try page(text, 0)
        #expect(
            !page.contains("<script") && page.contains("&lt;script&gt;") && page.contains("&lt;b&gt;&amp;") && page.contains("&lt;i&gt;"))
    }

    @Test func `the page is written beside the text`() throws {
        try JournalText.four.write(to: path)
        let file = folder.path + "/call.html"
        let command = try #require(try Hookswitch.parseAsRoot(["ladder", path, "aaaa", "--json", "--html", file]) as? LadderCommand)
        try command.run()
        #expect(try String(contentsOfFile: file, encoding: .utf8).hasPrefix("<!DOCTYPE html>"))
        let other = try #require(try Hookswitch.parseAsRoot(["ladder", path, "--html", "/nowhere/x.html"]) as? LadderCommand)
        let failure = try #require(throws: Failure.self) { try other.run() }
        #expect(failure.exitCode == 3)
    }
}
