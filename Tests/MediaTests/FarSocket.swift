import Glibc
import Media
import Primitives
import Runtime
import Testing

/// A far end on the loopback of the machine that runs the test. Waits for datagrams, with a limit that only a failure reaches.
final class FarSocket: @unchecked Sendable {
    let address: SocketAddress
    private let descriptor: FileDescriptorOwner

    init(_ address: IPAddress = .loopback) throws {
        let descriptor = try FileDescriptorOwner.udp(bound: SocketAddress(address, port: 0))
        self.address = descriptor.localAddress!
        self.descriptor = descriptor
    }

    func send(_ bytes: [UInt8], to remote: SocketAddress) {
        let sent = remote.withSockaddr { sendto(descriptor.raw, bytes, bytes.count, 0, $0, $1) }
        precondition(sent == bytes.count)
    }

    /// The next datagram; nil after ten seconds without one.
    func receive() -> [UInt8]? {
        var waiting = pollfd(fd: descriptor.raw, events: Int16(POLLIN), revents: 0)
        return poll(&waiting, 1, 10_000) > 0 ? receiveNow() : nil
    }

    /// What is there already. (On the loopback a datagram is there when the sender's call returns.)
    func receiveNow() -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: 4_096)
        let count = recv(descriptor.raw, &bytes, bytes.count, 0)
        return count < 0 ? nil : Array(bytes[..<count])
    }

    /// The next RTP packet.
    func receiveRTP() -> [UInt8]? {
        while let bytes = receive() { if isRTP(bytes) { return bytes } }
        return nil
    }

    func drain() -> [[UInt8]] {
        var all: [[UInt8]] = []
        while let bytes = receiveNow() { all.append(bytes) }
        return all
    }
}

/// The kernel's own word on which UDP ports of an address are bound: a witness that the code cannot talk to.
func boundPorts(v6: Bool = false) throws -> Set<UInt16> {
    let file = open(v6 ? "/proc/self/net/udp6" : "/proc/self/net/udp", O_RDONLY | O_CLOEXEC)
    try #require(file >= 0)
    defer { close(file) }
    var bytes: [UInt8] = [], page = [UInt8](repeating: 0, count: 65_536)
    // A file of the kernel's has no length and comes in pieces: the end is where nothing more comes.
    while case let count = read(file, &page, page.count), count > 0 { bytes += page[..<count] }
    let table = String(decoding: bytes, as: UTF8.self)
    return Set(
        table.split(separator: "\n").dropFirst().compactMap { line in
            let columns = line.split(separator: " ")
            return columns.count > 1 ? columns[1].split(separator: ":").last.flatMap { UInt16($0, radix: 16) } : nil
        })
}

/// Ports that are free at the moment, an even number of them; from a stretch that is this test's alone.
func portRange(_ number: Int, count: UInt16 = 20) -> ClosedRange<UInt16> {
    let first = UInt16(21_000 + 100 * number)
    return first...(first + count - 1)
}
