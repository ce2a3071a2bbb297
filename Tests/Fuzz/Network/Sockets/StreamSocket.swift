import Glibc
import Primitives
import Runtime

/// A TCP connection of ours to the server. It waits, but never for longer than a few seconds.
final class StreamSocket {
    private var descriptor: Int32

    /// Nil where the server does not take it.
    init?(to remote: SocketAddress, from source: IPAddress) {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var timeout = timeval(tv_sec: 3, tv_usec: 0), yes: Int32 = 1
        for option in [SO_RCVTIMEO, SO_SNDTIMEO] {
            setsockopt(descriptor, SOL_SOCKET, option, &timeout, socklen_t(MemoryLayout<timeval>.size))
        }
        setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &yes, 4)
        let isBound = SocketAddress(source, port: 0).withSockaddr { bind(descriptor, $0, $1) } == 0
        guard isBound, remote.withSockaddr({ connect(descriptor, $0, $1) }) == 0 else {
            close()
            return nil
        }
    }

    deinit { close() }

    /// - Returns: whether the server still takes it.
    @discardableResult
    func send(_ bytes: [UInt8]) -> Bool {
        var sent = 0
        while sent < bytes.count {
            let count = bytes.withUnsafeBytes { Glibc.send(descriptor, $0.baseAddress! + sent, bytes.count - sent, Int32(MSG_NOSIGNAL)) }
            guard count > 0 else { return false }
            sent += count
        }
        return true
    }

    /// Bytes that are there or come in so many milliseconds; empty where none do, or the server has closed.
    func receive(within milliseconds: Int32) -> [UInt8] {
        var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        guard poll(&entry, 1, milliseconds) > 0 else { return [] }
        return [UInt8](unsafeUninitializedCapacity: 65_536) { buffer, filled in
            filled = max(0, recv(descriptor, buffer.baseAddress, buffer.count, Int32(MSG_DONTWAIT)))
        }
    }

    /// We say nothing more, and listen on.
    func finish() { shutdown(descriptor, Int32(SHUT_WR)) }

    /// So that the server sees a reset.
    func reset() {
        var abrupt = linger(l_onoff: 1, l_linger: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &abrupt, socklen_t(MemoryLayout<linger>.size))
        close()
    }

    func close() {
        if descriptor >= 0 { Glibc.close(descriptor) }
        descriptor = -1
    }
}
