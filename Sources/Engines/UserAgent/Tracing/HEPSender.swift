import Glibc
import Primitives
import Runtime

/// Sends traced messages to a Homer or sngrep by HEP version 3 over UDP. It never waits: what the socket does not take is dropped.
public final class HEPSender: TraceSink {
    public let output = TraceOutput.hep
    private let capture: UInt32
    private let socket: FileDescriptorOwner
    private static let withoutWaiting = Int32(MSG_DONTWAIT)

    /// - Parameters:
    ///   - collector: where the packets go.
    ///   - capture: the number by which the collector knows us.
    public init(to collector: SocketAddress, capture: UInt32) throws(SocketError) {
        let family = collector.address.family
        let socket = try FileDescriptorOwner.udp(bound: SocketAddress(family == .v4 ? .anyV4 : .anyV6, port: 0))
        try socket.connect(to: collector)
        self.capture = capture
        self.socket = consume socket
    }

    public func take(_ messages: [TracedMessage], missed: Int) -> Int { messages.count { !send($0) } }

    public func finish() {}

    private func send(_ message: TracedMessage) -> Bool {
        guard let packet = HEPPacket.make(message, capture: capture) else { return false }
        // The first failure may be that of the packet before, which ICMP told since.
        return (0..<2).contains { _ in Glibc.send(socket.raw, packet, packet.count, Self.withoutWaiting) == packet.count }
    }
}
