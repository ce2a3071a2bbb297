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

    /// - Parameter source: the IPv4 address to call from; nil: the kernel's choice.
    init(port: UInt16, from source: UInt32? = nil) throws {
        socket = Foundation.socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        if let source {
            var local = sockaddr_in(port: 0)
            local.sin_addr.s_addr = source.bigEndian
            guard Self.with(&local, { [socket] in bind(socket, $0, $1) }) == 0 else {
                throw Unmet("no such address: \(String(cString: strerror(errno)))")
            }
        }
        var address = sockaddr_in(port: port)
        if Self.with(&address, { [socket] in connect(socket, $0, $1) }) != 0 {
            throw Unmet("no connection to \(port): \(String(cString: strerror(errno)))")
        }
    }

    init(adopting socket: Int32) { self.socket = socket }

    deinit { close(socket) }

    private static func with(_ address: inout sockaddr_in, _ call: (UnsafePointer<sockaddr>, socklen_t) -> Int32) -> Int32 {
        withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { call($0, socklen_t(MemoryLayout<sockaddr_in>.size)) }
        }
    }

    func send(_ bytes: [UInt8]) { _ = Foundation.send(socket, bytes, bytes.count, Int32(MSG_NOSIGNAL)) }

    /// Sends, and closes so that the peer sees a reset when this object goes.
    func reset(after bytes: [UInt8]) {
        if !bytes.isEmpty { send(bytes) }
        var abrupt = linger(l_onoff: 1, l_linger: 0)
        setsockopt(socket, SOL_SOCKET, SO_LINGER, &abrupt, socklen_t(MemoryLayout<linger>.size))
    }
}

/// A file system of a few kilobytes, in memory.
final class SmallDisk: Sendable {
    private let folder: Folder
    let path: String

    init(kilobytes: Int) throws {
        folder = try Folder()
        path = try folder.folder("disk")
        guard mount("hookswitch-test", path, "tmpfs", 0, "size=\(kilobytes)k") == 0 else {
            throw Unmet("no tmpfs: \(String(cString: strerror(errno)))")
        }
    }

    func grow(kilobytes: Int) throws {
        guard mount("hookswitch-test", path, "tmpfs", UInt(MS_REMOUNT), "size=\(kilobytes)k") == 0 else {
            throw Unmet("no remount: \(String(cString: strerror(errno)))")
        }
    }

    deinit { umount2(path, Int32(MNT_DETACH)) }
}
