import Foundation

extension AVAudioSession {
    /// Without inputs and outputs: sound goes to the network, and no device is in between.
    public var currentRoute: AVAudioSessionRouteDescription { AVAudioSessionRouteDescription() }

    /// None.
    public var availableInputs: [AVAudioSessionPortDescription]? { [] }

    /// 48000 samples a second, whatever the app prefers: the most that a call's codec has. Each call has the rate of its own codec.
    public var sampleRate: Double { 48_000 }

    /// Nothing makes a call's sound softer.
    public var outputVolume: Float { 1 }

    public struct Port: RawRepresentable, Hashable, Sendable {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }

        public static let builtInMic = Port(rawValue: "MicrophoneBuiltIn")
        public static let headsetMic = Port(rawValue: "MicrophoneWired")
        public static let builtInReceiver = Port(rawValue: "Receiver")
        public static let builtInSpeaker = Port(rawValue: "Speaker")
        public static let headphones = Port(rawValue: "Headphones")
        public static let bluetoothHFP = Port(rawValue: "BluetoothHFP")
        public static let bluetoothA2DP = Port(rawValue: "BluetoothA2DPOutput")
        public static let bluetoothLE = Port(rawValue: "BluetoothLE")
        public static let airPlay = Port(rawValue: "AirPlay")
        public static let carAudio = Port(rawValue: "CarAudio")
        public static let usbAudio = Port(rawValue: "USBAudio")
    }
}

/// The route of a session's sound: its sources and its destinations.
open class AVAudioSessionRouteDescription: NSObject, @unchecked Sendable {
    public let inputs: [AVAudioSessionPortDescription]
    public let outputs: [AVAudioSessionPortDescription]

    override init() {
        (inputs, outputs) = ([], [])
        super.init()
    }

    /// For tests of an app; on Apple systems only the system makes these.
    public init(hookswitch inputs: [AVAudioSessionPortDescription], outputs: [AVAudioSessionPortDescription]) {
        (self.inputs, self.outputs) = (inputs, outputs)
        super.init()
    }
}

/// A device, or a part of one, that takes or gives sound.
open class AVAudioSessionPortDescription: NSObject, @unchecked Sendable {
    public let portType: AVAudioSession.Port
    public let portName: String
    public let uid: String

    /// For tests of an app; on Apple systems only the system makes these.
    public init(hookswitch type: AVAudioSession.Port, name: String) {
        (portType, portName, uid) = (type, name, name)
        super.init()
    }
}
