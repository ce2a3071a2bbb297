import Foundation

public enum INPersonHandleType: Int, Sendable {
    case unknown = 0, emailAddress = 1, phoneNumber = 2
}

/// How a person can be reached.
open class INPersonHandle: NSObject, @unchecked Sendable {
    public let value: String?
    public let type: INPersonHandleType

    public init(value: String?, type: INPersonHandleType) {
        (self.value, self.type) = (value, type)
        super.init()
    }
}

/// Somebody to call.
open class INPerson: NSObject, @unchecked Sendable {
    public let personHandle: INPersonHandle?
    public let displayName: String
    public let contactIdentifier: String?
    public let customIdentifier: String?

    public init(personHandle: INPersonHandle, displayName: String?, contactIdentifier: String?, customIdentifier: String? = nil) {
        (self.personHandle, self.displayName) = (personHandle, displayName ?? personHandle.value ?? "")
        (self.contactIdentifier, self.customIdentifier) = (contactIdentifier, customIdentifier)
        super.init()
    }
}
