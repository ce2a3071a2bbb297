import Foundation
import UIKit

// The host of an app that knows no SDK: it launches the delegate. In an app of one's own it has the `LiveAppLine`, and passes on its events.
let app = AppDelegate()
UIApplication.shared.hookswitchLaunch(app)
print("launched \(app.launches)")
