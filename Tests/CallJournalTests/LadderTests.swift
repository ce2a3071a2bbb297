import CallJournal
import Primitives
import Testing

@Suite struct LadderTests {
    @Test func `a cancelled call in 72 columns`() {
        #expect(
            Ladder(GoodJournal.cancelled.events, options: LadderOptions(width: 72)).text == """
                A  from the network, line 1002, 00000000-0000-000A-0000-000000000001
                         ms  A                       gateway                           A
                      0.000  │───────── INVITE ────────▶│
                      1.000  │◀────────── 100 ──────────│
                      2.000  │                          │ media reserved A 20000       ·
                      3.000  │                          │ report incoming A            ·
                      4.000  │                          │ report accepted A            ·
                      5.000  │◀────────── 180 ──────────│                              ·
                      6.000  │───────── CANCEL ────────▶│                              ·
                      7.000  │◀───── 200 (CANCEL) ──────│                              ·
                      8.000  │◀────────── 487 ──────────│                              ·
                      9.000  │                          │ report ended A remoteEnded   ·
                     10.000  │                          │ call ended A                 ·
                     11.000  │                          │ media released A 20000
                     12.000  │─────────── ACK ─────────▶│

                """)
    }

    @Test func `what the kernel relays has a bar of its own, in text and on the page`() throws {
        let ladder = Ladder(GoodJournal.relayed.events, options: LadderOptions(width: 100))
        let lines = ladder.text.split(separator: "\n"), armed = try #require(lines.firstIndex { $0.contains("media armed A") })
        #expect(lines[armed].hasSuffix("┃") && lines[armed - 1].hasSuffix("║") && lines[armed + 1].hasSuffix("║"))
        #expect(lines[armed + 1].contains("media taken A packet 7 packets") && !lines[armed + 1].contains("dropped"))
        #expect(lines.contains { $0.contains("media taken A stop 3 packets, 9 dropped") })
        #expect(ladder.steps.contains { $0.media == [.relayed] })
    }

    @Test func `what a stranger wrote is no command to a terminal`() {
        let events = GoodJournal.cancelled.events.map { event in
            var event = event
            if event.details.number(.status) == 487 { event.details[.phrase] = .init("a\u{1B}[2J\0\u{202E}b") }
            return event
        }
        let text = Ladder(events, options: LadderOptions(width: 100)).text
        #expect(text.contains("487 a\u{FFFD}[2J\u{FFFD}\u{FFFD}b") && !text.contains("\u{1B}"))
    }

    @Test func `two legs stand on the two sides of the gateway, with a bar for the media of each`() {
        let events = GoodJournal.bridge(scope: "perLine").events.filter { event in
            [
                .sipReceived, .sipSent, .mediaReserved, .mediaOpened, .mediaStarted, .mediaStopped, .mediaClosed, .mediaReleased,
                .performGroup,
            ].contains(event.kind)
        }
        #expect(
            Ladder(events, options: LadderOptions(width: 84)).text == """
                A  from the network, line 1002, 00000000-0000-000A-0000-000000000001
                B  to the network, line 1002, 00000000-0000-000B-0000-000000000002
                         ms  A                            gateway                            B   A B
                      0.000  │──────────── INVITE ──────────▶│                               │
                      1.000  │◀──────────── 100 ─────────────│                               │
                      2.000  │                               │ media reserved A 20000        │   ·
                      5.000  │◀──────────── 180 ─────────────│                               │   ·
                      9.000  │                               │ media reserved B 20002        │   · ·
                     10.000  │                               │──────────── INVITE ──────────▶│   · ·
                     12.000  │                               │ perform group B with A        │   · ·
                     14.000  │                               │◀──────────── 100 ─────────────│   · ·
                     15.000  │                               │◀──────────── 180 ─────────────│   · ·
                     17.000  │                               │◀──────────── 200 ─────────────│   · ·
                     19.000  │                               │ media opened B 20002          │   · │
                     20.000  │                               │───────────── ACK ────────────▶│   · │
                     23.000  │                               │ media started B s             │   · ║
                     28.000  │                               │ media opened A 20000          │   │ ║
                     29.000  │◀──────────── 200 ─────────────│                               │   │ ║
                     31.000  │                               │ media started A s             │   ║ ║
                     32.000  │───────────── ACK ────────────▶│                               │   ║ ║
                     33.000  │───────────── BYE ────────────▶│                               │   ║ ║
                     34.000  │◀───────── 200 (BYE) ──────────│                               │   ║ ║
                    135.000  │                               │ media stopped A 5 packets     │   │ ║
                    138.000  │                               │ media closed A 5 packets      │   · ║
                    139.000  │                               │ media released A 20000        │     ║
                    243.000  │                               │ media stopped B 5 packets     │     │
                    244.000  │                               │───────────── BYE ────────────▶│     │
                    248.000  │                               │ media closed B 5 packets      │     ·
                    249.000  │                               │ media released B 20002        │
                    250.000  │                               │◀───────── 200 (BYE) ──────────│

                """)
    }

    @Test func `colours come in runs and are switched off at the end of a line`() {
        var script = JournalScript()
        script.received("INVITE", JournalScript.alice)
        script.add(.auditViolation, JournalScript.alice, [.rule: "R1", .text: "why"])
        let text = Ladder(script.events, options: LadderOptions(width: 72, colour: true)).text
        let lines = text.split(separator: "\n").suffix(2)
        #expect(lines.first == "      0.000  \u{1B}[0;2m│\u{1B}[0;36m───────── INVITE ────────▶\u{1B}[0;2m│\u{1B}[0m")
        #expect(lines.last == "      1.000  \u{1B}[0;2m│                          │ \u{1B}[0;31mVIOLATION R1 why\u{1B}[0m")
    }

    @Test func `a retransmission has a dotted arrow`() {
        var script = JournalScript()
        script.received("INVITE", JournalScript.alice)
        script.add(.sipReceived, JournalScript.alice, [.method: "INVITE", .cseq: 1, .retransmission: true])
        let text = Ladder(script.events, options: LadderOptions(width: 72)).text
        #expect(text.hasSuffix("      1.000  │╌╌╌╌╌╌╌╌╌ INVITE ╌╌╌╌╌╌╌╌▶│\n"))
    }

    @Test func `loss and MOS stand where media stops, and what does not fit stands below`() {
        let quality: JournalEvent.Details = [
            .incoming: "heard", .outgoing: "nothing", .oneWay: true, .lost: 1, .expected: 150, .loss: 67, .jitter: 900, .mos: 437,
            .remoteLost: 150, .remoteExpected: 150, .remoteLoss: 10_000, .remoteJitter: 0, .remoteMOS: 100, .roundTrip: 4_000,
        ]
        let events = GoodJournal.bridge(scope: "perLine").events.map { event in
            var event = event
            guard event.kind == .mediaStopped, event.call == JournalScript.alice else { return event }
            for field in quality.fields { event.details[field.key] = field.value }
            return event
        }
        let lines = Ladder(events).text.split(separator: "\n").map(String.init)
        let stopped = lines.firstIndex { $0.contains("media stopped A") } ?? 0
        let drawn = [
            "    135.000  │                                                 │ media stopped A 5 packets, in heard,            │   │ ║",
            "             │                                                 │   out nothing: ONE WAY; loss in 0.67 % out 100.00 %,│ ║",
            "             │                                                 │   MOS in 4.37 out 1.00                          │   │ ║",
        ]
        #expect(Array(lines[stopped..<stopped + 3]) == drawn)
        #expect(lines.allSatisfy { $0.count <= 120 })
        #expect(JournalAuditTests.violations(of: events) == [], "the audit looks at none of it")
    }

    @Test func `joined calls are found, strangers are not`() {
        let events = GoodJournal.forkedDevices.events + GoodJournal.declined.events
        let joined = Ladder.calls(joinedWith: JournalScript.carol, in: events)
        #expect(joined == [JournalScript.alice, JournalScript.bob, JournalScript.carol])
        #expect(Ladder.calls(joinedWith: JournalScript.alice, in: GoodJournal.twoSessions.events) == [JournalScript.alice])
    }

    @Test(arguments: [72, 100, 200])
    func `no line is longer than the width, however many calls there are`(width: Int) {
        var script = JournalScript()
        for number in 1...40 { script.ring(CallUUID(high: 9, low: UInt64(number))) }
        let lines = Ladder(script.events, options: LadderOptions(width: width)).text.split(separator: "\n")
        #expect(lines.contains { $0.hasSuffix("that do not fit") })
        #expect(lines.allSatisfy { $0.count <= width })
    }

    @Test func `times that run backwards, as after a restart of the machine, are negative`() {
        var script = JournalScript()
        script.received("INVITE", JournalScript.alice)
        script.add(.sipReceived, JournalScript.alice, [.method: "INVITE", .cseq: 1, .retransmission: true])
        var events = script.events
        (events[events.count - 2].time, events[events.count - 1].time) = (Instant(nanoseconds: 12_345_678), .zero)
        let text = Ladder(events, options: LadderOptions(width: 72)).text
        #expect(text.hasSuffix("    -12.345  │╌╌╌╌╌╌╌╌╌ INVITE ╌╌╌╌╌╌╌╌▶│\n"))
    }

    @Test func `a journal without calls says so`() { #expect(Ladder([]).text == "no calls\n") }
}
