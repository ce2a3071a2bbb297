import Audio
import Foundation
import Glibc

/// Why a sound file could not be read or written. The description is one sentence for a person.
public enum WAVFileError: Error, Hashable, CustomStringConvertible {
    /// Not there, or not to be read: its path.
    case cannotRead(String)
    /// More than ten minutes of 48 kHz stereo: its path.
    case tooLong(String)
    /// Its path, and what is wrong with its bytes.
    case notAudio(String, SoundFileError)
    /// Its path, and the words of the operating system.
    case cannotWrite(String, String)

    public var description: String {
        switch self {
        case .cannotRead(let path): "\(path) cannot be read"
        case .tooLong(let path): "\(path) is longer than ten minutes"
        case .notAudio(let path, let error): "\(path) cannot be played: \(error)"
        case .cannotWrite(let path, let cause): "\(path) cannot be written: \(cause)"
        }
    }
}

extension WAV {
    /// Reads a WAV or Ogg Opus file of at most ten minutes of 48 kHz stereo.
    public init(contentsOf path: String) throws(WAVFileError) {
        guard let file = FileHandle(forReadingAtPath: path) else { throw .cannotRead(path) }
        // Ten minutes of the widest samples, in both channels, and what is beside them; the parser counts samples.
        let limit = 28_800_000 * 2 * 4 + 1_000_000
        let data: Data
        do { data = try file.read(upToCount: limit) ?? Data() } catch { throw .cannotRead(path) }
        guard data.count < limit else { throw .tooLong(path) }
        do throws(SoundFileError) { try self.init(parsingSoundFile: Array(data)) } catch {
            throw error.isTooLong ? .tooLong(path) : .notAudio(path, error)
        }
    }
}

/// Writes what a call hears to a file, as it comes. Readable at any time, also after a crash.
///
/// Not thread-safe; writing waits for the disk.
public final class WAVFile {
    /// The file.
    public let path: String
    /// The first failure; nothing is written after it.
    public private(set) var failure: WAVFileError?
    private let file: FileHandle
    private var writer: WAVWriter?
    private var resampler: Resampler?
    private var patched = 0

    /// Makes the file, or empties it. A device stays the device that it is.
    public init(path: String) throws(WAVFileError) {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else { throw .cannotWrite(path, String(cString: strerror(errno))) }
        (self.path, file) = (path, FileHandle(fileDescriptor: descriptor, closeOnDealloc: true))
    }

    /// Adds one channel of samples. The first call's rate is the file's; others are converted.
    public func append(_ samples: [Int16], sampleRate: Int) {
        guard failure == nil else { return }
        var bytes: [UInt8] = []
        if writer == nil {
            let made = WAVWriter(sampleRate: sampleRate)
            (writer, bytes) = (made, made.header)
        }
        guard let rate = writer?.sampleRate, let converted = convert(samples, from: sampleRate, to: rate) else { return }
        writer?.append(converted.span, to: &bytes)
        write(bytes)
        if let writer, writer.sampleCount - patched >= 10 * rate { patch(writer) }
    }

    /// Sets the sizes and closes the file. One that took nothing at all is removed.
    public func finish() {
        patch(writer ?? WAVWriter(sampleRate: 8_000))
        var status = stat()
        let isEmpty =
            failure != nil && fstat(file.fileDescriptor, &status) == 0 && status.st_mode & S_IFMT == S_IFREG && status.st_size == 0
        try? file.close()
        if isEmpty { unlink(path) }
    }

    private func convert(_ samples: [Int16], from: Int, to: Int) -> [Int16]? {
        if from == to { return samples }
        if resampler?.inputRate != from { resampler = try? Resampler(from: from, to: to) }
        guard let capacity = resampler?.outputCapacity(for: samples.count) else { return nil }
        var converted = [Int16](repeating: 0, count: capacity), room = converted.mutableSpan
        guard let count = try? resampler?.process(samples.span, into: &room) else { return nil }
        return Array(converted.prefix(count))
    }

    private func patch(_ writer: WAVWriter) {
        guard failure == nil else { return }
        do {
            if self.writer == nil { write(writer.header) }
            for patch in writer.patches {
                try file.seek(toOffset: UInt64(patch.offset))
                try file.write(contentsOf: Data(patch.bytes))
            }
            try file.seekToEnd()
            patched = writer.sampleCount
        } catch { failure = failure ?? .cannotWrite(path, error.localizedDescription) }
    }

    private func write(_ bytes: [UInt8]) {
        var rest = bytes[...]
        while failure == nil, !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(file.fileDescriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return failure = .cannotWrite(path, String(cString: strerror(errno))) }
            rest = rest.dropFirst(count)
        }
    }
}
