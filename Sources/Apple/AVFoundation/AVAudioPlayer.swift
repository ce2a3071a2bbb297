import Foundation

/// A player of a sound file: it holds what the app gives it, and is silent. It plays until it is stopped; no sound ends by itself.
open class AVAudioPlayer: NSObject, @unchecked Sendable {
    public let url: URL?
    public let data: Data?
    open weak var delegate: (any AVAudioPlayerDelegate)?
    open var volume: Float = 1
    open var pan: Float = 0
    open var rate: Float = 1
    open var enableRate = false
    /// Negative: for ever.
    open var numberOfLoops = 0
    open var currentTime: TimeInterval = 0
    open var isMeteringEnabled = false
    open private(set) var isPlaying = false

    /// Throws when the file is not there.
    public init(contentsOf url: URL) throws {
        guard FileManager.default.fileExists(atPath: url.path) else { throw CocoaError(.fileNoSuchFile) }
        (self.url, data) = (url, nil)
        super.init()
    }

    public convenience init(contentsOf url: URL, fileTypeHint: String?) throws { try self.init(contentsOf: url) }

    public init(data: Data) throws {
        (url, self.data) = (nil, data)
        super.init()
    }

    /// 0: the file is not read.
    open var duration: TimeInterval { 0 }

    @discardableResult open func prepareToPlay() -> Bool { true }

    @discardableResult
    open func play() -> Bool {
        isPlaying = true
        return true
    }

    open func pause() { isPlaying = false }
    open func stop() { isPlaying = false }
    open func setVolume(_ volume: Float, fadeDuration duration: TimeInterval) { self.volume = volume }
}

/// The delegate of a player. All methods may be left out; a test may call them.
public protocol AVAudioPlayerDelegate: NSObjectProtocol {
    func audioPlayerDidFinishPlaying(_ player: AVAudioPlayer, successfully flag: Bool)
    func audioPlayerDecodeErrorDidOccur(_ player: AVAudioPlayer, error: (any Error)?)
}

extension AVAudioPlayerDelegate {
    public func audioPlayerDidFinishPlaying(_ player: AVAudioPlayer, successfully flag: Bool) {}
    public func audioPlayerDecodeErrorDidOccur(_ player: AVAudioPlayer, error: (any Error)?) {}
}

/// The type of a sound file, by its uniform type identifier.
public struct AVFileType: RawRepresentable, Hashable, Sendable {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }

    public static let wav = AVFileType(rawValue: "com.microsoft.waveform-audio"), aiff = AVFileType(rawValue: "public.aiff-audio")
    public static let caf = AVFileType(rawValue: "com.apple.coreaudio-format"), m4a = AVFileType(rawValue: "com.apple.m4a-audio")
    public static let mp3 = AVFileType(rawValue: "public.mp3"), mp4 = AVFileType(rawValue: "public.mpeg-4")
}
