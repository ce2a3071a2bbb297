import Audio
import Foundation
import Testing

extension Talks {
    /// Menus, with the digits of clients of others.
    @Suite(.serialized, .timeLimit(.minutes(30))) struct MenuTests {
        /// 1 leads to the echo, 2 hangs up.
        private func start(_ settings: [String] = []) async throws -> Gateway {
            var setup = Gateway.Setup()
            setup.lines.append(
                #"{ number: "9000", application: menu, menu: { prompt: { say: "Press one." }, timeout: 30, choices: { "1": { line: "9196" }, "2": hang-up } } }"#
            )
            setup.settings = settings
            return try await Gateway.start(setup)
        }

        private func expectChoice(_ journal: Journal, _ digits: String, _ text: String) {
            #expect(journal.all("menu.choice").map { $0.text("digits") } == [digits])
            #expect(journal.all("menu.choice").map { $0.text("text") } == [text])
            journal.expectNothingLeft()
        }

        @Test func `sipp presses by INFO, and is hung up`() async throws {
            let gateway = try await start()
            let script = SippScript.call().wait(500).request(
                "INFO", 2, body: .other("application/dtmf-relay", "Signal=2\nDuration=160")
            ).expect(200).isHungUp()
            let plan = Sipp.Plan(
                scenario: "menu", script: script, port: gateway.clientPort(0), mediaPort: gateway.clientPort(2), target: "9000")
            try await Sipp.run(plan, to: gateway)
            expectChoice(try await gateway.stop(), "2", "hang-up")
        }

        @Test func `sipp presses in its sound, without telephone events, and is hung up`() async throws {
            let gateway = try await start()
            let sound = gateway.folder.file("two.pcma")
            try Data(Self.keyPCMA("2")).write(to: URL(filePath: sound))
            let script = SippScript.call().wait(500).plays(sound).isHungUp()
            let plan = Sipp.Plan(
                scenario: "menu", script: script, port: gateway.clientPort(0), mediaPort: gateway.clientPort(2), target: "9000")
            try await Sipp.run(plan, to: gateway)
            expectChoice(try await gateway.stop(), "2", "hang-up")
        }

        @Test func `baresip presses by telephone event, and hears its own voice from the echo behind the menu`() async throws {
            let gateway = try await start()
            let pair = try await Pair.start(at: gateway, codecs: ["pcmu"])
            pair.caller.dial("9000")
            try await pair.caller.event("CALL_ESTABLISHED")
            pair.caller.press("1")
            try await eventually("the caller is connected") {
                (try? String(contentsOfFile: gateway.journalFile, encoding: .utf8))?.contains("\"transfer.done\"") == true
            }
            pair.caller.hangUp()
            try await pair.caller.event("CALL_CLOSED")
            expectChoice(try await gateway.stop(), "1", "number 9196")
        }

        /// Half a second of silence, a key of 200 ms, and two seconds of silence.
        private static func keyPCMA(_ key: Character) -> [UInt8] {
            var samples = [Int16](repeating: 0, count: 4_000), sound = [Int16](repeating: 0, count: 1_600)
            var generator = ToneGenerator(Tone.key(key) ?? Tone(440), sampleRate: 8_000), room = sound.mutableSpan
            generator.fill(&room)
            samples += sound + [Int16](repeating: 0, count: 16_000)
            return samples.map(G711.encodeA)
        }
    }
}
