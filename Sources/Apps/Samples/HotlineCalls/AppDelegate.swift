import CallKit
import UIKit

public class AppDelegate: UIResponder, UIApplicationDelegate {
    /// Given before the launch: the app's way out into the world.
    public var network: CallNetwork!
    public private(set) var callManager: CallManager!
    public private(set) var providerDelegate: ProviderDelegate!

    public class var shared: AppDelegate { UIApplication.shared.delegate as! AppDelegate }

    public func application(
        _ application: UIApplication, didFinishLaunchingWithOptions launchOptions: [UIApplication.LaunchOptionsKey: Any]?
    ) -> Bool {
        guard network != nil else { return false }
        callManager = CallManager(network: network)
        providerDelegate = ProviderDelegate(callManager: callManager)
        return true
    }

    /// The process is kept awake until the system has taken the call.
    public func displayIncomingCall(uuid: UUID, handle: String, hasVideo: Bool = false, completion: ((Error?) -> Void)?) {
        let task = UIApplication.shared.beginBackgroundTask(expirationHandler: nil)
        providerDelegate.reportIncomingCall(uuid: uuid, handle: handle, hasVideo: hasVideo) { error in
            UIApplication.shared.endBackgroundTask(task)
            completion?(error)
        }
    }
}
