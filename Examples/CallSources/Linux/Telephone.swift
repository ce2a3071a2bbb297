import CallKit
import Foundation
import PushKit
import UIKit

/// The telephone around the app, which pushes a call and waits until the app has ended it. In an app of one's own the vendor's SDK stands
/// here, over `LiveAppLine` of the product `CallApp`.
enum Telephone {
    static func ticked(_ ticks: Int) {
        print("tick \(ticks)")
        guard ticks == 2 else { return }
        for registry in PKPushRegistry.hookswitchRegistries(for: .voIP) {
            registry.hookswitchDeliver(PKPushPayload(hookswitch: ["caller": "1001"]))
        }
    }

    static func ended() {
        print("ended")
        exit(0)
    }
}
