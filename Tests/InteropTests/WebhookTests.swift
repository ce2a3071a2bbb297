import Foundation
import Testing

extension Calls {
    /// Webhooks with real receivers: good ones, bad ones, and a gateway that is killed.
    @Suite(.serialized, .timeLimit(.minutes(30))) struct WebhookTests {
        private static let secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

        /// A gateway with one webhook, and its receiver.
        private struct Pair {
            let gateway: Gateway, receiver: Program, mode: String

            /// - Parameter certificate: what the receiver shows over TLS; nil: it speaks HTTP in the clear.
            static func start(
                _ mode: String = "good", settings: String = "timeout: 1", certificate: String? = nil, others: [String] = []
            ) async throws -> Pair {
                let ports = try await Ports.take(1), folder = try Folder()
                var setup = Gateway.Setup()
                let scheme = certificate == nil ? "http" : "https"
                setup.others = ports
                setup.settings =
                    [
                        "webhooks: [{ name: crm, url: \"\(scheme)://127.0.0.1:\(ports[0])/x?token=hidden\", secret: \(secret), \(settings) }]"
                    ] + others
                if certificate != nil { setup.tls = [] }
                let file = try folder.write(mode, to: "mode")
                let receiver = try Program(
                    "/usr/bin/python3",
                    [Place.scenario("webhook-receiver.py"), "\(ports[0])", secret, file]
                        + (certificate.map { [Place.certificate($0), Place.certificate("leaf.key")] } ?? []))
                try await receiver.line(containing: "LISTENS")
                return Pair(gateway: try await Gateway.start(setup), receiver: receiver, mode: file, folder: folder)
            }

            private let folder: Folder
            private init(gateway: Gateway, receiver: Program, mode: String, folder: Folder) {
                (self.gateway, self.receiver, self.mode, self.folder) = (gateway, receiver, mode, folder)
            }

            func become(_ mode: String) throws { try mode.write(toFile: self.mode, atomically: true, encoding: .utf8) }

            func call(_ number: String = "9196") async throws {
                let call = try await Program.run(Place.hookswitch, ["call", number, "--server", gateway.address, "--duration", "0.2"])
                #expect(call.code == 0, "\(call.lines)")
            }

            /// The events that the receiver took, in its order.
            var taken: [Taken] { receiver.lines.all.filter { $0.hasPrefix("TAKEN ") }.map(Taken.init) }

            /// All that the journal has by now.
            func waitForAll() async throws {
                let ids = try PublicJournal(gateway.journalFile).ids
                try await eventually("all \(ids.count) events are taken", within: .seconds(60)) {
                    Set(taken.map(\.id)).isSuperset(of: ids)
                }
            }

            /// SIGTERM, and then all that was taken is compared with what the journal has.
            func stop(mayRepeat: Bool = false) async throws {
                try await gateway.stop()
                receiver.kill()
                #expect(!receiver.lines.all.contains { $0.hasPrefix("FORGED") })
                try expectWhole(mayRepeat: mayRepeat)
            }

            private func expectWhole(mayRepeat: Bool) throws {
                var seen: [String: Taken] = [:], once: [Taken] = []
                for event in taken where event.type != "webhook.ping" {
                    if let first = seen[event.id] {
                        #expect(mayRepeat && first == event, "\(event.id) comes twice")
                    } else {
                        seen[event.id] = event
                        once.append(event)
                    }
                }
                let journal = try PublicJournal(gateway.journalFile)
                #expect(Set(once.map(\.id)).isSuperset(of: journal.ids), "missing: \(Set(journal.ids).subtracting(once.map(\.id)))")
                // The links of the stream give the whole order; within a call it is the order in which they came.
                let byPrevious = Dictionary(once.map { ($0.previous, $0) }) { first, _ in first }
                #expect(byPrevious.count == once.count, "each has another before it")
                var order: [String] = [], next = once.first { seen[$0.previous] == nil }
                while let event = next {
                    order.append(event.id)
                    next = byPrevious[event.id]
                }
                #expect(order.count == once.count, "the stream is whole")
                #expect(order.filter(Set(journal.ids).contains) == journal.ids, "in the journal's order")
                let rank = Dictionary(uniqueKeysWithValues: order.enumerated().map { ($1, $0) })
                for (call, events) in Dictionary(grouping: once, by: \.call) where call != "-" {
                    let ranks = events.map { rank[$0.id] ?? -1 }
                    #expect(ranks == ranks.sorted(), "in order within \(call)")
                }
            }
        }

        private struct Taken: Equatable {
            let id: String, previous: String, type: String, call: String, body: String

            init(_ line: String) {
                let words = line.split(separator: " ", maxSplits: 5).map(String.init)
                (id, previous, type, call, body) = (words[1], words[2], words[3], words[4], words[5])
            }
        }

        /// The positions of events that are certainly public, from the files themselves.
        private struct PublicJournal {
            let ids: [String]

            init(_ file: String) throws {
                let kinds: Set = [
                    "gateway.started", "report.incoming.ok", "report.connected", "perform.start", "call.ended", "media.opened",
                    "media.started", "media.stopped", "media.closed", "session.activated", "session.deactivated", "gateway.stopped",
                ]
                var ids: [String] = [], run = ""
                let rotated = (1...5).reversed().map { "\(file).\($0)" }.filter { FileManager.default.fileExists(atPath: $0) }
                for line in try (rotated + [file]).flatMap({ try String(contentsOfFile: $0, encoding: .utf8).split(separator: "\n") }) {
                    guard let event = try? JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any],
                        let kind = event["kind"] as? String
                    else { continue }
                    if kind == "gateway.started" {
                        run = String(((event["details"] as? [String: Any])?["run"] as? String ?? event["run"] as? String ?? "").prefix(8))
                    }
                    if kinds.contains(kind) { ids.append("\(run).\(event["seq"] ?? "")") }
                }
                self.ids = ids
            }
        }

