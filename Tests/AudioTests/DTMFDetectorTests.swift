import Audio
import Testing

@Suite struct DTMFDetectorTests {
    private func keys(in samples: [Int16], piece: Int = 160) -> (began: String, ended: String) {
        var detector = DTMFDetector(), began = "", ended = ""
        for start in stride(from: 0, to: samples.count, by: piece) {
            detector.listen(to: samples.span.extracting(start..<min(start + piece, samples.count))) { output in
                switch output {
                case .began(let key): began.append(key)
                case .ended(let key): ended.append(key)
                }
            }
        }
        return (began, ended)
    }

    private func tone(_ key: Character, milliseconds: Int, level: Double = -10) -> [Int16] {
        var generator = ToneGenerator(Tone.key(key, level: level)!, sampleRate: 8_000)
        var samples = [Int16](repeating: 0, count: 8 * milliseconds), room = samples.mutableSpan
        generator.fill(&room)
        return samples
    }

    private func silence(_ milliseconds: Int) -> [Int16] { [Int16](repeating: 0, count: 8 * milliseconds) }

    @Test(arguments: [-3.0, -10, -25, -35])
    func `every key is heard once, at any level and in any codec's grain`(level: Double) {
        let all = "0123456789*#ABCD"
        let samples = all.flatMap { tone($0, milliseconds: 70, level: level) + silence(60) }
        for law in [samples, samples.map { G711.decodeMu(G711.encodeMu($0)) }, samples.map { G711.decodeA(G711.encodeA($0)) }] {
            let heard = keys(in: law)
            #expect(heard.began == all && heard.ended == all)
        }
    }

    @Test func `a long press is one key, and a blink of 20 ms is none`() {
        #expect(keys(in: tone("5", milliseconds: 3_000) + silence(100)).began == "5")
        #expect(keys(in: tone("5", milliseconds: 20) + silence(100)).began == "")
        #expect(
            keys(in: tone("5", milliseconds: 100) + silence(10) + tone("5", milliseconds: 100) + silence(60)).began == "5",
            "a dropout of 10 ms ends no press")
        #expect(keys(in: tone("5", milliseconds: 100) + silence(60) + tone("5", milliseconds: 100)).began == "55")
    }

    @Test(arguments: UInt64(1)...8)
    func `speech, noise and single tones have no keys`(seed: UInt64) {
        #expect(keys(in: Signals.speech(seed: seed, seconds: 20)).began == "")
        #expect(keys(in: Signals.noise(seed: seed, count: 80_000, shift: { _ in 2 })).began == "")
        #expect(keys(in: Signals.sine(770, sampleRate: 8_000, count: 16_000)).began == "")
    }
}
