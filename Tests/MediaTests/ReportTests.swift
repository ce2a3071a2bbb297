import Media
import Primitives
import RTP
import SDP
import Testing

/// Where reports go and come from, and what they say of a leg that is held.
@Suite struct ReportTests {
    private let bench = Bench()
    private var far = FarEnd("198.51.100.1", port: 4_000, ssrc: 0xFA2)
    private let control = SocketAddress("198.51.100.1:4001")!

    private func report(_ ssrc: UInt32) -> [UInt8] {
        var session = RTCPSession(ssrc: ssrc, cname: "far", clockRate: 8_000, seed: 1, at: .zero)
        return session.advance(to: session.deadline) ?? []
    }

    private func reports(to address: SocketAddress) -> Int { bench.network.take(to: address).count { !isRTP($0) } }

    /// RFC 5761 §5.1.1: without its consent no RTCP comes to a port of RTP.
    @Test mutating func `where sharing the port of RTP ends, reports go to the port of RTCP`() throws {
        let leg = try bench.open(1, port: 20_000, far: far.address, source: .silence)
        try bench.start(leg)
        bench.arrive(far.packet(0), from: far.address, at: 20_000)
        bench.pass(.seconds(10))
        #expect(reports(to: far.address) >= 1)
        let control = control
        try bench.update(leg) { ($0.audio.rtcpMux, $0.audio.remoteRTCP) = (false, control) }
        bench.arrive(far.packet(0), from: far.address, at: 20_000)
        bench.pass(.seconds(20))
        #expect(reports(to: far.address) == 0 && reports(to: control) >= 2)
        try bench.update(leg) { $0.audio.remoteRTCP = nil }
        bench.pass(.seconds(20))
        try bench.engine.stop(leg, ending: true, at: bench.now)
        #expect(bench.network.sent.isEmpty)
    }

    /// As with RTP: whoever was first is heard, and where signalling said may still take over.
    @Test mutating func `the signalled address of RTCP takes over from one that was faster`() throws {
        let leg = try bench.open(1, port: 20_000, far: far.address, source: .silence, mux: false)
        try bench.start(leg)
        bench.arrive(far.packet(0), from: far.address, at: 20_000)
        let other = SocketAddress("198.51.100.1:4005")!
        bench.arrive(report(5), from: other, at: 20_001)
        bench.arrive(report(6), from: control, at: 20_001)
        bench.arrive(report(5), from: other, at: 20_001)
        bench.pass(.seconds(10))
        #expect(reports(to: control) >= 1 && reports(to: other) == 0)
        #expect(try bench.statistics(leg).refused.stranger == 1)
    }

    private enum Hold: CaseIterable { case stopped, inactive }

    @Test(arguments: Hold.allCases) private mutating func `what comes while a leg is held is not lost, and not heard`(hold: Hold) throws {
        let leg = try bench.open(1, port: 20_000, far: far.address, source: .silence)
        let stranger = SocketAddress("203.0.113.9:9999")!
        bench.arrive(far.packet(0), from: far.address, at: 20_000)
        try bench.start(leg)
        for _ in 0..<10 { bench.arrive(far.packet(0), from: far.address, at: 20_000) }
        switch hold {
        case .stopped: try bench.engine.stop(leg, at: bench.now)
        case .inactive: try bench.update(leg) { $0.audio.receives = false }
        }
        for number in 0..<50 { bench.arrive(far.packet(0), from: number == 9 ? stranger : far.address, at: 20_000) }
        #expect(try bench.statistics(leg).receiving.packets == 10)
        switch hold {
        case .stopped: try bench.start(leg)
        case .inactive: try bench.update(leg) { $0.audio.receives = true }
        }
        for _ in 0..<10 { bench.arrive(far.packet(0), from: far.address, at: 20_000) }
        let statistics = try bench.statistics(leg)
        #expect(statistics.receiving.packets == 20 && statistics.receiving.lost == 1, "the one of the stranger never came")
        #expect(statistics.refused.notStarted == 50)
        bench.pass(.seconds(10))
        let reports = bench.network.take(to: far.address).filter { !isRTP($0) }
        let packets = try #require(try reports.last?.withUnsafeBytes { try RTCPPacket.parse($0) })
        #expect(packets.contains { if case .receiverReport(_, let blocks) = $0 { blocks.first?.cumulativeLost == 1 } else { false } })
    }
}
