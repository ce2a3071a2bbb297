import Foundation
import Intents

/// One instance of an app's user interface; here what activities and URLs are delivered to in apps that have scenes.
///
/// Scenes come from the host: at the launch, for the class that the app delegate's configuration names, and through `hookswitchConnect`.
@preconcurrency @MainActor
open class UIScene: UIResponder {
    public enum ActivationState: Int, Sendable {
        case unattached = -1, foregroundActive = 0, foregroundInactive = 1, background = 2
    }

    /// The options that a scene was asked for with.
    @preconcurrency @MainActor
    open class ConnectionOptions: NSObject {
        public let userActivities: Set<NSUserActivity>
        public let urlContexts: Set<UIOpenURLContext>

        /// For hosts and tests; on Apple systems only the system makes these.
        public init(hookswitch activities: Set<NSUserActivity>, urls: Set<URL> = []) {
            (userActivities, urlContexts) = (activities, Set(urls.map(UIOpenURLContext.init(hookswitch:))))
            super.init()
        }
    }

    public let session: UISceneSession
    open var delegate: (any UISceneDelegate)?
    open internal(set) var activationState = ActivationState.unattached

    init(delegate: any UISceneDelegate, session: UISceneSession) {
        (self.session, self.delegate) = (session, delegate)
        super.init()
    }

    public required convenience init(hookswitch: Void) { preconditionFailure("a scene has a delegate") }
}

/// The scene of a window, as which the host connects each.
open class UIWindowScene: UIScene {
    /// Those of its windows that are visible.
    open var windows: [UIWindow] { UIApplication.shared.windows.filter { $0.windowScene === self } }
    open var keyWindow: UIWindow? { windows.first }
    open var screen: UIScreen { .main }
}

/// A URL that a scene is to open.
@preconcurrency @MainActor
open class UIOpenURLContext: NSObject {
    public let url: URL

    init(hookswitch url: URL) {
        self.url = url
        super.init()
    }
}

/// The session that outlasts a scene on a telephone; here it lasts as long as the scene.
@preconcurrency @MainActor
open class UISceneSession: NSObject {
    public struct Role: RawRepresentable, Hashable, Sendable {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }

        public static let windowApplication = Role(rawValue: "UIWindowSceneSessionRoleApplication")
    }

    public let role = Role.windowApplication
    public let persistentIdentifier = UUID().uuidString
    public internal(set) var configuration = UISceneConfiguration(name: nil, sessionRole: .windowApplication)
}

/// The configuration of a new scene. There is no Info.plist that names the delegate: only `delegateClass` does.
@preconcurrency @MainActor
open class UISceneConfiguration: NSObject {
    public let name: String?
    public let role: UISceneSession.Role
    /// A `UIResponder` that is a `UISceneDelegate`; nil, or another class: no scene.
    open var delegateClass: AnyClass?

    public init(name: String?, sessionRole: UISceneSession.Role) {
        (self.name, role) = (name, sessionRole)
        super.init()
    }
}

/// A scene, as far as a telephone calls it. All methods may be left out.
@preconcurrency @MainActor
public protocol UISceneDelegate: NSObjectProtocol {
    /// The options are those of `hookswitchConnect`; the scene of a launch has none.
    func scene(_ scene: UIScene, willConnectTo session: UISceneSession, options connectionOptions: UIScene.ConnectionOptions)
    func scene(_ scene: UIScene, openURLContexts URLContexts: Set<UIOpenURLContext>)
    func scene(_ scene: UIScene, continue userActivity: NSUserActivity)
    func sceneDidBecomeActive(_ scene: UIScene)
    func sceneWillResignActive(_ scene: UIScene)
    func sceneWillEnterForeground(_ scene: UIScene)
    func sceneDidEnterBackground(_ scene: UIScene)
    func sceneDidDisconnect(_ scene: UIScene)
}

extension UISceneDelegate {
    public func scene(_ scene: UIScene, willConnectTo session: UISceneSession, options connectionOptions: UIScene.ConnectionOptions) {}
    public func scene(_ scene: UIScene, openURLContexts URLContexts: Set<UIOpenURLContext>) {}
    public func scene(_ scene: UIScene, continue userActivity: NSUserActivity) {}
    public func sceneDidBecomeActive(_ scene: UIScene) {}
    public func sceneWillResignActive(_ scene: UIScene) {}
    public func sceneWillEnterForeground(_ scene: UIScene) {}
    public func sceneDidEnterBackground(_ scene: UIScene) {}
    public func sceneDidDisconnect(_ scene: UIScene) {}
}

/// The delegate of a window's scene; here nothing more than a scene's.
@preconcurrency @MainActor
public protocol UIWindowSceneDelegate: UISceneDelegate {}
