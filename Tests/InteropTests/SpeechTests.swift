import Audio
import Testing

extension Talks {
    /// baresip to baresip through the gateway: what one says is what the other hears.
    @Suite(.serialized, .furtherTriesForTornSound, .timeLimit(.minutes(30))) struct SpeechTests {
        static let codecs = ["opus", "pcmu", "pcma", "g722"]

        @Test(arguments: codecs)
        func `speech arrives at both ends`(codec: String) async throws {
            let gateway = try await Gateway.start()
            let pair = try await Pair.start(at: gateway, codecs: [codec])
            try await pair.connect()
            try await pair.caller.waitForRecording(of: 4)
            try await pair.callee.waitForRecording(of: 4)
            pair.caller.hangUp()
            try await pair.callee.event("CALL_CLOSED")
            try pair.expectSpeech()
            let journal = try await gateway.stop()
            journal.expectNothingLeft()
            #expect(
                Set(journal.all("media.opened").compactMap { $0.text("codec")?.lowercased() }) == [codec],
                "both legs speak it, so nothing is transcoded")
        }

        @Test(arguments: [("opus", "pcmu"), ("pcma", "opus"), ("g722", "opus"), ("pcmu", "g722")])
        func `speech arrives at both ends where the clients share no codec`(caller: String, callee: String) async throws {
            let gateway = try await Gateway.start()
            let pair = try await Pair.start(at: gateway, codecs: [caller], calleeCodecs: [callee])
            try await pair.connect()
            try await pair.caller.waitForRecording(of: 4)
            try await pair.callee.waitForRecording(of: 4)
            pair.caller.hangUp()
            try await pair.callee.event("CALL_CLOSED")
            try pair.expectSpeech()
            let journal = try await gateway.stop()
            journal.expectNothingLeft()
            #expect(
                Set(journal.all("media.opened").compactMap { $0.text("codec")?.lowercased() }) == [caller, callee], "each leg has its own")
        }

        @Test func `two who call the conference hear each other, whatever codecs they have`() async throws {
            let gateway = try await Gateway.start(.init(lines: Gateway.Setup.usual + [#"{ number: "3000", application: conference }"#]))
            let pair = try await Pair.start(at: gateway, codecs: ["opus"], calleeCodecs: ["pcma"])
            for client in [pair.caller, pair.callee] {
                client.dial("3000")
                try await client.event("CALL_ESTABLISHED")
            }
            try await pair.caller.waitForRecording(of: 5)
            try await pair.callee.waitForRecording(of: 5)
            for client in [pair.caller, pair.callee] {
                client.hangUp()
                try await client.event("CALL_CLOSED")
            }
            try pair.expectSpeech()
            let journal = try await gateway.stop()
            journal.expectNothingLeft()
        }

        @Test func `a caller with all codecs and a callee with one agree on that one`() async throws {
            let gateway = try await Gateway.start()
            let pair = try await Pair.start(at: gateway, codecs: ["opus", "g722", "pcmu", "pcma"], calleeCodecs: ["pcma"])
            try await pair.connect()
            try await pair.caller.waitForRecording(of: 4)
            try await pair.callee.waitForRecording(of: 4)
            pair.callee.hangUp()
            try await pair.caller.event("CALL_CLOSED")
            try pair.expectSpeech()
            let journal = try await gateway.stop()
            #expect(Set(journal.all("media.opened").compactMap { $0.text("codec")?.lowercased() }) == ["pcma"])
        }
    }
}
