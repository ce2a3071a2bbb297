import Glibc
import Primitives
import Runtime
import Synchronization

/// A pcapng file that traced messages are written to. It is put aside when it has grown to its size, and five old ones are kept: `FILE.1`
/// is the youngest. Each run begins a file of its own.
public final class TraceFile: TraceSink {
    /// Why the file cannot be used.
    public struct FileError: Error, CustomStringConvertible {
        var operation: String, path: String, code: Int32
        public var description: String { "cannot \(operation) \(path): \(String(cString: strerror(code)))" }
    }

    private struct State {
        var descriptor: Int32
        var size = 0
        /// Messages of this file, and those that are missing in it.
        var received: UInt64 = 0, dropped: UInt64 = 0
        var isFailing = false
    }

    public static let usualRotation = 64 << 20
    private static let oldFiles = 5

    public let output = TraceOutput.file, takesMedia = true
    private let path: String
    private let program: String
    private let rotation: Int
    private let onFailure: @Sendable (String) -> Void
    private let state: Mutex<State>

    /// Puts aside what is there, and begins a new file.
    ///
    /// - Parameters:
    ///   - program: named in the file.
    ///   - rotation: bytes after which the next file begins.
    ///   - onFailure: called once when writing begins to fail, with the cause for a person. On the trace's queue.
    public init(
        path: String, program: String, rotation: Int = usualRotation, onFailure: @escaping @Sendable (String) -> Void
    ) throws(FileError) {
        (self.path, self.program, self.rotation, self.onFailure) = (path, program, rotation, onFailure)
        state = Mutex(try Self.begin(path, program))
    }

    deinit { state.withLock { _ = close($0.descriptor) } }

    public func take(_ messages: [TracedMessage], missed: Int) -> Int {
        state.withLock { state in
            state.received += UInt64(messages.count + missed)
            state.dropped += UInt64(missed)
            guard !messages.isEmpty else { return 0 }
            do throws(FileError) {
                if state.size >= rotation { try rotate(&state) }
                try append(messages.flatMap(Pcapng.packet), &state)
                state.isFailing = false
                return 0
            } catch {
                state.dropped += UInt64(messages.count)
                if !state.isFailing { onFailure(error.description) }
                state.isFailing = true
                return messages.count
            }
        }
    }

    public func finish() { state.withLock { end(&$0) } }

    private func end(_ state: inout State) {
        let end = Pcapng.end(received: state.received, dropped: state.dropped, at: WallClock.now)
        try? append(end, &state)
    }

    /// Begins the next file. Where that fails, this one stays, and it is tried again.
    private func rotate(_ state: inout State) throws(FileError) {
        let next = try Self.begin(path, program)
        end(&state)
        close(state.descriptor)
        state = next
    }

    /// A new file with its header, at the place of what was there.
    private static func begin(_ path: String, _ program: String) throws(FileError) -> State {
        try putAside(path)
        var state = State(descriptor: try open(path))
        let header = Pcapng.header(program: program)
        do throws(FileError) { try write(header, to: state.descriptor, path, keeping: 0) } catch {
            close(state.descriptor)
            throw error
        }
        state.size = header.count
        return state
    }

    private func append(_ bytes: [UInt8], _ state: inout State) throws(FileError) {
        try Self.write(bytes, to: state.descriptor, path, keeping: state.size)
        state.size += bytes.count
    }

    /// - Parameter size: what stays where not all can be written: half a block would make what follows unreadable.
    private static func write(_ bytes: [UInt8], to descriptor: Int32, _ path: String, keeping size: Int) throws(FileError) {
        var written = 0
        while written < bytes.count {
            let count = bytes.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress! + written, $0.count - written) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else {
                let code = count < 0 ? errno : ENOSPC
                if written > 0 { _ = ftruncate(descriptor, off_t(size)) }
                throw FileError(operation: "write", path: path, code: code)
            }
            written += count
        }
    }

    private static func open(_ path: String) throws(FileError) -> Int32 {
        let descriptor = Glibc.open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0o640)
        guard descriptor >= 0 else { throw FileError(operation: "open", path: path, code: errno) }
        return descriptor
    }

    /// Files alone: a pipe or a device stays where it is.
    private static func putAside(_ path: String) throws(FileError) {
        var status = stat()
        guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_size > 0 else { return }
        for index in (1...oldFiles).reversed() {
            let old = index == 1 ? path : "\(path).\(index - 1)"
            guard rename(old, "\(path).\(index)") == 0 || errno == ENOENT else {
                throw FileError(operation: "put aside", path: old, code: errno)
            }
        }
    }
}
