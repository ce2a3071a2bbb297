import ArgumentParser
import Foundation
import Testing
import Workbench

@testable import hookswitch

/// `load --bundle`, `calls --bundle` and `verify`: whoever changes a part of the evidence is found out.
@Suite(.serialized, .timeLimit(.minutes(30))) struct BundleTests {
    private static func perform(_ words: String) throws {
        var command = try Hookswitch.parseAsRoot(words.split(separator: " ").map(String.init))
        do { try command.run() } catch is ExitCode {
            // The tests beside this one may make the tool late, and have descriptors of their own in this process.
        }
    }

    /// The bundles of a load of four calls, and of two of them.
    private static let made = Result {
        let gateway = try SoundGateway { _ in #"{ number: "600", application: echo }"# }, folder = try SoundFolder()
        let journal = gateway.folder.path + "/journal.jsonl", file = folder.path + "/run.tar", calls = folder.path + "/calls.tar"
        try perform(
            "load sip:600@\(gateway.address) --rate 4 --calls 4 --talk-time 1 --expect echo --target-journal \(journal) --bundle \(file)")
        try perform("calls \(journal) --last 2 --bundle \(calls)")
        let list = Process(), pipe = Pipe()
        (list.executableURL, list.arguments, list.standardOutput) = (URL(filePath: "/usr/bin/env"), ["tar", "-tf", file], pipe)
        try list.run()
        let names = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        list.waitUntilExit()
        return (run: try Data(contentsOf: URL(filePath: file)), calls: try Data(contentsOf: URL(filePath: calls)), names: names)
    }

    /// The bundle with another file, which its manifest agrees with where the forger was careful.
    private static func forged(_ data: Data, _ name: String, careful: Bool = true, _ change: (String) -> String) throws -> Data {
        var archive = try TarArchive(parsing: data), bundle = EvidenceBundle()
        for index in archive.files.indices where archive.files[index].name == name {
            let text = String(decoding: archive.files[index].content, as: UTF8.self), other = change(text)
            #expect(other != text)
            archive.files[index].content = Data(other.utf8)
        }
        if !careful { return archive.bytes(time: 0) }
        for file in archive.files.dropFirst() { bundle.add(file.name, file.content) }
        return try bundle.bytes(at: Date())
    }

    private static func faults(_ data: Data) throws -> [String] {
        let check = try BundleCheck(data), faults = check.parts.flatMap(\.faults)
        #expect(check.agrees == faults.isEmpty)
        return faults
    }

    @Test func `the evidence of a load agrees with itself, and tar reads it`() throws {
        let made = try Self.made.get(), check = try BundleCheck(made.run)
        #expect(check.agrees, "\(Verify.text(check))")
        #expect(made.names == "manifest.json\nreport.json\njournal.jsonl\n")
        #expect(check.parts.map(\.name) == ["manifest.json", "report.json", "journal.jsonl"])
        #expect(check.parts[2].seen.hasSuffix("; 4 of the report's 4 calls are in it"), "\(check.parts[2])")
        #expect(check.parts[1].seen.hasPrefix("4 calls, all counted anew"), "\(check.parts[1])")
    }

    @Test func `the evidence of single calls agrees with itself`() throws {
        let check = try BundleCheck(try Self.made.get().calls)
        #expect(check.agrees, "\(Verify.text(check))")
        #expect(check.parts.map(\.name) == ["manifest.json", "journal.jsonl", "calls.jsonl"] && check.parts[2].seen == "2 calls")
    }

    @Test func `a file that was changed, removed or added is named`() throws {
        let made = try Self.made.get().run
        #expect(try Self.faults(try Self.forged(made, "journal.jsonl", careful: false) { $0 + "\n" }) == ["journal.jsonl was changed"])
        var archive = try TarArchive(parsing: made)
        archive.files.append(.init(name: "more.json", content: Data()))
        #expect(try Self.faults(archive.bytes(time: 0)) == ["more.json was added"])
        archive.files.removeLast(2)
        #expect(try Self.faults(archive.bytes(time: 0)) == ["journal.jsonl is missing"])
    }

    @Test func `figures that do not follow from the calls are named`() throws {
        let made = try Self.made.get().run
        let counts = try Self.faults(try Self.forged(made, "report.json") { $0.replacing("\"answered\" : 4", with: "\"answered\" : 5") })
        #expect(counts == ["answered is 5, and its calls say 4"])
        let isGood = try BundleCheck(made).verdict == .good, word = isGood ? "failed" : "good"
        let verdict = try Self.faults(
            try Self.forged(made, "report.json") { $0.replacing(/"verdict" : "[a-z ]+"/, with: "\"verdict\" : \"\(word)\"") })
        #expect(verdict.count == 1 && verdict[0].hasPrefix("it says '\(word)', and its figures say '"), "\(verdict)")
        let setup = try Self.faults(try Self.forged(made, "report.json") { $0.replacing(/"setup" : [0-9.]+/, with: "\"setup\" : 1234.5") })
        #expect(setup.contains("setup is not that of its calls"), "\(setup)")
    }

    @Test func `a journal that lacks events, breaks a rule, or is of another run is named`() throws {
        let made = try Self.made.get().run
        func lines(_ text: String, without kind: String) -> String {
            text.split(separator: "\n").filter { !$0.contains("\"kind\":\"\(kind)\"") }.map { $0 + "\n" }.joined()
        }
        let missing = try Self.faults(try Self.forged(made, "journal.jsonl") { lines($0, without: "media.closed") })
        #expect(missing.contains { $0.hasPrefix("4 events are missing") }, "\(missing)")
        let early = try Self.faults(
            try Self.forged(made, "journal.jsonl") { $0.replacing("\"kind\":\"media.reserved\"", with: "\"kind\":\"media.started\"") })
        #expect(early.contains { $0.wholeMatch(of: /[RM]\d+: call .*/) != nil }, "\(early)")
        let other = try Self.faults(
            try Self.forged(made, "report.json") { $0.replacing(/"callID" : "/, with: "\"callID\" : \"x") })
        #expect(other.contains { $0.hasPrefix("4 calls of the report are not in it, the first is 1 (x") }, "\(other)")
        let calls = try Self.faults(
            try Self.forged(try Self.made.get().calls, "calls.jsonl") {
                $0.replacing("\"status\":\"answered\"", with: "\"status\":\"busy\"")
            })
        #expect(calls == ["it is not what the journal says of these calls"])
    }

    @Test func `a witness that saw something else than it says is named`() throws {
        let verdict = #"{"event":"verdict","verdict":"agree","calls":4,"samples":9,"disagreements":0}"#
        func faults(_ lines: [String]) throws -> [String] {
            var bundle = EvidenceBundle()
            bundle.add("witness.json", Data(lines.map { $0 + "\n" }.joined().utf8))
            return try Self.faults(try bundle.bytes(at: Date()))
        }
        #expect(try faults([verdict]).isEmpty)
        let line = #"{"event":"disagreement","port":4000,"call":"a"}"#, open = verdict.replacing("agree\"", with: "disagree\"")
        #expect(try faults([line, verdict]).count == 2 && faults([line, open.replacing(":0}", with: ":1}")]).count == 1)
        #expect(try faults([open]) == ["its verdict is not that of its lines"] && faults([]) == ["it has no verdict"])
    }

    @Test func `what is no archive of ours is refused in one line`() throws {
        let made = try Self.made.get().run
        func message(_ data: Data) throws -> String {
            let failure = try #require(throws: Failure.self) { _ = try BundleCheck(data) }
            #expect(failure.exitCode == 1)
            return failure.message
        }
        #expect(try message(Data()).hasSuffix("it ends in the middle"))
        #expect(try message(made.prefix(1_000)).hasSuffix("it ends in the middle"))
        #expect(try message(Data(repeating: 0x41, count: 2_048)).hasSuffix("it has a broken header"))
        #expect(try message(Data(count: 1_024)).contains("it has no manifest of 'hookswitch.bundle/1'"))
        let many = TarArchive(files: (0...TarArchive.mostFiles).map { .init(name: "f\($0)", content: Data()) })
        #expect(try message(many.bytes(time: 0)).hasSuffix("it has more than \(TarArchive.mostFiles) files"))
        for (place, text) in [(0, "../manifest"), (156, "2"), (345, "etc")] {
            var header = Array(made.prefix(512))
            header.replaceSubrange(place..<place + text.utf8.count, with: text.utf8)
            header.replaceSubrange(148..<156, with: repeatElement(0x20, count: 8))
            let sum = String(header.reduce(0) { $0 + Int($1) }, radix: 8)
            header.replaceSubrange(148..<156, with: Array((String(repeating: "0", count: 6 - sum.count) + sum + "\0 ").utf8))
            #expect(try message(Data(header) + made.dropFirst(512)).hasSuffix("is no plain file of a bundle"), "\(text)")
        }
    }
}
