import Testing

@testable import HTTP

@Suite struct EventStreamReaderTests {
    private static func read(_ text: String, pieces: Int) -> [EventStreamReader.Output] {
        var reader = EventStreamReader(), outputs: [EventStreamReader.Output] = [], rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            reader.receive(Array(rest.prefix(pieces)))
            rest = rest.dropFirst(pieces)
            while let output = reader.next() { outputs.append(output) }
        }
        return outputs
    }

    @Test(
        arguments: [
            ("data: a\n\n", [.event("a")]), ("id: 1\nevent: x\ndata: a\n\ndata: b\n\n", [.event("a"), .event("b")]),
            ("data:a\r\n\r\n", [.event("a")]), ("data: a\ndata: b\n\n", [.event("a\nb")]), (":\n\n:\n\n", []), ("data\n\n", [.event("")]),
            ("retry: 1000\n\ndata: é\n\n", [.retry(.seconds(1)), .event("é")]), ("retry: x\n\n", []), ("data: unfinished\n", []),
            ("retry: 999999999\n\n", [.retry(.seconds(60))]),
        ] as [(String, [EventStreamReader.Output])], [1, 2, 7, 1_000])
    func `events are those of the stream, in whatever pieces it comes`(
        stream: (text: String, outputs: [EventStreamReader.Output]), pieces: Int
    ) {
        #expect(Self.read(stream.text, pieces: pieces) == stream.outputs)
    }

    @Test func `a line or an event without an end is refused`() {
        let long = String(repeating: "x", count: EventStreamReader.longest)
        #expect(Self.read("data: \(long)x", pieces: 65_536) == [.broken])
        #expect(Self.read("data: \(long.dropFirst(9))\ndata: \(long.dropFirst(9))\n\ndata: a\n\n", pieces: 65_536) == [.broken])
    }
}
