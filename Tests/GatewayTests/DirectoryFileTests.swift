import CallKit
import Foundation
import Testing

@testable import Gateway

@Suite struct DirectoryFileTests {
    private func withFile<Result>(_ text: String, _ body: (String) throws -> Result) rethrows -> Result {
        let file = FileManager.default.temporaryDirectory.appending(path: "directory-\(UUID()).csv")
        try! Data(text.utf8).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        return try body(file.path)
    }

    private func entries(_ text: String, _ list: DirectoryFile.List = .identify) throws -> [String] {
        try withFile(text) { path in
            var found: [String] = []
            try DirectoryFile(path).read(list) { found.append("\($0) \($1)") }
            return found
        }
    }

    private func complaint(_ text: String, _ list: DirectoryFile.List) -> String {
        withFile(text) { path in
            do {
                try DirectoryFile(path).read(list) { _, _ in }
                return "no complaint"
            } catch { return error.localizedDescription.replacingOccurrences(of: path, with: "FILE") }
        }
    }

    @Test func `numbers and names are read, with comments, quotes, marks and any line end`() throws {
        let text =
            "\u{FEFF}# who calls\r\n+390551234567, Alice\r\n\n39 (055) 1234568,\"Bob, \"\"the\"\" builder\"\n390551234568,Bob again\n+390551234569 , Carol"
        #expect(
            try entries(text) == [
                "390551234567 Alice", "390551234568 Bob, \"the\" builder", "390551234568 Bob again", "390551234569 Carol",
            ])
    }

    @Test func `entries that lie across the pieces of a long file are whole`() throws {
        let lines = (0..<60_000).map { "\(390_550_000_000 + $0),Somebody \($0)" }
        #expect(try entries(lines.joined(separator: "\n")) == lines.map { $0.replacingOccurrences(of: ",", with: " ") })
    }

    @Test(arguments: [
        ("1,A\n3,B\n2,C", DirectoryFile.List.identify, "FILE:3: 2 comes after 3: the numbers must ascend (sort -n)"),
        ("1\n2\n2", .block, "FILE:3: 2 is there twice"),
        ("1,A\n2", .identify, "FILE:2: 2 has no name: write 2, Who it is"), ("12a", .block, "FILE:1: '12a' is no number as +390551234567"),
        ("1234567890123456", .block, "FILE:1: '1234567890123456' has more than the 15 digits of E.164"),
        ("1\n" + String(repeating: "2", count: 2_000), .block, "FILE:2: is longer than 1024 bytes"),
    ])
    func `a mistake gets one line with its place`(text: String, list: DirectoryFile.List, line: String) {
        #expect(complaint(text, list) == line)
    }

    @Test(arguments: [("/nowhere/x.csv", "No such file or directory"), ("/tmp", "Is a directory")])
    func `a file that cannot be read is told with the cause`(path: String, cause: String) {
        #expect(throws: DirectoryFile.Failure(place: path, message: "cannot be read (\(cause))", code: .loadingInterrupted)) {
            try DirectoryFile(path).read(.block) { _, _ in }
        }
    }

    @Test func `MC-101, MC-102: a failed load leaves the old entries in force, and its error can be read`() async throws {
        let directories = CallDirectories()
        func load(_ text: String) async -> DirectoryOutcome {
            let file = FileManager.default.temporaryDirectory.appending(path: "directory-\(UUID()).csv")
            try! Data(text.utf8).write(to: file)
            let outcome = await withCheckedContinuation { continuation in
                directories.load([DirectorySource(name: "spam", block: file.path)]) { continuation.resume(returning: $0) }
            }
            try? FileManager.default.removeItem(at: file)
            return outcome
        }
        #expect(await load("1\n2\n3") == DirectoryOutcome(name: "spam", blocked: 3, identified: 0, failure: nil))
        let failed = await load("1\n5\n4")
        #expect(failed.blocked == 3 && failed.failure?.hasSuffix(".csv:3: 4 comes after 5: the numbers must ascend (sort -n)") == true)
        #expect(directories.record(of: "spam")?.data?.isBlocked(2) == true && directories.record(of: "spam")?.data?.isBlocked(5) == false)
        let kept = try #require(directories.record(of: "spam")?.failure)
        #expect(kept.code == CXErrorCodeCallDirectoryManagerError.Code.entriesOutOfOrder.rawValue && kept.message == failed.failure)
    }
}
