import Audio
import Testing

@Suite struct G711Tests {
    /// G.711 table 2a, column 8 (times 4: 16 bits instead of 14), at both ends of each segment.
    static let muPoints: [(UInt8, Int16)] = [
        (0x80, 32_124), (0x8F, 16_764), (0x90, 15_996), (0x9F, 8_316), (0xA0, 7_932), (0xAF, 4_092), (0xB0, 3_900), (0xBF, 1_980),
        (0xC0, 1_884),
        (0xCF, 924), (0xD0, 876), (0xDF, 396), (0xE0, 372), (0xEF, 132), (0xF0, 120), (0xFE, 8), (0xFF, 0),
    ]
    /// G.711 table 1a, column 8 (times 8: 16 bits instead of 13), even bits inverted.
    static let aPoints: [(UInt8, Int16)] = [
        (0xAA, 32_256), (0xA5, 16_896), (0xBA, 16_128), (0xB5, 8_448), (0x8A, 8_064), (0x85, 4_224), (0x9A, 4_032), (0x95, 2_112),
        (0xEA, 2_016),
        (0xE5, 1_056), (0xFA, 1_008), (0xF5, 528), (0xCA, 504), (0xC5, 264), (0xDA, 248), (0xD5, 8),
    ]

    @Test(arguments: muPoints) func `µ-law codes stand for the recommendation's values, both signs`(code: UInt8, value: Int16) {
        #expect(G711.decodeMu(code) == value)
        #expect(G711.decodeMu(code & 0x7F) == -value)
        #expect(G711.encodeMu(value) == code)
        if value != 0 { #expect(G711.encodeMu(-value) == code & 0x7F) }
    }

    @Test(arguments: aPoints) func `A-law codes stand for the recommendation's values, both signs`(code: UInt8, value: Int16) {
        #expect(G711.decodeA(code) == value)
        #expect(G711.decodeA(code & 0x7F) == -value)
        #expect(G711.encodeA(value) == code)
        #expect(G711.encodeA(-value) == code & 0x7F)
    }

    @Test func `every code survives being decoded and encoded, but for the second µ-law zero`() {
        for code in UInt8.min ... .max {
            #expect(G711.encodeMu(G711.decodeMu(code)) == (code == 0x7F ? 0xFF : code))
            #expect(G711.encodeA(G711.decodeA(code)) == code)
        }
    }

    @Test func `every sample comes back within half a step of its segment`() {
        // Half a step is a 32nd of the segment's start; the cut to 14 or 13 bits adds one of its units. µ-law clips from 32,635 on.
        let wrong = (Int16.min ... .max).filter { sample in
            let magnitude = Int(sample.magnitude), mu = Int(G711.decodeMu(G711.encodeMu(sample))),
                a = Int(G711.decodeA(G711.encodeA(sample)))
            return abs(mu - Int(sample)) > (magnitude > 32_635 ? 1_000 : (magnitude + 132) / 32 + 4)
                || abs(a - Int(sample)) > max(magnitude / 32, 8) + 8
        }
        #expect(wrong.isEmpty)
    }
}
