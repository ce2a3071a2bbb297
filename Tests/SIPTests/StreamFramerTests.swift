import Primitives
import Testing

@testable import SIP

@Suite struct StreamFramerTests {
    static func invite(_ body: String) -> [UInt8] { request(adding: ["Content-Length: \(body.utf8.count)"], body: body) }

    /// Outputs in one word each: the body of a message, `pong`, or the failure's outcome.
    static func words(_ outputs: [StreamFramer.Output]) -> [String] {
        outputs.map { output in
            switch output {
            case .message(let bytes): (try? Message(parsing: bytes).content.description) ?? "unreadable"
            case .pong: "pong"
            case .answered: "answered"
            case .reply, .ended: "of no stream of TCP"
            case .failed(.drop(let defect)): "drop \(defect.reason)"
            case .failed(.reject(let rejection)): "\(rejection.status) \(rejection.reason)"
            }
        }
    }

    static let stream =
        invite("one") + [13, 10] + invite("") + [13, 10, 13, 10] + invite("a\r\n\r\nb") + [13, 10, 13, 10] + invite("last")

    @Test func `several messages and pings in one segment come out in order`() {
        var framer = StreamFramer()
        #expect(Self.words(framer.receive(Self.stream)) == ["one", "", "pong", "a\r\n\r\nb", "pong", "last"])
        #expect(framer.pendingBytes == 0)
    }

    @Test func `it does not matter where the stream is split`() {
        for split in 0...Self.stream.count {
            var framer = StreamFramer()
            let outputs = framer.receive(Array(Self.stream[..<split])) + framer.receive(Array(Self.stream[split...]))
            #expect(Self.words(outputs) == ["one", "", "pong", "a\r\n\r\nb", "pong", "last"], "split at \(split)")
        }
    }

    @Test(arguments: [1, 2, 3, 7])
    func `small segments give the same messages`(size: Int) {
        var framer = StreamFramer()
        var outputs: [StreamFramer.Output] = []
        for start in stride(from: 0, to: Self.stream.count, by: size) {
            outputs += framer.receive(Array(Self.stream[start..<min(start + size, Self.stream.count)]))
        }
        #expect(Self.words(outputs) == ["one", "", "pong", "a\r\n\r\nb", "pong", "last"])
    }

    @Test(
        arguments: [
            (request(), "400 Missing Content-Length"), (request(adding: ["l: 1", "Content-Length: 2"]), "400 Repeated Content-Length"),
            (request(adding: ["Content-Length: 1x"]), "400 Malformed Content-Length"),
            (request(adding: ["Content-Length: 65535"]), "513 Message Too Large"),
            (request(adding: Array(repeating: "X-Long: " + String(repeating: "a", count: 1_000), count: 40)), "513 Message Too Large"),
            (wire(["SIP/2.0 200 OK", "Via: SIP/2.0/TCP a"]), "drop Missing Content-Length"), ([13, 13, 10], "drop Malformed Start Line"),
            (Array(repeating: 0x61, count: 40_000), "drop Message Too Large"),
        ] as [([UInt8], String)])
    func `a stream that cannot be followed fails once and for all`(bytes: [UInt8], expected: String) {
        var framer = StreamFramer()
        #expect(Self.words(framer.receive(Self.invite("good") + bytes)) == ["good", expected])
        #expect(framer.receive(Self.invite("more")).isEmpty && framer.pendingBytes == 0)
    }

    @Test func `a single CRLF answers a ping of ours, wherever it is split, and otherwise means nothing`() {
        for split in 0...2 {
            var framer = StreamFramer()
            framer.sentPing()
            let answer: [UInt8] = [13, 10]
            #expect(Self.words(framer.receive(Array(answer[..<split])) + framer.receive(Array(answer[split...]))) == ["answered"])
            #expect(Self.words(framer.receive([13, 10])) == [] && framer.pendingBytes == 0, "nothing is half of a message")
            #expect(Self.words(framer.receive([13, 10])) == ["pong"], "that was half of a ping of theirs")
        }
    }

    @Test func `a ping of a peer that answers none of ours is answered, and answers nothing`() {
        var framer = StreamFramer()
        for _ in 0..<3 { framer.sentPing() }
        #expect(Self.words(framer.receive([13, 10, 13, 10] + Self.invite("next"))) == ["pong", "next"])
        #expect(Self.words(framer.receive([13, 10] + Self.invite("more"))) == ["answered", "more"])
        #expect(Self.words(framer.receive([13, 10])) == [])
    }

    @Test func `more header fields than are kept neither hide the length nor the way back`() {
        var framer = StreamFramer()
        let many = request(adding: Array(repeating: "X: y", count: 300) + ["Content-Length: 3"], body: "one")
        let outputs = framer.receive(many + Self.invite("next"))
        #expect(Self.words(outputs) == ["unreadable", "next"])
    }

    @Test func `an endless head is refused before it fills memory`() {
        var framer = StreamFramer()
        var fed = 0
        while framer.receive(Array(repeating: 0x61, count: 1_000)).isEmpty, fed < 100 { fed += 1 }
        #expect(fed <= Limits.head / 1_000 + 1)
    }

    @Test func `a broken message with a good length does not end the stream`() throws {
        var framer = StreamFramer()
        let outputs = framer.receive(request(replacing: ["From": "From: <"], adding: ["Content-Length: 0"]) + Self.invite("next"))
        #expect(Self.words(outputs) == ["unreadable", "next"])
    }
}
