/// Why bytes are no sound file that can be played.
public enum SoundFileError: Error, Hashable, Sendable, CustomStringConvertible {
    /// An error in a file that begins as WAV does, or as nothing that is known.
    case wav(WAV.ParseError)
    /// An error in an Ogg file.
    case opus(OggOpusError)

    /// Whether it has more samples than are read.
    public var isTooLong: Bool { self == .wav(.tooLong) || self == .opus(.tooLong) }

    public var description: String {
        switch self {
        case .wav(.notWAV): "neither WAV nor Ogg Opus"
        case .wav(let error): "\(error)"
        case .opus(let error): "\(error)"
        }
    }
}

extension WAV {
    /// Reads a sound file: WAV, or Ogg Opus.
    ///
    /// - Parameter limit: samples that are accepted; the default is ten minutes at 48 kHz.
    public init(parsingSoundFile bytes: [UInt8], limit: Int = 28_800_000) throws(SoundFileError) {
        if bytes.starts(with: Array("OggS".utf8)) {
            do throws(OggOpusError) { try self.init(parsingOggOpus: bytes, limit: limit) } catch { throw .opus(error) }
        } else {
            do throws(WAV.ParseError) { try self.init(parsing: bytes, limit: limit) } catch { throw .wav(error) }
        }
    }
}
