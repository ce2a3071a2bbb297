import Foundation

// The device that there is not, as far as call code asks for it.

extension AVAudioSession {
    /// The duration that the app prefers, else 20 ms.
    public var ioBufferDuration: TimeInterval { preferredIOBufferDuration > 0 ? preferredIOBufferDuration : 0.02 }

    public var inputLatency: TimeInterval { 0 }
    public var outputLatency: TimeInterval { 0 }

    /// The network takes and gives one channel.
    public var inputNumberOfChannels: Int { 1 }
    public var outputNumberOfChannels: Int { 1 }
    public var isInputAvailable: Bool { true }
    public var inputGain: Float { 1 }
    public var isInputGainSettable: Bool { false }

    /// No other app plays.
    public var isOtherAudioPlaying: Bool { false }
    public var secondaryAudioShouldBeSilencedHint: Bool { false }

    /// No prompt speaks beside a call here.
    public var promptStyle: PromptStyle { .normal }

    /// Nothing but the call sounds, and nothing interrupts it: these wishes have no effect.
    public func setAllowHapticsAndSystemSoundsDuringRecording(_ isAllowed: Bool) throws {}
    public func setPrefersNoInterruptionsFromSystemAlerts(_ isPreferred: Bool) throws {}
    /// The number is one, whatever the app prefers.
    public func setPreferredInputNumberOfChannels(_ count: Int) throws {}
    public func setPreferredOutputNumberOfChannels(_ count: Int) throws {}

    /// The length of the prompts that an app may speak.
    public enum PromptStyle: UInt, Sendable {
        /// `'none'`, `'shrt'` and `'nrml'`
        case none = 0x6e6f_6e65, short = 0x7368_7274, normal = 0x6e72_6d6c
    }

    public var availableCategories: [Category] { [.ambient, .soloAmbient, .playback, .record, .playAndRecord, .multiRoute] }
    public var availableModes: [Mode] { [.default, .voiceChat, .videoChat, .gameChat, .measurement, .moviePlayback, .spokenAudio] }

    public static let silenceSecondaryAudioHintNotification = Notification.Name("AVAudioSessionSilenceSecondaryAudioHintNotification")
}

extension AVAudioSession.Port {
    public static let HDMI = AVAudioSession.Port(rawValue: "HDMIOutput")
    public static let lineIn = AVAudioSession.Port(rawValue: "LineIn")
    public static let lineOut = AVAudioSession.Port(rawValue: "LineOut")
    public static let displayPort = AVAudioSession.Port(rawValue: "DisplayPort")
}
