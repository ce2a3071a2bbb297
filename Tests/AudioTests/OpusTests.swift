import Audio
import Testing

@Suite struct OpusTests {
    @Test(arguments: [8_000, 16_000, 24_000, 48_000])
    func `a tone of 1 kHz arrives at its level, whatever the two rates`(rate: Int) throws {
        let packets = try FrameEncoder(.opus, sampleRate: rate).payloads(of: Signals.sine(1_000, sampleRate: rate, count: rate))
        for other in [8_000, 16_000, 48_000] {
            let samples = try FrameDecoder(.opus, sampleRate: other).samples(of: packets)
            #expect(samples.count == other)
            let heard = ToneDetector.hearing(samples, frequency: 1_000, sampleRate: other)
            #expect(heard.presence > 0.9 && heard.gaps == 0)
            #expect(abs(heard.level + 10) < 2)
        }
    }

    @Test func `a lost packet comes back from the packet after it`() throws {
        let original = Signals.speech(seed: 3, seconds: 2, sampleRate: 16_000)
        let settings = OpusSettings(bitrate: 32_000, expectedLossPercent: 25)
        let packets = try FrameEncoder(.opus, sampleRate: 16_000, opus: settings).payloads(of: original)
        let whole = try FrameDecoder(.opus, sampleRate: 16_000).samples(of: packets)
        func error(recovering: Bool) throws -> Double {
            let decoder = try FrameDecoder(.opus, sampleRate: 16_000)
            var total = 0.0
            for index in packets.indices {
                var samples = [Int16](repeating: 0, count: decoder.largestOutput), room = samples.mutableSpan
                let packet = packets[index], next = packets[min(index + 1, packets.count - 1)]
                guard index % 5 == 3 else {
                    _ = try decoder.decode(packet.span, into: &room)
                    continue
                }
                let count: Int
                if recovering {
                    count = try decoder.recover(from: next.span, into: &room)
                } else {
                    count = try decoder.conceal(into: &room)
                }
                #expect(count == 320)
                for offset in 0..<320 { total += abs(Double(samples[offset]) - Double(whole[index * 320 + offset])) }
            }
            return total
        }
        let (recovered, concealed) = (try error(recovering: true), try error(recovering: false))
        #expect(recovered < 0.7 * concealed)
    }

    @Test func `stereo keeps its two sides apart`() throws {
        var encoder = try OpusEncoder(sampleRate: 48_000, channels: 2, settings: OpusSettings(bitrate: 128_000))
        var decoder = try OpusDecoder(sampleRate: 48_000, channels: 2)
        let left = Signals.sine(500, sampleRate: 48_000, count: 48_000), right = Signals.sine(2_000, sampleRate: 48_000, count: 48_000)
        let interleaved = zip(left, right).flatMap { [$0, $1] }
        var sides: ([Int16], [Int16]) = ([], [])
        for start in stride(from: 0, to: interleaved.count, by: 1_920) {
            var packet = [UInt8](repeating: 0, count: OpusEncoder.largestPacket), out = [Int16](repeating: 0, count: 1_920)
            var room = packet.mutableSpan
            let length = try encoder.encode(interleaved.span.extracting(start..<start + 1_920), into: &room)
            var samples = out.mutableSpan
            let count = try decoder.decode(packet.span.extracting(0..<length), into: &samples)
            #expect(count == 960)
            sides.0 += stride(from: 0, to: 1_920, by: 2).map { out[$0] }
            sides.1 += stride(from: 1, to: 1_920, by: 2).map { out[$0] }
        }
        #expect(ToneDetector.hearing(sides.0, frequency: 500, sampleRate: 48_000).presence > 0.9)
        #expect(ToneDetector.hearing(sides.1, frequency: 2_000, sampleRate: 48_000).presence > 0.9)
        #expect(ToneDetector.hearing(sides.0, frequency: 2_000, sampleRate: 48_000).presence == 0)
    }

    @Test func `silence costs almost nothing when it may be left out`() throws {
        let silence = [Int16](repeating: 0, count: 16_000)
        let sparse = try FrameEncoder(.opus, sampleRate: 16_000, opus: OpusSettings(discontinuous: true)).payloads(of: silence)
        #expect(sparse.filter { $0.count <= 2 }.count > sparse.count / 2)
    }

    @Test(
        arguments: [[], [0xFF], [0x03, 0x3F], [0x7B, 0x00], [UInt8](repeating: 0xFF, count: 2_000), [0x02, 0xFF, 0xFF, 0x00]] as [[UInt8]])
    func `what is not Opus is refused or decoded, and never hurts`(packet: [UInt8]) throws {
        let decoder = try FrameDecoder(.opus, sampleRate: 16_000)
        var samples = [Int16](repeating: 0, count: decoder.largestOutput), room = samples.mutableSpan
        var outcome: Result<Int, CodecError> = .success(0)
        do throws(CodecError) { outcome = .success(try decoder.decode(packet.span, into: &room)) } catch { outcome = .failure(error) }
        switch outcome {
        case .success(let count): #expect(count > 0 && count <= decoder.largestOutput)
        case .failure(let error): #expect(error == .malformed)
        }
    }

    @Test func `random packets are refused or decoded within the buffer`() throws {
        let decoder = try FrameDecoder(.opus, sampleRate: 8_000),
            bytes = Signals.noise(seed: 9, count: 200_000).map { UInt8(truncatingIfNeeded: $0) }
        var start = 0, decoded = 0, refused = 0
        while start < bytes.count - 300 {
            let length = 1 + Int(bytes[start])
            var samples = [Int16](repeating: 0, count: decoder.largestOutput), room = samples.mutableSpan
            do throws(CodecError) {
                let count = try decoder.decode(bytes.span.extracting(start..<start + length), into: &room)
                #expect((1...decoder.largestOutput).contains(count))
                decoded += 1
            } catch {
                #expect(error == .malformed)
                refused += 1
            }
            start += length
        }
        #expect(decoded > 100 && refused > 10)
    }

    @Test func `rates and lengths that Opus does not have are refused`() throws {
        #expect(throws: CodecError.unsupported) { _ = try OpusEncoder(sampleRate: 44_100) }
        #expect(throws: CodecError.unsupported) { _ = try OpusDecoder(sampleRate: 16_000, channels: 3) }
        #expect(throws: CodecError.library(-1)) { _ = try OpusEncoder(sampleRate: 16_000, settings: OpusSettings(complexity: 11)) }
        var encoder = try OpusEncoder(sampleRate: 8_000), decoder = try OpusDecoder(sampleRate: 8_000)
        var packet = [UInt8](repeating: 0, count: 100), samples = [Int16](repeating: 0, count: 160)
        for count in [0, 1, 159, 161, 200, 8_000] {
            #expect(throws: CodecError.unsupported) {
                var room = packet.mutableSpan
                _ = try encoder.encode([Int16](repeating: 0, count: count).span, into: &room)
            }
        }
        #expect(throws: CodecError.bufferTooSmall) {
            var room = samples.mutableSpan
            _ = try decoder.conceal(320, into: &room)
        }
        #expect(throws: CodecError.unsupported) {
            var room = samples.mutableSpan
            _ = try decoder.conceal(33, into: &room)
        }
    }
}
