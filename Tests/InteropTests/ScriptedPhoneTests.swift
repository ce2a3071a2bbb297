import Foundation
import Media
import Testing

extension Calls {
    /// Telephones of ours as a script drives them: programs of their own, with lines out and commands in, through a real gateway.
    @Suite(.serialized, .timeLimit(.minutes(30))) struct ScriptedPhoneTests {
        @Test func `two scripts talk through the gateway, hold, press keys, and one hands the call on`() async throws {
            let gateway = try await Gateway.start()
            let callee = try ScriptedPhone(1002, "answer --manual --calls 1", at: gateway)
            try await callee.event("registered")
            let caller = try ScriptedPhone(1001, "call 1002 --duration 60", at: gateway)
            #expect(try await callee.event("incoming").contains("1001"))
            callee.say("answer")
            try await caller.event("media-started")
            try await callee.event("media-started")
            caller.say("digits 12#")
            try await callee.event("digit", and: ##""digit":"#""##)
            try await caller.event("digits-sent")
            try await Self.hold(caller, callee)
            // The echo takes the place of who hands the call on, and sends keys back.
            let place = caller.program.lines.end
            callee.say("transfer sip:9196@127.0.0.1")
            try await callee.event("transfer-done", and: #""status":200"#)
            #expect(try await callee.event("ended").contains(#""endedBy":"them""#))
            try await eventually("keys come back", within: .seconds(10)) {
                caller.say("digits 7")
                return (try? await caller.program.line(containing: #""digit":"7""#, from: place, within: .seconds(1))) != nil
            }
            caller.say("hangup")
            #expect(try await caller.event("ended").contains(#""endedBy":"us""#))
            for phone in [caller, callee] {
                try await phone.event("result", and: #""verdict":"audio "#)
                #expect(try await phone.program.exitCode(within: .seconds(20)) == 0, "\(phone.program.transcript)")
            }
            let journal = try await gateway.stop()
            #expect(journal.count("transfer.done") >= 1 && journal.count("remote.hold") >= 2 && journal.count("dtmf.received") >= 4)
            let stopped = journal.all("media.stopped").filter { $0.number("expected") ?? 0 > 20 }
            #expect(stopped.contains { $0.number("loss") == 0 && $0.number("mos") ?? 0 > 400 }, "\(stopped)")
            #expect(journal.count("media.armed") == 0, "the kernel relays only where it is told to")
        }

        private static let mustRelay = ProcessInfo.processInfo.environment["HOOKSWITCH_TEST_KERNEL_RELAY"] == "required"

        private static let relays = (try? KernelRelayDevice.proven(mostEntries: 4)) != nil

        @Test(.enabled(if: relays || mustRelay, "the kernel does not let this process load the program of the relay"))
        func `the kernel relays a call before and after its hold, and nobody hears a difference`() async throws {
            var setup = Gateway.Setup()
            setup.settings += ["media.kernel-relay: required"]
            let gateway = try await Gateway.start(setup)
            // Its last line may be half there: it is being written.
            func armed() -> Int { (try? Journal(file: gateway.journalFile).count("media.armed")) ?? 0 }
            let callee = try ScriptedPhone(1002, "answer --calls 1", at: gateway)
            try await callee.event("registered")
            let caller = try ScriptedPhone(1001, "call 1002 --duration 9 --codec pcmu", at: gateway)
            try await eventually("the kernel has both ways") { armed() == 2 }
            caller.say("hold")
            try await caller.event("hold-done")
            caller.say("resume")
            try await caller.event("resume-done")
            try await eventually("it has them again") { armed() >= 4 }
            for phone in [caller, callee] {
                try await phone.event("result", and: #""verdict":"audio "#)
                #expect(try await phone.program.exitCode(within: .seconds(20)) == 0, "\(phone.program.transcript)")
            }
            let journal = try await gateway.stop(), taken = journal.all("media.taken")
            #expect(taken.count == journal.count("media.armed") && taken.contains { $0.text("cause") == "stop" })
            #expect(taken.reduce(0) { $0 + ($1.number("packets") ?? 0) } > 200, "\(taken)")
            #expect(journal.all("media.stopped").allSatisfy { $0.number("lost") ?? 0 == 0 })
        }

        private static func hold(_ caller: ScriptedPhone, _ callee: ScriptedPhone) async throws {
            caller.say("hold")
            try await caller.event("hold-done")
            caller.say("digits 1")
            #expect(try await caller.event("refused").contains(#""nearest":"resume""#))
            caller.say("resume")
            try await caller.event("resume-done")
            callee.say("hodl")
            #expect(try await callee.event("refused").contains(#""nearest":"hold""#))
        }

        /// The script of our own page, as it stands there.
        @Test func `the script of the documentation makes its call`() async throws {
            let gateway = try await Gateway.start()
            let root = Place.tests.deletingLastPathComponent().deletingLastPathComponent()
            let page = try String(
                contentsOf: root.appending(path: "Sources/Tools/hookswitch/hookswitch.docc/Scripting.md"), encoding: .utf8)
            let block = try #require(page.components(separatedBy: "```python\n").dropFirst().first?.components(separatedBy: "```").first)
            let script = block.replacing("hookswitch call", with: "\(Place.hookswitch) call").replacing("127.0.0.1", with: gateway.address)
            #expect(script != block && script.split(separator: "\n").count == 10)
            let file = try gateway.folder.write(script, to: "script.py")
            let run = try await Program.run("/usr/bin/env", ["python3", file], within: .seconds(40))
            let events = run.lines.compactMap { $0.split(separator: " ").last.map(String.init) }.filter { $0 != "digit" }
            #expect(
                run.code == 0
                    && events == [
                        "calling", "ringing", "answered", "media-started", "digits-sent", "media-stopped", "hold-done", "media-started",
                        "resume-done", "media-stopped", "ended", "result",
                    ], "\(run.lines)")
            try await gateway.stop()
        }
    }
}

/// `hookswitch call` or `answer` with `--json-lines`, and a named pipe for its commands.
private struct ScriptedPhone {
    let program: Program
    private let commands: CommandPipe

    init(_ line: Int, _ command: String, at gateway: Gateway) throws {
        commands = try CommandPipe(gateway.folder.file("commands-\(line)"))
        let words = command + " --register \(line) --password secret-\(line) --server \(gateway.address) --json-lines"
        let script = #"exec "$0" "$@" < \#(commands.path)"#
        program = try Program("/bin/sh", ["-c", script, Place.hookswitch] + words.split(separator: " ").map(String.init))
    }

    func say(_ command: String) { commands.say(command) }

    /// The first line of that event that has the words.
    @discardableResult
    func event(_ name: String, and words: String? = nil) async throws -> String {
        let start = #""event":"\#(name)""#
        let line = await program.lines.first(within: .seconds(20)) { $0.contains(start) && words.map($0.contains) ?? true }
        guard let line else {
            throw Unmet("no \(name) \(words ?? "").\(program.transcript)")
        }
        return line
    }
}
