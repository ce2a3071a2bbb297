import Foundation
import Gateway
import HTTP
import Primitives
import Runtime
import Synchronization
import Testing

@testable import Console

/// Says each text back, on a lane of its own.
private final class EchoHost: LaneResident {
    private unowned let lane: Lane<EchoHost>
    private let session = WebSocketSession(server: .init())
    private var wire: (any StreamConnection)?

    init(_ lane: Lane<EchoHost>) { self.lane = lane }

    var deadline: Instant? { wire?.deadline }
    func advance(to now: Instant) { wire?.advance(to: now) }

    func take(_ released: ReleasedConnection, at now: Instant) {
        wire = released.connection
        released.connection.adopt(on: lane, at: now) { [unowned self] event, now in
            if case .received(let bytes) = event { answer(bytes, at: now) }
        }
        answer(released.early, at: now)
    }

    private func answer(_ bytes: [UInt8], at now: Instant) {
        for case .text(let text) in session.receive(bytes) { session.send(text: text) }
        wire?.send(session.takeOutput(), at: now)
    }
}

extension RealTime {
    /// Programs that are let into calls over WebSocket: their connections go on upon other lanes.
    @Suite(.timeLimit(.minutes(30))) struct StreamSocketTests {
        private static let target = "/v1/calls/1B4E28BA-2FA1-11D2-883F-B9A761BDE3FB/stream"

        private func bench(isSecure: Bool) throws -> (server: ControlServer, tls: TLSContexts?, lane: Lane<EchoHost>) {
            let tls = isSecure ? try TLSContexts(.corpus) : nil, gateway = ScriptedGateway()
            let server = try ControlServer(path: nil, addresses: [anyLoopbackPort], tls: tls, version: "1")
            let lane = Lane<EchoHost>(label: "echo", hasPoller: true) { lane, _ in EchoHost(lane) }
            gateway.state.withLock { state in
                state.onProgram = { [weak lane] released in lane?.post { host, now in host.take(released, at: now) } }
            }
            server.begin(gateway) {}
            return (server, tls, lane)
        }

        @Test(arguments: [false, true]) func `a connection goes on upon another lane, with all that was sent`(isSecure: Bool) throws {
            let (server, tls, lane) = try bench(isSecure: isSecure)
            defer { lane.close() }
            let visitor = try SocketVisitor(to: server.addresses[0], Self.target, over: tls)
            #expect(visitor.status == 101)
            for number in 1...20 { visitor.send("message \(number)") }
            for number in 1...20 { #expect(visitor.text() == "message \(number)") }
            // The server forgets it: its end closes nothing here.
            server.end()
            visitor.send("still there")
            #expect(visitor.text() == "still there")
        }

        @Test func `what cannot begin is refused before it is a WebSocket`() throws {
            let (server, _, lane) = try bench(isSecure: false)
            defer { lane.close() }
            for query in ["tap=none", "format=wav", "encoding=opus", "format=raw&encoding=opus&tap=both"] {
                #expect(try SocketVisitor(to: server.addresses[0], "\(Self.target)?\(query)").status == 400, "\(query)")
            }
            let visitor = try Visitor(to: server.addresses[0])
            visitor.write("GET \(Self.target) HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
            #expect(visitor.readToEnd()?.hasPrefix("HTTP/1.1 426 ") == true)
        }
    }
}
