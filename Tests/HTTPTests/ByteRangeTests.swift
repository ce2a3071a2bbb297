import HTTP
import Testing

@Suite struct ByteRangeTests {
    @Test(
        arguments: [
            (nil, .whole), ("bytes=0-9", .part(0..<10)), ("Bytes=90-", .part(90..<100)), ("bytes=-10", .part(90..<100)),
            ("bytes=-1000", .part(0..<100)), ("bytes=0-99999999999999999999", .part(0..<100)), ("bytes=99-99", .part(99..<100)),
            ("bytes=100-", .unsatisfiable), ("bytes=100-200", .unsatisfiable), ("bytes=-0", .unsatisfiable), ("bytes=9-8", .whole),
            ("bytes=0-1,5-6", .whole), ("lines=0-1", .whole), ("bytes", .whole), ("bytes=", .whole), ("bytes=-", .whole),
            ("bytes=+1-2", .whole), ("bytes=1--2", .whole), ("bytes=99999999999999999999-", .unsatisfiable),
        ] as [(String?, ByteRange)])
    func `a range of bytes is a part, and what is none is the whole`(field: String?, range: ByteRange) {
        #expect(ByteRange(field, of: 100, tag: "\"a\"") == range)
    }

    @Test func `a range for another content is the whole`() {
        #expect(ByteRange("bytes=1-2", if: "\"a\"", of: 9, tag: "\"a\"") == .part(1..<3))
        #expect(ByteRange("bytes=1-2", if: "\"b\"", of: 9, tag: "\"a\"") == .whole)
        #expect(ByteRange("bytes=1-2", if: "W/\"a\"", of: 9, tag: "\"a\"") == .whole)
    }

    @Test func `nothing of an empty content can be asked for`() {
        #expect(
            ByteRange("bytes=0-", of: 0, tag: "\"a\"") == .unsatisfiable && ByteRange("bytes=-5", of: 0, tag: "\"a\"") == .unsatisfiable)
    }
}
