import AVFAudio
import AudioToolbox
import Foundation
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
}
