import Foundation
import HTTP
import Primitives
import Runtime
import Synchronization
import Testing

@testable import Console

extension RealTime {
    @Suite(.timeLimit(.minutes(30))) struct HTTPServerTests {
        /// A server that answers with method, path and content, and later when it is asked to.
        private final class Desk: LaneResident {
            let server: HTTPServer
            var waiting: [(responder: HTTPResponder, text: String)] = []
            var stream: HTTPStream?
            var streamsEnded = 0

            init(_ endpoints: [HTTPServer.Endpoint], _ limits: HTTPServer.Limits, on lane: any LaneDoor) throws(SocketError) {
                let later = Later()
                var routes = HTTPRoutes()
                for method in [HTTPRequest.Method.get, .post] {
                    routes.on(method, "/echo/{word}") { ask, responder in
                        let body = String(decoding: ask.request.body, as: UTF8.self)
                        let word = ask.parameters["word"] ?? "?", kind = ask.isLocal ? " local" : ""
                        responder.reply(HTTPReply(.ok, text: "\(method.rawValue) \(word) \(body)\(kind)"), at: ask.now)
                    }
                }
                routes.on(.get, "/later/{word}") { ask, responder in later.desk?.waiting.append((responder, ask.parameters["word"] ?? "?"))
                }
                routes.on(.get, "/stream") { ask, responder in
                    later.desk?.stream = responder.stream(type: "text/plain", at: ask.now) { later.desk?.streamsEnded += 1 }
                }
                server = try HTTPServer(
                    endpoints, routes: routes, limits: limits, refusal: { HTTPReply($0, text: "refused: \($0.code)\n") }, on: lane)
                later.desk = self
            }

            private final class Later { weak var desk: Desk? }

            var deadline: Instant? { server.deadline }
            func advance(to now: Instant) { server.advance(to: now) }

            func answerAll(at now: Instant) {
                let all = waiting
                waiting = []
                for (responder, text) in all { responder.reply(HTTPReply(.ok, text: text), at: now) }
            }
        }

        private static func desk(
            _ endpoints: [HTTPServer.Endpoint] = [.tcp(anyLoopbackPort)], limits: HTTPServer.Limits = .init()
        ) throws -> (lane: Lane<Desk>, address: SocketAddress) {
            let lane = try Lane<Desk>(label: "desk") { lane, _ throws(SocketError) in try Desk(endpoints, limits, on: lane) }
            return (lane, try #require(lane.sync { desk, _ in desk.server.addresses[0] }))
        }

        private static func get(_ path: String, _ more: String = "") -> String { "GET \(path) HTTP/1.1\r\nHost: x\r\n\(more)\r\n" }

        /// Waits for what other threads bring about.
        private static func wait(_ lane: Lane<Desk>, until isTrue: @escaping @Sendable (Desk) -> Bool) -> Bool {
            let end = MonotonicClock.now + .seconds(20)
            while MonotonicClock.now < end {
                if lane.sync({ desk, _ in isTrue(desk) }) ?? false { return true }
                usleep(1_000)
            }
            return false
        }

        @Test(arguments: [
            (get("/nothing"), 404), ("PATCH /echo/a HTTP/1.1\r\nHost: x\r\n\r\n", 405), ("QUERY /echo/a HTTP/1.1\r\nHost: x\r\n\r\n", 405),
            ("BREW /echo/a HTTP/1.1\r\nHost: x\r\n\r\n", 501), (get("/echo/%00"), 400),
        ]) func `what no route answers is refused in the words of who serves`(request: String, status: Int) throws {
            let desk = try Self.desk(), visitor = try Visitor(to: desk.address)
            visitor.write(request)
            #expect(visitor.read(until: "refused: \(status)\n").contains("refused: \(status)\n"))
        }

        @Test func `a connection asks again and again, pipelined or not`() throws {
            let desk = try Self.desk(), visitor = try Visitor(to: desk.address)
            for word in ["a", "b"] {
                visitor.write(Self.get("/echo/\(word)"))
                #expect(visitor.read(until: "GET \(word) ").hasSuffix("\r\n\r\nGET \(word) "))
            }
            visitor.write(
                Self.get("/echo/c") + "POST /echo/d HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nhi" + Self.get("/later/e")
                    + Self.get("/echo/f", "Connection: close\r\n") + Self.get("/echo/never"))
            #expect(Self.wait(desk.lane) { !$0.waiting.isEmpty }, "the third is asked")
            desk.lane.sync { desk, now in desk.answerAll(at: now) }
            let answers = try #require(visitor.readToEnd())
            let bodies = answers.components(separatedBy: "\r\n\r\n").dropFirst().map { $0.components(separatedBy: "HTTP/1.1")[0] }
            #expect(bodies == ["GET c ", "POST d hi", "e", "GET f "], "one after the other, in their order")
            #expect(answers.contains("Connection: close\r\n"))
        }

        @Test func `ten thousand requests in one piece are served without a deep recursion`() throws {
            let desk = try Self.desk(), visitor = try Visitor(to: desk.address)
            // Each is as short as can be, to fit into the room that waiting requests have.
            let one = "GET /echo/a HTTP/1.0\nConnection:\n\n", all = String(repeating: "GET /echo/a HTTP/1.1\nHost:\n\n", count: 10_000)
            visitor.write(all + one)
            let text = try #require(visitor.readToEnd())
            #expect(text.components(separatedBy: "GET a ").count - 1 == 10_001)
        }

        @Test func `a method that a path does not know, a path that is none, and what the methods are`() throws {
            let desk = try Self.desk(), visitor = try Visitor(to: desk.address)
            visitor.write(
                "DELETE /echo/a HTTP/1.1\r\nHost: x\r\n\r\nOPTIONS /echo/a HTTP/1.1\r\nHost: x\r\n\r\n" + Self.get("/echo")
                    + Self.get("/echo/", "Connection: close\r\n"))
            let text = try #require(visitor.readToEnd())
            #expect(text.contains("HTTP/1.1 405 Method Not Allowed\r\n") && text.contains("HTTP/1.1 204 No Content\r\n"))
            #expect(text.components(separatedBy: "Allow: GET, POST, HEAD, OPTIONS\r\n").count == 3)
            #expect(text.components(separatedBy: "HTTP/1.1 404 Not Found\r\n").count == 3)
        }

        @Test func `content is asked for, and a refusal ends the connection`() throws {
            let desk = try Self.desk(), visitor = try Visitor(to: desk.address)
            visitor.write("POST /echo/a HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n")
            #expect(visitor.read(until: "100 Continue\r\n\r\n").hasPrefix("HTTP/1.1 100 Continue\r\n\r\n"))
            visitor.write(
                "okPOST /echo/b HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab" + Self.get("/echo/hidden"))
            let text = try #require(visitor.readToEnd())
            #expect(text.contains("\r\n\r\nPOST a okHTTP/1.1 400 Bad Request\r\n") && !text.contains("hidden"))
            #expect(desk.lane.sync { desk, _ in desk.server.counts.refused } == 1)
        }

        @Test func `a stream goes on until one of the two ends it`() throws {
            let desk = try Self.desk(), visitor = try Visitor(to: desk.address)
            visitor.write(Self.get("/stream"))
            #expect(visitor.read(until: "\r\n\r\n").contains("Transfer-Encoding: chunked\r\n"))
            desk.lane.sync { desk, now in desk.stream?.send(Array("abc".utf8), at: now) }
            #expect(visitor.read(until: "abc\r\n") == "3\r\nabc\r\n")
            desk.lane.sync { desk, now in desk.stream?.end(at: now) }
            #expect(visitor.readToEnd() == "0\r\n\r\n")
            #expect(desk.lane.sync { desk, _ in desk.streamsEnded } == 0)

            var second: Visitor? = try Visitor(to: desk.address)
            second?.write(Self.get("/stream"))
            #expect(second?.read(until: "\r\n\r\n").hasPrefix("HTTP/1.1 200") == true)
            second = nil
            #expect(Self.wait(desk.lane) { $0.streamsEnded == 1 && $0.server.connectionCount == 0 }, "who went is told of")
        }

        @Test func `a reader of a stream that does not read is cut off`() throws {
            let desk = try Self.desk(), visitor = try Visitor(to: desk.address)
            visitor.write(Self.get("/stream"))
            #expect(visitor.read(until: "\r\n\r\n").hasPrefix("HTTP/1.1 200"))
            let piece = [UInt8](repeating: 0x61, count: 65_536)
            desk.lane.sync { desk, now in for _ in 0..<1_000 { desk.stream?.send(piece, at: now) } }
            let counts = try #require(desk.lane.sync { desk, _ in desk.server.counts })
            #expect(counts.stalled == 1 && counts.slowStreams == 1 && counts.slowSockets == 0)
            #expect(desk.lane.sync { desk, _ in desk.streamsEnded } == 1)
            withExtendedLifetime(visitor) {}
        }

        @Test func `the socket in the file system is for this user alone, and its clients are known as such`() throws {
            let path = FileManager.default.temporaryDirectory.appending(path: "hookswitch-\(UUID().uuidString.prefix(8)).sock").path
            defer { unlink(path) }
            for _ in 0..<2 {
                // The second run finds the socket of the first.
                let desk = try Self.desk([.local(path: path)]), visitor = try Visitor(path: path)
                visitor.write(Self.get("/echo/a", "Connection: close\r\n"))
                #expect(visitor.readToEnd()?.hasSuffix("GET a  local") == true)
                var status = stat()
                #expect(lstat(path, &status) == 0 && status.st_mode & 0o777 == 0o600)
                desk.lane.close()
            }
        }

        @Test func `a path longer than the kernel's address is used all the same`() throws {
            let folder = FileManager.default.temporaryDirectory.appending(path: String(repeating: "f", count: 120) + UUID().uuidString)
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
            defer { try? FileManager.default.removeItem(at: folder) }
            let path = folder.appending(path: "a.sock").path, desk = try Self.desk([.local(path: path)]), visitor = try Visitor(path: path)
            visitor.write(Self.get("/echo/a", "Connection: close\r\n"))
            #expect(visitor.readToEnd()?.hasSuffix("GET a  local") == true)
            desk.lane.close()
            #expect(!FileManager.default.fileExists(atPath: path), "it goes with the server")
            let name = folder.path + "/" + String(repeating: "x", count: 120)
            #expect(throws: SocketError.failedPath(operation: "bind", name, code: ENAMETOOLONG)) { _ = try Self.desk([.local(path: name)]) }
        }

        // MARK: Bounds

        @Test func `who finishes before the request is whole gets no answer`() throws {
            let desk = try Self.desk(), visitor = try Visitor(to: desk.address)
            visitor.write("GET / HTTP/1.1\r\nHost: x\r\n")
            visitor.finish()
            #expect(visitor.readToEnd() == "")
            withExtendedLifetime(desk) {}
        }

        @Test func `who finishes behind a request gets its answer, also late`() throws {
            let desk = try Self.desk()
            for path in ["/echo/a", "/later/a"] {
                let visitor = try Visitor(to: desk.address)
                visitor.write(Self.get(path))
                visitor.finish()
                if path.hasPrefix("/later") {
                    #expect(Self.wait(desk.lane) { !$0.waiting.isEmpty })
                    desk.lane.sync { desk, now in desk.answerAll(at: now) }
                }
                #expect(visitor.readToEnd()?.hasPrefix("HTTP/1.1 200 OK\r\n") == true, "\(path)")
            }
        }

        @Test func `who has not asked within ten seconds is sent away`() throws {
            let desk = try Self.desk(), silent = try Visitor(to: desk.address), slow = try Visitor(to: desk.address)
            slow.write("GET /echo/slow HTTP/1.1\r\n")
            #expect(Self.wait(desk.lane) { $0.server.connectionCount == 2 })
            let due = desk.lane.sync { desk, now -> Instant in
                let due = desk.deadline ?? .distantFuture
                #expect(due > now && due <= now + .seconds(10))
                desk.advance(to: due + .nanoseconds(-1))
                return due
            }
            slow.write("Host: x\r\n\r\n")
            #expect(slow.read(until: "GET slow ").hasSuffix("GET slow "))
            desk.lane.sync { desk, _ in
                desk.advance(to: due ?? .zero)
                #expect(desk.deadline ?? .distantFuture > due ?? .zero)
                #expect(desk.server.counts.late == 1 && desk.server.connectionCount == 1)
            }
            #expect(silent.readToEnd() == "")
        }

        @Test func `one client too many takes the place of the one that was silent for longest`() throws {
            var limits = HTTPServer.Limits()
            limits.connections = 20
            let desk = try Self.desk(limits: limits), visitors = try (0..<20).map { _ in try Visitor(to: desk.address) }
            visitors[0].write(Self.get("/later/first"))
            #expect(Self.wait(desk.lane) { $0.server.connectionCount == 20 && $0.waiting.count == 1 })
            let extra = try Visitor(to: desk.address)
            #expect(visitors[1].readToEnd() == "", "the first waits for an answer")
            desk.lane.sync { desk, now in desk.answerAll(at: now) }
            #expect(visitors[0].read(until: "first").hasSuffix("first"))
            for (visitor, word) in [(visitors[2], "second"), (extra, "extra")] {
                visitor.write(Self.get("/echo/\(word)"))
                #expect(visitor.read(until: "GET \(word)").contains("GET \(word)"))
            }
        }

        @Test func `ten thousand connections that ask nothing keep nobody out`() throws {
            let desk = try Self.desk()
            for round in 0..<100 {
                let silent = try (0..<100).map { _ in try Visitor(to: desk.address) }
                silent[0].write("GET /ec")
                let visitor = try Visitor(to: desk.address)
                visitor.write(Self.get("/echo/\(round)"))
                #expect(visitor.read(until: "GET \(round) ").hasSuffix("GET \(round) "))
            }
            #expect(desk.lane.sync { desk, _ in desk.server.connectionCount } ?? 0 <= 256)
        }
    }
}
