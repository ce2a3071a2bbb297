import Foundation
import Primitives
import Testing

@testable import Gateway
@testable import Media

/// The list of messages, from the beep to its removal.
@Suite struct MailboxesTests {
    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("mailboxes-\(UUID().uuidString)").path
    private let writer = RecordingWriter(clock: nil) { _ in }
    private let parts: Parts

    init() throws {
        let place = try RecordingPlace(folder + "/{caller}.wav")
        parts = Parts(recordings: writer) { configuration in
            configuration.lines[2].endpoint = .application(.record(greeting: nil))
            configuration.lines[2].recording = place
        }
    }

    private func clearUp() {
        writer.finish(at: .zero)
        try? FileManager.default.removeItem(atPath: folder)
    }

    private var mailboxes: Mailboxes { parts.recorder.mailboxes }
    private var messages: [MailboxMessage] { mailboxes.summaries().first?.messages ?? [] }

    private func leave(_ call: Text = "call", private isPrivate: Bool = false) throws -> (leg: Leg, tap: RecordingTap) {
        let leg = try #require(try parts.call("9196", call: call))
        leg.party.isPrivate = isPrivate
        parts.applications.sourceFinished(leg)
        return (leg, try #require(leg.media.recording?.tap))
    }

    @Test func `a message is there when its file is, with the call that left it`() throws {
        defer { clearUp() }
        #expect(mailboxes.summaries().map(\.line) == ["9196"] && messages.isEmpty)
        let (leg, tap) = try leave()
        mailboxes.receive(.silent(tap))
        #expect(messages.isEmpty)
        for _ in 0..<2 { mailboxes.receive(.kept(tap, path: "x.wav", length: .milliseconds(1_500))) }
        let message = try #require(messages.first)
        #expect(messages.count == 1 && message.id == leg.uuid && !message.isHeard)
        #expect(message.caller == "1000" && message.called == "9196" && message.path == "x.wav" && message.duration == 1.5)
        #expect(parts.store.all.contains(.message(message)))
        let events = parts.events(.mailboxMessage)
        #expect(events.count == 1 && events[0].line == "9196" && events[0].call == CallUUID(leg.uuid))
        #expect(events[0].details.number(.count) == 1_500 && events[0].details.text(.remote) == "1000")
    }

    @Test func `a message that holds nothing is none, and a private caller is not named`() throws {
        defer { clearUp() }
        mailboxes.receive(.discarded(try leave().tap))
        #expect(messages.isEmpty && parts.events(.mailboxDiscarded).count == 1 && parts.events(.mailboxMessage).isEmpty)
        mailboxes.receive(.kept(try leave("other", private: true).tap, path: "x.wav", length: .seconds(2)))
        #expect(messages.map(\.caller) == [""] && messages.first?.name == nil)
    }

    @Test func `a message is marked as heard, and removed with its file`() throws {
        defer { clearUp() }
        let path = folder + "/message.wav"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try Data().write(to: URL(filePath: path))
        let (leg, tap) = try leave()
        mailboxes.receive(.kept(tap, path: path, length: .seconds(2)))
        #expect(mailboxes.setHeard(true, leg.uuid, ofLine: "9196") && messages.first?.isHeard == true)
        #expect(parts.store.all.last == messages.first.map(LineChange.message))
        #expect(!mailboxes.setHeard(true, UUID(), ofLine: "9196") && !mailboxes.setHeard(true, leg.uuid, ofLine: "2000"))
        #expect(!mailboxes.remove(leg.uuid, ofLine: "2000") && messages.count == 1)
        #expect(mailboxes.remove(leg.uuid, ofLine: "9196") && messages.isEmpty && !mailboxes.remove(leg.uuid, ofLine: "9196"))
        writer.synchronize()
        #expect(!FileManager.default.fileExists(atPath: path))
        #expect(parts.store.all.last == .noMessage(line: "9196", id: leg.uuid))
    }

    @Test func `the newest messages are listed, and those of the last run`() throws {
        defer { clearUp() }
        var kept = KeptState()
        let old = (0..<Mailboxes.limit).map { number in
            MailboxMessage(id: UUID(), line: "9196", caller: "\(number)", name: nil, called: "9196", received: Date())
        }
        kept["9196"].messages = old
        let mailboxes = Mailboxes(parts.context, parts.lines, writer, kept: kept), tap = RecordingTap()
        let new = MailboxMessage(id: UUID(), line: "9196", caller: "new", name: nil, called: "9196", received: Date())
        mailboxes.begin(new, recordedBy: tap)
        mailboxes.receive(.kept(tap, path: "x.wav", length: .seconds(1)))
        let listed = try #require(mailboxes.summaries().first?.messages)
        #expect(listed.count == Mailboxes.limit && listed[0].caller == "new" && listed[1] == old[0])
        #expect(parts.store.all.contains(.noMessage(line: "9196", id: old.last!.id)))
    }
}
