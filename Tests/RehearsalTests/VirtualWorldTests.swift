import Primitives
import SIP
import Testing
import UserAgent

@testable import Rehearsal

@Suite struct VirtualWorldTests {
    /// Notes what arrives.
    private final class Listener: Inhabitant {
        var deadline: Instant?
        private(set) var heard: [(bytes: [UInt8], flow: Flow, at: Instant)] = []
        private(set) var failures: [Flow] = []
        private(set) var rung: [Instant] = []

        func advance(to now: Instant) {
            rung.append(now)
            deadline = nil
        }
        func receive(_ bytes: [UInt8], over flow: Flow, at now: Instant) { heard.append((bytes, flow, now)) }
        func failed(_ flow: Flow, at now: Instant) { failures.append(flow) }
    }

    private static func address(_ last: UInt32) -> SocketAddress { SocketAddress(IPAddress(v4: 0xC000_0200 + last), port: 5060) }

    private struct Room {
        let world = World(at: .zero)
        let network: VirtualNetwork
        let near = Listener(), far = Listener()
        let flow: Flow

        init(_ transport: Transport, seed: UInt64 = 1, _ change: (inout LinkFaults) -> Void) {
            network = VirtualNetwork(world: world, seed: seed)
            change(&network.faults)
            network.attach(near, to: address(1))
            network.attach(far, to: address(2))
            flow = Flow(transport: transport, local: address(1), remote: address(2))
            world.add(near)
            world.add(far)
        }

        func send(_ count: UInt8) { for number in 0..<count { network.send([number], over: flow) } }
        func play() {
            let end = world.now + .seconds(60)
            while world.step(until: end) {}
        }
        var order: [UInt8] { far.heard.map { $0.bytes[0] } }
    }

    @Test func `what is due comes by time, and at one time in the order in which it was put down`() {
        let world = World(at: .zero)
        var order: [Int] = []
        for (number, delay) in [(1, 30), (2, 10), (3, 30), (4, 20), (5, 10)] { world.after(.milliseconds(delay)) { order.append(number) } }
        while world.step(until: .zero + .milliseconds(25)) {}
        #expect(order == [2, 5, 4])
        #expect(world.now == .zero + .milliseconds(25))
        while world.step(until: .distantFuture) {}
        #expect(order == [2, 5, 4, 1, 3])
        #expect(world.pending == 0)
    }

    @Test func `an inhabitant is woken at its deadline`() {
        let room = Room(.udp) { _ in }
        room.near.deadline = .zero + .seconds(3)
        room.play()
        #expect(room.near.rung == [.zero + .seconds(3)])
    }

    @Test func `datagrams overtake one another, and the same seed does it again`() {
        func order(_ seed: UInt64) -> [UInt8] {
            let room = Room(.udp, seed: seed) { $0.delay = 1...50 }
            room.send(100)
            room.play()
            return room.order
        }
        #expect(order(1).sorted() == Array(0..<100))
        #expect(order(1) != order(1).sorted())
        #expect(order(1) == order(1))
        #expect(order(1) != order(2))
    }

    @Test func `datagrams are lost and doubled as often as is asked for`() {
        let lossy = Room(.udp) { $0.lost = 300 }
        for _ in 0..<10 { lossy.send(100) }
        lossy.play()
        #expect((620...780).contains(lossy.order.count))
        #expect(lossy.network.lost == 1_000 - lossy.order.count)
        let doubling = Room(.udp) { $0.duplicated = 1_000 }
        doubling.send(10)
        doubling.play()
        #expect(doubling.order.count == 20)
    }

    @Test func `a connection keeps the order, is used both ways, and breaks at both ends`() {
        let room = Room(.tcp) { $0.delay = 1...50 }
        room.send(100)
        room.play()
        #expect(room.order == Array(0..<100))
        let back = room.far.heard[0].flow
        #expect(back.connection != 0 && back.local == room.flow.remote)
        #expect(room.network.carrier(of: room.flow) == back.connection && room.network.carrier(of: back) == back.connection)
        room.network.send([7], over: back)
        room.play()
        #expect(room.near.heard.map(\.flow.connection) == [back.connection])
        room.network.faults.cut = 1_000
        room.send(1)
        room.play()
        #expect(room.near.failures.count == 1 && room.far.failures == [back])
        #expect(room.far.heard.count == 101, "what was under way arrives")
        room.send(1)
        room.play()
        #expect(room.far.heard.last?.flow.connection != back.connection)
    }

