import Foundation

public typealias AVAudioNodeTapBlock = (_ buffer: AVAudioPCMBuffer, _ when: AVAudioTime) -> Void
public typealias AVAudioNodeCompletionHandler = @Sendable () -> Void

/// A part of an engine. It keeps its taps, and no sound comes to them by itself.
open class AVAudioNode: NSObject, @unchecked Sendable {
    private let taps = AudioLocked<[AVAudioNodeBus: AVAudioNodeTapBlock]>([:])
    let formats = AudioLocked<[AVAudioNodeBus: AVAudioFormat]>([:])
    open internal(set) weak var engine: AVAudioEngine?

    open var numberOfInputs: Int { 1 }
    open var numberOfOutputs: Int { 1 }
    open var lastRenderTime: AVAudioTime? { nil }

    /// The format of its connection; one channel of 48 kHz where there is none.
    open func outputFormat(forBus bus: AVAudioNodeBus) -> AVAudioFormat { formats.update { $0[bus] } ?? .usual }
    open func inputFormat(forBus bus: AVAudioNodeBus) -> AVAudioFormat { .usual }

    open func installTap(
        onBus bus: AVAudioNodeBus, bufferSize: AVAudioFrameCount, format: AVAudioFormat?, block tapBlock: @escaping AVAudioNodeTapBlock
    ) { taps.update { $0[bus] = tapBlock } }

    open func removeTap(onBus bus: AVAudioNodeBus) { taps.update { $0[bus] = nil } }
    open func reset() {}

    /// Sound comes to the tap of a bus, on the caller's thread. Whether there is one. Not on Apple systems.
    @discardableResult
    public func hookswitchDeliver(_ buffer: AVAudioPCMBuffer, onBus bus: AVAudioNodeBus = 0, at time: AVAudioTime? = nil) -> Bool {
        let tap = taps.update { $0[bus] }
        tap?(buffer, time ?? AVAudioTime(sampleTime: 0, atRate: buffer.format.sampleRate))
        return tap != nil
    }
}

/// A node of the device: the microphone's, or the speaker's. Wishes are kept, and change nothing.
open class AVAudioIONode: AVAudioNode, @unchecked Sendable {
    open private(set) var isVoiceProcessingEnabled = false
    open func setVoiceProcessingEnabled(_ enabled: Bool) throws { isVoiceProcessingEnabled = enabled }
    open var presentationLatency: TimeInterval { 0 }
}

/// The microphone. A call's sound is the line's, and does not come through here.
open class AVAudioInputNode: AVAudioIONode, @unchecked Sendable {
    open var isVoiceProcessingBypassed = false, isVoiceProcessingAGCEnabled = true, isVoiceProcessingInputMuted = false
    open var volume: Float = 1, pan: Float = 0
}

/// The speaker.
open class AVAudioOutputNode: AVAudioIONode, @unchecked Sendable {}

/// A mixer of its inputs. Nothing is mixed.
open class AVAudioMixerNode: AVAudioNode, @unchecked Sendable {
    open var outputVolume: Float = 1, volume: Float = 1, pan: Float = 0
    open var nextAvailableInputBus: AVAudioNodeBus { 0 }
}

/// A player of buffers and files. It is silent, and plays until it is stopped: then what was scheduled is over.
open class AVAudioPlayerNode: AVAudioNode, @unchecked Sendable {
    private let waiting = AudioLocked<[AVAudioNodeCompletionHandler]>([])
    open private(set) var isPlaying = false
    open var volume: Float = 1, pan: Float = 0, rate: Float = 1

    public override init() { super.init() }

    open func scheduleBuffer(
        _ buffer: AVAudioPCMBuffer, at when: AVAudioTime? = nil, options: AVAudioPlayerNodeBufferOptions = [],
        completionHandler: AVAudioNodeCompletionHandler? = nil
    ) {
        if options.contains(.interrupts) { finish() }
        schedule(completionHandler)
    }

    open func scheduleBuffer(_ buffer: AVAudioPCMBuffer, completionHandler: AVAudioNodeCompletionHandler? = nil) {
        schedule(completionHandler)
    }

    open func scheduleFile(_ file: AVAudioFile, at when: AVAudioTime?, completionHandler: AVAudioNodeCompletionHandler? = nil) {
        schedule(completionHandler)
    }

    open func scheduleSegment(
        _ file: AVAudioFile, startingFrame: AVAudioFramePosition, frameCount: AVAudioFrameCount, at when: AVAudioTime?,
        completionHandler: AVAudioNodeCompletionHandler? = nil
    ) { schedule(completionHandler) }

    open func prepare(withFrameCount frameCount: AVAudioFrameCount) {}
    open func play() { isPlaying = true }
    open func play(at when: AVAudioTime?) { play() }
    open func pause() { isPlaying = false }

    /// Ends what was scheduled: its handlers are called before this returns.
    open func stop() {
        isPlaying = false
        finish()
    }

    open func playerTime(forNodeTime nodeTime: AVAudioTime) -> AVAudioTime? { nil }
    open func nodeTime(forPlayerTime playerTime: AVAudioTime) -> AVAudioTime? { nil }

    private func schedule(_ handler: AVAudioNodeCompletionHandler?) { if let handler { waiting.update { $0.append(handler) } } }

    private func finish() {
        let over = waiting.update { waiting in
            defer { waiting = [] }
            return waiting
        }
        for handler in over { handler() }
    }
}

public struct AVAudioPlayerNodeBufferOptions: OptionSet, Sendable {
    public let rawValue: UInt
    public init(rawValue: UInt) { self.rawValue = rawValue }
    public static let loops = AVAudioPlayerNodeBufferOptions(rawValue: 1), interrupts = AVAudioPlayerNodeBufferOptions(rawValue: 2)
    public static let interruptsAtLoop = AVAudioPlayerNodeBufferOptions(rawValue: 4)
}

/// A value behind a lock.
final class AudioLocked<Value>: @unchecked Sendable {
    private let lock = NSLock()
    private var value: Value
    init(_ value: Value) { self.value = value }
    func update<Result>(_ change: (inout Value) -> Result) -> Result { lock.withLock { change(&value) } }
}
