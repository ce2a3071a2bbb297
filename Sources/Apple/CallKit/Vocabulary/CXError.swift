import Foundation

/// What all CallKit errors have in common: a domain, a code and (on a telephone always empty) user information.
///
/// The structs have the shape that the Clang importer gives to `NS_ERROR_ENUM`. `error as NSError` works on Linux and has
/// the right domain and code; `error as? NSError` returns nil there and is the one idiom that does not carry over.
public protocol CallKitError: CustomNSError, Hashable {
    associatedtype Code: CallKitErrorCode where Code.Failure == Self
    var code: Code { get }
    init(_ code: Code, userInfo: [String: Any])
}

/// The codes of one CallKit error type; usable as a `catch` pattern.
public protocol CallKitErrorCode: RawRepresentable, Hashable, Sendable where RawValue == Int {
    associatedtype Failure: CallKitError where Failure.Code == Self
}

extension CallKitErrorCode {
    /// Matches the error struct and an `NSError` of the same domain and code.
    public static func ~= (code: Self, error: any Error) -> Bool {
        if let error = error as? Failure { return error.code == code }
        let bridged = error as NSError
        return bridged.domain == Failure.errorDomain && bridged.code == code.rawValue
    }
}

extension CallKitError {
    public var errorCode: Int { code.rawValue }
    public var localizedDescription: String {
        "The operation couldn’t be completed. (\(Self.errorDomain) error \(code.rawValue).)"
    }
    public static func == (left: Self, right: Self) -> Bool { left.code == right.code }
    public func hash(into hasher: inout Hasher) { hasher.combine(code) }
}

public let CXErrorDomain = "com.apple.CallKit.error"
public let CXErrorDomainIncomingCall = "com.apple.CallKit.error.incomingcall"
public let CXErrorDomainRequestTransaction = "com.apple.CallKit.error.requesttransaction"
public let CXErrorDomainCallDirectoryManager = "com.apple.CallKit.error.calldirectorymanager"
public let CXErrorDomainNotificationServiceExtension = "com.apple.CallKit.error.notificationserviceextension"

/// A general CallKit error.
public struct CXError: CallKitError, @unchecked Sendable {
    public enum Code: Int, CallKitErrorCode {
        public typealias Failure = CXError
        case unknownError = 0, unentitled, invalidArgument, missingVoIPBackgroundMode
    }
    public let code: Code
    public let userInfo: [String: Any]
    public var errorUserInfo: [String: Any] { userInfo }
    public static var errorDomain: String { CXErrorDomain }
    public init(_ code: Code, userInfo: [String: Any] = [:]) { (self.code, self.userInfo) = (code, userInfo) }

    public static var unknownError: Code { .unknownError }
    public static var unentitled: Code { .unentitled }
    public static var invalidArgument: Code { .invalidArgument }
    public static var missingVoIPBackgroundMode: Code { .missingVoIPBackgroundMode }
}

/// Why the system did not admit an incoming call.
public struct CXErrorCodeIncomingCallError: CallKitError, @unchecked Sendable {
    public enum Code: Int, CallKitErrorCode {
        public typealias Failure = CXErrorCodeIncomingCallError
        case unknown = 0, unentitled, callUUIDAlreadyExists, filteredByDoNotDisturb, filteredByBlockList
        case filteredDuringRestrictedSharingMode, callIsProtected, filteredBySensitiveParticipants
    }
    public let code: Code
    public let userInfo: [String: Any]
    public var errorUserInfo: [String: Any] { userInfo }
    public static var errorDomain: String { CXErrorDomainIncomingCall }
    public init(_ code: Code, userInfo: [String: Any] = [:]) { (self.code, self.userInfo) = (code, userInfo) }

    public static var unknown: Code { .unknown }
    public static var unentitled: Code { .unentitled }
    public static var callUUIDAlreadyExists: Code { .callUUIDAlreadyExists }
    public static var filteredByDoNotDisturb: Code { .filteredByDoNotDisturb }
    public static var filteredByBlockList: Code { .filteredByBlockList }
    public static var filteredDuringRestrictedSharingMode: Code { .filteredDuringRestrictedSharingMode }
    public static var callIsProtected: Code { .callIsProtected }
    public static var filteredBySensitiveParticipants: Code { .filteredBySensitiveParticipants }
}

