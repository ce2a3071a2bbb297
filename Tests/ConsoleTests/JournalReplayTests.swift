import CallJournal
import Foundation
import Primitives
import Testing

@testable import Console

@Suite struct JournalReplayTests {
    private static func find(_ after: EventPosition, _ journal: RotatedJournal, _ filter: EventFilter = EventFilter()) throws
        -> Result<JournalReplay, EventHub.Gone>
    { try JournalReplay.find(after, in: JournalArchive(path: journal.path), nil, filter) }

    /// All that is there for now.
    private static func read(_ replay: JournalReplay) throws -> (told: [JournalReplay.Told], isCut: Bool) {
        var told: [JournalReplay.Told] = []
        while true {
            let piece = try replay.next()
            told += piece.events
            if piece.isCut || piece.isLast && piece.position == nil { return (told, piece.isCut) }
        }
    }

    private typealias Events = [(position: EventPosition, told: PublicEvent?)]

    private static func expected(_ events: Events, behind index: Int, _ filter: EventFilter = EventFilter()) -> [[UInt8]] {
        var previous = events[index].position
        return events[(index + 1)...].compactMap(\.told).filter(filter.takes).map { event in
            defer { previous = event.position }
            return event.encoded().json(after: previous)
        }
    }

    @Test(arguments: 0..<4 as Range<UInt64>) func `a stream from any position of any run is what the journal has behind it`(seed: UInt64)
        throws
    {
        let journal = try RotatedJournal(seed: seed)
        var random = SeededRandom(seed: seed &+ 99), stories = 0
        for _ in 0..<12 {
            journal.recordSome(Int.random(in: 1...25, using: &random))
            switch Int.random(in: 0..<4, using: &random) {
            case 0: journal.kill()
            case 1: journal.start()
            default: journal.rotate(keeping: 50)
            }
        }
        journal.write()
        let filters = [
            EventFilter(), EventFilter(types: [.callEnded, .callGrouped]), EventFilter(call: CallUUID(high: 1, low: 1)),
            EventFilter(line: "1001"), EventFilter(lines: ["7"]),
        ]
        let events = journal.events
        for _ in 0..<100 {
            let index = Int.random(in: events.indices, using: &random), filter = try #require(filters.randomElement(using: &random))
            let replay = try Self.find(events[index].position, journal, filter).get(), read = try Self.read(replay)
            let expected = Self.expected(events, behind: index, filter)
            try #require(read.told.map(\.json) == expected && !read.isCut, "seed \(seed), after \(events[index].position)")
            stories += read.told.count
        }
        #expect(stories > 500)
    }

    @Test(arguments: 0..<4 as Range<UInt64>) func `a reader that is cut off while the journal is written and rotated misses none`(
        seed: UInt64
    ) throws {
        let journal = try RotatedJournal(seed: seed)
        var random = SeededRandom(seed: seed), cuts = 0
        journal.write()
        var heard = [journal.first], previous: [EventPosition?] = [nil]
        var replay = try Self.find(heard[0], journal).get()
        while cuts < 250 {
            if journal.written.count < 25_000 { journal.recordSome(Int.random(in: 0...6, using: &random)) }
            switch Int.random(in: 0..<20, using: &random) {
            case 0: journal.rotate(keeping: 100)
            case 1: journal.kill()
            default: break
            }
            let told = try replay.next().events, isCut = Int.random(in: 0..<3, using: &random) == 0
            // What was on its way is lost with the connection.
            let arrived = told.prefix(isCut ? Int.random(in: 0...told.count, using: &random) : told.count)
            heard += arrived.map(\.event.position)
            previous += arrived.map { Self.previous(in: $0.json) }
            guard isCut else { continue }
            cuts += 1
            replay = try Self.find(try #require(heard.last), journal).get()
        }
        journal.write()
        let rest = try Self.read(replay).told
        heard += rest.map(\.event.position)
        previous += rest.map { Self.previous(in: $0.json) }
        #expect(heard == journal.events.compactMap { $0.told?.position }, "seed \(seed)")
        #expect(previous == [nil] + heard.dropLast())
    }

    private static func previous(in json: [UInt8]) -> EventPosition? {
        let object = (try? JSONSerialization.jsonObject(with: Data(json))) as? [String: Any]
        return (object?["prev"] as? String).flatMap { EventPosition($0) }
    }

    // MARK: What is gone

    @Test func `what was rotated away is gone, and the oldest that is there is not`() throws {
        let journal = try RotatedJournal(seed: 1)
        for _ in 0..<6 {
            journal.recordSome(10)
            journal.rotate(keeping: 2)
            journal.start()
        }
        journal.write()
        let events = journal.events, oldest = try oldest(of: journal, after: events[0].position)
        let first = try #require(events.firstIndex { $0.position == oldest })
        #expect(first > 0 && oldest.sequence == 1, "the oldest run whose name is known")
        for (index, event) in events.enumerated() {
            switch try Self.find(event.position, journal) {
            case .success(let replay):
                #expect(index >= first)
                #expect(try Self.read(replay).told.map(\.json) == Self.expected(events, behind: index))
            case .failure(let gone): #expect(index < first && gone.oldest == oldest, "\(event.position)")
            }
        }
        #expect(try Self.find(EventPosition(run: "other", sequence: 3), journal).isFailure)
        #expect(
            try Self.find(EventPosition(run: oldest.run, sequence: 0), journal).isFailure == false,
            "before the first of a run that is whole")
    }

    private func oldest(of journal: RotatedJournal, after position: EventPosition) throws -> EventPosition {
        guard case .failure(let gone) = try Self.find(position, journal) else { throw CancellationError() }
        return try #require(gone.oldest)
    }

    @Test func `behind a hole of the journal nobody goes on unawares`() throws {
        let journal = try RotatedJournal(seed: 2)
        journal.recordSome(10)
        let before = try #require(journal.events.last?.position), replay = try Self.find(before, journal).get()
        func line(_ sequence: UInt64, _ kind: String) -> [UInt8] {
            Array(#"{"seq":\#(sequence),"t":9000000000,"wall":1795000000000000001,"lane":"s0","kind":"\#(kind)"}"#.utf8) + [0x0A]
        }
        journal.append(line(before.sequence + 1, "overload") + line(before.sequence + 9, "journal.lost"))
        let read = try Self.read(replay)
        #expect(read.told.map(\.event.type) == [.overload] && read.isCut)
        #expect(try Self.find(before, journal).isFailure)
        let oldest = try oldest(of: journal, after: before)
        #expect(oldest.sequence == before.sequence + 9)
        journal.append(line(before.sequence + 10, "overload"))
        #expect(try Self.read(try Self.find(oldest, journal).get()).told.map(\.event.position.sequence) == [before.sequence + 10])
    }

    @Test func `a file that is deleted under its reader is read to its end, and runs that went with it are not passed over`() throws {
        let journal = try RotatedJournal(seed: 3)
        journal.recordSome(10)
        let first = journal.first, replay = try Self.find(first, journal).get()
        let count = journal.events.compactMap(\.told).count - 1
        journal.rotate(keeping: 1)
        journal.start()
        journal.recordSome(5)
        journal.rotate(keeping: 1)
        journal.start()
        journal.recordSome(5)
        let read = try Self.read(replay)
        #expect(read.told.count == count && read.isCut)
        #expect(try Self.find(first, journal).isFailure)
    }
}

extension Result {
    fileprivate var isFailure: Bool { if case .failure = self { true } else { false } }
}
