import Testing
import UserAgent

@testable import hookswitch

/// `hookswitch trace --follow` on a terminal: which lines the screen has after which keys.
@Suite struct TraceScreenTests {
    private static func screen(rows: Int = 10, columns: Int = 120, most: Int = TraceScreen.mostMessages) -> TraceScreen {
        var screen = TraceScreen(TraceListing(), mostMessages: most)
        screen.size = TraceScreen.Size(rows: rows, columns: columns)
        for message in TraceTalk.four.messages { screen.note(message) }
        return screen
    }

    private static func pressed(_ keys: TerminalKey..., on screen: TraceScreen = screen()) -> TraceScreen {
        var screen = screen
        for key in keys { screen.press(key) }
        return screen
    }

    /// The Call-ID of the line that is drawn in reverse.
    private static func chosen(_ screen: TraceScreen) -> String? {
        let marked = screen.lines.filter { $0.hasPrefix("\u{1B}[7m> ") && $0.hasSuffix("\u{1B}[0m") }
        return marked.count == 1 ? marked[0].dropLast(4).split(separator: " ").last.map(String.init) : nil
    }

    // MARK: The list

    @Test func `the list has a title, a line for each call, and the newest is chosen`() {
        let lines = Self.screen().lines
        #expect(lines.count == 10 && lines[0].hasPrefix("  #  TIME") && lines[1].contains("aaaa-1") && lines[4].contains("reg-4"))
        #expect(Self.chosen(Self.screen()) == "reg-4" && lines[5...8].allSatisfy(\.isEmpty))
        #expect(lines[9].hasPrefix("call 4 of 4, the newest   ↑↓ choose"))
    }

    @Test(
        arguments: [
            ([.up], "aaaa-3"), ([.character("k"), .character("k")], "bbbb-2"), ([.up, .up, .down], "aaaa-3"), ([.home], "aaaa-1"),
            ([.home, .up], "aaaa-1"), ([.home, .character("j")], "bbbb-2"), ([.home, .pageDown], "reg-4"), ([.home, .end], "reg-4"),
            ([.up, .character("F")], "reg-4"), ([.home, .down, .pageUp], "aaaa-1"),
        ] as [([TerminalKey], String)]) func `keys choose a call`(keys: [TerminalKey], call: String)
    {
        var screen = Self.screen()
        for key in keys { screen.press(key) }
        #expect(Self.chosen(screen) == call)
    }

    @Test func `a call that comes is chosen while the newest is followed, and not otherwise`() {
        var more = TraceTalk()
        more.request("INVITE", id: "late-5")
        for (keys, call) in [([], "late-5"), ([.down], "reg-4"), ([.down, .end], "late-5")] as [([TerminalKey], String)] {
            var screen = Self.screen()
            for key in keys { screen.press(key) }
            screen.note(more.messages[0])
            #expect(Self.chosen(screen) == call)
        }
    }

    @Test func `the list moves with the call that is chosen`() {
        let low = Self.pressed(.home, on: Self.screen(rows: 4)).lines
        #expect(low.count == 4 && low[1].contains("aaaa-1") && low[2].contains("bbbb-2"))
        let high = Self.screen(rows: 4).lines
        #expect(high[1].contains("aaaa-3") && high[2].contains("reg-4"))
    }

    @Test func `no line is wider than the screen, colours not counted`() {
        var screen = Self.screen(columns: 30)
        screen.hasColour = true
        #expect(screen.lines.contains { $0.contains("\u{1B}[7m") } && screen.lines.contains { $0.contains("…") == false })
        for line in screen.lines + Self.pressed(.enter, on: screen).lines {
            let shown = line.replacing(/\u{1B}\[[0-9;]*m/, with: "")
            #expect(shown.count <= 30, "\(shown)")
        }
        #expect(
            "a\u{1B}[31mbcd".cut(to: 2) == "a\u{1B}[31mb\u{1B}[0m" && "abc".cut(to: 3) == "abc"
                && "abcde".folded(at: 2) == ["ab", "cd", "e"])
    }

    @Test func `a text leaves the calls that have it, and Escape takes it away`() {
        var screen = Self.pressed(.character("/"), .character("B"), .character("u"), .character("x"))
        #expect(screen.lines[9] == "/Bux_" && screen.lines[0].hasPrefix("none of 4 calls is like that"))
        screen = Self.pressed(.erase, .character("S"), .enter, on: screen)
        #expect(Self.chosen(screen) == "bbbb-2" && screen.lines[9].hasPrefix("call 1 of 1 with 'BuS', the newest"))
        screen = Self.pressed(.escape, on: screen)
        #expect(screen.lines[9].hasPrefix("call 4 of 4, the newest") && !screen.isOver)
        #expect(Self.pressed(.character("/"), .character("q"), .escape, on: screen).lines[9].hasPrefix("call 4 of 4"))
        #expect(Self.pressed(.character("/"), .erase, .character("k"), on: screen).lines[9].hasPrefix("call 3 of 4"))
    }

