@_exported import Foundation

/// The part of Intents that call code touches: the wish to start a call, as the recents, a contact card or Siri have it.
open class INIntent: NSObject, @unchecked Sendable {
    /// A name for the wish; nil unless somebody gave one.
    open var identifier: String?
}

open class INIntentResponse: NSObject, @unchecked Sendable {
    open var userActivity: NSUserActivity?
}

public enum INCallCapability: Int, Sendable {
    case unknown = 0, audioCall = 1, videoCall = 2
}

public enum INCallDestinationType: Int, Sendable {
    case unknown = 0, normal = 1, emergency = 2, voicemail = 3, redial = 4, callBack = 5
}

public enum INCallAudioRoute: Int, Sendable {
    case unknown = 0, speakerphoneAudioRoute = 1, bluetoothAudioRoute = 2
}

/// Start a call without video.
open class INStartAudioCallIntent: INIntent, @unchecked Sendable {
    public let destinationType: INCallDestinationType
    public let contacts: [INPerson]?

    public init(destinationType: INCallDestinationType, contacts: [INPerson]?) {
        (self.destinationType, self.contacts) = (destinationType, contacts)
        super.init()
    }

    public convenience init(contacts: [INPerson]?) { self.init(destinationType: .unknown, contacts: contacts) }
}

/// Start a call with video.
open class INStartVideoCallIntent: INIntent, @unchecked Sendable {
    public let contacts: [INPerson]?

    public init(contacts: [INPerson]?) {
        self.contacts = contacts
        super.init()
    }
}

/// Start a call; since iOS 13 in place of the two others.
open class INStartCallIntent: INIntent, @unchecked Sendable {
    public let callRecordFilter: INCallRecordFilter?
    public let callRecordToCallBack: INCallRecord?
    public let audioRoute: INCallAudioRoute
    public let destinationType: INCallDestinationType
    public let contacts: [INPerson]?
    public let callCapability: INCallCapability

    public init(
        callRecordFilter: INCallRecordFilter?, callRecordToCallBack: INCallRecord?, audioRoute: INCallAudioRoute,
        destinationType: INCallDestinationType, contacts: [INPerson]?, callCapability: INCallCapability
    ) {
        (self.callRecordFilter, self.callRecordToCallBack) = (callRecordFilter, callRecordToCallBack)
        (self.audioRoute, self.destinationType) = (audioRoute, destinationType)
        (self.contacts, self.callCapability) = (contacts, callCapability)
        super.init()
    }
}

/// An app's response to an `INStartCallIntent`.
open class INStartCallIntentResponse: INIntentResponse, @unchecked Sendable {
    public let code: INStartCallIntentResponseCode

    public init(code: INStartCallIntentResponseCode, userActivity: NSUserActivity?) {
        self.code = code
        super.init()
        self.userActivity = userActivity
    }
}

public enum INStartCallIntentResponseCode: Int, Sendable {
    case unspecified = 0, ready = 1, continueInApp = 2, userConfirmationRequired = 3, failure = 4, failureRequiringAppLaunch = 5
    case failureCallingServiceNotAvailable = 6, failureContactNotSupportedByApp = 7, failureAirplaneModeEnabled = 8
    case failureUnableToHandOff = 9, failureAppConfigurationRequired = 10, failureCallInProgress = 11, failureCallRinging = 12
}

/// The activity types of the three intents.
public let INStartAudioCallIntentIdentifier = "INStartAudioCallIntent"
public let INStartVideoCallIntentIdentifier = "INStartVideoCallIntent"
public let INStartCallIntentIdentifier = "INStartCallIntent"
