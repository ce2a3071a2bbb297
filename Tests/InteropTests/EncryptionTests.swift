import Testing

extension Talks {
    /// One baresip encrypts and the other does not: speech both ways, and nothing to be read on the encrypted side, as the kernel's capture
    /// shows.
    @Suite(.serialized, .furtherTriesForTornSound, .timeLimit(.minutes(30))) struct EncryptionTests {
        static func lines(_ first: String, _ second: String) -> [String] {
            [
                #"{ number: "1001", password: secret-1001, name: Alice, \#(first) }"#,
                #"{ number: "1002", password: secret-1002, name: Bob, \#(second) }"#,
                #"{ number: "9196", application: echo, srtp: required }"#,
            ]
        }

        @Test func `a caller that encrypts by SDES talks to one that does not`() async throws {
            var setup = Gateway.Setup()
            setup.lines = Self.lines("srtp: required", "srtp: off")
            try await talk(setup, callerEncryption: "srtp-mand", calleeEncryption: nil)
        }

        @Test func `one that does not encrypt calls one that insists on SDES`() async throws {
            var setup = Gateway.Setup()
            setup.lines = Self.lines("srtp: off", "srtp: required")
            try await talk(setup, callerEncryption: nil, calleeEncryption: "srtp-mand")
        }

        @Test(arguments: [true, false]) func `one that shakes hands for its keys talks to one that does not`(isCaller: Bool) async throws {
            var setup = Gateway.Setup()
            let handshake = "srtp: required, srtp-keying: dtls"
            setup.lines = isCaller ? Self.lines(handshake, "srtp: off") : Self.lines("srtp: off", handshake)
            try await talk(setup, callerEncryption: isCaller ? "dtls_srtp" : nil, calleeEncryption: isCaller ? nil : "dtls_srtp")
        }

        @Test func `where it is optional who can encrypt does, whoever calls`() async throws {
            var setup = Gateway.Setup()
            setup.lines = Self.lines("srtp: optional", "srtp: optional")
            try await talk(setup, callerEncryption: "srtp", calleeEncryption: "srtp")
        }

        /// Which line encrypts is told by who has a method for it.
        private func talk(_ setup: Gateway.Setup, callerEncryption: String?, calleeEncryption: String?) async throws {
            let gateway = try await Gateway.start(setup)
            let capture = try await Capture.start(gateway.ports.part(0, setup.clientPorts), in: gateway.folder)
            let pair = try await Pair.start(
                at: gateway, codecs: ["pcmu"], callerEncryption: callerEncryption, calleeEncryption: calleeEncryption)
            try await pair.connect()
            try await pair.caller.waitForRecording(of: 4)
            try await pair.callee.waitForRecording(of: 4)
            pair.caller.hangUp()
            try await pair.callee.event("CALL_CLOSED")
            try pair.expectSpeech()
            let packets = try await capture.stop()
            for (client, encryption) in [(pair.caller, callerEncryption), (pair.callee, calleeEncryption)] {
                if encryption != nil { try pair.expectNothingReadable(in: packets, of: client) }
            }
            try await gateway.stop().expectNothingLeft()
        }

        @Test(arguments: ["sdes", "dtls"]) func `an app of CallKit encrypts, too`(how: String) async throws {
            var setup = Gateway.Setup()
            setup.lines = Self.lines("srtp: required", "srtp: off")
            let gateway = try await Gateway.start(setup)
            let ports = "\(gateway.clientPort(10))-\(gateway.clientPort(29))"
            let words = [
                "--line", "1001", "--password", "secret-1001", "--server", gateway.address, "--media-ports", ports, "--call", "9196",
                "--end-after", "2", "--json",
            ]
            let app = try await Program.run(Place.hotline, words + ["--srtp", how])
            #expect(app.code == 0, "\(app.lines)")
            let packets = try await gateway.stop().packets.values.first
            #expect(packets?.received ?? 0 > 80 && packets?.sent ?? 0 > 80, "\(String(describing: packets)) \(app.lines)")
        }

        @Test func `a call in the clear to a line that requires encryption is refused, and one of ours that encrypts is heard`()
            async throws
        {
            var setup = Gateway.Setup()
            setup.lines = Self.lines("srtp: optional", "srtp: optional")
            let gateway = try await Gateway.start(setup)
            let clear = try await Program.run(Place.hookswitch, ["call", "9196", "--server", gateway.address, "--duration", "2"])
            #expect(clear.code == 1)
            #expect(clear.lines.contains { $0.contains("488") }, "\(clear.lines)")
            let encrypted = try await Program.run(
                Place.hookswitch, ["call", "9196", "--server", gateway.address, "--duration", "2", "--srtp"])
            #expect(encrypted.code == 0, "\(encrypted.lines)")
            let journal = try await gateway.stop()
            journal.expectNothingLeft()
            let text = journal.events.map { "\($0)" }.joined()
            #expect(!text.contains("inline:") && !text.contains("crypto"), "no key is in the journal")
        }
    }
}
