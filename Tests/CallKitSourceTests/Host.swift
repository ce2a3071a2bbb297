import UIKit

/// The host's side of UIKit, for files that import Testing: both in one file would need an overlay that Linux does not have.
@MainActor
enum Host {
    static func launch<Delegate: UIApplicationDelegate>(_ delegate: Delegate) -> Bool { UIApplication.shared.hookswitchLaunch(delegate) }
    static func open(_ url: String) -> Bool { URL(string: url).map { UIApplication.shared.hookswitchOpen($0) } ?? false }
    static func `continue`(_ activity: NSUserActivity) -> Bool { UIApplication.shared.hookswitchContinue(activity) }
    static var backgroundTasks: Int { UIApplication.shared.hookswitchBackgroundTasks }
}
