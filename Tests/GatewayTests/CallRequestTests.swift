import CallKit
import Foundation
import Intents
import Testing

@testable import Gateway

@Suite struct CallRequestTests {
    @Test(arguments: [
        ("tel:+39-055-1234567", CXHandle.HandleType.phoneNumber, "+390551234567"), ("tel:1002;phone-context=+39", .phoneNumber, "1002"),
        ("sip:alice@example.test;transport=tcp", .generic, "sip:alice@example.test"), ("hookswitch://1002", .phoneNumber, "1002"),
        ("hookswitch://alice", .generic, "alice"),
    ])
    func `a URL says whom to call`(url: String, type: CXHandle.HandleType, value: String) throws {
        let request = try #require(CallRequest(url: URL(string: url)!))
        #expect(request.handle.type == type && request.handle.value == value && !request.isVideo)
    }

    @Test(arguments: ["https://example.test/1002", "sip:example.test", "tel:", "hookswitch:", "monkeycall://1002"])
    func `any other URL is nobody's`(url: String) { #expect(URL(string: url).flatMap { CallRequest(url: $0) } == nil) }

    private func startCall(_ contacts: [INPerson]?, _ capability: INCallCapability) -> INStartCallIntent {
        INStartCallIntent(
            callRecordFilter: nil, callRecordToCallBack: nil, audioRoute: .unknown, destinationType: .normal, contacts: contacts,
            callCapability: capability)
    }

    @Test func `AD-17: an activity says whom to call, how the handle is meant, and whether with video`() throws {
        func activity(_ make: ([INPerson]?) -> INIntent, _ type: INPersonHandleType) -> CallRequest? {
            let person = INPerson(
                personHandle: INPersonHandle(value: "1002", type: type), nameComponents: nil, displayName: nil, image: nil,
                contactIdentifier: nil,
                customIdentifier: nil)
            return CallRequest(activity: NSUserActivity(hookswitch: INInteraction(intent: make([person]), response: nil)))
        }
        let audio = try #require(activity({ INStartAudioCallIntent(destinationType: .normal, contacts: $0) }, .phoneNumber))
        #expect(audio.handle.type == .phoneNumber && audio.handle.value == "1002" && !audio.isVideo)
        #expect(activity({ INStartVideoCallIntent(contacts: $0) }, .emailAddress)?.handle.type == .emailAddress)
        #expect(activity({ INStartVideoCallIntent(contacts: $0) }, .unknown)?.isVideo == true)
        #expect(activity({ startCall($0, .videoCall) }, .unknown)?.handle.type == .generic)
        #expect(CallRequest(activity: NSUserActivity(activityType: "other")) == nil)
        #expect(CallRequest(activity: NSUserActivity(hookswitch: INInteraction(intent: startCall([], .audioCall), response: nil))) == nil)
    }
}
