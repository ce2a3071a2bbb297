import Primitives
import RTP
import Testing

/// A sender of 20 ms packets at 8 kHz, a network between, and a player that asks every 20 ms.
private struct Line {
    var buffer = JitterBuffer(clockRate: 8_000)
    var random = SeededRandom(seed: 7)
    var now = Instant.zero + .seconds(100)
    /// What has left and not arrived, by arrival.
    private var flying: [(at: Instant, header: RTPHeader)] = []
    private var sent = 0
    private var buffered = 0
    var sequence: UInt16 = 65_500, timestamp: UInt32 = .max - 800
    /// Ten-thousandths of a clock that runs too fast.
    var drift = 0.0
    var ssrc: UInt32 = 1
    /// What was played, in order: sequence numbers, nil for what was made up.
    var played: [UInt32?] = []
    var gaps = 0, nothing = 0
    private(set) var lossesInjected = 0, packetsSent = 0

    /// Milliseconds that every packet is on its way.
    var delay = 0

    /// Milliseconds. While the network is `stalled` all waits in it, and comes at once at the end.
    mutating func run(
        _ milliseconds: Int, loss: Double = 0, burst: Int = 1, jitter: Int = 0, duplicates: Double = 0, silent: Bool = false,
        stalled: Bool = false
    ) {
        var bursting = 0
        for step in 0..<milliseconds {
            if step % 20 == 0, !silent {
                packetsSent += 1
                if bursting == 0, Double.random(in: 0..<1, using: &random) < loss / Double(burst) { bursting = burst }
                if bursting > 0 {
                    (bursting, lossesInjected) = (bursting - 1, lossesInjected + 1)
                } else {
                    send(delay: delay + (stalled ? milliseconds - step : jitter == 0 ? 0 : Int.random(in: 0...jitter, using: &random)))
                    if Double.random(in: 0..<1, using: &random) < duplicates { send(delay: 1) }
                }
                (sequence, timestamp) = (sequence &+ 1, timestamp &+ 160)
            } else if step % 20 == 0 {
                timestamp &+= 160
            }
            arrive()
            if step % 20 == 13 { play() }
            now += .nanoseconds(Int64(1_000_000 * (1 + drift)))
        }
    }

    private mutating func send(delay: Int) {
        let header = RTPHeader(payloadType: 0, sequence: SequenceNumber(sequence), timestamp: timestamp, ssrc: ssrc)
        flying.append((now + .milliseconds(Int64(delay)), header))
    }

    private mutating func arrive() {
        for packet in flying.filter({ $0.at <= now }).sorted(by: { $0.at < $1.at }) {
            let payload = [UInt8](repeating: UInt8(truncatingIfNeeded: packet.header.sequence.rawValue), count: 160)
            _ = payload.withUnsafeBytes { buffer.insert(packet.header, $0, ticks: 160, at: packet.at) }
        }
        flying.removeAll { $0.at <= now }
    }

    /// What a player does that hears a pause in one packet of ten, and then 5 ms at a time.
    private func change(_ stretch: JitterBuffer.Stretch) -> Int {
        switch stretch {
        case .longer(let atOnce): atOnce || sequence % 10 == 0 ? 40 : 0
        case .shorter(let atOnce): atOnce || sequence % 10 == 0 ? -40 : 0
        case .none: 0
        }
    }

    /// Takes 20 ms.
    private mutating func play() {
        while buffered < 160 {
            switch buffer.next(buffered: buffered, at: now) {
            case .audio(let payload, let stretch):
                let first = buffer.read(payload) { $0[0] }
                played.append(UInt32(first))
                buffered += 160 + change(stretch)
            case .lost(let ticks, _):
                played.append(nil)
                buffered += ticks
            case .gap:
                gaps += 1
                buffered = 160
            case .nothing:
                nothing += 1
                buffered = 160
            }
        }
        buffered -= 160
    }
}

