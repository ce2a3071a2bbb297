import Foundation
import Testing

extension Strains {
    /// Signals to clients of ours whose peer says no more: the first is a wish, the second ends them at once.
    @Suite(.serialized, .timeLimit(.minutes(30))) struct SecondSignalTests {
        /// Rings, and takes back nothing: a caller that waits for its CANCEL's end waits for half a minute.
        @Test(arguments: [
            ["load", "sip:1@PEER", "--rate", "1", "--calls", "1", "--timeout", "60"], ["probe", "PEER", "--timeout", "60"],
            ["call", "sip:1@PEER"],
        ])
        func `a second signal ends at once what waits for an answer`(words: [String]) async throws {
            let peer = try UDPPeer(),
                program = try Program(Place.hookswitch, words.map { $0.replacing("PEER", with: "127.0.0.1:\(peer.port)") })
            defer { program.kill() }
            let invite = try #require(await Self.heard("INVITE", by: peer))
            peer.answer(invite, "180 Ringing")
            try await Self.interrupt(program)
            _ = try #require(await Self.heard("CANCEL", by: peer))
            #expect(try await Self.interruptedAgain(program) == (words[0] == "call" ? 1 : 3))
            let reports = ["believable", "hookswitch:", "SIP out", "status"]
            #expect(
                !program.lines.all.contains { line in reports.contains(where: line.hasPrefix) },
                "no report, and no complaint: \(program.transcript)")
        }

        @Test func `a second signal ends torture in the middle of a case`() async throws {
            let peer = try UDPPeer()
            let program = try Program(Place.hookswitch, ["torture", "sip:1@127.0.0.1:\(peer.port)", "--only", "call", "--timeout", "30"])
            defer { program.kill() }
            let options = try #require(await Self.heard("OPTIONS", by: peer))
            peer.answer(options, "200 OK")
            _ = try #require(await Self.heard("INVITE", by: peer))
            try await Self.interrupt(program)
            #expect(try await Self.interruptedAgain(program) == 3)
            #expect(program.lines.all.isEmpty, "no case is judged: \(program.transcript)")
        }

        /// The transaction of a BYE would last 32 s (RFC 3261 §17.1.2.2).
        @Test func `answer waits for the answer to its BYE, but not for long`() async throws {
            let ports = try await Ports.take(1), peer = try UDPPeer()
            let program = try Program(Place.hookswitch, ["answer", "--listen", "127.0.0.1:\(ports[0])", "--after", "0"])
            defer { program.kill() }
            try await program.line(containing: "taking calls")
            let body =
                "v=0\r\no=- 1 1 IN IP4 127.0.0.1\r\ns=-\r\nc=IN IP4 127.0.0.1\r\nt=0 0\r\nm=audio \(peer.port) RTP/AVP 0\r\na=rtpmap:0 PCMU/8000\r\n"
            peer.send(peer.bare("INVITE", at: ports[0], body: body), to: ports[0])
            let answer = try #require(await Self.heard("SIP/2.0 200", by: peer))
            peer.send(peer.bare("ACK", at: ports[0], to: UDPPeer.field("To", of: answer)), to: ports[0])
            try await program.line(containing: "is answered")
            program.signal(SIGTERM)
            _ = try #require(await Self.heard("BYE", by: peer))
            let said = ContinuousClock.now
            _ = try #require(await Self.heard("BYE", by: peer), "it says it again")
            #expect(try await program.exitCode(within: .seconds(20)) == 0)
            let waited = ContinuousClock.now - said
            #expect((Duration.seconds(4)..<Duration.seconds(16)).contains(waited), "\(waited)")
        }

        /// Its next message of this kind, while other tests go on.
        private static func heard(_ start: String, by peer: UDPPeer) async -> String? {
            await withCheckedContinuation { continuation in
                Thread.detachNewThread { continuation.resume(returning: peer.receive(within: .seconds(20)) { $0.hasPrefix(start) }) }
            }
        }

        /// Once it catches the signal, which it does when its INVITE is on the way.
        private static func interrupt(_ program: Program) async throws {
            try await eventually("it catches SIGINT") {
                let status = try String(contentsOfFile: "/proc/\(program.pid)/status", encoding: .utf8)
                let caught =
                    status.split(separator: "\n").first { $0.hasPrefix("SigCgt:") }?.split(separator: "\t").last.flatMap {
                        UInt64($0, radix: 16)
                    } ?? 0
                return caught & 1 << (SIGINT - 1) != 0
            }
            program.signal(SIGINT)
        }

        /// What comes with the first signal is the same wish: it is said again until it is another. The first ends nothing that still
        /// waits.
        private static func interruptedAgain(_ program: Program) async throws -> Int32 {
            await #expect(throws: (any Error).self, "the first signal ended it") { try await program.exitCode(within: .milliseconds(500)) }
            for _ in 0..<12 {
                program.signal(SIGINT)
                if let code = try? await program.exitCode(within: .milliseconds(400)) { return code }
            }
            throw Unmet("\(program.name) goes on.\(program.transcript)")
        }
    }
}

extension UDPPeer {
    /// Answers a request as a server that has nothing to add.
    func answer(_ request: String, _ status: String) {
        let fields = ["Via", "From", "To", "Call-ID", "CSeq"].compactMap { name in
            Self.field(name, of: request).map { "\(name): \($0)\(name == "To" && !$0.contains("tag=") ? ";tag=peer" : "")" }
        }
        guard let via = Self.field("Via", of: request), let port = via.firstMatch(of: /^[^;]*:(\d+)/).flatMap({ UInt16($0.output.1) })
        else { return }
        send(
            Array(
                (["SIP/2.0 \(status)"] + fields + ["Contact: <sip:127.0.0.1:\(self.port)>", "Content-Length: 0", "", ""]).joined(
                    separator: "\r\n"
                ).utf8), to: port)
    }

    static func field(_ name: String, of message: String) -> String? {
        message.split(separator: "\r\n").first { $0.hasPrefix("\(name): ") }.map { String($0.dropFirst(name.count + 2)) }
    }

    /// A request of the one call that this peer has with a telephone of ours.
    func bare(_ method: String, at port: UInt16, to: String? = nil, body: String = "") -> [UInt8] {
        let lines = [
            "\(method) sip:1@127.0.0.1:\(port) SIP/2.0", "Via: SIP/2.0/UDP 127.0.0.1:\(self.port);branch=z9hG4bK\(method)\(self.port)",
            "From: <sip:peer@127.0.0.1>;tag=peer",
            "To: \(to ?? "<sip:1@127.0.0.1>")", "Call-ID: \(self.port)", "CSeq: 1 \(method)", "Max-Forwards: 70",
            "Contact: <sip:peer@127.0.0.1:\(self.port)>",
            "Content-Type: application/sdp", "Content-Length: \(body.utf8.count)", "", body,
        ]
        return Array(lines.joined(separator: "\r\n").utf8)
    }
}
