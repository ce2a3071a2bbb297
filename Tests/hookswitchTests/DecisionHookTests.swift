import Foundation
import Primitives
import Testing

@testable import Gateway
@testable import hookswitch

/// A server that answers each connection with the next of its texts; nil: it closes without a word. The last is for all that follow.
private final class AnsweringServer: @unchecked Sendable {
    let url: URL
    private let listening = ListeningSocket()
    private let lock = NSLock()
    private var heard: [String] = []

    init(_ answers: [String?]) throws {
        url = try #require(URL(string: "http://127.0.0.1:\(listening.port)/hook"))
        Thread.detachNewThread { [weak self, raw = listening.raw] in
            var left = answers[...]
            while case let connection = accept(raw, nil, nil), connection >= 0 {
                let answer = left.count > 1 ? left.removeFirst() : left.first ?? nil
                if let answer {
                    var bytes: [UInt8] = [], piece = [UInt8](repeating: 0, count: 4_096)
                    while bytes.last != UInt8(ascii: "}"), case let count = recv(connection, &piece, piece.count, 0), count > 0 {
                        bytes += piece[..<count]
                    }
                    self?.note(String(decoding: bytes, as: UTF8.self))
                    _ = send(connection, answer, answer.utf8.count, Int32(MSG_NOSIGNAL))
                }
                close(connection)
            }
        }
    }

    private func note(_ request: String) { lock.withLock { heard.append(request) } }
    var requests: [String] { lock.withLock { heard } }
}

@Suite struct DecisionHookTests {
    private static let question = CallQuestion(
        callID: "c1", from: "sip:a@x", to: "sip:b@x", dialled: "5000", callingLine: "1001", trunk: nil, userAgent: "phone",
        source: SocketAddress(.loopback, port: 5_060))

    private static func answer(_ body: String, status: String = "200 OK") -> String {
        "HTTP/1.1 \(status)\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"
    }

    private static func ask(_ address: URL, fallback: URL? = nil, timeout: Double = 5) async -> CallVerdict {
        var settings = HookSettings()
        (settings.fallback, settings.timeout) = (fallback, timeout)
        let hook = DecisionHook(settings, at: address, default: .refused(status: 503), trusting: nil)
        let verdict = await withCheckedContinuation { continuation in hook.decide(question) { continuation.resume(returning: $0) } }
        #expect(hook.waits.count == 1 && hook.waits.sum < 2 * timeout + 30)
        return verdict
    }

    @Test(
        arguments: [
            (answer(#"{"number": "1002"}"#), .number("1002"), nil), (answer(#"{"reject": 486}"#), .refused(status: 486), nil),
            (answer("{}"), .asDialled, nil), (answer(""), .asDialled, nil),
            (answer(#"{"devices": "1002"}"#), .number("1002"), nil), (answer(#"{"trunk": "8"}"#), .trunk("8"), nil),
            (answer(#"{"application": "tone"}"#), .application(.tone), nil),
            (
                answer(#"{"ring": ["1", {"number": "2", "delay": 2.5}]}"#),
                .ring(RingGroup([.init("1"), .init("2", delay: .milliseconds(2_500))])), nil
            ),
            (answer(#"{"ring": ["1", "2"], "in-turn": 9}"#), .ring(RingGroup([.init("1"), .init("2")], .inTurn(.seconds(9)))), nil),
            (answer(#"{"transactions": [{"actions": [{"type": "CXAnswerCallAction"}]}]}"#), .asDialled, nil),
            (answer(#"{"application": "playback"}"#), .refused(status: 503), "no usable"),
            (answer(#"{"ring": []}"#), .refused(status: 503), "no usable"),
            (answer(#"{"ring": 5}"#), .refused(status: 503), "no JSON object"),
            (answer(#"{"trunk": "8", "number": "1"}"#), .refused(status: 503), "no usable"),
            (
                answer(#"{"transactions": [{"actions": [{"type": "CXDanceAction"}]}]}"#), .refused(status: 503),
                "transactions[0]: actions[0].type: 'CXDanceAction' is none of"
            ),
            (
                answer(#"{"reject": 486, "transactions": [{"actions": []}]}"#), .refused(status: 503), "no usable"
            ),
            ("HTTP/1.1 204 No Content\r\n\r\n", .asDialled, nil),
            ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n10\r\n{\"number\": \"77\"}\r\n0\r\n\r\n", .number("77"), nil),
            (answer(#"{"reject": 200}"#), .refused(status: 503), "no usable"),
            (answer(#"{"number": "1", "reject": 486}"#), .refused(status: 503), "no usable"),
            (answer("yes"), .refused(status: 503), "no JSON object"),
            (answer("{}", status: "500 No"), .refused(status: 503), "answered 500"),
            ("HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n{}", .refused(status: 503), "broke its answer off"),
            ("SIP/2.0 200 OK\r\n\r\n", .refused(status: 503), "does not speak HTTP"),
        ] as [(String, CallDecision, String?)])
    func `what a program answers is what becomes of the call, and anything else is the default`(
        answer: String, decision: CallDecision, cause: String?
    ) async throws {
        let server = try AnsweringServer([answer]), verdict = await Self.ask(server.url)
        #expect(verdict.decision == decision)
        #expect((verdict.defaultCause?.description.contains(cause ?? "") ?? false) == (cause != nil), "\(verdict)")
        let request = try #require(server.requests.first), body = try #require(request.components(separatedBy: "\r\n\r\n").last)
        #expect(request.hasPrefix("POST /hook HTTP/1.1\r\n"))
        let fields = try #require(try JSONSerialization.jsonObject(with: Data(body.utf8)) as? [String: String])
        #expect(
            fields == [
                "callID": "c1", "from": "sip:a@x", "to": "sip:b@x", "dialled": "5000", "line": "1001", "userAgent": "phone",
                "source": "127.0.0.1:5060",
            ])
    }

    @Test func `a connection that fails is tried once more, and then the fallback is asked`() async throws {
        let flaky = try AnsweringServer([nil, Self.answer(#"{"number": "1"}"#)])
        #expect(await Self.ask(flaky.url) == CallVerdict(.number("1")))
        let dead = try AnsweringServer([nil]), second = try AnsweringServer([Self.answer(#"{"number": "2"}"#)])
        #expect(await Self.ask(dead.url, fallback: second.url) == CallVerdict(.number("2")))
        #expect(await Self.ask(dead.url).defaultCause == "the hook does not answer")
    }

    @Test func `a program that says nothing is not waited for longer than it may take`() async throws {
        // Its connection stands, and nobody takes it.
        let listening = ListeningSocket()
        let url = try #require(URL(string: "http://127.0.0.1:\(listening.port)/"))
        let verdict = await Self.ask(url, timeout: 0.3)
        #expect(verdict.decision == .refused(status: 503))
        #expect(["the hook has not answered in time", "the hook does not answer"].contains(verdict.defaultCause))
        withExtendedLifetime(listening) {}
    }
}
