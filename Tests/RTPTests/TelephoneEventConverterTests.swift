import Primitives
import RTP
import Testing

@Suite struct TelephoneEventConverterTests {
    private func packet(_ timestamp: UInt32, _ duration: UInt16, end: Bool = false, event: UInt8 = 3, ssrc: UInt32 = 1) -> (
        payload: [UInt8], header: RTPHeader
    ) {
        var bytes: [UInt8] = [0, 0, 0, 0]
        bytes.withUnsafeMutableBytes { TelephoneEvent(event: event, isEnd: end, duration: duration).write(to: $0) }
        return (bytes, RTPHeader(payloadType: 101, sequence: SequenceNumber(0), timestamp: timestamp, ssrc: ssrc))
    }

    private func convert(_ converter: inout TelephoneEventConverter, _ packet: (payload: [UInt8], header: RTPHeader))
        -> [TelephoneEventConverter.Packet]
    {
        var made: [TelephoneEventConverter.Packet] = []
        packet.payload.withUnsafeBytes { converter.convert($0, header: packet.header) { made.append($0) } }
        return made
    }

    @Test(arguments: [(UInt32(48_000), UInt32(8_000)), (8_000, 48_000), (8_000, 8_000)])
    func `a press keeps its length in time`(from: UInt32, to: UInt32) {
        var converter = TelephoneEventConverter(from: from, to: to)
        let first = convert(&converter, packet(1_000, UInt16(from / 50))).first,
            last = convert(&converter, packet(1_000, UInt16(from / 10), end: true)).first
        #expect(first?.begins == true && first?.event.duration == UInt16(to / 50))
        #expect(last?.begins == false && last?.event.duration == UInt16(to / 10) && last?.event.isEnd == true && !converter.isPressing)
        #expect(convert(&converter, packet(1_000, UInt16(from / 10), end: true)).first?.begins == false, "the second end is no new press")
        #expect(convert(&converter, packet(1_000 &+ from, UInt16(from / 50))).first?.begins == true)
    }

    @Test func `ten seconds at 48 kHz are eight segments there and two at 8 kHz`() {
        var converter = TelephoneEventConverter(from: 48_000, to: 8_000)
        var timestamp: UInt32 = .max - 100, left = 480_000, made: [TelephoneEventConverter.Packet] = []
        while left > 0 {
            let duration = UInt16(min(left, 65_535))
            for ticks in stride(from: 960, through: Int(duration), by: 960) {
                made += convert(&converter, packet(timestamp, UInt16(ticks)))
            }
            left -= Int(duration)
            made += convert(&converter, packet(timestamp, duration, end: left == 0))
            timestamp &+= 65_535
        }
        #expect(made.count(where: \.begins) == 1)
        #expect(Set(made.map(\.segment)) == [0, 65_535])
        let last = made[made.count - 1]
        #expect(Int(last.segment) + Int(last.event.duration) == 80_000 && last.event.isEnd)
        let ends = made.map { Int($0.segment) + Int($0.event.duration) }
        #expect(zip(ends, ends.dropFirst()).allSatisfy { $0 <= $1 })
    }

    @Test(arguments: [(UInt32(8_000), false), (48_000, false), (48_000, true)])
    func `each segment that leaves ends with a full packet, also where that was lost on its way here`(from: UInt32, loses: Bool) {
        var converter = TelephoneEventConverter(from: from, to: 48_000), made: [TelephoneEventConverter.Packet] = []
        for step in 1...150 {
            let ticks = UInt32(step) * from / 50, segment = (ticks - 1) / 65_535 * 65_535,
                before = (UInt32(step - 1) * from / 50).subtractingReportingOverflow(1).partialValue
            if !loses, step > 1, before / 65_535 * 65_535 < segment { made += convert(&converter, packet(segment - 65_535, .max)) }
            made += convert(&converter, packet(segment, UInt16(ticks - segment), end: step == 150))
        }
        #expect(made.count(where: \.begins) == 1 && made.count(where: \.event.isEnd) == 1)
        #expect(Set(made.map(\.segment)) == [0, 65_535, 131_070])
        for (last, next) in zip(made, made.dropFirst()) where last.segment != next.segment {
            #expect(last.event.duration == .max && !last.event.isEnd)
        }
    }

    @Test func `another key exactly one segment later is a press of its own`() {
        var converter = TelephoneEventConverter(from: 48_000, to: 8_000)
        _ = convert(&converter, packet(1_000, 960))
        #expect(convert(&converter, packet(66_535, 960, event: 4)).first?.begins == true)
    }

    @Test func `a late packet of an earlier press and what is no event go nowhere`() {
        var converter = TelephoneEventConverter(from: 8_000, to: 48_000)
        _ = convert(&converter, packet(1_000, 160))
        _ = convert(&converter, packet(3_000, 160))
        #expect(convert(&converter, packet(1_000, 320)).isEmpty)
        #expect(convert(&converter, ([1, 2, 3], packet(0, 0).header)).isEmpty)
        #expect(convert(&converter, packet(1_000, 160, ssrc: 2)).first?.begins == true)
    }
}
