import ArgumentParser
import Dispatch
import Foundation
import Gateway
import Logging
import Primitives
import Synchronization
import Testing
import Workbench

@testable import hookswitch

/// What is printed and written of a run, and where it cannot be.
@Suite struct ReportTests {
    private let folder = FileManager.default.temporaryDirectory.appending(path: "hookswitch-reports-\(UUID())")

    private func inFolder<Value>(_ body: (String) throws -> Value) throws -> Value {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        return try body(folder.appending(path: "report").path)
    }

    private func audit(_ lines: [String]) throws -> AuditCommand.Report {
        try inFolder { path in
            try Data(lines.map { $0 + "\n" }.joined().utf8).write(to: URL(filePath: path))
            return try AuditCommand.check([path])
        }
    }

    private static func line(_ sequence: Int, _ kind: String) -> String {
        #"{"seq":\#(sequence),"t":\#(sequence * 1_000_000),"wall":1790000000000000000,"lane":"s0","kind":"\#(kind)"}"#
    }

    @Test func `an audit tells of missing events, and they are no violation`() throws {
        let report = try audit([Self.line(1, "gateway.started"), Self.line(4, "gateway.stopped")])
        #expect(report.isClean && report.gaps == 1 && report.unfinishedCalls.isEmpty)
        #expect(
            AuditCommand.text(report)
                == "gap         events are missing between 1.1 and 1.4\n"
                + "2 events, 0 calls: no violation in what is there; events missing: gap of 2")
        let json = String(decoding: try JSONEncoder().encode(report), as: UTF8.self)
        #expect(json.contains(#""gaps":1"#) && json.contains(#""unfinishedCalls":[]"#) && json.contains(#""after":1"#))
        #expect(json.contains(#""missingEvents":2"#) && json.contains(#""missing":2"#) && json.contains(#""run":"1""#))
    }

    @Test func `an audit counts the calls that it cannot judge`() throws {
        let call = UUID().uuidString
        let lines = [2, 5, 6].map { Self.line($0, "call.ended").replacingOccurrences(of: #""lane""#, with: #""call":"\#(call)","lane""#) }
        let report = try audit([Self.line(1, "gateway.started")] + lines + [Self.line(7, "gateway.stopped")])
        #expect(report.isClean && report.unjudgedCalls == 1)
        #expect(
            AuditCommand.text(report).hasSuffix(
                "1 of at least 1 calls: no violation in what is there; events missing: gap of 2; 1 calls cannot be judged, a part of them is missing"
            ))
    }

    @Test func `what the gateway itself found where events are missing now is exit code 1`() throws {
        let call = UUID().uuidString
        let lines = [
            #""seq":4,"kind":"call.ended","details":{}"#, #""seq":5,"kind":"media.started","details":{}"#,
            #""seq":6,"kind":"audit.violation","details":{"rule":"R10","count":3,"text":"a call ends once"}"#,
        ].map { #"{"t":5000000,"wall":1790000000000000000,"lane":"s0","call":"\#(call)",\#($0)}"# }
        let report = try audit([Self.line(1, "gateway.started")] + lines)
        #expect(
            !report.isClean && report.gaps == 1
                && AuditCommand.text(report).contains("violation   R10  event 1.3  call \(call)  a call ends once"))
    }

    @Test func `advice to an app stands apart, and the journal is clean`() throws {
        let call = UUID().uuidString
        let lines = [
            #""seq":4,"kind":"call.ended","details":{}"#, #""seq":5,"kind":"media.started","details":{}"#,
            #""seq":6,"kind":"audit.advice","details":{"rule":"R9","count":3,"text":"no perform.end"}"#,
        ].map { #"{"t":5000000,"wall":1790000000000000000,"lane":"s0","call":"\#(call)",\#($0)}"# }
        let report = try audit([Self.line(1, "gateway.started")] + lines), text = AuditCommand.text(report)
        #expect(report.isClean && report.violations.isEmpty && report.advice.map(\.rule) == ["R9"])
        #expect(text.contains("advice      R9  event 1.3  call \(call)  no perform.end") && text.contains("; advice: 1"))
        #expect(String(decoding: try JSONEncoder().encode(report), as: UTF8.self).contains(#""advice":[{"#))
    }

    @Test func `a journal is audited out of a pipe, which is given alone`() throws {
        let pipe = Pipe(), path = "/dev/fd/\(pipe.fileHandleForReading.fileDescriptor)"
        let several = try #require(throws: Failure.self) { try AuditCommand.check(["/nowhere/a", path]) }
        #expect(several.exitCode == 3 && several.message == "\(path): is no file, and cannot be put in order with others: give it alone")
        try pipe.fileHandleForWriting.write(contentsOf: Data("\(Self.line(1, "gateway.started"))\n".utf8))
        try pipe.fileHandleForWriting.close()
        #expect(try AuditCommand.check([path]).events == 1)
    }

    @Test func `an audit names the calls that were up when the server was killed`() throws {
        let call = UUID().uuidString
        let invite =
            #"{"seq":2,"t":2000000,"wall":1790000000000000000,"call":"\#(call)","line":"1","lane":"s0","kind":"sip.rx","details":{"method":"INVITE","cseq":1}}"#
        let report = try audit([Self.line(1, "gateway.started"), invite])
        #expect(report.isClean && report.unfinishedCalls == [call])
        #expect(
            AuditCommand.text(report)
                == "unfinished  call \(call) was up where its journal ends or has a gap\n2 events, 1 calls: clean; 1 calls are unfinished")
    }

    @Test func `an audit of a journal whose disk was full counts the calls that are not in it, and is never clean`() throws {
        let calls = (1...3).map { _ in UUID().uuidString }
        let ended = calls.enumerated().map { index, call in
            #"{"seq":\#(index + 2),"t":2000000,"wall":1790000000000000000,"call":"\#(call)","line":"1","lane":"s0","kind":"report.updated"}"#
        }
        let lost =
            #"{"seq":900,"t":9000000,"wall":1790000000000000000,"lane":"journal","kind":"journal.lost","details":{"count":896,"calls":100}}"#
        let report = try audit([Self.line(1, "gateway.started")] + ended + [lost])
        #expect(report.calls == 3 && report.callsAtLeast == 100 && report.missingEvents == 896)
        let last = AuditCommand.text(report).split(separator: "\n").last ?? ""
        #expect(last.contains("3 of at least 100 calls: ") && last.contains("events missing: gap of 896") && !last.contains("clean"))
        let several = try audit([Self.line(1, "gateway.started"), Self.line(3, "port.free"), lost])
        #expect(AuditCommand.text(several).hasSuffix("events missing: 2 gaps of 898 together"))
    }

    @Test func `an audit names an event by its run`() throws {
        let call = UUID().uuidString
        let ended = [2, 3].map {
            #"{"seq":\#($0),"t":5000000,"wall":1790000000000000000,"lane":"s0","call":"\#(call)","kind":"media.started"}"#
        }
        let named =
            #"{"seq":1,"t":1,"wall":1,"lane":"s0","kind":"gateway.started","details":{"run":"5B4E7C36-FF65-4837-8F5D-C1CB53AF67E2"}}"#
        let report = try audit([Self.line(1, "gateway.started"), ended[0], Self.line(1, "gateway.started"), ended[0], named, ended[0]])
        let places = Set(report.violations.map { "\($0.run).\($0.event)" })
        #expect(places == ["1.2", "2.2", "5B4E7C36.2"])
        #expect(AuditCommand.text(report).contains("event 5B4E7C36.2  call \(call)"))
    }

    /// The journals of two gateways, in parts that were rotated at the same time: `a` was killed with a call up, and `b` has ended it.
    private func audit(_ orphanEnded: Bool, callID: String = "x@a") throws -> AuditCommand.Report {
        let call = UUID().uuidString
        func line(_ sequence: Int, _ kind: String, at second: Int, _ rest: String = "") -> String {
            #"{"seq":\#(sequence),"t":\#(second)000000000,"wall":\#(1_790_000_000 + second)000000000,"lane":"s0","kind":"\#(kind)"\#(rest)}"#
        }
        let invite = #","call":"\#(call)","line":"1","details":{"method":"INVITE","cseq":1,"callid":"x@a"}"#
        let end = #","line":"1","details":{"callid":"\#(callID)","with":"\#(call)","node":"a","remote":"sip:1@192.0.2.1","status":200}"#
        let parts = [
            "a/journal.jsonl.1": [line(1, "gateway.started", at: 1), line(2, "sip.rx", at: 5, invite)],
            "a/journal.jsonl": [line(3, "sip.rx", at: 11, invite)],
            "b/journal.jsonl.1": [line(1, "gateway.started", at: 2), line(2, "dnd.changed", at: 6)],
            "b/journal.jsonl": [line(3, orphanEnded ? "call.orphan-ended" : "dnd.changed", at: 15, orphanEnded ? end : "")],
        ]
        return try inFolder { path in
            for (name, lines) in parts {
                let file = URL(filePath: path + "/" + name)
                try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
                try Data(lines.map { $0 + "\n" }.joined().utf8).write(to: file)
            }
            return try AuditCommand.check(parts.keys.sorted().map { path + "/" + $0 })
        }
    }

    @Test func `an audit follows a call from the gateway that died to the one that ended it`() throws {
        let report = try audit(true), text = AuditCommand.text(report)
        #expect(report.isClean && report.gaps == 0 && report.events == 6 && report.calls == 1)
        #expect(report.unfinishedCalls.isEmpty && report.orphanedCalls.map(\.callID) == ["x@a"])
        #expect(text.contains(" was not over when the gateway 'a' died, and another ended it: 200 to its BYE or CANCEL"))
        #expect(text.hasSuffix("6 events, 1 calls: clean; 1 calls of gateways that died were ended by others"))
    }

    @Test func `an audit follows a call from the gateway that died to the one that went on with it`() throws {
        let call = UUID().uuidString, place = #""call":"\#(call)","line":"1""#
        let invite = #","details":{"method":"INVITE","cseq":1,"callid":"x@a","remoteTag":"t"}"#
        let adopted = #","details":{"callid":"x@a","node":"a","with":"\#(UUID())","remote":"sip:1@192.0.2.1","count":9}"#
        let line = { (sequence: Int, kind: String, details: String) in
            #"{"seq":\#(sequence),"t":\#(sequence),"wall":\#(sequence),"lane":"s0","kind":"\#(kind)",\#(place)\#(details)}"#
        }
        let start = #","details":{"action":2,"created":3}"#
        let a = [Self.line(1, "gateway.started"), line(2, "sip.rx", invite)]
        let b = [
            Self.line(1, "gateway.started"), line(2, "tx.accepted", #","details":{"transaction":1,"actions":"start:2"}"#),
            line(3, "perform.start", start), line(4, "media.reserved", #","details":{"port":20000}"#), line(5, "call.adopted", adopted),
            line(6, "sip.tx", invite), line(7, "action.fulfilled", start),
        ]
        try inFolder { path in
            let files = [("a", a), ("b", b)].map { (path + "/" + $0, $1) }
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
            for (file, lines) in files { try Data(lines.map { $0 + "\n" }.joined().utf8).write(to: URL(filePath: file)) }
            let report = try AuditCommand.check(files.map(\.0)), text = AuditCommand.text(report)
            #expect(report.isClean && report.adoptedCalls.map(\.callID) == ["x@a"] && report.orphanedCalls.isEmpty, "\(text)")
            #expect(report.unfinishedCalls == [call], "it is still up at the other one")
            #expect(text.contains("note        call \(call) went on at another gateway when the gateway 'a' died"))
            #expect(text.hasSuffix("clean; 1 calls of gateways that died went on at others; 1 calls are unfinished"))
        }
    }

    @Test func `without the line of the one that ended it, or with another Call-ID, the call is unfinished`() throws {
        for report in [try audit(false), try audit(true, callID: "y@a")] {
            #expect(report.isClean && report.gaps == 0 && report.unfinishedCalls.count == 1 && report.orphanedCalls.isEmpty)
        }
    }

    @Test func `an empty journal is not called clean`() throws {
        #expect(AuditCommand.text(try audit([])) == "0 events, 0 calls: nothing to check")
    }

    @Test func `a journal with a line that cannot be read is drawn, and exit code 1`() throws {
        try inFolder { path in
            try Data("# no journal\n".utf8).write(to: URL(filePath: path))
            let command = try #require(try Hookswitch.parseAsRoot(["ladder", path]) as? LadderCommand)
            #expect(throws: ExitCode(1)) { try command.run() }
        }
    }

    @Test func `two reports of a run are not written over each other`() throws {
        try inFolder { path in
            let lost = try #require(throws: Failure.self) {
                try LoadOutputs(json: path, csv: nil, junit: nil, html: (path as NSString).deletingLastPathComponent + "/./report")
            }
            #expect(lost.exitCode == 2 && lost.message.hasPrefix("--html: another report goes to '"))
            #expect(symlink(path, path + "-link") == 0 && FileManager.default.createFile(atPath: path, contents: nil))
            #expect(throws: Failure.self) { try LoadOutputs(json: path, csv: path + "-link", junit: nil, html: nil) }
            #expect(symlink(path + "-new", path + "-later") == 0, "a link to nothing yet")
            #expect(throws: Failure.self) { try LoadOutputs(json: path + "-new", csv: path + "-later", junit: nil, html: nil) }
            #expect(throws: Never.self) { try LoadOutputs(json: path, csv: path + "2", junit: "/dev/null", html: "/dev/null") }
            let none = try #require(throws: Failure.self) { try LoadOutputs(json: nil, csv: "", junit: nil, html: nil) }
            #expect(none.exitCode == 2 && none.message == "--csv takes a file, got ''")
        }
    }

    /// What the folder's mode allows is not asked: root may write to any, and to /proc nobody.
    @Test(arguments: ["/proc/report.html", "/sys/report.html"]) func `a place is tried by opening it, before a call is made`(path: String)
        throws
    {
        for option in ["--html", "--json", "--junit", "--csv", "--stream"] {
            let words = ["load", "sip:1@127.0.0.1", option, path], load = try #require(try Hookswitch.parseAsRoot(words) as? Load)
            let failure = try #require(throws: Failure.self) { try load.options.order() }
            #expect(failure.exitCode == 3 && failure.message.hasPrefix("\(path) cannot be written: "), "\(failure)")
        }
        let call = try #require(try Hookswitch.parseAsRoot(["call", "sip:1@127.0.0.1", "--record", path]) as? Call)
        let failure = try #require(throws: Failure.self) { try call.plan() }
        #expect(failure.exitCode == 3 && failure.message.hasPrefix("\(path) cannot be written: "), "\(failure)")
    }

    @Test func `a place that was tried is as it was before`() throws {
        try inFolder { path in
            _ = try ReportFile(path)
            #expect(!FileManager.default.fileExists(atPath: path))
            try FileManager.default.createSymbolicLink(atPath: path + "-link", withDestinationPath: "later")
            _ = try ReportFile(path + "-link")
            #expect(!FileManager.default.fileExists(atPath: folder.appending(path: "later").path))
            #expect(try FileManager.default.destinationOfSymbolicLink(atPath: path + "-link") == "later")
            try "before".write(toFile: path, atomically: false, encoding: .utf8)
            _ = try ReportFile(path)
            #expect(try String(contentsOfFile: path, encoding: .utf8) == "before")
        }
    }

    @Test func `a place that takes no report keeps it from no other, and the first error is told`() throws {
        var reached: [Int] = []
        let failure = try #require(throws: Failure.self) {
            try Delivery.all([
                { throw Failure.cannotRun("first") }, { reached.append(2) }, { throw Failure.cannotRun("third") }, { reached.append(4) },
            ])
        }
        #expect(failure.message == "first" && failure.exitCode == 3 && reached == [2, 4])
    }

    /// A device of our own: the machine's is not to be risked.
    @Test(.enabled(if: getuid() == 0, "a device is made")) func `a report that a full disk does not take is exit code 3`() throws {
        try inFolder { path in
            try #require(mknod(path, S_IFCHR | 0o666, 1 << 8 | 7) == 0)
            let failure = try #require(throws: Failure.self) { try ReportFile(path).write("x") }
            #expect(failure.exitCode == 3 && failure.message.hasPrefix("\(path) cannot be written: "))
            var status = stat()
            #expect(stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFCHR, "the device is still one")
        }
    }

    @Test(.enabled(if: getuid() == 0, "a device is made")) func `a recording into a device leaves the device`() throws {
        try inFolder { path in
            try #require(mknod(path, S_IFCHR | 0o666, 1 << 8 | 3) == 0)
            let file = try WAVFile(path: path)
            file.append([1, 2, 3], sampleRate: 8_000)
            file.finish()
            var status = stat()
            #expect(file.failure == nil && stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFCHR)
        }
    }

    @Test func `a report goes where a link leads, and the link stays`() throws {
        try inFolder { path in
            for (name, content) in [("there", "before"), ("not-there", nil)] {
                let link = "\(path)-\(name)", file = folder.appending(path: name).path
                if let content { try content.write(toFile: file, atomically: false, encoding: .utf8) }
                try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: name)
                try ReportFile(link).write("after")
                #expect(try String(contentsOfFile: file, encoding: .utf8) == "after")
                #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link) == name)
            }
        }
    }

    /// As a file that was mounted alone into a container: nothing can be made beside it, by nobody. This one is the name of our own thread.
    @Test func `a report goes into a file whose folder takes no other`() throws {
        let path = "/proc/self/comm", before = try String(contentsOfFile: path, encoding: .utf8)
        defer { try? before.write(toFile: path, atomically: false, encoding: .utf8) }
        try ReportFile(path).write("a report")
        #expect(try String(contentsOfFile: path, encoding: .utf8) == "a report\n")
    }

    @Test func `a line of an answerer's JSON has the call's number and its file`() throws {
        let line = Answer.AnsweredCall(number: 2, recordedIn: "rec-2.wav", result: CallResult(notCalled: "sip:a", failure: "x"))
        let text = String(decoding: try JSONEncoder().encode(line), as: UTF8.self)
        #expect(text.contains(#""number":2"#) && text.contains(#""recordedIn":"rec-2.wav""#) && text.contains(#""failure":"x""#))
        #expect(try JSONDecoder().decode(CallResult.self, from: Data(text.utf8)) == line.result)
    }

    @Test func `a data folder belongs to one server at a time`() throws {
        try inFolder { _ in
            do {
                let first = try LockFile(folder.path)
                let failure = try #require(throws: Failure.self) { _ = try LockFile(folder.path) }
                #expect(failure.exitCode == 3 && failure.message == "the folder \(folder.path) is in use by another hookswitch")
                withExtendedLifetime(first) {}
            }
            _ = try LockFile(folder.path)
        }
    }

    /// Opens and closes descriptors on a thread of its own, and counts those that somebody else has closed.
    private final class Opening: Sendable {
        private let isOver = Atomic(false), lost = Atomic(0), hasEnded = DispatchSemaphore(value: 0)

        init() {
            Thread.detachNewThread { [self] in
                while !isOver.load(ordering: .relaxed) {
                    let descriptor = open("/dev/null", O_RDONLY | O_CLOEXEC)
                    if fcntl(descriptor, F_GETFD) < 0 || close(descriptor) < 0 { lost.add(1, ordering: .relaxed) }
                }
                hasEnded.signal()
            }
        }

        func end() -> Int {
            isOver.store(true, ordering: .relaxed)
            hasEnded.wait()
            return lost.load(ordering: .relaxed)
        }
    }

    @Test func `a claim that is refused closes its own descriptor once, and nobody else's`() throws {
        try inFolder { _ in
            let first = try LockFile(folder.path), opening = Opening()
            for _ in 0..<3_000 { #expect(throws: Failure.self) { _ = try LockFile(folder.path) } }
            #expect(opening.end() == 0)
            withExtendedLifetime(first) {}
        }
    }

    @Test func `a log that nobody reads holds up nobody, and what was dropped is told when it goes on`() {
        let lines = Mutex<[String]>([]), gate = DispatchSemaphore(value: 0)
        let log = NoticeLog(most: 3) { _, line, _ in
            gate.wait()
            lines.withLock { $0.append(line) }
        }
        for number in 1...10 { log.say(.info, "\(number)") }   // returns at once
        for _ in 0..<4 { gate.signal() }
        log.finish()
        #expect(lines.withLock(\.self) == ["1", "2", "3", "7 lines are missing here: there were too many"])
        gate.signal()
        log.say(.info, "11")
        log.finish()
        #expect(lines.withLock(\.self).last == "11")
    }

    @Test func `a stranger gets one line in ten seconds, and others theirs`() {
        let lines = Mutex<[String]>([])
        let log = NoticeLog { _, line, _ in lines.withLock { $0.append(line) } }
        for address in [1, 1, 2, 1, 2] { log.say(.info, "from \(address)", oncePer: "\(address)") }
        log.say(.info, "other")
        log.say(.info, "other")
        log.finish()
        #expect(lines.withLock(\.self) == ["from 1", "from 2", "other", "other"])
    }

    @Test func `of a thousand strangers the next is counted, and nobody's own lines are kept from him`() {
        let lines = Mutex<[String]>([])
        let log = NoticeLog(most: 3_000) { _, line, _ in lines.withLock { $0.append(line) } }
        for address in 1...1_003 { log.say(.info, "from \(address)", oncePer: "\(address)") }
        log.say(.info, "from 1", oncePer: "1")
        log.finish()
        log.say(.info, "last")
        log.finish()
        let written = lines.withLock(\.self).filter { !$0.hasPrefix("from ") }
        #expect(written.contains("last") && written.contains { $0.hasSuffix("lines are missing here: there were too many") })
        #expect(lines.withLock(\.self).filter { $0.hasPrefix("from ") }.count == 1_000)
    }

    @Test func `what a stranger wrote is no command to a terminal`() throws {
        let pipe = Pipe(), status = "486 a\u{9B}31mb\u{202E}c"
        try StandardOutput.print("\(status)\nverdict", to: pipe.fileHandleForWriting.fileDescriptor)
        let reporter = ProgressReporter(pipe.fileHandleForWriting)
        reporter.say(status)
        reporter.finish()
        try pipe.fileHandleForWriting.close()
        let text = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self), shown = "486 a\u{FFFD}31mb\u{FFFD}c"
        #expect(text == "\(shown)\nverdict\n\(shown)\n")
        #expect(status.onOneLine == #"486 a\u{009B}31mb\u{202E}c"#)
    }

    @Test func `a reader that goes is told of once, also to who asks later`() {
        let reporter = ProgressReporter(nil)
        nonisolated(unsafe) var count = 0
        reporter.readerHasGone()
        reporter.readerHasGone()
        reporter.whenReaderGoes { count += 1 }
        reporter.readerHasGone()
        #expect(count == 1)
    }

    @Test(arguments: [("10001", 2), ("99999999999", 2), ("0", 2)]) func `the width of a ladder has bounds`(width: String, code: Int32)
        throws
    {
        let command = try #require(try Hookswitch.parseAsRoot(["ladder", "/dev/null", "--width", width]) as? LadderCommand)
        let failure = try #require(throws: Failure.self) { try command.run() }
        #expect(failure.exitCode == code && failure.message == "--width takes columns from 1 to 10000, got \(width)")
    }
}
