import Foundation
import Media
import Primitives
import SIP
import Testing

@testable import Gateway
@testable import Rehearsal

/// Which calls of a line are recorded, and under what name.
@Suite struct RecordedCallTests {
    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("recorded-\(UUID().uuidString)").path
    private let writer = RecordingWriter(clock: nil) { _ in }
    private let stage: Stage

    init() throws { stage = try Self.stage(writing: folder + "/{caller}-{call}.wav", by: writer) }

    private static func stage(writing pattern: String, by writer: RecordingWriter) throws -> Stage {
        let place = try RecordingPlace(pattern)
        return Stage { configuration, environment in
            configuration.lines[0].recording = place
            environment.recordings = writer
            var other = LineConfiguration(number: "2001")
            other.isOpen = true
            configuration.lines.append(other)
        }
    }

    private var paths: [String] { stage.events(.recordingStarted).compactMap { $0.details.text(.text)?.description } }

    private func clearUp() { try? FileManager.default.removeItem(atPath: folder) }

    @Test func `a caller who is not to be known is not named by the recording`() throws {
        defer { clearUp() }
        let call = try stage.bridge(headers: ["Privacy: id"])
        #expect(paths.count == 1 && paths[0].contains("/unknown-"), "\(paths)")
        call.hangUp()
        stage.expectQuiet()
    }

    @Test func `the journal names the file that was written where another has that name`() throws {
        defer { clearUp() }
        let stage = try Self.stage(writing: folder + "/{caller}.wav", by: writer)
        for _ in 0..<2 {
            let call = try stage.bridge()
            writer.synchronize()
            call.hangUp()
            stage.expectQuiet()
            writer.synchronize()
        }
        let ended = stage.events(.recordingEnded).compactMap { $0.details.text(.text)?.description }
        #expect(ended.count == 2 && ended[0] != ended[1], "\(ended)")
        #expect(ended.allSatisfy { FileManager.default.fileExists(atPath: $0) })
    }

    @Test func `who is joined with somebody else goes on being recorded`() throws {
        defer { clearUp() }
        let call = try stage.bridge(), third = RawPeer(stage, 8)
        third.request("REGISTER", "sip:2001@hookswitch.test", call: "third", 1)
        call.caller.request("INVITE", "sip:2001@hookswitch.test", call: "consult", 1, body: call.caller.description())
        let consultation = try third.received(.invite)
        third.answer(consultation, 200, body: third.description("0"))
        let tag = try #require(call.caller.heard.last { $0.status == 200 && $0.callID == "consult" }?.to.tag)
        call.caller.request("ACK", "sip:2001@hookswitch.test", call: "consult", 1, toTag: tag)
        #expect(paths.count == 1)
        call.fromCaller("REFER", headers: ["Refer-To: <sip:2001@hookswitch.test?Replaces=consult%3Bto-tag%3D\(tag)%3Bfrom-tag%3Dconsult>"])
        stage.run(seconds: 1)
        #expect(paths.count == 2, "\(paths)")
        for notify in call.caller.heard where notify.isRequest && notify.method == .notify { call.caller.answer(notify, 200) }
        for bye in call.caller.heard where bye.isRequest && bye.method == .bye { call.caller.answer(bye, 200) }
        call.fromDevice("BYE")
        third.answer(third.request(.bye), 200)
        stage.expectQuiet()
    }
}