/// Why the system did not accept a transaction.
public struct CXErrorCodeRequestTransactionError: CallKitError, @unchecked Sendable {
    public enum Code: Int, CallKitErrorCode {
        public typealias Failure = CXErrorCodeRequestTransactionError
        case unknown = 0, unentitled, unknownCallProvider, emptyTransaction, unknownCallUUID, callUUIDAlreadyExists
        case invalidAction, maximumCallGroupsReached, callIsProtected
    }
    public let code: Code
    public let userInfo: [String: Any]
    public var errorUserInfo: [String: Any] { userInfo }
    public static var errorDomain: String { CXErrorDomainRequestTransaction }
    public init(_ code: Code, userInfo: [String: Any] = [:]) { (self.code, self.userInfo) = (code, userInfo) }

    public static var unknown: Code { .unknown }
    public static var unentitled: Code { .unentitled }
    public static var unknownCallProvider: Code { .unknownCallProvider }
    public static var emptyTransaction: Code { .emptyTransaction }
    public static var unknownCallUUID: Code { .unknownCallUUID }
    public static var callUUIDAlreadyExists: Code { .callUUIDAlreadyExists }
    public static var invalidAction: Code { .invalidAction }
    public static var maximumCallGroupsReached: Code { .maximumCallGroupsReached }
    public static var callIsProtected: Code { .callIsProtected }
}

/// Why a call directory could not be loaded.
public struct CXErrorCodeCallDirectoryManagerError: CallKitError, @unchecked Sendable {
    public enum Code: Int, CallKitErrorCode {
        public typealias Failure = CXErrorCodeCallDirectoryManagerError
        case unknown = 0, noExtensionFound, loadingInterrupted, entriesOutOfOrder, duplicateEntries
        case maximumEntriesExceeded, extensionDisabled, currentlyLoading, unexpectedIncrementalRemoval
    }
    public let code: Code
    public let userInfo: [String: Any]
    public var errorUserInfo: [String: Any] { userInfo }
    public static var errorDomain: String { CXErrorDomainCallDirectoryManager }
    public init(_ code: Code, userInfo: [String: Any] = [:]) { (self.code, self.userInfo) = (code, userInfo) }

    public static var unknown: Code { .unknown }
    public static var noExtensionFound: Code { .noExtensionFound }
    public static var loadingInterrupted: Code { .loadingInterrupted }
    public static var entriesOutOfOrder: Code { .entriesOutOfOrder }
    public static var duplicateEntries: Code { .duplicateEntries }
    public static var maximumEntriesExceeded: Code { .maximumEntriesExceeded }
    public static var extensionDisabled: Code { .extensionDisabled }
    public static var currentlyLoading: Code { .currentlyLoading }
    public static var unexpectedIncrementalRemoval: Code { .unexpectedIncrementalRemoval }
}

/// Why a VoIP push could not be reported from a notification service extension.
public struct CXErrorCodeNotificationServiceExtensionError: CallKitError, @unchecked Sendable {
    public enum Code: Int, CallKitErrorCode {
        public typealias Failure = CXErrorCodeNotificationServiceExtensionError
        case unknown = 0, invalidClientProcess, missingNotificationFilteringEntitlement
    }
    public let code: Code
    public let userInfo: [String: Any]
    public var errorUserInfo: [String: Any] { userInfo }
    public static var errorDomain: String { CXErrorDomainNotificationServiceExtension }
    public init(_ code: Code, userInfo: [String: Any] = [:]) { (self.code, self.userInfo) = (code, userInfo) }

    public static var unknown: Code { .unknown }
    public static var invalidClientProcess: Code { .invalidClientProcess }
    public static var missingNotificationFilteringEntitlement: Code { .missingNotificationFilteringEntitlement }
}
