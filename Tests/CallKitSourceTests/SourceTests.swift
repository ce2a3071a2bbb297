import CallKit
import Intents
import PushKit
import Testing

extension RealTime {
    /// App code runs unchanged, on real queues.
    @Suite(.serialized, .timeLimit(.minutes(30))) @MainActor struct SourceTests {
        let system = CallSystem(configuration: CallSystemConfiguration(), host: QueueHost())

        private func hotline() -> AppDelegate {
            CallSystem.$current.withValue(system) {
                let app = AppDelegate()
                #expect(Host.launch(app))
                return app
            }
        }

        private func monkeyCall() -> MonkeyAppDelegate {
            CallSystem.$current.withValue(system) {
                let app = MonkeyAppDelegate()
                #expect(Host.launch(app))
                return app
            }
        }

        /// Lets the main queue run until something is so.
        private func until(_ condition: () -> Bool) async {
            while !condition() { await Task.yield() }
        }

        @Test func `Hotline takes a call, holds it and ends it`() async {
            let app = hotline()
            let error = await withCheckedContinuation { continuation in
                app.simulateIncomingCall(handle: "2001") { continuation.resume(returning: $0) }
            }
            #expect(error == nil)
            #expect(Host.backgroundTasks == 0)
            await until { app.callManager.calls.count == 1 }
            let call = app.callManager.calls[0]
            CXCallController(system: system).requestTransaction(with: CXAnswerCallAction(call: call.uuid)) { _ in }
            await until { app.providerDelegate.trace == ["configure", "start audio"] }
            #expect(call.state == .active)
            app.callManager.setHeld(call: call, onHold: true)
            await until { call.state == .held }
            app.callManager.end(call: call)
            await until { app.callManager.calls.isEmpty && system.counts.actions == 0 }
            #expect(app.providerDelegate.trace == ["configure", "start audio", "stop audio", "stop audio"])
            #expect(system.calls == [])
            #expect(call.state == .ended)
        }

        @Test func `Hotline makes a call`() async {
            let app = hotline()
            app.callManager.startCall(handle: "2002", videoEnabled: true)
            await until { system.calls.first?.hasConnected ?? false }
            #expect(app.callManager.calls.map(\.handle) == ["2002"])
            #expect(system.calls.first?.isOutgoing == true)
            #expect(system.calls.first?.handle == CXHandle(type: .phoneNumber, value: "2002"))
            await until { app.providerDelegate.trace == ["configure", "start audio"] }
            app.callManager.end(call: app.callManager.calls[0])
            await until { system.calls.isEmpty }
        }

        @Test func `Hotline's extension blocks and identifies, then takes its block back`() async throws {
            let directories = CallDirectories()
            directories.register("hotline.directory") { CallDirectoryHandler() }
            (system.directories, system.enabledDirectories) = (directories, ["hotline.directory"])
            try await CallSystem.$current.withValue(system) {
                try await CXCallDirectoryManager.sharedInstance.reloadExtension(withIdentifier: "hotline.directory")
            }
            let app = CallSystem.$current.withValue(system) { MonkeyProviderDelegate() }
            #expect(await app.report(UUID(), from: "1234") == "blocked")
            #expect(await app.report(UUID(), from: "1111") == "rings")
            #expect(system.calls.first?.displayName == "RW Tutorial Team")
            system.reset()
            try await system.directoryManager.reloadExtension(withIdentifier: "hotline.directory")
            #expect(await app.report(UUID(), from: "1234") == "rings")
        }

        @Test(arguments: [("monkeycall://+390123", "+390123"), ("https://example.com", nil), ("monkeycall:x", nil)] as [(String, String?)])
        func `MC-20 MC-22 a URL starts a call, or is not the app's`(url: String, handle: String?) async {
            let app = monkeyCall()
            #expect(CallSystem.$current.withValue(system) { Host.open(url) } == (handle != nil))
            guard let handle else { return #expect(system.calls == []) }
            await until { system.calls.first?.hasConnected ?? false }
            #expect(system.calls.first?.handle == CXHandle(type: .generic, value: handle))
            // Its request was answered before the app is let go of.
            await until { app.manager.seen.contains("requested") && app.manager.seen.contains("connected") }
            #expect(MonkeyCallManager.lastError == nil)
        }

        @Test(
            arguments: [
                (INStartAudioCallIntent(destinationType: .normal, contacts: [person]), "+3901", false),
                (INStartVideoCallIntent(contacts: [person]), "+3901", true), (videoCall, "+3901", true),
                (INStartAudioCallIntent(contacts: []), nil, false), (INStartAudioCallIntent(contacts: nil), nil, false),
                (INIntent(), nil, false),
            ] as [(INIntent, String?, Bool)])
        func `MC-21 AD-17 an activity starts a call, or is not the app's`(intent: INIntent, handle: String?, video: Bool) async {
            let activity = NSUserActivity(hookswitch: INInteraction(intent: intent, response: nil))
            #expect(activity.activityType == "\(type(of: intent))")
            let request = StartCallRequest(activity: activity)
            #expect(request?.handle == handle)
            #expect(request?.video ?? false == video)
            #expect(request.map { $0.type == .phoneNumber } ?? true)
            #expect(StartCallRequest(activity: NSUserActivity(activityType: INStartAudioCallIntentIdentifier)) == nil)
        }

        @Test func `OF-16 a push is reported, and the host hears when that is done`() async {
            let app = CallSystem.$current.withValue(system) { MonkeyProviderDelegate() }
            let registry = PKPushRegistry(queue: .main)
            registry.delegate = app
            let payload = PKPushPayload(hookswitch: ["handle": "mary"])
            #expect(!registry.hookswitchDeliver(payload))
            registry.desiredPushTypes = [.voIP]
            #expect(PKPushRegistry.hookswitchRegistries(for: .voIP).contains(registry))
            registry.hookswitchUpdate(token: Data([0xab, 1]), for: .voIP)
            await withCheckedContinuation { continuation in
                #expect(registry.hookswitchDeliver(payload) { continuation.resume() })
            }
            #expect(app.pushes == ["ab01", "mary true"])
            #expect(registry.pushToken(for: .voIP) == Data([0xab, 1]))
            #expect(system.calls.map { $0.handle?.value } == ["mary"])
        }

        @Test func `an app hears of interruptions and routes that its tests post`() throws {
            let keeper = AudioRouteKeeper(), headphones = AVAudioSessionPortDescription(hookswitch: .headphones, name: "Headphones")
            func post(_ name: Notification.Name, _ userInfo: [AnyHashable: Any]) {
                NotificationCenter.default.post(name: name, object: AVAudioSession.sharedInstance(), userInfo: userInfo)
            }
            post(
                AVAudioSession.interruptionNotification, [AVAudioSessionInterruptionTypeKey: AVAudioSession.InterruptionType.began.rawValue]
            )
            post(
                AVAudioSession.interruptionNotification,
                [AVAudioSessionInterruptionTypeKey: UInt(0), AVAudioSessionInterruptionOptionKey: UInt(1)])
            post(AVAudioSession.routeChangeNotification, [AVAudioSessionRouteChangeReasonKey: UInt(1)])
            let route = AVAudioSessionRouteDescription(hookswitch: [], outputs: [headphones])
            post(
                AVAudioSession.routeChangeNotification,
                [AVAudioSessionRouteChangeReasonKey: UInt(2), AVAudioSessionRouteChangePreviousRouteKey: route])
            post(AVAudioSession.routeChangeNotification, [AVAudioSessionRouteChangeReasonKey: UInt(8)])
            #expect(keeper.trace == ["began", "resume", "headphones: false", "had headphones: true", "routeConfigurationChange"])
            try keeper.preferBuiltInMicrophone()
            #expect(AVAudioSession.sharedInstance().preferredInput == nil)
        }

        @Test func `what an app learns from an error bridged to NSError`() async {
            let errors: [Error?] = [
                nil, CXErrorCodeIncomingCallError(.filteredByBlockList), CXErrorCodeIncomingCallError(.filteredByDoNotDisturb),
                CXErrorCodeIncomingCallError(.callUUIDAlreadyExists), CXErrorCodeIncomingCallError(.unentitled),
                CXErrorCodeRequestTransactionError(.emptyTransaction),
            ]
            #expect(errors.map(MonkeyProviderDelegate.explanation) == ["none", "blocked", "do not disturb", "again", "unknown", "other"])
        }
    }
}

private let person = INPerson(
    personHandle: INPersonHandle(value: "+3901", type: .phoneNumber), nameComponents: nil, displayName: nil, image: nil,
    contactIdentifier: nil,
    customIdentifier: nil)

private let videoCall = INStartCallIntent(
    callRecordFilter: nil, callRecordToCallBack: nil, audioRoute: .unknown, destinationType: .normal, contacts: [person],
    callCapability: .videoCall)
