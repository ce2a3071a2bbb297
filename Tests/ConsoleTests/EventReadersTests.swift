import Foundation
import HTTP
import Primitives
import Runtime
import Testing

@testable import Console

extension RealTime {
    @Suite(.timeLimit(.minutes(30))) struct EventReadersTests {
        /// A server of events whose readers may listen, or no longer.
        private final class Desk: LaneResident {
            let server: HTTPServer, hub: EventHub, readers: EventReaders
            private let right: Right

            private final class Right { var holds = true }

            init(on lane: any LaneDoor) throws(SocketError) {
                let hub = EventHub(), readers = EventReaders(hub), right = Right()
                (self.hub, self.readers, self.right) = (hub, readers, right)
                var routes = HTTPRoutes()
                routes.on(.get, "/stream") { ask, responder in
                    readers.add(
                        EventFilter(), from: .memory(after: nil, next: hub.nextNumber), at: ask.now, mayListen: { _ in right.holds }
                    ) { ended in
                        responder.stream(type: "text/event-stream", at: ask.now, ended: ended).map { .stream($0) }
                    }
                }
                routes.on(.get, "/socket") { ask, responder in
                    guard let upgrade = try? WebSocketUpgrade(ask.request, subprotocols: ["hookswitch.events.v1"]) else { return }
                    readers.add(
                        EventFilter(), from: .memory(after: nil, next: hub.nextNumber), at: ask.now, mayListen: { _ in right.holds }
                    ) { ended in
                        responder.open(upgrade, limits: .init(), at: ask.now, receive: { _, _ in }, ended: ended).map { .socket($0) }
                    }
                }
                server = try HTTPServer([.tcp(anyLoopbackPort)], routes: routes, on: lane)
            }

            var deadline: Instant? { server.deadline }
            func advance(to now: Instant) { server.advance(to: now) }

            func takeRight() { right.holds = false }
        }

        @Test func `who may listen no longer is told so at the next heartbeat`() throws {
            let lane = try Lane<Desk>(label: "desk") { lane, _ throws(SocketError) in try Desk(on: lane) }
            let address = try #require(lane.sync { desk, _ in desk.server.addresses[0] })
            let stream = try Visitor(to: address), socket = try SocketVisitor(to: address, "/socket")
            stream.write("GET /stream HTTP/1.1\r\nHost: x\r\n\r\n")
            #expect(stream.read(until: "\r\n\r\n").hasPrefix("HTTP/1.1 200"))
            lane.sync { desk, now in
                desk.readers.advance(to: now + EventReaders.heartbeat)
                #expect(desk.readers.count == 2)
            }
            #expect(stream.read(until: ":\n\n").hasSuffix(":\n\n\r\n"))
            lane.sync { desk, now in
                desk.takeRight()
                desk.readers.advance(to: now + EventReaders.heartbeat + EventReaders.heartbeat)
                #expect(desk.readers.count == 0 && desk.readers.deadline == nil)
            }
            #expect(socket.next() == .closed(.policyViolation))
            #expect(stream.readToEnd() == "0\r\n\r\n")
        }
    }
}
