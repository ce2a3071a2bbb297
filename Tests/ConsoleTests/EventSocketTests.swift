import CallJournal
import CallKit
import Foundation
import HTTP
import Primitives
import Runtime
import Testing

@testable import Console

extension RealTime {
    /// Events over WebSocket, tickets and logins, against a server with real sockets.
    @Suite(.timeLimit(.minutes(30))) struct EventSocketTests {
        /// A server with a file of tokens, and the events of a gateway.
        private final class Bench {
            let server: ControlServer, file: AccessTokenFile, tls: TLSContexts?
            /// A token that may read and control, and one that may read line 1001.
            let secret: String, lineSecret: String

            init(isSecure: Bool = false) throws {
                file = AccessTokenFile(path: FileManager.default.temporaryDirectory.appending(path: "tokens-\(UUID()).json").path)
                let all = AccessToken.make(name: "all", scopes: [.read, .control, .admin], lines: nil, expires: nil)
                let line = AccessToken.make(name: "line", scopes: [.read], lines: ["1001"], expires: nil)
                (secret, lineSecret) = (all.secret, line.secret)
                try file.write([all.kept, line.kept])
                tls = isSecure ? try TLSContexts(.corpus) : nil
                server = try ControlServer(
                    path: nil, addresses: [anyLoopbackPort], tls: tls, tokens: file, origins: ["https://console.example.test"], version: "1"
                )
                tell(1, .gatewayStarted, [.run: "0123456789abcdef"])
            }

            deinit { unlink(file.path) }

            var address: SocketAddress { server.addresses[0] }
            var bearer: String { "Authorization: Bearer \(secret)\r\n" }

            func tell(_ sequence: UInt64, _ kind: JournalEvent.Kind, line: Text = "1001", _ details: JournalEvent.Details = [:]) {
                server.note(
                    JournalEvent(sequence: sequence, time: .zero, call: CallUUID(UUID()), line: line, kind: kind, details: details))
            }

            func open(_ path: String, _ fields: String = "", room: Int32? = nil) throws -> SocketVisitor {
                try SocketVisitor(to: address, path, fields, over: tls, room: room)
            }

            func ask(_ method: String, _ path: String, _ body: String = "", _ fields: String = "") throws -> (
                status: Int, text: String, body: [String: Any]
            ) {
                let visitor = try Visitor(to: address)
                visitor.write(
                    "\(method) \(path) HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\(fields)Content-Length: \(body.utf8.count)\r\n\r\n\(body)"
                )
                let text = try #require(visitor.readToEnd()), parts = text.components(separatedBy: "\r\n\r\n")
                let body = try? JSONSerialization.jsonObject(with: Data((parts.count > 1 ? parts[1] : "").utf8)) as? [String: Any]
                return (try #require(Int(text.dropFirst(9).prefix(3))), text, body ?? [:])
            }

            func ticket(of secret: String) throws -> String {
                let answer = try ask("POST", "/v1/tickets", "", "Authorization: Bearer \(secret)\r\n")
                #expect(answer.status == 201 && answer.body["expires"] is String)
                return try #require(answer.body["ticket"] as? String)
            }

            var readers: Int {
                get throws {
                    let body = try ask("GET", "/v1/server", "", bearer).body
                    return try #require(body["readers"] as? Int)
                }
            }

            func wait(_ isTrue: () throws -> Bool) throws {
                let end = MonotonicClock.now + .seconds(20)
                while try !isTrue() {
                    try #require(MonotonicClock.now < end)
                    usleep(1_000)
                }
            }
        }

        private static func member(_ name: String, of json: String?) throws -> String? {
            let object = try JSONSerialization.jsonObject(with: Data(try #require(json).utf8)) as? [String: Any]
            return object?[name] as? String
        }

        // MARK: Events

        @Test(arguments: [false, true]) func `each event is a text, from a position on, and the end of the server is told`(isSecure: Bool)
            throws
        {
            let bench = try Bench(isSecure: isSecure)
            bench.tell(2, .reportIncomingAccepted)
            bench.tell(3, .doNotDisturbChanged, [.on: true])
            bench.tell(4, .callEnded, [.reason: "remoteEnded"])
            let visitor = try bench.open("/v1/events?after=01234567.1&types=call.*", bench.bearer)
            #expect(visitor.status == 101 && visitor.answer.contains("Sec-WebSocket-Protocol: hookswitch.events.v1\r\n"))
            let first = visitor.text(), second = visitor.text()
            #expect(try Self.member("id", of: first) == "01234567.2" && Self.member("prev", of: first) == "01234567.1")
            #expect(try Self.member("type", of: second) == "call.ended" && Self.member("prev", of: second) == "01234567.2")
            bench.tell(5, .callEnded)
            #expect(try Self.member("prev", of: visitor.text()) == "01234567.4")
            visitor.send("a reader has nothing to say")
            bench.tell(6, .callEnded)
            #expect(try Self.member("prev", of: visitor.text()) == "01234567.5")
            bench.server.end()
            #expect(visitor.next() == .closed(.goingAway))
        }

        @Test func `what cannot begin is refused before it is a WebSocket`() throws {
            let bench = try Bench()
            #expect(try bench.open("/v1/events?after=99999999.1", bench.bearer).status == 410)
            #expect(try bench.open("/v1/events?after=x", bench.bearer).status == 400)
            #expect(try bench.open("/v1/events").status == 401)
            #expect(try bench.open("/v1/calls", bench.bearer).status == 200, "other paths stay HTTP")
            let handshake = bench.bearer + "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
            let old = try bench.ask("GET", "/v1/events", "", handshake + "Sec-WebSocket-Version: 8\r\n")
            #expect(old.status == 426 && old.text.contains("Sec-WebSocket-Version: 13\r\n") && old.text.contains("Upgrade: websocket\r\n"))
            #expect(try bench.ask("GET", "/v1/events", "", bench.bearer + "Upgrade: websocket\r\n").status == 400)
        }

        @Test func `a page of another origin is refused, and a program without one is not`() throws {
            let bench = try Bench(), cases = [("", 101), ("http://localhost", 101), ("https://console.example.test", 101)]
            for (origin, status) in cases + [("https://evil.example", 403), ("null", 403), ("https://localhost.evil.example", 403)] {
                let field = origin.isEmpty ? "" : "Origin: \(origin)\r\n"
                #expect(try bench.open("/v1/events", bench.bearer + field).status == status, "\(origin)")
            }
            #expect(
                try bench.ask("GET", "/v1/calls", "", bench.bearer + "Origin: https://console.example.test\r\n").status == 403,
                "the setting is for WebSockets")
        }

        @Test func `who breaks the rules of frames is told which, and leaves nothing behind`() throws {
            let bench = try Bench()
            for (bytes, code) in [
                ([0x81, 5] + Array("Hello".utf8), 1002), ([0x81, 0xFE, 0x20, 0, 1, 2, 3, 4, 5], 1009),
                ([0x81, 0x81, 0, 0, 0, 0, 0xFF], 1007),
            ] as [([UInt8], UInt16)] {
                let visitor = try bench.open("/v1/events", bench.bearer)
                visitor.write(bytes)
                #expect(visitor.next() == .closed(.init(rawValue: code)))
                #expect(visitor.next() == nil)
            }
            let visitor = try bench.open("/v1/events", bench.bearer)
            #expect(try bench.readers == 1)
            visitor.close()
            #expect(visitor.next() == .closed(.normal))
            try bench.wait { try bench.readers == 0 }
        }

        @Test func `a reader that stalls is told to come again, and misses nothing`() throws {
            let bench = try Bench(), last: UInt64 = 4_000, long = String(repeating: "x", count: 4_000)
            let stalling = try bench.open("/v1/events?after=01234567.1", bench.bearer, room: 16_384)
            #expect(try bench.readers == 1)
            for sequence in 2...last { bench.tell(sequence, .doNotDisturbChanged, [.cause: .init(long)]) }
            try bench.wait { try bench.readers == 0 }
            var ids: [String] = ["01234567.1"], visitor = stalling, connections = 1
            while ids.last != "01234567.\(last)" {
                guard let event = visitor.next() else { break }
                switch event {
                case .text(let bytes):
                    let json = String(decoding: bytes, as: UTF8.self)
                    #expect(try Self.member("prev", of: json) == ids.last)
                    let id = try Self.member("id", of: json)
                    ids.append(try #require(id))
                case .closed(let code):
                    #expect(code == .tryAgainLater)
                    connections += 1
                    visitor = try bench.open("/v1/events?after=\(try #require(ids.last))", bench.bearer)
                default: break
                }
            }
            #expect(ids == (1...last).map { "01234567.\($0)" } && connections > 1)
            #expect(bench.server.figures.map { $0.counts.slowSockets > 0 && $0.counts.slowStreams == 0 } == true)
        }

        // MARK: Tickets

        @Test func `a ticket is good once, and has the rights of its token`() throws {
            let bench = try Bench(), ticket = try bench.ticket(of: bench.lineSecret)
            bench.tell(2, .callEnded, line: "1002")
            bench.tell(3, .callEnded, line: "1001")
            let visitor = try bench.open("/v1/events?after=01234567.1&ticket=\(ticket)")
            #expect(try visitor.status == 101 && Self.member("id", of: visitor.text()) == "01234567.3")
            #expect(try bench.open("/v1/events?ticket=\(ticket)").status == 401, "used")
            let other = try bench.ticket(of: bench.secret)
            #expect(try bench.ask("GET", "/v1/calls?ticket=\(other)").status == 401, "it is for events")
            #expect(try bench.open("/v1/events?ticket=\(other)", "Origin: https://evil.example\r\n").status == 403)
            #expect(try bench.ask("POST", "/v1/tickets").status == 401)
            try bench.file.write([])
            try bench.wait { try bench.open("/v1/events?ticket=\(other)").status == 401 }
        }

        // MARK: Logins

        @Test func `a login is a cookie, which changes something only from a page of this server`() throws {
            let bench = try Bench(), form = #"{"token": "\#(bench.secret)"}"#
            let answer = try bench.ask("POST", "/v1/login", form, "Origin: http://localhost\r\n")
            let cookie = try #require(answer.text.firstMatch(of: /Set-Cookie: (hookswitch=[^;]+); (.*)\r\n/))
            #expect(
                answer.status == 204 && cookie.2 == "Path=/; Max-Age=43200; HttpOnly; SameSite=Strict"
                    && !answer.text.contains(bench.secret))
            let field = "Cookie: theme=dark; \(cookie.1)\r\n", own = "Origin: http://localhost\r\n"
            #expect(try bench.ask("GET", "/v1/calls", "", field).status == 200)
            let access = try bench.ask("GET", "/v1/access", "", field)
            #expect(access.body["name"] as? String == "all" && access.body["scopes"] as? [String] == ["read", "control", "admin"])
            #expect(access.body["expires"] is String && access.body["lines"] == nil)
            #expect(try bench.open("/v1/events", field + own).status == 101)
            for (origin, status) in [("", 403), ("Origin: http://evil.example\r\n", 403), ("Origin: null\r\n", 403), (own, 503)] {
                #expect(try bench.ask("POST", "/v1/server/drain", "", field + origin).status == status, "\(origin)")
            }
            #expect(try bench.ask("POST", "/v1/tickets", "", field + own).status == 201)
            let out = try bench.ask("DELETE", "/v1/login", "", field + own)
            #expect(out.status == 204 && out.text.contains("Set-Cookie: hookswitch=; Path=/; Max-Age=0;"))
            #expect(try bench.ask("GET", "/v1/calls", "", field).status == 401)
        }

        @Test func `a login ends with its token, and wrong ones are slowed down as wrong tokens are`() throws {
            let bench = try Bench(), answer = try bench.ask("POST", "/v1/login", #"{"token": "\#(bench.secret)"}"#)
            let cookie = try #require(answer.text.firstMatch(of: /hookswitch=[^;]+/)).output
            #expect(try bench.ask("POST", "/v1/login", "{}").status == 400)
            #expect(try bench.ask("POST", "/v1/login", "{}", "Origin: https://evil.example\r\n").status == 403)
            let wrong = try (0...10).map { _ in try bench.ask("POST", "/v1/login", #"{"token": "hsw_wrong"}"#).status }
            #expect(wrong == Array(repeating: 401, count: 10) + [429])
            #expect(try bench.ask("GET", "/v1/calls", "", "Cookie: \(cookie)\r\n").status == 200)
            try bench.file.write([])
            try bench.wait { try bench.ask("GET", "/v1/calls", "", "Cookie: \(cookie)\r\n").status == 401 }
        }
    }
}
