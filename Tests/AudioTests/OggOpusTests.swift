import Foundation
import Testing

@testable import Audio

@Suite struct OggOpusTests {
    private static let rate = 16_000

    /// A file of these samples, given in uneven pieces, and cut behind so many of its bytes when its writer was killed.
    private func file(_ samples: [Int16], channels: Int = 1, isKilled: Bool = false) throws -> [UInt8] {
        var writer = try OggOpusWriter(sampleRate: Self.rate, channels: channels, serial: 7), bytes = writer.header
        for start in stride(from: 0, to: samples.count, by: 1_026) {
            try writer.append(samples.span.extracting(start..<min(start + 1_026, samples.count)), to: &bytes)
        }
        if !isKilled { try writer.finish(to: &bytes) }
        return bytes
    }

    private func pages(_ bytes: [UInt8]) -> [OggPage] {
        var pages: [OggPage] = [], offset = 0
        while let page = OggPage(parsing: bytes[offset...]) {
            pages.append(page)
            offset += page.size
        }
        return pages
    }

    /// The same pages with other contents, and checksums that are right.
    private func file(_ bytes: [UInt8], _ change: (inout [OggPage]) -> Void) -> [UInt8] {
        var pages = pages(bytes)
        change(&pages)
        return pages.flatMap { $0.serialized() }
    }

    @Test func `what was written is read back, to the very sample and in its place`() throws {
        let speech = Signals.speech(seed: 3, seconds: 2.345, sampleRate: Self.rate)
        let sound = try WAV(parsingOggOpus: file(speech))
        #expect(sound.sampleRate == 48_000 && sound.samples.count == speech.count * 3)
        let likeness = try SignalCorrelation(sent: speech, received: sound.resampled(to: Self.rate).samples, sampleRate: Self.rate)
        #expect(likeness.score > 0.8 && abs(likeness.delayMilliseconds) < 1, "\(likeness)")
    }

