import CallApp
import CallKit
import Dispatch
import Foundation
import Gateway
import HotlineCalls
import Media
import Primitives
import Synchronization
import Testing
import UserAgent

extension LiveAppLine: CallNetwork {}

/// On this machine's sockets and in real time: what needs no telephone, no sound card and no network but loopback.
@Suite(.serialized) struct HardwareTests {
    /// Hotline on real sockets; what happens to it is told on the main queue.
    @MainActor final class LiveHotline {
        private(set) var line: LiveAppLine?
        private(set) var manager: CallManager?
        private var delegate: HotlineCalls.ProviderDelegate?
        let system: CallSystem
        private(set) var firstPackets = 0, released = 0
        var violations: [String] = []

        init(_ number: Text, server: SocketAddress, ports: ClosedRange<UInt16>) throws {
            system = CallSystem(configuration: .app, host: QueueHost())
            var settings = LiveAppSettings(number: number, server: server)
            settings.mediaPorts = ports
            settings.microphone = .silence
            settings.adjust = { $0.registers = false }
            let line = try LiveAppLine(settings, system: system) { event in MainActor.assumeIsolated { self.heard(event) } }
            self.line = line
            (manager, delegate) = CallSystem.$current.withValue(system) {
                let manager = CallManager(network: line)
                return (manager, HotlineCalls.ProviderDelegate(callManager: manager))
            }
        }

        private func heard(_ event: AppLineEvent) {
            switch event {
            case .incoming(let call, let caller):
                delegate?.reportIncomingCall(uuid: call, handle: caller.handle) {
                    @Sendable [controller = CXCallController(system: system)] _ in
                    controller.request(CXTransaction(action: CXAnswerCallAction(call: call))) { _ in }
                }
            case .connecting(let call): delegate?.networkRings(uuid: call)
            case .connected(let call): delegate?.networkConnects(uuid: call)
            case .ended(let call, let reason): delegate?.networkEnds(uuid: call, reason: reason)
            case .firstSent: firstPackets += 1
            case .released: released += 1
            case .violation(let violation): violations.append("\(violation)")
            default: break
            }
        }

        /// Violations in the whole run.
        func close() -> Int { line?.close() ?? 0 }
    }

    /// Lets the main queue run until something is so, or the test has taken too long.
    @MainActor private func until(_ condition: () -> Bool) async throws {
        while !condition() {
            try Task.checkCancellation()
            await Task.yield()
        }
    }

    @MainActor @Test(.timeLimit(.minutes(30))) func `HL-24 two apps call each other on loopback, and no hardware is needed`() async throws {
        let callee = try LiveHotline("1002", server: SocketAddress(.loopback, port: 5060), ports: 8_600...8_699)
        let address = try #require(callee.line?.address)
        let caller = try LiveHotline("1001", server: address, ports: 8_700...8_799)
        caller.manager?.startCall(handle: "1002", videoEnabled: false)
        try await until { callee.system.calls.first?.hasConnected == true && caller.system.calls.first?.hasConnected == true }
        try await until { caller.line?.counts?.media.started == 1 && callee.line?.counts?.media.started == 1 }
        let call = try #require(caller.manager?.calls.first)
        caller.manager?.end(call: call)
        try await until { caller.released == 1 && callee.released == 1 }
        try await until { caller.line?.counts?.agent.sessions == 0 && callee.line?.counts?.agent.sessions == 0 }
        #expect(caller.line?.counts?.media.sockets == 0 && callee.line?.counts?.media.sockets == 0)
        #expect(caller.close() == 0 && callee.close() == 0 && caller.violations == [] && callee.violations == [])
    }

    /// Refuses each start, on a queue of its own.
    private final class QueuedApp: NSObject, CXProviderDelegate, Sendable {
        let refused = Mutex(0)
        func providerDidReset(_ provider: CXProvider) {}
        func provider(_ provider: CXProvider, perform action: CXStartCallAction) {
            dispatchPrecondition(condition: .notOnQueue(.main))
            action.fail()
            refused.withLock { $0 += 1 }
        }
    }

    @MainActor @Test(.timeLimit(.minutes(30)))
    func `OF-15 wishes and callbacks of several threads are in the journal on one lane, numbered without a gap`() async throws {
        let file = FileManager.default.temporaryDirectory.appending(path: "hookswitch-threads-\(UUID())")
        defer { try? FileManager.default.removeItem(at: file) }
        let system = CallSystem(configuration: .app, host: QueueHost()), app = QueuedApp()
        var settings = LiveAppSettings(number: "1001", server: SocketAddress(.loopback, port: 5060))
        (settings.mediaPorts, settings.journalFile, settings.adjust) = (8_800...8_899, file.path, { $0.registers = false })
        let line = try LiveAppLine(settings, system: system) { _ in }, configuration = CXProviderConfiguration()
        configuration.maximumCallGroups = 100
        let provider = CXProvider(configuration: configuration, system: system)
        provider.setDelegate(app, queue: DispatchQueue(label: "app"))
        let calls = (0..<4).map { _ in (0..<10).map { _ in UUID() } }
        for mine in calls {
            Thread.detachNewThread {
                let controller = CXCallController(system: system)
                for call in mine {
                    let start = CXStartCallAction(call: call, handle: CXHandle(type: .generic, value: "1002"))
                    controller.request(CXTransaction(action: start)) { _ in }
                }
            }
        }
        try await until { app.refused.withLock { $0 } == 40 && system.counts.calls == 0 }
        #expect(line.close() == 0)
        let journal = JournalReader.parse(try Array(Data(contentsOf: file)), name: "threads").events
        #expect(journal.map(\.sequence) == Array(1...UInt64(journal.count)))
        #expect(Set(journal.map(\.lane)).count == 1 && journal.first?.lane.isEmpty == false)
        for call in calls.joined() {
            let story = journal.filter { $0.call == CallUUID(call) }.map(\.words)
            #expect(story.haveInOrder(["tx.requested", "tx.accepted", "perform.start", "action.failed start", "call.ended"]), "\(story)")
        }
        withExtendedLifetime(provider) {}
    }
}
