import Foundation
import Testing

extension Calls {
    /// A running gateway that is steered over its control socket by the commands of the program.
    @Suite(.serialized, .timeLimit(.minutes(30))) struct ControlTests {
        private func steer(_ gateway: Gateway, _ words: String...) async throws -> (code: Int32, lines: [String]) {
            try await Program.run(Place.hookswitch, words + ["--data", gateway.folder.file("data")])
        }

        private static func object(_ line: String) throws -> [String: Any] {
            try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any], "\(line)")
        }

        /// The sequence numbers of events, which are those of the journal.
        private static func numbers(_ lines: [String]) throws -> [Int] {
            try lines.map { line in
                let id = try #require(object(line)["id"] as? String)
                return try #require(Int(id.split(separator: ".")[1]))
            }
        }

        @Test func `a call is held, muted, sent keys and hung up, and its events are those of the journal`() async throws {
            let gateway = try await Gateway.start(), data = gateway.folder.file("data")
            let events = try Program(Place.hookswitch, ["events", "--types", "call.*,media.*", "--data", data])
            try await eventually("somebody reads") { try await steer(gateway, "status", "--json").lines.joined().contains("\"readers\":1") }
            let phone = try Program(Place.hookswitch, ["call", "9196", "--server", gateway.address, "--duration", "60"])
            let first = try Self.object(try await events.line(containing: "\"media.started\""))
            let call = try #require(first["call"] as? String)
            #expect(try await steer(gateway, "calls").lines.map { $0.hasPrefix("\(call)  9196  incoming  ") } == [true])
            for words in [["hold", call], ["hold", call, "--off"], ["mute", call], ["mute", call, "--off"], ["dtmf", call, "5"]] {
                let done = try await Program.run(Place.hookswitch, words + ["--data", data])
                #expect(done.code == 0 && done.lines == ["\(call) fulfilled"], "\(words): \(done)")
            }
            #expect(try await steer(gateway, "hangup", call, "--wait", "performed").code == 0)
            try await events.line(containing: "\"media.closed\"")
            _ = try await phone.exitCode(within: .seconds(20))
            #expect(phone.transcript.contains("held      1 time"), "\(phone.transcript)")
            #expect(try await steer(gateway, "hangup", call).code == 1, "it is over")

            // Cut off anywhere, a reader goes on where it was.
            let heard = events.lines.all.filter { $0.hasPrefix("{") }
            let types = try heard.map { try #require(Self.object($0)["type"] as? String) }
            #expect(
                types == [
                    "call.incoming", "media.opened", "call.connected", "media.started", "media.stopped", "call.held", "call.resumed",
                    "media.started", "call.muted", "call.unmuted", "media.stopped", "call.ended", "media.closed",
                ])
            for index in [0, 4, heard.count - 2] {
                let id = try #require(Self.object(heard[index])["id"] as? String), rest = heard.count - index - 1
                let again = try await steer(gateway, "events", "--types", "call.*,media.*", "--after", id, "--count", "\(rest)")
                #expect(again.code == 0 && again.lines == Array(heard[(index + 1)...]), "after \(id)")
            }
            #expect(try await steer(gateway, "events", "--after", "ffffffff.1").code == 1, "of no run of this server")
            let journal = try await gateway.stop()
            journal.expectNothingLeft()
            let kinds = ["report.incoming.ok", "media.opened", "media.started", "media.stopped", "call.ended", "media.closed"]
            let told = journal.events.indices.filter { kinds.contains(journal.events[$0].kind) }.map { $0 + 1 }
            let numbers = try Self.numbers(heard)
            #expect(told.allSatisfy(numbers.contains), "each of the journal is told")
            #expect(numbers == numbers.sorted() && Set(numbers).count == numbers.count)
            #expect(events.lines.all.filter { $0.hasPrefix("{") }.count == heard.count, "\(events.transcript)")
            try await events.line(containing: "waiting for it")
        }

        @Test func `a call is started under a UUID of the caller's, and both telephones ring`() async throws {
            let gateway = try await Gateway.start()
            let alice = try Program(
                Place.hookswitch,
                ["answer", "--server", gateway.address, "--register", "1001", "--password", "secret-1001", "--calls", "1"])
            let bob = try Program(
                Place.hookswitch,
                ["answer", "--server", gateway.address, "--register", "1002", "--password", "secret-1002", "--calls", "1"])
            try await eventually("both are registered") {
                let lines = try await steer(gateway, "lines").lines
                return lines.count { $0.hasPrefix("      sip:") } == 2
            }
            let call = UUID().uuidString
            let start = try await steer(gateway, "start", "1001", "1002", "--call", call, "--wait", "connected")
            #expect(start.code == 0 && start.lines == ["\(call) fulfilled"], "\(start)")
            #expect(try await steer(gateway, "start", "1001", "1002", "--call", call).code == 1, "there is one of this UUID")
            let registrations = try await steer(gateway, "registrations", "--line", "1002").lines
            #expect(registrations.count == 1 && registrations[0].hasPrefix("1002  sip:"), "\(registrations)")
            #expect(try await steer(gateway, "registrations", "--line", "7").code == 1)
            // The device of 1001, its call to 1002, that call as it comes in, and the device of 1002: told a moment after the answer.
            try await eventually("all legs are in top, and connected") {
                let frame = try await steer(gateway, "top", "--once").lines
                return frame.contains { $0.contains("calls 4  ") && $0.hasSuffix("registrations 2") }
                    && frame.count { $0.contains("  connected  ") } == 4
            }
            let json = try Self.object(try await steer(gateway, "top", "--json").lines.joined())
            #expect((json["rows"] as? [[String: Any]])?.contains { $0["id"] as? String == call && $0["line"] as? String == "1001" } == true)
            #expect(try await steer(gateway, "start", "1001", "7777").lines.joined().contains("noRoute"))
            #expect(try await steer(gateway, "hangup", call).code == 0)
            for phone in [alice, bob] { #expect(try await phone.exitCode(within: .seconds(20)) == 0, "\(phone.transcript)") }
            #expect(try await steer(gateway, "dnd", "1002", "on").code == 0)
            #expect(try await steer(gateway, "dnd", "1002").lines == ["on"])
            #expect(try await steer(gateway, "block", "1002", "+391").code == 0)
            #expect(try await steer(gateway, "lines").lines.contains { $0.contains("do not disturb") && $0.contains("blocks ") })
            #expect(try await steer(gateway, "recents", "1002").lines.first?.contains("1001") == true)
            #expect(try await steer(gateway, "dnd", "7777", "on").code == 1)
            #expect(try await steer(gateway, "dnd", "1002", "maybe").code == 2)
            try await gateway.stop().expectNothingLeft()
        }

        @Test func `callers of an application are grouped, and the one that is left waits`() async throws {
            let gateway = try await Gateway.start(), data = gateway.folder.file("data")
            let events = try Program(Place.hookswitch, ["events", "--types", "media.started,call.grouped", "--data", data])
            try await eventually("somebody reads") { try await steer(gateway, "status", "--json").lines.joined().contains("\"readers\":1") }
            var phones: [Program] = [], calls: [String] = []
            for _ in 0..<3 {
                phones.append(try Program(Place.hookswitch, ["call", "9196", "--server", gateway.address, "--duration", "60"]))
                try await eventually("it is up") { events.lines.all.count == phones.count }
                calls.append(try #require(Self.object(events.lines.all[phones.count - 1])["call"] as? String))
            }
            for other in calls.dropFirst() { #expect(try await steer(gateway, "group", other, "--with", calls[0]).code == 0) }
            #expect(try await steer(gateway, "group", calls[2]).lines == ["\(calls[2]) fulfilled"])
            #expect(try await steer(gateway, "hangup", calls[0], "--wait", "performed").code == 0)
            for phone in phones.prefix(2) { _ = try await phone.exitCode(within: .seconds(20)) }
            #expect(try await steer(gateway, "calls").lines.map { $0.hasPrefix(calls[2]) } == [true])
            #expect(try await steer(gateway, "hangup", calls[2]).code == 0)
            _ = try await phones[2].exitCode(within: .seconds(20))
            let told = try events.lines.all.dropFirst(3).map { line in
                (try Self.object(line)["data"] as? [String: Any])?["with"] as? String
            }
            #expect(told == [calls[0], calls[0], nil])
            let journal = try await gateway.stop()
            journal.expectNothingLeft()
            // It would wait for the next run of the gateway.
            events.signal(SIGTERM)
            _ = try await events.exitCode(within: .seconds(20))
        }

        @Test func `over TCP a token is shown, and what it does not permit is refused`() async throws {
            let ports = try await Ports.take(1)
            var setup = Gateway.Setup()
            setup.others = ports
            setup.settings = ["api: { listen: [\"127.0.0.1:\(ports[0])\"] }"]
            let gateway = try await Gateway.start(setup), data = gateway.folder.file("data"), server = "http://127.0.0.1:\(ports[0])"
            #expect(try await Program.run(Place.hookswitch, ["status", "--server", server]).code == 0, "no token is asked for yet")
            let made = try await Program.run(Place.hookswitch, ["token", "create", "eye", "--scopes", "read", "--data", data])
            let token = try gateway.folder.write(try #require(made.lines.first), to: "eye.token")
            try await eventually("it is asked for") {
                try await Program.run(Place.hookswitch, ["status", "--server", server]).code == 1
            }
            #expect(try await Program.run(Place.hookswitch, ["status", "--server", server, "--token-file", token]).code == 0)
            let drain = try await Program.run(Place.hookswitch, ["drain", "--server", server, "--token-file", token])
            #expect(drain.code == 1 && drain.lines.joined().contains("insufficientScope"))
            #expect(
                try await Program.run(Place.hookswitch, ["token", "list", "--data", data]).lines.first?.hasPrefix("eye  read  all lines")
                    == true)
            #expect(try await Program.run(Place.hookswitch, ["token", "revoke", "eye", "--data", data]).code == 0)
            try await eventually("it is taken back") {
                try await Program.run(Place.hookswitch, ["status", "--server", server, "--token-file", token]).code == 1
            }
            #expect(try await steer(gateway, "status").code == 0, "the socket needs none")
            #expect(!gateway.program.transcript.contains("hsw_"))
            _ = try await gateway.stop()
            #expect(try await steer(gateway, "status").code == 3, "nobody is there any more")
        }
    }
}
