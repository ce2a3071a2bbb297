import CallJournal
import CallKit
import Foundation
import HTTP
import Media
import Primitives
import RTP
import Runtime
import SIP
import Synchronization
import Testing
import UserAgent

@testable import Console
@testable import Gateway

extension RealTime {
    @Suite(.timeLimit(.minutes(30))) struct ControlServerTests {
        private let gateway = ScriptedGateway()
        private let server: ControlServer
        private static let call = UUID(uuidString: "0B000000-0000-4000-8000-000000000001")!

        init() throws {
            server = try ControlServer(path: nil, addresses: [anyLoopbackPort], version: "1.2.3")
            server.begin(gateway) {}
        }

        private func visitor() throws -> Visitor { try Visitor(to: try #require(server.addresses.first)) }

        private func ask(_ method: String, _ path: String, _ body: String? = nil, _ fields: String = "") throws -> (
            status: Int, body: [String: Any]
        ) {
            let visitor = try visitor()
            visitor.write(Self.request(method, path, body, fields))
            return try Self.read(visitor)
        }

        private static func request(_ method: String, _ path: String, _ body: String?, _ fields: String = "") -> String {
            "\(method) \(path) HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\(fields)"
                + (body.map { "Content-Length: \($0.utf8.count)\r\n\r\n\($0)" } ?? "\r\n")
        }

        private static func read(_ visitor: Visitor) throws -> (status: Int, body: [String: Any]) {
            let text = try #require(visitor.readToEnd()), parts = text.components(separatedBy: "\r\n\r\n")
            let status = try #require(Int(text.dropFirst(9).prefix(3)))
            let body = (try? JSONSerialization.jsonObject(with: Data((parts.count > 1 ? parts[1] : "").utf8))) as? [String: Any]
            return (status, body ?? [:])
        }

        private func tell(_ sequence: UInt64, _ kind: JournalEvent.Kind, call: UUID? = call, _ details: JournalEvent.Details = [:]) {
            server.note(
                JournalEvent(sequence: sequence, time: .zero, call: call.map(CallUUID.init), line: "1001", kind: kind, details: details))
        }

        @Test(
            arguments: [
                (#"{"actions": []}"#, 409, "emptyTransaction"),
                (#"{"actions": [{"type": "CXEndCallAction"}]}"#, 400, "actions[0].call is missing"),
                (
                    #"{"actions": [{"type": "CXEndCall", "call": "0B000000-0000-4000-8000-000000000001"}]}"#, 400,
                    "actions[0].type: 'CXEndCall' is none of"
                ),
                (#"{"actions": [{"type": "CXEndCallAction", "call": "x"}]}"#, 400, "actions[0].call"),
                (#"{"actions": [{"type": "CXStartCallAction"}]}"#, 400, "actions[0].handle is missing"),
                (
                    #"{"actions": [{"type": "CXPlayDTMFCallAction", "call": "0B000000-0000-4000-8000-000000000001", "digits": "1x"}]}"#,
                    400, "actions[0].digits"
                ),
                (
                    #"{"actions": [{"type": "CXSetHeldCallAction", "call": "0B000000-0000-4000-8000-000000000001"}]}"#, 400,
                    "actions[0].onHold is missing"
                ),
                (#"{"actions": 5}"#, 400, "actions must be"), ("{", 400, "the content is no JSON"), (#"{}"#, 400, "actions is missing"),
                (#"{"actions": [], "wait": "done"}"#, 400, "wait: 'done' is none of accepted, performed, connected"),
                (#"{"actions": [], "within": 500}"#, 400, "within: "),
            ] as [(String, Int, String)])
        func `what is no transaction is told where it is wrong`(body: String, status: Int, words: String) throws {
            if status == 409 { gateway.state.withLock { $0.error = .refused(.emptyTransaction) } }
            let answer = try ask("POST", "/v1/transactions", body)
            #expect(
                answer.status == status && "\(answer.body["code"] ?? "") \(answer.body["detail"] ?? "")".contains(words), "\(answer)")
            #expect(
                answer.body["type"] as? String == "urn:hookswitch:problem:\(answer.body["code"] ?? "")"
                    && answer.body["status"] as? Int == status)
        }

        @Test func `requests, connections and readers are counted in the metrics`() throws {
            func figures() throws -> [String: Double] {
                try Exposition(PrometheusText(.idle, service: ServiceFigures(api: server.figures)).text).values
            }
            #expect(try ask("GET", "/v1/server").status == 200 && ask("GET", "/v1/nothing").status == 404)
            #expect(try ask("POST", "/v1/transactions", "{").status == 400)
            let malformed = try visitor()
            malformed.write("GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n")
            #expect(malformed.readToEnd()?.hasPrefix("HTTP/1.1 400") == true)
            let stream = try visitor(), socket = try SocketVisitor(to: try #require(server.addresses.first), "/v1/events")
            stream.write(Self.request("GET", "/v1/events", nil))
            #expect(stream.read(until: "retry: 1000").hasPrefix("HTTP/1.1 200") && socket.status == 101)
            try wait { (try? figures())?["hookswitch_api_connections"] == 2 }
            let read = try figures()
            for (method, status, count) in [
                ("GET", "2xx", 2), ("GET", "1xx", 1), ("GET", "4xx", 1), ("POST", "4xx", 1), ("POST", "2xx", 0), ("other", "5xx", 0),
            ] {
                let labels = "{method=\"\(method)\",status=\"\(status)\"}"
                #expect(read["hookswitch_api_requests_total" + labels] == Double(count), "\(labels)")
            }
            #expect(read["hookswitch_api_connections_total"] == 6 && read["hookswitch_api_refused_total{cause=\"malformed\"}"] == 1)
            for transport in ["sse", "websocket"] {
                #expect(read["hookswitch_api_event_readers{transport=\"\(transport)\"}"] == 1)
                #expect(read["hookswitch_api_slow_readers_total{transport=\"\(transport)\"}"] == 0)
            }
            let sent = try #require(read["hookswitch_api_sent_bytes_total"])
            tell(1, .reportIncoming)
            tell(2, .reportIncomingAccepted)
            let event = try #require(socket.text())
            #expect(try figures()["hookswitch_api_sent_bytes_total"].map { $0 >= sent + Double(event.utf8.count) } == true)
            #expect(!PrometheusText(.idle).text.contains("hookswitch_api_"))
        }

        /// Head and content of the answer to a request that may be compressed.
        private func raw(_ method: String, _ path: String, _ fields: String, _ body: String? = nil) throws -> (head: String, body: [UInt8])
        {
            let visitor = try visitor()
            visitor.write(Self.request(method, path, body, fields))
            var bytes: [UInt8] = []
            while let more = visitor.read() { bytes += more }
            let split = try #require(bytes.firstRange(of: Array("\r\n\r\n".utf8)))
            return (String(decoding: bytes[..<split.upperBound], as: UTF8.self), Array(bytes[split.upperBound...]))
        }

        @Test func `long answers to reads are compressed for who takes it, and no others`() throws {
            let path = "/v1/asyncapi.json", gzip = "Accept-Encoding: br, gzip\r\n"
            let plain = try raw("GET", path, ""), coded = try raw("GET", path, gzip), head = try raw("HEAD", path, gzip)
            #expect(plain.head.contains("Vary: Accept-Encoding\r\n") && !plain.head.contains("Content-Encoding"))
            let compressed = try #require(Gzip.compressed(plain.body))
            #expect(coded.body == compressed && compressed.count < plain.body.count / 4)
            for line in [
                "Content-Encoding: gzip", "Vary: Accept-Encoding", "Content-Length: \(compressed.count)", "Content-Type: application/json",
            ] {
                #expect(coded.head.contains("\r\n\(line)\r\n") && head.head.contains("\r\n\(line)\r\n"), "\(line)")
            }
            #expect(head.body.isEmpty)
            #expect(try raw("GET", path, "Accept-Encoding: gzip;q=0, *\r\n").body == plain.body)
            let short = try raw("GET", "/v1/server", gzip)
            #expect(!short.head.contains("Content-Encoding") && !short.head.contains("Vary"))
            let missing = try raw("GET", "/v1/nothing", gzip)
            #expect(missing.head.hasPrefix("HTTP/1.1 404") && !missing.head.contains("Content-Encoding"))
        }

        @Test func `an answer that may carry a secret, has a tag or is a part is not compressed`() {
            let long = [UInt8](repeating: 0x20, count: 2_000)
            func coded(_ method: HTTPRequest.Method, _ fields: HTTPFields = [:], type: String = "application/json") -> HTTPReply {
                let exchange = HTTPConnection.Exchange(method: method, keepsAlive: true, isOld: false, takesGzip: true)
                return HTTPReply(.ok, body: long, type: type, fields: fields).coded(for: exchange)
            }
            #expect(coded(.get).fields[.contentEncoding] == "gzip" && coded(.get).body.count < 100)
            #expect(coded(.get, [.vary: "Accept"]).fields[.vary] == "Accept, Accept-Encoding")
            for (method, fields) in [
                (.post, [:]), (.delete, [:]), (.get, [.setCookie: "a=b"]), (.get, [.eTag: "\"a\""]), (.get, [.contentRange: "bytes 0-1/2"]),
            ] as [(HTTPRequest.Method, HTTPFields)] {
                let reply = coded(method, fields)
                #expect(reply.body == long && reply.fields[.contentEncoding] == nil && reply.fields[.vary] == nil, "\(method) \(fields)")
            }
            for (type, isCoded) in [
                ("audio/wav", false), ("application/x-pcapng", false), ("image/svg+xml", true), ("text/html; charset=utf-8", true),
            ] {
                #expect((coded(.get, type: type).fields[.contentEncoding] != nil) == isCoded, "\(type)")
            }
        }

        @Test func `actions become those of CallKit, in their order`() throws {
            let id = Self.call.uuidString,
                text =
                    #"{"line": "1001", "actions": [{"type": "CXStartCallAction", "call": "\#(id)", "handle": {"value": "+391"}}, {"type": "CXAnswerCallAction", "call": "\#(id)"}, {"type": "CXSetHeldCallAction", "call": "\#(id)", "onHold": true}, {"type": "CXSetMutedCallAction", "call": "\#(id)", "muted": false}, {"type": "CXSetGroupCallAction", "call": "\#(id)", "with": "\#(id)"}, {"type": "CXSetGroupCallAction", "call": "\#(id)"}, {"type": "CXPlayDTMFCallAction", "call": "\#(id)", "digits": "1*A"}, {"type": "CXEndCallAction", "call": "\#(id)"}]}"#
            #expect(try ask("POST", "/v1/transactions", text).status == 202)
            let order = try #require(gateway.state.withLock { $0.orders.first })
            #expect(order.line == "1001")
            #expect(
                order.actions == [
                    .start(call: Self.call, CallRequest(handle: CXHandle(type: .phoneNumber, value: "+391"))), .answer(Self.call),
                    .setHeld(Self.call, true), .setMuted(Self.call, false),
                    .setGroup(Self.call, with: Self.call), .setGroup(Self.call, with: nil), .playDTMF(Self.call, digits: "1*A"),
                    .end(Self.call),
                ])
        }

        @Test func `the same transaction again has the same outcome, and another under its UUID is refused`() throws {
            let id = UUID().uuidString, call = Self.call.uuidString
            func body(_ type: String) -> String { #"{"id": "\#(id)", "actions": [{"type": "\#(type)", "call": "\#(call)"}]}"# }
            let first = try ask("POST", "/v1/transactions", body("CXEndCallAction")),
                again = try ask("POST", "/v1/transactions", body("CXEndCallAction"))
            #expect(first.status == 202 && again.status == 202 && first.body["id"] as? String == id && again.body["id"] as? String == id)
            #expect(gateway.state.withLock { $0.orders.count } == 1, "it is asked for once")
            let other = try ask("POST", "/v1/transactions", body("CXAnswerCallAction"))
            #expect(other.status == 409 && other.body["code"] as? String == "idempotencyConflict")
            #expect(try ask("GET", "/v1/transactions/\(id)").status == 202)
            #expect(try ask("GET", "/v1/transactions/\(UUID())").status == 404)
            for _ in 0..<2 {
                #expect(try ask("POST", "/v1/calls", #"{"line": "1001", "to": "1002"}"#, "Idempotency-Key: k1\r\n").status == 202)
            }
            #expect(gateway.state.withLock { $0.orders.count } == 2)
        }

        @Test(arguments: [true, false]) func `a request waits until its actions are performed, whether the gateway or its events are first`(
            isSlow: Bool
        ) throws {
            gateway.state.withLock { $0.isSlow = isSlow }
            tell(1, .reportIncoming)
            let visitor = try visitor()
            visitor.write(Self.request("POST", "/v1/calls/\(Self.call)/end", #"{"wait": "performed"}"#))
            try wait { gateway.state.withLock { $0.orders.count } == 1 }
            tell(2, .actionFulfilled, [.action: .init(ScriptedGateway.action), .class: "end"])
            for answer in gateway.state.withLock({ $0.waiting }) { answer() }
            tell(3, .callEnded, [.reason: "ended"])
            let answer = try Self.read(visitor), action = try #require((answer.body["actions"] as? [[String: Any]])?.first)
            #expect(answer.status == 200 && answer.body["state"] as? String == "performed" && action["state"] as? String == "fulfilled")
            #expect(action["type"] as? String == "CXEndCallAction" && action["call"] as? String == Self.call.uuidString)
        }

        @Test func `a request waits until its call is connected, or no longer than it wants`() throws {
            let visitor = try visitor()
            visitor.write(
                Self.request(
                    "POST", "/v1/transactions",
                    #"{"wait": "connected", "actions": [{"type": "CXStartCallAction", "call": "\#(Self.call)", "handle": {"value": "1"}}]}"#
                ))
            try wait { gateway.state.withLock { $0.orders.count } == 1 }
            tell(1, .performStart)
            tell(2, .actionFulfilled, [.action: .init(ScriptedGateway.action), .class: "start"])
            let late = try ask(
                "POST", "/v1/transactions",
                #"{"wait": "connected", "within": 0.05, "actions": [{"type": "CXAnswerCallAction", "call": "\#(Self.call)"}]}"#)
            #expect(late.status == 202 && late.body["state"] as? String == "accepted")
            tell(3, .reportConnected)
            #expect(try Self.read(visitor).status == 200)
        }

        @Test func `what the gateway refuses has CallKit's name for it`() throws {
            for (error, status, code) in [
                (.refused(.maximumCallGroupsReached), 409, "maximumCallGroupsReached"), (.noLine("7"), 404, "noLine"),
                (.start(.noDevice), 409, "noDevice"),
            ] as [(TransactionOrderError, Int, String)] {
                gateway.state.withLock { $0.error = error }
                let answer = try ask("POST", "/v1/calls", #"{"line": "1001", "to": "1002"}"#)
                #expect(answer.status == status && answer.body["code"] as? String == code)
            }
            #expect(try ask("POST", "/v1/calls/\(UUID())/end").status == 404)
            #expect(try ask("POST", "/v1/calls/x/end").status == 400)
        }

        @Test func `conversations are read as actions and transfers make them`() throws {
            let other = UUID(uuidString: "0B000000-0000-4000-8000-000000000002")!, action = CallUUID(UUID())
            tell(1, .gatewayStarted, call: nil, [.run: "0123456789abcdef"])
            tell(2, .performStart)
            tell(3, .performStart, call: other)
            tell(4, .performGroup, call: other, [.action: .uuid(action), .with: .init(Self.call)])
            tell(5, .actionFulfilled, call: other, [.action: .uuid(action), .class: "group"])
            try wait { (try? ask("GET", "/v1/groups").body["position"] as? String) == "01234567.5" }
            let groups = try #require(try ask("GET", "/v1/groups").body["groups"] as? [[String: Any]])
            #expect(groups.map { $0["calls"] as? [String] } == [[Self.call.uuidString, other.uuidString]])
            #expect(groups.first?["line"] as? String == "1001" && groups.first?["isConference"] as? Bool == false)
            #expect(try ask("GET", "/v1/calls/\(Self.call)").body["groupedWith"] as? [String] == [other.uuidString])
            #expect(try ask("POST", "/v1/calls/\(other)/group", #"{"with": "\#(Self.call)"}"#).status == 202)
            #expect(try ask("POST", "/v1/calls/\(other)/group").status == 202)
            let orders = gateway.state.withLock { $0.orders.map(\.actions) }
            #expect(orders == [[.setGroup(other, with: Self.call)], [.setGroup(other, with: nil)]])
        }

        @Test func `a token for some lines sees nothing of the calls of others that a transfer joined`() throws {
            let file = AccessTokenFile(path: FileManager.default.temporaryDirectory.appending(path: "tokens-\(UUID()).json").path)
            defer { unlink(file.path) }
            let (kept, secret) = AccessToken.make(name: "a", scopes: [.read], lines: ["1001"], expires: nil), other = CallUUID(UUID())
            try file.write([kept])
            let server = try ControlServer(path: nil, addresses: [anyLoopbackPort], tokens: file, version: "1.2.3")
            server.begin(gateway) {}
            func note(_ sequence: UInt64, _ kind: JournalEvent.Kind, _ call: CallUUID?, _ line: Text, _ details: JournalEvent.Details = [:])
            {
                server.note(JournalEvent(sequence: sequence, time: .zero, call: call, line: line, kind: kind, details: details))
            }
            func ask(_ path: String) throws -> [String: Any] {
                let visitor = try Visitor(to: try #require(server.addresses.first))
                visitor.write(Self.request("GET", path, nil, "Authorization: Bearer \(secret)\r\n"))
                return try Self.read(visitor).body
            }
            note(1, .gatewayStarted, nil, "", [.run: "0123456789abcdef"])
            note(2, .performStart, CallUUID(Self.call), "1001")
            note(3, .performStart, other, "1002")
            note(4, .transferred, CallUUID(Self.call), "1001", [.with: .uuid(other)])
            try wait { (try? ask("/v1/groups")["position"] as? String) == "01234567.4" }
            let groups = try #require(try ask("/v1/groups")["groups"] as? [[String: Any]])
            #expect(groups.map { $0["calls"] as? [String] } == [[Self.call.uuidString]] && groups[0]["line"] as? String == "1001")
            #expect((try ask("/v1/calls/\(Self.call)")["groupedWith"] as? [String])?.isEmpty == true)
        }

        @Test func `calls are read at a position, by line and state`() throws {
            tell(1, .gatewayStarted, call: nil, [.run: "0123456789abcdef"])
            tell(2, .reportIncoming, [.remote: "alice"])
            // Events are gathered before they are told.
            try wait { (try? ask("GET", "/v1/snapshot").body["position"] as? String) == "01234567.2" }
            let calls = try ask("GET", "/v1/calls?line=1001")
            #expect(calls.status == 200 && calls.body["position"] as? String == "01234567.2")
            #expect((calls.body["calls"] as? [[String: Any]])?.first?["id"] as? String == Self.call.uuidString)
            for path in ["/v1/calls?line=1002", "/v1/calls?state=ended"] {
                #expect((try ask("GET", path).body["calls"] as? [Any])?.isEmpty == true, "\(path)")
            }
            #expect(try ask("GET", "/v1/calls?state=gone").status == 400)
            #expect(try ask("GET", "/v1/calls/\(Self.call)").body["handle"] as? String == "alice")
            #expect(try ask("GET", "/v1/server").body["version"] as? String == "1.2.3")
        }

        @Test func `lines are asked for at most ten times a second, and what is told holds`() throws {
            for _ in 0..<20 { #expect(try ask("GET", "/v1/lines").status == 200) }
            #expect(gateway.state.withLock { $0.lineAsks } <= 3)
            #expect(try ask("PUT", "/v1/lines/1001/dnd", #"{"on": true}"#).status == 204)
            #expect(try ask("GET", "/v1/lines/1001/dnd").body["on"] as? Bool == true, "at once")
            #expect(try ask("GET", "/v1/lines/1001").body["name"] as? String == "Alice")
            #expect(try ask("GET", "/v1/lines/7").status == 404 && ask("PUT", "/v1/lines/7/dnd", #"{"on": true}"#).status == 404)
            #expect(
                try ask("PUT", "/v1/lines/1001/blocked/%2B39").status == 204 && ask("DELETE", "/v1/lines/1001/blocked/%2B39").status == 204)
            #expect(try ask("GET", "/v1/lines/1001/recents").status == 200 && ask("GET", "/v1/lines/7/recents").status == 404)
        }

        @Test func `recent calls are asked for at most ten times a second, for all who wait, and what is told holds`() throws {
            func count() throws -> Int? { (try ask("GET", "/v1/lines/1001/recents").body["recents"] as? [Any])?.count }
            for _ in 0..<20 { #expect(try count() == 0) }
            #expect(gateway.state.withLock { $0.recentsAsks } <= 3)
            let call = RecentCall(
                id: UUID(), line: "1001", direction: .incoming, handleType: .generic, handle: "1", name: nil, began: Date(), connected: nil,
                ended: Date(), outcome: .missed, reason: "")
            gateway.state.withLock { $0.recents = [call] }
            tell(1, .gatewayStarted, call: nil, [.run: "0123456789abcdef"])
            tell(2, .callEnded)
            try wait { (try? ask("GET", "/v1/server").body["position"] as? String) == "01234567.2" }
            #expect(try count() == 1, "at once")
            // Asked before the end of a call and answered behind it, nothing is told of.
            gateway.state.withLock { $0.isSlow = true }
            tell(3, .callEnded)
            try wait { (try? ask("GET", "/v1/server").body["position"] as? String) == "01234567.3" }
            let visitors = try (0..<5).map { _ in try visitor() }, asks = gateway.state.withLock { $0.recentsAsks }
            for visitor in visitors { visitor.write(Self.request("GET", "/v1/lines/1001/recents", nil)) }
            try wait { gateway.state.withLock { $0.waiting.count == 1 } }
            gateway.state.withLock { $0.recents = [call, call] }
            tell(4, .callEnded)
            try wait { (try? ask("GET", "/v1/server").body["position"] as? String) == "01234567.4" }
            let answers = gateway.state.withLock { state in
                state.isSlow = false
                return state.waiting
            }
            for answer in answers { answer() }
            for visitor in visitors { #expect((try Self.read(visitor).body["recents"] as? [Any])?.count == 2) }
            #expect(gateway.state.withLock { $0.recentsAsks } == asks + 2, "one ask for all, and one more")
        }

        @Test func `events are streamed from a position on, and a stream ends with the server`() throws {
            tell(1, .gatewayStarted, call: nil, [.run: "0123456789abcdef"])
            tell(2, .reportIncomingAccepted)
            tell(3, .callEnded, [.reason: "remoteEnded"])
            let visitor = try visitor()
            visitor.write(Self.request("GET", "/v1/events?after=01234567.1&types=call.*", nil))
            let text = visitor.read(until: "01234567.3\n")
            #expect(text.contains("Content-Type: text/event-stream\r\n") && text.contains("id: 01234567.2\nevent: call.incoming\ndata: {"))
            tell(4, .doNotDisturbChanged, call: nil, [.on: true])
            tell(5, .callEnded)
            #expect(visitor.read(until: "01234567.5\n").contains(#""prev":"01234567.3""#))
            let again = try self.visitor()
            again.write(Self.request("GET", "/v1/events?after=01234567.1", nil, "Last-Event-ID: 01234567.4\r\n"))
            #expect(again.read(until: "01234567.5\n").contains("id: 01234567.5\n"), "the field of the browser is the later")
            #expect(try ask("GET", "/v1/events?after=99999999.1").status == 410)
            #expect(try ask("GET", "/v1/events?after=x").status == 400 && ask("GET", "/v1/events?types=calls").status == 400)
            server.end()
            #expect(visitor.readToEnd()?.hasSuffix("0\r\n\r\n") == true)
        }

        @Test func `before the gateway runs it says so`() throws {
            let server = try ControlServer(path: nil, addresses: [anyLoopbackPort], version: "1"),
                visitor = try Visitor(to: server.addresses[0])
            visitor.write(Self.request("POST", "/v1/calls", #"{"line": "1001", "to": "1"}"#))
            #expect(try Self.read(visitor).status == 503)
        }

        @Test func `a page of another origin, and a name that is none of ours, are refused`() throws {
            #expect(try ask("POST", "/v1/server/drain", nil, "Origin: http://evil.example\r\n").status == 403)
            let visitor = try visitor()
            visitor.write("POST /v1/server/drain HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n")
            #expect(try Self.read(visitor).status == 421 && !gateway.state.withLock { $0.isDraining })
            #expect(
                try ask("POST", "/v1/server/drain", nil, "Origin: http://localhost\r\n").status == 202
                    && gateway.state.withLock { $0.isDraining })
        }

        private func wait(_ isTrue: () -> Bool) throws {
            let end = MonotonicClock.now + .seconds(20)
            while !isTrue() {
                try #require(MonotonicClock.now < end)
                usleep(1_000)
            }
        }
    }
}
