import CallKit
import UIKit

public class AppDelegate: UIResponder, UIApplicationDelegate {
    /// Given before the launch: the app's network library.
    public var service: CallService!
    public private(set) var callManager: ActiveCallManager!
    public private(set) var providerDelegate: ProviderDelegate!

    public func application(
        _ application: UIApplication, didFinishLaunchingWithOptions launchOptions: [UIApplication.LaunchOptionsKey: Any]?
    ) -> Bool {
        guard service != nil else { return false }
        callManager = ActiveCallManager(service: service)
        providerDelegate = ProviderDelegate(callManager: callManager)
        return true
    }

    public func application(_ app: UIApplication, open url: URL, options: [UIApplication.OpenURLOptionsKey: Any] = [:]) -> Bool {
        start(StartCallRequest(url: url))
    }

    public func application(
        _ application: UIApplication, continue userActivity: NSUserActivity,
        restorationHandler: @escaping ([UIUserActivityRestoring]?) -> Void
    ) -> Bool {
        start(StartCallRequest(activity: userActivity))
    }

    private func start(_ request: StartCallRequest?) -> Bool {
        guard let request = request else {
            print("Unable to get call handle")
            return false
        }
        callManager.startCall(request.handle, type: request.type, isVideo: request.isVideo)
        return true
    }
}
