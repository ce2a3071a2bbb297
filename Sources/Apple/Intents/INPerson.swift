import Foundation

public enum INPersonHandleType: Int, Sendable {
    case unknown = 0, emailAddress = 1, phoneNumber = 2
}

public struct INPersonHandleLabel: RawRepresentable, Hashable, Sendable {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }

    public static let home = INPersonHandleLabel(rawValue: "_$!<Home>!$_"), work = INPersonHandleLabel(rawValue: "_$!<Work>!$_")
    public static let mobile = INPersonHandleLabel(rawValue: "_$!<Mobile>!$_"), iPhone = INPersonHandleLabel(rawValue: "iPhone")
    public static let main = INPersonHandleLabel(rawValue: "_$!<Main>!$_"), other = INPersonHandleLabel(rawValue: "_$!<Other>!$_")
}

/// The handle by which a person can be reached.
open class INPersonHandle: NSObject, @unchecked Sendable {
    public let value: String?
    public let type: INPersonHandleType
    /// The word of an address book for it: home, work.
    public let label: INPersonHandleLabel?

    public convenience init(value: String?, type: INPersonHandleType) { self.init(value: value, type: type, label: nil) }

    public init(value: String?, type: INPersonHandleType, label: INPersonHandleLabel?) {
        (self.value, self.type, self.label) = (value, type, label)
        super.init()
    }
}

/// A picture; nothing here shows it.
open class INImage: NSObject, @unchecked Sendable {
    private let data: Data

    public init(imageData: Data) {
        data = imageData
        super.init()
    }
}

/// Somebody to call.
open class INPerson: NSObject, @unchecked Sendable {
    public let personHandle: INPersonHandle?
    public let nameComponents: PersonNameComponents?
    /// As it was given, else made of the components, else the handle's value.
    public let displayName: String
    public let image: INImage?
    public let contactIdentifier: String?
    public let customIdentifier: String?

    public init(
        personHandle: INPersonHandle, nameComponents: PersonNameComponents?, displayName: String?, image: INImage?,
        contactIdentifier: String?,
        customIdentifier: String?
    ) {
        (self.personHandle, self.nameComponents, self.image) = (personHandle, nameComponents, image)
        self.displayName = displayName ?? nameComponents?.inOrder ?? personHandle.value ?? ""
        (self.contactIdentifier, self.customIdentifier) = (contactIdentifier, customIdentifier)
        super.init()
    }
}

extension PersonNameComponents {
    /// Linux has no formatter for them. nil: there are none.
    fileprivate var inOrder: String? {
        let names = [namePrefix, givenName, middleName, familyName, nameSuffix].compactMap { $0 }
        return names.isEmpty ? nil : names.joined(separator: " ")
    }
}
