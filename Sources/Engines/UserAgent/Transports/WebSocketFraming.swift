import HTTP
import Primitives
import Runtime
import SIP

/// The messages of a WebSocket connection, one in each message of the WebSocket (RFC 7118), behind the handshake that opens it.
///
/// Lane-confined, without clock and socket. Bounded: the bytes of a handshake and those of a message.
final class WebSocketFraming: MessageFraming {
    /// The pages in browsers that may connect.
    struct Server {
        /// Origins as `https://phone.example.test`; empty: all. A program that is no browser names none, and is let in.
        var origins: Set<String> = []
        /// The connection is a proxy's, which tells the address of who connected to it.
        var isProxied = false
    }

    /// The server that a connection of ours is opened to.
    struct Client {
        /// The name or address of the server, with its port where that is not the usual one.
        var authority: String
        /// Begins with `/`.
        var path = "/"
    }

    private enum State {
        /// The client's GET is to come. Next: `open`, or `closed`.
        case awaitingRequest
        /// Our GET was sent. Next: `open`, or `closed`.
        case awaitingAnswer
        /// Next: `closed`.
        case open
        /// Absorbing.
        case closed
    }

    /// Subprotocol of RFC 7118.
    private static let subprotocol = "sip"

    private var state: State
    private var session: WebSocketSession
    private var server: (rule: Server, reader: HTTPRequestReader)?
    private var client: (reader: HTTPResponseReader, opening: WebSocketOpening)?
    /// Messages of ours that wait for the end of the handshake.
    private var early: [[UInt8]] = []
    /// The address of who connected to the proxy before us, until it is taken.
    private var forwarded: IPAddress?
    /// Our GET, until it is taken.
    private var greeting: [UInt8] = []

    /// The end of who accepted the connection.
    init(server rule: Server) {
        var limits = HTTPRequestReader.Limits()
        limits.body = 0
        server = (rule, HTTPRequestReader(limits: limits))
        (state, session) = (.awaitingRequest, WebSocketSession(server: Self.limits))
    }

    /// The end of who opened the connection.
    init(client place: Client, random: any RandomNumberGenerator) {
        var random = random
        let key = (0..<16).map { _ in UInt8.random(in: .min ... .max, using: &random) }
        let opening = WebSocketOpening(key: String(decoding: Base64.encode(key), as: UTF8.self), subprotocols: [Self.subprotocol])
        client = (HTTPResponseReader(to: .get), opening)
        (state, session) = (.awaitingAnswer, WebSocketSession(client: Self.limits, random: random))
        var text = "GET \(place.path) HTTP/1.1\r\nHost: \(place.authority)\r\n"
        for field in opening.fields { text += "\(field.name.rawName): \(field.value)\r\n" }
        greeting = Array((text + "\r\n").utf8)
    }

    private static let limits = {
        var limits = WebSocketSession.Limits()
        limits.message = Limits.message
        return limits
    }()

    /// The handshake is over, and neither end has said its last word.
    var isOpen: Bool { state == .open }

    /// Our GET, once: it is the first to leave over a connection of ours.
    func takeGreeting() -> [UInt8] {
        defer { greeting = [] }
        return greeting
    }

    /// The address of who connected to the proxy before us, once.
    func takeForwarded() -> IPAddress? {
        defer { forwarded = nil }
        return forwarded
    }

    /// A ping of the WebSocket, as it goes over the connection.
    func ping() -> [UInt8] {
        session.ping()
        return session.takeOutput()
    }

    var pendingBytes: Int {
        switch state {
        case .awaitingRequest, .awaitingAnswer: 1
        case .open: session.isBetweenMessages ? 0 : 1
        case .closed: 0
        }
    }

    var pong: [UInt8] { frame(StreamFramer.pong) }

    func frame(_ message: [UInt8]) -> [UInt8] {
        guard state == .open else {
            // A connection that is not open yet keeps few: its owner gives up soon.
            if state == .awaitingAnswer, early.count < Self.mostEarly { early.append(message) }
            return []
        }
        // A text must be UTF-8 (RFC 6455 §5.6).
        if (try? UTF8Span(validating: message.span)) == nil { session.send(binary: message) } else { session.send(text: message) }
        return session.takeOutput()
    }

    private static let mostEarly = 64

    func receive(_ bytes: [UInt8]) -> [StreamFramer.Output] {
        switch state {
        case .awaitingRequest: receiveRequest(bytes)
        case .awaitingAnswer: receiveAnswer(bytes)
        case .open: receiveFrames(bytes)
        case .closed: []
        }
    }

    private func receiveFrames(_ bytes: [UInt8]) -> [StreamFramer.Output] {
        var outputs: [StreamFramer.Output] = [], isBroken = false
        for event in session.receive(bytes) {
            switch event {
            case .text(let message), .binary(let message): outputs.append(Self.output(of: message))
            case .ping, .pong: break
            case .closed: state = .closed
            case .failed: (state, isBroken) = (.closed, true)
            }
        }
        let answer = session.takeOutput()
        if !answer.isEmpty { outputs.append(.reply(answer)) }
        if state == .closed { outputs.append(isBroken ? .failed(.drop(.startLine)) : .ended) }
        return outputs
    }