    @Test func `a connection to nobody fails`() {
        let room = Room(.tcp) { _ in }
        let nowhere = Flow(transport: .tcp, local: Self.address(1), remote: Self.address(99))
        room.network.send([1], over: nowhere)
        room.play()
        #expect(room.near.failures == [nowhere])
        #expect(room.network.carrier(of: nowhere) == 0)
    }
}

@Suite struct WireWitnessTests {
    private static let gateway = SocketAddress(IPAddress(v4: 0xCB00_7101), port: 5060)
    private static let peer = SocketAddress(IPAddress(v4: 0xC000_0201), port: 5060)

    private static func request(_ method: Method, tags: (Text, Text?)) -> Message {
        var from = NameAddress(uri: URI(host: "a.test")), to = NameAddress(uri: URI(host: "b.test"))
        (from.tag, to.tag) = (tags.0, tags.1)
        let via = Via(transport: "UDP", host: "a.test", port: nil, branch: "z9hG4bK1")
        return .request(method, uri: URI(host: "b.test"), via: via, from: from, to: to, callID: "c", cseq: 1)
    }

    @Test func `a dialog counts from its 2xx to its BYE, whoever sends them, and never again`() {
        var witness = WireWitness(gateway: Self.gateway)
        let ok = Message.response(to: Self.request(.invite, tags: ("x", nil)), status: 200, toTag: "y").serialized()
        let bye = Self.request(.bye, tags: ("x", "y")).serialized()
        witness.sent(Self.request(.invite, tags: ("x", nil)).serialized(), from: Self.gateway)
        #expect(witness.answeredDialogs == 0)
        witness.sent(ok, from: Self.peer)
        #expect(witness.answeredDialogs == 0, "it has not arrived yet")
        witness.delivered(ok, to: Self.gateway)
        witness.delivered(ok, to: Self.gateway)
        #expect(witness.answeredDialogs == 1)
        witness.sent(bye, from: Self.gateway)
        witness.delivered(ok, to: Self.gateway)
        #expect(witness.answeredDialogs == 0)
        #expect(witness.secondAcceptances == 0 && witness.acceptancesAfterCancel == 0)
    }

    @Test func `of a call to itself the gateway has both ends, until each has sent or heard the BYE`() {
        var witness = WireWitness(gateway: Self.gateway)
        let ok = Message.response(to: Self.request(.invite, tags: ("x", nil)), status: 200, toTag: "y").serialized()
        let bye = Self.request(.bye, tags: ("x", "y")).serialized()
        witness.sent(ok, from: Self.gateway)
        #expect(witness.answeredDialogs == 1)
        witness.delivered(ok, to: Self.gateway)
        #expect(witness.answeredDialogs == 2)
        witness.sent(bye, from: Self.gateway)
        witness.sent(bye, from: Self.gateway)
        #expect(witness.answeredDialogs == 1)
        witness.delivered(bye, to: Self.gateway)
        #expect(witness.answeredDialogs == 0)
    }

    @Test func `a second fork and a 2xx behind a CANCEL are noticed`() {
        var witness = WireWitness(gateway: Self.gateway)
        witness.sent(Self.request(.cancel, tags: ("x", nil)).serialized(), from: Self.gateway)
        for tag: Text in ["y", "z"] {
            witness.delivered(
                Message.response(to: Self.request(.invite, tags: ("x", nil)), status: 200, toTag: tag).serialized(), to: Self.gateway)
        }
        #expect(witness.acceptancesAfterCancel == 1)
        #expect(witness.secondAcceptances == 1)
        #expect(witness.answeredDialogs == 2)
    }
}
