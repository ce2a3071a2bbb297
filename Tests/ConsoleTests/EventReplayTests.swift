import CallJournal
import Foundation
import HTTP
import Primitives
import Runtime
import Testing

@testable import Console

extension RealTime {
    /// Events of before from the journal's files, against a server with real sockets.
    @Suite(.timeLimit(.minutes(30))) struct EventReplayTests {
        private static func text(_ name: String, of json: [UInt8]) throws -> String? {
            (try JSONSerialization.jsonObject(with: Data(json)) as? [String: Any])?[name] as? String
        }

        private static func server(_ journal: RotatedJournal) throws -> ControlServer {
            try ControlServer(path: nil, addresses: [anyLoopbackPort], journal: journal.path, version: "1")
        }

        private static func ask(_ server: ControlServer, _ path: String) throws -> (status: Int, text: String, body: [String: Any]) {
            let visitor = try Visitor(to: server.addresses[0])
            visitor.write("GET \(path) HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
            let text = try #require(visitor.readToEnd()), body = text.components(separatedBy: "\r\n\r\n").dropFirst().joined()
            let object = try? JSONSerialization.jsonObject(with: Data(body.utf8)) as? [String: Any]
            return (try #require(Int(text.dropFirst(9).prefix(3))), text, object ?? [:])
        }

        private static func wait(_ isTrue: () throws -> Bool) throws {
            let end = MonotonicClock.now + .seconds(30)
            while try !isTrue() {
                try #require(MonotonicClock.now < end)
                usleep(2_000)
            }
        }

        /// Reads events, and connects again behind the last one when the server wishes so.
        private static func read(_ server: ControlServer, after first: EventPosition, until last: EventPosition, meanwhile: () -> Void)
            throws
            -> [EventPosition]
        {
            var heard = [first], visitor = try SocketVisitor(to: server.addresses[0], "/v1/events?after=\(first)")
            #expect(visitor.status == 101)
            while heard.last != last {
                guard let event = visitor.next() else { break }
                switch event {
                case .text(let json):
                    let previous = try text("prev", of: json), id = try #require(try text("id", of: json))
                    try #require(previous == heard.last?.description)
                    heard.append(try #require(EventPosition(id)))
                case .closed(.tryAgainLater):
                    visitor = try SocketVisitor(to: server.addresses[0], "/v1/events?after=\(try #require(heard.last))")
                    try #require(visitor.status == 101)
                default: break
                }
                meanwhile()
            }
            return heard
        }

        @Test func `after a restart a reader gets what rotated files have, and then what comes, without a gap`() throws {
            let journal = try RotatedJournal(seed: 11)
            for _ in 0..<8 {
                journal.recordSome(200)
                journal.rotate(keeping: 20)
                journal.start()
            }
            journal.recordSome(50)
            let server = try Self.server(journal), first = journal.first
            journal.onEvent = { server.note($0) }
            journal.start()
            journal.recordSome(20)
            var rounds = 0
            func live() {
                rounds += 1
                guard rounds % 40 == 0, rounds < 4_000 else { return }
                journal.recordSome(20)
            }
            let end = try Self.read(server, after: first, until: try #require(journal.events.compactMap(\.told).last?.position)) { live() }
            journal.recordSome(30)
            let last = try #require(journal.events.compactMap(\.told).last?.position)
            let rest = try Self.read(server, after: try #require(end.last), until: last) {}
            #expect(end + rest.dropFirst() == journal.events.compactMap { $0.told?.position })
            #expect(rounds > 1_000)
            #expect(try Self.ask(server, "/v1/events?after=99999999.1").body["oldest"] as? String == first.description)
            #expect(try Self.ask(server, "/v1/events?after=\(last.run).999999").status == 410)
        }

        @Test func `eight read old events at the same time, a ninth is told when to come again, and each holds little`() throws {
            let journal = try RotatedJournal(seed: 12), call = CallUUID(high: 1, low: 1), long = String(repeating: "x", count: 4_000)
            for _ in 0..<2_000 { journal.record(.doNotDisturbChanged, call, [.cause: .init(long)]) }
            journal.write()
            journal.rotate(keeping: 5)
            let first = journal.first, server = try Self.server(journal)
            func open() throws -> SocketVisitor { try SocketVisitor(to: server.addresses[0], "/v1/events?after=\(first)", room: 4_096) }
            var readers = try (0..<EventReaders.mostReplays).map { _ in try open() }
            #expect(readers.allSatisfy { $0.status == 101 })
            #expect(try Self.ask(server, "/v1/server").body["replays"] as? Int == 8)
            let refused = try Self.ask(server, "/v1/events?after=\(first)")
            #expect(
                refused.status == 503 && refused.body["code"] as? String == "tooManyReplays" && refused.text.contains("Retry-After: 1\r\n"))
            #expect(try Self.ask(server, "/v1/server").body["refusedReplays"] as? Int == 1)
            readers.removeLast()
            try Self.wait { try Self.ask(server, "/v1/server").body["replays"] as? Int == 7 }
            let late = try open()
            #expect(late.status == 101)
            let told = Array(try #require(late.text()).utf8)
            #expect(try Self.text("prev", of: told) == first.description)
        }

        // MARK: Back-pressure

        /// A server of events from a journal, which counts what is read.
        private final class Desk: LaneResident {
            let server: HTTPServer, readers: EventReaders
            private(set) var pieces = 0

            init(_ journal: JournalReplay, after: EventPosition, on lane: Lane<Desk>) throws(SocketError) {
                let readers = EventReaders(EventHub())
                self.readers = readers
                var routes = HTTPRoutes()
                routes.on(.get, "/stream") { ask, responder in
                    readers.add(EventFilter(), from: .journal(after: after, journal), at: ask.now) { ended in
                        responder.stream(type: "text/event-stream", at: ask.now, ended: ended).map { .stream($0) }
                    }
                }
                server = try HTTPServer([.tcp(anyLoopbackPort)], routes: routes, on: lane)
                readers.read = { [unowned self, weak lane] replay, number in
                    pieces += 1
                    let piece = Result { () throws(JournalFileError) in try replay.next() }
                    lane?.post { desk, now in desk.readers.take(piece, for: number, at: now) }
                }
            }

            var deadline: Instant? { [server.deadline, readers.deadline].compactMap(\.self).min() }
            func advance(to now: Instant) {
                server.advance(to: now)
                readers.advance(to: now)
            }
        }

        @Test func `for a reader that is slow the journal is read as far as it takes it`() throws {
            let journal = try RotatedJournal(seed: 13), call = CallUUID(high: 1, low: 1), long = String(repeating: "x", count: 4_000)
            for _ in 0..<3_000 { journal.record(.doNotDisturbChanged, call, [.cause: .init(long)]) }
            journal.write()
            let after = journal.first
            let replay = try JournalReplay.find(after, in: JournalArchive(path: journal.path), nil, EventFilter()).get()
            let lane = try Lane<Desk>(label: "desk") { lane, _ throws(SocketError) in try Desk(replay, after: after, on: lane) }
            let address = try #require(lane.sync { desk, _ in desk.server.addresses[0] }), visitor = try Visitor(to: address, room: 4_096)
            visitor.write("GET /stream HTTP/1.1\r\nHost: x\r\n\r\n")
            var seen = -1, rounds = 0
            try Self.wait {
                let (waiting, pieces) = lane.sync { desk, _ in (desk.readers.waiting, desk.pieces) } ?? (0, 0)
                rounds = waiting == 1 && pieces == seen ? rounds + 1 : 0
                seen = pieces
                return rounds == 20
            }
            // Buffers of the kernel grow to four megabytes; the journal has twelve.
            #expect(seen < 30, "\(seen) pieces of 256 kB")
            let last = Array("id: \(EventPosition(run: after.run, sequence: 3_001))\n".utf8)
            var count = 0, end: [UInt8] = []
            while end.firstRange(of: last) == nil, let more = visitor.read() {
                count += more.count
                end = end.suffix(100) + more
            }
            #expect(count > 11 << 20 && lane.sync { desk, _ in desk.pieces } ?? 0 > 40)
        }
    }
}
