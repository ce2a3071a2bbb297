import Media
import Primitives
import Runtime
import SDP
import SIP
import UserAgent
import Workbench

/// Telephones that share one virtual network and one virtual time: signalling takes 5 ms, packets 3 ms. Everything that happens is written
/// down.
final class Room {
    private(set) var now = Instant.zero
    /// `caller INVITE`, `callee bind`, `callee rtp` (the first packet of a run), `callee unbind` ... in the order of things.
    private(set) var log: [String] = []
    /// Says which packets of media are lost.
    var loses: (Int) -> Bool = { _ in false }
    /// Says whether all that goes to an address is.
    var losesTo: (SocketAddress) -> Bool = { _ in false }
    /// How much longer than others packets to an address take.
    var delaysTo: (SocketAddress) -> Duration = { _ in .zero }
    /// Addresses that cannot be bound.
    var unbindable: Set<String> = []

    private var seats: [Seat] = []
    private var raws: [SocketAddress: (Message, Flow) -> Message?] = [:]
    private var signals: [(due: Instant, bytes: [UInt8], flow: Flow)] = []
    private var packets: [(due: Instant, bytes: [UInt8], from: SocketAddress, to: SocketAddress)] = []
    private var sockets: [SocketAddress: Bound] = [:]
    private struct Bound { weak var socket: RoomSocket? }
    private var packetsSent = 0

    /// One telephone: its engine and whatever drives it.
    final class Seat {
        let name: String
        let address: SocketAddress
        let phone: Phone
        let plane: MediaLanes
        let engine: MediaEngine
        /// What drives the phone, where its time is more than the phone's.
        var client: (any PhoneClient)?

        init(_ name: String, _ address: SocketAddress, _ phone: Phone, _ plane: MediaLanes, _ engine: MediaEngine) {
            (self.name, self.address, self.phone, self.plane, self.engine) = (name, address, phone, plane, engine)
        }
    }

    /// A telephone at 10.0.0.`number`; requests go to `server`.
    func seat(
        _ name: String, _ number: UInt32, server: SocketAddress, codecs: [Codec] = Codec.usual, credentials: Credentials? = nil,
        ports: ClosedRange<UInt16> = Room.ports
    ) -> Seat {
        let host = IPAddress(v4: 0x0A00_0000 + number), address = SocketAddress(host, port: 5060)
        let engine = MediaEngine(binder: RoomBinder(self, name), random: SeededRandom(seed: UInt64(number)), at: now)
        let plane = MediaLanes(settings: MediaSettings(ports: ports, lanes: 1), random: SeededRandom(seed: 9), driving: engine)
        let line = RoomLine(self, name)
        let agent = UserAgent(
            configuration: UserAgentConfiguration(), network: line, random: SeededRandom(seed: 100 + UInt64(number)),
            hash: OpenSSLDigest.sip)
        let identity = PhoneIdentity(
            user: Text(name), domain: "example.test", credentials: credentials, flow: Flow(transport: .udp, local: address, remote: server),
            mediaAddress: host,
            codecs: codecs)
        let phone = Phone(identity: identity, agent: agent, plane: plane, random: SeededRandom(seed: 5))
        let seat = Seat(name, address, phone, plane, engine)
        seats.append(seat)
        return seat
    }

    /// Answers requests at an address.
    func place(at address: SocketAddress, _ answer: @escaping (Message, Flow) -> Message?) { raws[address] = answer }

    static let ports: ClosedRange<UInt16> = 20_000...20_999

    static func address(_ number: UInt32) -> SocketAddress { SocketAddress(IPAddress(v4: 0x0A00_0000 + number), port: 5060) }

    /// What a proxy without memory, which stays in the path, makes of a message that it sends back to where it came from, with the URI as
    /// it was: to a next hop.
    static func forwarded(_ message: Message) -> Message {
        var message = message
        if message.isRequest {
            message.headers.prepend(.via, Text("SIP/2.0/UDP 10.0.0.3:5060;branch=\(message.via.branch ?? .empty)-proxy"))
            message.headers.remove(.route)
            if message.method == .invite { message.headers.prepend(.recordRoute, "<sip:10.0.0.3;lr>") }
        } else {
            var headers = message.headers
            headers.remove(.via)
            for via in message.headers.elements(.via).dropFirst().reversed() { headers.prepend(.via, via) }
            message.headers = headers
        }
        return message
    }

    func write(_ entry: String) { if log.last != entry { log.append(entry) } }

    /// Everything that happens for so long.
    func run(seconds: Double) {
        let end = now + .milliseconds(Int64(seconds * 1_000))
        while let next = nextTime, next <= end {
            now = max(now, next)
            if let signal = signals.first, signal.due <= now { deliverSignal() }
            if let packet = packets.first, packet.due <= now { deliverPacket() }
            for seat in seats {
                seat.engine.advance(to: now)
                hand(seat)
                if let client = seat.client { client.advance(to: now) } else { seat.phone.advance(to: now) }
            }
        }
        now = max(now, end)
    }

