import Foundation

/// A report goes to several places, and one that does not take it keeps it from no other.
enum Delivery {
    /// - Throws: the first error, when all have been tried.
    static func all(_ places: [() throws -> Void]) throws {
        var first: (any Error)?
        for place in places { do { try place() } catch { first = first ?? error } }
        if let first { throw first }
    }
}

/// A file that a report goes to; its place was writable before the run.
struct ReportFile {
    var path: String

    /// - Throws: exit code 3 for a place where nothing can be written, before the run and not after it.
    init(_ path: String) throws {
        var isFolder: ObjCBool = false
        let folder = URL(filePath: path).deletingLastPathComponent().path, isThere = FileManager.default.fileExists(atPath: path, isDirectory: &isFolder)
        guard FileManager.default.isWritableFile(atPath: isThere ? path : folder), !isFolder.boolValue else {
            throw Failure.cannotRun("\(path) cannot be written: the place is not writable")
        }
        self.path = path
    }

    /// A report of before stays whole until this one is.
    func write(_ text: String) throws {
        do {
            // A pipe, a terminal or a device is written to: what is moved into its place would be a file that nobody reads.
            try text.write(toFile: path, atomically: isRegular, encoding: .utf8)
        } catch {
            throw Failure.cannotRun("\(path) cannot be written: \(error.localizedDescription)")
        }
    }

    private var isRegular: Bool {
        var status = stat()
        return stat(path, &status) != 0 || status.st_mode & S_IFMT == S_IFREG
    }
}
