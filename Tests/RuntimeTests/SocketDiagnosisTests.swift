import Glibc
import Primitives
import Testing

@testable import Runtime

extension RealTime {
    /// The kernel's list of sockets against sockets of the test's own.
    @Suite struct SocketDiagnosisTests {
        @Test(arguments: [anyLoopbackPort, anyLoopbackPortV6])
        func `a bound socket is listed with its address and inode, and a closed one is not`(address: SocketAddress) throws {
            var diagnosis = try SocketDiagnosis(), inode: UInt64 = 0
            let bound: SocketAddress
            do {
                let socket = try FileDescriptorOwner.udp(bound: address)
                let local = socket.localAddress
                bound = try #require(local)
                let found = try #require(try diagnosis.udpSockets(on: bound.port...bound.port).first { $0.address == bound })
                inode = found.inode
                #expect(try #require(ProcessSockets.inodes(of: getpid())).contains(inode))
                _ = socket.raw
            }
            let left = try diagnosis.udpSockets(on: bound.port...bound.port)
            #expect(!left.contains { $0.inode == inode })
            #expect(!(try #require(ProcessSockets.inodes(of: getpid()))).contains(inode))
        }

        @Test func `only ports of the range are listed, its ends with it`() throws {
            var diagnosis = try SocketDiagnosis()
            let socket = try FileDescriptorOwner.udp(bound: anyLoopbackPort)
            let local = socket.localAddress, bound = try #require(local)
            func isListed(_ ports: ClosedRange<UInt16>) throws -> Bool {
                let found = try diagnosis.udpSockets(on: ports)
                #expect(found.allSatisfy { ports.contains($0.address.port) })
                return found.contains { $0.address == bound }
            }
            #expect(try isListed(bound.port - 10...bound.port) && isListed(bound.port...bound.port + 10))
            #expect(try !isListed(bound.port - 10...bound.port - 1) && !isListed(bound.port + 1...bound.port + 10))
        }

        @Test func `more sockets than one part of an answer has are all listed`() throws {
            var diagnosis = try SocketDiagnosis()
            let sockets = try Held(600)
            let found = Set(try diagnosis.udpSockets(on: 1...65_535).map(\.address))
            #expect(sockets.addresses.count == 600 && sockets.addresses.allSatisfy(found.contains))
        }

        @Test func `a process shares its own network, and one that is not there has none`() {
            #expect(ProcessSockets.sharesNetwork(with: getpid()) == true)
            #expect(ProcessSockets.sharesNetwork(with: -1) == nil && ProcessSockets.inodes(of: -1) == nil)
        }

        /// Sockets for as long as it lives.
        private final class Held {
            private let descriptors: [Int32]
            let addresses: [SocketAddress]

            init(_ count: Int) throws {
                var (descriptors, addresses) = ([Int32](), [SocketAddress]())
                for _ in 0..<count {
                    let socket = try FileDescriptorOwner.udp(bound: anyLoopbackPort)
                    let local = socket.localAddress
                    addresses.append(try #require(local))
                    descriptors.append(fcntl(socket.raw, F_DUPFD_CLOEXEC, 0))
                }
                (self.descriptors, self.addresses) = (descriptors, addresses)
            }

            deinit { descriptors.forEach { close($0) } }
        }
    }
}
