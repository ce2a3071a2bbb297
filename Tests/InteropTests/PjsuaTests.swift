import Audio
import Testing

extension Talks {
    /// pjsip's telephone and a baresip that has PCMU in the clear.
    @Suite(.serialized, .furtherTriesForTornSound, .timeLimit(.minutes(30))) struct PjsuaTests {
        /// Codec, encryption, transport.
        typealias FlowLabel = (codec: String, encryption: String, transport: String)

        private func gateway(srtp: String = "off") async throws -> Gateway {
            var setup = Gateway.Setup()
            setup.tls = []
            setup.codecs = "opus, g722, pcmu, pcma, l16/44100"
            setup.lines = [
                #"{ number: "1001", password: secret-1001, name: Alice, srtp: \#(srtp) }"#,
                #"{ number: "1002", password: secret-1002, name: Bob }"#,
                #"{ number: "9196", application: echo, srtp: optional }"#,
            ]
            return try await Gateway.start(setup)
        }

        private func pjsua(_ gateway: Gateway, _ way: FlowLabel = ("PCMU", "none", "udp"), answers: Bool = false) async throws -> Pjsua {
            let plan = Pjsua.Plan(
                user: "1001", codec: way.codec, transport: way.transport, encryption: way.encryption, port: gateway.clientPort(0),
                mediaPort: gateway.clientPort(10),
                source: gateway.folder.file("first.wav"), answers: answers, rate: way.codec == "L16/44100/1" ? 44_100 : 16_000)
            return try await Pjsua.start(plan, at: gateway)
        }

        @Test(arguments: [("PCMA", "none", "tcp"), ("G722", "none", "udp"), ("PCMU", "sdes", "tls"), ("L16/44100/1", "none", "udp")])
        func `it calls a baresip`(way: FlowLabel) async throws {
            let gateway = try await gateway(srtp: way.encryption == "none" ? "off" : "required")
            let said = try await gateway.speech(repeating: true)
            let callee = try await gateway.baresip(), phone = try await pjsua(gateway, way)
            phone.say("dial 1002")
            try await callee.event("CALL_INCOMING")
            try await phone.event("RINGING 180")
            callee.accept()
            try await expectSpeech(phone, callee, said, at: gateway)
        }

        @Test(arguments: [("PCMU", "none", "udp"), ("G722", "sdes", "tcp")])
        func `a baresip calls it`(way: FlowLabel) async throws {
            let gateway = try await gateway(srtp: way.encryption == "none" ? "off" : "required")
            let said = try await gateway.speech(repeating: true)
            let caller = try await gateway.baresip(), phone = try await pjsua(gateway, way, answers: true)
            caller.dial("1001")
            try await caller.event("CALL_ESTABLISHED")
            try await expectSpeech(phone, caller, said, at: gateway)
        }

        private func expectSpeech(_ phone: Pjsua, _ other: Baresip, _ said: Gateway.Said, at gateway: Gateway) async throws {
            try await phone.event("CONNECTED")
            try await phone.event("HEARD 7")
            try await other.waitForRecording(of: 7)
            phone.say("hang up")
            try await other.event("CALL_CLOSED")
            try await phone.event("ENDED 200")
            try Recordings.expect(endOf: try await phone.recording(), isOf: said.baresip, isNotOf: said.client)
            try Recordings.expect(endOf: try other.recording(), isOf: said.client, isNotOf: said.baresip)
            try await gateway.stop().expectNothingLeft()
        }

        @Test func `it holds and resumes, refreshes by UPDATE, and its keys come back from the echo`() async throws {
            let gateway = try await gateway()
            _ = try await gateway.speech()
            let phone = try await pjsua(gateway)
            phone.say("dial 9196")
            try await phone.event("CONNECTED")
            try await phone.event("HEARD 1")
            phone.say("hold")
            try await phone.event("HELD")
            let resumed = phone.position
            phone.say("resume")
            try await phone.event("SOUND", from: resumed)
            let updated = phone.position
            phone.say("update")
            try await phone.event("SOUND", from: updated)
            phone.say("keys 15#")
            for key in ["1", "5", "#"] { try await phone.event("KEY \(key)") }
            phone.say("hang up")
            try await phone.event("ENDED 200")
            let journal = try await gateway.stop()
            journal.expectNothingLeft()
            #expect(journal.all("sip.rx").contains { $0.text("method") == "UPDATE" })
        }

        @Test func `it transfers the baresip that called it to the echo`() async throws {
            let gateway = try await gateway()
            let said = try await gateway.speech()
            let caller = try await gateway.baresip(), phone = try await pjsua(gateway, answers: true)
            caller.dial("1001")
            try await phone.event("CONNECTED")
            phone.say("transfer 9196")
            try await phone.event("ENDED")
            try await caller.waitForRecording(of: 6)
            // The first half is of the telephone that it called, the second of the echo.
            let found = try Recordings.found(try caller.recording().resampled(to: 8_000), in: said.baresip)
            #expect(found.found >= 3, "the echo of what it says has \(found)")
            caller.hangUp()
            try await caller.event("CALL_CLOSED")
            try await gateway.stop().expectNothingLeft()
        }
    }
}
