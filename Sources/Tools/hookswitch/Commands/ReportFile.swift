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

/// Whether a file can be written is asked by opening it, before the first call and not after the last.
enum WritablePlace {
    /// Tells why a file cannot be written. A file that is there stays as it is, and no file is there afterwards that was not before.
    ///
    /// - Returns: why not, in words; nil: it can be written.
    static func complaint(_ path: String) -> String? {
        var status = stat()
        let isThere = stat(path, &status) == 0
        // A pipe waits for who reads it, and a device may do something when it is opened.
        if isThere, ![S_IFREG, S_IFDIR].contains(status.st_mode & S_IFMT) { return access(path, W_OK) == 0 ? nil : notWritable }
        let descriptor = open(path, O_WRONLY | O_CLOEXEC | (isThere ? 0 : O_CREAT), 0o666)
        guard descriptor >= 0 else { return [ENOENT, EACCES, EISDIR, ENOTDIR].contains(errno) ? notWritable : words(errno) }
        close(descriptor)
        if !isThere { unlink(target(of: path)) }
        return nil
    }

    private static let notWritable = "the place is not writable"

    private static func words(_ error: Int32) -> String { String(cString: strerror(error)) }

    /// A link to nothing yet stays one.
    private static func target(of path: String) -> String {
        guard let real = realpath(path, nil) else { return path }
        defer { free(real) }
        return String(cString: real)
    }
}

/// A file that a report goes to; it could be written before the run.
struct ReportFile {
    var path: String

    /// - Throws: exit code 3 for a place where nothing can be written, before the run and not after it.
    init(_ path: String) throws {
        if let complaint = WritablePlace.complaint(path) { throw Failure.cannotRun("\(path) cannot be written: \(complaint)") }
        self.path = path
    }

    /// Empty, to be written to line by line.
    ///
    /// - Throws: exit code 3.
    func opened() throws -> Int32 {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o666)
        guard descriptor >= 0 else { throw Failure.cannotRun("\(path) cannot be written: \(String(cString: strerror(errno)))") }
        return descriptor
    }

    /// A report of before stays whole until this one is, where another file can be put into its place.
    func write(_ text: String) throws {
        do {
            if try isReplaced(by: text) { return }
            try text.write(toFile: path, atomically: false, encoding: .utf8)
        } catch {
            throw Failure.cannotRun("\(path) cannot be written: \(error.localizedDescription)")
        }
    }

    /// Not of text.
    func write(_ bytes: [UInt8]) throws {
        do { try Data(bytes).write(to: URL(filePath: path)) } catch {
            throw Failure.cannotRun("\(path) cannot be written: \(error.localizedDescription)")
        }
    }

    /// Whether the contents of one are lost when the other has written. A device or a pipe takes both.
    func replaces(_ other: ReportFile) -> Bool {
        var status = stat()
        let isThere = stat(path, &status) == 0
        return (!isThere || status.st_mode & S_IFMT == S_IFREG)
            && URL(filePath: place).standardizedFileURL == URL(filePath: other.place).standardizedFileURL
    }

    /// - Returns: false where it has to be written to as it is: a pipe, a terminal or a device, for what is moved into its place would be a
    ///   file that nobody
    ///   reads; a link to nothing yet; and a file in a folder that takes no other, as one that was mounted into a container.
    private func isReplaced(by text: String) throws -> Bool {
        var status = stat()
        let isThere = stat(path, &status) == 0
        guard isThere ? status.st_mode & S_IFMT == S_IFREG : lstat(path, &status) != 0 else { return false }
        do { try text.write(toFile: place, atomically: true, encoding: .utf8) } catch {
            guard isThere, (error as? CocoaError)?.code != .fileWriteOutOfSpace else { throw error }
            return false
        }
        return true
    }

    /// The place that a link leads to, also where nothing is there yet.
    private var place: String {
        if let real = Self.real(path) { return real }
        var file = URL(filePath: path)
        if let target = try? FileManager.default.destinationOfSymbolicLink(atPath: path) {
            file = URL(filePath: target, relativeTo: file.deletingLastPathComponent())
        }
        return Self.real(file.deletingLastPathComponent().path).map { $0 + "/" + file.lastPathComponent } ?? path
    }

    private static func real(_ path: String) -> String? {
        guard let real = realpath(path, nil) else { return nil }
        defer { free(real) }
        return String(cString: real)
    }
}
