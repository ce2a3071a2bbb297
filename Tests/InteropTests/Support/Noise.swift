import Foundation

/// Damaged messages and random bytes, the same for a seed.
struct NoiseSource {
    private var state: UInt64
    init(seed: UInt64) { state = seed }

    /// SplitMix64.
    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
        return mixed ^ mixed >> 31
    }

    private mutating func number(below limit: Int) -> Int { Int(next() % UInt64(max(limit, 1))) }

    /// A message with bytes changed, cut or repeated; one in four is random bytes altogether.
    mutating func noise(from corpus: [[UInt8]]) -> [UInt8] {
        guard number(below: 4) > 0, var bytes = corpus.isEmpty ? nil : corpus[number(below: corpus.count)], bytes.count > 1 else {
            return (0..<number(below: 1_400)).map { _ in UInt8(truncatingIfNeeded: next()) }
        }
        for _ in 0...number(below: 8) {
            let place = number(below: bytes.count)
            switch number(below: 4) {
            case 0: bytes[place] = UInt8(truncatingIfNeeded: next())
            case 1: bytes.remove(at: place)
            case 2: bytes.insert(contentsOf: bytes[place..<min(place + 20, bytes.count)], at: place)
            default: bytes.removeLast(min(number(below: 30), bytes.count - 1))
            }
            if bytes.count < 2 { break }
        }
        return bytes
    }
}

/// A TCP connection to the gateway.
final class TCPPeer: Sendable {
    private let socket: Int32

    init(port: UInt16) throws {
        socket = Foundation.socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in(port: port)
        let result = withUnsafePointer(to: &address) { [socket] pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { connect(socket, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) }
        }
        if result != 0 { throw Unmet("no connection to \(port): \(String(cString: strerror(errno)))") }
    }

    deinit { close(socket) }

    func send(_ bytes: [UInt8]) { _ = Foundation.send(socket, bytes, bytes.count, Int32(MSG_NOSIGNAL)) }
}

/// A file system of a few kilobytes, in memory.
final class SmallDisk: Sendable {
    private let folder: Folder
    let path: String

    init(kilobytes: Int) throws {
        folder = try Folder()
        path = try folder.folder("disk")
        guard mount("hookswitch-test", path, "tmpfs", 0, "size=\(kilobytes)k") == 0 else { throw Unmet("no tmpfs: \(String(cString: strerror(errno)))") }
    }

    func grow(kilobytes: Int) throws {
        guard mount("hookswitch-test", path, "tmpfs", UInt(MS_REMOUNT), "size=\(kilobytes)k") == 0 else { throw Unmet("no remount: \(String(cString: strerror(errno)))") }
    }

    deinit { umount2(path, Int32(MNT_DETACH)) }
}
