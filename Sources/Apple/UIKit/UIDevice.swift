import Foundation

/// The device, as far as call code asks: it says of itself that it is a telephone.
@preconcurrency @MainActor
open class UIDevice: NSObject {
    public enum BatteryState: Int, Sendable {
        case unknown = 0, unplugged = 1, charging = 2, full = 3
    }

    private static let device = UIDevice()
    open class var current: UIDevice { device }

    public nonisolated static let proximityStateDidChangeNotification = Notification.Name("UIDeviceProximityStateDidChangeNotification")
    public nonisolated static let batteryLevelDidChangeNotification = Notification.Name("UIDeviceBatteryLevelDidChangeNotification")
    public nonisolated static let orientationDidChangeNotification = Notification.Name("UIDeviceOrientationDidChangeNotification")

    open var name: String { "Hookswitch" }
    open var model: String { "iPhone" }
    open var localizedModel: String { "iPhone" }
    open var systemName: String { "iOS" }
    open var systemVersion: String { "26.0" }
    /// The same for the life of the process.
    public let identifierForVendor: UUID? = UUID()
    open var userInterfaceIdiom: UIUserInterfaceIdiom { .phone }
    open var orientation: UIDeviceOrientation { .portrait }

    /// The app's wish alone: nothing comes near.
    open var isProximityMonitoringEnabled = false
    open var proximityState: Bool { false }
    open var isBatteryMonitoringEnabled = false
    open var batteryLevel: Float { -1 }
    open var batteryState: BatteryState { .unknown }
    open func beginGeneratingDeviceOrientationNotifications() {}
    open func endGeneratingDeviceOrientationNotifications() {}
}

public enum UIUserInterfaceIdiom: Int, Sendable {
    case unspecified = -1, phone = 0, pad = 1, tv = 2, carPlay = 3, mac = 5
}

public enum UIDeviceOrientation: Int, Sendable {
    case unknown = 0, portrait = 1, portraitUpsideDown = 2, landscapeLeft = 3, landscapeRight = 4, faceUp = 5, faceDown = 6
}
