import Audio
import Primitives

/// One stream of sound to a program and back, above its WebSocket: messages and samples in, messages and samples out.
///
/// Without I/O and clock; belongs to one lane. After each call its owner sends what `takeOutputs` gives.
public final class StreamSession {
    public enum Output: Sendable, Equatable {
        case text([UInt8])
        case binary([UInt8])
        /// Samples that were handed out and are not played yet are not to be played.
        case forget
        /// The program wants no more to be played for now, or wants it to go on.
        case pause(Bool)
        case digits(String)
        case hangUp
        case transfer(String)
        /// The program talks nonsense, more often than it may. The last output.
        case failed
    }

    /// Mistakes of a program, counted, with the sound that they cost.
    public struct Counts: Sendable, Equatable {
        /// Messages that were not understood, or of a kind that nobody knows.
        public var malformed = 0, unknown = 0
        /// Bytes of sound that found no room.
        public var overflow = 0
        /// Pauses in the program's sound that came of its lateness, and their milliseconds.
        public var underruns = 0, missing = 0
        /// Marks that found no room.
        public var marks = 0
        /// Messages of sound that were not sent, as the program does not read.
        public var unsent = 0

        /// None.
        public init() {}

        /// Adds those of another stream.
        public static func += (sum: inout Counts, counts: Counts) {
            sum.malformed += counts.malformed
            sum.unknown += counts.unknown
            sum.overflow += counts.overflow
            sum.underruns += counts.underruns
            sum.missing += counts.missing
            sum.marks += counts.marks
            sum.unsent += counts.unsent
        }
    }

    /// Messages that a program may have wrong.
    public static let mostMalformed = 20

    private let format: StreamFormat
    private var writer: StreamWriter
    private var buffer: PlayoutBuffer
    private let encoder: FrameEncoder?
    /// nil: the program speaks.
    private let tap: StreamTap?
    /// Of two directions in one message.
    private var channels = ChannelPair()
    /// Samples that wait for a whole frame of Opus.
    private var unencoded: [Int16] = []
    /// Samples that were heard since the start, of each track.
    private var heard: [StreamTrack: Int] = [:]
    private var outputs: [Output] = []
    private var isOver = false
    public private(set) var counts = Counts()

    /// - Parameter tap: the sound that the program listens to, where it does not speak; nil: it hears the far end, and speaks.
    /// - Throws: what libopus says.
    public init(_ format: StreamFormat, _ call: StreamCall, tap: StreamTap? = nil) throws(CodecError) {
        (self.format, self.tap) = (format, tap)
        writer = StreamWriter(format, call, (tap ?? .in).tracks)
        buffer = try PlayoutBuffer(format.encoding)
        encoder = format.encoding == .opus ? try FrameEncoder(.opus, sampleRate: format.encoding.sampleRate) : nil
    }

    /// In Hz, of the samples in and out.
    public var sampleRate: Int { format.encoding.sampleRate }

    /// Outputs since the last call, in order.
    public func takeOutputs() -> [Output] {
        guard !outputs.isEmpty else { return [] }
        defer { outputs.removeAll(keepingCapacity: true) }
        return outputs
    }

    // MARK: To the program

    /// The program is there.
    /// - Parameter position: milliseconds from the answer of the call to the first sound.
    public func start(position: Int64) { for message in writer.start(position: position) { outputs.append(.text(message)) } }

    /// Sound of the call.
    /// - Parameter isSent: false where the program does not read: it is counted instead.
    public func hear(_ samples: Span<Int16>, of track: StreamTrack = .inbound, isSent: Bool = true) {
        guard !isOver, !samples.isEmpty else { return }
        let before = heard[track, default: 0]
        heard[track] = before + samples.count
        guard isSent else { return counts.unsent += 1 }
        switch format {
        case .twilio:
            var payload: [UInt8] = []
            payload.reserveCapacity(samples.count)
            for index in samples.indices { payload.append(G711.encodeMu(samples[index])) }
            outputs.append(.text(writer.media(payload, of: track, at: Int64(before) * 1_000 / Int64(sampleRate))))
        case .raw(.opus): encode(samples)
        case .raw where tap == .both:
            channels.append(samples, of: track)
            let pairs = channels.take(most: sampleRate / 1_000 * Self.longestLead)
            if !pairs.isEmpty { outputs.append(.binary(Self.bytes(of: pairs.span))) }
        case .raw: outputs.append(.binary(Self.bytes(of: samples)))
        }
    }

