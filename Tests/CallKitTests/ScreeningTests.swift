import CallKit
import Foundation
import Synchronization
import Testing

/// Contacts, directories and enablement, each telephone for itself.
@Suite(.timeLimit(.minutes(30))) struct ScreeningTests {
    final class Numbers: CXCallDirectoryProvider {
        let blocked: [Int64], identified: [(Int64, String)]
        init(_ blocked: [Int64], _ identified: [(Int64, String)]) { (self.blocked, self.identified) = (blocked, identified) }
        override func beginRequest(with context: CXCallDirectoryExtensionContext) {
            for number in blocked { context.addBlockingEntry(withNextSequentialPhoneNumber: number) }
            for (number, label) in identified { context.addIdentificationEntry(withNextSequentialPhoneNumber: number, label: label) }
            context.completeRequest()
        }
    }

    /// Two directories: one blocks 1 and calls 2 and 3, the other blocks 4 and calls 3.
    static func directories() async throws -> CallDirectories {
        let directories = CallDirectories()
        directories.register("one") { Numbers([1, 5], [(2, "Two"), (3, "Three"), (5, "Five")]) }
        directories.register("other") { Numbers([4], [(3, "Drei")]) }
        for identifier in ["one", "other"] {
            try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
                directories.load(identifier) { continuation.resume(with: $0.map(Result.failure) ?? .success(())) }
            }
        }
        return directories
    }

    /// What a call from a number comes to: "blocked", or what the telephone shows.
    private func ring(_ rig: Rig, _ number: String, name: String? = nil, type: CXHandle.HandleType = .phoneNumber) -> String {
        let update = CXCallUpdate()
        update.remoteHandle = CXHandle(type: type, value: number)
        if let name { update.localizedCallerName = name }
        let (uuid, answer) = (UUID(), Answer())
        rig.provider.reportNewIncomingCall(with: uuid, update: update) { answer.set($0) }
        defer { rig.provider.reportCall(with: uuid, endedAt: nil, reason: .remoteEnded) }
        return (answer.error as? CXErrorCodeIncomingCallError).map { "\($0.code)" } ?? rig.system.call(uuid)?.displayName ?? "nobody"
    }

    final class Answer: @unchecked Sendable {
        private(set) var error: (any Error)?
        func set(_ error: (any Error)?) { self.error = error }
    }

    struct Row: Sendable {
        let enabled: [String], number: String, shown: String
        init(_ enabled: [String], _ number: String, _ shown: String) { (self.enabled, self.number, self.shown) = (enabled, number, shown) }
    }

    static let rows = [
        Row([], "1", "nobody"), Row([], "2", "nobody"), Row(["one"], "1", "filteredByBlockList"), Row(["other"], "1", "nobody"),
        Row(["one"], "+2", "Two"), Row(["one"], "4", "nobody"), Row(["one", "other"], "4", "filteredByBlockList"),
        Row(["one", "other"], "3", "Three"), Row(["other", "one"], "3", "Drei"), Row(["other", "one"], "2", "Two"),
        Row(["unknown", "one"], "2", "Two"), Row(["one"], "6", "nobody"),
    ]

    @Test func `MC-103 MC-104 HL-21 HL-22 HL-23 enabled directories block and identify, in their order`() async throws {
        let rig = Rig()
        rig.system.directories = try await Self.directories()
        for row in Self.rows {
            rig.system.enabledDirectories = row.enabled
            #expect(ring(rig, row.number) == row.shown, "\(row)")
            #expect(ring(rig, row.number, type: .generic) == "nobody", "only phone numbers are looked up")
        }
        rig.system.directories = nil
        #expect(ring(rig, "1") == "nobody")
    }

    @Test(arguments: [false, true])
    func `HL-19 contacts come before directories`(directoriesBlockContacts: Bool) async throws {
        var configuration = CallSystemConfiguration()
        configuration.directoriesBlockContacts = directoriesBlockContacts
        let rig = Rig(configuration)
        rig.system.directories = try await Self.directories()
        rig.system.enabledDirectories = ["one"]
        rig.system.contacts = { ["1": "Ann", "2": "Bob", "x": "Xenia"][$0.value] }
        #expect(ring(rig, "1") == (directoriesBlockContacts ? "filteredByBlockList" : "Ann"))
        #expect(ring(rig, "2") == "Bob")
        #expect(ring(rig, "2", name: "What the caller says") == "Bob")
        #expect(ring(rig, "3", name: "What the caller says") == "What the caller says")
        #expect(ring(rig, "3") == "Three")
        #expect(ring(rig, "5") == "filteredByBlockList")
        #expect(ring(rig, "x", type: .generic) == "Xenia")
    }

    @Test func `a call is identified anew when its handle changes`() async throws {
        let rig = Rig()
        rig.system.directories = try await Self.directories()
        rig.system.enabledDirectories = ["one"]
        rig.ring("A")
        #expect(rig.call("A")?.identification == nil)
        let update = CXCallUpdate()
        update.remoteHandle = CXHandle(type: .phoneNumber, value: "2")
        rig.provider.reportCall(with: .call("A"), updated: update)
        #expect(rig.call("A")?.identification == .directory("Two", extension: "one"))
        rig.provider.reportCall(with: .call("A"), updated: CXCallUpdate())
        #expect(rig.call("A")?.identification == .directory("Two", extension: "one"))
        update.remoteHandle = nil
        rig.provider.reportCall(with: .call("A"), updated: update)
        #expect(rig.call("A")?.identification == nil)
    }

    @Test func `the system's own filter comes first`() async throws {
        let rig = Rig()
        rig.system.directories = try await Self.directories()
        rig.system.enabledDirectories = ["one"]
        rig.system.filter = { _, _ in .filteredByDoNotDisturb }
        #expect(ring(rig, "1") == "filteredByDoNotDisturb")
    }

    // MARK: The manager

    private func code(_ work: () async throws -> Void) async -> Int? {
        do { try await work() } catch { return (error as NSError).code }
        return nil
    }

    @Test func `HL-23 an extension is reloaded by telephones that have enabled it`() async throws {
        let (line, other) = (Rig(), Rig())
        let directories = try await Self.directories()
        (line.system.directories, other.system.directories) = (directories, directories)
        line.system.enabledDirectories = ["one"]
        let manager = line.system.directoryManager
        #expect(CallSystem.$current.withValue(line.system) { CXCallDirectoryManager.sharedInstance } === manager)
        #expect(await code { try await manager.reloadExtension(withIdentifier: "one") } == nil)
        #expect(await code { try await manager.reloadExtension(withIdentifier: "other") } == 6)
        #expect(await code { try await manager.reloadExtension(withIdentifier: "none") } == 1)
        #expect(await code { try await other.system.directoryManager.reloadExtension(withIdentifier: "one") } == 6)
        #expect(try await manager.enabledStatusForExtension(withIdentifier: "one") == .enabled)
        #expect(try await manager.enabledStatusForExtension(withIdentifier: "other") == .disabled)
        await #expect(throws: CXErrorCodeCallDirectoryManagerError(.noExtensionFound)) {
            try await manager.enabledStatusForExtension(withIdentifier: "none")
        }
        let status = await withCheckedContinuation { continuation in
            manager.getEnabledStatusForExtension(withIdentifier: "none") { status, _ in continuation.resume(returning: status) }
        }
        #expect(status == .unknown)
    }

    @Test func `settings are opened by whoever shows them`() async {
        let rig = Rig()
        let opened = Opened()
        #expect(await code { try await rig.system.directoryManager.openSettings() } == 0)
        rig.system.openSettings = { opened.count.withLock { $0 += 1 } }
        #expect(await code { try await rig.system.directoryManager.openSettings() } == nil)
        #expect(opened.count.withLock { $0 } == 1)
    }

    final class Opened: Sendable { let count = Mutex(0) }

    @Test func `a push from a notification extension goes to the system that takes it`() async {
        let rig = Rig()
        let opened = Opened()
        func report() async -> Int? { await code { try await CXProvider.reportNewIncomingVoIPPushPayload(["handle": "x"]) } }
        #expect(await report() == 2)
        rig.system.voipPush = { payload in opened.count.withLock { $0 += (payload["handle"] as? String)?.count ?? 0 } }
        #expect(await CallSystem.$current.withValue(rig.system) { await report() } == nil)
        #expect(opened.count.withLock { $0 } == 1)
    }
}
