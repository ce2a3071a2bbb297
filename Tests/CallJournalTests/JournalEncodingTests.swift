import CallJournal
import Foundation
import Primitives
import Synchronization
import Testing

/// A sink that keeps everything.
final class MemorySink: JournalSink {
    private let stored = Mutex<[[UInt8]]>([])

    func accept(_ lines: [UInt8]) { stored.withLock { $0.append(lines) } }

    var batches: [[UInt8]] { stored.withLock { $0 } }
    var bytes: [UInt8] { Array(batches.joined()) }
    var text: String { String(decoding: bytes, as: UTF8.self) }
}

@Suite struct JournalEncodingTests {
    static let clock = WallClock(instant: Instant(nanoseconds: 1_000), unixNanoseconds: 1_790_000_000_000_000_000)

    @Test(arguments: [
        CallUUID(high: 0x0123_4567_89AB_CDEF, low: 0xFEDC_BA98_7654_3210), CallUUID(high: 0, low: 0), CallUUID(high: .max, low: .max),
    ])
    func `a UUID's text and Foundation's UUID read back`(uuid: CallUUID) {
        #expect(CallUUID(uuid.text) == uuid)
        #expect(CallUUID(uuid.uuid) == uuid)
        #expect(uuid.uuid.uuidString == uuid.description)
    }

    @Test(arguments: [
        "", "0123456789ABCDEF", "01234567-89AB-CDEF-FEDC-BA987654321", "01234567-89AB-CDEF-FEDC-BA987654321G",
        "01234567+89AB-CDEF-FEDC-BA9876543210",
    ])
    func `what is no UUID is refused`(text: String) { #expect(CallUUID(Text(text)) == nil) }

    @Test func `an event is one line of JSON`() {
        let sink = MemorySink()
        let journal = Journal(lane: "s0", clock: Self.clock, sink: sink, audit: nil)
        journal.record(
            .sipReceived, call: CallUUID(high: 1, low: 2), line: "1002", at: Instant(nanoseconds: 2_000), [.method: "INVITE", .cseq: -7])
        journal.record(.gatewayStopped, at: Instant(nanoseconds: 3_000))
        journal.flush()
        #expect(
            sink.text == """
                {"seq":1,"t":2000,"wall":1790000000000001000,"call":"00000000-0000-0001-0000-000000000002","line":"1002","lane":"s0",\
                "kind":"sip.rx","details":{"method":"INVITE","cseq":-7}}
                {"seq":2,"t":3000,"wall":1790000000000002000,"lane":"s0","kind":"gateway.stopped"}

                """)
    }

    @Test func `what needs an escape is found wherever it stands`() {
        let sink = MemorySink()
        let journal = Journal(lane: "s0", clock: Self.clock, sink: sink, audit: nil)
        let texts = (0..<0x80 as Range<UInt8>).flatMap { byte in
            (0..<19).map { place in Text((0..<19).map { $0 == place ? byte : UInt8(ascii: "x") }) }
        }
        for text in texts { journal.record(.reportUpdated, at: Instant(nanoseconds: 1_000), [.text: .init(text)]) }
        journal.flush()
        #expect(JournalReader.parse(sink.bytes, name: "m").events.map { $0.details.text(.text) } == texts)
    }

