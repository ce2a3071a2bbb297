/// Changes the sample rate of one mono stream: a polyphase windowed-sinc filter of linear phase.
///
/// Flat within 0.1 dB up to 0.85 of the lower of the two Nyquist frequencies, 60 dB down from that frequency on (3.4 and 4.0 kHz when one
/// side is 8 kHz). Any two rates whose ratio in lowest terms has no number above 480 will do. A value: a copy goes on from the same state.
public struct Resampler: Sendable {
    /// The sample rate of the input, in Hz.
    public let inputRate: Int
    /// The sample rate of the output, in Hz.
    public let outputRate: Int

    private let up: Int, down: Int
    /// Taps per phase, a multiple of 8.
    private let taps: Int
    /// `up` phases, one after the other, each oldest sample first.
    private let filter: [Float]
    /// The last `taps - 1` samples, then room for `chunk` new ones.
    private var window: [Float]
    /// The position of the next output between input samples, in units of one input sample divided by `up`; may lie ahead of the input by
    /// whole samples.
    private var phase = 0

    private static let chunk = 480

    /// - Throws: `.unsupported` for rates below 1 Hz or above 192 kHz and for ratios that are too awkward.
    public init(from inputRate: Int, to outputRate: Int) throws(CodecError) {
        guard (1...192_000).contains(inputRate), (1...192_000).contains(outputRate) else { throw .unsupported }
        let common = greatestCommonDivisor(inputRate, outputRate)
        (up, down) = (outputRate / common, inputRate / common)
        guard up <= 480, down <= 480 else { throw .unsupported }
        (self.inputRate, self.outputRate) = (inputRate, outputRate)
        (filter, taps) = Self.polyphase(up: up, down: down)
        window = Array(repeating: 0, count: taps - 1 + Self.chunk)
    }

    /// The delay of the output, in seconds.
    public var delay: Double { up == down ? 0 : Double(taps * up - 1) / 2 / Double(inputRate * up) }

    /// The most samples that so many can become.
    public func outputCapacity(for inputCount: Int) -> Int { (inputCount * up + down - 1) / down }

    /// Takes all of `input` and gives the output that is due.
    ///
    /// 20 ms in are always 20 ms out for 8, 16, 24 and 48 kHz. Rates that are equal pass unchanged.
    /// - Returns: samples written.
    /// - Throws: `.bufferTooSmall` when `output` holds fewer than `outputCapacity(for:)`; nothing was taken then.
    public mutating func process(_ input: Span<Int16>, into output: inout MutableSpan<Int16>) throws(CodecError) -> Int {
        guard output.count >= outputCapacity(for: input.count) else { throw .bufferTooSmall }
        if up == down {
            for index in 0..<input.count { output[index] = input[index] }
            return input.count
        }
        var taken = 0, written = 0
        while taken < input.count {
            let count = min(Self.chunk, input.count - taken)
            for index in 0..<count { window[taps - 1 + index] = Float(input[taken + index]) }
            written = filterChunk(count, into: &output, at: written)
            taken += count
        }
        return written
    }

    /// Forgets what it heard.
    public mutating func reset() {
        for index in window.indices { window[index] = 0 }
        phase = 0
    }

    private mutating func filterChunk(_ count: Int, into output: inout MutableSpan<Int16>, at start: Int) -> Int {
        var written = start
        let up = up, down = down, taps = taps
        filter.withUnsafeBufferPointer { filter in
            window.withUnsafeBufferPointer { window in
                while phase < count * up {
                    let (sample, branch) = phase.quotientAndRemainder(dividingBy: up)
                    let sum = dotProduct(window.baseAddress! + sample, filter.baseAddress! + branch * taps, taps)
                    output[written] = Int16(max(-32_768, min(32_767, sum.rounded())))
                    written += 1
                    phase += down
                }
            }
        }
        phase -= count * up
        for index in 0..<taps - 1 { window[index] = window[count + index] }
        return written
    }
}

/// `count` is a multiple of 8.
@inline(__always)
private func dotProduct(_ left: UnsafePointer<Float>, _ right: UnsafePointer<Float>, _ count: Int) -> Float {
    let left = UnsafeRawPointer(left), right = UnsafeRawPointer(right)
    var sums = SIMD8<Float>.zero
    for offset in stride(from: 0, to: count * 4, by: 32) {
        sums +=
            left.loadUnaligned(fromByteOffset: offset, as: SIMD8<Float>.self)
            * right.loadUnaligned(fromByteOffset: offset, as: SIMD8<Float>.self)
    }
    return sums.sum()
}

private func greatestCommonDivisor(_ left: Int, _ right: Int) -> Int { right == 0 ? left : greatestCommonDivisor(right, left % right) }
