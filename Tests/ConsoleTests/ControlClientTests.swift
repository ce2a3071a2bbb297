import CallJournal
import CallKit
import Foundation
import HookswitchClient
import Primitives
import Runtime
import Streaming
import Synchronization
import Testing

@testable import Console
@testable import Gateway

extension RealTime {
    /// The client library, and the server that it is for.
    @Suite(.timeLimit(.minutes(30))) struct ControlClientTests {
        private let gateway = ScriptedGateway()
        private static let call = UUID(uuidString: "0B000000-0000-4000-8000-000000000001")!

        private func server(
            path: String? = nil, addresses: [SocketAddress] = [anyLoopbackPort], tls: TLSContexts? = nil, tokens: AccessTokenFile? = nil
        ) throws -> ControlServer {
            let server = try ControlServer(path: path, addresses: addresses, tls: tls, tokens: tokens, version: "1.2.3")
            server.begin(gateway) {}
            return server
        }

        private static func client(_ server: ControlServer, token: String? = nil) throws -> HookswitchClient {
            try client(try #require(server.addresses.first), token: token)
        }

        private static func client(_ address: SocketAddress, token: String? = nil) throws -> HookswitchClient {
            try HookswitchClient(server: try #require(URL(string: "http://\(address)")), token: token, timeout: .seconds(20))
        }

        private static func tell(
            _ server: ControlServer, _ sequence: UInt64, _ kind: JournalEvent.Kind, call: UUID? = call,
            _ details: JournalEvent.Details = [:]
        ) {
            server.note(
                JournalEvent(
                    sequence: sequence, time: .zero, call: call.map(CallUUID.init), line: "1001", kind: kind, details: details))
        }

        private static func temporary(_ name: String) -> String {
            FileManager.default.temporaryDirectory.appending(path: "\(UUID().uuidString.prefix(8))-\(name)").path
        }

        private static func certificate(_ name: String) -> String {
            URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent().appending(path: "Corpus/certificates/\(name)")
                .path
        }

        @Test func `over the socket in the file system each read and each change is one call`() async throws {
            let path = Self.temporary("sock"), server = try server(path: path, addresses: []), client = HookswitchClient(socket: path)
            Self.tell(server, 1, .gatewayStarted, call: nil, [.run: "0123456789abcdef"])
            Self.tell(server, 2, .reportIncoming, [.remote: "alice"])
            try await Self.told(client, "01234567.2")
            let calls = try await client.calls(line: "1001"), snapshot = try await client.snapshot()
            #expect(calls.map(\.id) == [Self.call] && calls.first?.handle == "alice" && calls.first?.state == .ringing)
            #expect(snapshot.calls == calls && snapshot.position?.description == "01234567.2")
            #expect(try await client.call(Self.call) == calls.first)
            #expect(try await client.calls(state: .ended).isEmpty)
            #expect(try await client.lines().first?.devices.first?.agent == "phone")
            #expect(try await client.line("1001").name == "Alice")
            #expect(try await client.recents(of: "1001").isEmpty)
            try await client.setDoNotDisturb(true, of: "1001")
            #expect(try await client.isDoNotDisturbOn("1001"))
            try await client.setBlocked(true, caller: "+39/1 %", of: "1001")
            try await client.drain()
            try await client.reload()
            #expect(gateway.state.withLock { $0.isDraining })
            let about = try await client.server()
            #expect(about.version == "1.2.3" && about.run == "01234567" && about.started != nil && about.isRunning)
            withExtendedLifetime(server) {}
        }

        @Test func `actions are those of CallKit, and what becomes of them is told`() async throws {
            let server = try server(), client = try Self.client(server), id = UUID()
            let outcome = try await client.perform(
                [
                    .start(Self.call, to: "+391"), .answer(Self.call), .setHeld(Self.call, true), .setMuted(Self.call, false),
                    .playDTMF(Self.call, digits: "1*A"), .end(Self.call), .start(nil, to: .init("a@b", type: .generic)),
                ], on: "1001", as: id)
            #expect(outcome.id == id && outcome.state == .accepted && outcome.actions.map(\.state) == Array(repeating: .accepted, count: 7))
            let order = try #require(gateway.state.withLock { $0.orders.first })
            #expect(order.line == "1001" && order.id == id)
            #expect(
                order.actions == [
                    .start(call: Self.call, CallRequest(handle: CXHandle(type: .phoneNumber, value: "+391"))), .answer(Self.call),
                    .setHeld(Self.call, true), .setMuted(Self.call, false), .playDTMF(Self.call, digits: "1*A"), .end(Self.call),
                    .start(call: nil, CallRequest(handle: CXHandle(type: .generic, value: "a@b"))),
                ])
            #expect(try await client.outcome(of: id).id == id)
            gateway.state.withLock { $0.error = .refused(.maximumCallGroupsReached) }
            let problem = await #expect(throws: HookswitchClient.Problem.self) { try await client.end(Self.call) }
            #expect(problem?.code == "maximumCallGroupsReached" && problem?.status == 409)
            try await client.transfer(Self.call, to: "sip:1002@x")
        }

        @Test func `messages are listed, downloaded, marked and removed, and queues are read`() async throws {
            let server = try server(), client = try Self.client(server), path = Self.temporary("message.wav"), id = UUID()
            defer { try? FileManager.default.removeItem(atPath: path) }
            let sound = Data((0..<100_000).map { UInt8(truncatingIfNeeded: $0) })
            try sound.write(to: URL(filePath: path))
            let message = MailboxMessage(
                id: id, line: "1900", caller: "1005", name: nil, called: "9000", received: Date(timeIntervalSince1970: 1_790_000_000),
                duration: 2.5, path: path)
            gateway.state.withLock { $0.messages = [message] }
            let mailboxes = try await client.mailboxes()
            #expect(mailboxes.map(\.line) == ["1900", "1001"] && mailboxes[0].new == 1 && mailboxes[0].messages == nil)
            let told = try #require(try await client.mailbox("1900").messages?.first)
            #expect(told.id == id && told.caller == "1005" && told.received == message.received && told.duration == 2.5 && !told.heard)
            let file = URL(filePath: Self.temporary("copy.wav"))
            defer { try? FileManager.default.removeItem(at: file) }
            try await client.download(id, of: "1900", to: file)
            #expect(try Data(contentsOf: file) == sound)
            let missing = await #expect(throws: HookswitchClient.Problem.self) {
                try await client.download(UUID(), of: "1900", to: file)
            }
            #expect(try missing?.status == 404 && Data(contentsOf: file) == sound)
            try await client.setHeard(message: id, of: "1900")
            #expect(try await client.mailbox("1900").old == 1)
            try await client.delete(message: id, of: "1900")
            #expect(try await client.mailbox("1900").messages?.isEmpty == true)
            let queue = try #require(try await client.queues().first)
            #expect(queue.line == "700" && queue.callers.map(\.waited) == [1.5] && queue.members.map(\.state) == ["ringing", "busy"])
            #expect(try await client.queue("700").meanWait == 3 && queue.overflowed == 1)
        }

        @Test func `a program is attached and detached, or comes with a ticket`() async throws {
            let server = try server(), client = try Self.client(server)
            let problem = await #expect(throws: HookswitchClient.Problem.self) {
                try await client.attach(.init("ws://127.0.0.1:8080/calls"), to: Self.call)
            }
            #expect(problem?.status == 404)
            gateway.state.withLock { $0.onProgram = { _ in } }
            try await client.attach(
                .init("wss://voice.test/calls", sound: .raw("opus"), tap: .in, headers: [.init("X-Key", "1")]), to: Self.call)
            let attached = try #require(gateway.state.withLock { $0.attachments.last })
            #expect(attached.format == .raw(.opus) && attached.tap == .in && attached.headers.map(\.name) == ["X-Key"])
            try await client.detachStream(from: Self.call)
            let none = await #expect(throws: HookswitchClient.Problem.self) { try await client.detachStream(from: UUID()) }
            #expect(none?.status == 404)
            let ticket = try await client.ticket()
            #expect(ticket.ticket.count > 16 && ticket.expires > Date())
            let path = HookswitchClient.streamPath(of: Self.call, sound: .raw("l16/16000"), tap: .both, ticket: ticket)
            #expect(
                path == "/v1/calls/\(Self.call)/stream?format=raw&encoding=l16%2F16000&tap=both&ticket=\(ticket.ticket)"
                    && HookswitchClient.streamPath(of: Self.call) == "/v1/calls/\(Self.call)/stream?format=twilio")
        }

        /// Events come to the API in their own time.
        private static func told(_ client: HookswitchClient, _ position: String) async throws {
            let end = MonotonicClock.now + .seconds(20)
            while try await client.server().position?.description != position { try #require(MonotonicClock.now < end) }
        }

        @Test func `a token is shown, and what it does not permit is a problem`() async throws {
            let made = AccessToken.make(name: "eye", scopes: [.read], lines: nil, expires: nil), path = Self.temporary("tokens")
            let file = AccessTokenFile(path: path)
            try file.write([made.kept])
            let server = try server(tokens: file)
            #expect(try await Self.client(server, token: made.secret).server().version == "1.2.3")
            for (token, status, code) in [
                (nil, 401, "unauthorized"), ("wrong", 401, "unauthorized"), (made.secret, 403, "insufficientScope"),
            ] as [(String?, Int, String)] {
                let problem = await #expect(throws: HookswitchClient.Problem.self) { try await Self.client(server, token: token).drain() }
                #expect(problem?.status == status && problem?.code == code)
            }
        }

        private func secure(_ certificate: String, at host: String, authority: String? = "ca.pem") async throws -> String {
            var settings = TLSSettings()
            settings.identities = [.init(certificate: Self.certificate(certificate), key: Self.certificate("leaf.key"))]
            let server = try server(tls: try TLSContexts(settings)), port = try #require(server.addresses.first?.port)
            let url = try #require(URL(string: "https://\(host):\(port)"))
            return try await HookswitchClient(server: url, authorities: authority.map(Self.certificate)).server().version
        }

        @Test func `over TLS the server must be the one that was named, by an authority that is believed`() async throws {
            #expect(try await secure("server.pem", at: "127.0.0.1") == "1.2.3")
            let wrong = await #expect(throws: HookswitchClient.ConnectionError.self) { try await secure("second.pem", at: "127.0.0.1") }
            #expect(wrong == .wrongName("127.0.0.1"))
            for (certificate, authority, words) in [
                ("server.pem", nil, "unable to get local issuer certificate"), ("expired.pem", "ca.pem", "certificate has expired"),
            ] as [(String, String?, String)] {
                let error = await #expect(throws: HookswitchClient.ConnectionError.self) {
                    try await secure(certificate, at: "127.0.0.1", authority: authority)
                }
                #expect(error?.description.contains("is not trusted: \(words)") == true, "\(String(describing: error))")
            }
            let none = await #expect(throws: HookswitchClient.ConnectionError.self) {
                try await secure("server.pem", at: "127.0.0.1", authority: "nowhere.pem")
            }
            #expect(none?.description.hasSuffix("nowhere.pem' cannot be read") == true)
        }

        // MARK: Events

        @Test(.timeLimit(.minutes(10))) func `a reader that is cut at random misses no event, and gets none twice`() async throws {
            let seed = ProcessInfo.processInfo.environment["HOOKSWITCH_SEED"].flatMap(UInt64.init) ?? .random(in: 1...1_000_000)
            let random = Mutex(SeededRandom(seed: seed)), server = try server(), most = 1_500, interruptions = Atomic(0)
            let proxy = try CuttingProxy(before: try #require(server.addresses.first)) {
                random.withLock { Int.random(in: 1...6_000, using: &$0) }
            }
            Self.tell(server, 1, .gatewayStarted, call: nil, [.run: "0123456789abcdef"])
            try await Self.told(try Self.client(server), "01234567.1")
            let teller = Task.detached {
                for sequence in 2...UInt64(most) {
                    Self.tell(server, sequence, sequence % 3 == 0 ? .callEnded : .reportConnecting, [.reason: "remoteEnded"])
                    if sequence % 50 == 0 { await Task.yield() }
                }
            }
            // The snapshot and the events: only the stream connects again by itself.
            let position = HookswitchClient.Position(rawValue: "01234567.1")
            let events = try Self.client(proxy.address).events(after: position, types: ["call.*"]) { error in
                if error != nil { interruptions.add(1, ordering: .relaxed) }
            }
            var numbers: [Int] = []
            try await firstStands(events) { event in
                numbers.append(Int(event.id.description.split(separator: ".")[1]) ?? 0)
                return numbers.count < most - 1
            }
            await teller.value
            #expect(numbers == Array(2...most), "seed \(seed)")
            #expect(proxy.cutCount > 100 && interruptions.load(ordering: .relaxed) > 100, "seed \(seed): \(proxy.cutCount) cuts")
        }

        /// Reads until `take` has had enough. A first connection that is cut before its answer is an error to the reader: it is made again.
        private func firstStands(_ events: HookswitchClient.Events, _ take: (HookswitchClient.Event) -> Bool) async throws {
            for _ in 0..<1_000 {
                var hasBegun = false
                do {
                    for try await event in events {
                        hasBegun = true
                        if !take(event) { return }
                    }
                } catch let error as HookswitchClient.ConnectionError where !hasBegun { _ = error }
            }
            Issue.record("no connection stood")
        }

        @Test func `events are filtered, and a reader from now on gets what comes`() async throws {
            let server = try server(), client = try Self.client(server), (stood, stands) = AsyncStream<Void>.makeStream()
            Self.tell(server, 1, .gatewayStarted, call: nil, [.run: "0123456789abcdef"])
            Self.tell(server, 2, .reportIncomingAccepted)
            try await Self.told(client, "01234567.2")
            let events = client.events(types: ["call.ended"], line: "1001", call: Self.call) { if $0 == nil { stands.yield() } }
            async let first = events.first { _ in true }
            _ = await stood.first { _ in true }
            Self.tell(server, 3, .reportConnecting)
            Self.tell(server, 4, .callEnded, [.reason: "remoteEnded", .status: 200])
            let event = try #require(try await first)
            #expect(event.id.description == "01234567.4" && event.type == "call.ended" && event.call == Self.call && event.line == "1001")
            #expect(event.prev?.description == "01234567.2" && event.data == ["reason": .text("remoteEnded"), "status": .number(200)])
            #expect(event.json.hasPrefix(#"{"specversion":"1.0","id":"01234567.4""#))
        }

        @Test func `a position that is gone is told with the oldest that is kept, and a wrong filter at once`() async throws {
            let server = try server(), client = try Self.client(server)
            Self.tell(server, 1, .gatewayStarted, call: nil, [.run: "0123456789abcdef"])
            try await Self.told(client, "01234567.1")
            let gone = await #expect(throws: HookswitchClient.EventsGone.self) {
                for try await _ in client.events(after: .init(rawValue: "99999999.1")) {}
            }
            #expect(gone?.oldest?.description == "01234567.1")
            let problem = await #expect(throws: HookswitchClient.Problem.self) { for try await _ in client.events(types: ["calls"]) {} }
            #expect(problem?.status == 400 && problem?.detail.contains("there is no event 'calls'") == true)
        }

        @Test func `a reader that is cancelled ends, and its connection with it`() async throws {
            let server = try server(), client = try Self.client(server), (stood, stands) = AsyncStream<Void>.makeStream()
            let reading = Task { for try await _ in client.events(connection: { _ in stands.yield() }) {} }
            _ = await stood.first { _ in true }
            #expect(try await client.server().readers == 1)
            reading.cancel()
            await #expect(throws: CancellationError.self) { try await reading.value }
            let end = MonotonicClock.now + .seconds(20)
            while try await client.server().readers > 0 { try #require(MonotonicClock.now < end) }
        }

        @Test func `a server that comes back on the same path is asked again`() async throws {
            let path = Self.temporary("sock"), first = try server(path: path, addresses: []), (news, tells) = AsyncStream<Bool>.makeStream()
            Self.tell(first, 1, .gatewayStarted, call: nil, [.run: "0123456789abcdef"])
            let client = HookswitchClient(socket: path), start = HookswitchClient.Position(rawValue: "01234567.1")
            try await Self.told(client, "01234567.1")
            let reading = Task { try await client.events(after: start) { tells.yield($0 == nil) }.first { _ in true } }
            var stands = news.makeAsyncIterator()
            #expect(await stands.next() == true)
            first.end()
            #expect(await stands.next() == false)
            let second = try server(path: path, addresses: [])
            await #expect(throws: HookswitchClient.EventsGone.self, "it is another run, without a journal") { try await reading.value }
            withExtendedLifetime(second) {}
        }
    }
}
