import Media
import Primitives
import RTP
import Runtime
import SDP

/// Ports and datagrams without a kernel: what is sent is kept, what arrives is put in by the test.
final class VirtualNetwork: PortBinder {
    struct Sent { var from: SocketAddress, to: SocketAddress, bytes: [UInt8] }

    private var places: [SocketAddress: Place] = [:]
    var sent: [Sent] = []
    private struct Place { weak var socket: VirtualSocket? }

    /// What is bound.
    var sockets: [SocketAddress: VirtualSocket] { places.compactMapValues(\.socket) }
    /// The binds that fail, counted from the first.
    var failing: Set<Int> = []
    /// Whether a locked socket hears its own far end alone, as the kernel's do.
    var heedsLocks = true
    private var binds = 0
    /// Asked first about what arrives.
    var relay: MemoryRelay?

    func bind(_ address: SocketAddress, token: UInt64) throws(SocketError) -> any MediaSocket {
        defer { binds += 1 }
        guard !failing.contains(binds), places[address]?.socket == nil else { throw .addressInUse(.udp, address) }
        let socket = VirtualSocket(address, token, self)
        places[address] = Place(socket: socket)
        return socket
    }

    func release(_ socket: any MediaSocket) {}
    func adopt(_ socket: any MediaSocket, token: UInt64) throws(SocketError) {}

    /// Puts a datagram before a bound port and has the engine take it. False when nothing is bound there.
    @discardableResult
    func deliver(_ bytes: [UInt8], from sender: SocketAddress, to address: SocketAddress, _ engine: MediaEngine, at now: Instant) -> Bool {
        switch relay?.pass(bytes, from: sender, to: address, at: now) {
        case .passed(let bytes, let from, let to):
            sent.append(Sent(from: from, to: to, bytes: bytes))
            return true
        case .dropped: return true
        case .left, nil: break
        }
        guard let socket = put(bytes, from: sender, to: address) else { return false }
        engine.ready(socket.token, at: now)
        return true
    }

    /// Puts a datagram before a bound port, where it waits.
    @discardableResult
    func put(_ bytes: [UInt8], from sender: SocketAddress, to address: SocketAddress) -> VirtualSocket? {
        let socket = places[address]?.socket
        socket?.inbox.append((bytes, sender))
        return socket
    }

    /// What went to an address since the last call.
    func take(to address: SocketAddress) -> [[UInt8]] {
        defer { sent.removeAll { $0.to == address } }
        return sent.filter { $0.to == address }.map(\.bytes)
    }
}

final class VirtualSocket: MediaSocket {
    let token: UInt64
    var inbox: [(bytes: [UInt8], sender: SocketAddress)] = []
    private let address: SocketAddress
    private weak var network: VirtualNetwork?
    private var remote: SocketAddress?
    private var isLocked = false

    init(_ address: SocketAddress, _ token: UInt64, _ network: VirtualNetwork) {
        (self.address, self.token, self.network) = (address, token, network)
    }

    var isSourceVerified: Bool { false }
    func aim(at remote: SocketAddress?) { (self.remote, isLocked) = (remote, false) }
    func lock(to remote: SocketAddress) { (self.remote, isLocked) = (remote, true) }

    func send(_ packet: UnsafeRawBufferPointer) -> Bool {
        guard let remote else { return false }
        return send(packet, to: remote)
    }

    func send(_ packet: UnsafeRawBufferPointer, to remote: SocketAddress) -> Bool {
        network?.sent.append(.init(from: address, to: remote, bytes: Array(packet)))
        return true
    }

    func receive(into buffer: UnsafeMutableRawBufferPointer) -> ReceivedDatagram? {
        while !inbox.isEmpty {
            let (bytes, sender) = inbox.removeFirst()
            if isLocked, network?.heedsLocks != false, sender != remote { continue }
            let count = min(bytes.count, buffer.count)
            buffer.copyBytes(from: bytes.prefix(count))
            return ReceivedDatagram(count: count, sender: sender, isWhole: count == bytes.count)
        }
        return nil
    }
}

extension VirtualNetwork {
    /// The addresses that are bound, as text.
    var bound: [String] { sockets.keys.map(\.description).sorted() }
}

/// A far end of one leg: its address, its packets, and what it is sent.
struct FarEnd {
    let address: SocketAddress
    var ssrc: UInt32
    var sequence: UInt16 = 65_530
    var timestamp: UInt32 = 4_294_967_000

    init(_ host: String, port: UInt16, ssrc: UInt32) {
        address = SocketAddress(IPAddress(host)!, port: port)
        self.ssrc = ssrc
    }

    /// The next packet of a stream.
    mutating func packet(
        _ payloadType: UInt8, _ payload: [UInt8] = Array(repeating: 0x55, count: 160), step: UInt32 = 160, marker: Bool = false
    ) -> [UInt8] {
        defer { (sequence, timestamp) = (sequence &+ 1, timestamp &+ step) }
        let header = RTPHeader(
            payloadType: payloadType, sequence: SequenceNumber(sequence), timestamp: timestamp, ssrc: ssrc, marker: marker)
        return rtp(header, payload)
    }
}

func rtp(_ header: RTPHeader, _ payload: [UInt8]) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: RTPHeader.fixedSize)
    bytes.withUnsafeMutableBytes { header.write(to: $0) }
    return bytes + payload
}

/// The header of a packet that must be RTP.
func header(_ packet: [UInt8]) throws -> RTPHeader { try packet.withUnsafeBytes { try RTPHeader(parsing: $0) } }

func payload(_ packet: [UInt8]) throws -> [UInt8] {
    let header = try header(packet)
    return Array(packet[header.payloadOffset..<header.payloadOffset + header.payloadCount])
}

func isRTP(_ packet: [UInt8]) -> Bool { packet.withUnsafeBytes { MediaPacketKind($0) } == .rtp }

extension NegotiatedCodec {
    static func pcmu(_ receive: UInt8 = 0, _ send: UInt8 = 0) -> Self {
        Self(codec: .pcmu, receivePayloadType: receive, sendPayloadType: send)
    }
    static func pcma() -> Self { Self(codec: .pcma, receivePayloadType: 8, sendPayloadType: 8) }
    static func g722() -> Self { Self(codec: .g722, receivePayloadType: 9, sendPayloadType: 9) }
    static func opus(_ receive: UInt8 = 111, _ send: UInt8 = 111) -> Self {
        Self(codec: .opus, receivePayloadType: receive, sendPayloadType: send)
    }
    static func l16(_ rate: UInt32, _ number: UInt8) -> Self {
        Self(codec: .l16(rate), receivePayloadType: number, sendPayloadType: number)
    }
    static func keys(_ receive: UInt8 = 101, _ send: UInt8 = 101, rate: UInt32 = 8_000) -> Self {
        Self(codec: .telephoneEvent(rate), receivePayloadType: receive, sendPayloadType: send)
    }
}
