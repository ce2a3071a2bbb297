import Foundation
import Testing

/// A requirement is a test: `requirements.tsv` lists every row of the seeds, and each has exactly one test whose name begins with it, or a
/// reason.
@Suite struct RequirementTableTests {
    struct Row {
        let id: String, isApplicable: Bool, note: String
    }

    static let folder = URL(filePath: #filePath).deletingLastPathComponent()

    static let rows: [Row] = {
        let text = (try? String(contentsOf: folder.appending(path: "requirements.tsv"), encoding: .utf8)) ?? ""
        return text.split(separator: "\n").map { line in
            let fields = line.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
            return Row(id: fields[0], isApplicable: fields.count > 1 && fields[1] == "pass", note: fields.count > 2 ? fields[2] : "")
        }
    }()

    @Test(arguments: ["", "<testsuites></testsuites>"]) func `results without a test are no results`(results: String) throws {
        let file = FileManager.default.temporaryDirectory.appending(path: "hookswitch-results-\(UUID())"), script = Process()
        try Data(results.utf8).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        script.executableURL = Self.folder.deletingLastPathComponent().deletingLastPathComponent().appending(path: "scripts/requirements")
        (script.arguments, script.standardOutput, script.standardError) = (["--results", file.path], Pipe(), Pipe())
        try script.run()
        script.waitUntilExit()
        #expect(script.terminationStatus == 3)
    }

    /// How many tests begin with each identity.
    static func testedIDs() throws -> [String: Int] {
        var counts: [String: Int] = [:]
        for file in try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
        where file.pathExtension == "swift" {
            for match in try String(contentsOf: file, encoding: .utf8).matches(of: /func `((?:(?:MC|AD|HL|OF)-\d+ )+)/) {
                for id in match.output.1.split(separator: " ") { counts[String(id), default: 0] += 1 }
            }
        }
        return counts
    }

    @Test func `the table has every row of the seeds once`() {
        let counts = Dictionary(grouping: Self.rows, by: { $0.id.prefix(2) }).mapValues(\.count)
        #expect(counts == ["MC": 64, "AD": 18, "HL": 24, "OF": 24])
        #expect(Set(Self.rows.map(\.id)).count == Self.rows.count)
    }

    @Test func `every row has exactly one test, or one reason why it cannot have one`() throws {
        let counts = try Self.testedIDs()
        for row in Self.rows {
            #expect(counts[row.id, default: 0] == (row.isApplicable ? 1 : 0), "\(row.id)")
            if !row.isApplicable { #expect(row.note.count > 20, "\(row.id) needs its reason") }
        }
        #expect(Set(counts.keys).isSubset(of: Set(Self.rows.map(\.id))), "no test names a row that is not there")
    }

    @Test func `the page about call code has the reason of each row that does not apply`() throws {
        let page = try Sources.text("Apps/CallApp/CallApp.docc/YourCallCodeOnLinux.md")
        for row in Self.rows where !row.isApplicable { #expect(page.contains(row.note) && page.contains(row.id), "\(row.id)") }
    }
}
