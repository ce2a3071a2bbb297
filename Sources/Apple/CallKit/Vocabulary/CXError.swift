import Foundation

/// The parts that all CallKit errors have in common: a domain, a code and (on a telephone always empty) user information.
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
    /// The number of the code, for `NSError`.
    public var errorCode: Int { code.rawValue }
    /// Domain and number in one sentence of English; no text for a user.
    public var localizedDescription: String {
        "The operation couldn’t be completed. (\(Self.errorDomain) error \(code.rawValue).)"
    }
    /// Equal codes; `userInfo` does not count.
    public static func == (left: Self, right: Self) -> Bool { left.code == right.code }
    /// Hashes the code.
    public func hash(into hasher: inout Hasher) { hasher.combine(code) }
}

/// The domain of `CXError`.
public let CXErrorDomain = "com.apple.CallKit.error"
/// The domain of `CXErrorCodeIncomingCallError`.
public let CXErrorDomainIncomingCall = "com.apple.CallKit.error.incomingcall"
/// The domain of `CXErrorCodeRequestTransactionError`.
public let CXErrorDomainRequestTransaction = "com.apple.CallKit.error.requesttransaction"
/// The domain of `CXErrorCodeCallDirectoryManagerError`.
public let CXErrorDomainCallDirectoryManager = "com.apple.CallKit.error.calldirectorymanager"
/// The domain of `CXErrorCodeNotificationServiceExtensionError`.
public let CXErrorDomainNotificationServiceExtension = "com.apple.CallKit.error.notificationserviceextension"

/// A general CallKit error.
public struct CXError: CallKitError, @unchecked Sendable {
    /// The numbers that apps know these errors by.
    public enum Code: Int, CallKitErrorCode {
        /// The error that has these codes.
        public typealias Failure = CXError
        case unknownError = 0, unentitled, invalidArgument, missingVoIPBackgroundMode
    }
    /// The error. Two errors of one code are equal.
    public let code: Code
    /// Further values; the system gives none.
    public let userInfo: [String: Any]
    /// `userInfo`, for `NSError`.
    public var errorUserInfo: [String: Any] { userInfo }
    /// The domain that `NSError` has for it.
    public static var errorDomain: String { CXErrorDomain }
    /// For apps that throw or compare errors by themselves.
    public init(_ code: Code, userInfo: [String: Any] = [:]) { (self.code, self.userInfo) = (code, userInfo) }

    /// No cause is known. This system never says so.
    public static var unknownError: Code { .unknownError }
    /// The app lacks an entitlement. This system never says so.
    public static var unentitled: Code { .unentitled }
    /// An argument cannot be used. This system never says so.
    public static var invalidArgument: Code { .invalidArgument }
    /// The app does not declare that it runs in the background for calls. This system never says so.
    public static var missingVoIPBackgroundMode: Code { .missingVoIPBackgroundMode }
}

/// Why the system did not admit an incoming call.
public struct CXErrorCodeIncomingCallError: CallKitError, @unchecked Sendable {
    /// The numbers that apps know these errors by.
    public enum Code: Int, CallKitErrorCode {
        /// The error that has these codes.
        public typealias Failure = CXErrorCodeIncomingCallError
        case unknown = 0, unentitled, callUUIDAlreadyExists, filteredByDoNotDisturb, filteredByBlockList
        case filteredDuringRestrictedSharingMode, callIsProtected, filteredBySensitiveParticipants
    }
    /// The error. Two errors of one code are equal.
    public let code: Code
    /// Further values; the system gives none.
    public let userInfo: [String: Any]
    /// `userInfo`, for `NSError`.
    public var errorUserInfo: [String: Any] { userInfo }
    /// The domain that `NSError` has for it.
    public static var errorDomain: String { CXErrorDomainIncomingCall }
    /// For apps that throw or compare errors by themselves.
    public init(_ code: Code, userInfo: [String: Any] = [:]) { (self.code, self.userInfo) = (code, userInfo) }

    /// No cause is known; here also: the provider has as many groups as it may have, where the system is set so.
    public static var unknown: Code { .unknown }
    /// The app, or here the line, may not take calls.
    public static var unentitled: Code { .unentitled }
    /// A call of that UUID exists.
    public static var callUUIDAlreadyExists: Code { .callUUIDAlreadyExists }
    /// Do Not Disturb is on, and the caller is no exception.
    public static var filteredByDoNotDisturb: Code { .filteredByDoNotDisturb }
    /// The block list or an enabled call directory has the caller’s number.
    public static var filteredByBlockList: Code { .filteredByBlockList }
    /// The screen is shared, and calls are kept away meanwhile. This system never says so.
    public static var filteredDuringRestrictedSharingMode: Code { .filteredDuringRestrictedSharingMode }
    /// The call is protected from apps. This system never says so.
    public static var callIsProtected: Code { .callIsProtected }
    /// Somebody in the call is not to be shown. This system never says so.
    public static var filteredBySensitiveParticipants: Code { .filteredBySensitiveParticipants }
}

