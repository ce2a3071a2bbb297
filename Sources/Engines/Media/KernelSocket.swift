import CLinux
import Glibc
import Primitives
import Runtime

/// A non-blocking UDP socket of the kernel, reported by a `Poller`.
final class KernelSocket: MediaSocket {
    // The fields that a packet touches come first, in one cache line. The compiler cannot see that no two accesses overlap, and asking the
    // runtime costs a sixth of a packet: these are not checked.
    private let owner: FileDescriptorOwner
    private var isLocked = false
    private(set) var isSourceVerified = false
    private var remoteLength: socklen_t = 0
    private var remote: SocketAddress?
    /// `remote` as the kernel takes it, made once.
    private var remoteBytes = sockaddr_storage()
    let address: SocketAddress

    init(binding address: SocketAddress) throws(SocketError) {
        owner = try FileDescriptorOwner.udp(bound: address)
        self.address = address
    }

    private var descriptor: Int32 { owner.raw }

    func watch(by poller: Poller, token: UInt64) throws(PollerError) { try poller.watch(descriptor, token: token) }

    func unwatch(by poller: Poller) { poller.unwatch(descriptor) }

    func send(_ packet: UnsafeRawBufferPointer) -> Bool {
        guard remoteLength > 0 else { return false }
        if isLocked {
            return clinux_send_connected(descriptor, packet.baseAddress, UInt(packet.count), Int32(MSG_NOSIGNAL)) == packet.count
        }
        return withUnsafePointer(to: &remoteBytes) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                sendto(descriptor, packet.baseAddress, packet.count, Int32(MSG_NOSIGNAL), $0, remoteLength) == packet.count
            }
        }
    }

    func send(_ packet: UnsafeRawBufferPointer, to remote: SocketAddress) -> Bool {
        remote.withSockaddr { sendto(descriptor, packet.baseAddress, packet.count, Int32(MSG_NOSIGNAL), $0, $1) == packet.count }
    }

    func aim(at remote: SocketAddress?) {
        unlock()
        guard let remote, remote.port != 0, !remote.address.isAny, remote.address.family == address.address.family else {
            (self.remote, remoteLength) = (nil, 0)
            return
        }
        self.remote = remote
        remoteBytes = remote.storage
        remoteLength = remote.withSockaddr { $1 }
    }

    func lock(to remote: SocketAddress) {
        if isLocked, self.remote == remote { return }
        aim(at: remote)
        guard remoteLength > 0 else { return }
        isLocked = withUnsafePointer(to: &remoteBytes) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { connect(descriptor, $0, remoteLength) } == 0
        }
        isSourceVerified = false
    }

    func receive(into buffer: UnsafeMutableRawBufferPointer) -> ReceivedDatagram? {
        isSourceVerified ? receiveVouched(into: buffer) : receiveFromAnyone(into: buffer)
    }

    private func receiveVouched(into buffer: UnsafeMutableRawBufferPointer) -> ReceivedDatagram? {
        let count = clinux_recv(descriptor, buffer.baseAddress, UInt(buffer.count), Int32(MSG_TRUNC))
        guard count >= 0, let remote else { return nil }
        return ReceivedDatagram(count: min(count, buffer.count), sender: remote, isWhole: count <= buffer.count)
    }

    private func receiveFromAnyone(into buffer: UnsafeMutableRawBufferPointer) -> ReceivedDatagram? {
        var sender = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let count = withUnsafeMutablePointer(to: &sender) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                recvfrom(descriptor, buffer.baseAddress, buffer.count, Int32(MSG_TRUNC), $0, &length)
            }
        }
        guard count >= 0, let from = SocketAddress(sender) else {
            if count < 0, isLocked, errno == EAGAIN { isSourceVerified = true }
            return nil
        }
        return ReceivedDatagram(count: min(count, buffer.count), sender: from, isWhole: count <= buffer.count)
    }

    private func unlock() {
        guard isLocked else { return }
        var nobody = sockaddr(sa_family: sa_family_t(AF_UNSPEC), sa_data: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))
        connect(descriptor, &nobody, socklen_t(MemoryLayout<sockaddr>.size))
        (isLocked, isSourceVerified) = (false, false)
    }
}

/// Binds ports of the kernel and has one poller watch them. Belongs to the lane of that poller.
final class KernelPortBinder: PortBinder {
    private let poller: Poller

    init(poller: Poller) { self.poller = poller }

    func bind(_ address: SocketAddress, token: UInt64) throws(SocketError) -> any MediaSocket { try make(address, token: token) }

    func make(_ address: SocketAddress, token: UInt64) throws(SocketError) -> KernelSocket {
        let socket = try KernelSocket(binding: address)
        try adopt(socket, token: token)
        return socket
    }

    func release(_ socket: any MediaSocket) { kernel(socket).unwatch(by: poller) }

    func adopt(_ socket: any MediaSocket, token: UInt64) throws(SocketError) {
        let socket = kernel(socket)
        do throws(PollerError) { try socket.watch(by: poller, token: token) } catch {
            throw .failed(operation: "watch", .udp, socket.address, code: error.code)
        }
    }

    private func kernel(_ socket: any MediaSocket) -> KernelSocket {
        guard let socket = socket as? KernelSocket else { preconditionFailure("a socket of another kind") }
        return socket
    }
}