    /// Line ends alone keep the way open, as over TCP (RFC 5626 §4.4.1): SIP.js sends them.
    private static func output(of message: [UInt8]) -> StreamFramer.Output {
        switch message {
        case StreamFramer.ping: .pong
        case StreamFramer.pong: .answered
        default: .message(message)
        }
    }
}

// MARK: Handshake

extension WebSocketFraming {
    /// A client's GET (RFC 7118 §4.1).
    private func receiveRequest(_ bytes: [UInt8]) -> [StreamFramer.Output] {
        server?.reader.receive(bytes)
        switch server?.reader.next() {
        case nil: return []
        case .refused(let status): return refuse(HTTPReply(status, text: "\(status.reasonPhrase)\n"))
        case .wantsContinue: return refuse(HTTPReply(.badRequest, text: "a WebSocket begins with a GET without content\n"))
        case .request(let request):
            do throws(HandshakeRefusal) { return open(try upgrade(request)) } catch { return refuse(error.reply) }
        }
    }

    private struct HandshakeRefusal: Error { var reply: HTTPReply }

    private func upgrade(_ request: IncomingRequest) throws(HandshakeRefusal) -> WebSocketUpgrade {
        let origin = request.head.headerFields[.origin], origins = server?.rule.origins ?? []
        if let origin, !origins.isEmpty, !origins.contains(origin) {
            throw HandshakeRefusal(reply: HTTPReply(.forbidden, text: "pages of this origin may not connect\n"))
        }
        guard WebSocketUpgrade.isAsked(by: request) else {
            let text = "SIP over WebSocket (RFC 7118) is spoken here\n"
            throw HandshakeRefusal(reply: HTTPReply(.upgradeRequired, body: Array(text.utf8), fields: WebSocketUpgrade.versionFields))
        }
        let upgrade: WebSocketUpgrade
        do throws(WebSocketUpgrade.Refusal) { upgrade = try WebSocketUpgrade(request, subprotocols: [Self.subprotocol]) } catch {
            switch error {
            case .malformed(let sentence): throw HandshakeRefusal(reply: HTTPReply(.badRequest, text: sentence + "\n"))
            case .version: throw HandshakeRefusal(reply: HTTPReply(.upgradeRequired, fields: WebSocketUpgrade.versionFields))
            }
        }
        guard upgrade.subprotocol != nil else {
            throw HandshakeRefusal(reply: HTTPReply(.badRequest, text: "Sec-WebSocket-Protocol must offer 'sip' (RFC 7118 §4.1)\n"))
        }
        if server?.rule.isProxied == true { forwarded = Self.client(of: request) }
        return upgrade
    }

    /// The last that the proxy has added: what stands before it anybody may have said.
    private static func client(of request: IncomingRequest) -> IPAddress? {
        guard let name = HTTPField.Name("X-Forwarded-For"), let value = request.head.headerFields[values: name].last else { return nil }
        let last = value.split(separator: ",").last.map { $0.filter { $0 != " " } } ?? ""
        return IPAddress(Text(String(last)).withoutBrackets)
    }

    private func open(_ upgrade: WebSocketUpgrade) -> [StreamFramer.Output] {
        let early = server?.reader.takeRest() ?? []
        (state, server) = (.open, nil)
        let answer = upgrade.answer(date: Self.date, hash: Self.hash)
        return [.reply(answer)] + (early.isEmpty ? [] : receiveFrames(early))
    }

    /// Answered, and then the connection ends.
    private func refuse(_ reply: HTTPReply) -> [StreamFramer.Output] {
        (state, server) = (.closed, nil)
        return [.reply(HTTPWriter.bytes(of: reply, to: .get, keepsAlive: false, date: Self.date)), .failed(.drop(.startLine))]
    }

    /// The server's answer to our GET.
    private func receiveAnswer(_ bytes: [UInt8]) -> [StreamFramer.Output] {
        client?.reader.receive(bytes)
        guard let output = client?.reader.next() else { return [] }
        guard case .head(let head) = output, client?.opening.isAccepted(head, hash: Self.hash) == true else {
            (state, client) = (.closed, nil)
            return [.failed(.drop(.startLine))]
        }
        let rest = client?.reader.takeRest() ?? [], waiting = early
        (state, client, early) = (.open, nil, [])
        let sent = waiting.flatMap { frame($0) }
        return (sent.isEmpty ? [] : [.reply(sent)]) + (rest.isEmpty ? [] : receiveFrames(rest))
    }

    private static func hash(_ bytes: [UInt8]) -> String {
        String(decoding: Base64.encode(OpenSSLDigest.hash(.sha1, bytes)), as: UTF8.self)
    }

    private static var date: String { WallClock.header(unixSeconds: Int(WallClock.now / 1_000_000_000)) }
}
