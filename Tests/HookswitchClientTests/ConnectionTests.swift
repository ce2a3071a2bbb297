import Foundation
import HTTP
import Runtime
import Testing

@testable import HookswitchClient

extension RealTime {
    /// The client, and servers that do not do what they should.
    @Suite(.timeLimit(.minutes(5))) struct ConnectionTests {
        private static func ask(_ answer: String?, timeout: Duration = .seconds(20)) async throws -> HookswitchClient.Server {
            let server = try StandIn([answer])
            defer { withExtendedLifetime(server) {} }
            return try await HookswitchClient(server: server.url, timeout: timeout).server()
        }

        @Test(
            arguments: [
                ("", "hung up before its answer was complete"), ("SSH-2.0-OpenSSH\r\n", "does not speak HTTP"),
                ("HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n{}", "hung up before its answer was complete"),
                (StandIn.json("{}"), "is none of the control interface's"), (StandIn.json("[1"), "is none of the control interface's"),
                (nil, "did not answer in time"),
            ] as [(String?, String)])
        func `an answer that is none is told in one sentence`(answer: String?, words: String) async throws {
            let error = await #expect(throws: HookswitchClient.ConnectionError.self) {
                try await Self.ask(answer, timeout: answer == nil ? .milliseconds(50) : .seconds(20))
            }
            #expect(error?.description.contains(words) == true, "\(String(describing: error))")
        }

