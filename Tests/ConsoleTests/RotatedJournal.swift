import CallJournal
import Foundation
import Primitives

@testable import Console

/// A journal on the disk that is written as a gateway does, at random: runs that end or are killed, calls, rotations.
final class RotatedJournal {
    /// Keeps the lines of a journal until they are taken.
    private final class Sink: JournalSink, @unchecked Sendable {
        var lines: [UInt8] = []
        func accept(_ lines: [UInt8]) { self.lines += lines }
    }

    private let folder = FileManager.default.temporaryDirectory.appending(path: "replay-\(UUID())").path
    var path: String { folder + "/journal.jsonl" }
    private let sink = Sink()
    private var journal: Journal
    private var random: SeededRandom
    private var calls: [CallUUID] = [], callCount: UInt64 = 0
    private var runs: UInt64 = 0, isTorn = false
    /// All that was ever written whole.
    private(set) var written: [UInt8] = []
    /// The first line.
    let first = EventPosition(run: "10000001", sequence: 1)
    /// Sees the events as they are recorded.
    var onEvent: ((JournalEvent) -> Void)? {
        didSet { listen() }
    }

    init(seed: UInt64) throws {
        random = SeededRandom(seed: seed)
        journal = Self.journal(sink)
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        start()
    }

    deinit { try? FileManager.default.removeItem(atPath: folder) }

    private static func journal(_ sink: Sink) -> Journal {
        Journal(lane: "s0", clock: WallClock(instant: .zero, unixNanoseconds: 1_795_000_000_000_000_000), sink: sink, audit: nil)
    }

    private func listen() { journal.onEvent = onEvent.map { told in { event in told(copy event) } } }

    /// Another run begins.
    func start() {
        runs += 1
        (journal, calls) = (Self.journal(sink), [])
        listen()
        record(.gatewayStarted, nil, [.run: .init("\(10_000_000 + runs)89abcdef"), .version: "1"])
    }

    /// The gateway is killed in the middle of a line.
    func kill() {
        record(.remoteHold, calls.last, [.on: true])
        journal.flush()
        let whole = sink.lines
        sink.lines = []
        append(Array(whole.dropLast(Int.random(in: 2...40, using: &random))))
        isTorn = true
        start()
    }

    func record(_ kind: JournalEvent.Kind, _ call: CallUUID?, line: Text = "1001", _ details: JournalEvent.Details = [:]) {
        journal.record(
            kind, call: call, line: call == nil ? "" : line, at: Instant(nanoseconds: runs * 1_000_000_000 + journal.count), details)
    }

    /// Events of calls as they may come, and others.
    func recordSome(_ count: Int) {
        for _ in 0..<count {
            let call = calls.randomElement(using: &random), action = JournalEvent.Value.uuid(CallUUID(UUID()))
            switch (Int.random(in: 0..<8, using: &random), call) {
            case (0, _), (_, nil): begin()
            case (1, let call?): record(.sipSent, call, [.method: "INVITE", .status: .init(Int64.random(in: 200..<700, using: &random))])
            case (2, let call?):
                record(.performHeld, call, [.action: action, .on: .init(Bool.random(using: &random))])
                record(.actionFulfilled, call, [.action: action, .class: "held"])
            case (3, let call?):
                record(.performGroup, call, [.action: action, .with: .uuid(calls[0])])
                record(.actionFulfilled, call, [.action: action, .class: "group"])
            case (4, let call?):
                record(.callEnded, call, [.reason: "remoteEnded"])
                calls.removeAll { $0 == call }
            case (5, let call?): record(.remoteHold, call, [.on: .init(Bool.random(using: &random))])
            case (_, let call?): record(.sipReceived, call, [.method: "INFO"])
            }
        }
        write()
    }

    private func begin() {
        callCount += 1
        let call = CallUUID(high: runs, low: callCount)
        record(.inviteReceived, call, [.callid: "c", .from: "sip:a@x", .to: "sip:1001@x"])
        record(.reportIncoming, call, [.remote: "a"])
        record(.reportIncomingAccepted, call)
        calls.append(call)
    }

    /// Brings the recorded events to the disk.
    func write() {
        journal.flush()
        append(sink.lines)
        sink.lines = []
    }

    /// Lines as they are.
    func append(_ lines: [UInt8]) {
        guard !lines.isEmpty else { return }
        let bytes = (isTorn ? [0x0A] : []) + lines
        isTorn = false
        written += bytes
        let descriptor = open(path, O_WRONLY | O_APPEND | O_CREAT, 0o600)
        defer { close(descriptor) }
        precondition(bytes.withUnsafeBytes { Foundation.write(descriptor, $0.baseAddress, $0.count) } == bytes.count)
    }

    func rotate(keeping count: Int) {
        for index in stride(from: count, to: 0, by: -1) {
            _ = rename(index == 1 ? path : "\(path).\(index - 1)", "\(path).\(index)")
        }
        _ = FileManager.default.createFile(atPath: path, contents: nil)
    }

    /// All events that were written, each with what is told of it.
    var events: [(position: EventPosition, told: PublicEvent?)] {
        var fold = EventFold(), events: [(EventPosition, PublicEvent?)] = []
        for event in JournalReader.parse(written, name: "").events {
            let told = fold.note(event)
            if let position = fold.position { events.append((position, told)) }
        }
        return events
    }
}
