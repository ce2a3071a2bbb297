import AVFoundation
import Combine
import PushKit
import UIKit
import UserNotifications
import os.log

private let log = Logger(subsystem: "com.example.phone", category: "app")

@UIApplicationMain
class AppDelegate: UIResponder, UIApplicationDelegate, PKPushRegistryDelegate {
    var window: UIWindow?
    let registry = PKPushRegistry(queue: .main)
    let phone = Phone()
    var subscriptions = Set<AnyCancellable>()

    func application(
        _ application: UIApplication, didFinishLaunchingWithOptions launchOptions: [UIApplication.LaunchOptionsKey: Any]?
    ) -> Bool {
        registry.delegate = self
        registry.desiredPushTypes = [.voIP]
        UNUserNotificationCenter.current().requestAuthorization(options: [.alert, .sound]) { _, _ in }
        application.registerForRemoteNotifications()
        phone.$ringing.dropFirst().receive(on: DispatchQueue.main).sink { log.info("ringing: \($0, privacy: .public)") }
            .store(in: &subscriptions)
        window = UIWindow(frame: UIScreen.main.bounds)
        let controller = UIStoryboard(name: "Main", bundle: nil).instantiateViewController(withIdentifier: "PhoneViewController")
        (controller as! PhoneViewController).phone = phone
        window?.rootViewController = controller
        window?.makeKeyAndVisible()
        return true
    }

    func pushRegistry(_ registry: PKPushRegistry, didUpdate pushCredentials: PKPushCredentials, for type: PKPushType) {}

    func pushRegistry(
        _ registry: PKPushRegistry, didReceiveIncomingPushWith payload: PKPushPayload, for type: PKPushType,
        completion: @escaping () -> Void
    ) {
        let caller = payload.dictionaryPayload["caller"] as? String ?? "unknown"
        phone.report(UUID(), from: caller) { error in
            if let error = error as? NSError { log.error("not reported: \(error.code)") }
            completion()
        }
    }
}
