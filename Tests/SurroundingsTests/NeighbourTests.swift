import AVFAudio
import AudioToolbox
import Foundation
import HookswitchNetwork
import Intents
import SystemConfiguration
import Testing
import UserNotifications

@testable import HookswitchOS

@Suite struct NeighbourTests {
    @Test func `a private part of a message is not shown`() {
        let name = "1001", message: OSLogMessage = "call \(name) \(7) \(true) \(name, privacy: .public) \(7, privacy: .private)"
        #expect(message.text == "call <private> 7 true 1001 <private>")
    }

    @Test(arguments: [
        ("%@ %d %{public}@ %%", "<private> 7 1002 %"), ("%{private}@", "<private>"), ("%", "%"), ("%{public", "%{public"),
        ("%{public}@ %5.2d end", "1001 7 end"),
        ("%s %ld %@ %@", "<private> 7 <private> (missing)"),
    ]) func `os_log shows what its format says is public`(format: String, expected: String) {
        #expect(FormattedMessage(format, ["1001", 7, "1002"]).text == expected)
    }

    @Test func `notifications are kept until they are removed`() async throws {
        let center = UNUserNotificationCenter.current(), content = UNMutableNotificationContent()
        content.title = "Missed call"
        #expect(try await center.requestAuthorization(options: [.alert]))
        try await center.add(UNNotificationRequest(identifier: "missed", content: content, trigger: nil))
        #expect(center.hookswitchPending.map(\.content.title) == ["Missed call"])
        center.removePendingNotificationRequests(withIdentifiers: ["missed"])
        #expect(center.hookswitchPending.isEmpty)
    }

    @Test func `a player plays until it is stopped, and needs its file`() throws {
        let player = try AVAudioPlayer(contentsOf: URL(filePath: #filePath))
        #expect(player.play() && player.isPlaying)
        player.stop()
        #expect(!player.isPlaying)
        #expect(throws: CocoaError.self) { try AVAudioPlayer(contentsOf: URL(filePath: "/missing.caf")) }
    }

    @Test func `an extension handles the intent to start a call`() {
        final class Handler: INExtension, INStartCallIntentHandling, @unchecked Sendable {
            func handle(intent: INStartCallIntent, completion: @escaping (INStartCallIntentResponse) -> Void) {
                completion(INStartCallIntentResponse(code: .continueInApp, userActivity: nil))
            }
        }
        let person = INPerson(
            personHandle: INPersonHandle(value: "1001", type: .phoneNumber), nameComponents: nil, displayName: nil, image: nil,
            contactIdentifier: nil, customIdentifier: nil)
        let intent = INStartCallIntent(
            callRecordFilter: nil, callRecordToCallBack: nil, audioRoute: .unknown, destinationType: .normal, contacts: [person],
            callCapability: .audioCall)
        let handler = Handler().handler(for: intent) as? any INStartCallIntentHandling
        var codes: [INStartCallIntentResponseCode] = [], resolved: [INPersonResolutionResult] = []
        handler?.confirm(intent: intent) { codes.append($0.code) }
        handler?.handle(intent: intent) { codes.append($0.code) }
        handler?.resolveContacts(for: intent) { resolved = $0 }
        #expect(codes == [.ready, .continueInApp])
        #expect(resolved.map(\.hookswitchOutcome) == [.success] && resolved.first?.hookswitchPersons == [person])
    }

    @Test func `names of Swift 4 mode are those of today`() throws {
        let session = AVAudioSession()
        try session.setCategory(AVAudioSessionCategoryPlayAndRecord, with: .allowBluetooth)
        #expect(session.category == .playAndRecord && session.categoryOptions == .allowBluetooth)
        #expect(session.recordPermission() == .granted && AVAudioSessionPortHeadphones == "Headphones")
        #expect(Notification.Name.AVAudioSessionRouteChange == AVAudioSession.routeChangeNotification)
    }

    @Test func `the device is a server with one channel each way, and its network is there`() {
        let session = AVAudioSession.sharedInstance()
        #expect(session.inputNumberOfChannels == 1 && session.outputNumberOfChannels == 1 && !session.isOtherAudioPlaying)
        var flags = SCNetworkReachabilityFlags(), sound: SystemSoundID = 0
        #expect(SCNetworkReachabilityGetFlags(SCNetworkReachabilityCreateWithName(nil, "example.com")!, &flags) && flags == .reachable)
        #expect(AudioServicesCreateSystemSoundID(NSURL(fileURLWithPath: "/a.caf"), &sound) == 0 && sound == 1)
    }

    @Test func `the path to the network is there, and its observer hears so once`() async {
        let monitor = NWPathMonitor()
        let path = await withCheckedContinuation { (heard: CheckedContinuation<NWPath, Never>) in
            monitor.pathUpdateHandler = { heard.resume(returning: $0) }
            monitor.start(queue: .global())
            monitor.start(queue: .global())
        }
        #expect(path.status == .satisfied && path == monitor.currentPath && !path.isExpensive && !path.isConstrained)
        #expect(path.usesInterfaceType(.wiredEthernet) && !path.usesInterfaceType(.cellular))
        monitor.cancel()
        #expect(monitor.pathUpdateHandler == nil)
    }

    @Test func `the app's categories of notifications are those that it set`() async {
        let center = UNUserNotificationCenter.current()
        let missed = UNNotificationCategory(identifier: "missed", actions: [], intentIdentifiers: [], options: [])
        center.setNotificationCategories([missed])
        let categories = await withCheckedContinuation { heard in center.getNotificationCategories { heard.resume(returning: $0) } }
        #expect(categories == [missed])
        #expect(await center.notificationCategories() == [missed])
        #expect(await center.notificationSettings().alertSetting == .enabled)
        #expect(await center.deliveredNotifications().isEmpty)
        center.setNotificationCategories([])
    }

    @Test func `an app hears of its own wish to mute`() throws {
        let app = AVAudioApplication.shared
        nonisolated(unsafe) var heard: [Bool?] = []
        let token = NotificationCenter.default.addObserver(
            forName: AVAudioApplication.inputMuteStateChangeNotification, object: app, queue: nil
        ) { heard.append($0.userInfo?[AVAudioApplication.muteStateKey] as? Bool) }
        try app.setInputMuted(true)
        try app.setInputMuted(true)
        #expect(app.isInputMuted && heard == [true])
        try app.setInputMuted(false)
        #expect(heard == [true, false])
        NotificationCenter.default.removeObserver(token)
    }

    @Test func `wishes of call code that have no effect here are taken`() async throws {
        let session = AVAudioSession.sharedInstance(), camera = AVCaptureSession(), output = AVCaptureVideoDataOutput()
        try session.setAllowHapticsAndSystemSoundsDuringRecording(true)
        try session.setPrefersNoInterruptionsFromSystemAlerts(true)
        try session.setPreferredInputNumberOfChannels(2)
        #expect(session.inputNumberOfChannels == 1 && session.promptStyle == .normal)
        camera.addOutput(output)
        camera.removeOutput(output)
        #expect(camera.outputs.isEmpty && !camera.isMultitaskingCameraAccessSupported)
        #expect(kAudioServicesNoError == noErr && AVFileType.wav.rawValue == "com.microsoft.waveform-audio")
        #expect(INPersonHandle(value: "1001", type: .phoneNumber, label: .work).label == .work)
        let siri = await withCheckedContinuation { heard in INPreferences.requestSiriAuthorization { heard.resume(returning: $0) } }
        #expect(siri == .authorized)
    }
}
