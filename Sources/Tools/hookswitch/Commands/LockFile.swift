import Foundation

/// The data folder of a running server: a second server would write into the same journal and the same database. Ends with the process,
/// however that ends.
final class LockFile {
    private let descriptor: Int32

    /// - Throws: exit code 3 when another process has the folder. A file system that knows no locks is not the operator's fault.
    init(_ folder: String) throws {
        descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0, flock(descriptor, LOCK_EX | LOCK_NB) != 0, errno == EWOULDBLOCK else { return }
        // Thrown from here, `deinit` closes it.
        throw Failure.cannotRun("the folder \(folder) is in use by another hookswitch")
    }

    deinit { if descriptor >= 0 { close(descriptor) } }
}
