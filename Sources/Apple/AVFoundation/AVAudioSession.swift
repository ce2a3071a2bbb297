@_exported import Foundation

/// The part of AVFoundation that CallKit code touches: an audio session that records what the app asked of it.
///
/// There is no sound card behind it. A session is active when the CallKit system says so, through `provider(_:didActivate:)`; `setActive`
/// only notes the app's wish, as on a telephone where the system owns the session. Safe to use from any thread.
open class AVAudioSession: NSObject, @unchecked Sendable {
    /// The settings that the app asked for, all at one moment.
    public struct Wishes: Equatable, Sendable {
        public var category = Category.soloAmbient
        public var mode = Mode.default
        public var policy = RouteSharingPolicy.default
        public var options: CategoryOptions = []
        public var isActive = false
        public var outputPort = PortOverride.none
        public var input: AVAudioSessionPortDescription?
        /// Samples a second; nil: the app does not mind.
        public var sampleRate: Double?
        /// Seconds; nil: the app does not mind.
        public var ioBufferDuration: TimeInterval?
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
    public var routeSharingPolicy: RouteSharingPolicy { wishes.policy }
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

    open func setCategory(_ category: Category, mode: Mode, policy: RouteSharingPolicy, options: CategoryOptions = []) throws {
        lock.withLock { (state.category, state.mode, state.policy, state.options) = (category, mode, policy, options) }
    }

    open func setMode(_ mode: Mode) throws { lock.withLock { state.mode = mode } }

    open func overrideOutputAudioPort(_ portOverride: PortOverride) throws { lock.withLock { state.outputPort = portOverride } }

    open func setPreferredInput(_ inPort: AVAudioSessionPortDescription?) throws { lock.withLock { state.input = inPort } }
    public var preferredInput: AVAudioSessionPortDescription? { wishes.input }

    open func setPreferredSampleRate(_ sampleRate: Double) throws { lock.withLock { state.sampleRate = sampleRate } }
    public var preferredSampleRate: Double { wishes.sampleRate ?? 0 }

    open func setPreferredIOBufferDuration(_ duration: TimeInterval) throws { lock.withLock { state.ioBufferDuration = duration } }
    public var preferredIOBufferDuration: TimeInterval { wishes.ioBufferDuration ?? 0 }

    /// There is no microphone to protect: always granted, on a queue of the system.
    open func requestRecordPermission(_ response: @escaping @Sendable (Bool) -> Void) {
        DispatchQueue.global().async { response(true) }
    }

    public var recordPermission: RecordPermission { .granted }

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
        public static let voicePrompt = Mode(rawValue: "AVAudioSessionModeVoicePrompt")
    }

    public struct CategoryOptions: OptionSet, Hashable, Sendable {
        public let rawValue: UInt
        public init(rawValue: UInt) { self.rawValue = rawValue }

        public static let mixWithOthers = CategoryOptions(rawValue: 0x1)
        public static let duckOthers = CategoryOptions(rawValue: 0x2)
        public static let allowBluetooth = CategoryOptions(rawValue: 0x4)
        public static let allowBluetoothHFP = CategoryOptions(rawValue: 0x4)
        public static let defaultToSpeaker = CategoryOptions(rawValue: 0x8)
        public static let interruptSpokenAudioAndMixWithOthers = CategoryOptions(rawValue: 0x11)
        public static let allowBluetoothA2DP = CategoryOptions(rawValue: 0x20)
        public static let allowAirPlay = CategoryOptions(rawValue: 0x40)
        public static let overrideMutedMicrophoneInterruption = CategoryOptions(rawValue: 0x80)
    }

    public enum PortOverride: UInt, Sendable {
        case none = 0
        /// `'spkr'`
        case speaker = 0x7370_6b72
    }

    public struct SetActiveOptions: OptionSet, Hashable, Sendable {
        public let rawValue: UInt
        public init(rawValue: UInt) { self.rawValue = rawValue }

        public static let notifyOthersOnDeactivation = SetActiveOptions(rawValue: 0x1)
    }

    public enum RouteSharingPolicy: UInt, Sendable {
        case `default` = 0, longFormAudio = 1, independent = 2, longFormVideo = 3
    }

    public enum RecordPermission: UInt, Sendable {
        /// `'undt'`, `'deny'` and `'grnt'`
        case undetermined = 0x756e_6474, denied = 0x6465_6e79, granted = 0x6772_6e74
    }
}
