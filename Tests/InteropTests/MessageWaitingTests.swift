import Foundation
import Testing

extension Talks {
    /// Message waiting indication, with telephones of others.
    @Suite(.serialized, .timeLimit(.minutes(30))) struct MessageWaitingTests {
        @Test func `baresip hears that no message waits, and then that one does`() async throws {
            let folder = try Folder()
            var setup = Gateway.Setup()
            setup.lines.append(
                "{ number: \"9200\", application: record, record: \"\(folder.path)/{call}.wav\", mailbox: { owners: [\"1001\"] } }")
            let gateway = try await Gateway.start(setup)
            _ = try await gateway.speech()
            let owner = try await Baresip.start(
                .init(
                    user: "1001", password: "secret-1001", codecs: ["pcmu"], port: gateway.clientPort(0), mediaPort: gateway.clientPort(10),
                    source: gateway.folder.file("first.wav"), subscribes: true), at: gateway)
            try await owner.waitUntilRegistered()
            try await owner.program.line(containing: "Voice-Message: 0/0")
            let caller = try await gateway.baresip()
            caller.dial("9200")
            try await caller.event("CALL_ESTABLISHED")
            try await eventually("a message is being left") { try !FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty }
            try await caller.waitForRecording(of: 2)
            caller.hangUp()
            try await owner.program.line(containing: "Voice-Message: 1/0")
            owner.quit()
            let journal = try await gateway.stop()
            #expect(journal.all("mailbox.message").count == 1)
        }
    }
}
