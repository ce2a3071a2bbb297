import CallJournal
import Foundation
import Primitives
import Testing

@testable import Console

@Suite struct WebhookReaderTests {
    /// A journal on the disk, and the stream of a webhook that reads it, with what is not taken yet.
    private final class Stage {
        let folder = FileManager.default.temporaryDirectory.appending(path: "webhook-\(UUID())").path
        var path: String { folder + "/j" }
        var reader: WebhookReader!
        var filter = EventFilter()
        private(set) var events: [WebhookReader.Event] = []
        var ids: [String] { events.map(\.position.description) }

        init() throws { try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true) }
        deinit { try? FileManager.default.removeItem(atPath: folder) }

        func append(_ lines: [String]) throws {
            if !FileManager.default.fileExists(atPath: path) { #expect(FileManager.default.createFile(atPath: path, contents: nil)) }
            let file = try #require(FileHandle(forWritingAtPath: path))
            try file.seekToEnd()
            try file.write(contentsOf: Data((lines.joined(separator: "\n") + "\n").utf8))
            try file.close()
        }

        func begin(after position: WebhookPosition? = nil) {
            events = []
            reader = WebhookReader(journal: path, after: position, filter)
        }

        /// Reads to the end.
        func read() throws { while try reader.read({ events.append($0) }) {} }

        /// Its progress when all but these are taken, as the file has it.
        func position(pending: [String] = []) throws -> WebhookPosition {
            let left = events.filter { pending.contains($0.position.description) }.map { event in
                WebhookPosition.Pending(
                    id: event.position.description, wall: event.wall, prev: event.previous?.description, end: 99,
                    json: event.isGap ? String(decoding: event.json, as: UTF8.self) : nil)
            }
            let file = WebhookPositionFile(folder: folder, name: "p")
            try file.write(try #require(reader.position(left)))
            return try #require(file.read())
        }

        func rotate(keeping count: Int = 5) throws {
            for index in stride(from: count, to: 0, by: -1) {
                let source = index == 1 ? path : "\(path).\(index - 1)"
                if FileManager.default.fileExists(atPath: source) { #expect(rename(source, "\(path).\(index)") == 0) }
            }
        }
    }

    private static let calls = ["00000000-0000-4000-8000-000000000001", "00000000-0000-4000-8000-000000000002"]

    /// - Parameter wall: of a run that begins then; its events follow each millisecond.
    private static func line(_ sequence: Int, _ kind: String, call: Int? = nil, at wall: Int = 1_000, _ details: String = "") -> String {
        let subject = call.map { #""call":"\#(calls[$0])","line":"1001","# } ?? ""
        let rest = details.isEmpty ? "" : #","details":{\#(details)}"#
        return #"{"seq":\#(sequence),"t":\#(sequence),"wall":\#(wall + sequence),\#(subject)"lane":"s","kind":"\#(kind)"\#(rest)}"#
    }

    private static func start(_ run: String, at wall: Int = 1_000) -> String { line(1, "gateway.started", at: wall, #""run":"\#(run)""#) }

    /// A call that is answered by 200, as far as it is public: the numbers from here on, three events.
    private static func call(_ number: Int, from sequence: Int, at wall: Int = 1_000) -> [String] {
        [
            line(sequence, "report.incoming", call: number, at: wall, #""remote":"x""#),
            line(sequence + 1, "report.incoming.ok", call: number, at: wall),
            line(sequence + 2, "sip.tx", call: number, at: wall, #""method":"INVITE","callid":"c","status":486"#),
            line(sequence + 3, "remote.hold", call: number, at: wall, #""on":1"#),
            line(sequence + 4, "call.ended", call: number, at: wall, #""reason":"remoteEnded""#),
        ]
    }

    @Test func `a new webhook begins behind what is there, and gets what SSE tells`() throws {
        let stage = try Stage()
        try stage.append([Self.start("aaaaaaaa11")] + Self.call(0, from: 2))
        stage.begin()
        try stage.read()
        #expect(stage.ids == [])
        try stage.append([Self.start("bbbbbbbb22", at: 2_000)] + Self.call(1, from: 2, at: 2_000))
        try stage.read()
        #expect(stage.ids == ["bbbbbbbb.1", "bbbbbbbb.3", "bbbbbbbb.5", "bbbbbbbb.6"])
        #expect(stage.events.map { $0.previous?.description } == [nil, "bbbbbbbb.1", "bbbbbbbb.3", "bbbbbbbb.5"])
        let hub = EventHub()
        var told: [[UInt8]] = []
        _ = hub.listen(EventFilter(), after: nil) { json, _, _ in
            told.append(json)
        } end: { _ in
        }
        hub.accept(try JournalReader.read(path: stage.path).events.filter { $0.wall > 2_000 }, at: .zero)
        #expect(told == stage.events.map(\.json), "the same bytes")
    }

    @Test(arguments: [false, true]) func `after a restart come those that were not taken, as they were, and then the next`(isRotated: Bool)
        throws
    {
        let stage = try Stage()
        stage.begin()
        try stage.append([Self.start("aaaaaaaa")] + Self.call(0, from: 2).dropLast())
        try stage.read()
        let before = stage.events.last
        #expect(stage.ids == ["aaaaaaaa.1", "aaaaaaaa.3", "aaaaaaaa.5"])
        let position = try stage.position(pending: ["aaaaaaaa.5"])
        if isRotated { try stage.rotate() }
        try stage.append([Self.call(0, from: 2).last!, Self.line(7, "port.free")])
        if isRotated {
            try stage.rotate()
            try stage.append([Self.line(8, "port.free")])
        }
        stage.begin(after: position)
        try stage.read()
        #expect(stage.ids == ["aaaaaaaa.5", "aaaaaaaa.6"])
        #expect(stage.events.first?.json == before?.json && stage.events.first?.end == 99 && stage.events.last?.end == nil)
        let ended = String(decoding: stage.events.last?.json ?? [], as: UTF8.self)
        #expect(
            ended.contains(#""status":486"#),
            "what was up is read again, also where the file of its beginning is another")
    }

    @Test func `an orderly restart repeats nothing, whatever the hint is`() throws {
        let stage = try Stage()
        stage.begin()
        try stage.append([Self.start("aaaaaaaa")] + Self.call(0, from: 2))
        try stage.read()
        var position = try stage.position()
        for hint in [position.file, 7, nil] {
            position.file = hint
            stage.begin(after: position)
            try stage.read()
            #expect(stage.ids == [])
        }
        try stage.append(Self.call(1, from: 7))
        try stage.read()
        #expect(stage.ids == ["aaaaaaaa.8", "aaaaaaaa.10", "aaaaaaaa.11"] && stage.events[0].previous?.description == "aaaaaaaa.6")
    }

    @Test func `events that were rotated away are told as a gap, and so are those that the journal lost`() throws {
        let stage = try Stage()
        stage.begin()
        try stage.append([Self.start("aaaaaaaa")] + Self.call(0, from: 2))
        try stage.read()
        let position = try stage.position()
        try FileManager.default.removeItem(atPath: stage.path)
        try stage.append(Self.call(1, from: 20))
        stage.begin(after: position)
        try stage.read()
        #expect(stage.ids.first?.hasSuffix("gap.20") == true && stage.events.first?.isGap == true && stage.events.count == 4)
        #expect(stage.events[1].previous == stage.events[0].position && stage.events[0].previous?.description == "aaaaaaaa.6")
        let json = try #require(try JSONSerialization.jsonObject(with: Data(stage.events[0].json)) as? [String: Any])
        #expect(json["type"] as? String == "webhook.gap" && (json["data"] as? [String: String])?["after"] == "aaaaaaaa.6")
        try stage.append([Self.line(30, "journal.lost", #""count":6,"calls":1"#)] + Self.call(0, from: 31))
        try stage.read()
        #expect(stage.events.filter(\.isGap).count == 2 && stage.events.count == 8)
    }

    @Test func `events that were not taken and are gone are a gap, too`() throws {
        let stage = try Stage()
        stage.begin()
        try stage.append([Self.start("aaaaaaaa")] + Self.call(0, from: 2))
        try stage.read()
        let position = try stage.position(pending: ["aaaaaaaa.3"])
        try FileManager.default.removeItem(atPath: stage.path)
        try stage.append([Self.start("bbbbbbbb", at: 9_000)])
        stage.begin(after: position)
        try stage.read()
        #expect(stage.events.map(\.isGap) == [true, false])
    }

    @Test func `a file that was cut short and is read again repeats nothing`() throws {
        let stage = try Stage()
        stage.begin()
        try stage.append([Self.start("aaaaaaaa")] + Self.call(0, from: 2) + Self.call(1, from: 7))
        try stage.read()
        let lines = try String(contentsOfFile: stage.path, encoding: .utf8).split(separator: "\n").dropLast(1).map(String.init)
        try stage.rotate(keeping: 0)
        truncate(stage.path, 0)
        try stage.append(lines)
        try stage.read()
        try stage.append([Self.line(11, "journal.lost", #""count":1,"calls":0"#), Self.line(12, "overload")])
        try stage.read()
        #expect(stage.ids.count == Set(stage.ids).count && stage.ids.last == "aaaaaaaa.12", "\(stage.ids)")
    }

    @Test func `a filter leaves the rest out, and links what it lets through`() throws {
        let stage = try Stage()
        stage.filter = EventFilter(types: [.callEnded], lines: ["1001"])
        stage.begin()
        try stage.append([Self.start("aaaaaaaa")] + Self.call(0, from: 2) + Self.call(1, from: 7))
        try stage.read()
        #expect(stage.ids == ["aaaaaaaa.6", "aaaaaaaa.11"] && stage.events[1].previous == stage.events[0].position)
        #expect(stage.events.map(\.subject) == Self.calls.map { .call(CallUUID(UUID(uuidString: $0)!)) })
    }
}
