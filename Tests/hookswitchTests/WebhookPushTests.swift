import Foundation
import Gateway
import Primitives
import Runtime
import Testing

@testable import hookswitch

@Suite struct WebhookPushTests {
    private static let message = PushMessage(
        provider: "acme", identifier: "token \"1\"", parameter: nil, line: "1001",
        call: UUID(uuidString: "11111111-2222-3333-4444-555555555555")!, caller: "+391",
        name: "Alice")

    /// A server for one request, that answers with these bytes; and the request.
    private func serve(_ answer: String, path: String = "/push?key=1", over tls: TLSContexts? = nil, _ body: (URL) async -> Void)
        async throws -> String
    {
        let listening = ListeningSocket()
        let (heard, hears) = AsyncStream<String>.makeStream()
        Thread.detachNewThread {
            let connection = accept(listening.raw, nil, nil)
            let request =
                tls.map { Self.request(over: $0.accept(), on: connection, answering: answer) }
                ?? Self.request(on: connection, answering: answer)
            close(connection)
            hears.yield(request)
        }
        await body(try #require(URL(string: "\(tls == nil ? "http" : "https")://127.0.0.1:\(listening.port)\(path)")))
        return try #require(await heard.first { _ in true })
    }

    private static func read(_ connection: Int32) -> [UInt8]? {
        var piece = [UInt8](repeating: 0, count: 4_096)
        let count = recv(connection, &piece, piece.count, 0)
        return count > 0 ? Array(piece[..<count]) : nil
    }

    private static func write(_ bytes: [UInt8], to connection: Int32) {
        _ = bytes.withUnsafeBytes { send(connection, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
    }

    private static func request(on connection: Int32, answering answer: String) -> String {
        var bytes: [UInt8] = []
        while bytes.last != UInt8(ascii: "}"), let piece = read(connection) { bytes += piece }
        write(Array(answer.utf8), to: connection)
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func request(over session: consuming TLSSession, on connection: Int32, answering answer: String) -> String {
        var session = session
        var bytes: [UInt8] = []
        while bytes.last != UInt8(ascii: "}"), let piece = read(connection) {
            for case .received(let text) in session.receive(piece) { bytes += text }
            write(session.takeOutput(), to: connection)
        }
        _ = session.send(Array(answer.utf8))
        write(session.takeOutput(), to: connection)
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func certificate(_ name: String) -> String {
        URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent().appending(path: "Corpus/certificates/\(name)").path
    }

    private static func tls(_ identity: String?) throws -> TLSContexts {
        var settings = TLSSettings()
        settings.identities = identity.map { [.init(certificate: certificate($0), key: certificate("leaf.key"))] } ?? []
        settings.serverAuthorities = certificate("ca.pem")
        return try TLSContexts(settings)
    }

    @Test func `over https the push is the same`() async throws {
        let trust = try Self.tls(nil)
        let request = try await serve("HTTP/1.1 200 OK\r\n\r\n", over: try Self.tls("server.pem")) { address in
            #expect(throws: Never.self) { try HTTPPost(address, trusting: trust, timeout: 5).send(Data("{}".utf8)) }
        }
        #expect(request.hasPrefix("POST /push?key=1 HTTP/1.1\r\n") && request.hasSuffix("{}"))
    }

    @Test(arguments: [("second.pem", "does not name '127.0.0.1'"), ("stranger.pem", "is not trusted"), ("expired.pem", "expired")])
    func `nothing is said to a server that is not who it should be`(identity: String, cause: String) async throws {
        let trust = try Self.tls(nil)
        let request = try await serve("HTTP/1.1 200 OK\r\n\r\n", over: try Self.tls(identity)) { address in
            let failure = #expect(throws: HTTPPost.Failure.self) {
                try HTTPPost(address, trusting: trust, timeout: 5).send(Data("{}".utf8))
            }
            #expect(failure?.description.contains(cause) == true)
        }
        #expect(request.isEmpty)
    }

    @Test func `a push is one POST of JSON, and a 2xx takes it`() async throws {
        let request = try await serve("HTTP/1.1 204 No Content\r\n\r\n") { address in
            #expect(throws: Never.self) { try HTTPPost(address, timeout: 5).send(Data("{}".utf8)) }
        }
        #expect(request.hasPrefix("POST /push?key=1 HTTP/1.1\r\nHost: 127.0.0.1:"))
        #expect(request.hasSuffix("Content-Length: 2\r\nConnection: close\r\n\r\n{}"))
    }

    @Test(
        arguments: [
            ("http://[::1]:17080/push", "Host: [::1]:17080", nil), ("https://push.example.test", "Host: push.example.test", nil),
            ("http://user:t%40k@127.0.0.1:8090/push", "Host: 127.0.0.1:8090", "Authorization: Basic dXNlcjp0QGs="),
        ] as [(String, String, String?)])
    func `the address is told as HTTP wants it, with the user that it names`(address: String, host: String, authorization: String?) throws {
        let lines = HTTPPost(try #require(URL(string: address)), timeout: 1).head(length: 2).components(separatedBy: "\r\n")
        #expect(lines[1] == host && lines.first { $0.hasPrefix("Authorization") } == authorization, "\(lines)")
    }

    @Test(arguments: [
        ("HTTP/1.1 410 Gone\r\n\r\n", "the push service answered 410"),
        ("220 mail.example.test\r\n", "the push service does not speak HTTP"),
        ("", "the push service does not answer"),
    ])
    func `what is no 2xx is told with its cause`(answer: String, cause: String) async throws {
        let request = try await serve(answer) { address in
            let told: String = await withCheckedContinuation { continuation in
                WebhookPushSender(to: address).send(Self.message) { continuation.resume(returning: $0) }
            }
            #expect(told == cause)
        }
        let body = try #require(request.components(separatedBy: "\r\n\r\n").last)
        let fields = try #require(try JSONSerialization.jsonObject(with: Data(body.utf8)) as? [String: String])
        #expect(
            fields == [
                "provider": "acme", "prid": "token \"1\"", "line": "1001", "call": "11111111-2222-3333-4444-555555555555", "from": "+391",
                "name": "Alice",
            ])
    }

    @Test func `a service that is not there is told`() async {
        let told: String = await withCheckedContinuation { continuation in
            WebhookPushSender(to: URL(string: "http://127.0.0.1:1/")!).send(Self.message) { continuation.resume(returning: $0) }
        }
        #expect(told == "the push service cannot be reached")
    }
}
