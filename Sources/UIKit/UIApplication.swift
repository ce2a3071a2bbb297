@_exported import Foundation
@_exported import class Intents.NSUserActivity

/// The part of UIKit that call code touches: the running app, as one object with a delegate.
///
/// There is no screen. The process is never suspended, so background tasks are only counted. URLs and activities come from
/// the host, through `hookswitchOpen` and `hookswitchContinue`.
@MainActor
open class UIApplication: UIResponder {
    public struct OpenURLOptionsKey: RawRepresentable, Hashable, Sendable {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }

        public static let sourceApplication = OpenURLOptionsKey(rawValue: "UIApplicationOpenURLOptionsSourceApplicationKey")
        public static let annotation = OpenURLOptionsKey(rawValue: "UIApplicationOpenURLOptionsAnnotationKey")
    }

    public struct LaunchOptionsKey: RawRepresentable, Hashable, Sendable {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }

        public static let url = LaunchOptionsKey(rawValue: "UIApplicationLaunchOptionsURLKey")
        public static let remoteNotification = LaunchOptionsKey(rawValue: "UIApplicationLaunchOptionsRemoteNotificationKey")
        public static let userActivityDictionary = LaunchOptionsKey(rawValue: "UIApplicationLaunchOptionsUserActivityDictionaryKey")
    }

    public enum State: Int, Sendable {
        case active = 0, inactive = 1, background = 2
    }

    private static let application = UIApplication()
    open class var shared: UIApplication { application }

    /// Held weakly; `hookswitchLaunch` keeps its delegate alive.
    open weak var delegate: (any UIApplicationDelegate)?
    private var launched: (any UIApplicationDelegate)?
    open private(set) var applicationState = State.background

    private nonisolated let tasks = BackgroundTasks()

    /// Nothing happens in this process that would end a task early: the handler is never called.
    open nonisolated func beginBackgroundTask(expirationHandler handler: (@MainActor @Sendable () -> Void)? = nil) -> UIBackgroundTaskIdentifier {
        tasks.begin()
    }

    open nonisolated func beginBackgroundTask(
        withName taskName: String?, expirationHandler handler: (@MainActor @Sendable () -> Void)? = nil
    ) -> UIBackgroundTaskIdentifier { tasks.begin() }

    open nonisolated func endBackgroundTask(_ identifier: UIBackgroundTaskIdentifier) { tasks.end(identifier) }
}

// MARK: - The host's side, which does not exist on Apple systems

extension UIApplication {
    /// Background tasks under way.
    public nonisolated var hookswitchBackgroundTasks: Int { tasks.count }

    /// Launches the app: keeps its delegate, and has it build what it needs. False: the app refuses to run.
    public func hookswitchLaunch(
        _ delegate: any UIApplicationDelegate, options: [LaunchOptionsKey: Any]? = nil
    ) -> Bool {
        (launched, self.delegate) = (delegate, delegate)
        guard delegate.application(self, willFinishLaunchingWithOptions: options),
            delegate.application(self, didFinishLaunchingWithOptions: options)
        else { return false }
        applicationState = .active
        delegate.applicationDidBecomeActive(self)
        return true
    }

    /// The app is over.
    public func hookswitchTerminate() {
        delegate?.applicationWillTerminate(self)
        (launched, delegate, applicationState) = (nil, nil, .background)
    }

    /// Somebody opened a URL that may be the app's. Whether the app took it.
    public func hookswitchOpen(_ url: URL, options: [OpenURLOptionsKey: Any] = [:]) -> Bool {
        delegate?.application(self, open: url, options: options) ?? false
    }

    /// The user tapped on an entry of the recents, or asked for a call. Whether the app took it.
    public func hookswitchContinue(_ activity: NSUserActivity) -> Bool {
        delegate?.application(self, continue: activity, restorationHandler: { _ in }) ?? false
    }
}

public struct UIBackgroundTaskIdentifier: RawRepresentable, Hashable, Sendable {
    public let rawValue: Int
    public init(rawValue: Int) { self.rawValue = rawValue }

    public static let invalid = UIBackgroundTaskIdentifier(rawValue: 0)
}

private final class BackgroundTasks: @unchecked Sendable {
    private let lock = NSLock()
    private var last = 0
    private var running: Set<UIBackgroundTaskIdentifier> = []

    var count: Int { lock.withLock { running.count } }

    func begin() -> UIBackgroundTaskIdentifier {
        lock.withLock {
            last += 1
            running.insert(UIBackgroundTaskIdentifier(rawValue: last))
            return UIBackgroundTaskIdentifier(rawValue: last)
        }
    }

    func end(_ identifier: UIBackgroundTaskIdentifier) { lock.withLock { _ = running.remove(identifier) } }
}
