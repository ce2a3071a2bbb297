import Foundation
import Primitives
import SIP
import Testing

@testable import Gateway
@testable import Media

/// The calls that are recorded, and the line that decides it.
@Suite struct RecorderTests {
    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("recorder-\(UUID().uuidString)").path
    private let writer = RecordingWriter(clock: nil) { _ in }

    /// - Parameter numbers: of the lines that record.
    private func parts(_ numbers: Text..., change: (inout GatewayConfiguration) -> Void = { _ in }) throws -> Parts {
        let place = try RecordingPlace(folder + "/{line}-{caller}-{called}-{call}.wav")
        return Parts(recordings: writer) { configuration in
            change(&configuration)
            for index in configuration.lines.indices where numbers.contains(configuration.lines[index].number) {
                configuration.lines[index].recording = place
            }
        }
    }

    /// The beginnings of the names of the files so far: line, caller and who was called.
    private func recorded(_ parts: Parts) -> [String] {
        parts.events(.recordingStarted).compactMap { $0.details.text(.text)?.description.dropFirst(folder.count + 1) }.map {
            $0.split(separator: "-").prefix(3).joined(separator: "-")
        }
    }

    private func clearUp() {
        writer.finish(at: .zero)
        try? FileManager.default.removeItem(atPath: folder)
    }

    private static let line = "<sip:3000@gateway.test>"

    @Test(
        arguments: [
            (["2000"], ["2000-1000-2000"]), (["3000"], []), ([], []),
        ] as [([Text], [String])])
    func `a call is recorded once, at its caller, where the called line wants it`(lines: [Text], files: [String]) throws {
        defer { clearUp() }
        let parts = try parts(lines.first ?? "none"), (caller, callee) = try parts.talk()
        for leg in [callee, caller, caller] { parts.recorder.begin(leg) }
        #expect(recorded(parts) == files && callee.media.recording == nil && caller.isRecorded == !files.isEmpty)
    }

    @Test func `the calling line records where the called line does not`() throws {
        defer { clearUp() }
        let parts = try parts("3000"), caller = try parts.talk(from: Self.line).caller
        parts.recorder.begin(caller)
        #expect(recorded(parts) == ["3000-3000-2000"])
        let both = try self.parts("2000", "3000"), other = try both.talk(from: Self.line).caller
        both.recorder.begin(other)
        #expect(recorded(both) == ["2000-3000-2000"])
    }

    @Test func `a private caller is not named`() throws {
        defer { clearUp() }
        let parts = try parts("2000"), caller = try parts.talk().caller
        caller.party.isPrivate = true
        parts.recorder.begin(caller)
        #expect(recorded(parts) == ["2000-unknown-2000"])
    }

    @Test func `a message is recorded after the beep`() throws {
        defer { clearUp() }
        let parts = try parts("9196") { $0.lines[2].endpoint = .application(.record(greeting: nil)) }
        let leg = try #require(try parts.call("9196"))
        parts.recorder.begin(leg)
        #expect(recorded(parts).isEmpty)
        parts.applications.sourceFinished(leg)
        #expect(recorded(parts) == ["9196-1000-9196"])
    }

    @Test func `a mailbox whose caller fell silent ends that call alone`() throws {
        defer { clearUp() }
        let parts = try parts("9196") { $0.lines[2].endpoint = .application(.record(greeting: nil)) }
        let leg = try #require(try parts.call("9196"))
        parts.applications.sourceFinished(leg)
        let tap = try #require(leg.media.recording?.tap)
        #expect(parts.recorder.leg(recordedBy: RecordingTap()) == nil)
        parts.applications.fellSilent(try #require(parts.recorder.leg(recordedBy: tap)))
        #expect(parts.events(.mailboxEnded).map { $0.details.text(.cause) } == ["silence"])
    }

    @Test func `a conversation is recorded at one of its legs`() throws {
        defer { clearUp() }
        let parts = try parts("2000", "3000"), (caller, callee) = try parts.talk(from: Self.line)
        parts.recorder.begin(caller)
        // After a transfer the transferee is the caller of the bridge.
        parts.table.open(Bridge(id: caller.uuid, joining: callee.uuid, with: caller.uuid))
        parts.recorder.beginAnew(caller, callee)
        #expect(recorded(parts).count == 1 && caller.isRecorded && !callee.isRecorded)
    }

    @Test(arguments: [("2000", 0), ("9196", 1)])
    func `a recording goes on after a transfer where a line of the two wants it`(line: Text, ended: Int) throws {
        defer { clearUp() }
        let parts = try parts("2000"), (caller, callee) = try parts.talk()
        parts.recorder.begin(caller)
        callee.lines.called = parts.line(line)
        caller.lines.called = parts.line(line)
        parts.recorder.beginAnew(caller, callee)
        #expect(parts.events(.recordingEnded).count == ended && caller.isRecorded == (ended == 0))
    }

    @Test func `a call whose recording failed goes on, and begins no other`() throws {
        defer { clearUp() }
        let parts = try parts("2000"), caller = try parts.talk().caller
        parts.recorder.begin(caller)
        let tap = try #require(caller.media.recording?.tap)
        parts.recorder.failed(RecordingWriter.Failure(tap: RecordingTap(), path: "", error: .full))
        #expect(caller.isRecorded, "another one's")
        parts.recorder.failed(RecordingWriter.Failure(tap: tap, path: "", error: .full))
        parts.recorder.begin(caller)
        #expect(!caller.isRecorded && caller.state == .connected && recorded(parts).count == 1)
        #expect(parts.events(.recordingEnded).map { $0.details.text(.cause) } == [Text(RecordingError.full.description)])
    }
}
