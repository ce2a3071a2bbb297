import Primitives
import Testing

@testable import RTP

@Suite struct TelephoneEventTests {
    @Test func `writes and reads the payload of RFC 4733`() {
        var bytes: [UInt8] = [0, 0, 0, 0]
        let event = TelephoneEvent(event: 11, isEnd: true, volume: 7, duration: 0x0320)
        bytes.withUnsafeMutableBytes { event.write(to: $0) }
        #expect(bytes == [11, 0x87, 0x03, 0x20])
        #expect(bytes.withUnsafeBytes { TelephoneEvent(parsing: $0) } == event)
        #expect([UInt8](bytes.prefix(3)).withUnsafeBytes { TelephoneEvent(parsing: $0) } == nil)
    }

    @Test func `keys have the events of RFC 4733`() {
        #expect("0123456789*#ABCD".map { DTMFDigit($0)?.event } == (0..<16).map(Optional.init))
        #expect(DTMFDigit("d")?.description == "D")
        #expect(["E", "ß", " ", "٣"].allSatisfy { DTMFDigit($0) == nil })
        #expect(DTMFDigit(event: 16) == nil)
    }

    // MARK: Receiving

    /// One packet: key, timestamp, duration, end, and when it comes.
    struct Step: Sendable {
        var key: UInt8
        var timestamp: UInt32
        var duration: UInt16
        var isEnd = false
        var at: Int
        var ssrc: UInt32 = 1
    }

    struct Row: CustomStringConvertible, Sendable {
        var description: String
        var steps: [Step]
        /// `+5` begins, `-5 100` ends after 100 ms.
        var keys: [String]
    }

    static let rows: [Row] = [
        Row(
            description: "a whole press, its end three times",
            steps: [
                Step(key: 5, timestamp: 100, duration: 160, at: 0), Step(key: 5, timestamp: 100, duration: 320, at: 20),
                Step(key: 5, timestamp: 100, duration: 800, isEnd: true, at: 40),
                Step(key: 5, timestamp: 100, duration: 800, isEnd: true, at: 60),
                Step(key: 5, timestamp: 100, duration: 800, isEnd: true, at: 80),
            ], keys: ["+5", "-5 100"]),
        Row(
            description: "only an end packet", steps: [Step(key: 11, timestamp: 9, duration: 800, isEnd: true, at: 0)],
            keys: ["+#", "-# 100"]),
        Row(
            description: "the same key twice, every end lost",
            steps: [Step(key: 1, timestamp: 0, duration: 400, at: 0), Step(key: 1, timestamp: 2_000, duration: 800, at: 250)],
            keys: ["+1", "-1 50", "+1", "-1 100"]),
        Row(
            description: "a late packet of the press before",
            steps: [
                Step(key: 1, timestamp: 0, duration: 400, isEnd: true, at: 0), Step(key: 2, timestamp: 2_000, duration: 160, at: 250),
                Step(key: 1, timestamp: 0, duration: 400, isEnd: true, at: 260),
                Step(key: 2, timestamp: 2_000, duration: 800, isEnd: true, at: 280),
            ], keys: ["+1", "-1 50", "+2", "-2 100"]),
        Row(
            description: "news after the press timed out",
            steps: [Step(key: 1, timestamp: 0, duration: 400, at: 0), Step(key: 1, timestamp: 0, duration: 800, isEnd: true, at: 900)],
            keys: ["+1", "-1 50"]),
        Row(
            description: "packets out of order",
            steps: [Step(key: 1, timestamp: 0, duration: 800, at: 0), Step(key: 1, timestamp: 0, duration: 400, at: 5)],
            keys: ["+1", "-1 100"]),
        Row(
            description: "a long press in two segments",
            steps: [
                Step(key: 3, timestamp: 7, duration: .max, at: 0), Step(key: 3, timestamp: 7 + 65_535, duration: 160, at: 20),
                Step(key: 3, timestamp: 7 + 65_535, duration: 8_000, isEnd: true, at: 40),
            ], keys: ["+3", "-3 9191"]),
        Row(
            description: "timestamps that wrap",
            steps: [
                Step(key: 1, timestamp: .max - 10, duration: 800, isEnd: true, at: 0),
                Step(key: 2, timestamp: 1_000, duration: 800, isEnd: true, at: 200),
            ],
            keys: ["+1", "-1 100", "+2", "-2 100"]),
        Row(
            description: "another source with smaller timestamps",
            steps: [
                Step(key: 1, timestamp: 5_000, duration: 800, at: 0),
                Step(key: 2, timestamp: 9, duration: 800, isEnd: true, at: 20, ssrc: 2),
            ],
            keys: ["+1", "-1 100", "+2", "-2 100"]),
        Row(
            description: "the same source with a new base, later",
            steps: [
                Step(key: 1, timestamp: 90_000, duration: 800, isEnd: true, at: 0),
                Step(key: 2, timestamp: 9, duration: 800, isEnd: true, at: 3_000),
            ],
            keys: ["+1", "-1 100", "+2", "-2 100"]),
        Row(description: "a flash is no key", steps: [Step(key: 16, timestamp: 0, duration: 800, isEnd: true, at: 0)], keys: []),
    ]