@Suite struct JitterBufferTests {
    @Test func `a clean stream is played whole and in order, across the wrap of its numbers, and waits 20 to 40 ms`() {
        var line = Line()
        line.run(60_000)
        #expect(line.buffer.counters.lost == 0 && line.buffer.counters.late == 0 && line.buffer.counters.underruns == 0)
        #expect(line.buffer.counters.restarts == 0 && line.buffer.counters.gaps == 0)
        let numbers = line.played.compactMap { $0 }
        #expect(numbers.count >= 2_995 && line.played.count == numbers.count)
        #expect(zip(numbers, numbers.dropFirst()).allSatisfy { UInt8($0) &+ 1 == UInt8($1) })
        #expect(line.buffer.wait <= 8 * 40)
    }

    @Test(arguments: [0.0, 0.01, 0.05, 0.1, 0.2], [0, 30, 100])
    func `the loss that is counted is the loss there was`(loss: Double, jitter: Int) {
        var line = Line()
        line.run(100_000, loss: loss, jitter: jitter)
        let injected = Double(line.lossesInjected) / Double(line.packetsSent)
        let counted = Double(line.buffer.counters.lost) / Double(line.packetsSent)
        #expect(abs(counted - injected) < 0.005, "\(line.buffer.counters)")
        // What the buffer itself threw away comes on top: with 100 ms of jitter at most two in a hundred.
        let heard = Double(line.buffer.counters.played) / Double(line.packetsSent)
        #expect(heard > 1 - injected - (jitter == 0 ? 0.002 : 0.02), "\(line.buffer.counters)")
        #expect(line.buffer.wait <= 8 * 200)
        if jitter > 30 { #expect(line.buffer.counters.reordered > 500) }
    }

    @Test func `losses in bursts are counted one by one`() {
        var line = Line()
        line.run(100_000, loss: 0.1, burst: 5)
        #expect(abs(Int(line.buffer.counters.lost) - line.lossesInjected) < 60, "\(line.buffer.counters) of \(line.lossesInjected)")
    }

    @Test func `the wait grows with the network's jitter and falls again`() {
        var line = Line()
        line.run(20_000)
        let calm = line.buffer.wait
        line.run(20_000, jitter: 80)
        let rough = line.buffer.wait
        line.run(90_000)
        #expect(calm <= 8 * 40 && rough >= 8 * 60 && rough <= 8 * 120)
        #expect(line.buffer.wait <= calm)
    }

    @Test func `silence that the sender leaves out is a gap and no loss`() {
        var line = Line()
        for _ in 0..<20 {
            line.run(600)
            line.run(900, silent: true)
        }
        #expect(line.buffer.counters.lost == 0 && line.buffer.counters.restarts == 0, "\(line.buffer.counters)")
        #expect(line.buffer.counters.gaps == 19)
        #expect(line.buffer.counters.underruns <= 1, "the last silence may still be one")
    }

    @Test func `a packet that comes twice is played once`() {
        var line = Line()
        line.run(10_000, duplicates: 0.3)
        #expect(line.buffer.counters.duplicate > 100)
        #expect(line.buffer.counters.lost == 0 && line.played.count <= 500)
    }

    @Test(arguments: [-0.0003, 0.0003])
    func `a clock that drifts neither piles sound up nor runs dry`(drift: Double) {
        var line = Line()
        line.drift = drift
        line.run(300_000, jitter: 10)
        #expect(line.buffer.counters.lost == 0 && line.buffer.counters.overflowed == 0, "\(line.buffer.counters)")
        #expect(line.buffer.counters.underruns < 10, "\(line.buffer.counters)")
    }

    @Test func `another source, a jump of the timestamps and a jump of the sequence are new beginnings`() {
        var line = Line()
        line.run(1_000)
        line.ssrc = 2
        line.run(1_000)
        #expect(line.buffer.counters.restarts == 1)
        line.timestamp &+= 8_000_000
        line.run(1_000)
        #expect(line.buffer.counters.restarts == 2)
        line.sequence &+= 20_000
        line.run(1_000)
        #expect(line.buffer.counters.restarts == 3)
        #expect(line.buffer.counters.strayed == 1)
        #expect(line.buffer.counters.played > 190, "\(line.buffer.counters)")
    }

    @Test func `a stop of the network is followed by what comes then, and not by a backlog`() {
        var line = Line()
        line.run(5_000)
        line.run(3_000, loss: 1)
        let before = line.played.count
        line.run(2_000)
        #expect(line.buffer.counters.lost == 150, "\(line.buffer.counters)")
        #expect(line.played.count - before < 110, "the 150 lost ones are not made up for afterwards")
    }

    @Test(arguments: [250, 350, 400, 600, 900], [0, 60])
    func `when the way grows longer for good, sound goes on within the greatest wait`(longer: Int, jitter: Int) {
        var line = Line()
        line.run(8_000, jitter: jitter)
        let before = line.buffer.counters
        line.delay = longer
        line.run(3_000, jitter: jitter)
        let heard = Int(line.buffer.counters.played - before.played)
        #expect(heard >= (3_000 - longer - 200) / 20 - 2, "\(heard) of 150, \(line.buffer.counters)")
        #expect(line.buffer.counters.restarts == 0)
        line.delay = 0
        line.run(3_000, jitter: jitter)
        #expect(line.buffer.wait <= 8 * 200)
        let late = line.buffer.counters.late
        line.run(3_000, jitter: jitter)
        #expect(line.buffer.counters.late == late && line.buffer.counters.overflowed <= 60, "\(line.buffer.counters)")
    }

    @Test(arguments: [300, 500, 700, 900], [0, 60])
    func `what a stall of the network brings all at once makes the way no longer`(stall: Int, jitter: Int) {
        var line = Line()
        line.run(8_000, jitter: jitter)
        let before = line.buffer.counters
        line.run(stall, stalled: true)
        line.run(2_000, jitter: jitter)
        let heard = Int(line.buffer.counters.played - before.played)
        #expect(heard >= 105, "\(heard), \(line.buffer.counters)")
        #expect(
            line.buffer.counters.overflowed <= max(0, stall / 20 - 20) + 1, "what is up to 400 ms late is heard: \(line.buffer.counters)")
        #expect(line.buffer.counters.restarts == 0)
    }

