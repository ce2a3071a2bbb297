import CLinux
import Glibc
import Primitives
import Runtime

/// A UDP socket of ours on loopback.
final class DatagramSocket {
    let local: SocketAddress
    private let owner: FileDescriptorOwner
    private var buffer = [UInt8](repeating: 0, count: 65_536)

    /// - Parameter port: 0 lets the kernel choose.
    init(at address: IPAddress, port: UInt16 = 0) throws {
        let owner: FileDescriptorOwner
        do throws(SocketError) { owner = try FileDescriptorOwner.udp(bound: SocketAddress(address, port: port)) } catch {
            throw CannotRun("\(error)")
        }
        _ = clinux_set_buffers(owner.raw, 1 << 20, 1 << 20)
        local = owner.localAddress ?? SocketAddress(address, port: port)
        self.owner = owner
    }

    /// Sends one datagram; bytes beyond the longest one are cut off.
    func send(_ bytes: [UInt8], to remote: SocketAddress) {
        let count = UInt(min(bytes.count, 65_507))
        for _ in 0..<3 {
            // The first call may give back what ICMP said of an earlier datagram.
            let status = remote.withSockaddr { clinux_send(owner.raw, bytes, count, $0, $1, nil) }
            if status >= 0 || errno != ECONNREFUSED { return }
        }
    }

    /// The next datagram, if one is there.
    func receive() -> (bytes: [UInt8], source: SocketAddress)? {
        var from = sockaddr_storage(), to = sockaddr_storage(), truncated: Int32 = 0, waited: Int64 = 0
        while true {
            let count = buffer.withUnsafeMutableBytes {
                clinux_receive(owner.raw, $0.baseAddress, UInt($0.count), &from, &to, &truncated, &waited)
            }
            if count >= 0 { return SocketAddress(from).map { (Array(buffer[..<count]), $0) } }
            // Other errors are those of datagrams that went before.
            if errno == EAGAIN { return nil }
        }
    }

    /// The next datagram; nil when none comes in time.
    func receive(by deadline: Instant) -> (bytes: [UInt8], source: SocketAddress)? {
        while true {
            if let datagram = receive() { return datagram }
            let left = (deadline - MonotonicClock.now) / .milliseconds(1)
            var entry = pollfd(fd: owner.raw, events: Int16(POLLIN), revents: 0)
            guard left > 0, poll(&entry, 1, Int32(left.rounded(.up))) > 0 else { return nil }
        }
    }
}