    @Test(
        arguments: [
            ([.character("q")], true), ([.escape], true), ([.interrupt], true), ([.enter, .escape], false),
            ([.enter, .character("q")], false),
            ([.enter, .escape, .escape], true), ([.enter, .interrupt], true), ([.character("/"), .character("q")], false),
            ([.character("/"), .interrupt], true),
        ] as [([TerminalKey], Bool)]) func `q and Escape go back, and end in the list`(keys: [TerminalKey], isOver: Bool)
    {
        var screen = Self.screen()
        for key in keys { screen.press(key) }
        #expect(screen.isOver == isOver)
    }

    @Test func `without a message there is nothing to choose`() {
        let empty = TraceScreen(TraceListing())
        #expect(empty.lines[0] == "there are no messages yet" && empty.lines.count == 24)
        #expect(Self.pressed(.enter, .up, .home, .end, on: empty).lines[23].hasPrefix("no call"))
    }

    // MARK: One call

    @Test func `Enter opens the ladder of a call and its messages, which scroll`() {
        let open = Self.pressed(.home, .enter), lines = open.lines
        #expect(lines.count == 10 && lines[1].contains("aaaa-1") && lines[3].hasSuffix("gateway") && lines[4].contains("INVITE"))
        #expect(lines[9] == "call 1   ↑↓ scroll  F follow  q back")
        #expect(Self.pressed(.down, .down, on: open).lines[1] == lines[3] && Self.pressed(.down, .up, on: open).lines == lines)
        let end = Self.pressed(.end, on: open).lines
        #expect(end[8].isEmpty && end[7] == "Content-Length: 0" && Self.pressed(.down, on: Self.pressed(.end, on: open)).lines == end)
        #expect(Self.pressed(.end, .home, on: open).lines == lines)
        #expect(Self.chosen(Self.pressed(.escape, on: open)) == "aaaa-1")
    }

    @Test func `a call that is open goes on, and its end is followed by choice`() {
        var more = TraceTalk.four
        more.messages = []
        more.answer("603 Decline", "INVITE", id: "aaaa-3")
        var still = Self.pressed(.up, .enter), followed = Self.pressed(.up, .enter, .end)
        still.note(more.messages[0])
        followed.note(more.messages[0])
        #expect(still.lines[1].contains("declined 603") && still.lines.contains { $0.contains("◀") && $0.contains("603 Decline") })
        #expect(followed.lines.contains("SIP/2.0 603 Decline") && !still.lines.contains("SIP/2.0 603 Decline"))
    }

    @Test func `of too many messages those of the oldest calls go`() {
        let screen = Self.screen(most: 9)
        #expect(Self.pressed(.home, .enter, on: screen).lines.contains("its messages are no longer kept: there were more than 9"))
        #expect(Self.pressed(.home, .down, .enter, on: screen).lines.contains { $0.contains("486 Busy Here") })
    }

    // MARK: Keys

    @Test(
        arguments: [
            ("\u{1B}[A\u{1B}OB", [.up, .down]), ("\u{1B}[5~\u{1B}[6~", [.pageUp, .pageDown]), ("\u{1B}[1~\u{1B}[F", [.home, .end]),
            ("\u{1B}", [.escape]), ("\u{1B}\u{1B}[A", [.escape, .up]), ("\r\n", [.enter, .enter]), ("\u{7F}\u{03}", [.erase, .interrupt]),
            ("aß€😀", ["a", "ß", "€", "😀"].map(TerminalKey.character)), ("\u{1B}[15~\u{01}j", [.character("j")]),
        ] as [(String, [TerminalKey])]) func `bytes are keys`(text: String, keys: [TerminalKey])
    {
        var reader = TerminalKeyReader()
        #expect(reader.feed(Array(text.utf8)) == keys)
    }

    @Test func `a sequence and a character wait for their end`() {
        var reader = TerminalKeyReader()
        #expect(reader.feed([0x1B, 0x5B]).isEmpty && reader.feed([0x42, 0xC3]) == [.down])
        #expect(reader.feed([0x9F]) == [.character("ß")] && reader.feed([0xFF, 0x6A]) == [.character("j")])
    }
}
