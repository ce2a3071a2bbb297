import Audio
import Primitives
import RTP
import Testing

@testable import Media

@Suite struct StreamPortTests {
    private static func put(_ samples: [Int16], into port: StreamPort) { samples.withUnsafeBufferPointer { port.put($0) } }

    private static func read(_ count: Int, from port: StreamPort) -> [Int16] {
        var frame = [Int16](repeating: 99, count: count)
        frame.withUnsafeMutableBufferPointer { port.read(into: $0) }
        return frame
    }

    @Test func `samples come out in their order, and silence where there are none`() {
        let port = StreamPort(sampleRate: 8_000)
        #expect(port.room == 800 && Self.read(4, from: port) == [0, 0, 0, 0] && port.played == 0)
        Self.put([1, 2, 3, 4, 5, 6, 7, 8], into: port)
        #expect(port.room == 792)
        #expect(Self.read(4, from: port) == [1, 2, 3, 4] && Self.read(4, from: port) == [5, 6, 7, 8] && port.played == 8)
        #expect(Self.read(4, from: port) == [0, 0, 0, 0] && port.underruns.count == 0)
    }

    @Test func `less than a frame waits for the rest for one frame, and no longer`() {
        let port = StreamPort(sampleRate: 8_000)
        Self.put([1, 2], into: port)
        #expect(Self.read(4, from: port) == [0, 0, 0, 0])
        Self.put([3, 4, 5], into: port)
        #expect(Self.read(4, from: port) == [1, 2, 3, 4])
        #expect(Self.read(4, from: port) == [0, 0, 0, 0] && Self.read(4, from: port) == [5, 0, 0, 0] && port.played == 5)
    }

    @Test func `what was put in is forgotten with the next frame, and what follows is played`() {
        let port = StreamPort(sampleRate: 8_000)
        Self.put([Int16](repeating: 7, count: 400), into: port)
        #expect(Self.read(4, from: port) == [7, 7, 7, 7])
        port.forget()
        Self.put([1, 2, 3, 4], into: port)
        #expect(Self.read(4, from: port) == [1, 2, 3, 4] && port.played == 404 && port.room == 800)
    }

    @Test func `a short pause within the sound is an under-run, and a long one, one behind clear, or a hold is none`() {
        let port = StreamPort(sampleRate: 8_000), frame = [Int16](repeating: 7, count: 160)
        func play(pausing frames: Int) {
            for _ in 0..<frames { _ = Self.read(160, from: port) }
            Self.put(frame, into: port)
            _ = Self.read(160, from: port)
        }
        play(pausing: 3)
        #expect(port.underruns == (0, 0), "nothing was said before")
        play(pausing: 2)
        #expect(port.underruns == (1, 320))
        play(pausing: 26)
        #expect(port.underruns == (1, 320))
        play(pausing: 25)
        #expect(port.underruns == (2, 320 + 4_000))
        Self.put(frame, into: port)
        port.forget()
        play(pausing: 2)
        #expect(port.underruns.count == 2)
        port.interrupt()
        play(pausing: 2)
        #expect(port.underruns.count == 2, "the call was held")
        play(pausing: 2)
        #expect(port.underruns.count == 3)
    }

    @Test func `a pause plays silence, and loses nothing`() {
        let port = StreamPort(sampleRate: 8_000)
        Self.put([1, 2, 3, 4], into: port)
        port.pause(true)
        #expect(Self.read(4, from: port) == [0, 0, 0, 0])
        port.pause(false)
        #expect(Self.read(4, from: port) == [1, 2, 3, 4])
    }

    // MARK: The ear

    private static let start = Instant(nanoseconds: 1_000_000_000)

    private static func note(_ number: Int, _ sample: Int16, in port: StreamPort, at milliseconds: Int64) {
        let header = RTPHeader(
            payloadType: 0, sequence: SequenceNumber(UInt16(number)), timestamp: UInt32(160 * number), ssrc: 1, payloadCount: 160)
        let packet = TappedPacket(isSent: false, .audio(.pcmu), header, at: start + .milliseconds(milliseconds))
        [UInt8](repeating: G711.encodeMu(sample), count: 160).withUnsafeBytes { port.heard.note(packet, $0) }
    }

    private static func hear(_ ear: StreamEar, at milliseconds: Int64) -> [Int16] {
        var heard: [Int16] = []
        ear.read(at: start + .milliseconds(milliseconds)) { piece in for index in piece.indices { heard.append(piece[index]) } }
        return heard
    }

    @Test func `a packet is heard at once, a lost one is filled, and a late one is left out`() {
        let port = StreamPort(sampleRate: 8_000), ear = StreamEar(port.heard, sampleRate: 8_000, at: Self.start)
        let loud = G711.decodeMu(G711.encodeMu(8_000))
        Self.note(1, 8_000, in: port, at: 20)
        #expect(Self.hear(ear, at: 21) == [Int16](repeating: loud, count: 160))
        Self.note(3, 8_000, in: port, at: 60)
        Self.note(2, 8_000, in: port, at: 61)
        let both = Self.hear(ear, at: 62)
        #expect(both.count == 320 && both.suffix(40).allSatisfy { $0 == loud }, "the beginning is blended with what was made up")
    }

    @Test func `silence is given out in real time while nothing comes, and not again when the sound goes on`() {
        let port = StreamPort(sampleRate: 8_000), ear = StreamEar(port.heard, sampleRate: 8_000, at: Self.start)
        Self.note(1, 8_000, in: port, at: 0)
        #expect(Self.hear(ear, at: 70).count == 160)
        #expect(Self.hear(ear, at: 1_000).count == 160 * 47)
        Self.note(51, 8_000, in: port, at: 1_000)
        let rest = Self.hear(ear, at: 1_001)
        #expect(rest.count == 160 * 3, "two that were still due, and the new one: \(rest.count)")
    }

    @Test func `nothing of a hold is heard after it`() {
        let port = StreamPort(sampleRate: 8_000), ear = StreamEar(port.heard, sampleRate: 8_000, at: Self.start)
        Self.note(1, 8_000, in: port, at: 0)
        ear.rest(until: Self.start + .milliseconds(500))
        #expect(Self.hear(ear, at: 520).isEmpty)
        Self.note(30, 8_000, in: port, at: 530)
        #expect(Self.hear(ear, at: 531).count == 160)
    }
}
