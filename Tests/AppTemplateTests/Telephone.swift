import UIKit

/// The host's side of UIKit, and who else listens; for the file that imports Testing. With an application of its own: the shared one
/// belongs to tests of other targets.
final class Telephone {
    private var listeners: [any NSObjectProtocol] = []
    private let heard = Heard()
    private let application = UIApplication()

    /// What the notifications said, in their order.
    var notifications: [String] { heard.names }

    init() {
        let names = [
            UIApplication.didFinishLaunchingNotification, UIApplication.didBecomeActiveNotification,
            UIApplication.willResignActiveNotification,
            UIApplication.didEnterBackgroundNotification, UIApplication.willEnterForegroundNotification,
            UIApplication.willTerminateNotification,
        ]
        listeners = names.map { [application] name in
            NotificationCenter.default.addObserver(forName: name, object: application, queue: nil) { [heard] in
                heard.names.append($0.name.rawValue)
            }
        }
    }

    isolated deinit { listeners.forEach(NotificationCenter.default.removeObserver) }

    var scenes: Int { application.connectedScenes.count }
    var state: String { "\(application.applicationState)" }
    func launch(_ app: any UIApplicationDelegate) -> Bool { application.hookswitchLaunch(app) }
    func launch(_ app: TemplateAppDelegate, sceneDelegate: AnyClass?) -> SceneDelegate? {
        app.sceneDelegate = sceneDelegate
        application.hookswitchLaunch(app)
        return application.connectedScenes.first?.delegate as? SceneDelegate
    }
    func connect(_ delegate: SceneDelegate, for activity: NSUserActivity, _ url: String) {
        application.hookswitchConnect(delegate, options: UIScene.ConnectionOptions(hookswitch: [activity], urls: [URL(string: url)!]))
    }
    func leave() { application.hookswitchEnterBackground() }
    func comeBack() { application.hookswitchEnterForeground() }
    func terminate() { application.hookswitchTerminate() }
    func open(_ url: String) -> Bool { application.hookswitchOpen(URL(string: url)!) }
    func `continue`(_ activity: NSUserActivity) -> Bool { application.hookswitchContinue(activity) }
    /// Runs an app of its own process to its end: the code with which it ends.
    static func run(_ app: String) async throws -> Int32 {
        let bundle = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        let process = Process()
        process.executableURL = URL(filePath: bundle).deletingLastPathComponent().appending(path: app)
        return try await withCheckedThrowingContinuation { continuation in
            process.terminationHandler = { continuation.resume(returning: $0.terminationStatus) }
            do { try process.run() } catch { continuation.resume(throwing: error) }
        }
    }
    static func make<App: UIResponder>(_ type: App.Type) -> App { type.init(hookswitch: ()) }
}

/// Notifications are posted on the main actor, where all of these tests are.
private final class Heard: @unchecked Sendable {
    nonisolated(unsafe) var names: [String] = []
    nonisolated init() {}
}
