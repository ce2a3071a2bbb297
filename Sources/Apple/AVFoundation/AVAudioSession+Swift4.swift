import Foundation

// Names of Swift 4 mode, in which Xcode still builds: constants that are members today.

public typealias AVAudioSessionRouteChangeReason = AVAudioSession.RouteChangeReason
public typealias AVAudioSessionInterruptionType = AVAudioSession.InterruptionType
public typealias AVAudioSessionInterruptionOptions = AVAudioSession.InterruptionOptions
public typealias AVAudioSessionCategoryOptions = AVAudioSession.CategoryOptions
public typealias AVAudioSessionPortOverride = AVAudioSession.PortOverride
public typealias AVAudioSessionRecordPermission = AVAudioSession.RecordPermission

public let AVAudioSessionCategoryAmbient = AVAudioSession.Category.ambient
public let AVAudioSessionCategorySoloAmbient = AVAudioSession.Category.soloAmbient
public let AVAudioSessionCategoryPlayback = AVAudioSession.Category.playback
public let AVAudioSessionCategoryRecord = AVAudioSession.Category.record
public let AVAudioSessionCategoryPlayAndRecord = AVAudioSession.Category.playAndRecord
public let AVAudioSessionCategoryMultiRoute = AVAudioSession.Category.multiRoute

public let AVAudioSessionModeDefault = AVAudioSession.Mode.default
public let AVAudioSessionModeVoiceChat = AVAudioSession.Mode.voiceChat
public let AVAudioSessionModeVideoChat = AVAudioSession.Mode.videoChat

public let AVAudioSessionPortBuiltInMic = AVAudioSession.Port.builtInMic
public let AVAudioSessionPortBuiltInReceiver = AVAudioSession.Port.builtInReceiver
public let AVAudioSessionPortBuiltInSpeaker = AVAudioSession.Port.builtInSpeaker
public let AVAudioSessionPortHeadphones = AVAudioSession.Port.headphones
public let AVAudioSessionPortBluetoothHFP = AVAudioSession.Port.bluetoothHFP
public let AVAudioSessionPortBluetoothA2DP = AVAudioSession.Port.bluetoothA2DP
public let AVAudioSessionPortBluetoothLE = AVAudioSession.Port.bluetoothLE

extension Notification.Name {
    public static let AVAudioSessionInterruption = AVAudioSession.interruptionNotification
    public static let AVAudioSessionRouteChange = AVAudioSession.routeChangeNotification
    public static let AVAudioSessionMediaServicesWereLost = AVAudioSession.mediaServicesWereLostNotification
    public static let AVAudioSessionMediaServicesWereReset = AVAudioSession.mediaServicesWereResetNotification
}

extension AVAudioSession.RecordPermission {
    /// The permission itself: `recordPermission` was a method.
    public func callAsFunction() -> Self { self }
}

/// A port was a text.
extension AVAudioSession.Port: ExpressibleByStringLiteral {
    public init(stringLiteral value: String) { self.init(rawValue: value) }
}

extension AVAudioSession {
    public func setCategory(_ category: Category, with options: CategoryOptions) throws { try setCategory(category, options: options) }
    public func setActive(_ active: Bool, with options: SetActiveOptions) throws { try setActive(active, options: options) }
}
