import Foundation

// The surroundings of an app on a telephone: other apps, its windows, pushes that are no calls.

extension UIApplication {
    public struct OpenExternalURLOptionsKey: RawRepresentable, Hashable, Sendable {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }

        public static let universalLinksOnly = OpenExternalURLOptionsKey(rawValue: "UIApplicationOpenURLOptionUniversalLinksOnly")
    }

    public nonisolated static let openSettingsURLString = "app-settings:"

    /// The first window that is visible.
    public var keyWindow: UIWindow? { windows.first }

    /// Nothing here is locked.
    public var isProtectedDataAvailable: Bool { true }

    /// Nothing ends this process in the background.
    public var backgroundTimeRemaining: TimeInterval { .greatestFiniteMagnitude }

    /// Whether another app would open a URL: as the host says in `hookswitchOpens`.
    public func canOpenURL(_ url: URL) -> Bool { hookswitchOpens(url) }

    /// Leaves a URL to another app: it is only noted, in `hookswitchOpenedURLs`. The completion gets what `canOpenURL` says.
    public func open(
        _ url: URL, options: [OpenExternalURLOptionsKey: Any] = [:],
        completionHandler completion: (@MainActor @Sendable (Bool) -> Void)? = nil
    ) {
        let opens = canOpenURL(url)
        if opens { hookswitchOpenedURLs.append(url) }
        guard let completion else { return }
        DispatchQueue.main.async { completion(opens) }
    }

    /// Notes the wish; a token comes from the host (`hookswitchRegister(deviceToken:)`).
    public func registerForRemoteNotifications() { isRegisteredForRemoteNotifications = true }
    public func unregisterForRemoteNotifications() { isRegisteredForRemoteNotifications = false }

    public func beginReceivingRemoteControlEvents() {}
    public func endReceivingRemoteControlEvents() {}

    /// For hosts: the app's token for pushes that are no calls.
    public func hookswitchRegister(deviceToken: Data) {
        delegate?.application(self, didRegisterForRemoteNotificationsWithDeviceToken: deviceToken)
    }

    /// For hosts: a push that is no call has come.
    public func hookswitchDeliver(
        remoteNotification userInfo: [AnyHashable: Any], completion: @escaping (UIBackgroundFetchResult) -> Void = { _ in }
    ) { delegate?.application(self, didReceiveRemoteNotification: userInfo, fetchCompletionHandler: completion) }
}

public enum UIBackgroundFetchResult: UInt, Sendable {
    case newData = 0, noData = 1, failed = 2
}

/// Launches the app whose delegate has this name, and serves its main queue for good; what a `main.swift` calls.
///
/// - Parameter delegateClassName: as `NSStringFromClass` gives it. The class is a `UIResponder`.
@MainActor
public func UIApplicationMain(
    _ argc: Int32, _ argv: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>, _ principalClassName: String?, _ delegateClassName: String?
) -> Int32 {
    guard let name = delegateClassName, let type = NSClassFromString(name) as? any (UIResponder & UIApplicationDelegate).Type else {
        return 1
    }
    UIApplication.shared.hookswitchLaunch(type.init(hookswitch: ()))
    RunLoop.main.run()
    return 0
}
