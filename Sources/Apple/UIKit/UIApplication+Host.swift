import Foundation
import Intents

// The host's side, which does not exist on Apple systems.

extension UIApplication {
    /// Background tasks under way.
    public nonisolated var hookswitchBackgroundTasks: Int { tasks.count }

    /// Launches the app: keeps its delegate, has it build what it needs, connects the scene that it configures, and makes it active.
    /// Whether the app can handle what the options say; it runs in any case.
    @discardableResult
    public func hookswitchLaunch(_ delegate: any UIApplicationDelegate, options: [LaunchOptionsKey: Any]? = nil) -> Bool {
        (launched, self.delegate, connectedScenes, applicationState) = (delegate, delegate, [], .inactive)
        let begun = delegate.application(self, willFinishLaunchingWithOptions: options)
        let finished = delegate.application(self, didFinishLaunchingWithOptions: options)
        NotificationCenter.default.post(name: Self.didFinishLaunchingNotification, object: self)
        connectConfiguredScene()
        becomeActive()
        return begun && finished
    }

    /// Connects a scene with this delegate, beside those that there are.
    ///
    /// - Parameter options: the activity or URL that the scene is wanted for; nil: none.
    @discardableResult
    public func hookswitchConnect(_ delegate: any UISceneDelegate, options: UIScene.ConnectionOptions? = nil) -> UIScene {
        let scene = UIWindowScene(delegate: delegate, session: UISceneSession())
        connect(scene, options ?? UIScene.ConnectionOptions(hookswitch: []))
        return scene
    }

    /// The user goes to another app, or the screen goes off. The process runs on.
    public func hookswitchEnterBackground() {
        guard applicationState == .active else { return }
        tell(Self.willResignActiveNotification, { $0.applicationWillResignActive(self) }, { $1.sceneWillResignActive($0) })
        move(to: .background)
        tell(Self.didEnterBackgroundNotification, { $0.applicationDidEnterBackground(self) }, { $1.sceneDidEnterBackground($0) })
    }

    /// The user comes back to the app.
    public func hookswitchEnterForeground() {
        guard delegate != nil, applicationState == .background else { return }
        tell(Self.willEnterForegroundNotification, { $0.applicationWillEnterForeground(self) }, { $1.sceneWillEnterForeground($0) })
        becomeActive()
    }

    /// The app is over.
    public func hookswitchTerminate() {
        guard let delegate else { return }
        delegate.applicationWillTerminate(self)
        NotificationCenter.default.post(name: Self.willTerminateNotification, object: self)
        move(to: .background)
        for scene in connectedScenes { scene.activationState = .unattached }
        for scene in connectedScenes { scene.delegate?.sceneDidDisconnect(scene) }
        (launched, self.delegate, connectedScenes) = (nil, nil, [])
    }

    /// Somebody opened a URL that may be the app's. Whether the app took it; a scene cannot say, and is taken to have.
    @discardableResult
    public func hookswitchOpen(_ url: URL, options: [OpenURLOptionsKey: Any] = [:]) -> Bool {
        guard let (scene, delegate) = sceneInFront else { return delegate?.application(self, open: url, options: options) ?? false }
        delegate.scene(scene, openURLContexts: [UIOpenURLContext(hookswitch: url)])
        return true
    }

    /// The user tapped on an entry of the recents, or asked for a call. Whether the app took it; a scene cannot say, and is taken to have.
    @discardableResult
    public func hookswitchContinue(_ activity: NSUserActivity) -> Bool {
        guard let (scene, delegate) = sceneInFront else {
            return delegate?.application(self, continue: activity, restorationHandler: { _ in }) ?? false
        }
        delegate.scene(scene, continue: activity)
        return true
    }
}

// MARK: - States and scenes

extension UIApplication {
    private var sceneInFront: (UIScene, any UISceneDelegate)? {
        connectedScenes.lazy.compactMap { scene in scene.delegate.map { (scene, $0) } }.first
    }

    private func connectConfiguredScene() {
        let (session, options) = (UISceneSession(), UIScene.ConnectionOptions(hookswitch: []))
        guard let configuration = delegate?.application(self, configurationForConnecting: session, options: options),
            let delegateClass = configuration.delegateClass as? any (UIResponder & UISceneDelegate).Type
        else { return }
        session.configuration = configuration
        connect(UIWindowScene(delegate: delegateClass.init(hookswitch: ()), session: session), options)
    }

    private func connect(_ scene: UIScene, _ options: UIScene.ConnectionOptions) {
        connectedScenes.insert(scene)
        scene.delegate?.scene(scene, willConnectTo: scene.session, options: options)
        scene.delegate?.sceneWillEnterForeground(scene)
        scene.activationState = applicationState.ofScenes
        if applicationState == .active { scene.delegate?.sceneDidBecomeActive(scene) }
    }

    private func becomeActive() {
        move(to: .active)
        tell(Self.didBecomeActiveNotification, { $0.applicationDidBecomeActive(self) }, { $1.sceneDidBecomeActive($0) })
    }

    private func move(to state: State) {
        applicationState = state
        for scene in connectedScenes { scene.activationState = state.ofScenes }
    }

    /// Says it to the delegates of the scenes, or to the app's when it has none, and to everybody who listens.
    private func tell(
        _ notification: Notification.Name, _ app: (any UIApplicationDelegate) -> Void, _ each: (UIScene, any UISceneDelegate) -> Void
    ) {
        if connectedScenes.isEmpty, let delegate { app(delegate) }
        for scene in connectedScenes { if let delegate = scene.delegate { each(scene, delegate) } }
        NotificationCenter.default.post(name: notification, object: self)
    }
}

extension UIApplication.State {
    fileprivate var ofScenes: UIScene.ActivationState {
        switch self {
        case .active: .foregroundActive
        case .inactive: .foregroundInactive
        case .background: .background
        }
    }
}