        @Test(arguments: ["good", "slow"]) func `a receiver gets every event, signed, in order, and once`(mode: String) async throws {
            let pair = try await Pair.start(mode)
            for _ in 0..<3 { try await pair.call() }
            try await pair.waitForAll()
            let list = try await Program.run(Place.hookswitch, ["webhooks", "--data", pair.gateway.folder.file("data")])
            #expect(
                list.code == 0 && list.lines.contains { $0.hasPrefix("crm  http://127.0.0.1") && !$0.contains("hidden") }, "\(list.lines)")
            let test = try await Program.run(
                Place.hookswitch, ["webhooks", "test", "crm", "--data", pair.gateway.folder.file("data")])
            #expect(test.code == 0 && test.lines.first?.hasPrefix("taken: 204") == true, "\(test.lines)")
            try await pair.gateway.restart()
            try await pair.call()
            try await pair.waitForAll()
            #expect(pair.taken.contains { $0.type == "webhook.ping" })
            try await pair.stop()
        }

        @Test(arguments: ["500", "503", "301", "410", "garbage", "never", "half"])
        func `a receiver that is bad for a while loses nothing`(mode: String) async throws {
            let pair = try await Pair.start(mode)
            for _ in 0..<2 { try await pair.call() }
            try await pair.receiver.line(containing: "FAILED \(mode)", within: .seconds(60))
            #expect(pair.taken.isEmpty)
            try pair.become("good")
            if mode == "410" { pair.gateway.program.signal(SIGHUP) }
            try await pair.waitForAll()
            try await pair.stop()
        }

        @Test func `over HTTPS a receiver gets every event`() async throws {
            let pair = try await Pair.start(certificate: "server.pem")
            for _ in 0..<2 { try await pair.call() }
            try await pair.waitForAll()
            try await pair.stop()
        }

        @Test func `a receiver whose certificate is for another name gets nothing`() async throws {
            let pair = try await Pair.start(certificate: "domain.pem")
            try await pair.call()
            let data = pair.gateway.folder.file("data")
            try await eventually("the certificate is told of") {
                try await Program.run(Place.hookswitch, ["webhooks", "--data", data]).lines.contains { $0.contains("certificate") }
            }
            #expect(pair.taken.isEmpty)
            try await pair.gateway.stop()
            pair.receiver.kill()
        }

        @Test func `a journal that rotates meanwhile loses nothing`() async throws {
            let pair = try await Pair.start(others: ["journal.rotate: 1"])
            let file = pair.gateway.journalFile
            for _ in 0..<5 where !FileManager.default.fileExists(atPath: "\(file).1") {
                let load = try await Program.run(
                    Place.hookswitch,
                    ["load", "sip:9196@\(pair.gateway.address)", "--rate", "40", "--calls", "120", "--talk-time", "0.1"])
                // A machine that is too slow for exact figures (3) makes events all the same.
                #expect([0, 3].contains(load.code), "\(load.lines)")
            }
            #expect(FileManager.default.fileExists(atPath: "\(file).1"))
            try await pair.call()
            try await pair.waitForAll()
            try await pair.stop()
        }

        @Test func `a gateway that is killed again and again sends what was not taken, and repeats under the same id alone`() async throws {
            let pair = try await Pair.start("slow")
            for round in 1...3 {
                for _ in 0..<2 { try await pair.call() }
                pair.gateway.program.kill()
                _ = try await pair.gateway.program.exitCode(within: .seconds(10))
                if round == 2 { try pair.become("500") }
                try await pair.gateway.startAgain()
                if round == 2 {
                    try await pair.receiver.line(containing: "FAILED 500")
                    try pair.become("slow")
                }
            }
            try await pair.call()
            try await pair.waitForAll()
            try await pair.stop(mayRepeat: true)
        }

        @Test func `the example checks signatures`() async throws {
            let ports = try await Ports.take(1)
            let example = Place.tests.deletingLastPathComponent().deletingLastPathComponent().appending(path: "Examples/webhook.py").path
            let receiver = try Program("/usr/bin/python3", [example, Self.secret, "\(ports[0])"])
            var setup = Gateway.Setup()
            setup.others = ports
            setup.settings = [
                "webhooks:", "  - name: a", "    url: http://127.0.0.1:\(ports[0])/", "    secret: \(Self.secret)",
                "    types: [call.*]", "  - name: forged", "    url: http://127.0.0.1:\(ports[0])/",
                "    secret: whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA", "    types: [call.ended]",
            ]
            let gateway = try await Gateway.start(setup)
            let call = try await Program.run(Place.hookswitch, ["call", "9196", "--server", gateway.address, "--duration", "0.2"])
            #expect(call.code == 0, "\(call.lines)")
            try await receiver.line(containing: " call.ended ")
            let data = gateway.folder.file("data")
            try await eventually("the other is refused") {
                try await Program.run(Place.hookswitch, ["webhooks", "--data", data]).lines.contains { $0.contains("answered 401") }
            }
            try await gateway.stop()
            receiver.kill()
            let types = receiver.lines.all.map { $0.split(separator: " ")[1] }
            #expect(types == ["call.incoming", "call.connected", "call.ended"], "\(receiver.transcript)")
        }
    }
}