    @Test(arguments: rows)
    func `makes key presses of packets`(row: Row) {
        var receiver = TelephoneEventReceiver(clockRate: 8_000)
        var outputs: [TelephoneEventReceiver.Output] = []
        for step in row.steps {
            while let due = receiver.deadline, due <= milliseconds(step.at) { outputs += receiver.advance(to: due) }
            outputs += receiver.receive(step)
        }
        if let due = receiver.deadline {
            #expect(receiver.advance(to: due + .nanoseconds(-1)).isEmpty)
            outputs += receiver.advance(to: due)
        }
        #expect(receiver.deadline == nil)
        #expect(outputs.map(\.text) == row.keys)
    }

    @Test func `a stop ends the key that is down`() {
        var receiver = TelephoneEventReceiver(clockRate: 48_000)
        #expect(receiver.receive(Step(key: 1, timestamp: 0, duration: 4_800, at: 0)).map(\.text) == ["+1"])
        #expect(receiver.stop().map(\.text) == ["-1 100"])
        #expect(receiver.stop().isEmpty)
    }

    // MARK: Sending

    @Test func `sends the marker first, grows, and ends three times`() throws {
        var sender = TelephoneEventSender(clockRate: 8_000, press: .milliseconds(80), pause: .milliseconds(60))
        for key in "78" { _ = sender.enqueue(try #require(DTMFDigit(key)), at: .zero) }
        var sent: [String] = []
        while let due = sender.deadline {
            while let packet = sender.advance(to: due) {
                sent.append(
                    "\(due.nanoseconds / 1_000_000) \(packet.event.event) \(packet.event.duration)\(packet.begins ? " M" : "")\(packet.event.isEnd ? " E" : "")"
                )
            }
        }
        #expect(
            sent == [
                "0 7 160 M", "20 7 320", "40 7 480", "60 7 640 E", "80 7 640 E", "100 7 640 E", "160 8 160 M", "180 8 320", "200 8 480",
                "220 8 640 E",
                "240 8 640 E", "260 8 640 E",
            ])
        #expect(sender.isIdle)
    }

    @Test(arguments: [(1, 2), (3, 3), (7, 7), (300, 250)])
    func `a key that is held is as long as it is held, and ends by itself in the end`(released: Int, packets: Int) throws {
        var sender = TelephoneEventSender(clockRate: 8_000), durations: [UInt32] = [], ends = 0
        #expect(sender.press(try #require(DTMFDigit("4")), at: .zero))
        for packet in 0..<400 {
            if packet == released { sender.release() }
            guard let sent = sender.advance(to: milliseconds(20 * packet)) else { continue }
            #expect(sent.begins == (packet == 0))
            durations.append(sent.segment + UInt32(sent.event.duration))
            ends += sent.event.isEnd ? 1 : 0
        }
        #expect(ends == 3 && durations.last == UInt32(160 * packets))
    }

    @Test func `a long press goes on in segments, of which each is full`() throws {
        var sender = TelephoneEventSender(clockRate: 48_000), sent: [TelephoneEventSender.Packet] = []
        _ = sender.press(try #require(DTMFDigit("4")), at: .zero)
        for packet in 0..<160 {
            if packet == 150 { sender.release() }
            while let packet = sender.advance(to: milliseconds(20 * packet)) { sent.append(packet) }
        }
        #expect(
            Set(sent.map(\.segment)) == [0, 65_535, 131_070] && sent.count(where: \.begins) == 1 && sent.count(where: \.event.isEnd) == 3)
        for (last, next) in zip(sent, sent.dropFirst()) where last.segment != next.segment {
            #expect(last.event.duration == .max && !last.event.isEnd && next.event.duration < .max)
        }
        #expect(sent.last.map { Int($0.segment) + Int($0.event.duration) } == 150 * 960)
        #expect(zip(sent, sent.dropFirst()).allSatisfy { $1.segment + UInt32($1.event.duration) >= $0.segment + UInt32($0.event.duration) })
    }

    @Test(arguments: [false, true])
    func `a long key is one key, also where the packets that say that a segment is full are lost`(loses: Bool) throws {
        var sender = TelephoneEventSender(clockRate: 48_000), receiver = TelephoneEventReceiver(clockRate: 48_000), heard: [String] = []
        _ = sender.press(try #require(DTMFDigit("4")), at: .zero)
        for packet in 0..<160 {
            if packet == 150 { sender.release() }
            while let sent = sender.advance(to: milliseconds(20 * packet)) {
                if loses, sent.event.duration == .max { continue }
                let step = Step(
                    key: 4, timestamp: 9 &+ sent.segment, duration: sent.event.duration, isEnd: sent.event.isEnd, at: 20 * packet)
                heard += receiver.receive(step).map(\.text)
            }
        }
        #expect(heard == ["+4", "-4 3000"])
    }

    @Test func `segments may claim any length, and no more than an hour is believed`() {
        var receiver = TelephoneEventReceiver(clockRate: 8_000), timestamp: UInt32 = 0
        for _ in 0..<300_000 {
            _ = receiver.receive(Step(key: 1, timestamp: timestamp, duration: .max, at: 0))
            timestamp &+= 65_535
        }
        #expect(receiver.stop().map(\.text) == ["-1 3600000"])
    }

    @Test func `sound from behind a key says that it is over, sound beside it does not`() {
        var receiver = TelephoneEventReceiver(clockRate: 8_000)
        func isOver(_ timestamp: UInt32, ssrc: UInt32 = 1) -> Bool {
            receiver.isOver(at: RTPHeader(payloadType: 0, sequence: SequenceNumber(0), timestamp: timestamp, ssrc: ssrc))
        }
        #expect(!isOver(90_000))
        _ = receiver.receive(Step(key: 1, timestamp: 5_000, duration: 400, at: 0))
        #expect(
            !isOver(4_000) && !isOver(5_000) && !isOver(5_400) && !isOver(5_879) && isOver(5_880) && isOver(9_000)
                && !isOver(9_000, ssrc: 2))
        _ = receiver.stop()
        #expect(!isOver(9_000))
    }

    @Test func `holds a bounded number of digits, and none after a stop`() throws {
        var sender = TelephoneEventSender(clockRate: 8_000)
        let key = try #require(DTMFDigit("1"))
        #expect((0..<100).filter { _ in sender.enqueue(key, at: .zero) }.count == TelephoneEventSender.capacity)
        _ = sender.advance(to: .zero)
        #expect(sender.isPressing)
        sender.stop()
        #expect(sender.isIdle && sender.deadline == nil)
        #expect(sender.advance(to: milliseconds(1_000)) == nil)
    }

    @Test func `a late timer sends one packet, not all that it missed`() throws {
        var sender = TelephoneEventSender(clockRate: 8_000)
        _ = sender.enqueue(try #require(DTMFDigit("1")), at: .zero)
        #expect(sender.advance(to: .zero) != nil)
        #expect(sender.advance(to: milliseconds(500)) != nil)
        #expect(sender.advance(to: milliseconds(500)) == nil)
        #expect(sender.deadline == milliseconds(520))
    }

    /// Half of all packets lost, some out of order; a press is lost only when all its packets are.
    @Test(arguments: UInt64(0)..<25, [UInt32(8_000), 48_000])
    func `what was keyed arrives over a bad link`(seed: UInt64, clockRate: UInt32) throws {
        var random = SeededRandom(seed: seed)
        let keys = (0..<20).map { _ in DTMFDigit(event: UInt8.random(in: 0..<16, using: &random))! }
        var sender = TelephoneEventSender(clockRate: clockRate)
        let refused = keys.filter { !sender.enqueue($0, at: .zero) }
        #expect(refused.isEmpty)
        var stream = RTPRewriter(clockRate: clockRate, using: &random)
        var receiver = TelephoneEventReceiver(clockRate: clockRate)
        var (timestamp, survivors, presses) = (UInt32(0), Set<Int>(), 0)
        var flight: [(payload: [UInt8], header: RTPHeader, due: Instant)] = []
        while let due = sender.deadline {
            while let packet = sender.advance(to: due) {
                if packet.begins {
                    timestamp = stream.beginEvent(at: due)
                    presses += 1
                }
                let header = stream.originateEvent(payloadType: 101, timestamp: timestamp, marker: packet.begins, at: due)
                guard Bool.random(using: &random) else { continue }
                survivors.insert(presses - 1)
                var payload = [UInt8](repeating: 0, count: 4)
                payload.withUnsafeMutableBytes { packet.event.write(to: $0) }
                flight.append((payload, header, due + .milliseconds(Int64.random(in: 0...45, using: &random))))
            }
        }
        var received: [DTMFDigit] = []
        for packet in flight.sorted(by: { $0.due < $1.due }) {
            for output in packet.payload.withUnsafeBytes({ receiver.receive($0, header: packet.header, at: packet.due) }) {
                if case .began(let digit) = output { received.append(digit) }
            }
        }
        #expect(received == keys.indices.filter(survivors.contains).map { keys[$0] })
    }
}

extension TelephoneEventReceiver {
    fileprivate mutating func receive(_ step: TelephoneEventTests.Step) -> [Output] {
        var payload = [UInt8](repeating: 0, count: 4)
        payload.withUnsafeMutableBytes { TelephoneEvent(event: step.key, isEnd: step.isEnd, duration: step.duration).write(to: $0) }
        let header = RTPHeader(payloadType: 101, sequence: SequenceNumber(0), timestamp: step.timestamp, ssrc: step.ssrc)
        return payload.withUnsafeBytes { receive($0, header: header, at: milliseconds(step.at)) }
    }
}

extension TelephoneEventReceiver.Output {
    fileprivate var text: String {
        switch self {
        case .began(let digit): "+\(digit)"
        case .ended(let digit, let duration): "-\(digit) \(duration.wholeMilliseconds)"
        }
    }
}
