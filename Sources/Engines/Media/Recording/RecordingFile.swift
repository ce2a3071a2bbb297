import Audio
import Glibc

/// The format of a recording.
public enum RecordingFormat: String, Hashable, Sendable, CaseIterable {
    /// 16-bit PCM.
    case wav
    /// Ogg Opus.
    case opus
}

/// The sides of a call that a recording holds.
public enum RecordedSides: Hashable, Sendable {
    /// Stereo: what the leg's far end says is left, what it hears is right.
    case both
    /// Mono: what the leg's far end says.
    case farEnd

    /// Channels of the file.
    var channels: Int { self == .both ? 2 : 1 }
}

/// Why a recording could not be written. The description is a few words for a person.
public enum RecordingError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The `errno` of a system call.
    case system(Int32)
    /// The Opus encoder refused.
    case codec(CodecError)
    /// The format can hold no more.
    case full

    public var description: String {
        switch self {
        case .system(let code): String(cString: strerror(code))
        case .codec(let error): "\(error)"
        case .full: "the file is as long as its format allows"
        }
    }
}

/// A sound file that grows. Readable at any time, also when its writer was killed: sizes are patched each second, pages are whole seconds.
///
/// Writing waits for the disk. After an error nothing more is to be asked of it; what was written is readable.
struct RecordingFile: ~Copyable {
    let path: String
    private let descriptor: Int32
    /// One of the two, by the format.
    private let format: RecordingFormat
    private var wav: WAVWriter?
    private var opus: OggOpusWriter?
    private var bytes: [UInt8]
    private var secondsPatched = 0

    /// Opens a file to write, and gives it its name.
    typealias Creator = @Sendable (String) throws(RecordingError) -> (descriptor: Int32, path: String)

    static func begin(
        _ path: String, _ format: RecordingFormat, _ sides: RecordedSides = .both, sampleRate: Int, serial: UInt32,
        create: Creator = RecordingFile.create
    ) throws(RecordingError) -> RecordingFile {
        switch format {
        case .wav: return RecordingFile(try create(path), WAVWriter(sampleRate: sampleRate, channels: sides.channels))
        case .opus:
            let writer = try opusWriter(sides, sampleRate, serial)
            return RecordingFile(try create(path), writer)
        }
    }

    private init(_ file: (descriptor: Int32, path: String), _ writer: WAVWriter) {
        (descriptor, path, format, bytes, wav) = (file.descriptor, file.path, .wav, writer.header, writer)
    }

    private init(_ file: (descriptor: Int32, path: String), _ writer: consuming OggOpusWriter) {
        (descriptor, path, format, bytes) = (file.descriptor, file.path, .opus, writer.header)
        opus = consume writer
    }

    private static func opusWriter(_ sides: RecordedSides, _ sampleRate: Int, _ serial: UInt32) throws(RecordingError) -> OggOpusWriter {
        var settings = OpusSettings(bitrate: 24_000 * Int32(sides.channels), complexity: 7, forwardErrorCorrection: false)
        settings.application = .audio
        do throws(CodecError) {
            return try OggOpusWriter(sampleRate: sampleRate, channels: sides.channels, serial: serial, settings: settings)
        } catch { throw .codec(error) }
    }

    deinit { close(descriptor) }

    /// Adds interleaved samples.
    mutating func append(_ samples: Span<Int16>) throws(RecordingError) {
        if let wav, wav.sampleCount >= wav.sampleLimit { throw .full }
        switch format {
        case .wav: wav!.append(samples, to: &bytes)
        case .opus: do throws(CodecError) { try opus!.append(samples, to: &bytes) } catch { throw .codec(error) }
        }
        if bytes.count >= 32_768 { try flush() }
    }

    /// Writes what waits.
    mutating func flush() throws(RecordingError) {
        defer { bytes.removeAll(keepingCapacity: true) }
        var done = 0
        while done < bytes.count {
            let count = bytes.withUnsafeBytes { write(descriptor, $0.baseAddress! + done, $0.count - done) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw .system(count < 0 ? errno : ENOSPC) }
            done += count
        }
        try patch()
    }

    /// The last samples, pages and sizes.
    mutating func finish() throws(RecordingError) {
        secondsPatched = -1
        if format == .opus { do throws(CodecError) { try opus!.finish(to: &bytes) } catch { throw .codec(error) } }
        try flush()
    }

    /// Takes its name away.
    func remove() { unlink(path) }

    /// The sizes of a WAV, once a second.
    private mutating func patch() throws(RecordingError) {
        guard let wav, wav.sampleCount / wav.sampleRate != secondsPatched else { return }
        secondsPatched = wav.sampleCount / wav.sampleRate
        for patch in wav.patches {
            let count = patch.bytes.withUnsafeBytes { pwrite(descriptor, $0.baseAddress!, $0.count, off_t(patch.offset)) }
            if count != patch.bytes.count { throw .system(count < 0 ? errno : ENOSPC) }
        }
    }

    /// Makes the folders and a new file; where there is one of that name, `-2` and so on goes before its extension.
    @Sendable static func create(_ path: String) throws(RecordingError) -> (descriptor: Int32, path: String) {
        try makeFolders(of: path)
        let slash = path.lastIndex(of: "/"),
            dot = path.lastIndex(of: ".").flatMap { dot in slash.map { dot > $0 } ?? true ? dot : nil } ?? path.endIndex
        for number in 1...999 {
            let name = number == 1 ? path : "\(path[..<dot])-\(number)\(path[dot...])"
            let descriptor = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o640)
            if descriptor >= 0 { return (descriptor, name) }
            if errno != EEXIST { throw .system(errno) }
        }
        throw .system(EEXIST)
    }

    private static func makeFolders(of path: String) throws(RecordingError) {
        for index in path.indices where path[index] == "/" && index != path.startIndex {
            if mkdir(String(path[..<index]), 0o750) != 0, errno != EEXIST { throw .system(errno) }
        }
    }
}
