import CallKit
import Foundation
import Gateway
import HotlineCalls
import Media
@preconcurrency import MonkeyCalls
import Primitives
import Synchronization
import Testing

@testable import Rehearsal

/// Call directories of the sample apps, as their calls feel them (A10, HL-18 to HL-23).
@Suite(.serialized, .timeLimit(.minutes(30))) struct DirectoryRequirementTests {
    private static let monkey = "monkeycall.directory", hotline = "hotline.directory"

    /// A stage whose telephone has the sample apps' directories, loaded and enabled.
    private func stage(_ enabled: [String], store: (any CallDirectoryStore)? = nil) async throws -> (Stage, ProbeApp, CallDirectories) {
        (MonkeyCalls.CallDirectoryHandler.failingStep, MonkeyCalls.CallDirectoryHandler.failure) = (nil, nil)
        let directories = CallDirectories(store: store)
        directories.register(Self.monkey) { MonkeyCalls.CallDirectoryHandler() }
        directories.register(Self.hotline) { HotlineCalls.CallDirectoryHandler() }
        for identifier in enabled { try await load(directories, identifier) }
        let stage = Stage()
        (stage.system.directories, stage.system.enabledDirectories) = (directories, enabled)
        return (stage, ProbeApp(stage), directories)
    }

    private func load(_ directories: CallDirectories, _ identifier: String) async throws {
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            directories.load(identifier) { continuation.resume(with: $0.map(Result.failure) ?? .success(())) }
        }
    }

    /// What a call from a number comes to: the last status, and the name on the screen.
    private func call(_ stage: Stage, _ number: String) -> (status: Int?, name: String?) {
        let far = stage.far.call(from: .init(number))
        stage.run(0.2)
        defer { for call in stage.calls { stage.end(call) } }
        return (far.statuses.last, stage.system.calls.first?.displayName)
    }

    @Test func `MC-100 a reload runs the extension, and its lists are in force`() async throws {
        let (stage, app, directories) = try await stage([Self.monkey])
        let data = directories.record(of: Self.monkey)?.data
        #expect(data?.blockedCount == 2 && data?.identifiedCount == 2)
        #expect(call(stage, "+14085555555").status == 607 && stage.leftovers() == [])
        withExtendedLifetime(app) {}
    }

    @Test(arguments: [1, 2])
    func `MC-101 a step that fails cancels the load, and the old entries stay`(step: Int) async throws {
        let (stage, app, directories) = try await stage([Self.monkey])
        MonkeyCalls.CallDirectoryHandler.failingStep = step
        await #expect { try await load(directories, Self.monkey) } throws: {
            ($0 as NSError).domain == "CallDirectoryHandler" && ($0 as NSError).code == step
        }
        #expect(call(stage, "+14085555555").status == 607 && stage.leftovers() == [])
        withExtendedLifetime(app) {}
    }

    @Test func `MC-102 numbers that are not ascending fail the load with error 3, tell the extension, and change nothing`() async throws {
        let (stage, app, directories) = try await stage([Self.monkey])
        let usual = MonkeyCalls.CallDirectoryHandler.blocked
        MonkeyCalls.CallDirectoryHandler.blocked = [18_005_555_555, 14_085_555_556]
        defer { MonkeyCalls.CallDirectoryHandler.blocked = usual }
        await #expect { try await load(directories, Self.monkey) } throws: {
            ($0 as NSError).code == 3 && ($0 as NSError).domain == CXErrorDomainCallDirectoryManager
        }
        #expect((MonkeyCalls.CallDirectoryHandler.failure as NSError?)?.code == 3)
        #expect(call(stage, "+14085555555").status == 607 && call(stage, "+14085555556").status == 180 && stage.leftovers() == [])
        withExtendedLifetime(app) {}
    }

    @Test func `MC-103 a labelled number shows its label`() async throws {
        let (stage, app, _) = try await stage([Self.monkey])
        #expect(call(stage, "+18775555555").name == "Telemarketer" && stage.leftovers() == [])
        withExtendedLifetime(app) {}
    }

    @Test(arguments: ["+14085555555", "+18005555555"])
    func `MC-104 a blocked number never reaches the provider`(number: String) async throws {
        let (stage, app, _) = try await stage([Self.monkey]), observer = CXCallObserver(system: stage.system)
        observer.setDelegate(app, queue: nil)
        #expect(call(stage, number).status == 607 && app.heard.isEmpty && !stage.story.contains { $0.hasPrefix("perform") })
        #expect(stage.traffic == ["far INVITE", "app 100 INVITE", "app 607 INVITE", "far ACK"])
        #expect(!stage.story.contains("report.incoming.ok") && stage.openLegs == 0)
        #expect(call(stage, "+14085555556").status == 180 && app.heard.contains("sees new"), "another one is let in")
        #expect(stage.leftovers() == [])
    }

    @Test func `MC-105 a million entries take bounded memory, and are found`() throws {
        var builder = CallDirectoryBuilder(limits: CallDirectoryLimits())
        for number: Int64 in 1...500_000 {
            try builder.block(number * 7)
            try builder.identify(number * 11, label: number.isMultiple(of: 2) ? "Advertising" : "Survey")
        }
        let data = builder.build()
        #expect(data.blockedCount == 500_000 && data.identifiedCount == 500_000)
        #expect(data.footprint < 12_000_000, "\(data.footprint) bytes for a million entries")
        #expect(data.isBlocked(3_500_000) && !data.isBlocked(3_500_001) && data.label(of: 22) == "Advertising" && data.label(of: 23) == nil)
    }

    @Test func `MC-106 the error of a load survives a restart`() async throws {
        let store = Store()
        let (stage, app, directories) = try await stage([Self.monkey], store: store)
        MonkeyCalls.CallDirectoryHandler.failingStep = 2
        await #expect(throws: (any Error).self) { try await load(directories, Self.monkey) }
        let after = CallDirectories(store: store)
        try after.restore()
        let record = try #require(after.record(of: Self.monkey)), failure = try #require(record.failure)
        #expect(failure.code == 2 && failure.domain == "CallDirectoryHandler" && record.data?.blockedCount == 2)
        #expect(stage.leftovers() == [])
        // The telephone that was started anew: the entries of before are in force.
        let restarted = Stage(), again = ProbeApp(restarted)
        (restarted.system.directories, restarted.system.enabledDirectories) = (after, [Self.monkey])
        #expect(call(restarted, "+14085555555").status == 607 && call(restarted, "+18775555555").name == "Telemarketer")
        #expect(restarted.leftovers() == [])
        withExtendedLifetime(again) {}
        withExtendedLifetime(app) {}
    }

    final class Store: CallDirectoryStore {
        private let records = Mutex<[String: CallDirectoryRecord]>([:])
        func load(limits: CallDirectoryLimits) throws -> [CallDirectoryRecord] { records.withLock { Array($0.values) } }
        func save(_ data: CallDirectoryData, of identifier: String, at date: Date) throws {
            records.withLock { $0[identifier] = CallDirectoryRecord(identifier: identifier, data: data, loaded: date) }
        }
        func save(_ failure: CallDirectoryFailure, of identifier: String) throws {
            records.withLock { $0[identifier, default: CallDirectoryRecord(identifier: identifier)].failure = failure }
        }
    }

    // MARK: Hotline

    @Test func `HL-18 the extension blocks and identifies by number`() async throws {
        let (stage, app, directories) = try await stage([Self.hotline])
        let data = directories.record(of: Self.hotline)?.data
        #expect(data?.isBlocked(1234) == true && data?.label(of: 1111) == "RW Tutorial Team" && stage.leftovers() == [])
        withExtendedLifetime(app) {}
    }

    @Test func `HL-19 a contact's name wins over a directory's label`() async throws {
        let (stage, app, _) = try await stage([Self.hotline])
        #expect(call(stage, "1111").name == "RW Tutorial Team")
        stage.system.contacts = { $0.value == "1111" ? "Ray" : nil }
        #expect(call(stage, "1111").name == "Ray" && stage.leftovers() == [])
        withExtendedLifetime(app) {}
    }

    @Test func `HL-20 a load begins with beginRequest, and its failure is told`() async throws {
        let (stage, app, directories) = try await stage([])
        #expect(directories.record(of: Self.hotline)?.loaded == nil)
        try await load(directories, Self.hotline)
        #expect(directories.record(of: Self.hotline)?.loaded != nil)
        let usual = MonkeyCalls.CallDirectoryHandler.labelled
        MonkeyCalls.CallDirectoryHandler.labelled = [(2, "b"), (1, "a")]
        defer { MonkeyCalls.CallDirectoryHandler.labelled = usual }
        await #expect(throws: (any Error).self) { try await load(directories, Self.monkey) }
        #expect(MonkeyCalls.CallDirectoryHandler.failure != nil && stage.leftovers() == [])
        withExtendedLifetime(app) {}
    }

    @Test func `HL-21 a blocked number is not shown, and the report's completion says why`() async throws {
        let (stage, app, _) = try await stage([Self.hotline])
        #expect(call(stage, "1234").status == 607 && stage.calls.isEmpty)
        #expect(app.errors.map { ($0 as NSError?)?.code } == [4])
        #expect(
            stage.journal.contains { $0.words == "report.incoming.error" && $0.details.text(.error) == "filteredByBlockList" }
                && stage.leftovers() == [])
    }

    @Test func `HL-22 an identified number shows its label`() async throws {
        let (stage, app, _) = try await stage([Self.hotline])
        #expect(call(stage, "1111").name == "RW Tutorial Team" && call(stage, "1112").name == nil && stage.leftovers() == [])
        withExtendedLifetime(app) {}
    }

    @Test func `HL-23 a directory that the user has not enabled does nothing, and its reload is error 6`() async throws {
        let (stage, app, directories) = try await stage([])
        try await load(directories, Self.hotline)
        #expect(call(stage, "1234").status == 180)
        await #expect { try await stage.system.directoryManager.reloadExtension(withIdentifier: Self.hotline) } throws: {
            ($0 as NSError).code == 6
        }
        let status = await withCheckedContinuation { continuation in
            stage.system.directoryManager.getEnabledStatusForExtension(withIdentifier: Self.hotline) { status, _ in
                continuation.resume(returning: status)
            }
        }
        #expect(status == .disabled && stage.leftovers() == [])
        withExtendedLifetime(app) {}
    }
}
