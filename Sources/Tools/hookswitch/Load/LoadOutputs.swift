import Foundation
import Workbench

/// The files that a report goes to.
struct LoadOutputs {
    /// A report without a file goes to standard output.
    private var files: [(file: ReportFile?, make: (LoadReport) throws -> String)] = []

    /// The destination of lines while the run lasts; nil: none.
    private(set) var stream: StreamPlace?

    /// The archive of the evidence; nil: none.
    private(set) var bundle: ReportFile?

    /// - Throws: exit code 3 for a place where nothing can be written, before the run and not after it.
    init(json: String?, csv: String?, junit: String?, html: String?, stream: String? = nil, bundle: String? = nil) throws {
        try add(json, of: "--json", Self.json)
        try add(csv, of: "--csv") { LoadCSV.text($0) }
        try add(junit, of: "--junit") { LoadJUnit.text($0) }
        try add(html, of: "--html") { LoadPage.text($0) }
        if let path = try stream?.named(by: "--stream") { self.stream = try place(of: path) }
        if let path = try bundle?.named(by: "--bundle") { self.bundle = try archive(at: path) }
        let printed = files.count(where: { $0.file == nil }) + (self.stream?.file == nil && self.stream != nil ? 1 : 0)
        if printed > 1 { throw Failure.usage("only one report can go to standard output") }
    }

    private func place(of path: String) throws -> StreamPlace {
        guard path != "-" else { return StreamPlace(file: nil) }
        let file = try ReportFile(path)
        if files.contains(where: { $0.file?.replaces(file) ?? false }) {
            throw Failure.usage("--stream: another report goes to '\(path)' already, and would be lost")
        }
        return StreamPlace(file: file)
    }

    private func archive(at path: String) throws -> ReportFile {
        guard path != "-" else { throw Failure.usage("--bundle takes a file: an archive is nothing for standard output") }
        let file = try ReportFile(path)
        if files.contains(where: { $0.file?.replaces(file) ?? false }) || stream?.file?.replaces(file) ?? false {
            throw Failure.usage("--bundle: another report goes to '\(path)' already, and would be lost")
        }
        return file
    }

    private mutating func add(_ path: String?, of option: String, _ make: @escaping (LoadReport) throws -> String) throws {
        guard let path = try path?.named(by: option) else { return }
        let file = path == "-" ? nil : try ReportFile(path)
        if let file, files.contains(where: { $0.file?.replaces(file) ?? false }) {
            throw Failure.usage("\(option): another report goes to '\(path)' already, and would be lost")
        }
        files.append((file, make))
    }

    var printsToStandardOutput: Bool { files.contains { $0.file == nil } || stream.map { $0.file == nil } ?? false }

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

    /// The report with the verdict, which it follows from.
    private struct Judged: Encodable {
        enum CodingKeys: CodingKey { case verdict, reasons, exitCode }

        var report: LoadReport

        func encode(to encoder: any Encoder) throws {
            try report.encode(to: encoder)
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(report.verdict.word, forKey: .verdict)
            try container.encode(report.verdict.reasons, forKey: .reasons)
            try container.encode(report.verdict.exitCode, forKey: .exitCode)
        }
    }

    /// The report with its verdict.
    static func json(_ report: LoadReport) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(Judged(report: report)), as: UTF8.self)
    }
}

/// The destination of the lines of `--stream`: a file, or standard output.
struct StreamPlace {
    var file: ReportFile?

    /// - Returns: a descriptor to write to.
    /// - Throws: exit code 3.
    func open() throws -> Int32 { try file?.opened() ?? STDOUT_FILENO }
}
