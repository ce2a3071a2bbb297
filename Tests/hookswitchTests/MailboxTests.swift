import Audio
import CallJournal
import Foundation
import Gateway
import Primitives
import Testing
import Workbench

@testable import hookswitch

/// Mailboxes from the configuration file to the files of messages.
@Suite(.serialized, .timeLimit(.minutes(30))) struct MailboxTests {
    private func gateway(_ mailbox: String) throws -> SoundGateway {
        try SoundGateway { folder in
            try folder.write(tone: 440, seconds: 1, silence: 12, to: "short.wav")
            try folder.write(tone: 440, seconds: 0.3, silence: 1, to: "cough.wav")
            return #"{ number: "9200", application: record, record: "\#(folder.path)/message.wav", mailbox: { \#(mailbox) } }"#
        }
    }

    private func causes(_ journal: [JournalEvent]) -> [String] {
        journal.filter { $0.kind == .mailboxEnded }.compactMap { $0.details.text(.cause)?.description }
    }

    private func seconds(_ place: SoundGateway) throws -> Double {
        let message = try WAV(contentsOf: place.folder.path + "/message.wav")
        return Double(message.samples.count) / Double(message.sampleRate)
    }

    @Test func `a message ends, and its call, when it is as long as it may be`() throws {
        let place = try gateway("maximum: 2"), outcome = try place.call("9200 --tone 440 --duration 30 --codec pcmu").perform()
        #expect(CallText.status(outcome.result).contains("ended by the other side"))
        #expect(causes(try place.expectCleanEnd()) == ["maximum"])
        let length = try seconds(place)
        #expect((1.7...2.5).contains(length), "\(length)")
    }

    @Test func `a message ends, and its call, when the caller falls silent`() throws {
        let place = try gateway("silence-end: 1, minimum: 0")
        let outcome = try place.call("9200 --play \(place.folder.path)/short.wav --duration 30 --codec pcmu").perform()
        #expect(CallText.status(outcome.result).contains("ended by the other side"))
        #expect(causes(try place.expectCleanEnd()) == ["silence"])
        let length = try seconds(place)
        #expect((1...4).contains(length), "\(length)")
    }

    @Test(arguments: ["--play FOLDER/cough.wav --duration 2", "--tone 440 --duration 0.2"])
    func `a caller who says next to nothing, or hangs up before the beep is over, leaves no file`(call: String) throws {
        let place = try gateway("maximum: 60")
        _ = try place.call("9200 --codec pcmu " + call.replacing("FOLDER", with: place.folder.path)).perform()
        let journal = try place.expectCleanEnd()
        #expect(journal.contains { $0.kind == .callEnded })
        #expect(!FileManager.default.fileExists(atPath: place.folder.path + "/message.wav"))
    }

    @Test func `a message is in the list of its mailbox and in the journal, with its file`() throws {
        let place = try gateway("maximum: 60"), path = place.folder.path + "/message.wav"
        _ = try place.call("9200 --from 1005 --tone 440 --duration 2 --codec pcmu").perform()
        place.waits(10) { !place.mailboxes()[0].messages.isEmpty }
        let mailbox = place.mailboxes()[0], message = try #require(mailbox.messages.first)
        #expect(mailbox.line == "9200" && mailbox.messages.count == 1 && message.caller == "1005" && !message.isHeard)
        let length = try seconds(place)
        #expect(message.path == path && abs(message.duration - length) < 0.001, "\(message.duration) of \(length)")
        let told = try place.expectCleanEnd().filter { $0.kind == .mailboxMessage }
        #expect(told.map { $0.details.text(.text)?.description } == [path] && told[0].call == CallUUID(message.id))
    }

    @Test func `a message that is being left when the server stops is told of before the end of the journal`() throws {
        let place = try gateway("minimum: 0"), plan = try place.plan("9200 --tone 440 --duration 30 --codec pcmu")
        Thread.detachNewThread { _ = try? CallRun(plan, reporter: ProgressReporter(nil)).perform() }
        #expect(place.waits(20) { FileManager.default.fileExists(atPath: place.folder.path + "/message.wav") })
        let kinds = try place.expectCleanStop().map(\.kind)
        #expect(kinds.contains(.mailboxMessage) && kinds.last == .gatewayStopped, "\(kinds.suffix(8))")
    }

    @Test(arguments: [
        ("maximum: 0", "mailbox.maximum"), ("silence-end: 0", "mailbox.silence-end"), ("minimum: 61", "mailbox.minimum"),
        ("owners: [4711]", "4711 is no line"), ("owners: [9200]", "line 9200 has no devices"),
        ("silence-edn: 3", "mailbox.silence-edn: unknown setting (did you mean 'silence-end'?)"),
    ]) func `a fault in the limits is one line`(mailbox: String, complaint: String) throws {
        let error = #expect(throws: ConfigurationError.self) { try gateway(mailbox) }
        #expect(error?.description.contains(complaint) == true && error?.exitCode == 2, "\(error?.description ?? "")")
    }

    @Test(arguments: ["application: echo", "open: true"]) func `limits of messages are for a mailbox`(kind: String) throws {
        let error = #expect(throws: ConfigurationError.self) {
            try SoundGateway { _ in "{ number: \"1\", \(kind), mailbox: { maximum: 5 } }" }
        }
        #expect(error?.description.contains("'mailbox' is for a line with 'application: record'") == true)
    }
}
