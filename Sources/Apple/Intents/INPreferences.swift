import Dispatch
import Foundation

public enum INSiriAuthorizationStatus: Int, Sendable {
    case notDetermined = 0, restricted = 1, denied = 2, authorized = 3
}

/// The user's say in what Siri may do with the app. Nobody speaks to this machine: always authorized.
open class INPreferences: NSObject {
    open class func siriAuthorizationStatus() -> INSiriAuthorizationStatus { .authorized }

    /// On a queue of the system.
    open class func requestSiriAuthorization(_ handler: @escaping @Sendable (INSiriAuthorizationStatus) -> Void) {
        DispatchQueue.global().async { handler(.authorized) }
    }

    open class func siriLanguageCode() -> String { "en-US" }
}
