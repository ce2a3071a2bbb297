import Glibc
import Primitives
import Runtime
import Testing

let anyLoopbackPort = SocketAddress(.loopback, port: 0)

/// A blocking client on the test's own thread. A read that gets nothing for eight seconds is over: the server's own patience ends later.
final class Visitor {
    private let descriptor: FileDescriptorOwner

    /// - Parameter room: bytes that the kernel may take for us; nil: as many as it likes.
    init(to address: SocketAddress, room: Int32? = nil) throws {
        descriptor = FileDescriptorOwner(socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0))
        let raw = descriptor.raw
        if var room { setsockopt(raw, SOL_SOCKET, SO_RCVBUF, &room, socklen_t(MemoryLayout<Int32>.size)) }
        try #require(address.withSockaddr { connect(raw, $0, $1) } == 0)
        var timeout = timeval(tv_sec: 8, tv_usec: 0)
        setsockopt(raw, SOL_SOCKET, SO_RCVTIMEO, &timeout, socklen_t(MemoryLayout<timeval>.size))
    }

    func write(_ text: String) { write(Array(text.utf8)) }

    func write(_ bytes: [UInt8]) {
        let sent = send(descriptor.raw, bytes, bytes.count, Int32(MSG_NOSIGNAL))
        #expect(sent == bytes.count)
    }

    /// Over a socket in the file system.
    init(path: String) throws { descriptor = try FileDescriptorOwner.local(connecting: path) }

    /// The next bytes; nil at the end, and where nothing came.
    func read() -> [UInt8]? {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        let count = recv(descriptor.raw, &buffer, buffer.count, 0)
        return count > 0 ? Array(buffer[..<count]) : nil
    }

    /// Reads until the text has come, or nothing more does.
    func read(until text: String) -> String {
        var bytes: [UInt8] = []
        while !String(decoding: bytes, as: UTF8.self).contains(text), let more = read() { bytes += more }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Sends nothing more.
    func finish() { shutdown(descriptor.raw, Int32(SHUT_WR)) }

    /// Everything until the server has sent its last byte; nil where it does not.
    func readToEnd() -> String? {
        var text: [UInt8] = [], buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = recv(descriptor.raw, &buffer, buffer.count, 0)
            // A connection that is closed with bytes of ours unread is reset.
            guard count > 0 else { return count == 0 || errno == ECONNRESET ? String(decoding: text, as: UTF8.self) : nil }
            text += buffer[..<count]
        }
    }
}
