@_exported import Foundation

/// The notifications of the app, as a list: nothing is shown, and nobody is asked.
open class UNUserNotificationCenter: NSObject, @unchecked Sendable {
    private static let center = UNUserNotificationCenter()
    open class func current() -> UNUserNotificationCenter { center }

    private let lock = NSLock()
    private var waiting: [UNNotificationRequest] = []
    private var categories: Set<UNNotificationCategory> = []
    open weak var delegate: (any UNUserNotificationCenterDelegate)?

    /// Granted, on a queue of the system.
    open func requestAuthorization(
        options: UNAuthorizationOptions = [], completionHandler: @escaping @Sendable (Bool, (any Error)?) -> Void
    ) { DispatchQueue.global().async { completionHandler(true, nil) } }

    open func requestAuthorization(options: UNAuthorizationOptions = []) async throws -> Bool { true }

    open func getNotificationSettings(completionHandler: @escaping @Sendable (UNNotificationSettings) -> Void) {
        DispatchQueue.global().async { completionHandler(UNNotificationSettings()) }
    }

    open func notificationSettings() async -> UNNotificationSettings { UNNotificationSettings() }

    /// Keeps the request as pending: its time never comes here. A host or a test delivers it.
    open func add(_ request: UNNotificationRequest, withCompletionHandler completionHandler: (@Sendable ((any Error)?) -> Void)? = nil) {
        lock.withLock { waiting = waiting.filter { $0.identifier != request.identifier } + [request] }
        guard let completionHandler else { return }
        DispatchQueue.global().async { completionHandler(nil) }
    }

    open func add(_ request: UNNotificationRequest) async throws { add(request, withCompletionHandler: nil) }

    open func getPendingNotificationRequests(completionHandler: @escaping @Sendable ([UNNotificationRequest]) -> Void) {
        let requests = hookswitchPending
        DispatchQueue.global().async { completionHandler(requests) }
    }

    open func removePendingNotificationRequests(withIdentifiers identifiers: [String]) {
        lock.withLock { waiting.removeAll { identifiers.contains($0.identifier) } }
    }

    open func removeAllPendingNotificationRequests() { lock.withLock { waiting = [] } }

    // Nothing was delivered where the user would see it.
    open func removeDeliveredNotifications(withIdentifiers identifiers: [String]) {}
    open func removeAllDeliveredNotifications() {}
    open func setBadgeCount(_ count: Int, withCompletionHandler completionHandler: (@Sendable ((any Error)?) -> Void)? = nil) {
        guard let completionHandler else { return }
        DispatchQueue.global().async { completionHandler(nil) }
    }

    open func setBadgeCount(_ count: Int) async throws {}

    open func getDeliveredNotifications(completionHandler: @escaping @Sendable ([UNNotification]) -> Void) {
        DispatchQueue.global().async { completionHandler([]) }
    }

    open func deliveredNotifications() async -> [UNNotification] { [] }
    open func pendingNotificationRequests() async -> [UNNotificationRequest] { hookswitchPending }

    open func setNotificationCategories(_ categories: Set<UNNotificationCategory>) { lock.withLock { self.categories = categories } }

    /// The categories that the app set last, on a queue of the system.
    open func getNotificationCategories(completionHandler: @escaping @Sendable (Set<UNNotificationCategory>) -> Void) {
        let categories = lock.withLock { self.categories }
        DispatchQueue.global().async { completionHandler(categories) }
    }

    open func notificationCategories() async -> Set<UNNotificationCategory> { lock.withLock { categories } }

    /// For hosts and tests: the requests that the app made.
    public var hookswitchPending: [UNNotificationRequest] { lock.withLock { waiting } }
}

/// The app's say in what becomes of a notification. All methods may be left out.
public protocol UNUserNotificationCenterDelegate: NSObjectProtocol {
    func userNotificationCenter(
        _ center: UNUserNotificationCenter, willPresent notification: UNNotification,
        withCompletionHandler completionHandler: @escaping (UNNotificationPresentationOptions) -> Void)
    func userNotificationCenter(
        _ center: UNUserNotificationCenter, didReceive response: UNNotificationResponse,
        withCompletionHandler completionHandler: @escaping () -> Void)
    func userNotificationCenter(_ center: UNUserNotificationCenter, openSettingsFor notification: UNNotification?)
}

extension UNUserNotificationCenterDelegate {
    public func userNotificationCenter(
        _ center: UNUserNotificationCenter, willPresent notification: UNNotification,
        withCompletionHandler completionHandler: @escaping (UNNotificationPresentationOptions) -> Void
    ) { completionHandler([]) }
    public func userNotificationCenter(
        _ center: UNUserNotificationCenter, didReceive response: UNNotificationResponse,
        withCompletionHandler completionHandler: @escaping () -> Void
    ) { completionHandler() }
    public func userNotificationCenter(_ center: UNUserNotificationCenter, openSettingsFor notification: UNNotification?) {}
}

public struct UNAuthorizationOptions: OptionSet, Sendable {
    public let rawValue: UInt
    public init(rawValue: UInt) { self.rawValue = rawValue }

    public static let badge = UNAuthorizationOptions(rawValue: 1 << 0), sound = UNAuthorizationOptions(rawValue: 1 << 1)
    public static let alert = UNAuthorizationOptions(rawValue: 1 << 2), carPlay = UNAuthorizationOptions(rawValue: 1 << 3)
    public static let criticalAlert = UNAuthorizationOptions(rawValue: 1 << 4), provisional = UNAuthorizationOptions(rawValue: 1 << 6)
}

public struct UNNotificationPresentationOptions: OptionSet, Sendable {
    public let rawValue: UInt
    public init(rawValue: UInt) { self.rawValue = rawValue }

    public static let badge = UNNotificationPresentationOptions(rawValue: 1 << 0)
    public static let sound = UNNotificationPresentationOptions(rawValue: 1 << 1)
    public static let alert = UNNotificationPresentationOptions(rawValue: 1 << 2)
    public static let list = UNNotificationPresentationOptions(rawValue: 1 << 3)
    public static let banner = UNNotificationPresentationOptions(rawValue: 1 << 4)
}

public enum UNAuthorizationStatus: Int, Sendable {
    case notDetermined = 0, denied = 1, authorized = 2, provisional = 3, ephemeral = 4
}

public enum UNNotificationSetting: Int, Sendable {
    case notSupported = 0, disabled = 1, enabled = 2
}

/// The permissions of the user: everything.
open class UNNotificationSettings: NSObject, @unchecked Sendable {
    open var authorizationStatus: UNAuthorizationStatus { .authorized }
    open var soundSetting: UNNotificationSetting { .enabled }
    open var badgeSetting: UNNotificationSetting { .enabled }
    open var alertSetting: UNNotificationSetting { .enabled }
    open var notificationCenterSetting: UNNotificationSetting { .enabled }
    open var lockScreenSetting: UNNotificationSetting { .enabled }
    open var criticalAlertSetting: UNNotificationSetting { .enabled }
    open var timeSensitiveSetting: UNNotificationSetting { .enabled }
}
