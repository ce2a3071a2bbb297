import Foundation

public enum INCallRecordType: Int, Sendable {
    case unknown = 0, outgoing = 1, missed = 2, received = 3, latest = 4, voicemail = 5, ringing = 6, inProgress = 7, onHold = 8
}

public struct INCallRecordTypeOptions: OptionSet, Hashable, Sendable {
    public let rawValue: UInt
    public init(rawValue: UInt) { self.rawValue = rawValue }

    public static let outgoing = INCallRecordTypeOptions(rawValue: 1 << 0)
    public static let missed = INCallRecordTypeOptions(rawValue: 1 << 1)
    public static let received = INCallRecordTypeOptions(rawValue: 1 << 2)
    public static let latest = INCallRecordTypeOptions(rawValue: 1 << 3)
    public static let voicemail = INCallRecordTypeOptions(rawValue: 1 << 4)
    public static let ringing = INCallRecordTypeOptions(rawValue: 1 << 5)
    public static let inProgress = INCallRecordTypeOptions(rawValue: 1 << 6)
    public static let onHold = INCallRecordTypeOptions(rawValue: 1 << 7)
}

/// A call of the past that is to be called back. Only the app makes one here: the recents say whom to call as a contact.
open class INCallRecord: NSObject, @unchecked Sendable {
    public let identifier: String
    public let dateCreated: Date?
    public let callRecordType: INCallRecordType
    public let callCapability: INCallCapability
    /// Seconds.
    public let callDuration: Double?
    public let unseen: Bool?

    public init(
        identifier: String, dateCreated: Date?, callRecordType: INCallRecordType, callCapability: INCallCapability, callDuration: Double?,
        unseen: Bool?
    ) {
        (self.identifier, self.dateCreated, self.callRecordType) = (identifier, dateCreated, callRecordType)
        (self.callCapability, self.callDuration, self.unseen) = (callCapability, callDuration, unseen)
        super.init()
    }
}

/// The filter for calls of the past. Only the app makes one here.
open class INCallRecordFilter: NSObject, @unchecked Sendable {
    public let participants: [INPerson]?
    public let callTypes: INCallRecordTypeOptions
    public let callCapability: INCallCapability

    public init(participants: [INPerson]?, callTypes: INCallRecordTypeOptions, callCapability: INCallCapability) {
        (self.participants, self.callTypes, self.callCapability) = (participants, callTypes, callCapability)
        super.init()
    }
}
