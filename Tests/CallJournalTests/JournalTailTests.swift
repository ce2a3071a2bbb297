import Foundation
import Primitives
import Testing

@testable import CallJournal

@Suite struct JournalTailTests {
    /// Two runs of so many events in a file of their own.
    private static func file(_ counts: [UInt64]) throws -> (path: String, size: Int) {
        var bytes: [UInt8] = []
        for (run, count) in counts.enumerated() {
            for sequence in 1...count {
                let event = JournalEvent(
                    sequence: sequence, time: .zero, line: "1001", kind: sequence == 1 ? .gatewayStarted : .callEnded,
                    details: sequence == 1 ? [.run: .init("run\(run)")] : [:])
                JournalEncoder.append(event, .init(lane: "s"), to: &bytes)
            }
        }
        let path = FileManager.default.temporaryDirectory.appending(path: "tail-\(UUID()).jsonl").path
        try Data(bytes).write(to: URL(filePath: path))
        return (path, bytes.count)
    }

    @Test func `a whole file is its own tail`() throws {
        let (path, size) = try Self.file([3, 2])
        defer { unlink(path) }
        let tail = JournalReader.tail(of: path, bytes: size)
        #expect(tail.events.map(\.sequence) == [1, 2, 3, 1, 2] && tail.start == nil && !tail.isCut)
    }

    @Test func `a tail begins with a whole event, and knows the run that it is of`() throws {
        let (path, size) = try Self.file([3, 100])
        defer { unlink(path) }
        let tail = JournalReader.tail(of: path, bytes: size / 3)
        #expect(tail.events.count > 20 && tail.events.count < 50 && tail.events.last?.sequence == 100 && tail.isCut)
        #expect(tail.events.map(\.sequence) == Array((101 - UInt64(tail.events.count))...100))
        #expect(tail.start?.details.text(.run) == "run1" && tail.start?.sequence == 1)
    }

    @Test func `a file that is missing, empty or has no run is no trouble`() throws {
        #expect(JournalReader.tail(of: "/nowhere/journal.jsonl", bytes: 10).events.isEmpty)
        let (path, _) = try Self.file([1])
        defer { unlink(path) }
        try Data("{\n".utf8).write(to: URL(filePath: path))
        #expect(JournalReader.tail(of: path, bytes: 10).events.isEmpty && JournalReader.tail(of: path, bytes: 1).start == nil)
    }
}
