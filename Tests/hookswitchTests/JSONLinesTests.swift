import ArgumentParser
import Dispatch
import Foundation
import Glibc
import Primitives
import Runtime
import Synchronization
import Testing
import UserAgent
import Workbench

@testable import hookswitch

/// `call` and `answer` with `--json-lines`, driven over pipes by what they tell, in real time.
@Suite(.serialized, .timeLimit(.minutes(30))) struct JSONLinesTests {
    private let port: UInt16

    init() throws { port = try FreePorts.block(of: 2, .v4).lowerBound }

    private func answerer(_ options: String = "") throws -> Driven {
        try Driven("answer --listen 127.0.0.1:\(port) --json-lines \(options)")
    }

    private func caller(_ options: String = "--duration 30") throws -> Driven {
        try Driven("call sip:a@127.0.0.1:\(port) --json-lines \(options)")
    }

    @Test func `a call is driven from both sides, and each step is told`() throws {
        let callee = try answerer("--manual --calls 1")
        try callee.event("listening")
        let caller = try caller()
        let ringing = try callee.event("ringing")
        #expect(ringing.status == 180 && ringing.call == 1)
        callee.say("answer")
        let answered = try caller.event("answered"), taken = try callee.event("answered")
        #expect(answered.codec == "opus" && answered.callID == taken.callID)
        #expect(answered.local == taken.remote && answered.remote == taken.local)
        caller.say("digits 12#")
        #expect(try callee.event("digit", 3).digit == "#")
        try caller.event("digits-sent")
        caller.say("hold")
        try callee.event("remote-hold")
        try caller.event("hold-done")
        caller.say("hold")
        let refused = try caller.event("refused")
        #expect(refused.command == "hold" && refused.reason == "call 1 is on hold" && refused.nearest == "resume")
        #expect(refused.call == 1 && refused.callID == answered.callID)
        caller.say("digits 1")
        #expect(try caller.event("refused", 2).reason == "call 1 is on hold: nothing is sent")
        caller.say("resume")
        try callee.event("remote-resume")
        try caller.event("resume-done")
        callee.say("mute")
        try callee.event("muted")
        callee.say("unmute 1")
        try callee.event("unmuted")
        callee.say("hangup")
        let ended = try caller.event("ended"), result = try #require(try caller.event("result").result)
        #expect(ended.status == 200 && ended.endedBy == "them")
        #expect(result.isGood && result.callID == answered.callID && result.endedBy == .them)
        #expect(try callee.event("result").result?.digitsReceived == "12#")
        #expect(try caller.end() == nil && callee.end() == nil)
        let names = caller.told.map(\.event).filter { $0 != "digit" && $0 != "refused" }   // an echo sends the keys back
        #expect(
            names == [
                "calling", "ringing", "answered", "media-started", "digits-sent", "media-stopped", "hold-done", "media-started",
                "resume-done",
                "media-stopped", "ended", "result",
            ])
        for line in caller.told { #expect(line.call == 1 && line.callID == answered.callID, "\(line)") }
    }

    @Test func `times are those of the day, and of the command`() throws {
        let before = Date(), callee = try answerer("--calls 1"), caller = try caller("--duration 0.5")
        try caller.event("result")
        let lines = caller.told.filter { $0.event != "ended" }   // told behind what media had heard before
        #expect(lines.map(\.ms) == lines.map(\.ms).sorted() && lines.allSatisfy { $0.ms >= 0 && $0.ms < 60_000 })
        for line in lines {
            #expect(line.time.wholeMatch(of: /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/) != nil, "\(line.time)")
            let time = try Date(line.time, strategy: Date.ISO8601FormatStyle(includingFractionalSeconds: true))
            #expect(abs(time.timeIntervalSince(before) * 1_000 - Double(line.ms)) < 1_000, "\(line.time) is not \(line.ms) ms")
        }
        #expect(try caller.event("media-stopped").ms - caller.event("media-started").ms >= 400)
        #expect(try caller.end() == nil && callee.end() == nil)
    }

    @Test func `where several calls are up a command names one`() throws {
        let callee = try answerer("--manual --calls 3")
        try callee.event("listening")
        let first = try caller()
        try callee.event("ringing")
        let second = try caller()
        try callee.event("ringing", 2)
        callee.say("answer")
        let several = try callee.event("refused")
        #expect(several.reason == "several calls are meant: 1, 2" && several.nearest == "answer 1")
        callee.say("answer 2")
        try second.event("answered")
        // One alone rings, and one alone is meant.
        callee.say("reject 603")
        #expect(try first.event("ended").status == 603)
        let third = try caller()
        try callee.event("ringing", 3)
        callee.say("digits 1 3")
        #expect(try callee.event("refused", 2).nearest == "answer 3")
        callee.say("hold 9")
        let unknown = try callee.event("refused", 3)
        #expect(unknown.reason == "call 9 is not up" && unknown.nearest == "hold 2")
        callee.say("hold 2")
        #expect(try callee.event("hold-done").call == 2)
        callee.say("quit")
        #expect(try second.event("ended").endedBy == "them" && third.event("ended").status == 480)
        #expect(try callee.end() == nil && first.end() == nil && second.end() == nil && third.end() == nil)
        #expect(Set(callee.told.filter { $0.event == "ended" }.map(\.call)) == [1, 2, 3])
    }

    @Test func `the end of standard input ends no call`() throws {
        let callee = try answerer("--calls 1"), caller = try caller("--duration 1.5")
        try caller.event("answered")
        caller.say("nonsense")
        caller.closeInput()
        callee.closeInput()
        let refused = try caller.event("refused"), ended = try caller.event("ended")
        #expect(refused.reason == "there is no command 'nonsense'" && ended.endedBy == "us" && ended.ms - refused.ms > 500)
        #expect(try caller.end() == nil && callee.end() == nil)
    }

    @Test func `a call whose lines nobody reads hangs up`() throws {
        let callee = try answerer("--calls 1"), caller = try caller("--duration 100")
        try caller.event("answered")
        caller.closeOutput()
        caller.say("mute")
        try caller.waitUntilClosed()
        caller.say("unmute")
        #expect(try callee.event("ended").endedBy == "them")
        #expect(try caller.end() as? ExitCode == StandardOutput.readerHasGone && callee.end() == nil)
    }

    @Test func `a text that comes is told as it is`() throws {
        let callee = try answerer()
        try callee.event("listening")
        let peer = try FileDescriptorOwner.udp(bound: SocketAddress(.loopback, port: FreePorts.block(of: 1, .v4).lowerBound))
        let text = """
            MESSAGE sip:a@127.0.0.1:\(port) SIP/2.0\r
            Via: SIP/2.0/UDP 127.0.0.1:9;branch=z9hG4bKtext;rport\r
            From: "Zo\u{EB}" <sip:zoe@example.test>;tag=z\r
            To: <sip:a@127.0.0.1>\r
            Call-ID: text\r
            CSeq: 1 MESSAGE\r
            Content-Type: text/plain\r
            Content-Length: 8\r
            \r
            a "b"\u{1B}\r\n
            """
        let bytes = Array(text.utf8), place = SocketAddress(.loopback, port: port)
        let sent = place.withSockaddr { sendto(peer.raw, bytes, bytes.count, 0, $0, $1) }
        #expect(sent == bytes.count)
        let message = try callee.event("message")
        #expect(message.from == "sip:zoe@example.test" && message.text == "a \"b\"\u{1B}\r\n" && message.call == nil)
        callee.say("quit")
        #expect(try callee.end() == nil)
    }

    @Test func `lines that nobody reads are not kept without end, and how many are gone is told`() throws {
        let pipe = Pipe(), lines = PhoneLines(pipe.fileHandleForWriting.fileDescriptor, reporter: ProgressReporter(nil))
        let long = String(repeating: "x", count: 500)
        for number in 0..<6_000 { lines.tell(.message, of: UInt64(number), at: MonotonicClock.now) { $0.text = long } }
        var text: [UInt8] = []
        func readOn(to word: String) throws -> [Substring] {
            while !String(decoding: text.suffix(200), as: UTF8.self).contains(word) {
                let data = pipe.fileHandleForReading.availableData
                try #require(!data.isEmpty)
                text += data
            }
            return String(decoding: text, as: UTF8.self).split(separator: "\n")
        }
        let told = try readOn(to: #""event":"lost""#), kept = told.count - 1
        #expect(kept < 5_000 && told.last?.contains("\"count\":\(6_000 - kept),") == true, "\(told.last ?? "")")
        lines.tell(.muted, at: MonotonicClock.now)
        #expect(try readOn(to: "muted").count == told.count + 1)
        try lines.finish()
    }

    @Test func `without lines nothing is read, and texts are not taken`() throws {
        let plan = try #require(try Hookswitch.parseAsRoot(["answer", "--listen", "127.0.0.1:\(port)"]) as? Answer).plan()
        #expect(plan.settings.furtherMethods.isEmpty)
    }
}

/// `hookswitch call` or `answer` on a thread of its own, with pipes for its lines.
private final class Driven: Sendable {
    struct Told: Decodable, Sendable {
        var event: String, time: String, ms: Int
        var call: UInt64?, callID: String?, status: Int?, reason: String?, nearest: String?, command: String?, digit: String?
        var codec: String?, local: String?, remote: String?
        var endedBy: String?, from: String?, text: String?
        var result: CallResult?
    }

    private struct State {
        var told: [Told] = []
        var outcome: (any Error)?
        /// With the next line that comes.
        var isToClose = false
    }

    private let state = Mutex(State())
    private let changed = DispatchSemaphore(value: 0), over = DispatchSemaphore(value: 0), closed = DispatchSemaphore(value: 0)
    private let input = Pipe(), output = Pipe()

    init(_ words: String) throws {
        signal(SIGPIPE, SIG_IGN)   // as the command does
        let command = try Hookswitch.parseAsRoot(words.split(separator: " ").map(String.init)), reporter = ProgressReporter(nil)
        let lines = PhoneLines(output.fileHandleForWriting.fileDescriptor, reporter: reporter)
        let interface = PhoneInterface(lines, input: input.fileHandleForReading.fileDescriptor)
        var run: @Sendable () throws -> Void = {}
        if let call = command as? Call {
            let plan = try call.plan()
            run = {
                let outcome = try CallRun(plan, reporter: reporter, interface: interface).perform()
                lines.tellResult(outcome.result, of: 1, recordedIn: nil)
                try lines.finish()
            }
        } else if let answer = command as? Answer {
            let plan = try answer.plan()
            run = {
                let run = AnswerRun(plan, reporter: reporter, interface: interface) { lines.tellResult($1, of: $0, recordedIn: $2) }
                try run.perform()
                try lines.finish()
            }
        }
        Thread.detachNewThread { [self] in read() }
        Thread.detachNewThread { [self, run] in
            do { try run() } catch { state.withLock { $0.outcome = error } }
            for end in [input.fileHandleForWriting, output.fileHandleForWriting] { try? end.close() }
            over.signal()
        }
    }

    private func read() {
        var rest: [UInt8] = [], isOpen = true
        while isOpen, case let data = output.fileHandleForReading.availableData, !data.isEmpty {
            rest += data
            var pieces = rest.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
            rest = Array(pieces.removeLast())
            let told = pieces.compactMap { try? JSONDecoder().decode(Told.self, from: Data($0)) }
            #expect(told.count == pieces.count, "\(pieces.map { String(decoding: $0, as: UTF8.self) })")
            isOpen = state.withLock { state in
                state.told += told
                return !state.isToClose
            }
            changed.signal()
        }
        try? output.fileHandleForReading.close()
        closed.signal()
    }

    var told: [Told] { state.withLock { $0.told } }

    func say(_ command: String) { try? input.fileHandleForWriting.write(contentsOf: Data((command + "\n").utf8)) }
    func closeInput() { try? input.fileHandleForWriting.close() }
    /// Reads the next line, and then no more.
    func closeOutput() { state.withLock { $0.isToClose = true } }
    func waitUntilClosed() throws { try #require(closed.wait(timeout: .now() + 20) == .success) }

    /// Waits for the event of this name, by default the first.
    @discardableResult
    func event(_ name: String, _ number: Int = 1) throws -> Told {
        let limit = DispatchTime.now() + 20
        while true {
            let found = told.filter { $0.event == name }
            if found.count >= number { return found[number - 1] }
            let isInTime = changed.wait(timeout: limit) == .success
            try #require(isInTime, "no \(name) number \(number): \(told.map(\.event))")
        }
    }

    /// Waits for the end; why it failed.
    func end() throws -> (any Error)? {
        try #require(over.wait(timeout: .now() + 30) == .success)
        return state.withLock { $0.outcome }
    }
}
