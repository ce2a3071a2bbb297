import CallJournal
import CallKit
import Foundation
import FoundationXML
import Gateway
import Primitives
import Runtime
import Synchronization
import Testing
import UserAgent

@testable import Console

extension RealTime {
    /// Reads of the journal, of traces, recordings, trunks and directories; and by whom.
    @Suite(.timeLimit(.minutes(30))) struct ControlReadsTests {
        private let gateway = ScriptedGateway()
        private let journal: WrittenJournal
        private let server: ControlServer
        private let tokens: AccessTokenFile
        /// For everything, and for line 1001 alone.
        private let all: String, one: String

        init() throws {
            journal = try WrittenJournal()
            tokens = AccessTokenFile(path: journal.folder.appending(path: "tokens.json").path)
            let everything = AccessToken.make(name: "all", scopes: AccessScope.allCases, lines: nil, expires: nil)
            let limited = AccessToken.make(name: "one", scopes: AccessScope.allCases, lines: ["1001"], expires: nil)
            (all, one) = (everything.secret, limited.secret)
            try tokens.write([everything.kept, limited.kept])
            server = try ControlServer(path: nil, addresses: [anyLoopbackPort], tokens: tokens, journal: journal.path, version: "1.2.3")
            server.begin(gateway) {}
        }

        @Test func `the load has histograms, and the settings are for who may administer all lines`() throws {
            #expect(try ask("/v1/settings").status == 503)
            let setting = SettingsReport.Setting(path: "domain", value: "x.test", default: "any", place: "a.yaml:1", help: "names")
            server.use(SettingsReport(settings: [setting], findings: [.init(grade: "warning", subject: "check", text: "late")]))
            let settings = try ask("/v1/settings")
            #expect((settings.json["settings"] as? [[String: String]])?.first?["value"] == "x.test", "\(settings.text)")
            #expect((settings.json["findings"] as? [[String: String]])?.first?["text"] == "late")
            #expect(try ask("/v1/settings", as: one).code == "insufficientScope")
            for number in 1...2 {
                let health = try ask("/v1/health"), waits = try #require(health.json["laneWait"] as? [String: Any], "\(health.text)")
                let buckets = try #require(waits["buckets"] as? [[String: Double]])
                #expect(waits["count"] as? Int == number && buckets.reduce(0) { $0 + ($1["count"] ?? 0) } == Double(number))
                #expect(buckets.last?["upTo"] == nil && buckets.dropLast().allSatisfy { $0["upTo"] != nil })
                #expect(health.json["memory"] as? Int ?? 0 > 1_000_000 && health.json["processor"] as? Double ?? 0 > 0)
            }
        }

        private struct Answer {
            var status: Int
            var head: String, body: [UInt8]
            var text: String { String(decoding: body, as: UTF8.self) }
            var json: [String: Any] { (try? JSONSerialization.jsonObject(with: Data(body))) as? [String: Any] ?? [:] }
            var code: String? { json["code"] as? String }

            func field(_ name: String) -> String? {
                head.components(separatedBy: "\r\n").first { $0.hasPrefix("\(name): ") }.map { String($0.dropFirst(name.count + 2)) }
            }
        }

        private func ask(
            _ path: String, _ method: String = "GET", as token: String? = nil, _ fields: String = "", body: String? = nil
        ) throws -> Answer {
            let visitor = try Visitor(to: try #require(server.addresses.first)), content = body ?? ""
            visitor.write(
                "\(method) \(path) HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nAuthorization: Bearer \(token ?? all)\r\n\(fields)"
                    + (body == nil ? "" : "Content-Length: \(content.utf8.count)\r\n") + "\r\n\(content)")
            var bytes: [UInt8] = []
            while let more = visitor.read() { bytes += more }
            let end = try #require(Data(bytes).range(of: Data("\r\n\r\n".utf8)))
            let head = String(decoding: bytes[..<end.lowerBound], as: UTF8.self)
            return Answer(status: try #require(Int(head.dropFirst(9).prefix(3))), head: head, body: Array(bytes[end.upperBound...]))
        }

        private static let call = "/v1/calls/\(WrittenJournal.first)"

        // MARK: Ladder

        @Test func `the ladder of a call that is over is text, and has the leg that was joined with it`() throws {
            let answer = try ask("\(Self.call)/ladder")
            #expect(answer.status == 200 && answer.field("Content-Type") == "text/plain; charset=utf-8")
            for words in ["INVITE", "200", "line 1001", "line 1002", "media opened"] { #expect(answer.text.contains(words), "\(words)") }
            #expect(!answer.text.contains("1003"), "a call that has nothing to do with it")
            #expect(try ask("\(Self.call)/ladder?width=80").text.split(separator: "\n").allSatisfy { $0.count <= 80 })
        }

        @Test func `a ladder is a picture, a page or JSON where that is wanted`() throws {
            for (path, field, type) in [
                ("?format=svg", "", "image/svg+xml"), ("", "Accept: image/svg+xml, */*;q=0.1\r\n", "image/svg+xml"),
                ("", "Accept: text/html,application/xhtml+xml\r\n", "text/html; charset=utf-8"),
                ("?format=json", "Accept: text/html\r\n", "application/json"), ("", "Accept: */*\r\n", "text/plain; charset=utf-8"),
            ] {
                let answer = try ask("\(Self.call)/ladder\(path)", "GET", field)
                #expect(answer.status == 200 && answer.field("Content-Type") == type, "\(path) \(field)")
            }
            #expect(try ask("\(Self.call)/ladder?format=pdf").json["detail"] as? String == "format: 'pdf' is none of text, svg, html, json")
            let json = try ask("\(Self.call)/ladder?format=json").json
            #expect((json["parties"] as? [[String: Any]])?.map { $0["line"] as? String } == ["1001", "1002"])
        }

        @Test func `the picture is whole XML with the colours of both screens, and what a stranger wrote is text in it`() throws {
            let answer = try ask("\(Self.call)/ladder?format=svg"), parser = XMLParser(data: Data(answer.body)), reader = ElementReader()
            parser.delegate = reader
            #expect(
                parser.parse() && reader.names.first == "svg" && reader.names.contains("rect"), "\(String(describing: parser.parserError))")
            #expect(!reader.names.contains("script") && answer.text.contains("&lt;script&gt;"))
            #expect(answer.text.contains("prefers-color-scheme:dark") && answer.text.contains("xmlns=\"http://www.w3.org/2000/svg\""))
            #expect(answer.field("Content-Security-Policy")?.contains("default-src 'none'") == true)
        }

        @Test func `a token for some lines sees no other legs, and no other calls`() throws {
            let ladder = try ask("\(Self.call)/ladder", as: one)
            #expect(ladder.status == 200 && ladder.text.contains("line 1001") && !ladder.text.contains("1002"))
            for path in ["ladder", "statistics", "pcap"] {
                #expect(try ask("/v1/calls/\(WrittenJournal.third)/\(path)", as: one).status == 404, "\(path)")
                #expect(try ask("/v1/calls/\(WrittenJournal.second)/\(path)", as: one).status == 404, "\(path)")
                #expect(try ask("/v1/calls/\(UUID())/\(path)").status == 404 && ask("/v1/calls/x/\(path)").status == 400, "\(path)")
            }
        }

        // MARK: Statistics

        @Test func `statistics of a call that is over are those of the journal, and what was not measured is absent`() throws {
            let legs = try #require(try ask("\(Self.call)/statistics").json["legs"] as? [[String: Any]])
            let leg = try #require(legs.first), incoming = try #require(leg["incoming"] as? [String: Any])
            #expect(leg["codec"] as? String == "opus" && leg["remote"] as? String == "192.0.2.7:5060" && leg["isUp"] as? Bool == false)
            #expect(leg["roundTrip"] as? Double == 4 && incoming["mos"] as? Double == 4.37 && incoming["lossPercent"] as? Double == 0.67)
            #expect(incoming["packets"] as? Int == 99 && incoming["jitter"] as? Double == 0.9 && incoming["heard"] as? String == "heard")
            #expect((leg["outgoing"] as? [String: Any])?.keys.sorted() == ["heard", "packets"])
            #expect(legs.count == 2 && legs.last?["incoming"] == nil)
            #expect((try ask("\(Self.call)/statistics", as: one).json["legs"] as? [Any])?.count == 1)
            #expect(gateway.state.withLock { $0.statisticsAsks } == 0)
        }

        @Test func `statistics of a call that is up are asked of the gateway, a few times a second at most`() throws {
            let begin = MonotonicClock.now
            var asks = 0
            while asks < 10 {
                let legs = try ask("/v1/calls/\(WrittenJournal.third)/statistics").json["legs"] as? [[String: Any]]
                #expect((legs?.first?["incoming"] as? [String: Any])?["packets"] as? Int == 77 && legs?.first?["isUp"] as? Bool == true)
                asks += 1
            }
            let most = (MonotonicClock.now - begin).wholeMilliseconds / 300 + 1
            #expect(gateway.state.withLock { Int64($0.statisticsAsks) } <= most)
        }

        // MARK: Journal

        private func positions(_ answer: Answer) -> [String] {
            answer.text.split(separator: "\n").map { line in
                ((try? JSONSerialization.jsonObject(with: Data(line.utf8))) as? [String: Any])?["position"] as? String ?? "?"
            }
        }

        @Test func `the journal is read page by page, across files and runs, and each line once`() throws {
            try journal.rotate()
            var path = "/v1/journal?limit=6", found: [String] = [], pages = 0
            while pages < 20 {
                let answer = try ask(path)
                #expect(answer.status == 200 && answer.field("Content-Type") == "application/x-ndjson")
                found += positions(answer)
                pages += 1
                guard let link = answer.field("Link") else { break }
                #expect(positions(answer).count == 6 && answer.field("Hookswitch-Position") == found.last)
                path = String(link.dropFirst().prefix { $0 != ">" })
            }
            #expect(found == (1...20).map { "01234567.\($0)" } + ["89abcdef.1", "89abcdef.2"] && pages == 4)
            #expect(positions(try ask("/v1/journal?after=01234567.19")) == ["01234567.20", "89abcdef.1", "89abcdef.2"])
            #expect(try ask("/v1/journal?after=89abcdef.2").status == 200 && ask("/v1/journal?after=aaaaaaaa.2").status == 410)
            try FileManager.default.removeItem(atPath: journal.path + ".1")
            #expect(try ask("/v1/journal?after=01234567.19").status == 410, "its file is gone")
        }

        @Test func `lines of a call, of a line, and of a token's lines are theirs alone`() throws {
            #expect(positions(try ask("\(Self.call)/journal")).count == 11)
            #expect(try ask("\(Self.call)/journal", as: one).text.contains("sip.rx"))
            #expect(try ask("/v1/calls/\(WrittenJournal.second)/journal", as: one).text.isEmpty)
            let mine = try ask("/v1/journal", as: one).text
            #expect(mine.contains(#""line":"1001""#) && !mine.contains(#""line":"1002""#) && !mine.contains("gateway.started"))
            #expect(try ask("/v1/journal?line=1002", as: one).status == 404)
            #expect(positions(try ask("/v1/journal?line=1003")) == ["01234567.14", "01234567.15", "01234567.16"])
            for query in ["limit=0", "limit=10001", "limit=x", "after=x"] {
                #expect(try ask("/v1/journal?\(query)").status == 400, "\(query)")
            }
        }

        @Test func `without a journal nothing of it can be read`() throws {
            let server = try ControlServer(path: nil, addresses: [anyLoopbackPort], version: "1")
            for path in ["\(Self.call)/ladder", "\(Self.call)/statistics", "/v1/journal", "/v1/recordings"] {
                let visitor = try Visitor(to: server.addresses[0])
                visitor.write("GET \(path) HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
                #expect(visitor.readToEnd()?.contains("noJournal") == true, "\(path)")
            }
        }

        // MARK: Messages

        @Test func `the messages of a call are a file of packets without secrets, while they are traced`() throws {
            let off = try ask("\(Self.call)/pcap")
            #expect(off.status == 409 && off.code == "notTraced")
            let trace = MessageTrace(sinks: []), flow = Flow(transport: .udp, local: anyLoopbackPort, remote: anyLoopbackPort)
            gateway.state.withLock { $0.trace = trace }
            #expect(try ask("\(Self.call)/pcap").status == 404, "none is there")
            for id in ["a@x", "c@x"] {
                let message = "REGISTER sip:x SIP/2.0\r\nCall-ID: \(id)\r\nAuthorization: Digest response=\"5ecre7\"\r\n\r\n"
                trace.note(.received, Array(message.utf8), over: flow)
            }
            let file = try ask("\(Self.call)/pcap", as: one)
            #expect(
                file.status == 200 && file.field("Content-Type") == "application/x-pcapng"
                    && file.body.starts(with: [0x0A, 0x0D, 0x0D, 0x0A]))
            #expect(file.text.contains("Call-ID: a@x") && !file.text.contains("c@x") && !file.text.contains("5ecre7"))
        }

        // MARK: Recordings

        private func sound(_ count: Int) throws -> [UInt8] {
            let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) }
            try Data(bytes).write(to: URL(filePath: journal.recording))
            return bytes
        }

        @Test func `recordings are listed while their file is there, to those of their line`() throws {
            #expect((try ask("/v1/recordings").json["recordings"] as? [Any])?.isEmpty == true, "the file is not there")
            _ = try sound(1_000)
            for token in [all, one] {
                let list = try #require(try ask("/v1/recordings", as: token).json["recordings"] as? [[String: Any]])
                #expect(list.count == 1 && list[0]["id"] as? String == "01234567.13" && list[0]["size"] as? Int == 1_000)
                #expect(list[0]["file"] as? String == "call.wav" && list[0]["type"] as? String == "audio/wav" && list[0]["ended"] != nil)
            }
            for query in ["line=1002", "call=\(WrittenJournal.third)"] {
                #expect((try ask("/v1/recordings?\(query)").json["recordings"] as? [Any])?.isEmpty == true, "\(query)")
            }
        }

        @Test func `a recording is sent whole, in part, and not again to whoever has it`() throws {
            let bytes = try sound(3_000_000), path = "/v1/recordings/01234567.13"
            let whole = try ask(path), tag = try #require(whole.field("ETag"))
            #expect(whole.status == 200 && whole.body == bytes && whole.field("Content-Length") == "3000000")
            #expect(whole.field("Accept-Ranges") == "bytes" && whole.field("Content-Type") == "audio/wav")
            let part = try ask(path, "GET", "Range: bytes=1000-1999\r\nIf-Range: \(tag)\r\n")
            #expect(part.status == 206 && part.body == Array(bytes[1_000..<2_000]))
            #expect(part.field("Content-Range") == "bytes 1000-1999/3000000" && part.field("Content-Length") == "1000")
            #expect(try ask(path, "GET", "Range: bytes=0-1\r\nIf-Range: \"other\"\r\n").body.count == 3_000_000)
            let behind = try ask(path, "GET", "Range: bytes=3000000-\r\n")
            #expect(behind.status == 416 && behind.field("Content-Range") == "bytes */3000000")
            #expect(try ask(path, "GET", "If-None-Match: \(tag)\r\n").status == 304)
            let head = try ask(path, "HEAD")
            #expect(head.status == 200 && head.body.isEmpty && head.field("Content-Length") == "3000000")
        }

        @Test func `a name that leads elsewhere is no recording`() throws {
            _ = try sound(10)
            for name in ["..%2F..%2Fetc%2Fpasswd", "call.wav", "%2Fetc%2Fpasswd"] {
                #expect(try ask("/v1/recordings/\(name)").status == 400, "\(name)")
            }
            for name in ["01234567.14", "ffffffff.13"] { #expect(try ask("/v1/recordings/\(name)").status == 404, "\(name)") }
        }

        @Test func `a recording is removed by whoever may, and is gone`() throws {
            _ = try sound(10)
            let reader = AccessToken.make(name: "reader", scopes: [.read, .control, .lines], lines: nil, expires: nil)
            let other = AccessToken.make(name: "other", scopes: AccessScope.allCases, lines: ["1002"], expires: nil)
            try tokens.write(tokens.read() + [reader.kept, other.kept])
            let path = "/v1/recordings/01234567.13", end = MonotonicClock.now + .seconds(20)
            while try ask(path, as: reader.secret).status == 401 { try #require(MonotonicClock.now < end) }
            #expect(try ask(path, "DELETE", as: reader.secret).status == 403)
            #expect(try ask(path, "DELETE", as: other.secret).status == 404 && ask(path, as: other.secret).status == 404)
            #expect(try ask(path, "DELETE", as: one).status == 204)
            #expect(try ask(path).status == 404 && ask(path, "DELETE").status == 404)
        }

        // MARK: Webhooks

        /// Webhooks for all lines, for line 1001, and for two lines.
        private final class ScriptedWebhooks: WebhookControl {
            let statuses: [WebhookStatus]

            init() throws {
                let url = try #require(URL(string: "http://x/"))
                statuses = [("all", nil), ("one", ["1001"]), ("two", ["1001", "1002"])].map { name, lines in
                    WebhookStatus(WebhookSettings(name: name, url: url, secrets: [], lines: lines))
                }
            }

            func ping(_ name: String, then: @escaping @Sendable (WebhookAnswer) -> Void) -> Bool {
                then(.answered(status: 204, retryAfter: nil))
                return true
            }
        }

        @Test func `a token for some lines sees and tests the webhooks of those alone`() throws {
            server.use(try ScriptedWebhooks())
            func names(_ token: String) throws -> [String] {
                try #require(try ask("/v1/webhooks", as: token).json["webhooks"] as? [[String: Any]]).compactMap { $0["name"] as? String }
            }
            #expect(try names(all) == ["all", "one", "two"] && names(one) == ["one"])
            for (name, status) in [("all", 404), ("one", 200), ("two", 404)] {
                #expect(try ask("/v1/webhooks/\(name)/test", "POST", as: one).status == status, "\(name)")
            }
            #expect(try ask("/v1/webhooks/two/test", "POST").json["isTaken"] as? Bool == true)
        }

        // MARK: Trunks, directories, registrations, changes

        @Test func `queues are told with who waits and who is free`() throws {
            let queues = try #require(try ask("/v1/queues").json["queues"] as? [[String: Any]])
            #expect(queues.map { $0["waiting"] as? Int } == [1] && queues[0]["longestWait"] as? Double == 1.5)
            #expect((queues[0]["members"] as? [[String: Any]])?.map { $0["state"] as? String } == ["ringing", "busy"])
            #expect(try ask("/v1/queues/support").json["line"] as? String == "700")
            #expect(try ask("/v1/queues/nobody").status == 404 && ask("/v1/queues/700", as: one).status == 404)
        }

        private func message(_ caller: String, _ path: String, isHeard: Bool) -> MailboxMessage {
            MailboxMessage(
                id: UUID(), line: "1900", caller: caller, name: nil, called: "1900", received: Date(timeIntervalSince1970: 1_790_000_000),
                duration: 2.5, path: path, isHeard: isHeard)
        }

        @Test func `a mailbox has its messages, which are heard, marked and removed`() throws {
            let path = journal.folder.appending(path: "message.wav").path, sound = Array("RIFF and so on".utf8)
            try Data(sound).write(to: URL(filePath: path))
            let messages = [message("1002", path, isHeard: false), message("1003", "/nowhere/x.opus", isHeard: true)]
            gateway.state.withLock { $0.messages = messages }
            let all = try #require(try ask("/v1/mailboxes").json["mailboxes"] as? [[String: Any]])
            #expect(all.map { $0["new"] as? Int } == [1, 0] && all.map { $0["old"] as? Int } == [1, 0] && all[0]["messages"] == nil)
            let mailbox = try ask("/v1/mailboxes/Office").json, list = try #require(mailbox["messages"] as? [[String: Any]])
            #expect(list.map { $0["caller"] as? String } == ["1002", "1003"] && list.map { $0["heard"] as? Bool } == [false, true])
            #expect(list.map { $0["file"] as? String } == ["message.wav", "x.opus"] && list[0]["duration"] as? Double == 2.5)
            #expect(list[0]["received"] as? String == "2026-09-21T14:13:20.000Z")
            let one = "/v1/mailboxes/1900/messages/\(messages[0].id)", heard = try ask(one)
            #expect(heard.status == 200 && heard.body == sound && heard.field("Content-Type") == "audio/wav")
            #expect(try ask(one, "GET", "Range: bytes=0-3\r\n").body == Array(sound.prefix(4)))
            #expect(try ask("/v1/mailboxes/1900").json["new"] as? Int == 1, "listening marks nothing")
            #expect(try ask(one, "PATCH", body: #"{"heard": true}"#).status == 204)
            #expect(try ask("/v1/mailboxes/1900").json["old"] as? Int == 2)
            #expect(try ask(one, "PATCH", body: #"{"heared": true}"#).status == 400)
            #expect(try ask(one, "DELETE").status == 204 && ask(one, "DELETE").status == 404 && ask(one).status == 404)
        }

        @Test func `messages that are not there, and mailboxes of others, are 404, and changes need the scope`() throws {
            let reader = AccessToken.make(name: "reader", scopes: [.read, .control], lines: nil, expires: nil)
            try tokens.write(tokens.read() + [reader.kept])
            let gone = message("1002", "/nowhere/x.wav", isHeard: false), path = "/v1/mailboxes/1900/messages/\(gone.id)"
            gateway.state.withLock { $0.messages = [gone] }
            #expect(try ask(path).status == 404 && ask("/v1/mailboxes/1900/messages/1").status == 400)
            #expect(try ask("/v1/mailboxes/1900/messages/\(UUID())", "PATCH", body: #"{"heard": true}"#).status == 404)
            #expect(try (ask("/v1/mailboxes", as: one).json["mailboxes"] as? [[String: Any]])?.map { $0["line"] as? String } == ["1001"])
            for method in ["GET", "DELETE"] { #expect(try ask(path, method, as: one).status == 404) }
            #expect(try ask("/v1/mailboxes/1900", as: one).status == 404)
            #expect(try ask("/v1/mailboxes/1900", as: reader.secret).status == 200)
            #expect(try ask(path, "DELETE", as: reader.secret).status == 403)
            #expect(gateway.state.withLock { $0.messages.count } == 1)
        }

        @Test func `trunks are told with how they are`() throws {
            let trunks = try #require(try ask("/v1/trunks").json["trunks"] as? [[String: Any]])
            #expect(trunks.map { $0["state"] as? String } == ["up", "down", "down", "unresolved"])
            #expect(trunks[0]["maximumCalls"] as? Int == 10)
            #expect((trunks[0]["servers"] as? [[String: Any]])?.map { $0["isDown"] as? Bool } == [false, true])
            #expect(
                try ask("/v1/trunks/carrier").json["line"] as? String == "800"
                    && ask("/v1/trunks/801").json["registrationStatus"] as? Int == 403)
            #expect(try ask("/v1/trunks/nobody").status == 404 && ask("/v1/trunks/800", as: one).status == 404)
            #expect((try ask("/v1/trunks", as: one).json["trunks"] as? [Any])?.isEmpty == true)
        }

        @Test func `call directories are told, and loaded anew`() throws {
            let list = try ask("/v1/directories").json["directories"] as? [[String: Any]]
            #expect(list?.first?["name"] as? String == "spam" && list?.first?["failure"] as? String == "no file")
            #expect(list?.first?["loaded"] as? String == "1970-01-01T00:00:00.000Z" && list?.first?["blocked"] as? Int == 3)
            #expect(try ask("/v1/directories/spam/reload", "POST").status == 202 && ask("/v1/directories/x/reload", "POST").status == 404)
            #expect(gateway.state.withLock { $0.reloaded } == ["spam", "x"])
        }

        @Test func `a registration is taken away by its name`() throws {
            let list = try #require(try ask("/v1/lines/1001/registrations", as: one).json["registrations"] as? [[String: Any]])
            let id = try #require(list.first?["id"] as? String)
            #expect(list.count == 1 && list[0]["contact"] as? String == "sip:a@x")
            #expect(try ask("/v1/lines/1001/registrations/0000000000000000", "DELETE").status == 404)
            #expect(try ask("/v1/lines/1002/registrations/\(id)", "DELETE", as: one).status == 404)
            #expect(gateway.state.withLock { $0.unregistered.isEmpty })
            #expect(try ask("/v1/lines/1001/registrations/\(id)", "DELETE", as: one).status == 204)
            #expect(gateway.state.withLock { $0.unregistered } == ["sip:a@x"])
        }

        @Test func `a line is changed while it runs, and what cannot be changed is refused with what can`() throws {
            #expect(try ask("/v1/lines/1001", "PATCH", as: one, body: #"{"doNotDisturb": true}"#).status == 204)
            #expect(gateway.state.withLock { $0.isDoNotDisturbOn })
            let wrong = try ask("/v1/lines/1001", "PATCH", body: #"{"doNotDisturbe": false}"#)
            #expect(wrong.status == 400 && wrong.code == "unknownMember")
            #expect(wrong.json["detail"] as? String == "doNotDisturbe is not known: did you mean 'doNotDisturb'?")
            #expect(
                try ask("/v1/lines/1001", "PATCH", body: "{}").status == 400
                    && ask("/v1/lines/7", "PATCH", body: #"{"doNotDisturb": true}"#).status == 404)
            #expect(try ask("/v1/lines/1002", "PATCH", as: one, body: #"{"doNotDisturb": false}"#).status == 404)
        }

        @Test func `a recent call is called back`() throws {
            let id = UUID(), now = Date()
            gateway.state.withLock {
                $0.recents = [
                    RecentCall(
                        id: id, line: "1001", direction: .incoming, handleType: .phoneNumber, handle: "+39055", name: nil, began: now,
                        connected: nil, ended: now, outcome: .missed, reason: "")
                ]
            }
            #expect(try ask("/v1/lines/1001/recents/\(id)/call-back", "POST", as: one, body: #"{"wait": "accepted"}"#).status == 202)
            let order = try #require(gateway.state.withLock { $0.orders.first })
            #expect(
                order.line == "1001"
                    && order.actions == [.start(call: nil, CallRequest(handle: CXHandle(type: .phoneNumber, value: "+39055")))])
            #expect(try ask("/v1/lines/1001/recents/\(UUID())/call-back", "POST").status == 404)
            #expect(try ask("/v1/lines/1002/recents/\(id)/call-back", "POST", as: one).status == 404)
        }

        // MARK: Unknown members

        @Test(arguments: [
            ("/v1/transactions", #"{"actions": [], "wiat": "accepted"}"#, "wiat is not known: did you mean 'wait'?"),
            (
                "/v1/transactions", #"{"actions": [{"type": "CXStartCallAction", "handle": {"vaule": "1"}}]}"#,
                "actions[0].handle.vaule is not known: did you mean 'value'?"
            ),
            (
                "/v1/transactions", #"{"actions": [{"type": "CXEndCallAction", "onHold": true}]}"#,
                "actions[0].onHold is not known; there are call, type"
            ),
            ("/v1/calls", #"{"line": "1001", "too": "1002"}"#, "too is not known: did you mean 'to'?"),
            ("\(call)/hold", #"{"onhold": false}"#, "onhold is not known: did you mean 'onHold'?"),
            ("\(call)/transfer", #"{"to": "sip:1@x", "wait": "performed"}"#, "wait is not known; there are to"),
        ])
        func `a member that is not known is refused, with the nearest`(path: String, body: String, words: String) throws {
            let answer = try ask(path, "POST", body: body)
            #expect(answer.status == 400 && answer.code == "unknownMember" && answer.json["detail"] as? String == words, "\(answer.text)")
            #expect(gateway.state.withLock { $0.orders.isEmpty })
        }
    }
}

/// The names of a document's elements, in their order.
private final class ElementReader: NSObject, XMLParserDelegate {
    private(set) var names: [String] = []

    func parser(
        _ parser: XMLParser, didStartElement name: String, namespaceURI: String?, qualifiedName: String?, attributes: [String: String]
    ) { names.append(name) }
}
