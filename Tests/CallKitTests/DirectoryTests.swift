import CallKit
import Foundation
import Synchronization
import Testing

/// Call directories: loads, their rules, and what comes into force.
@Suite(.timeLimit(.minutes(30))) struct DirectoryTests {
    typealias Code = CXErrorCodeCallDirectoryManagerError.Code

    /// An extension whose every load is a script.
    final class Extension: CXCallDirectoryProvider, CXCallDirectoryExtensionContextDelegate {
        typealias Script = @Sendable (CXCallDirectoryExtensionContext) -> Void
        let script: Script
        let failures: Mailbox

        init(_ failures: Mailbox, _ script: @escaping Script) { (self.failures, self.script) = (failures, script) }

        override func beginRequest(with context: CXCallDirectoryExtensionContext) {
            context.delegate = self
            script(context)
        }

        func requestFailed(for extensionContext: CXCallDirectoryExtensionContext, withError error: any Error) { failures.put(error) }
    }

    /// What was put, from any thread.
    final class Mailbox: Sendable {
        private let letters = Mutex<[Int]>([])
        func put(_ error: any Error) { letters.withLock { $0.append((error as NSError).code) } }
        var codes: [Int] { letters.withLock { $0 } }
    }

    /// One directory, and how its next load goes.
    final class Rig: Sendable {
        let directories: CallDirectories
        let failures = Mailbox()

        init(limits: CallDirectoryLimits = CallDirectoryLimits(), store: (any CallDirectoryStore)? = nil) {
            directories = CallDirectories(limits: limits, store: store)
        }

        /// The error's code; nil when it went well.
        func load(_ script: @escaping Extension.Script) async -> Int? {
            directories.register("d") { [failures] in Extension(failures, script) }
            return await reload()
        }

        func reload() async -> Int? {
            await withCheckedContinuation { continuation in
                directories.load("d") { continuation.resume(returning: $0.map { ($0 as NSError).code }) }
            }
        }

        var entries: [String] {
            guard let data = directories.record(of: "d")?.data else { return ["none"] }
            var lines: [String] = []
            data.forEachBlocked { lines.append("-\($0)") }
            data.forEachIdentified { lines.append("\($0) \($1)") }
            return lines
        }
    }

    static let first: Extension.Script = { context in
        for number: Int64 in [1, 2, 30] { context.addBlockingEntry(withNextSequentialPhoneNumber: number) }
        context.addIdentificationEntry(withNextSequentialPhoneNumber: 5, label: "Ann")
        context.addIdentificationEntry(withNextSequentialPhoneNumber: 5, label: "Bob")
        context.addIdentificationEntry(withNextSequentialPhoneNumber: 6, label: "Ann")
        context.completeRequest()
    }
    static let entries = ["-1", "-2", "-30", "5 Ann", "5 Bob", "6 Ann"]

    @Test func `a full load replaces everything`() async {
        let rig = Rig()
        #expect(await rig.load(Self.first) == nil)
        #expect(rig.entries == Self.entries)
        let second = await rig.load { context in
            context.addBlockingEntry(withNextSequentialPhoneNumber: 7)
            // Too late to be incremental.
            #expect(!context.isIncremental)
            context.completeRequest()
        }
        #expect(second == nil)
        #expect(rig.entries == ["-7"])
    }

    /// A wrong step, and the code that it fails with.
    struct Wrong: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let code: Code
        let isIncremental: Bool
        let step: Extension.Script

        init(_ description: String, _ code: Code, incremental: Bool = false, _ step: @escaping Extension.Script) {
            (testDescription, self.code, isIncremental, self.step) = (description, code, incremental, step)
        }
    }

    static let wrongs: [Wrong] = [
        Wrong("blocked, descending", .entriesOutOfOrder) { $0.block(9, 8) },
        Wrong("blocked, twice", .duplicateEntries) { $0.block(9, 9) },
        Wrong("blocked, negative", .entriesOutOfOrder) { $0.block(-1) },
        Wrong("blocked, too great", .entriesOutOfOrder) { $0.block(.max) },
        Wrong("identified, descending", .entriesOutOfOrder) { $0.identify((9, "a"), (8, "b")) },
        Wrong("identified, twice alike", .duplicateEntries) { $0.identify((9, "a"), (9, "b"), (9, "a")) },
        Wrong("identified, too great", .entriesOutOfOrder) { $0.identify((.max, "a")) },
        Wrong("too many", .maximumEntriesExceeded) { $0.block(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11) },
        Wrong("too many labels", .maximumEntriesExceeded) { $0.identify((1, String(repeating: "x", count: 1_001))) },
        Wrong("too many labels of one number", .maximumEntriesExceeded) { $0.identify((1, "a"), (1, "b"), (1, "c"), (1, "d")) },
        Wrong("unblocked in a full load", .unexpectedIncrementalRemoval) { $0.removeBlockingEntry(withPhoneNumber: 1) },
        Wrong("all unblocked in a full load", .unexpectedIncrementalRemoval) { $0.removeAllBlockingEntries() },
        Wrong("not identified in a full load", .unexpectedIncrementalRemoval) { $0.removeIdentificationEntry(withPhoneNumber: 5) },
        Wrong("none identified in a full load", .unexpectedIncrementalRemoval) { $0.removeAllIdentificationEntries() },
        Wrong("unblocked what was not blocked", .unexpectedIncrementalRemoval, incremental: true) {
            $0.removeBlockingEntry(withPhoneNumber: 3)
        },
        Wrong("unblocked twice", .unexpectedIncrementalRemoval, incremental: true) {
            $0.removeBlockingEntry(withPhoneNumber: 1)
            $0.removeBlockingEntry(withPhoneNumber: 1)
        },
        Wrong("unblocked after all were", .unexpectedIncrementalRemoval, incremental: true) {
            $0.removeAllBlockingEntries()
            $0.removeBlockingEntry(withPhoneNumber: 1)
        },
        Wrong("unidentified what was not", .unexpectedIncrementalRemoval, incremental: true) {
            $0.removeIdentificationEntry(withPhoneNumber: 1)
        },
        Wrong("blocked what is blocked", .duplicateEntries, incremental: true) { $0.block(2) },
        Wrong("labelled as it is", .duplicateEntries, incremental: true) { $0.identify((5, "Bob")) },
    ]

    @Test(arguments: wrongs)
    func `a wrong step fails the load, tells the extension, and changes nothing`(_ wrong: Wrong) async {
        var limits = CallDirectoryLimits()
        (limits.entries, limits.labelBytes, limits.labelsPerNumber) = (10, 1_000, 3)
        let rig = Rig(limits: limits)
        #expect(await rig.load(Self.first) == nil)
        let code = await rig.load { context in
            if wrong.isIncremental { #expect(context.isIncremental) }
            wrong.step(context)
            context.completeRequest()
        }
        #expect(code == wrong.code.rawValue)
        #expect(rig.failures.codes == [wrong.code.rawValue])
        #expect(rig.entries == Self.entries)
        let failure = rig.directories.record(of: "d")?.failure
        #expect(failure?.code == wrong.code.rawValue && failure?.domain == CXErrorDomainCallDirectoryManager)
        // And the next load is free to go well.
        #expect(await rig.load(Self.first) == nil)
        #expect(rig.directories.record(of: "d")?.failure == nil)
    }

    @Test func `an incremental load changes what was there`() async {
        let rig = Rig()
        let full = await rig.load { context in
            #expect(!context.isIncremental)
            Self.first(context)
        }
        #expect(full == nil)
        let code = await rig.load { context in
            #expect(context.isIncremental)
            context.removeBlockingEntry(withPhoneNumber: 30)
            context.removeBlockingEntry(withPhoneNumber: 1)
            context.block(1, 3, 40)
            context.removeIdentificationEntry(withPhoneNumber: 5)
            context.identify((4, "Cid"), (5, "Dan"), (6, "Eve"))
            context.completeRequest()
        }
        #expect(code == nil)
        #expect(rig.entries == ["-1", "-2", "-3", "-40", "4 Cid", "5 Dan", "6 Ann", "6 Eve"])
        let second = await rig.load { context in
            guard context.isIncremental else { return }
            context.removeAllBlockingEntries()
            context.removeAllIdentificationEntries()
            context.block(2)
            context.completeRequest()
        }
        #expect(second == nil)
        #expect(rig.entries == ["-2"])
    }

    @Test func `an extension that cancels, disappears or takes too long changes nothing`() async {
        var limits = CallDirectoryLimits()
        let rig = Rig()
        #expect(await rig.load(Self.first) == nil)
        #expect(await rig.load { $0.cancelRequest(withError: NSError(domain: "CallDirectoryHandler", code: 77, userInfo: nil)) } == 77)
        #expect(rig.directories.record(of: "d")?.failure?.domain == "CallDirectoryHandler")
        #expect(rig.failures.codes == [])
        #expect(await rig.load { _ in } == Code.loadingInterrupted.rawValue)
        #expect(rig.entries == Self.entries)

        // Long enough for the extension to say who is to be told of it.
        limits.loadTime = .milliseconds(500)
        let slow = Rig(limits: limits)
        let kept = Kept()
        #expect(
            await slow.load { kept.context.withLock { [context = Unchecked(value: $0)] in $0 = context } }
                == Code.loadingInterrupted.rawValue)
        #expect(slow.failures.codes == [Code.loadingInterrupted.rawValue])
        #expect(slow.entries == ["none"])
        let context = kept.context.withLock { $0 }
        context?.value.block(1)
        #expect(await context?.value.completeRequest() == true)
        #expect(slow.entries == ["none"])
    }

    struct Unchecked: @unchecked Sendable { let value: CXCallDirectoryExtensionContext }
    final class Kept: Sendable { let context = Mutex<Unchecked?>(nil) }

    @Test func `completion tells whether the load has expired`() async {
        let rig = Rig()
        let expired = Mutex<[Bool]>([])
        let box = Box(expired)
        #expect(
            await rig.load { context in
                context.completeRequest { value in box.add(value) }; context.completeRequest { box.add($0) }
            } == nil)
        #expect(
            await rig.load { context in
                context.block(2, 1); context.completeRequest { box.add($0) }
            } == Code.entriesOutOfOrder.rawValue)
        // The completions run on the loads' queue, so an answer from there comes after them.
        #expect(await rig.reload() != nil)
        #expect(box.values == [false, true, true, true])
    }

    final class Box: Sendable {
        private let stored: Mutex<[Bool]>
        init(_ stored: consuming Mutex<[Bool]>) { self.stored = stored }
        func add(_ value: Bool) { stored.withLock { $0.append(value) } }
        var values: [Bool] { stored.withLock { $0 } }
    }

    @Test func `one load at a time, of extensions that are there`() async {
        let rig = Rig()
        #expect(await rig.reload() == Code.noExtensionFound.rawValue)
        let nested = Mailbox()
        let inner = await withCheckedContinuation { continuation in
            let answered = Relayed(continuation)
            rig.directories.register("d") { [failures = rig.failures, directories = rig.directories] in
                Extension(failures) { context in
                    directories.load("d") { error in
                        if let error { nested.put(error) }
                        Self.first(context)
                    }
                }
            }
            rig.directories.load("d") { answered.resume($0) }
        }
        #expect(inner == nil)
        #expect(nested.codes == [Code.currentlyLoading.rawValue])
        #expect(rig.entries == Self.entries)
    }

    struct Relayed: @unchecked Sendable {
        let continuation: CheckedContinuation<Int?, Never>
        init(_ continuation: CheckedContinuation<Int?, Never>) { self.continuation = continuation }
        func resume(_ error: (any Error)?) { continuation.resume(returning: error.map { ($0 as NSError).code }) }
    }

    // MARK: Store

    final class Store: CallDirectoryStore {
        private let records = Mutex<[String: CallDirectoryRecord]>([:])
        let isFull = Mutex(false)

        func load(limits: CallDirectoryLimits) throws -> [CallDirectoryRecord] { records.withLock { Array($0.values) } }
        func save(_ data: CallDirectoryData, of identifier: String, at date: Date) throws {
            if isFull.withLock({ $0 }) { throw CocoaError(.fileWriteOutOfSpace) }
            // As rows, as a database has them.
            var builder = CallDirectoryBuilder(limits: CallDirectoryLimits())
            try data.forEachBlocked { try builder.block($0) }
            try data.forEachIdentified { try builder.identify($0, label: $1) }
            let record = CallDirectoryRecord(identifier: identifier, data: builder.build(), loaded: date)
            records.withLock { $0[identifier] = record }
        }
        func save(_ failure: CallDirectoryFailure, of identifier: String) throws {
            records.withLock { $0[identifier, default: CallDirectoryRecord(identifier: identifier)].failure = failure }
        }
    }

    @Test func `MC-106 entries and the last error survive a restart`() async throws {
        let store = Store()
        let before = Rig(store: store)
        #expect(await before.load(Self.first) == nil)
        #expect(await before.load { $0.cancelRequest(withError: NSError(domain: "CallDirectoryHandler", code: 2, userInfo: nil)) } == 2)
        let after = Rig(store: store)
        try after.directories.restore()
        #expect(after.entries == Self.entries)
        #expect(after.directories.record(of: "d")?.failure?.code == 2)
        #expect(after.directories.record(of: "d")?.loaded == before.directories.record(of: "d")?.loaded)
        // Restored is not registered: nobody could load it.
        #expect(await after.reload() == Code.noExtensionFound.rawValue)
        let again = await after.load { context in
            #expect(context.isIncremental)
            context.completeRequest()
        }
        #expect(again == nil)
        #expect(after.entries == Self.entries)
    }

    @Test func `entries that cannot be saved do not come into force`() async {
        let store = Store()
        let rig = Rig(store: store)
        #expect(await rig.load(Self.first) == nil)
        store.isFull.withLock { $0 = true }
        #expect(
            await rig.load {
                $0.block(9); $0.completeRequest()
            } == CocoaError.fileWriteOutOfSpace.rawValue)
        #expect(rig.entries == Self.entries)
    }
}

extension CXCallDirectoryExtensionContext {
    func block(_ numbers: Int64...) { for number in numbers { addBlockingEntry(withNextSequentialPhoneNumber: number) } }
    func identify(_ entries: (Int64, String)...) {
        for (number, label) in entries { addIdentificationEntry(withNextSequentialPhoneNumber: number, label: label) }
    }
}
