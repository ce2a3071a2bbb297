import Glibc
import HTTP
import Primitives
import Runtime
import Testing

@testable import Console

extension RealTime {
    @Suite(.timeLimit(.minutes(30))) struct HTTPWebSocketTests {
        /// A server whose one route is a WebSocket that answers each text with itself.
        private final class Desk: LaneResident {
            let server: HTTPServer
            private let place = Place()

            /// The sockets that the route fills in.
            private final class Place {
                var sockets: [HTTPWebSocket] = []
                var ended = 0
            }

            init(on lane: any LaneDoor) throws(SocketError) {
                var routes = HTTPRoutes()
                routes.on(.get, "/echo") { [place] ask, responder in
                    guard let upgrade = try? WebSocketUpgrade(ask.request) else {
                        return responder.reply(HTTPReply(.badRequest), at: ask.now)
                    }
                    let number = place.sockets.count
                    let socket = responder.open(upgrade, limits: .init(), at: ask.now) { [unowned place] event, now in
                        if case .text(let text) = event { place.sockets[number].send(text: text, at: now) }
                    } ended: { [unowned place] in
                        place.ended += 1
                    }
                    if let socket { place.sockets.append(socket) }
                }
                server = try HTTPServer([.tcp(anyLoopbackPort)], routes: routes, on: lane)
            }

            var sockets: [HTTPWebSocket] { place.sockets }
            var ended: Int { place.ended }
            var socketCount: Int { server.connections.values.count { $0.state == .upgraded } }
            var deadline: Instant? { server.deadline }
            func advance(to now: Instant) { server.advance(to: now) }
        }

        private static func desk() throws -> (lane: Lane<Desk>, address: SocketAddress) {
            let lane = try Lane<Desk>(label: "desk") { lane, _ throws(SocketError) in try Desk(on: lane) }
            return (lane, try #require(lane.sync { desk, _ in desk.server.addresses[0] }))
        }

        @Test func `messages go both ways until the client's last word`() throws {
            let desk = try Self.desk(), visitor = try SocketVisitor(to: desk.address, "/echo")
            for word in ["a", "b"] {
                visitor.send(word)
                #expect(visitor.text() == word)
            }
            visitor.close()
            #expect(visitor.next() == .closed(.normal) && visitor.next() == nil)
            #expect(desk.lane.sync { desk, _ in desk.ended } == 1)
            #expect(desk.lane.sync { desk, _ in desk.server.counts.upgraded } == 1)
        }

        @Test func `who answers no ping is gone, and who does is not`() throws {
            let desk = try Self.desk(), silent = try SocketVisitor(to: desk.address, "/echo")
            let lively = try SocketVisitor(to: desk.address, "/echo")
            let asked = desk.lane.sync { desk, now in
                let due = desk.sockets.map(\.deadline).max() ?? .distantFuture
                #expect(due > now + .seconds(20) && due <= now + .seconds(25))
                desk.advance(to: due)
                return due
            }
            #expect(lively.next() == .ping([]))
            lively.send("here")
            #expect(lively.text() == "here", "the pong came before")
            desk.lane.sync { desk, _ in desk.advance(to: (asked ?? .zero) + .seconds(20)) }
            #expect(silent.next() == .ping([]) && silent.next() == nil)
            #expect(
                desk.lane.sync { desk, _ in desk.server.counts.silent == 1 && desk.ended == 1 && desk.server.connectionCount == 1 } == true)
        }

        @Test func `our last word waits for the client's, and not for ever`() throws {
            let desk = try Self.desk(), polite = try SocketVisitor(to: desk.address, "/echo")
            let rude = try SocketVisitor(to: desk.address, "/echo")
            desk.lane.sync { desk, now in for socket in desk.sockets { socket.close(.goingAway, at: now) } }
            #expect(polite.next() == .closed(.goingAway) && polite.next() == nil)
            let due = desk.lane.sync { desk, now in
                #expect(desk.socketCount == 1 && desk.ended == 0, "our own end is not told")
                return now + HTTPWebSocket.closingTimeout
            }
            desk.lane.sync { desk, _ in
                desk.advance(to: due ?? .zero)
                #expect(desk.socketCount == 0 && desk.ended == 0)
            }
            #expect(rude.next() == .closed(.goingAway))
        }

        @Test func `a connection that ends without a last word is told, too`() throws {
            let desk = try Self.desk()
            var visitor: SocketVisitor? = try SocketVisitor(to: desk.address, "/echo")
            #expect(visitor?.status == 101)
            visitor = nil
            let end = MonotonicClock.now + .seconds(20)
            while desk.lane.sync({ desk, _ in desk.ended }) == 0, MonotonicClock.now < end { usleep(1_000) }
            #expect(desk.lane.sync { desk, _ in desk.ended == 1 && desk.server.connectionCount == 0 } == true)
        }
    }
}
