import UIKit

/// As Xcode makes it. The process ends well when its main queue and a timer of it have run on the main thread.
@main
final class AppDelegate: UIResponder, UIApplicationDelegate {
    func application(_ application: UIApplication, didFinishLaunchingWithOptions launchOptions: [UIApplication.LaunchOptionsKey: Any]?)
        -> Bool
    {
        DispatchQueue.main.async {
            guard Thread.isMainThread else { exit(1) }
            _ = Timer.scheduledTimer(withTimeInterval: 0.01, repeats: false) { _ in exit(Thread.isMainThread ? 0 : 2) }
        }
        return true
    }
}
