import Glibc
import Primitives
import Testing

@testable import Runtime

extension RealTime {
    /// Datagrams of the test's own, read from the kernel's ring. Without CAP_NET_RAW there is none.
    @Suite(.enabled(if: isCapturePermitted(), "CAP_NET_RAW is missing")) struct PacketCaptureTests {
        static let contents: [([UInt8], Bool)] = [
            ([0x80, 0], true), ([0x80, 0x80 | 96], true), ([0x80, 200], false), ([0x80, 63], true), ([0x80, 64], false),
            ([0, 1], false), ([20, 254], false), ([0x80], false), ([], false),
        ]

        @Test(arguments: [anyLoopbackPort, anyLoopbackPortV6])
        func `what leaves from a port of the range is read with its time, and RTP is told from the rest`(address: SocketAddress) throws {
            let socket = try FileDescriptorOwner.udp(bound: address), other = try FileDescriptorOwner.udp(bound: address)
            let port = try number(of: socket), foreign = try number(of: other)
            var capture = try PacketCapture(ports: port...port), packets: [PacketCapture.Packet] = []
            let begin = WallClock.now
            for (bytes, _) in Self.contents {
                send(bytes, over: socket, to: foreign, address)
                send(bytes, over: other, to: port, address)
            }
            let end = WallClock.now
            capture.read(into: &packets)
            #expect(packets.map(\.isRTP) == Self.contents.map(\.1))
            #expect(packets.allSatisfy { $0.port == port && (begin...end).contains($0.wall) })
            packets = []
            capture.read(into: &packets)
            #expect(packets.isEmpty)
        }

        @Test func `what the ring has no room for is counted, and what comes then is read`() throws {
            let socket = try FileDescriptorOwner.udp(bound: anyLoopbackPort), port = try number(of: socket)
            var capture = try PacketCapture(ports: port...port), packets: [PacketCapture.Packet] = []
            for _ in 0..<33_000 { send([0x80, 0], over: socket, to: 9, anyLoopbackPort) }
            capture.read(into: &packets)
            let losses = capture.losses()
            #expect(packets.count == 32_720 && losses == 33_000 - packets.count)
            send([0x80, 0], over: socket, to: 9, anyLoopbackPort)
            packets = []
            capture.read(into: &packets)
            let more = capture.losses()
            #expect(packets.count == 1 && more == 0)
        }

        private func number(of socket: borrowing FileDescriptorOwner) throws -> UInt16 {
            let local = socket.localAddress
            return try #require(local).port
        }

        private func send(_ bytes: [UInt8], over socket: borrowing FileDescriptorOwner, to port: UInt16, _ like: SocketAddress) {
            var destination = like
            destination.port = port
            let raw = socket.raw
            destination.withSockaddr { address, length in _ = sendto(raw, bytes, bytes.count, 0, address, length) }
        }
    }
}

private func isCapturePermitted() -> Bool {
    do {
        _ = try PacketCapture(ports: 1...1)
        return true
    } catch { return false }
}
