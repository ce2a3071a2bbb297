import Foundation

/// The handler of intents in a process of its own on a telephone. Here a host or a test makes one and asks it.
open class INExtension: NSObject, @unchecked Sendable {
    public override init() { super.init() }

    /// The object that handles an intent; the extension itself unless it is overridden.
    open func handler(for intent: INIntent) -> Any? { self }
}

// The steps of an intent: contacts and kind of call are resolved, the intent is confirmed, then handled. All but the last may be left out.

public protocol INStartAudioCallIntentHandling: NSObjectProtocol {
    func handle(intent: INStartAudioCallIntent, completion: @escaping (INStartAudioCallIntentResponse) -> Void)
    func confirm(intent: INStartAudioCallIntent, completion: @escaping (INStartAudioCallIntentResponse) -> Void)
    func resolveContacts(for intent: INStartAudioCallIntent, with completion: @escaping ([INPersonResolutionResult]) -> Void)
    func resolveDestinationType(
        for intent: INStartAudioCallIntent, with completion: @escaping (INCallDestinationTypeResolutionResult) -> Void)
}

extension INStartAudioCallIntentHandling {
    public func confirm(intent: INStartAudioCallIntent, completion: @escaping (INStartAudioCallIntentResponse) -> Void) {
        completion(INStartAudioCallIntentResponse(code: .ready, userActivity: nil))
    }
    public func resolveContacts(for intent: INStartAudioCallIntent, with completion: @escaping ([INPersonResolutionResult]) -> Void) {
        completion((intent.contacts ?? []).map { INPersonResolutionResult.success(with: $0) })
    }
    public func resolveDestinationType(
        for intent: INStartAudioCallIntent, with completion: @escaping (INCallDestinationTypeResolutionResult) -> Void
    ) { completion(.success(with: intent.destinationType)) }
}

public protocol INStartVideoCallIntentHandling: NSObjectProtocol {
    func handle(intent: INStartVideoCallIntent, completion: @escaping (INStartVideoCallIntentResponse) -> Void)
    func confirm(intent: INStartVideoCallIntent, completion: @escaping (INStartVideoCallIntentResponse) -> Void)
    func resolveContacts(for intent: INStartVideoCallIntent, with completion: @escaping ([INPersonResolutionResult]) -> Void)
}

extension INStartVideoCallIntentHandling {
    public func confirm(intent: INStartVideoCallIntent, completion: @escaping (INStartVideoCallIntentResponse) -> Void) {
        completion(INStartVideoCallIntentResponse(code: .ready, userActivity: nil))
    }
    public func resolveContacts(for intent: INStartVideoCallIntent, with completion: @escaping ([INPersonResolutionResult]) -> Void) {
        completion((intent.contacts ?? []).map { INPersonResolutionResult.success(with: $0) })
    }
}

public protocol INStartCallIntentHandling: NSObjectProtocol {
    func handle(intent: INStartCallIntent, completion: @escaping (INStartCallIntentResponse) -> Void)
    func confirm(intent: INStartCallIntent, completion: @escaping (INStartCallIntentResponse) -> Void)
    func resolveContacts(for intent: INStartCallIntent, with completion: @escaping ([INStartCallContactResolutionResult]) -> Void)
    func resolveDestinationType(for intent: INStartCallIntent, with completion: @escaping (INCallDestinationTypeResolutionResult) -> Void)
}

extension INStartCallIntentHandling {
    public func confirm(intent: INStartCallIntent, completion: @escaping (INStartCallIntentResponse) -> Void) {
        completion(INStartCallIntentResponse(code: .ready, userActivity: nil))
    }
    public func resolveContacts(for intent: INStartCallIntent, with completion: @escaping ([INStartCallContactResolutionResult]) -> Void) {
        completion((intent.contacts ?? []).map { INStartCallContactResolutionResult.success(with: $0) })
    }
    public func resolveDestinationType(
        for intent: INStartCallIntent, with completion: @escaping (INCallDestinationTypeResolutionResult) -> Void
    ) { completion(.success(with: intent.destinationType)) }
}

/// An app's response to an `INStartAudioCallIntent`.
open class INStartAudioCallIntentResponse: INIntentResponse, @unchecked Sendable {
    public let code: INStartAudioCallIntentResponseCode

    public init(code: INStartAudioCallIntentResponseCode, userActivity: NSUserActivity?) {
        self.code = code
        super.init()
        self.userActivity = userActivity
    }
}

public enum INStartAudioCallIntentResponseCode: Int, Sendable {
    case unspecified = 0, ready = 1, continueInApp = 2, failure = 3, failureRequiringAppLaunch = 4, failureAppConfigurationRequired = 5
    case failureCallingServiceNotAvailable = 6, failureContactNotSupportedByApp = 7, failureNoValidNumber = 8
}

/// An app's response to an `INStartVideoCallIntent`.
open class INStartVideoCallIntentResponse: INIntentResponse, @unchecked Sendable {
    public let code: INStartVideoCallIntentResponseCode

    public init(code: INStartVideoCallIntentResponseCode, userActivity: NSUserActivity?) {
        self.code = code
        super.init()
        self.userActivity = userActivity
    }
}

public enum INStartVideoCallIntentResponseCode: Int, Sendable {
    case unspecified = 0, ready = 1, continueInApp = 2, failure = 3, failureRequiringAppLaunch = 4, failureAppConfigurationRequired = 5
    case failureCallingServiceNotAvailable = 6, failureContactNotSupportedByApp = 7, failureInvalidNumber = 8
}