/// Why the system did not accept a transaction.
public struct CXErrorCodeRequestTransactionError: CallKitError, @unchecked Sendable {
    /// The numbers that apps know these errors by.
    public enum Code: Int, CallKitErrorCode {
        /// The error that has these codes.
        public typealias Failure = CXErrorCodeRequestTransactionError
        case unknown = 0, unentitled, unknownCallProvider, emptyTransaction, unknownCallUUID, callUUIDAlreadyExists
        case invalidAction, maximumCallGroupsReached, callIsProtected
    }
    /// The error. Two errors of one code are equal.
    public let code: Code
    /// Further values; the system gives none.
    public let userInfo: [String: Any]
    /// `userInfo`, for `NSError`.
    public var errorUserInfo: [String: Any] { userInfo }
    /// The domain that `NSError` has for it.
    public static var errorDomain: String { CXErrorDomainRequestTransaction }
    /// For apps that throw or compare errors by themselves.
    public init(_ code: Code, userInfo: [String: Any] = [:]) { (self.code, self.userInfo) = (code, userInfo) }

    /// No cause is known.
    public static var unknown: Code { .unknown }
    /// The app may not make calls. This system never says so.
    public static var unentitled: Code { .unentitled }
    /// No provider is registered, or the call belongs to another one.
    public static var unknownCallProvider: Code { .unknownCallProvider }
    /// The transaction has no actions.
    public static var emptyTransaction: Code { .emptyTransaction }
    /// An action names a call that does not exist.
    public static var unknownCallUUID: Code { .unknownCallUUID }
    /// A call of the UUID that is to be started exists.
    public static var callUUIDAlreadyExists: Code { .callUUIDAlreadyExists }
    /// The action does not fit the state or the capabilities of its call, as an answer to a call that is answered.
    public static var invalidAction: Code { .invalidAction }
    /// The provider would have more groups of calls than `maximumCallGroups`.
    public static var maximumCallGroupsReached: Code { .maximumCallGroupsReached }
    /// The call is protected from apps. This system never says so.
    public static var callIsProtected: Code { .callIsProtected }
}

/// Why a call directory could not be loaded.
public struct CXErrorCodeCallDirectoryManagerError: CallKitError, @unchecked Sendable {
    /// The numbers that apps know these errors by.
    public enum Code: Int, CallKitErrorCode {
        /// The error that has these codes.
        public typealias Failure = CXErrorCodeCallDirectoryManagerError
        case unknown = 0, noExtensionFound, loadingInterrupted, entriesOutOfOrder, duplicateEntries
        case maximumEntriesExceeded, extensionDisabled, currentlyLoading, unexpectedIncrementalRemoval
    }
    /// The error. Two errors of one code are equal.
    public let code: Code
    /// Further values; the system gives none.
    public let userInfo: [String: Any]
    /// `userInfo`, for `NSError`.
    public var errorUserInfo: [String: Any] { userInfo }
    /// The domain that `NSError` has for it.
    public static var errorDomain: String { CXErrorDomainCallDirectoryManager }
    /// For apps that throw or compare errors by themselves.
    public init(_ code: Code, userInfo: [String: Any] = [:]) { (self.code, self.userInfo) = (code, userInfo) }

    /// No cause is known.
    public static var unknown: Code { .unknown }
    /// No directory has that identifier.
    public static var noExtensionFound: Code { .noExtensionFound }
    /// The load came to no end: the file cannot be read, or the extension gave up.
    public static var loadingInterrupted: Code { .loadingInterrupted }
    /// The numbers do not ascend, or one is beyond `CXCallDirectoryPhoneNumberMax`.
    public static var entriesOutOfOrder: Code { .entriesOutOfOrder }
    /// A number is blocked twice, or has a label twice.
    public static var duplicateEntries: Code { .duplicateEntries }
    /// There are more entries, labels or bytes of a label than the limits allow.
    public static var maximumEntriesExceeded: Code { .maximumEntriesExceeded }
    public static var extensionDisabled: Code { .extensionDisabled }
    /// The directory is being loaded already.
    public static var currentlyLoading: Code { .currentlyLoading }
    /// Entries are taken out though the request is not incremental, or one that is not there, or one twice.
    public static var unexpectedIncrementalRemoval: Code { .unexpectedIncrementalRemoval }
}

/// Why a VoIP push could not be reported from a notification service extension.
public struct CXErrorCodeNotificationServiceExtensionError: CallKitError, @unchecked Sendable {
    /// The numbers that apps know these errors by.
    public enum Code: Int, CallKitErrorCode {
        /// The error that has these codes.
        public typealias Failure = CXErrorCodeNotificationServiceExtensionError
        case unknown = 0, invalidClientProcess, missingNotificationFilteringEntitlement
    }
    /// The error. Two errors of one code are equal.
    public let code: Code
    /// Further values; the system gives none.
    public let userInfo: [String: Any]
    /// `userInfo`, for `NSError`.
    public var errorUserInfo: [String: Any] { userInfo }
    /// The domain that `NSError` has for it.
    public static var errorDomain: String { CXErrorDomainNotificationServiceExtension }
    /// For apps that throw or compare errors by themselves.
    public init(_ code: Code, userInfo: [String: Any] = [:]) { (self.code, self.userInfo) = (code, userInfo) }

    /// No cause is known. This system never says so.
    public static var unknown: Code { .unknown }
    /// The caller is no notification service extension. This system never says so.
    public static var invalidClientProcess: Code { .invalidClientProcess }
    /// The extension may not filter notifications; here: nobody takes VoIP pushes.
    public static var missingNotificationFilteringEntitlement: Code { .missingNotificationFilteringEntitlement }
}
