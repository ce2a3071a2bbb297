@_exported import Foundation

/// The part of Intents that call code touches: the wish to start a call, as the recents, a contact card or Siri have it.
open class INIntent: NSObject, @unchecked Sendable {
    /// A name for the wish; nil unless somebody gave one.
    open var identifier: String?
}

open class INIntentResponse: NSObject, @unchecked Sendable {
    open var userActivity: NSUserActivity?
}

/// Start a call without video.
open class INStartAudioCallIntent: INIntent, @unchecked Sendable {
    public let contacts: [INPerson]?

    public init(contacts: [INPerson]?) {
        self.contacts = contacts
        super.init()
    }
}

/// Start a call with video.
open class INStartVideoCallIntent: INIntent, @unchecked Sendable {
    public let contacts: [INPerson]?

    public init(contacts: [INPerson]?) {
        self.contacts = contacts
        super.init()
    }
}

public enum INCallCapability: Int, Sendable {
    case unknown = 0, audioCall = 1, videoCall = 2
}

public enum INCallDestinationType: Int, Sendable {
    case unknown = 0, normal = 1, emergency = 2, voicemail = 3, redial = 4, callBack = 5
}

/// Start a call; since iOS 13 in place of the two others.
open class INStartCallIntent: INIntent, @unchecked Sendable {
    public let contacts: [INPerson]?
    public let callCapability: INCallCapability
    public let destinationType: INCallDestinationType

    public init(contacts: [INPerson]?, callCapability: INCallCapability, destinationType: INCallDestinationType = .normal) {
        (self.contacts, self.callCapability, self.destinationType) = (contacts, callCapability, destinationType)
        super.init()
    }
}

/// The activity types of the three intents.
public let INStartAudioCallIntentIdentifier = "INStartAudioCallIntent"
public let INStartVideoCallIntentIdentifier = "INStartVideoCallIntent"
public let INStartCallIntentIdentifier = "INStartCallIntent"

/// An intent with what came of it.
open class INInteraction: NSObject, @unchecked Sendable {
    public let intent: INIntent
    public let intentResponse: INIntentResponse?

    public init(intent: INIntent, response: INIntentResponse?) {
        (self.intent, intentResponse) = (intent, response)
        super.init()
    }
}