    private var nextTime: Instant? {
        let dues =
            seats.flatMap { [$0.client?.deadline ?? $0.phone.deadline, $0.engine.deadline] } + [signals.first?.due, packets.first?.due]
        return dues.compactMap { $0 }.min()
    }

    private func hand(_ seat: Seat) {
        for (leg, event) in seat.engine.takeEvents() { seat.phone.receive(event, of: leg, at: now) }
    }

    fileprivate func carry(_ bytes: [UInt8], over flow: Flow, from name: String) {
        if let message = try? Message(parsing: bytes) {
            write("\(name) \(message.status.map { "\($0) \(message.method)" } ?? "\(message.method)")")
        }
        let back = Flow(transport: flow.transport, local: flow.remote, remote: flow.local)
        signals.append((now + .milliseconds(5), bytes, back))
    }

    private func deliverSignal() {
        let (_, bytes, flow) = signals.removeFirst()
        if let answer = raws[flow.local], let message = try? Message(parsing: bytes) {
            if let response = answer(message, flow) { carry(response.serialized(), over: flow, from: "server") }
        } else if let seat = seats.first(where: { $0.address == flow.local }) {
            seat.phone.agent.receive(bytes, over: flow, at: now)
            hand(seat)
        }
    }

    fileprivate func carry(_ bytes: [UInt8], from: SocketAddress, to: SocketAddress, name: String) {
        packetsSent += 1
        if bytes.count > 1, !(192...223).contains(bytes[1]) { write("\(name) rtp") }
        if !loses(packetsSent), !losesTo(to) { packets.append((now + .milliseconds(3) + delaysTo(to), bytes, from, to)) }
        packets.sort { $0.due < $1.due }
    }

    private func deliverPacket() {
        let (_, bytes, from, to) = packets.removeFirst()
        guard let socket = sockets[to]?.socket, let seat = seats.first(where: { $0.name == socket.name }) else { return }
        socket.inbox.append((bytes, from))
        seat.engine.ready(socket.token, at: now)
        hand(seat)
    }

    fileprivate func bind(_ address: SocketAddress, _ token: UInt64, _ name: String) throws(SocketError) -> RoomSocket {
        guard sockets[address] == nil, !unbindable.contains(name) else { throw .addressInUse(.udp, address) }
        let socket = RoomSocket(self, name, address, token)
        sockets[address] = Bound(socket: socket)
        write("\(name) bind")
        return socket
    }

    fileprivate func unbind(_ socket: RoomSocket) {
        sockets[socket.address] = nil
        write("\(socket.name) unbind")
    }

    var boundSockets: Int { sockets.count }
}

private final class RoomLine: SignallingNetwork {
    private unowned let room: Room
    private let name: String
    init(_ room: Room, _ name: String) { (self.room, self.name) = (room, name) }
    func send(_ bytes: [UInt8], over flow: Flow) { room.carry(bytes, over: flow, from: name) }
}

private final class RoomBinder: PortBinder {
    private unowned let room: Room
    private let name: String
    init(_ room: Room, _ name: String) { (self.room, self.name) = (room, name) }
    func bind(_ address: SocketAddress, token: UInt64) throws(SocketError) -> any MediaSocket { try room.bind(address, token, name) }
    func release(_ socket: any MediaSocket) {}
    func adopt(_ socket: any MediaSocket, token: UInt64) throws(SocketError) {}
}

private final class RoomSocket: MediaSocket {
    let name: String
    let address: SocketAddress
    let token: UInt64
    var inbox: [(bytes: [UInt8], sender: SocketAddress)] = []
    private weak var room: Room?
    private var remote: SocketAddress?

    init(_ room: Room, _ name: String, _ address: SocketAddress, _ token: UInt64) {
        (self.room, self.name, self.address, self.token) = (room, name, address, token)
    }
    deinit { room?.unbind(self) }

    var isSourceVerified: Bool { false }
    func aim(at remote: SocketAddress?) { self.remote = remote }
    func lock(to remote: SocketAddress) { self.remote = remote }

    func send(_ packet: UnsafeRawBufferPointer) -> Bool {
        guard let remote else { return false }
        return send(packet, to: remote)
    }

    func send(_ packet: UnsafeRawBufferPointer, to remote: SocketAddress) -> Bool {
        room?.carry(Array(packet), from: address, to: remote, name: name)
        return true
    }

    func receive(into buffer: UnsafeMutableRawBufferPointer) -> ReceivedDatagram? {
        guard !inbox.isEmpty else { return nil }
        let (bytes, sender) = inbox.removeFirst(), count = min(bytes.count, buffer.count)
        buffer.copyBytes(from: bytes.prefix(count))
        return ReceivedDatagram(count: count, sender: sender, isWhole: count == bytes.count)
    }
}