    @Test func `the pages are those of RFC 7845`() throws {
        let bytes = try file(Signals.noise(seed: 1, count: Self.rate * 2 + 5))
        let pages = pages(bytes)
        #expect(pages.reduce(0) { $0 + $1.size } == bytes.count, "nothing lies between")
        #expect(pages.map(\.sequence) == Array(0..<UInt32(pages.count)) && Set(pages.map(\.serial)) == [7])
        #expect(
            pages[0].begins && pages.dropFirst().allSatisfy { !$0.begins } && pages.last?.ends == true
                && pages.dropLast().allSatisfy { !$0.ends })
        #expect(Array(pages[0].body.prefix(12)) == Array("OpusHead".utf8) + [1, 1, 0x38, 1], "312 samples of pre-skip")
        #expect(pages[1].body.starts(with: Array("OpusTags".utf8)))
        #expect(pages.map(\.granule) == [0, 0, 48_000, 96_000, 96_000 + 15 + 312])
    }

    @Test func `the checksum is that of other programs`() throws {
        let page: [UInt8] =
            [
                0x4F, 0x67, 0x67, 0x53, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0xD4, 0xF5, 0x50, 0x37, 0, 0, 0, 0, 0x99, 0xF7, 0x9F, 0x0C, 1, 19,
            ] + Array("OpusHead".utf8) + [1, 1, 0x38, 1, 0x40, 0x1F, 0, 0, 0, 0, 0]   // of libsndfile
        let read = try #require(OggPage(parsing: page[...]))
        #expect(read.serialized() == page)
        for index in page.indices {
            var damaged = page
            damaged[index] ^= 1
            #expect(OggPage(parsing: damaged[...]) == nil, "byte \(index)")
        }
    }

    @Test func `a file that another program wrote is read`() throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        let sound = try WAV(parsingSoundFile: Array(Data(contentsOf: root.appending(path: "Corpus/sound/tone-500.opus"))))
        #expect(sound.sampleRate == 48_000 && sound.samples.count == 4_800)
        let middle = Array(sound.samples[960..<3_840])
        let heard = ToneDetector.hearing(middle, frequency: 500, sampleRate: 48_000)
        #expect(heard.presence == 1 && abs(heard.level + 12.2) < 1)
    }

    @Test func `a recording whose writer was killed is whole but for its last second`() throws {
        let speech = Signals.speech(seed: 4, seconds: 3.7, sampleRate: Self.rate)
        #expect(try WAV(parsingOggOpus: file(speech, isKilled: true)).samples.count == 3 * 48_000 - 312)
    }

    @Test func `the sides of a stereo file have nothing in common: each is the stream that it would be alone`() throws {
        let left = Signals.speech(seed: 5, seconds: 2, sampleRate: Self.rate),
            right = Signals.sine(440, sampleRate: Self.rate, count: left.count)
        let stereo = try file(zip(left, right).flatMap { [$0, $1] }, channels: 2)
        var packets = OggPackets(stereo)
        let first = packets.next(), head = try #require(first).bytes
        #expect(Array(head[18...]) == [1, 2, 0, 0, 1], "mapping family 1, two streams, none of them stereo, in order")
        var decoder = try OpusStreamsDecoder(OpusHead(parsing: head).streams, sampleRate: Self.rate),
            sides: (left: [Int16], right: [Int16]) = ([], [])
        _ = packets.next()
        var frame = [Int16](repeating: 0, count: 2 * 320)
        while let packet = packets.next() {
            var room = frame.mutableSpan
            let count = try decoder.decode(packet.bytes.span, into: &room)
            for index in 0..<count { (sides.left, sides.right) = (sides.left + [frame[2 * index]], sides.right + [frame[2 * index + 1]]) }
        }
        let likeness = try SignalCorrelation(sent: left, received: sides.left, sampleRate: Self.rate)
        #expect(likeness.score > 0.8, "\(likeness)")
        #expect(ToneDetector.hearing(Array(sides.right.dropFirst(3_200)), frequency: 440, sampleRate: Self.rate).presence > 0.98)
        #expect(ToneDetector.hearing(sides.left, frequency: 440, sampleRate: Self.rate).presence < 0.05)
    }

    @Test(arguments: [[2, 0, 0, 1], [1, 1, 0, 1], [3, 1, 3, 0], [1, 0, 0, 255]] as [[UInt8]])
    func `files of other programs with a mapping of their own are read`(table: [UInt8]) throws {
        let streams = try #require(OpusStreams(channels: 2, family: 1, table[...]))
        _ = try OpusStreamsDecoder(streams, sampleRate: 48_000)
    }

    @Test(arguments: [[], [2], [0, 0, 0, 0], [1, 2, 0, 1], [1, 1, 0, 2], [200, 100, 0, 1], [2, 0, 0]] as [[UInt8]])
    func `a mapping that is none is refused`(table: [UInt8]) { #expect(OpusStreams(channels: 2, family: 1, table[...]) == nil) }

    @Test func `stereo is mixed down`() throws {
        let left = Signals.sine(440, sampleRate: Self.rate, count: Self.rate)
        let sound = try WAV(parsingOggOpus: file(left.flatMap { [$0, 0] }, channels: 2))
        let heard = ToneDetector.hearing(sound.samples, frequency: 440, sampleRate: 48_000)
        #expect(sound.samples.count == 48_000 && heard.presence > 0.9 && abs(heard.level + 16) < 1, "half of a tone at -10 dB")
    }

    @Test(arguments: [(-2_560 as Int16, -10.0), (1_536, 6)]) func `the gain of the head is applied`(gain: Int16, decibels: Double) throws {
        let quiet = Signals.sine(440, sampleRate: Self.rate, count: Self.rate, level: -20), bytes = try file(quiet)
        let louder = file(bytes) { pages in
            var head = Array(pages[0].body)
            (head[16], head[17]) = (UInt8(truncatingIfNeeded: gain), UInt8(truncatingIfNeeded: gain >> 8))
            pages[0].body = head[...]
        }
        let (first, second) = (try WAV(parsingOggOpus: bytes).samples, try WAV(parsingOggOpus: louder).samples)
        let difference = LevelMeter.level(of: second.span) - LevelMeter.level(of: first.span)
        #expect(abs(difference - decibels) < 0.1)
    }

    @Test func `the last page says where the end is, and one that lies is not believed`() throws {
        let bytes = try file(Signals.noise(seed: 2, count: Self.rate))
        func count(ending granule: Int64) throws -> Int {
            try WAV(parsingOggOpus: file(bytes) { $0[$0.count - 1].granule = granule }).samples.count
        }
        #expect(try count(ending: 30_312) == 30_000)
        let all = try count(ending: .max)
        #expect(all >= 48_000 && all <= 48_960)
        #expect(try count(ending: 0) == 0 && count(ending: .min) == all)
    }

    @Test func `a packet may lie on several pages, and streams between are passed over`() throws {
        let bytes = try file(Signals.noise(seed: 5, count: Self.rate))
        let cut = file(bytes) { pages in
            let audio = pages[2]
            var first = audio, second = audio
            let place = audio.lacing.startIndex + 10, bytes = audio.lacing[..<place].reduce(0) { $0 + Int($1) }
            // The packet of segment 10 in two: a full segment and what is left would be another; so a page ends between packets here,
            // and a foreign stream stands between the pages.
            (first.lacing, first.body, first.granule) = (audio.lacing[..<place], audio.body.prefix(bytes), 10 * 960)
            (second.lacing, second.body, second.sequence) = (audio.lacing[place...], audio.body.dropFirst(bytes), 3)
            var foreign = OggPage(serial: 99, sequence: 0)
            (foreign.begins, foreign.lacing, foreign.body) = (true, [3], [1, 2, 3])
            pages.replaceSubrange(2...2, with: [first, foreign, second])
            for index in 5..<pages.count { pages[index].sequence += 1 }
        }
        #expect(try WAV(parsingOggOpus: cut).samples == WAV(parsingOggOpus: bytes).samples)
    }

    @Test func `long packets go on over pages`() {
        let long = [UInt8](repeating: 9, count: 600)
        var first = OggPage(serial: 1, sequence: 0), second = OggPage(serial: 1, sequence: 1)
        (first.begins, first.lacing, first.body) = (true, [2, 255, 255], ([1, 2] + long.prefix(510))[...])
        (second.isContinued, second.ends, second.granule, second.lacing, second.body) = (true, true, 5, [90, 0], long.suffix(90)[...])
        var packets = OggPackets(first.serialized() + second.serialized())
        #expect(packets.next()?.bytes == [1, 2])
        #expect(packets.next()?.bytes == long)
        let last = packets.next()
        #expect(last?.bytes == [] && last?.granule == 5 && last?.ends == true)
        #expect(packets.next() == nil)
        // Without its beginning the rest of a packet is nothing.
        second.sequence = 2
        packets = OggPackets(first.serialized() + second.serialized())
        _ = packets.next()
        #expect(packets.next()?.bytes == [])
    }

    @Test func `files that are no Ogg Opus of ours say why`() throws {
        let good = try file([Int16](repeating: 0, count: 320))
        func head(_ byte: Int, _ value: UInt8, _ family: UInt8 = 0) -> [UInt8] {
            file(good) { pages in
                var head = Array(pages[0].body)
                (head[byte], head[18]) = (value, byte == 18 ? value : family)
                pages[0].body = head[...]
            }
        }
        let cases: [(OggOpusError, [UInt8])] = [
            (.notOgg, []), (.notOgg, Array("OggS".utf8)), (.notOgg, Array(good.dropFirst(4))), (.empty, Array(good.prefix(100))),
            (.notOpus, head(0, 1)),
            (.notOpus, head(8, 0x10)), (.channels(0, family: 0), head(9, 0)), (.channels(6, family: 1), head(9, 6, 1)),
        ]
        for (error, bytes) in cases { #expect(throws: error) { _ = try WAV(parsingOggOpus: bytes) } }
        #expect(throws: OggOpusError.tooLong) { _ = try WAV(parsingOggOpus: file(Signals.noise(seed: 1, count: Self.rate)), limit: 40_000) }
    }

    @Test func `any byte may be wrong without a trap, and a damaged page is passed over`() throws {
        let good = try file(Signals.noise(seed: 6, count: Self.rate * 3))
        let pages = pages(good), whole = try WAV(parsingOggOpus: good).samples.count
        var random = SplitMix(state: 11), read = 0
        for _ in 0..<50 {
            var bytes = good
            for _ in 0..<Int(random.next() % 4) + 1 {
                bytes[Int(random.next() % UInt64(bytes.count))] = UInt8(truncatingIfNeeded: random.next())
            }
            guard let sound = try? WAV(parsingOggOpus: bytes) else { continue }
            #expect(sound.samples.count <= whole)
            read += 1
        }
        #expect(read > 30)
        // With checksums that are right, so that what is inside is looked at.
        for _ in 0..<50 {
            let bytes = file(good) { pages in
                let index = Int(random.next() % UInt64(pages.count))
                var body = Array(pages[index].body)
                body[Int(random.next() % UInt64(body.count))] = UInt8(truncatingIfNeeded: random.next())
                pages[index].body = body[...]
                if random.next() % 4 == 0 { pages[index].granule = Int64(bitPattern: random.next()) }
            }
            if let sound = try? WAV(parsingOggOpus: bytes) { #expect(sound.samples.count <= whole + 960) }
        }
        var damaged = good
        damaged[pages[0].size + pages[1].size + 100] ^= 0xFF
        #expect(try WAV(parsingOggOpus: damaged).samples.count == whole - 48_000, "one page is a second")
    }

    private struct SplitMix {
        var state: UInt64
        mutating func next() -> UInt64 {
            state &+= 0x9E37_79B9_7F4A_7C15
            var mixed = state
            mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
            mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
            return mixed ^ mixed >> 31
        }
    }
}
