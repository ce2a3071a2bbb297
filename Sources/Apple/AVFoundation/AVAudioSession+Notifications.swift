import Foundation

// Nobody posts these here: nothing interrupts a session, and its route does not change. Tests of an app may post them.

extension AVAudioSession {
    public static let interruptionNotification = Notification.Name("AVAudioSessionInterruptionNotification")
    public static let routeChangeNotification = Notification.Name("AVAudioSessionRouteChangeNotification")
    public static let mediaServicesWereLostNotification = Notification.Name("AVAudioSessionMediaServicesWereLostNotification")
    public static let mediaServicesWereResetNotification = Notification.Name("AVAudioSessionMediaServicesWereResetNotification")

    public enum InterruptionType: UInt, Sendable {
        case ended = 0, began = 1
    }

    public enum InterruptionReason: UInt, Sendable {
        case `default` = 0, appWasSuspended = 1, builtInMicMuted = 2
    }

    public struct InterruptionOptions: OptionSet, Hashable, Sendable {
        public let rawValue: UInt
        public init(rawValue: UInt) { self.rawValue = rawValue }

        public static let shouldResume = InterruptionOptions(rawValue: 0x1)
    }

    public enum RouteChangeReason: UInt, Sendable {
        case unknown = 0, newDeviceAvailable = 1, oldDeviceUnavailable = 2, categoryChange = 3, override = 4
        case wakeFromSleep = 6, noSuitableRouteForCategory = 7, routeConfigurationChange = 8
    }
}

/// The raw value of an `InterruptionType`, as `UInt`.
public let AVAudioSessionInterruptionTypeKey = "AVAudioSessionInterruptionTypeKey"
/// The raw value of `InterruptionOptions`, as `UInt`; for an interruption that has ended.
public let AVAudioSessionInterruptionOptionKey = "AVAudioSessionInterruptionOptionKey"
/// The raw value of an `InterruptionReason`, as `UInt`.
public let AVAudioSessionInterruptionReasonKey = "AVAudioSessionInterruptionReasonKey"
/// The raw value of a `RouteChangeReason`, as `UInt`.
public let AVAudioSessionRouteChangeReasonKey = "AVAudioSessionRouteChangeReasonKey"
/// An `AVAudioSessionRouteDescription`.
public let AVAudioSessionRouteChangePreviousRouteKey = "AVAudioSessionRouteChangePreviousRouteKey"
