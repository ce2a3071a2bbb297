import CallKit
import PushKit
import UIKit

/// What an app has of its own: the main actor's, as everything in this target.
final class CallManager {
    var trace: [String] = []
}

/// As Xcode 26 makes it, and as call code adds to it.
final class TemplateAppDelegate: UIResponder, UIApplicationDelegate, CXProviderDelegate, PKPushRegistryDelegate {
    var window: UIWindow?
    var manager = CallManager()
    /// What it answers to its launch.
    var canHandleOptions = true
    var sceneDelegate: AnyClass?

    func application(_ application: UIApplication, didFinishLaunchingWithOptions launchOptions: [UIApplication.LaunchOptionsKey: Any]?)
        -> Bool
    {
        manager.trace.append("launched \(application.applicationState)")
        return canHandleOptions
    }

    func application(
        _ application: UIApplication, configurationForConnecting connectingSceneSession: UISceneSession, options: UIScene.ConnectionOptions
    ) -> UISceneConfiguration {
        let configuration = UISceneConfiguration(name: "Default Configuration", sessionRole: connectingSceneSession.role)
        configuration.delegateClass = sceneDelegate
        return configuration
    }

    func application(_ application: UIApplication, didDiscardSceneSessions sceneSessions: Set<UISceneSession>) {}

    func application(_ app: UIApplication, open url: URL, options: [UIApplication.OpenURLOptionsKey: Any] = [:]) -> Bool {
        manager.trace.append("open \(url)")
        return false
    }

    func application(
        _ application: UIApplication, continue userActivity: NSUserActivity,
        restorationHandler: @escaping ([any UIUserActivityRestoring]?) -> Void
    ) -> Bool {
        manager.trace.append("continue \(userActivity.activityType)")
        return true
    }

    func applicationDidBecomeActive(_ application: UIApplication) { note("active", application) }
    func applicationWillResignActive(_ application: UIApplication) { note("resign", application) }
    func applicationDidEnterBackground(_ application: UIApplication) { note("background", application) }
    func applicationWillEnterForeground(_ application: UIApplication) { note("foreground", application) }
    func applicationWillTerminate(_ application: UIApplication) { note("terminate", application) }
    private func note(_ step: String, _ application: UIApplication) { manager.trace.append("\(step) \(application.applicationState)") }

    func providerDidReset(_ provider: CXProvider) { manager.trace = [] }
    func pushRegistry(_ registry: PKPushRegistry, didUpdate pushCredentials: PKPushCredentials, for type: PKPushType) {
        manager.trace.append("token")
    }
}

/// An app that builds what it has in its initialiser, for itself and for its tests.
final class BuildingAppDelegate: UIResponder, UIApplicationDelegate {
    let manager: CallManager

    init(manager: CallManager) {
        self.manager = manager
        super.init()
    }

    override init() {
        manager = CallManager()
        super.init()
        manager.trace.append("built")
    }
}

/// `required` as well as `override`, and a class under it.
class BaseDelegate: UIResponder {
    let manager = CallManager()

    required override init() {
        super.init()
        manager.trace.append("base")
    }
}

final class DerivedDelegate: BaseDelegate, UIApplicationDelegate {}

/// Without UIResponder, as the apps of SwiftUI have it.
final class PlainDelegate: NSObject, UIApplicationDelegate {
    let manager: CallManager

    override init() {
        manager = CallManager()
        super.init()
        manager.trace.append("plain")
    }
}

/// As Xcode 26 makes it, and as call code adds to it.
final class SceneDelegate: UIResponder, UIWindowSceneDelegate {
    var window: UIWindow?
    var manager = CallManager()

    func scene(_ scene: UIScene, willConnectTo session: UISceneSession, options connectionOptions: UIScene.ConnectionOptions) {
        guard scene is UIWindowScene else { return }
        let wishes = connectionOptions.userActivities.map(\.activityType) + connectionOptions.urlContexts.map { "\($0.url)" }
        note((["connect", session.configuration.name ?? "unnamed"] + wishes).joined(separator: " "), scene)
    }

    func scene(_ scene: UIScene, continue userActivity: NSUserActivity) { note("continue \(userActivity.activityType)", scene) }
    func scene(_ scene: UIScene, openURLContexts URLContexts: Set<UIOpenURLContext>) { note("open \(URLContexts.map(\.url))", scene) }
    func sceneDidBecomeActive(_ scene: UIScene) { note("active", scene) }
    func sceneWillResignActive(_ scene: UIScene) { note("resign", scene) }
    func sceneWillEnterForeground(_ scene: UIScene) { note("foreground", scene) }
    func sceneDidEnterBackground(_ scene: UIScene) { note("background", scene) }
    func sceneDidDisconnect(_ scene: UIScene) { note("disconnect", scene) }
    private func note(_ step: String, _ scene: UIScene) { manager.trace.append("\(step), \(scene.activationState)") }
}

/// With the completion as PushKit has it, which another task may call.
final class PushDelegate: NSObject, PKPushRegistryDelegate {
    private(set) var pushes: [String] = []

    func pushRegistry(_ registry: PKPushRegistry, didUpdate pushCredentials: PKPushCredentials, for type: PKPushType) {}

    func pushRegistry(
        _ registry: PKPushRegistry, didReceiveIncomingPushWith payload: PKPushPayload, for type: PKPushType,
        completion: @escaping @Sendable () -> Void
    ) {
        pushes.append(type.rawValue)
        Task.detached { completion() }
    }
}

/// With the completion as apps from before Swift 6 have it.
final class OlderPushDelegate: NSObject, PKPushRegistryDelegate {
    private(set) var pushes: [String] = []

    func pushRegistry(_ registry: PKPushRegistry, didUpdate pushCredentials: PKPushCredentials, for type: PKPushType) {}

    func pushRegistry(
        _ registry: PKPushRegistry, didReceiveIncomingPushWith payload: PKPushPayload, for type: PKPushType,
        completion: @escaping () -> Void
    ) {
        pushes.append(type.rawValue)
        completion()
    }
}
