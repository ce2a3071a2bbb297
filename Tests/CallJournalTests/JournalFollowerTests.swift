import CallJournal
import Foundation
import Primitives
import Testing

@Suite struct JournalFollowerTests {
    typealias Folder = RealTime.JournalFileTests.Folder

    private static func line(_ sequence: Int) -> String {
        #"{"seq":\#(sequence),"t":\#(sequence),"wall":\#(sequence),"lane":"s0","kind":"port.free"}"# + "\n"
    }

    private static func append(_ text: String, to path: String) throws {
        if !FileManager.default.fileExists(atPath: path) { #expect(FileManager.default.createFile(atPath: path, contents: nil)) }
        let file = try #require(FileHandle(forWritingAtPath: path))
        try file.seekToEnd()
        try file.write(contentsOf: Data(text.utf8))
        try file.close()
    }

    private static func rotate(_ path: String, keeping count: Int = 5) throws {
        for index in stride(from: count, to: 0, by: -1) {
            let source = index == 1 ? path : "\(path).\(index - 1)"
            if FileManager.default.fileExists(atPath: source) { #expect(rename(source, "\(path).\(index)") == 0) }
        }
    }

    private static func poll(_ follower: inout JournalFollower) throws -> [UInt64] {
        var found: [UInt64] = []
        try follower.poll { found.append($0.sequence) }
        return found
    }

    @Test func `what is there comes first, and then what is written, a line when it is whole`() throws {
        let folder = try Folder(), path = folder.path + "/j"
        try Self.append(Self.line(1) + Self.line(2), to: path)
        var follower = try JournalFollower(path: path)
        #expect(try Self.poll(&follower) == [1, 2])
        #expect(try Self.poll(&follower) == [])
        let half = Self.line(3)
        try Self.append(String(half.prefix(20)), to: path)
        #expect(try Self.poll(&follower) == [] && follower.brokenLines.isEmpty)
        try Self.append(String(half.dropFirst(20)) + Self.line(4), to: path)
        #expect(try Self.poll(&follower) == [3, 4])
    }

    @Test(arguments: [1, 2, 3]) func `rotated files are read to their ends, each once, however many there are at a time`(rotations: Int)
        throws
    {
        let folder = try Folder(), path = folder.path + "/j"
        try Self.append(Self.line(1), to: path)
        var follower = try JournalFollower(path: path), sequence = 1
        #expect(try Self.poll(&follower) == [1])
        for _ in 1...3 {
            var written: [UInt64] = []
            for _ in 0..<rotations {
                // What was written between the last read and the rotation, and what comes in the new file.
                for isRotated in [false, true] {
                    if isRotated { try Self.rotate(path) }
                    sequence += 1
                    try Self.append(Self.line(sequence), to: path)
                    written.append(UInt64(sequence))
                }
            }
            #expect(try Self.poll(&follower) == written)
        }
    }

    @Test func `a file that was rotated away unread is missing, and older ones are not read for it`() throws {
        let folder = try Folder(), path = folder.path + "/j"
        for sequence in 1...2 {
            try Self.append(Self.line(sequence), to: path)
            if sequence == 1 { try Self.rotate(path, keeping: 2) }
        }
        var follower = try JournalFollower(path: path)
        #expect(try Self.poll(&follower) == [2], "what was rotated before is not followed")
        for sequence in 3...6 {
            try Self.rotate(path, keeping: 2)
            try Self.append(Self.line(sequence), to: path)
        }
        #expect(try Self.poll(&follower) == [4, 5, 6])
        #expect(rename(path, path + "-away") == 0)
        try Self.append(Self.line(7), to: path)
        #expect(try Self.poll(&follower) == [7], "those with numbers are older than what was moved away")
    }

    @Test func `between the old file and the new there may be none, and a file that was cut short begins anew`() throws {
        let folder = try Folder(), path = folder.path + "/j"
        try Self.append(Self.line(1) + Self.line(2), to: path)
        var follower = try JournalFollower(path: path)
        #expect(try Self.poll(&follower) == [1, 2])
        try Self.rotate(path)
        #expect(try Self.poll(&follower) == [])
        try Self.append(Self.line(3), to: path)
        #expect(try Self.poll(&follower) == [3])
        #expect(truncate(path, 0) == 0)
        #expect(try Self.poll(&follower) == [])
        try Self.append(Self.line(1), to: path)
        #expect(try Self.poll(&follower) == [1])
    }

    @Test func `a half line at the end of a file that was rotated is told of`() throws {
        let folder = try Folder(), path = folder.path + "/j"
        try Self.append("nonsense\n" + Self.line(1) + "{\"seq\":", to: path)
        var follower = try JournalFollower(path: path)
        #expect(try Self.poll(&follower) == [1])
        #expect(follower.brokenLines.map(\.line) == [1])
        try Self.rotate(path)
        try Self.append(Self.line(2), to: path)
        #expect(try Self.poll(&follower) == [2])
        #expect(follower.brokenLines.map(\.line) == [1, 3])
    }

    @Test func `a journal that is claimed is being written, and a look at it keeps nobody from claiming it`() throws {
        let folder = try Folder(), path = folder.path + "/j"
        try Self.append(Self.line(1), to: path)
        #expect(!JournalReader.isBeingWritten(path) && !JournalReader.isBeingWritten(folder.path + "/none"))
        let file = try JournalFile(path: path, settings: .init(isClaimed: true)) { _ in }
        #expect(JournalReader.isBeingWritten(path))
        withExtendedLifetime(file) {}
    }
}