    @Test(arguments: [
        ("plain", "plain"), ("say \"hi\"", #"say \"hi\""#), ("back\\slash", #"back\\slash"#), ("a\r\n\tb", #"a\r\n\tb"#),
        ("\u{1}\u{7F}", #"\u0001\u007f"#),
        ("Zoë 🎧", "Zoë 🎧"),
    ])
    func `text is escaped as JSON wants it, and reads back`(text: String, encoded: String) {
        let sink = MemorySink()
        let journal = Journal(lane: Text(text), clock: Self.clock, sink: sink, audit: nil)
        journal.record(.reportUpdated, at: Instant(nanoseconds: 1_000), [.text: .init(text)])
        journal.flush()
        #expect(sink.text.contains("\"lane\":\"\(encoded)\"") && sink.text.contains("\"text\":\"\(encoded)\""))
        let event = JournalReader.parse(sink.bytes, name: "m").events.first
        #expect(event?.lane == Text(text) && event?.details.text(.text) == Text(text))
    }

    @Test func `bytes that are not UTF-8 become replacement characters`() {
        let sink = MemorySink()
        let journal = Journal(lane: "s0", clock: Self.clock, sink: sink, audit: nil)
        journal.record(.reportUpdated, at: .zero, [.text: .text(Text([0x41, 0xFF, 0x42]))])
        journal.flush()
        #expect(String(validating: sink.bytes, as: UTF8.self)?.contains("A\u{FFFD}B") == true)
    }

    @Test(arguments: GoodJournal.all)
    func `what is written reads back the same`(journal good: GoodJournal) {
        let sink = MemorySink()
        let clock = WallClock(instant: .zero, unixNanoseconds: 0)
        let journal = Journal(lane: "s0", clock: clock, sink: sink)
        for event in good.events { journal.record(event.kind, call: event.call, line: event.line, at: event.time, event.details) }
        journal.finish(at: good.events.last!.time)
        let result = JournalReader.parse(sink.bytes, name: "memory")
        #expect(result.brokenLines == [])
        #expect(result.events == good.events)
        #expect(journal.violations == 0)
    }
}

@Suite struct JournalReaderTests {
    private static let good = #"{"seq":1,"t":2,"wall":3,"lane":"s0","kind":"call.ended"}"#

    @Test(arguments: [
        (good, nil),
        (#"  { "kind" : "call.ended", "seq":1, "t":2,"wall":3,"lane":"\u0073\ud83c\udfa7", "details" : { } } "#, nil),
        (#"{"seq":1,"t":2,"wall":3,"lane":"s0","kind":"call.ended"}x"#, JournalLineError.syntax(offset: 56)),
        (#"{"seq":1,"t":2,"wall":3,"lane":"s0"}"#, .missingField("kind")),
        (#"{"seq":1,"seq":2}"#, .duplicateField("seq")),
        (#"{"seq":-1}"#, .syntax(offset: 9)),
        (#"{"seq":99999999999999999999}"#, .syntax(offset: 27)),
        (#"{"colour":1}"#, .unknownField("colour")),
        (#"{"kind":"call.eaten"}"#, .unknownKind("call.eaten")),
        (#"{"call":"me"}"#, .badCall("me")),
        (#"{"details":{"password":"x"}}"#, .unknownField("password")),
        (#"{"details":{"port":1,"port":2}}"#, .duplicateField("port")),
        (#"{"lane":"\q"}"#, .syntax(offset: 11)),
        (#"{"lane":"\ud83c"}"#, .syntax(offset: 15)),
        (#"{"lane":"s"#, .syntax(offset: 10)),
        ("[]", .syntax(offset: 0)),
    ])
    func `a line is an event or a named fault`(line: String, error: JournalLineError?) {
        let result = JournalReader.parse(Array((line + "\n").utf8), name: "a.jsonl")
        #expect(result.brokenLines.map(\.cause) == (error.map { [$0] } ?? []))
        #expect(result.events.count == (error == nil ? 1 : 0))
    }

    @Test func `a broken line is named by file and line, and reading goes on`() {
        let result = JournalReader.parse(Array("\(Self.good)\n\nnonsense\n\(Self.good)\n\(Self.good)".utf8), name: "a.jsonl")
        #expect(result.events.count == 2)
        #expect(
            result.brokenLines.map(\.description) == [
                "a.jsonl:3: not an event: unexpected byte at column 1", "a.jsonl:5: the line is not finished",
            ])
    }

    @Test(arguments: [1, 7, 100, 4096])
    func `a journal that comes in pieces reads as in one`(size: Int) {
        let bytes = Array("\(Self.good)\n\nnonsense\n\(Self.good)\n\(Self.good)".utf8)
        var parser = JournalParser(name: "a.jsonl")
        var events: [JournalEvent] = []
        for start in stride(from: 0, to: bytes.count, by: size) {
            parser.feed(Array(bytes[start..<min(start + size, bytes.count)])) { events.append($0) }
        }
        let whole = JournalReader.parse(bytes, name: "a.jsonl")
        #expect(events == whole.events && events.count == 2)
        #expect(parser.finish() == whole.brokenLines)
    }

    @Test func `a line without an end is not gathered for ever`() {
        var parser = JournalParser(name: "a.jsonl")
        for _ in 0..<40 { parser.feed([UInt8](repeating: 0x61, count: 100_000)) { _ in Issue.record("no event is there") } }
        parser.feed([0x0A]) { _ in Issue.record("no event is there") }
        #expect(parser.finish().map(\.cause) == [.tooLong])
    }

    @Test func `no line makes the reader trap`() {
        var random = SeededRandom(seed: 11)
        let line = Array(
            #"{"seq":1,"t":2,"wall":3,"call":"00000000-0000-0001-0000-000000000002","lane":"s0","kind":"sip.rx","details":{"method":"a\u0041","cseq":-7}}"#
                .utf8)
        var read = 0
        for _ in 0..<5_000 {
            var bytes = line
            for _ in 0..<Int.random(in: 1...3, using: &random) {
                bytes[Int.random(in: bytes.indices, using: &random)] = UInt8.random(in: 0...255, using: &random)
            }
            let result = JournalReader.parse(bytes + [0x0A], name: "fuzz")
            #expect(result.events.count + result.brokenLines.count >= 1)
            read += result.events.count
        }
        #expect(read > 0 && read < 5_000)
    }
}
