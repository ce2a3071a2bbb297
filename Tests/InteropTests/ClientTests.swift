import Audio
import Testing

extension Talks {
    /// Clients of other kinds talk to a baresip that has PCMU in the clear: what one says is what the other hears.
    @Suite(.serialized, .furtherTriesForTornSound, .timeLimit(.minutes(30))) struct ClientTests {
        private static let lines = [
            #"{ number: "1001", password: secret-1001, name: Alice, srtp: optional }"#,
            #"{ number: "1002", password: secret-1002, name: Bob }"#,
            #"{ number: "1003", password: secret-1003, name: Carol, srtp: required, srtp-keying: dtls, ice: lite }"#,
            #"{ number: "9196", application: echo, srtp: optional }"#,
        ]

        private func gateway(_ lines: [String] = lines) async throws -> Gateway {
            var setup = Gateway.Setup()
            setup.lines = lines
            return try await Gateway.start(setup)
        }

        // MARK: WebRTC

        private func webRTC(_ gateway: Gateway, _ codec: String, calls number: String? = nil, lasting seconds: Double = 4) throws
            -> WebRTCPhone
        {
            let call = number.map { (number: $0, seconds: seconds) }
            return try WebRTCPhone.start(
                .init(user: "1003", codec: codec, port: gateway.clientPort(0), source: gateway.folder.file("first.wav"), call: call),
                at: gateway)
        }

        @Test func `WebRTC hears its echo over one port`() async throws {
            let gateway = try await gateway()
            let said = try await gateway.speech()
            // Long enough for a machine on which a look at its sockets takes a while.
            let phone = try webRTC(gateway, "opus", calls: "9196", lasting: 10)
            try await phone.program.line(containing: "HEARD 1")
            #expect(gateway.mediaSockets.count == 1)
            try await phone.waitUntilEnded()
            try Recordings.expect(try phone.recording(), is: said.client, isNot: said.baresip)
            let journal = try await gateway.stop()
            journal.expectNothingLeft()
            let text = journal.events.map { "\($0)" }.joined()
            #expect(!text.contains("ice-pwd") && !text.contains("candidate"), "no credentials are in the journal")
        }

        @Test(arguments: ["opus", "PCMU"]) func `WebRTC calls a telephone in the clear`(codec: String) async throws {
            let gateway = try await gateway()
            let said = try await gateway.speech()
            let callee = try await gateway.baresip()
            let phone = try webRTC(gateway, codec, calls: "1002")
            try await callee.event("CALL_INCOMING")
            callee.accept()
            try await phone.waitUntilEnded()
            try await callee.event("CALL_CLOSED")
            try Recordings.expect(try phone.recording(), is: said.baresip, isNot: said.client)
            try Recordings.expect(try callee.recording(), is: said.client, isNot: said.baresip)
            try await gateway.stop().expectNothingLeft()
        }

        @Test func `a telephone in the clear calls WebRTC`() async throws {
            let gateway = try await gateway()
            let said = try await gateway.speech()
            let caller = try await gateway.baresip()
            let phone = try webRTC(gateway, "opus")
            try await phone.waitUntilRegistered()
            caller.dial("1003")
            try await caller.event("CALL_ESTABLISHED")
            try await phone.program.line(containing: "HEARD 4")
            try await caller.waitForRecording(of: 4)
            caller.hangUp()
            try await phone.waitUntilEnded()
            try Recordings.expect(try phone.recording(), is: said.baresip, isNot: said.client)
            try Recordings.expect(try caller.recording(), is: said.client, isNot: said.baresip)
            try await gateway.stop().expectNothingLeft()
        }

        // MARK: linphone

        static let encryptions = [("opus (48000)", "none"), ("PCMU (8000)", "srtp"), ("opus (48000)", "dtls")]

        private func linphone(_ gateway: Gateway, _ codec: String, _ encryption: String, answers: Bool) async throws -> Linphone {
            let plan = Linphone.Plan(
                user: "1001", codec: codec, encryption: encryption, port: gateway.clientPort(0), mediaPort: gateway.clientPort(10),
                source: gateway.folder.file("first.wav"), answers: answers)
            return try await Linphone.start(plan, at: gateway)
        }

        private func lines(of encryption: String) -> [String] {
            let first = encryption == "dtls" ? "srtp: required, srtp-keying: dtls" : encryption == "srtp" ? "srtp: required" : "srtp: off"
            return [#"{ number: "1001", password: secret-1001, name: Alice, \#(first) }"#] + Self.lines.dropFirst()
        }

        @Test(arguments: encryptions) func `linphone calls a telephone in the clear`(codec: String, encryption: String) async throws {
            let gateway = try await gateway(lines(of: encryption))
            let said = try await gateway.speech()
            let callee = try await gateway.baresip()
            let phone = try await linphone(gateway, codec, encryption, answers: false)
            phone.dial("1002")
            try await callee.event("CALL_INCOMING")
            callee.accept()
            try await expectSpeech(phone, callee, said)
            try await gateway.stop().expectNothingLeft()
        }

        @Test(arguments: encryptions) func `a telephone in the clear calls linphone`(codec: String, encryption: String) async throws {
            let gateway = try await gateway(lines(of: encryption))
            let said = try await gateway.speech()
            let caller = try await gateway.baresip()
            let phone = try await linphone(gateway, codec, encryption, answers: true)
            caller.dial("1001")
            try await caller.event("CALL_ESTABLISHED")
            try await expectSpeech(phone, caller, said)
            try await gateway.stop().expectNothingLeft()
        }

        private func expectSpeech(_ phone: Linphone, _ other: Baresip, _ said: Gateway.Said) async throws {
            try await phone.waitUntilConnected()
            try await phone.waitForRecording(of: 4)
            try await other.waitForRecording(of: 4)
            phone.hangUp()
            try await other.event("CALL_CLOSED")
            try await phone.waitUntilEnded()
            try Recordings.expect(try phone.recording(), is: said.baresip, isNot: said.client)
            try Recordings.expect(try other.recording(), is: said.client, isNot: said.baresip)
        }
    }
}
