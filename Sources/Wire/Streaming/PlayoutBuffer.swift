import Audio
import Primitives

/// The sound of a program that waits to be played: pieces of any length go in, samples come out, and marks become due with the samples
/// before them.
///
/// Kept as it came, so that ten minutes of speech take the memory of their bytes. Bounded by `longest` and `mostBytes`.
struct PlayoutBuffer {
    /// Seconds of sound that may wait.
    static let longest = 900
    /// Bytes of sound that may wait, whatever their coding.
    static let mostBytes = 64 << 20
    /// Marks that may wait.
    static let mostMarks = 1_024
    /// Small pieces are put together up to this length.
    private static let chunkLength = 4_096

    private let encoding: StreamEncoding
    private let decoder: FrameDecoder?
    /// Decoded Opus that was not taken yet, from `decodedStart` to `decodedEnd`.
    private var decoded: [Int16] = []
    private var decodedStart = 0, decodedEnd = 0
    private var chunks = FIFO<[UInt8]>()
    /// The newest chunk, which small pieces are added to.
    private var last: [UInt8] = []
    /// The oldest, and the bytes of it that were taken.
    private var first: [UInt8] = []
    private var firstStart = 0
    /// The first byte of a sample whose second has not come.
    private var half: UInt8?
    private var marks = FIFO<(name: String, position: Int)>()
    private(set) var bytes = 0
    /// Samples since the beginning: accepted, without those that were forgotten again; and taken.
    private(set) var accepted = 0, taken = 0

    init(_ encoding: StreamEncoding) throws(CodecError) {
        self.encoding = encoding
        decoder = encoding == .opus ? try FrameDecoder(.opus, sampleRate: encoding.sampleRate) : nil
        if let decoder { decoded = Array(repeating: 0, count: decoder.largestOutput) }
    }

    /// Samples that wait.
    var count: Int { accepted - taken }

    enum Refusal: Error { case full, malformed }

    /// Takes a piece whole, or not at all.
    mutating func append(_ piece: [UInt8]) throws(Refusal) {
        let length = try length(of: piece)
        guard count + length <= Self.longest * encoding.sampleRate, bytes + piece.count <= Self.mostBytes else { throw .full }
        accepted += length
        if case .l16 = encoding { return store(evened(piece)) }
        store(piece)
    }

    /// In samples.
    private func length(of piece: [UInt8]) throws(Refusal) -> Int {
        switch encoding {
        case .pcmu: return piece.count
        case .l16: return (piece.count + (half == nil ? 0 : 1)) / 2
        case .opus:
            guard let ticks = AudioCodec.opus.duration(of: piece.span) else { throw .malformed }
            return ticks
        }
    }

    /// Whole samples: with the half one from before, and without the half one at the end.
    private mutating func evened(_ piece: [UInt8]) -> [UInt8] {
        guard half != nil || !piece.count.isMultiple(of: 2) else { return piece }
        var whole = (half.map { [$0] } ?? []) + piece
        half = whole.count.isMultiple(of: 2) ? nil : whole.removeLast()
        return whole
    }

    private mutating func store(_ piece: [UInt8]) {
        guard !piece.isEmpty else { return }
        bytes += piece.count
        if encoding == .opus { return chunks.append(piece) }
        if last.count + piece.count > Self.chunkLength, !last.isEmpty {
            chunks.append(last)
            last = []
        }
        if piece.count >= Self.chunkLength { chunks.append(piece) } else { last += piece }
    }

    var hasMarks: Bool { marks.first != nil }

    /// False where too many wait.
    mutating func mark(_ name: String) -> Bool {
        guard marks.count < Self.mostMarks else { return false }
        marks.append((name, accepted))
        return true
    }

    /// Forgets all that waits. The names of all marks that were not told yet, in their order.
    mutating func clear() -> [String] {
        (chunks, last, first, firstStart, half, bytes) = (FIFO(), [], [], 0, nil, 0)
        (decodedStart, decodedEnd, accepted) = (0, 0, taken)
        defer { marks = FIFO() }
        return takeMarks(upTo: .max)
    }

    /// The names of the marks that are due when so many samples have been played.
    mutating func takeMarks(upTo played: Int) -> [String] {
        var due: [String] = []
        while let mark = marks.first, mark.position <= played {
            due.append(mark.name)
            _ = marks.popFirst()
        }
        return due
    }

    /// Fills as much of the room as there is sound for.
    /// - Returns: samples written.
    mutating func take(into room: UnsafeMutableBufferPointer<Int16>) -> Int {
        let wanted = min(room.count, count)
        var done = 0
        while done < wanted {
            let piece = encoding == .opus ? takeDecoded(room, done, wanted) : takePlain(room, done, wanted)
            guard piece > 0 else { break }
            done += piece
        }
        taken += done
        return done
    }

    private mutating func takePlain(_ room: UnsafeMutableBufferPointer<Int16>, _ start: Int, _ end: Int) -> Int {
        guard firstStart < first.count || nextChunk() else { return 0 }
        let size = encoding == .pcmu ? 1 : 2, count = min(end - start, (first.count - firstStart) / size)
        if encoding == .pcmu {
            for index in 0..<count { room[start + index] = G711.decodeMu(first[firstStart + index]) }
        } else {
            for index in 0..<count {
                let place = firstStart + 2 * index
                room[start + index] = Int16(bitPattern: UInt16(first[place]) | UInt16(first[place + 1]) << 8)
            }
        }
        firstStart += count * size
        bytes -= count * size
        return count
    }

    private mutating func nextChunk() -> Bool {
        firstStart = 0
        if let chunk = chunks.popFirst() {
            first = chunk
        } else {
            (first, last) = (last, [])
        }
        return !first.isEmpty
    }

    /// A packet that does not decode is silence for as long as it said.
    private mutating func takeDecoded(_ room: UnsafeMutableBufferPointer<Int16>, _ start: Int, _ end: Int) -> Int {
        if decodedStart == decodedEnd {
            guard let packet = chunks.popFirst(), let decoder else { return 0 }
            bytes -= packet.count
            var samples = decoded.mutableSpan
            let said = AudioCodec.opus.duration(of: packet.span) ?? 0
            let made = (try? decoder.decode(packet.span, into: &samples)) ?? 0
            for index in made..<max(made, said) { decoded[index] = 0 }
            (decodedStart, decodedEnd) = (0, said)
        }
        let count = min(end - start, decodedEnd - decodedStart)
        for index in 0..<count { room[start + index] = decoded[decodedStart + index] }
        decodedStart += count
        return count
    }
}
