import Foundation
import Primitives
import Runtime
import Synchronization
import Testing

/// Stands before a server, and cuts each connection after as many bytes of its answers as it is told to.
final class CuttingProxy: Sendable {
    let address: SocketAddress
    private let listening: FileDescriptorOwner
    private let cuts = Atomic(0)

    /// - Parameter length: of the answers over the next connection, in bytes; nil: it is not cut.
    init(before server: SocketAddress, length: @escaping @Sendable () -> Int?) throws {
        listening = try FileDescriptorOwner.tcp(listening: anyLoopbackPort, backlog: 64)
        let raw = listening.raw
        let local = listening.localAddress
        address = try #require(local)
        _ = fcntl(raw, F_SETFL, 0)
        Thread.detachNewThread { [weak self] in
            while case let client = accept(raw, nil, nil), client >= 0 {
                let upstream = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0), most = length()
                guard server.withSockaddr({ connect(upstream, $0, $1) }) == 0 else { break }
                let isDone = DispatchSemaphore(value: 0)
                Thread.detachNewThread {
                    Self.copy(from: client, to: upstream, atMost: nil)
                    isDone.signal()
                }
                Thread.detachNewThread { [weak self] in
                    if Self.copy(from: upstream, to: client, atMost: most) { self?.cuts.add(1, ordering: .relaxed) }
                    for descriptor in [client, upstream] { shutdown(descriptor, Int32(SHUT_RDWR)) }
                    isDone.wait()
                    for descriptor in [client, upstream] { close(descriptor) }
                }
            }
        }
    }

    deinit { shutdown(listening.raw, Int32(SHUT_RDWR)) }

    /// Connections that were cut.
    var cutCount: Int { cuts.load(ordering: .relaxed) }

    /// True: there may have been more.
    @discardableResult private static func copy(from source: Int32, to target: Int32, atMost most: Int?) -> Bool {
        var piece = [UInt8](repeating: 0, count: 16_384), left = most ?? .max
        while case let count = recv(source, &piece, min(piece.count, left), 0), count > 0 {
            guard send(target, piece, count, Int32(MSG_NOSIGNAL)) == count else { return false }
            left -= count
            if left == 0 { return true }
        }
        return false
    }
}
