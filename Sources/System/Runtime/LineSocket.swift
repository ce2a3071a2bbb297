import CLinux
import Glibc
import Synchronization

/// A connection by which two processes of this machine send each other lines. Its calls block: each side reads on a thread of its own.
///
/// Thread-safe, for one reader.
public final class LineSocket: Sendable {
    /// Longer lines are not passed on.
    public static let longestLine = 1 << 20

    private let socket: FileDescriptorOwner
    /// One line is written after the other.
    private let writing = Mutex(())

    /// Connects to a `LineSocketListener`.
    public init(connecting path: String) throws(SocketError) { socket = try .local(connecting: path) }

    fileprivate init(accepted raw: Int32) { socket = FileDescriptorOwner(raw) }

    /// - Parameter lines: whole ones, each with its newline.
    /// - Returns: false where the other side has gone.
    @discardableResult
    public func write(_ lines: [UInt8]) -> Bool {
        writing.withLock { _ in
            var rest = lines[...]
            while !rest.isEmpty {
                let count = rest.withUnsafeBytes { send(socket.raw, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { return false }
                rest = rest.dropFirst(count)
            }
            return true
        }
    }

    /// Reads one line, without its newline; nil where the other side goes before its end. Slow: for the first line.
    public func readLine() -> [UInt8]? {
        var line: [UInt8] = [], byte: UInt8 = 0
        while line.count <= Self.longestLine {
            let count = recv(socket.raw, &byte, 1, 0)
            if count < 0, errno == EINTR { continue }
            guard count == 1 else { return nil }
            if byte == UInt8(ascii: "\n") { return line }
            line.append(byte)
        }
        return nil
    }

    /// Passes on each line, without its newline, until the other side goes or `close` is called.
    public func read(_ each: ([UInt8]) -> Void) {
        var line: [UInt8] = [], isTooLong = false, piece = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = recv(socket.raw, &piece, piece.count, 0)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return }
            for byte in piece[..<count] {
                if byte == UInt8(ascii: "\n") {
                    if !isTooLong { each(line) }
                    (line, isTooLong) = ([], false)
                } else if line.count < Self.longestLine {
                    line.append(byte)
                } else {
                    isTooLong = true
                }
            }
        }
    }

    /// Ends the connection; `read` returns on both sides.
    public func close() { shutdown(socket.raw, Int32(SHUT_RDWR)) }
}

/// A socket in the file system, for this user alone, at which other processes open a `LineSocket`.
public final class LineSocketListener: Sendable {
    private let socket: FileDescriptorOwner

    /// - Parameter path: replaced where a socket is there.
    public init(path: String) throws(SocketError) {
        socket = try .local(listening: path, backlog: 1)
        _ = fcntl(socket.raw, F_SETFL, 0)
    }

    /// Waits for the next connection; nil when `close` was called.
    public func accept() -> LineSocket? {
        while true {
            let raw = clinux_accept(socket.raw, nil)
            if raw >= 0 {
                _ = fcntl(raw, F_SETFL, 0)
                return LineSocket(accepted: raw)
            }
            guard errno == EINTR || errno == ECONNABORTED else { return nil }
        }
    }

    /// Takes no further connection.
    public func close() { shutdown(socket.raw, Int32(SHUT_RDWR)) }
}
