import CallJournal
import CallKit
import Foundation
import HTTP
import Primitives
import Runtime
import Synchronization
import Testing

@testable import Console
@testable import Gateway

extension RealTime {
    /// Control interfaces of several gateways, each of which answers for all, over real sockets.
    @Suite(.timeLimit(.minutes(30))) struct NodeTests {
        private static let secret = "0123456789abcdef0123456789abcdef"

        /// A gateway with its control interface.
        private final class Node {
            let name: String
            let gateway = ScriptedGateway()
            let journal: RotatedJournal
            private(set) var server: ControlServer
            let address: SocketAddress
            var settings: NodeSettings.Node {
                .init(name: name, isSecure: false, host: address.address.description, port: address.port)
            }

            init(_ name: String, seed: UInt64, tokens: AccessTokenFile? = nil) throws {
                self.name = name
                journal = try RotatedJournal(seed: seed)
                journal.write()
                server = try Self.server(name, journal, anyLoopbackPort, tokens)
                address = server.addresses[0]
                begin()
            }

            private static func server(_ name: String, _ journal: RotatedJournal, _ address: SocketAddress, _ tokens: AccessTokenFile?)
                throws -> ControlServer
            {
                try ControlServer(
                    path: nil, addresses: [address], tokens: tokens, journal: journal.path,
                    nodes: NodeSettings(own: name, nodes: [], secret: NodeTests.secret, trust: nil), version: "1.2.3")
            }

            private func begin() {
                server.begin(gateway) {}
                journal.onEvent = { [server] in server.note($0) }
            }

            func end() {
                journal.onEvent = nil
                server.end()
            }

            /// Another run, at the same address, with the nodes that it has.
            func beginAgain(_ nodes: [Node]) throws {
                server = try Self.server(name, journal, address, nil)
                server.use(nodes.map(\.settings))
                begin()
                journal.start()
                journal.write()
            }
        }

        private let first: Node, second: Node

        init() throws {
            (first, second) = (try Node("gateway-1", seed: 21), try Node("gateway-2", seed: 22))
            for node in [first, second] { node.server.use([first, second].map(\.settings)) }
        }

        private static func ask(
            _ node: Node, _ path: String, method: String = "GET", _ body: String = "", _ fields: String = ""
        ) throws -> (status: Int, body: [String: Any]) {
            let visitor = try Visitor(to: node.address)
            visitor.write(
                "\(method) \(path) HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\(fields)Content-Length: \(body.utf8.count)\r\n\r\n\(body)"
            )
            let text = try #require(visitor.readToEnd()), content = text.components(separatedBy: "\r\n\r\n").dropFirst().joined()
            let object = try? JSONSerialization.jsonObject(with: Data(content.utf8)) as? [String: Any]
            return (try #require(Int(text.dropFirst(9).prefix(3))), object ?? [:])
        }

        private static func call(_ number: UInt64) -> CallUUID { CallUUID(high: number, low: 7) }

        /// A call is reported at a node, and its control interface has heard of it.
        private static func report(_ call: CallUUID, line: Text = "1001", at node: Node) throws {
            node.journal.record(.reportIncoming, call, line: line, [.remote: "alice"])
            node.journal.record(.reportIncomingAccepted, call, line: line)
            node.journal.write()
            try wait { try ask(node, "/v1/calls/\(call)?node=\(node.name)").status == 200 }
        }

        private static func wait(_ isTrue: () throws -> Bool) throws {
            let end = MonotonicClock.now + .seconds(60)
            while try !isTrue() {
                try #require(MonotonicClock.now < end)
                usleep(2_000)
            }
        }

        private static func names(_ list: Any?) -> [String] { (list as? [[String: Any]] ?? []).compactMap { $0["node"] as? String } }

        // MARK: Reads and actions

        @Test func `each answers with the calls of all, and says which has them`() throws {
            let (one, two) = (Self.call(1), Self.call(2))
            try Self.report(one, at: first)
            try Self.report(two, at: second)
            for node in [first, second] {
                let calls = try Self.ask(node, "/v1/calls").body
                #expect(Self.names(calls["calls"]).sorted() == ["gateway-1", "gateway-2"])
                #expect(Self.names(calls["nodes"]) == ["gateway-1", "gateway-2"])
                #expect((calls["position"] as? String).flatMap(MergedPosition.init)?.parts.count == 2)
                #expect(try Self.ask(node, "/v1/calls/\(one)").body["id"] as? String == one.description)
                #expect(try Self.ask(node, "/v1/calls/\(two)").body["id"] as? String == two.description)
                #expect(try Self.ask(node, "/v1/calls?node=gateway-1").body["calls"].map { ($0 as? [Any])?.count } == 1)
                #expect(Self.names(try Self.ask(node, "/v1/server").body["nodes"]) == ["gateway-1", "gateway-2"])
            }
            let visitor = try Visitor(to: first.address)
            visitor.write("HEAD /v1/calls/\(two) HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
            let head = try #require(visitor.readToEnd())
            #expect(
                head.hasPrefix("HTTP/1.1 200") && head.hasSuffix("\r\n\r\n") && !head.contains("Content-Length: 0\r\n"),
                "the length of a GET")
            let nobody = try Self.ask(first, "/v1/calls/\(Self.call(3))")
            #expect(nobody.status == 404 && nobody.body["code"] as? String == "notFound")
            let misspelt = try Self.ask(first, "/v1/calls?node=gateway-3")
            #expect(misspelt.status == 400 && (misspelt.body["detail"] as? String)?.contains("gateway-") == true)
        }

        @Test func `an action goes to the gateway that has the call`() throws {
            let call = Self.call(4)
            try Self.report(call, at: second)
            first.gateway.state.withLock { $0.error = .refused(.unknownCallUUID) }
            #expect(try Self.ask(first, "/v1/calls/\(call)/hold", method: "POST", #"{"onHold": true}"#).status == 202)
            #expect(second.gateway.state.withLock { $0.orders.map(\.actions.count) } == [1])
            let transaction = #"{"line": "1001", "actions": [{"type": "CXEndCallAction", "call": "\#(call)"}]}"#
            #expect(try Self.ask(first, "/v1/transactions", method: "POST", transaction).status == 202)
            #expect(second.gateway.state.withLock { $0.orders.count } == 2)
        }

        @Test func `a token for some lines sees those of other gateways alone, and no other secret is taken`() throws {
            let path = FileManager.default.temporaryDirectory.appending(path: "tokens-\(UUID())").path
            defer { try? FileManager.default.removeItem(atPath: path) }
            let made = AccessToken.make(name: "desk", scopes: [.read], lines: ["1001"], expires: nil)
            try AccessTokenFile(path: path).write([made.kept])
            let door = try Node("gateway-3", seed: 23, tokens: AccessTokenFile(path: path))
            door.server.use([second.settings])
            try Self.report(Self.call(5), line: "1001", at: second)
            try Self.report(Self.call(6), line: "1002", at: second)
            let token = "Authorization: Bearer \(made.secret)\r\n"
            let calls = try Self.ask(door, "/v1/calls", "", token).body["calls"] as? [[String: Any]]
            #expect(calls?.compactMap { $0["id"] as? String } == [Self.call(5).description])
            #expect(try Self.ask(door, "/v1/calls/\(Self.call(6))", "", token).status == 404)
            #expect(try Self.ask(door, "/v1/calls/\(Self.call(5))/end", method: "POST", "", token).status == 403)
            let grant = AccessGrant.everything.told
            for secret in [made.secret, Self.secret + "0", ""] {
                let fields = "Authorization: Bearer \(secret)\r\n\(AccessGrant.field.rawName): \(grant)\r\n"
                #expect(try Self.ask(door, "/v1/server/drain", method: "POST", "", fields).status != 202)
            }
            let right = "Authorization: Bearer \(Self.secret)\r\n\(AccessGrant.field.rawName): \(grant)\r\n"
            #expect(try Self.ask(door, "/v1/server/drain", method: "POST", "", right).status == 202)
        }

        @Test func `a gateway that is away is named, and the others answer`() throws {
            try Self.report(Self.call(8), at: first)
            second.end()
            let body = try Self.ask(first, "/v1/calls").body, nodes = body["nodes"] as? [[String: Any]]
            #expect(Self.names(body["calls"]) == ["gateway-1"])
            #expect(nodes?.last?["isUp"] as? Bool == false && nodes?.last?["error"] as? String == "cannot be reached")
            let missing = try Self.ask(first, "/v1/calls/\(Self.call(9))")
            #expect(missing.status == 404 && (missing.body["detail"] as? String)?.contains("gateway-2 cannot be reached") == true)
        }

        // MARK: Events

        /// An event as a reader gets it.
        private struct Heard: Decodable {
            var id: String, prev: String?, type: String, node: String, nodePosition: String?
        }

        private static func next(_ visitor: SocketVisitor) throws -> Heard {
            try JSONDecoder().decode(Heard.self, from: Data(try #require(visitor.text()).utf8))
        }

        /// Reads until each node's last event has come; the last id, and the events' own positions by node.
        private static func read(
            _ visitor: SocketVisitor, after start: String, until last: [String: EventPosition]
        ) throws -> (id: String, heard: [String: [String]]) {
            var id = start, heard: [String: [String]] = [:]
            while last.contains(where: { heard[$0.key]?.last != $0.value.description }) {
                let event = try next(visitor)
                try #require(event.prev == id)
                id = event.id
                if let position = event.nodePosition { heard[event.node, default: []].append(position) }
            }
            return (id, heard)
        }

        private static func last(_ nodes: [Node]) throws -> [String: EventPosition] {
            try nodes.reduce(into: [:]) { last, node in
                let told = node.journal.events.compactMap(\.told)
                last[node.name] = try #require(told.last).position
            }
        }

        @Test func `a reader gets the events of all in one stream, and goes on at another gateway without a gap`() throws {
            let start = try #require(try Self.ask(first, "/v1/snapshot").body["position"] as? String)
            let visitor = try SocketVisitor(to: first.address, "/v1/events?after=\(start)")
            for _ in 0..<20 { for node in [first, second] { node.journal.recordSome(20) } }
            let one = try Self.read(visitor, after: start, until: try Self.last([first, second]))
            for node in [first, second] { node.journal.recordSome(50) }
            let other = try SocketVisitor(to: second.address, "/v1/events?after=\(one.id)")
            let two = try Self.read(other, after: one.id, until: try Self.last([first, second]))
            for node in [first, second] {
                let known = try #require(MergedPosition(start)?[node.name]?.sequence)
                let all = node.journal.events.compactMap(\.told).filter { $0.position.sequence > known }.map(\.position.description)
                #expect(all.count > 100 && one.heard[node.name]! + two.heard[node.name]! == all)
            }
        }

        @Test func `a gateway that ends and comes back is told of, and nothing of it is left out`() throws {
            let start = try #require(try Self.ask(first, "/v1/snapshot").body["position"] as? String)
            let visitor = try SocketVisitor(to: first.address, "/v1/events?after=\(start)")
            second.journal.recordSome(30)
            let before = try Self.read(visitor, after: start, until: try Self.last([second]))
            second.end()
            let lost = try Self.next(visitor)
            #expect(lost.type == "node.lost" && lost.node == "gateway-2" && lost.prev == before.id)
            second.journal.recordSome(30)
            try second.beginAgain([first, second])
            let back = try Self.next(visitor)
            #expect(back.type == "node.back" && back.node == "gateway-2")
            second.journal.recordSome(10)
            let after = try Self.read(visitor, after: back.id, until: try Self.last([second]))
            let known = try #require(MergedPosition(start)?["gateway-2"])
            let all = second.journal.events.compactMap(\.told).filter {
                $0.position.run != known.run || $0.position.sequence > known.sequence
            }
            #expect(before.heard["gateway-2"]! + after.heard["gateway-2"]! == all.map(\.position.description))
        }

        @Test func `events that are not kept any more are a gap of their gateway`() throws {
            let own = try #require(try Self.ask(first, "/v1/server?node=gateway-1").body["position"] as? String)
            let start = "gateway-1:\(own),gateway-2:99999999.7"
            let visitor = try SocketVisitor(to: first.address, "/v1/events?after=\(start)")
            let gap = try Self.next(visitor)
            #expect(gap.type == "node.gap" && gap.node == "gateway-2" && gap.prev == start)
            try Self.wait { (try Self.ask(second, "/v1/server?node=gateway-2").body["readers"] as? Int) == 1 }
            second.journal.recordSome(20)
            let heard = try Self.read(visitor, after: gap.id, until: try Self.last([second])).heard["gateway-2"]
            #expect(heard?.isEmpty == false)
        }

        @Test(arguments: ["0123abcd.42", "gateway-1:0123abcd", "gateway-1:0123abcd.1,gateway-1:0123abcd.2", "a b:0123abcd.1"])
        func `a position of one gateway is none of all`(text: String) throws {
            let answer = try Self.ask(first, "/v1/events?after=\(text.replacing(" ", with: "%20"))")
            #expect(answer.status == 400 && (answer.body["detail"] as? String)?.contains("gateway-1:0123abcd.42") == true)
        }

        @Test func `a reader that is slow gets all, piece by piece`() throws {
            let start = try #require(try Self.ask(first, "/v1/snapshot").body["position"] as? String)
            let visitor = try SocketVisitor(to: first.address, "/v1/events?after=\(start)", room: 4_096)
            let long = String(repeating: "x", count: 4_000)
            for _ in 0..<600 { second.journal.record(.doNotDisturbChanged, Self.call(1), [.cause: .init(long)]) }
            second.journal.write()
            let heard = try Self.read(visitor, after: start, until: try Self.last([second])).heard["gateway-2"]
            let known = try #require(MergedPosition(start)?["gateway-2"]?.sequence)
            #expect(heard == second.journal.events.compactMap(\.told).filter { $0.position.sequence > known }.map(\.position.description))
        }
    }
}
