public import Primitives
import Runtime

/// Sees the RTP and RTCP of all legs as it is on the wire. Called on the media lanes: it must not block.
public protocol PacketTap: AnyObject, Sendable {
    /// - Parameters:
    ///   - packet: version 2 of RTP or RTCP, encrypted where the leg is; gone when this returns.
    ///   - local: where our socket is bound.
    func note(isSent: Bool, _ packet: UnsafeRawBufferPointer, local: SocketAddress, remote: SocketAddress)
}

/// A socket whose packets a tap sees. Where there is no tap there is none of these.
final class TappedSocket: MediaSocket {
    let socket: KernelSocket
    private let tap: any PacketTap
    private var remote: SocketAddress?

    init(_ socket: KernelSocket, _ tap: any PacketTap) { (self.socket, self.tap) = (socket, tap) }

    var isSourceVerified: Bool { socket.isSourceVerified }

    func send(_ packet: UnsafeRawBufferPointer) -> Bool {
        if let remote { show(packet, isSent: true, remote) }
        return socket.send(packet)
    }

    func send(_ packet: UnsafeRawBufferPointer, to remote: SocketAddress) -> Bool {
        show(packet, isSent: true, remote)
        return socket.send(packet, to: remote)
    }

    func aim(at remote: SocketAddress?) {
        self.remote = remote
        socket.aim(at: remote)
    }

    func lock(to remote: SocketAddress) {
        self.remote = remote
        socket.lock(to: remote)
    }

    func receive(into buffer: UnsafeMutableRawBufferPointer) -> ReceivedDatagram? {
        guard let received = socket.receive(into: buffer) else { return nil }
        show(UnsafeRawBufferPointer(rebasing: buffer[..<received.count]), isSent: false, received.sender)
        return received
    }

    /// STUN and DTLS, which come over the same port, are no media.
    private func show(_ packet: UnsafeRawBufferPointer, isSent: Bool, _ remote: SocketAddress) {
        guard packet.count >= 8, packet[0] >> 6 == 2 else { return }
        tap.note(isSent: isSent, packet, local: socket.address, remote: remote)
    }
}

/// Binds ports of the kernel, and lets a tap see their packets.
final class TappingPortBinder: PortBinder {
    private let binder: KernelPortBinder
    private let tap: any PacketTap

    init(_ binder: KernelPortBinder, _ tap: any PacketTap) { (self.binder, self.tap) = (binder, tap) }

    func bind(_ address: SocketAddress, token: UInt64) throws(SocketError) -> any MediaSocket {
        TappedSocket(try binder.make(address, token: token), tap)
    }

    func release(_ socket: any MediaSocket) { binder.release(kernel(socket)) }

    func adopt(_ socket: any MediaSocket, token: UInt64) throws(SocketError) { try binder.adopt(kernel(socket), token: token) }

    private func kernel(_ socket: any MediaSocket) -> KernelSocket {
        guard let tapped = socket as? TappedSocket else { preconditionFailure("a socket of another kind") }
        return tapped.socket
    }
}
