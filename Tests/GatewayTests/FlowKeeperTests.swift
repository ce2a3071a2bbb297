import Primitives
import RTP
import SIP
import Testing
import UserAgent

@testable import Gateway

/// What keeps a flow open, in what order and how often (RFC 5626 §4.4, RFC 6223).
@Suite struct FlowKeeperTests {
    private static func via(_ keep: String) -> Via { try! Via(parsing: Text("SIP/2.0/UDP 192.0.2.1;branch=z9hG4bKa" + keep)) }

    private static func keeper(_ transport: Transport, _ keep: String) -> FlowKeeper {
        FlowKeeper(.seconds(20), over: transport, agreed: via(keep), at: .zero, random: { 0 })
    }

    /// Everything that it does until then, with the seconds at which it does it.
    private static func run(_ keeper: inout FlowKeeper, until end: Double, answer: (Double, [UInt8]) -> [UInt8]? = { _, _ in nil }) -> [(
        Double, FlowKeeper.Output
    )] {
        var done: [(Double, FlowKeeper.Output)] = []
        while let due = keeper.deadline, due <= .zero + .milliseconds(Int64(end * 1_000)) {
            let seconds = Double((due - .zero).wholeMilliseconds) / 1_000
            for output in keeper.advance(to: due, random: { 7 }) {
                done.append((seconds, output))
                guard case .send(let bytes) = output, let answer = answer(seconds, bytes) else { continue }
                done += keeper.receive(answer).map { (seconds, $0) }
            }
        }
        return done
    }

    private static func answer(_ bytes: [UInt8], from remote: SocketAddress) -> [UInt8]? {
        (try? STUNMessage(parsing: bytes)).flatMap { STUNBinding.answer(to: $0, from: remote) }
    }

    @Test func `over a connection a double CRLF asks, and who has answered once is missed ten seconds later`() {
        var keeper = Self.keeper(.tcp, "")
        var done = Self.run(&keeper, until: 100)
        #expect(done.count == 5 && done.allSatisfy { $0.1 == .send([13, 10, 13, 10]) }, "nobody said that it answers")
        #expect(keeper.receive([13, 10]) == [])
        done = Self.run(&keeper, until: 131)
        #expect(done.map { $0.1 } == [.send([13, 10, 13, 10]), .failed] && abs(done[1].0 - done[0].0 - 10) < 0.001)
        #expect(keeper.deadline == nil)
    }

    @Test func `who agreed to answer is missed from the first on`() {
        var keeper = Self.keeper(.tls, ";keep=0")
        #expect(Self.run(&keeper, until: 40).map { $0.1 } == [.send([13, 10, 13, 10]), .failed])
    }

    @Test func `answers keep it going, as often as the far end asked for`() {
        var keeper = Self.keeper(.tcp, ";keep=10")
        let done = Self.run(&keeper, until: 60) { _, _ in [13, 10] }
        #expect(done.count >= 5 && done.allSatisfy { $0.1 == .send([13, 10, 13, 10]) })
    }

    @Test func `over UDP it is an empty datagram where nothing was agreed, and a binding request where it was`() {
        var keeper = Self.keeper(.udp, ";keep")
        #expect(Self.run(&keeper, until: 45).map { $0.1 } == [.send([13, 10, 13, 10]), .send([13, 10, 13, 10])])
        keeper = Self.keeper(.udp, ";keep=20")
        let here = SocketAddress(IPAddress(v4: 0xC000_0201), port: 5060)
        let done = Self.run(&keeper, until: 100) { _, bytes in Self.answer(bytes, from: here) }
        #expect(done.count >= 4 && done.allSatisfy { if case .send(let bytes) = $0.1 { STUNBinding.begins(bytes) } else { false } })
    }

    @Test func `a binding request is sent seven times before the flow has failed`() {
        var keeper = Self.keeper(.udp, ";keep=20")
        let done = Self.run(&keeper, until: 100)
        let times = done.prefix(7).map { $0.0 - done[0].0 }
        #expect(times == [0, 0.5, 1.5, 3.5, 7.5, 15.5, 31.5])
        #expect(done.count == 8 && done[7].1 == .failed && done[7].0 - done[0].0 == 39.5)
    }

    @Test func `an address that changes means that the way is another one`() {
        var keeper = Self.keeper(.udp, ";keep=20"), port: UInt16 = 1_000
        let done = Self.run(&keeper, until: 45) { _, bytes in
            port += 1
            return Self.answer(bytes, from: SocketAddress(IPAddress("2001:db8::7")!, port: port))
        }
        #expect(done.count == 3 && done.last?.1 == .failed)
    }

    /// RFC 5626 §4.4.1: between 80 and 100 % of the interval, which the far end may ask to be shorter (RFC 6223 §4.2), not below 5 s.
    @Test(
        arguments: [
            ("", 16_000, 20_000), (";keep=0", 16_000, 20_000), (";keep", 16_000, 20_000), (";keep=10", 8_000, 10_000),
            (";keep=1", 4_000, 5_000),
            (";keep=300", 16_000, 20_000), (";keep=4294967295", 16_000, 20_000), (";keep=99999999999", 16_000, 20_000),
            (";keep=soon", 16_000, 20_000),
        ] as [(String, Int64, Int64)])
    func `the first question comes within the last fifth of the interval`(keep: String, earliest: Int64, latest: Int64) {
        var random = SeededRandom(seed: 7), waits: Set<Int64> = []
        for _ in 0..<300 {
            let keeper = FlowKeeper(.seconds(20), over: .udp, agreed: Self.via(keep), at: .zero) { random.next() }
            waits.insert(((keeper.deadline ?? .zero) - .zero).wholeMilliseconds)
        }
        #expect(waits.min()! >= earliest && waits.max()! <= latest && waits.count > 200, "\(waits.min()!) to \(waits.max()!)")
        #expect(waits.max()! > latest - (latest - earliest) / 10 && waits.min()! < earliest + (latest - earliest) / 10, "all of it is used")
    }

    @Test func `nothing is done before its time`() throws {
        var keeper = Self.keeper(.udp, ";keep=20")
        let due = try #require(keeper.deadline)
        #expect(keeper.advance(to: due + .nanoseconds(-1)) { 7 } == [] && keeper.advance(to: due) { 7 }.count == 1)
        #expect(keeper.deadline == due + .milliseconds(500) && keeper.advance(to: due + .milliseconds(499)) { 7 } == [])
    }

    @Test func `answers to others, and what is no answer, are passed over`() {
        var keeper = Self.keeper(.udp, ";keep=20")
        _ = Self.run(&keeper, until: 20)
        let here = SocketAddress(IPAddress(v4: 1), port: 1)
        for bytes in [STUNBinding.request(transaction: Array(repeating: 9, count: 12)), Array(repeating: 0, count: 40), [13, 10]] {
            #expect(keeper.receive(Self.answer(bytes, from: here) ?? bytes) == [])
        }
        #expect(Self.run(&keeper, until: 100).last?.1 == .failed)
    }
}
