import Foundation

/// The part of AVFoundation that CallKit code touches: an audio session that records what the app asked of it.
///
/// There is no sound card behind it. A session is active when the CallKit system says so, through
/// `provider(_:didActivate:)`; `setActive` only notes the app's wish, as on a telephone where the system owns the session.
/// Safe to use from any thread.
open class AVAudioSession: NSObject, @unchecked Sendable {
    /// What the app asked for, all at one moment.
    public struct Wishes: Equatable, Sendable {
        public var category = Category.soloAmbient
        public var mode = Mode.default
        public var options: CategoryOptions = []
        public var isActive = false
    }

    private let lock = NSLock()
    private var state = Wishes()
    private static let shared = AVAudioSession()

    public override init() { super.init() }

    /// The session of the process.
    public class func sharedInstance() -> AVAudioSession { shared }

    public var wishes: Wishes { lock.withLock { state } }
    public var category: Category { wishes.category }
    public var mode: Mode { wishes.mode }
    public var categoryOptions: CategoryOptions { wishes.options }

    open func setCategory(_ category: Category) throws {
        lock.withLock { (state.category, state.options) = (category, []) }
    }

    open func setCategory(_ category: Category, options: CategoryOptions = []) throws {
        lock.withLock { (state.category, state.options) = (category, options) }
    }

    open func setCategory(_ category: Category, mode: Mode, options: CategoryOptions = []) throws {
        lock.withLock { (state.category, state.mode, state.options) = (category, mode, options) }
    }

    open func setMode(_ mode: Mode) throws { lock.withLock { state.mode = mode } }

    open func setActive(_ active: Bool, options: SetActiveOptions = []) throws { lock.withLock { state.isActive = active } }
}

extension AVAudioSession {
    public struct Category: RawRepresentable, Hashable, Sendable {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }

        public static let ambient = Category(rawValue: "AVAudioSessionCategoryAmbient")
        public static let soloAmbient = Category(rawValue: "AVAudioSessionCategorySoloAmbient")
        public static let playback = Category(rawValue: "AVAudioSessionCategoryPlayback")
        public static let record = Category(rawValue: "AVAudioSessionCategoryRecord")
        public static let playAndRecord = Category(rawValue: "AVAudioSessionCategoryPlayAndRecord")
        public static let multiRoute = Category(rawValue: "AVAudioSessionCategoryMultiRoute")
    }

    public struct Mode: RawRepresentable, Hashable, Sendable {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }

        public static let `default` = Mode(rawValue: "AVAudioSessionModeDefault")
        public static let voiceChat = Mode(rawValue: "AVAudioSessionModeVoiceChat")
        public static let videoChat = Mode(rawValue: "AVAudioSessionModeVideoChat")
        public static let gameChat = Mode(rawValue: "AVAudioSessionModeGameChat")
        public static let videoRecording = Mode(rawValue: "AVAudioSessionModeVideoRecording")
        public static let measurement = Mode(rawValue: "AVAudioSessionModeMeasurement")
        public static let moviePlayback = Mode(rawValue: "AVAudioSessionModeMoviePlayback")
        public static let spokenAudio = Mode(rawValue: "AVAudioSessionModeSpokenAudio")
    }

    public struct CategoryOptions: OptionSet, Hashable, Sendable {
        public let rawValue: UInt
        public init(rawValue: UInt) { self.rawValue = rawValue }

        public static let mixWithOthers = CategoryOptions(rawValue: 0x1)
        public static let duckOthers = CategoryOptions(rawValue: 0x2)
        public static let allowBluetooth = CategoryOptions(rawValue: 0x4)
        public static let defaultToSpeaker = CategoryOptions(rawValue: 0x8)
        public static let interruptSpokenAudioAndMixWithOthers = CategoryOptions(rawValue: 0x11)
        public static let allowBluetoothA2DP = CategoryOptions(rawValue: 0x20)
        public static let allowAirPlay = CategoryOptions(rawValue: 0x40)
    }

    public struct SetActiveOptions: OptionSet, Hashable, Sendable {
        public let rawValue: UInt
        public init(rawValue: UInt) { self.rawValue = rawValue }

        public static let notifyOthersOnDeactivation = SetActiveOptions(rawValue: 0x1)
    }
}