        @Test(
            arguments: [
                (#"{"status":409,"code":"noDevice","detail":"no device","type":"x","title":"y"}"#, "409 Conflict", "no device (noDevice)"),
                ("<html>", "502 Bad Gateway", "what answers there says 502, and no more (http502)"),
            ]) func `a problem is one, whoever says it`(body: String, status: String, words: String) async throws
        {
            let problem = await #expect(throws: HookswitchClient.Problem.self) { try await Self.ask(StandIn.json(body, status: status)) }
            #expect(problem?.description == words)
        }

        @Test func `nobody there, and a host that is none, are told`() async throws {
            let url = try { try StandIn([]).url }()
            let refused = await #expect(throws: HookswitchClient.ConnectionError.self) { try await HookswitchClient(server: url).server() }
            #expect(refused?.description == "nobody can be reached at 127.0.0.1:\(url.port ?? 0): Connection refused")
            let socket = await #expect(throws: HookswitchClient.ConnectionError.self) {
                try await HookswitchClient(socket: "/nowhere/sock").server()
            }
            #expect(socket?.description == "nobody can be reached at /nowhere/sock: No such file or directory")
            let unknown = try HookswitchClient(server: try #require(URL(string: "http://nowhere.invalid")))
            await #expect(throws: HookswitchClient.ConnectionError.unknownHost("nowhere.invalid")) { try await unknown.server() }
        }

        @Test func `a server in the clear is none for TLS`() async throws {
            let server = try StandIn([StandIn.json("{}")]),
                url = try #require(URL(string: "https" + server.url.absoluteString.dropFirst(4)))
            let error = await #expect(throws: HookswitchClient.ConnectionError.self) { try await HookswitchClient(server: url).server() }
            #expect(error?.description.contains("does not speak TLS as we do") == true, "\(String(describing: error))")
        }

        @Test func `a request has the prefix of its address, its token and its body`() async throws {
            let server = try StandIn([StandIn.json("", status: "204 No Content")]), url = server.url.appending(path: "gw/")
            try await HookswitchClient(server: url, token: "hsw_x").setBlocked(true, caller: "a b/é", of: "10#1")
            let request = try #require(server.requests.first)
            #expect(request.hasPrefix("PUT /gw/v1/lines/10%231/blocked/a%20b%2F%C3%A9 HTTP/1.1\r\nHost: 127.0.0.1:"))
            #expect(request.contains("\r\nAuthorization: Bearer hsw_x\r\n"))
        }

        @Test func `trunks are read, those without a name, too`() async throws {
            let body = #"""
                {"trunks":[{"line":"800","state":"up","registration":"none","isWatched":true,"calls":2,"maximumCalls":30,"servers":[
                {"name":"a.test","address":"192.0.2.1:5060","transport":"udp","isDown":false}]}]}
                """#
            let server = try StandIn([StandIn.json(body)]), trunks = try await HookswitchClient(server: server.url).trunks()
            #expect(trunks.map(\.line) == ["800"] && trunks.first?.name == nil && trunks.first?.servers.first?.name == "a.test")
            #expect(trunks.first?.calls == 2 && trunks.first?.maximumCalls == 30)
        }

        // MARK: Events

        @Test func `an event that does not follow the last is a gap, also over a cut`() async throws {
            let server = try StandIn([
                StandIn.stream((id: "a.2", prev: "a.1")), StandIn.stream((id: "a.3", prev: "a.2")),
                StandIn.stream((id: "a.9", prev: "a.8")),
            ])
            var heard: [String] = []
            let gap = await #expect(throws: HookswitchClient.EventGap.self) {
                for try await event in try HookswitchClient(server: server.url).events(after: .init(rawValue: "a.1")) {
                    heard.append(event.id.description)
                }
            }
            #expect(heard == ["a.2", "a.3"] && gap == .init(expected: .init(rawValue: "a.3"), found: .init(rawValue: "a.8")))
            let positions = server.requests.compactMap { $0.firstMatch(of: /Last-Event-ID: (\S+)/)?.output.1 }
            #expect(positions == ["a.1", "a.2", "a.3"])
        }

        @Test func `a server that is busy is asked again, and one that forbids is not`() async throws {
            let busy = StandIn.json(#"{"status":503,"code":"tooManyReaders","detail":"x"}"#, status: "503 Service Unavailable")
            let forbids = StandIn.json(#"{"status":401,"code":"unauthorized","detail":"x"}"#, status: "401 Unauthorized")
            let server = try StandIn([StandIn.stream((id: "a.2", prev: "a.1")), busy, StandIn.stream((id: "a.3", prev: "a.2")), forbids])
            var heard = 0
            let problem = await #expect(throws: HookswitchClient.Problem.self) {
                for try await _ in try HookswitchClient(server: server.url).events(after: .init(rawValue: "a.1")) { heard += 1 }
            }
            #expect(heard == 2 && problem?.status == 401)
        }
    }
}

@Suite struct ClientAddressTests {
    @Test(
        arguments: [
            ("ftp://a", nil, "'ftp://a' is no address as"), ("http://u:p@a", nil, "'http://u:p@a' is no address as"),
            ("http://a?b", nil, "is no address as"), ("/v1", nil, "is no address as"),
            (
                "http://gateway.example.net", "t",
                "a token for gateway.example.net would be readable by everybody on the way there: use https://"
            ),
            ("http://192.0.2.1:8080", "t", "a token for 192.0.2.1:8080 would be readable"), ("http://127.0.0.1", "a b", "this is no token"),
            ("http://127.0.0.1", "", "this is no token"),
        ] as [(String, String?, String)])
    func `an address or a token that cannot be used is refused before anything is sent`(address: String, token: String?, words: String)
        throws
    {
        let url = try #require(URL(string: address))
        let error = #expect(throws: HookswitchClient.ConnectionError.self) { try HookswitchClient(server: url, token: token) }
        #expect(error?.description.contains(words) == true, "\(String(describing: error))")
    }

    @Test(arguments: [
        "http://127.0.0.1:8080", "http://localhost", "http://[::1]:8080/", "https://gateway.example.net/gw", "https://192.0.2.1",
    ])
    func `a token goes to this machine, and to others over TLS`(address: String) throws {
        let url = try #require(URL(string: address))
        #expect(throws: Never.self) { try HookswitchClient(server: url, token: "hsw_x") }
    }
}
