@_exported import Foundation
@_exported import HookswitchObjectiveC

@_exported import class Intents.NSUserActivity

/// The part of UIKit that call code touches: the running app, as one object with a delegate.
///
/// There is no screen. The process is never suspended, so background tasks are only counted. Launch, changes of state, URLs and
/// activities come from the host: see `UIApplication+Host.swift`.
@preconcurrency @MainActor
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

    public nonisolated static let didFinishLaunchingNotification = Notification.Name("UIApplicationDidFinishLaunchingNotification")
    public nonisolated static let didBecomeActiveNotification = Notification.Name("UIApplicationDidBecomeActiveNotification")
    public nonisolated static let willResignActiveNotification = Notification.Name("UIApplicationWillResignActiveNotification")
    public nonisolated static let didEnterBackgroundNotification = Notification.Name("UIApplicationDidEnterBackgroundNotification")
    public nonisolated static let willEnterForegroundNotification = Notification.Name("UIApplicationWillEnterForegroundNotification")
    public nonisolated static let willTerminateNotification = Notification.Name("UIApplicationWillTerminateNotification")

    private static let application = UIApplication()
    open class var shared: UIApplication { application }

    /// Held weakly; `hookswitchLaunch` keeps its delegate alive.
    open weak var delegate: (any UIApplicationDelegate)?
    var launched: (any UIApplicationDelegate)?
    open internal(set) var applicationState = State.background
    open internal(set) var connectedScenes: Set<UIScene> = []

    /// Those that were made visible, the key window first.
    open internal(set) var windows: [UIWindow] = []
    open internal(set) var isRegisteredForRemoteNotifications = false

    /// For hosts: whether another app opens a URL; none does, unless a host says so.
    public var hookswitchOpens: (URL) -> Bool = { _ in false }
    /// For hosts and tests: the URLs that other apps have opened.
    public internal(set) var hookswitchOpenedURLs: [URL] = []

    /// The app's wish alone: there is no icon.
    open var applicationIconBadgeNumber = 0
    /// The app's wish alone: nothing here falls asleep.
    open var isIdleTimerDisabled = false

    nonisolated let tasks = BackgroundTasks()

    /// Nothing happens in this process that would end a task early: the handler is never called.
    open nonisolated func beginBackgroundTask(expirationHandler handler: (@MainActor @Sendable () -> Void)? = nil)
        -> UIBackgroundTaskIdentifier
    {
        tasks.begin()
    }

    open nonisolated func beginBackgroundTask(
        withName taskName: String?, expirationHandler handler: (@MainActor @Sendable () -> Void)? = nil
    ) -> UIBackgroundTaskIdentifier { tasks.begin() }

    open nonisolated func endBackgroundTask(_ identifier: UIBackgroundTaskIdentifier) { tasks.end(identifier) }
}

public struct UIBackgroundTaskIdentifier: RawRepresentable, Hashable, Sendable {
    public let rawValue: Int
    public init(rawValue: Int) { self.rawValue = rawValue }

    public static let invalid = UIBackgroundTaskIdentifier(rawValue: 0)
}

final class BackgroundTasks: @unchecked Sendable {
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
