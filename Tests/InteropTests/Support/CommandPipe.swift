import Foundation

/// A named pipe that a client of the tests reads its commands from, a line each.
final class CommandPipe: Sendable {
    let path: String
    private let input: FileHandle

    init(_ path: String) throws {
        guard mkfifo(path, 0o600) == 0 else { throw Unmet("no pipe at \(path)") }
        // For reading too: so it does not wait for the client to open its end.
        let descriptor = open(path, O_RDWR | O_CLOEXEC)
        guard descriptor >= 0 else { throw Unmet("the pipe at \(path) does not open") }
        self.path = path
        input = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
    }

    func say(_ command: String) { try? input.write(contentsOf: Data((command + "\n").utf8)) }
}
