import CallKit
import Foundation
import GRDB
import Testing

@testable import Store

@Suite struct DirectoryStoreTests {
    let folder = RealTime.SQLiteStoreTests.Folder()

    private func open() throws -> SQLiteStore { try SQLiteStore(path: folder.path, recents: 1) { _ in } }

    private func data(blocked: [Int64], identified: [(Int64, String)]) throws -> CallDirectoryData {
        var builder = CallDirectoryBuilder(limits: CallDirectoryLimits())
        for number in blocked { try builder.block(number) }
        for (number, label) in identified { try builder.identify(number, label: label) }
        return builder.build()
    }

    private func entries(_ data: CallDirectoryData?) -> (blocked: [Int64], identified: [String]) {
        var blocked: [Int64] = [], identified: [String] = []
        data?.forEachBlocked { blocked.append($0) }
        data?.forEachIdentified { identified.append("\($0) \($1)") }
        return (blocked, identified)
    }

    @Test func `a directory is there after a restart, with several labels of a number, over many pieces`() throws {
        let blocked = (0..<100_000).map { Int64($0 * 7 + 14_085_555_555) } + [CXCallDirectoryPhoneNumberMax]
        let identified = (0..<30_000).flatMap { [(Int64($0 * 3), "Somebody ü \($0 % 500)"), (Int64($0 * 3), "Else")] }
        let date = Date(timeIntervalSince1970: 1_790_000_000)
        try open().save(try data(blocked: blocked, identified: identified), of: "spam", at: date)
        let records = try open().load(limits: CallDirectoryLimits())
        #expect(records.map(\.identifier) == ["spam"] && records.first?.loaded == date && records.first?.failure == nil)
        let kept = entries(records.first?.data)
        #expect(kept.blocked == blocked && kept.identified == identified.map { "\($0.0) \($0.1)" })
        #expect(records.first?.data?.isBlocked(14_085_555_562) == true && records.first?.data?.label(of: 3) == "Somebody ü 1")
    }

    @Test func `MC-106: why a load failed survives a restart beside the entries in force, and the next load forgets it`() throws {
        let failure = CallDirectoryFailure(
            domain: "DirectoryFile", code: 3, message: "spam.csv:2: 1 comes after 2", date: Date(timeIntervalSince1970: 1_790_000_001))
        try open().save(try data(blocked: [1, 2], identified: []), of: "spam", at: Date())
        try open().save(failure, of: "spam")
        try open().save(failure, of: "never-loaded")
        var records = try open().load(limits: CallDirectoryLimits())
        #expect(records.map(\.identifier) == ["never-loaded", "spam"] && records.allSatisfy { $0.failure == failure })
        #expect(records[0].data == nil && entries(records[1].data).blocked == [1, 2])
        try open().save(try data(blocked: [3], identified: []), of: "spam", at: Date())
        records = try open().load(limits: CallDirectoryLimits())
        #expect(records[1].failure == nil && entries(records[1].data).blocked == [3])
    }

    @Test func `directories restore from the store what they loaded, and keep it when the next load fails`() async throws {
        final class Blocks: CXCallDirectoryProvider {
            override func beginRequest(with context: CXCallDirectoryExtensionContext) {
                context.addBlockingEntry(withNextSequentialPhoneNumber: 5)
                context.completeRequest()
            }
        }
        func directories() throws -> CallDirectories {
            let directories = CallDirectories(store: try open())
            try directories.restore()
            return directories
        }
        let first = try directories()
        first.register("spam") { Blocks() }
        let error: String? = await withCheckedContinuation { continuation in
            first.load("spam") { continuation.resume(returning: $0.map { "\($0)" }) }
        }
        #expect(error == nil)
        #expect(try directories().record(of: "spam")?.data?.isBlocked(5) == true)
    }

    @Test func `a piece that is broken is said, and nothing of it comes into force`() throws {
        let store = try open()
        try store.save(try data(blocked: [1, 2, 3], identified: []), of: "spam", at: Date())
        try store.database.write { try $0.execute(sql: "UPDATE directoryPiece SET entries = x'0180'") }
        let error = #expect(throws: (any Error).self) { try store.load(limits: CallDirectoryLimits()) }
        #expect(error.map { "\($0)" } == "a call directory is broken")
    }
}
