import Foundation
import Intents
import Testing

/// Wishes to call, as Apple's code writes them.
@Suite struct IntentTests {
    private func person(_ name: String?, _ components: PersonNameComponents? = nil) -> INPerson {
        INPerson(
            personHandle: INPersonHandle(value: "+3901", type: .phoneNumber), nameComponents: components, displayName: name,
            image: INImage(imageData: Data([1])), contactIdentifier: "contact", customIdentifier: "custom")
    }

    @Test func `a person is shown by name, else by its components, else by handle`() {
        var components = PersonNameComponents()
        #expect(person("Mary", components).displayName == "Mary")
        #expect(person(nil, components).displayName == "+3901")
        (components.givenName, components.familyName) = ("Mary", "Jones")
        #expect(person(nil, components).displayName == "Mary Jones")
        #expect(person(nil).contactIdentifier == "contact" && person(nil).customIdentifier == "custom" && person(nil).image != nil)
    }

    @Test func `an intent says all that it was made with`() {
        let record = INCallRecord(
            identifier: "1", dateCreated: nil, callRecordType: .missed, callCapability: .audioCall, callDuration: 2.5, unseen: true)
        let filter = INCallRecordFilter(participants: [person("Mary")], callTypes: [.missed, .received], callCapability: .audioCall)
        let intent = INStartCallIntent(
            callRecordFilter: filter, callRecordToCallBack: record, audioRoute: .bluetoothAudioRoute, destinationType: .callBack,
            contacts: [person("Mary")], callCapability: .videoCall)
        #expect(intent.callRecordFilter === filter && filter.callTypes.rawValue == 6 && filter.participants?.count == 1)
        #expect(intent.callRecordToCallBack?.callRecordType == .missed && record.callDuration == 2.5 && record.unseen == true)
        #expect(intent.audioRoute == .bluetoothAudioRoute && intent.destinationType == .callBack && intent.callCapability == .videoCall)
        #expect(intent.contacts?.map(\.displayName) == ["Mary"])
        #expect(INStartAudioCallIntent(destinationType: .redial, contacts: nil).destinationType == .redial)
        #expect(INStartAudioCallIntent(contacts: []).contacts == [])
    }

    @Test func `raw values are Apple's`() {
        #expect([INCallAudioRoute.unknown, .speakerphoneAudioRoute, .bluetoothAudioRoute].map(\.rawValue) == [0, 1, 2])
        #expect(
            [INCallRecordType.unknown, .outgoing, .missed, .received, .latest, .voicemail, .ringing, .inProgress, .onHold].map(\.rawValue)
                == Array(0...8))
        let codes: [INStartCallIntentResponseCode] = [
            .unspecified, .ready, .continueInApp, .userConfirmationRequired, .failure, .failureRequiringAppLaunch,
            .failureCallingServiceNotAvailable,
            .failureContactNotSupportedByApp, .failureAirplaneModeEnabled, .failureUnableToHandOff, .failureAppConfigurationRequired,
            .failureCallInProgress, .failureCallRinging,
        ]
        #expect(codes.map(\.rawValue) == Array(0...12))
    }

    @Test func `a donation succeeds`() async throws {
        let activity = NSUserActivity(activityType: INStartCallIntentIdentifier)
        activity.isEligibleForHandoff = false
        activity.addUserInfoEntries(from: ["handle": "mary"])
        activity.addUserInfoEntries(from: ["handle": "john"])
        activity.becomeCurrent()
        let response = INStartCallIntentResponse(code: .continueInApp, userActivity: activity)
        let interaction = INInteraction(intent: INStartVideoCallIntent(contacts: [person("Mary")]), response: response)
        interaction.direction = .incoming
        let error = await withCheckedContinuation { continuation in interaction.donate { continuation.resume(returning: $0) } }
        #expect(error == nil)
        try await interaction.donate()
        #expect((interaction.intentResponse as? INStartCallIntentResponse)?.code == .continueInApp)
        #expect(response.userActivity?.userInfo?["handle"] as? String == "john" && activity.isEligibleForHandoff == false)
        #expect(!interaction.identifier.isEmpty && interaction.groupIdentifier == nil && interaction.dateInterval?.duration == 0)
    }
}
