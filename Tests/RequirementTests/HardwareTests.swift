import CallApp
import CallKit
import Dispatch
import Foundation
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
}