    /// Milliseconds that one direction may be ahead of the other before that is taken for silent.
    private static let longestLead = 200

    private static func bytes(of samples: Span<Int16>) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(2 * samples.count)
        for index in samples.indices {
            let sample = UInt16(bitPattern: samples[index])
            bytes.append(UInt8(truncatingIfNeeded: sample))
            bytes.append(UInt8(sample >> 8))
        }
        return bytes
    }

    private func encode(_ samples: Span<Int16>) {
        guard let encoder else { return }
        for index in samples.indices { unencoded.append(samples[index]) }
        var start = 0
        while unencoded.count - start >= encoder.samplesPerFrame {
            var packet = [UInt8](repeating: 0, count: encoder.largestPayload), room = packet.mutableSpan
            let frame = Array(unencoded[start..<start + encoder.samplesPerFrame])
            if let count = try? encoder.encode(frame.span, into: &room), count > 0 { outputs.append(.binary(Array(packet[..<count]))) }
            start += encoder.samplesPerFrame
        }
        unencoded.removeFirst(start)
    }

    /// The far end pressed a key.
    public func press(_ digit: Character) { if !isOver { outputs.append(.text(writer.digit(digit))) } }

    /// The call is held, or no more.
    public func hold(_ isHeld: Bool) { if !isOver { outputs.append(.text(writer.paused(isHeld))) } }

    /// The last message.
    public func stop(_ cause: String) {
        guard !isOver else { return }
        outputs.append(.text(writer.stop(cause)))
        isOver = true
    }

    // MARK: From the program

    /// A whole message, which is valid UTF-8.
    public func receive(text: [UInt8]) { take(ProgramMessage(text: text, format: format)) }

    /// A whole message.
    public func receive(binary: [UInt8]) { take(ProgramMessage(binary: binary, format: format)) }

    private func take(_ message: ProgramMessage?) {
        guard !isOver else { return }
        if tap != nil, message != nil { return counts.unknown += 1 }
        switch message {
        case nil: noteMalformed()
        case .unknown: counts.unknown += 1
        case .sound(let piece): append(piece)
        case .mark(let name): if !buffer.mark(name) { counts.marks += 1 }
        case .clear:
            let names = buffer.clear()
            outputs.append(.forget)
            for name in names { outputs.append(.text(writer.mark(name))) }
        case .pause: outputs.append(.pause(true))
        case .resume: outputs.append(.pause(false))
        case .digits(let digits): outputs.append(.digits(digits))
        case .hangUp: outputs.append(.hangUp)
        case .transfer(let number): outputs.append(.transfer(number))
        }
    }

    private func append(_ piece: [UInt8]) {
        do throws(PlayoutBuffer.Refusal) { try buffer.append(piece) } catch {
            switch error {
            case .malformed: noteMalformed()
            case .full:
                if counts.overflow == 0, let told = writer.overflow(piece.count) { outputs.append(.text(told)) }
                counts.overflow += piece.count
            }
        }
    }

    private func noteMalformed() {
        counts.malformed += 1
        guard counts.malformed > Self.mostMalformed else { return }
        outputs.append(.failed)
        isOver = true
    }

    // MARK: To the far end

    /// Samples that wait to be handed out.
    public var waiting: Int { buffer.count }

    /// The program is to be told of marks.
    public var hasMarks: Bool { buffer.hasMarks }

    /// Hands out samples for the far end, in order.
    /// - Returns: how many there were.
    public func hand(into room: UnsafeMutableBufferPointer<Int16>) -> Int { buffer.take(into: room) }

    /// So many of the samples that were handed out have been played or forgotten, since the beginning.
    /// - Parameters:
    ///   - underruns: pauses in the program's sound so far that came of its lateness.
    ///   - missing: their samples.
    public func played(_ samples: Int, underruns: Int, missing: Int) {
        guard !isOver else { return }
        for name in buffer.takeMarks(upTo: samples) { outputs.append(.text(writer.mark(name))) }
        guard underruns > counts.underruns else { return }
        let milliseconds = missing * 1_000 / sampleRate
        if let told = writer.underrun(milliseconds - counts.missing) { outputs.append(.text(told)) }
        (counts.underruns, counts.missing) = (underruns, milliseconds)
    }
}
