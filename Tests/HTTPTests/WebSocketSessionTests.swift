import HTTP
import Primitives
import Testing

@Suite struct WebSocketSessionTests {
    /// Masks are `37 fa 21 3d`, as in the examples of RFC 6455 §5.7.
    private struct ExampleMask: RandomNumberGenerator {
        private var bytes: [UInt8] = [0x37, 0xFA, 0x21, 0x3D], index = 0
        mutating func next() -> UInt64 {
            defer { index = (index + 1) % 4 }
            return UInt64(bytes[index])
        }
    }

    private static func client() -> WebSocketSession { WebSocketSession(client: .init(), random: ExampleMask()) }

    private static func limited(_ message: Int) -> WebSocketSession {
        var limits = WebSocketSession.Limits()
        limits.message = message
        return WebSocketSession(server: limits)
    }

    private static let mask: [UInt8] = [1, 2, 3, 4]

    /// A frame of a client, with a length in as few bytes as there are.
    private static func masked(_ first: UInt8, _ payload: [UInt8], told length: Int? = nil) -> [UInt8] {
        let count = length ?? payload.count
        let head: [UInt8] =
            count < 126
            ? [0x80 | UInt8(count)]
            : count < 65_536 ? [0xFE, UInt8(count >> 8), UInt8(count & 255)] : [0xFF] + (0..<8).map { UInt8(count >> (56 - 8 * $0) & 255) }
        return [first] + head + mask + payload.enumerated().map { $1 ^ mask[$0 % 4] }
    }

    private static let hello = Array("Hello".utf8)
    private static let maskedHello: [UInt8] = [0x85, 0x37, 0xFA, 0x21, 0x3D, 0x7F, 0x9F, 0x4D, 0x51, 0x58]

    // MARK: The examples of RFC 6455 §5.7

    @Test func `a text is one frame, masked from a client and bare from a server`() {
        let client = Self.client(), server = WebSocketSession()
        client.send(text: Self.hello)
        server.send(text: Self.hello)
        let (fromClient, fromServer) = (client.takeOutput(), server.takeOutput())
        #expect(fromClient == [0x81] + Self.maskedHello && fromServer == [0x81, 5] + Self.hello)
        #expect(server.receive(fromClient) == [.text(Self.hello)] && client.receive(fromServer) == [.text(Self.hello)])
        #expect(server.takeOutput().isEmpty && client.takeOutput().isEmpty)
    }

