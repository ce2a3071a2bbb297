import CallKit
import Dispatch
import Foundation
import Primitives
import Testing

extension RealTime {
    /// On real queues and real clocks. Waits for events, never for time.
    @Suite struct QueueHostTests {
        /// A delegate on a queue of its own, and a place to wait for what it saw.
        final class App: NSObject, CXProviderDelegate, CXCallObserverDelegate, @unchecked Sendable {
            let queue = DispatchQueue(label: "app")
            let system: CallSystem
            let provider: CXProvider
            let controller: CXCallController
            private let seen: AsyncStream<String>.Continuation
            let events: AsyncStream<String>
            var completesActions = true
            var onPerform: () -> Void = {}

            init(_ configure: (inout CallSystemConfiguration) -> Void = { _ in }) {
                var configuration = CallSystemConfiguration()
                configure(&configuration)
                let system = CallSystem(configuration: configuration, host: QueueHost())
                self.system = system
                // As an app that knows of no systems.
                (provider, controller) = CallSystem.$current.withValue(system) {
                    (CXProvider(configuration: CXProviderConfiguration()), CXCallController())
                }
                (events, seen) = AsyncStream.makeStream()
                super.init()
                controller.callObserver.setDelegate(self, queue: queue)
                provider.setDelegate(self, queue: queue)
            }

            func see(_ event: String) { seen.yield(event) }

            private func note(_ event: String) {
                dispatchPrecondition(condition: .onQueue(queue))
                see(event)
            }

            private func perform(_ action: CXCallAction) {
                note("perform \(text(action))")
                onPerform()
                if completesActions { action.fulfill() }
            }

            func providerDidBegin(_ provider: CXProvider) { note("begin") }
            func providerDidReset(_ provider: CXProvider) { note("reset") }
            func provider(_ provider: CXProvider, perform action: CXStartCallAction) { perform(action) }
            func provider(_ provider: CXProvider, perform action: CXAnswerCallAction) { perform(action) }
            func provider(_ provider: CXProvider, perform action: CXEndCallAction) { perform(action) }
            func provider(_ provider: CXProvider, perform action: CXSetHeldCallAction) { perform(action) }
            func provider(_ provider: CXProvider, timedOutPerforming action: CXAction) { note("timed out \(text(action))") }
            func provider(_ provider: CXProvider, didActivate audioSession: AVAudioSession) { note("activate") }
            func provider(_ provider: CXProvider, didDeactivate audioSession: AVAudioSession) { note("deactivate") }
            func callObserver(_ callObserver: CXCallObserver, callChanged call: CXCall) {
                note("changed \(call.hasConnected) \(call.hasEnded)")
            }

            /// Everything up to and including `last`.
            func events(until last: String) async -> [String] {
                var collected: [String] = []
                for await event in events {
                    collected.append(event)
                    if event == last { break }
                }
                return collected
            }
        }

        @Test(.timeLimit(.minutes(30)))
        func `a call runs through on the app's queue, in the order of the contract`() async throws {
            let app = App()
            #expect(await app.events(until: "begin") == ["begin"])
            try await app.provider.reportNewIncomingCall(with: .call("A"), update: CXCallUpdate())
            try await app.controller.request(CXTransaction(action: .answer("A")))
            #expect(
                await app.events(until: "activate") == ["changed false false", "perform answer A", "changed true false", "activate"])
            #expect(app.controller.callObserver.calls.map(\.uuid) == [.call("A")])
            try await app.controller.requestTransaction(with: .end("A"))
            #expect(await app.events(until: "deactivate") == ["perform end A", "changed true true", "deactivate"])
            #expect(app.system.counts == .idle)
        }