    @Test(arguments: [100, 200, 300, 400, 500])
    func `a network that brings all in bursts is heard as well as can be`(every: Int) {
        var line = Line()
        line.run(8_000)
        let before = line.buffer.counters
        for _ in 0..<10_000 / every { line.run(every, stalled: true) }
        let heard = Int(line.buffer.counters.played - before.played)
        #expect(heard >= (every <= 400 ? 475 : 380), "\(heard), \(line.buffer.counters)")
    }

    @Test func `noise of sequence, timestamp and size neither traps nor grows`() {
        var random = SeededRandom(seed: 3)
        var buffer = JitterBuffer(clockRate: 48_000), now = Instant.zero
        var bytes = [UInt8](repeating: 1, count: 2_000)
        for _ in 0..<50_000 {
            let header = RTPHeader(
                payloadType: 0, sequence: SequenceNumber(.random(in: 0 ... .max, using: &random)),
                timestamp: .random(in: 0 ... .max, using: &random),
                ssrc: .random(in: 0...1, using: &random))
            let count = Int.random(in: 0...2_000, using: &random)
            bytes[0] = UInt8(truncatingIfNeeded: count)
            _ = bytes.withUnsafeBytes {
                buffer.insert(
                    header, UnsafeRawBufferPointer(rebasing: $0[..<count]), ticks: .random(in: 0...5_760, using: &random), at: now)
            }
            now += .milliseconds(.random(in: 0...50, using: &random))
            for _ in 0..<3 {
                if case .audio(let payload, _) = buffer.next(buffered: 0, at: now) { buffer.read(payload) { #expect($0.count <= 2_000) } }
            }
        }
        #expect(buffer.wait <= 48 * 200)
    }
}