    @Test func `a message in fragments is one message, whatever comes between them`() {
        #expect(Self.client().receive([0x01, 3] + Self.hello[..<3] + [0x80, 2] + Self.hello[3...]) == [.text(Self.hello)])
        let client = Self.client()
        #expect(
            client.receive([0x01, 3] + Self.hello[..<3] + [0x89, 5] + Self.hello + [0x80, 2] + Self.hello[3...])
                == [.ping(Self.hello), .text(Self.hello)])
        #expect(client.takeOutput() == [0x8A] + Self.maskedHello, "the ping has its pong")
        #expect(WebSocketSession().receive([0x8A] + Self.maskedHello) == [.pong(Self.hello)])
    }

    @Test(arguments: [(256, [0x82, 0x7E, 1, 0]), (65_536, [0x82, 0x7F, 0, 0, 0, 0, 0, 1, 0, 0])] as [(Int, [UInt8])])
    func `the length has as many bytes as it needs`(count: Int, head: [UInt8]) {
        let server = WebSocketSession(), bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0) }
        server.send(binary: bytes)
        let frame = server.takeOutput()
        #expect(Array(frame.prefix(head.count)) == head && frame.count == head.count + count)
        #expect(Self.client().receive(frame) == [.binary(bytes)])
    }

    @Test func `bytes one by one make the same events`() {
        let bytes =
            Self.masked(0x01, Array("a".utf8)) + Self.masked(0x89, [7]) + Self.masked(0x80, Array("é".utf8)) + Self.masked(0x82, [])
            + Self.masked(0x82, [UInt8](repeating: 9, count: 70_000)) + Self.masked(0x88, [0x03, 0xE8])
        let whole = WebSocketSession(), slow = WebSocketSession()
        let events = whole.receive(bytes)
        #expect(
            events == [
                .ping([7]), .text(Array("aé".utf8)), .binary([]), .binary([UInt8](repeating: 9, count: 70_000)), .closed(.normal),
            ])
        #expect(bytes.flatMap { slow.receive([$0]) } == events)
        #expect(slow.takeOutput() == whole.takeOutput())
    }

    // MARK: The last word

    @Test func `a last word is answered with its code, and nothing follows`() {
        let client = Self.client(), server = WebSocketSession()
        client.close(.goingAway, reason: "bye")
        client.send(text: Self.hello)
        let last = client.takeOutput()
        #expect(last.count == 2 + 4 + 5 && !client.isOpen)
        #expect(server.receive(last + last) == [.closed(.goingAway)] && !server.isOpen)
        server.send(text: Self.hello)
        server.close(.normal)
        let answer = server.takeOutput()
        #expect(answer == [0x88, 2, 0x03, 0xE9])
        #expect(client.receive([0x81, 5] + Self.hello + answer) == [.closed(.goingAway)], "what crosses our last word is not heard")
        #expect(client.takeOutput().isEmpty && client.receive(answer).isEmpty)
    }

    @Test(
        arguments: [
            ([], .closed(.none), []), ([0x0B, 0xB8], .closed(.init(rawValue: 3000)), [0x0B, 0xB8]),
            ([0x03], .failed(.protocolError), [0x03, 0xEA]), ([0x03, 0xED], .failed(.protocolError), [0x03, 0xEA]),
            ([0x03, 0xE8, 0xFF], .failed(.invalidData), [0x03, 0xEF]), ([0x13, 0x88], .failed(.protocolError), [0x03, 0xEA]),
        ] as [([UInt8], WebSocketSession.Event, [UInt8])])
    func `a last word has a code that may be sent, and a reason in UTF-8`(payload: [UInt8], event: WebSocketSession.Event, answer: [UInt8])
    {
        let server = WebSocketSession()
        #expect(server.receive(Self.masked(0x88, payload)) == [event])
        #expect(server.takeOutput() == [0x88, UInt8(answer.count)] + answer)
    }

    // MARK: Broken rules

    @Test(
        arguments: [
            ("not masked", [0x81, 5] + hello), ("a reserved bit", masked(0xC1, hello)), ("no such opcode", masked(0x83, hello)),
            ("no such control opcode", masked(0x8B, [])), ("a continuation of nothing", masked(0x80, hello)),
            ("a text within a text", masked(0x01, hello) + masked(0x81, hello)), ("a long ping", masked(0x89, [], told: 126)),
            ("a ping in fragments", masked(0x09, [])), ("a length of two bytes for less", [0x81, 0xFE, 0, 5] + mask + hello),
            ("a length of eight bytes for less", [0x81, 0xFF, 0, 0, 0, 0, 0, 0, 1, 0] + mask + [0]),
            ("a negative length", [0x81, 0xFF, 0x80, 0, 0, 0, 0, 0, 1, 0] + mask + [0]),
        ] as [(String, [UInt8])])
    func `a frame that is none ends the session with 1002`(what: String, bytes: [UInt8]) {
        let server = WebSocketSession()
        #expect(server.receive(bytes).last == .failed(.protocolError), "\(what)")
        #expect(Array(server.takeOutput().suffix(4)) == [0x88, 2, 0x03, 0xEA])
        #expect(server.receive(Self.masked(0x81, Self.hello)).isEmpty)
    }

    @Test func `a server that masks is refused, too`() {
        #expect(Self.client().receive([0x81] + Self.maskedHello) == [.failed(.protocolError)])
    }

    @Test(arguments: [[0xC3], [0xC3, 0x28], [0xED, 0xA0, 0x80], [0xF4, 0x90, 0x80, 0x80], [0xC0, 0xAF]] as [[UInt8]])
    func `text that is no UTF-8 ends the session with 1007`(text: [UInt8]) {
        #expect(WebSocketSession().receive(Self.masked(0x81, text)) == [.failed(.invalidData)])
        #expect(WebSocketSession().receive(Self.masked(0x82, text)) == [.binary(text)])
    }

    @Test func `a message beyond the limit ends the session with 1009, before it has come`() {
        #expect(Self.limited(5).receive(Self.masked(0x81, Self.hello)) == [.text(Self.hello)])
        #expect(Self.limited(4).receive(Self.masked(0x81, [0x41], told: 5)) == [.failed(.messageTooBig)])
        #expect(Self.limited(4).receive(Self.masked(0x81, [0x41], told: .max)) == [.failed(.messageTooBig)])
        let server = Self.limited(4)
        #expect(server.receive(Self.masked(0x01, [1, 2, 3])).isEmpty)
        #expect(server.receive(Self.masked(0x00, [4, 5])) == [.failed(.messageTooBig)], "in fragments as well")
        #expect(server.takeOutput() == [0x88, 2, 0x03, 0xF1])
    }

    // MARK: Is it still there

    @Test func `who answers no ping is gone, and who says anything is not`() {
        let start = Instant(nanoseconds: 1_000_000_000)
        var pulse = WebSocketPulse(at: start, interval: .seconds(25), patience: .seconds(20))
        #expect(pulse.deadline == start + .seconds(25) && pulse.advance(to: start + .seconds(24)) == nil)
        #expect(pulse.advance(to: start + .seconds(25)) == .ping && pulse.deadline == start + .seconds(45))
        pulse.hear(at: start + .seconds(44))
        #expect(pulse.advance(to: start + .seconds(45)) == nil && pulse.advance(to: start + .seconds(69)) == .ping)
        #expect(pulse.advance(to: start + .seconds(88)) == nil && pulse.advance(to: start + .seconds(89)) == .gone)
    }
}