        @Test(.timeLimit(.minutes(30)))
        func `errors arrive as errors`() async {
            let app = App()
            await #expect(throws: CXErrorCodeRequestTransactionError(.unknownCallUUID)) {
                try await app.controller.request(CXTransaction(action: .end("X")))
            }
            app.system.filter = { _, _ in .filteredByBlockList }
            await #expect(throws: CXErrorCodeIncomingCallError(.filteredByBlockList)) {
                try await app.provider.reportNewIncomingCall(with: .call("A"), update: CXCallUpdate())
            }
            #expect(app.system.calls == [])
        }

        @Test(.timeLimit(.minutes(30)))
        func `nothing of the app runs inside its own call into CallKit`() async {
            let app = App()
            let inside = NSLock()
            inside.withLock {
                app.provider.reportNewIncomingCall(with: .call("A"), update: CXCallUpdate()) { _ in
                    // Waits for the call above to return; inside of it, for ever.
                    inside.withLock { app.see("incoming") }
                }
            }
            #expect(await app.events(until: "incoming").contains("incoming"))
        }

        @Test(.timeLimit(.minutes(30)))
        func `a controller's completion comes on the queue that it named`() async {
            let app = App()
            let queue = DispatchQueue(label: "completions")
            let controller = CXCallController(system: app.system, queue: queue)
            await withCheckedContinuation { continuation in
                controller.request(CXTransaction()) { error in
                    dispatchPrecondition(condition: .onQueue(queue))
                    #expect(error != nil)
                    continuation.resume()
                }
            }
        }

        /// An app's own, which counts how often it is made.
        final class Controller: CXCallController, @unchecked Sendable {
            let made: Int

            override init(queue: DispatchQueue) {
                made = 1
                super.init(queue: queue)
            }
        }

        @Test(.timeLimit(.minutes(30)))
        func `a controller's subclass that has its queue's initialiser inherits the others`() async {
            let system = CallSystem(configuration: CallSystemConfiguration(), host: QueueHost()), queue = DispatchQueue(label: "named")
            let key = DispatchSpecificKey<Bool>()
            queue.setSpecific(key: key, value: true)
            let plain = CallSystem.$current.withValue(system) { Controller() }
            let named = CallSystem.$current.withValue(system) { Controller(queue: queue) }
            let controllers: [(Controller, Bool?)] = [
                (plain, nil), (named, true), (Controller(system: system), nil), (Controller(system: system, queue: queue), true),
            ]
            for (controller, isNamed) in controllers {
                #expect(controller.made == 1 && controller.callSystem === system)
                let ran: Bool? = await withCheckedContinuation { continuation in
                    controller.request(CXTransaction()) { _ in continuation.resume(returning: DispatchQueue.getSpecific(key: key)) }
                }
                #expect(ran == isNamed)
            }
        }

        /// H13: a private queue for each controller.
        @Test(.timeLimit(.minutes(30)))
        func `a completion that waits holds up neither another controller nor a deadline`() async {
            let app = App { $0.ringTimeout = .milliseconds(20) }
            let other = CXCallController(system: app.system)
            let answered = DispatchSemaphore(value: 0), performed = DispatchSemaphore(value: 0)
            app.onPerform = { performed.signal() }
            let came: (Bool, Bool) = await withCheckedContinuation { continuation in
                app.controller.request(CXTransaction()) { _ in
                    other.request(CXTransaction()) { _ in answered.signal() }
                    app.provider.reportNewIncomingCall(with: .call("A"), update: CXCallUpdate()) { _ in }
                    let limit = DispatchTime.now() + 30
                    continuation.resume(returning: (answered.wait(timeout: limit) == .success, performed.wait(timeout: limit) == .success))
                }
            }
            #expect(came == (true, true))
        }

        @Test(.timeLimit(.minutes(30)))
        func `deadlines come by themselves`() async throws {
            let app = App { $0.ringTimeout = .milliseconds(20) }
            app.completesActions = false
            try await app.provider.reportNewIncomingCall(with: .call("A"), update: CXCallUpdate())
            #expect(await app.events(until: "perform end A").last == "perform end A")
        }

        /// Takes its time with the first update: another thread reports one meanwhile, and has come back from that or waits in it.
        final class SlowJournal: CallSystemJournal, @unchecked Sendable {
            private let lock = NSLock()
            private var told: Set<UUID> = []
            private var isBack = false
            let report: @Sendable () -> Void
            /// Whether the journal had been told of that report when it was back.
            let knew: AsyncStream<Bool>
            private let knowing: AsyncStream<Bool>.Continuation

            init(report: @escaping @Sendable () -> Void) {
                self.report = report
                (knew, knowing) = AsyncStream.makeStream()
            }

            func callSystem(_ system: CallSystem, did event: CallSystemEvent, at now: Instant) {
                guard case .updated(let call) = event else { return }
                lock.withLock { _ = told.insert(call) }
                guard call == .call("A") else { return }
                DispatchQueue.global().async { [self] in
                    report()
                    lock.withLock {
                        isBack = true
                        knowing.yield(told.contains(.call("B")))
                    }
                }
                while system.call(.call("B"))?.hasVideo == false { sched_yield() }
                for _ in 0..<100_000 where !lock.withLock({ isBack }) { sched_yield() }
            }
        }

        @Test(.timeLimit(.minutes(30)))
        func `an input returns when the journal has been told of it, though another thread is telling`() async throws {
            let app = App(), update = CXCallUpdate()
            update.hasVideo = true
            for call in ["A", "B"] as [Character] {
                try await app.provider.reportNewIncomingCall(with: .call(call), update: CXCallUpdate())
            }
            let journal = SlowJournal { [provider = app.provider] in provider.reportCall(with: .call("B"), updated: update) }
            app.system.journal = journal
            app.provider.reportCall(with: .call("A"), updated: update)
            var knew: Bool?
            for await answer in journal.knew {
                knew = answer
                break
            }
            #expect(knew == true)
        }

        @Test(.timeLimit(.minutes(30)))
        func `many threads at once leave nothing behind`() async {
            let app = App { $0.ringTimeout = nil }
            app.provider.configuration = .limited(1_000, 5)
            await withTaskGroup(of: Void.self) { group in
                for worker in 0..<8 {
                    group.addTask {
                        for number in 0..<50 {
                            let call = UUID()
                            try? await app.provider.reportNewIncomingCall(with: call, update: CXCallUpdate())
                            try? await app.controller.request(CXTransaction(action: CXAnswerCallAction(call: call)))
                            if (worker + number) % 2 == 0 {
                                app.provider.reportCall(with: call, endedAt: nil, reason: .remoteEnded)
                            } else {
                                try? await app.controller.request(CXTransaction(action: CXEndCallAction(call: call)))
                            }
                        }
                    }
                }
            }
            for call in app.system.calls { app.provider.reportCall(with: call.uuid, endedAt: nil, reason: .failed) }
            // All callbacks before this one have run.
            app.system.reset()
            #expect(await app.events(until: "reset").contains { $0.hasPrefix("perform") })
            #expect(app.system.calls == [])
            #expect(app.system.counts.actions == 0)
            #expect(app.system.counts.transactions == 0)
        }

        @Test func `the shared system is current by default`() {
            #expect(CallSystem.current === CallSystem.shared)
            let system = CallSystem(configuration: CallSystemConfiguration(), host: InlineHost())
            CallSystem.$current.withValue(system) {
                #expect(CXProvider(configuration: CXProviderConfiguration()).callSystem === system)
                #expect(CXCallController().callSystem === system)
            }
        }

        /// Its completion runs on a queue of the system, and must not be taken for main-actor code: that would trap.
        @MainActor @Test func `what is made on the main actor hears its completion elsewhere`() async {
            let app = App()
            let refusals = await withCheckedContinuation { continuation in
                app.controller.request(CXTransaction(action: CXEndCallAction(call: UUID()))) { error in
                    continuation.resume(returning: [error].compactMap { $0 as? CXErrorCodeRequestTransactionError }.map(\.code))
                }
            }
            #expect(refusals == [.unknownCallUUID])
            app.provider.invalidate()
        }
    }
}
