import Foundation
import Workbench

/// The files that a report goes to.
struct LoadOutputs {
    /// A report without a file goes to standard output.
    private var files: [(file: ReportFile?, make: (LoadReport) throws -> String)] = []

    /// - Throws: exit code 3 for a place where nothing can be written, before the run and not after it.
    init(json: String?, csv: String?, junit: String?, html: String?) throws {
        try add(json, of: "--json", Self.json)
        try add(csv, of: "--csv") { LoadCSV.text($0) }
        try add(junit, of: "--junit") { LoadJUnit.text($0) }
        try add(html, of: "--html") { LoadPage.text($0) }
        if files.count(where: { $0.file == nil }) > 1 { throw Failure.usage("only one report can go to standard output") }
    }

    private mutating func add(_ path: String?, of option: String, _ make: @escaping (LoadReport) throws -> String) throws {
        guard let path = try path?.named(by: option) else { return }
        let file = path == "-" ? nil : try ReportFile(path)
        if let file, files.contains(where: { $0.file?.replaces(file) ?? false }) {
            throw Failure.usage("\(option): another report goes to '\(path)' already, and would be lost")
        }
        files.append((file, make))
    }

    var printsToStandardOutput: Bool { files.contains { $0.file == nil } }

    /// - Throws: the first error, when all that can be written is.
    func write(_ report: LoadReport) throws {
        let files = files.filter { $0.file == nil } + files.filter { $0.file != nil }
        try Delivery.all(
            files.map { file, make in
                {
                    let text = try make(report)
                    if let file { try file.write(text) } else { try StandardOutput.printExactly(text) }
                }
            })
    }

    private static func json(_ report: LoadReport) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(report), as: UTF8.self)
    }
}
