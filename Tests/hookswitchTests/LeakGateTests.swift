import Foundation
import Gateway
import Testing
import Workbench

@testable import hookswitch

/// What the gateway leaves behind, told by its journal and by the kernel.
@Suite(.serialized, .timeLimit(.minutes(30))) struct LeakGateTests {
    private let folder = FileManager.default.temporaryDirectory.appending(path: "hookswitch-leaks-\(UUID())")

    /// A journal of one call, without the events of `missing`.
    private func journal(without missing: Set<String> = [], from first: Int = 1, at path: String, wall: UInt64 = 1_790_000_000_000_000_000)
        throws
    {
        let call = UUID().uuidString
        let kinds = [
            "report.incoming.ok", "media.reserved", "media.opened", "session.activated", "media.started", "media.stopped",
            "session.deactivated", "media.closed", "media.released", "call.ended",
        ]
        let file = try FileHandle(forWritingTo: URL(filePath: path))
        defer { try? file.close() }
        try file.seekToEnd()
        for (index, kind) in kinds.filter({ !missing.contains($0) }).enumerated() {
            let line =
                #"{"seq":\#(first + index),"t":\#(index * 1_000_000),"wall":\#(wall + UInt64(index)),"call":"\#(call)","line":"1002","lane":"s0","kind":"\#(kind)","details":{}}"#
                + "\n"
            try file.write(contentsOf: Data(line.utf8))
        }
    }

    private func report(without missing: Set<String>) throws -> LeakReport {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let path = folder.appending(path: "journal.jsonl").path
        _ = FileManager.default.createFile(atPath: path, contents: nil)
        let gate = try TargetJournal(path: path)
        try journal(without: missing, at: path)
        return gate.settled(within: 0.2)
    }

    @Test(arguments: [
        ("media.released", "gateway: 1 media ports reserved and not released"), ("media.closed", "gateway: 1 media opened and not closed"),
        ("media.stopped", "gateway: 1 media started and not stopped"),
        ("session.deactivated", "gateway: 1 audio sessions activated and not deactivated"),
        ("call.ended", "gateway: 1 calls that did not end"),
    ])
    func `what the journal opens and does not close is left behind`(missing: String, leftover: String) throws {
        #expect(try report(without: []).leftovers.filter { !$0.contains("violations") }.isEmpty)
        #expect(try report(without: [missing]).leftovers.contains(leftover))
    }

    @Test func `a journal that cannot be read twice is refused`() throws {
        let failure = try #require(throws: Failure.self) { try TargetJournal(path: "/dev/null") }
        #expect(failure.exitCode == 3 && failure.message == "/dev/null: is no file, and a journal is read before the run and after it")
    }

    /// A journal of before the run, and then as many calls as `calls`, each in a file of its own, of which some are kept.
    private func rotated(_ calls: Int, keeping kept: Int, without missing: Set<String> = []) throws -> LeakReport {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let path = folder.appending(path: "journal.jsonl").path, wall: UInt64 = 1_790_000_000_000_000_000
        for (index, file) in [path + ".1", path].enumerated() {
            _ = FileManager.default.createFile(atPath: file, contents: nil)
            for call in 0..<5 { try journal(from: 50 * index + 10 * call + 1, at: file, wall: wall + UInt64(1_000 * index + 100 * call)) }
        }
        let gate = try TargetJournal(path: path)
        for call in 1...calls {
            try? FileManager.default.removeItem(atPath: "\(path).\(kept)")
            for number in stride(from: kept, to: 1, by: -1) {
                try? FileManager.default.moveItem(atPath: "\(path).\(number - 1)", toPath: "\(path).\(number)")
            }
            try FileManager.default.moveItem(atPath: path, toPath: path + ".1")
            _ = FileManager.default.createFile(atPath: path, contents: nil)
            try journal(without: call == calls ? missing : [], from: 10 * call + 91, at: path, wall: wall + UInt64(10_000 * call))
        }
        return gate.settled(within: 0.1)
    }

    @Test func `a journal that is rotated during the run is read with the files that it was rotated to`() throws {
        let whole = try rotated(3, keeping: 5)
        #expect(whole.leftovers.filter { !$0.contains("violations") }.isEmpty && whole.notJudged == nil)
        #expect(whole.journal?["media.opened"] == 3 && whole.journal?["media.closed"] == 3)
        #expect(try rotated(3, keeping: 5, without: ["media.closed"]).leftovers.contains("gateway: 1 media opened and not closed"))
    }

    @Test func `a journal whose part from before the run is gone is not judged`() throws {
        let report = try rotated(3, keeping: 2)
        #expect(report.isClean && report.journal == nil)
        #expect(report.notJudged == "the gateway's journal, of which too much was rotated away (journal.rotate)")
    }

    @Test func `a journal in which events are missing since the run began is not judged, and its violations count`() throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let path = folder.appending(path: "journal.jsonl").path, call = UUID().uuidString
        _ = FileManager.default.createFile(atPath: path, contents: nil)
        for first in [1, 101] { try journal(from: first, at: path) }
        let gate = try TargetJournal(path: path)
        try journal(without: ["media.released"], from: 111, at: path)
        #expect(gate.settled(within: 0.1).notJudged == nil, "the gap of before the run is not the run's")
        let file = try #require(FileHandle(forWritingAtPath: path))
        try file.seekToEnd()
        let lines = [
            #""seq":130,"lane":"s0","kind":"sip.rx","details":{"method":"BYE"}"#,
            #""seq":131,"lane":"s0","kind":"audit.violation","details":{"rule":"R10","count":129,"text":"x"}"#,
        ]
        for line in lines {
            try file.write(contentsOf: Data(#"{"t":1,"wall":1,"call":"\#(call)",\#(line)}\#n"#.utf8))
        }
        let report = gate.settled(within: 0.1)
        #expect(report.notJudged == "the gateway's journal, in which events are missing")
        #expect(report.leftovers == ["gateway: 1 violations of the contract"])
    }

    @Test func `a journal in which nothing happens is the wrong one`() throws {
        #expect(
            try report(without: [
                "report.incoming.ok", "media.reserved", "media.opened", "session.activated", "media.started", "media.stopped",
                "session.deactivated", "media.closed", "media.released", "call.ended",
            ])
            .leftovers == ["gateway: no event in its journal since the run began: is it the right file?"])
    }

    /// A process that opens 51 descriptors when it is told to.
    @Test func `descriptors that a process keeps are left behind, and a process that is none is named`() throws {
        let hoarder = Process(), input = Pipe(), output = Pipe()
        hoarder.executableURL = URL(filePath: "/bin/bash")
        hoarder.arguments = ["-c", #"echo; read -r _; for _ in {1..51}; do exec {descriptor}</dev/null; done; echo; read -r _"#]
        (hoarder.standardInput, hoarder.standardOutput) = (input, output)
        try hoarder.run()
        _ = output.fileHandleForReading.availableData
        let gate = try TargetProcess(Int(hoarder.processIdentifier))
        #expect(gate.settled(within: 0.2).isClean)
        input.fileHandleForWriting.write(Data("\n".utf8))
        _ = output.fileHandleForReading.availableData
        let report = gate.settled(within: 0.2)
        #expect(report.leftovers == ["gateway: 51 more descriptors than before"])
        #expect(report.targetMemory?.before != nil && report.targetMemory?.after != nil)
        input.fileHandleForWriting.write(Data("\n".utf8))
        hoarder.waitUntilExit()
        let failure = try #require(throws: Failure.self) { _ = try TargetProcess(99_999_999) }
        #expect(failure.exitCode == 3)
    }
}
