import Foundation

public typealias AVAudioFrameCount = UInt32
public typealias AVAudioFramePosition = Int64
public typealias AVAudioChannelCount = UInt32
public typealias AVAudioNodeBus = Int

/// The kind of a sample.
public enum AVAudioCommonFormat: UInt, Sendable {
    case otherFormat, pcmFormatFloat32, pcmFormatFloat64, pcmFormatInt16, pcmFormatInt32

    fileprivate var sampleSize: Int {
        switch self {
        case .pcmFormatInt16: 2
        case .pcmFormatFloat64: 8
        default: 4
        }
    }
}

/// The format of sound in a buffer or on a bus.
open class AVAudioFormat: NSObject, @unchecked Sendable {
    public let commonFormat: AVAudioCommonFormat
    public let sampleRate: Double
    public let channelCount: AVAudioChannelCount
    public let isInterleaved: Bool

    /// nil for no channel or no rate.
    public init?(commonFormat format: AVAudioCommonFormat, sampleRate: Double, channels: AVAudioChannelCount, interleaved: Bool) {
        guard sampleRate > 0, channels > 0 else { return nil }
        (commonFormat, self.sampleRate, channelCount, isInterleaved) = (format, sampleRate, channels, interleaved)
        super.init()
    }

    /// 32-bit floats, not interleaved.
    public convenience init?(standardFormatWithSampleRate sampleRate: Double, channels: AVAudioChannelCount) {
        self.init(commonFormat: .pcmFormatFloat32, sampleRate: sampleRate, channels: channels, interleaved: false)
    }

    open var isStandard: Bool { commonFormat == .pcmFormatFloat32 && !isInterleaved }

    /// The format of a bus that nothing was connected to: one channel of 48 kHz.
    static let usual = AVAudioFormat(standardFormatWithSampleRate: 48_000, channels: 1)!

    open override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? AVAudioFormat else { return false }
        return (commonFormat, sampleRate, channelCount, isInterleaved)
            == (other.commonFormat, other.sampleRate, other.channelCount, other.isInterleaved)
    }

    open override var hash: Int { Int(sampleRate) ^ Int(channelCount) }
}

/// Sound in memory, in a format.
open class AVAudioBuffer: NSObject, @unchecked Sendable {
    public let format: AVAudioFormat
    init(format: AVAudioFormat) {
        self.format = format
        super.init()
    }
}

/// Samples that call code fills or reads. All are zero at first.
open class AVAudioPCMBuffer: AVAudioBuffer, @unchecked Sendable {
    public let frameCapacity: AVAudioFrameCount
    /// The frames that are valid; never more than the capacity.
    open var frameLength: AVAudioFrameCount = 0 { didSet { frameLength = min(frameLength, frameCapacity) } }
    private let memory: UnsafeMutableRawPointer
    private let channels: UnsafeMutablePointer<UnsafeMutableRawPointer>

    public init?(pcmFormat format: AVAudioFormat, frameCapacity: AVAudioFrameCount) {
        guard format.commonFormat != .otherFormat else { return nil }
        self.frameCapacity = frameCapacity
        let size = format.commonFormat.sampleSize, count = Int(format.channelCount), total = max(1, size * count * Int(frameCapacity))
        memory = .allocate(byteCount: total, alignment: 16)
        memory.initializeMemory(as: UInt8.self, repeating: 0, count: total)
        channels = .allocate(capacity: count)
        let step = format.isInterleaved ? size : size * Int(frameCapacity)
        for channel in 0..<count { (channels + channel).initialize(to: memory + step * channel) }
        super.init(format: format)
    }

    deinit {
        channels.deallocate()
        memory.deallocate()
    }

    open var stride: Int { format.isInterleaved ? Int(format.channelCount) : 1 }
    /// One pointer a channel; nil where the samples are of another kind.
    open var floatChannelData: UnsafePointer<UnsafeMutablePointer<Float>>? { channels(of: .pcmFormatFloat32) }
    open var int16ChannelData: UnsafePointer<UnsafeMutablePointer<Int16>>? { channels(of: .pcmFormatInt16) }
    open var int32ChannelData: UnsafePointer<UnsafeMutablePointer<Int32>>? { channels(of: .pcmFormatInt32) }

    private func channels<Sample>(of kind: AVAudioCommonFormat) -> UnsafePointer<UnsafeMutablePointer<Sample>>? {
        guard format.commonFormat == kind else { return nil }
        return UnsafeRawPointer(channels).assumingMemoryBound(to: UnsafeMutablePointer<Sample>.self)
    }
}

/// A moment of sound: of the host's clock, of samples, or of both.
open class AVAudioTime: NSObject, @unchecked Sendable {
    public let hostTime: UInt64
    public let sampleTime: AVAudioFramePosition
    public let sampleRate: Double

    public init(hostTime: UInt64) {
        (self.hostTime, sampleTime, sampleRate) = (hostTime, 0, 0)
        super.init()
    }

    public init(sampleTime: AVAudioFramePosition, atRate sampleRate: Double) {
        (hostTime, self.sampleTime, self.sampleRate) = (0, sampleTime, sampleRate)
        super.init()
    }

    open var isHostTimeValid: Bool { sampleRate == 0 }
    open var isSampleTimeValid: Bool { sampleRate > 0 }
}

/// A sound file that is read. It must be there; its samples are not read, and it has no length.
open class AVAudioFile: NSObject, @unchecked Sendable {
    public let url: URL
    open var framePosition: AVAudioFramePosition = 0

    /// Throws when the file is not there.
    public init(forReading url: URL) throws {
        guard FileManager.default.fileExists(atPath: url.path) else { throw CocoaError(.fileNoSuchFile) }
        self.url = url
        super.init()
    }

    open var length: AVAudioFramePosition { 0 }
    open var fileFormat: AVAudioFormat { .usual }
    open var processingFormat: AVAudioFormat { .usual }

    /// Reads nothing.
    open func read(into buffer: AVAudioPCMBuffer) throws { buffer.frameLength = 0 }
}
