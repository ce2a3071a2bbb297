import Foundation
import Workbench

/// The files that a report goes to.
struct LoadOutputs {
    private var files: [(path: String, make: (LoadReport) throws -> String)] = []

    /// - Throws: exit code 3 for a place where nothing can be written, before the run and not after it.
    init(json: String?, csv: String?, junit: String?, html: String?) throws {
        if let json { files.append((json, Self.json)) }
        if let csv { files.append((csv, { LoadCSV.text($0) })) }
        if let junit { files.append((junit, { LoadJUnit.text($0) })) }
        if let html { files.append((html, { LoadPage.text($0) })) }
        if files.count(where: { $0.path == "-" }) > 1 { throw Failure.usage("only one report can go to standard output") }
        for (path, _) in files where path != "-" {
            let folder = URL(filePath: path).deletingLastPathComponent().path
            var isFolder: ObjCBool = false
            let isThere = FileManager.default.fileExists(atPath: path, isDirectory: &isFolder)
            guard isThere ? !isFolder.boolValue && FileManager.default.isWritableFile(atPath: path) : FileManager.default.isWritableFile(atPath: folder) else {
                throw Failure.cannotRun("\(path) cannot be written: the place is not writable")
            }
        }
    }

    var printsToStandardOutput: Bool { files.contains { $0.path == "-" } }

    func write(_ report: LoadReport) throws {
        for (path, make) in files {
            let text = try make(report)
            if path == "-" {
                print(text)
            } else {
                do { try text.write(toFile: path, atomically: true, encoding: .utf8) } catch { throw Failure.cannotRun("\(path) cannot be written") }
            }
        }
    }

    private static func json(_ report: LoadReport) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(report), as: UTF8.self)
    }
}
