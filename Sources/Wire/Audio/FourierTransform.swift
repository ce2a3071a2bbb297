import Glibc

/// A radix-2 transform in single precision; for measuring, not for packets.
enum FourierTransform {
    /// `result[d]` = Σ left[i] · right[i + d], with negative d counted from the end. Neither may be empty.
    static func crossCorrelation(_ left: [Float], _ right: [Float]) -> [Float] {
        var size = 2
        while size < left.count + right.count { size *= 2 }
        // Two real signals in one transform: left as the real part, right as the imaginary.
        var real = left + Array(repeating: 0, count: size - left.count)
        var imaginary = right + Array(repeating: 0, count: size - right.count)
        transform(&real, &imaginary)
        var productReal = [Float](repeating: 0, count: size), productImaginary = productReal
        for index in 0..<size {
            let mirror = (size - index) & (size - 1)
            let l = (real[index] + real[mirror], imaginary[index] - imaginary[mirror])
            let r = (imaginary[index] + imaginary[mirror], real[mirror] - real[index])
            // The conjugate of conj(L)·R: the forward transform of it is the inverse one of conj(L)·R, conjugated and times `size`.
            productReal[index] = (l.0 * r.0 + l.1 * r.1) / Float(4 * size)
            productImaginary[index] = -(l.0 * r.1 - l.1 * r.0) / Float(4 * size)
        }
        transform(&productReal, &productImaginary)
        return productReal
    }

    /// In place; the count is a power of two.
    static func transform(_ real: inout [Float], _ imaginary: inout [Float]) {
        let size = real.count
        precondition(size == imaginary.count && size & (size - 1) == 0, "a power of two")
        real.withUnsafeMutableBufferPointer { real in
            imaginary.withUnsafeMutableBufferPointer { imaginary in
                permute(real, imaginary)
                var half = 1
                while half < size {
                    butterflies(real, imaginary, half)
                    half *= 2
                }
            }
        }
    }

    private static func permute(_ real: UnsafeMutableBufferPointer<Float>, _ imaginary: UnsafeMutableBufferPointer<Float>) {
        var reversed = 0
        for index in 0..<real.count {
            if index < reversed {
                real.swapAt(index, reversed)
                imaginary.swapAt(index, reversed)
            }
            var bit = real.count >> 1
            while bit > 0, reversed & bit != 0 {
                reversed ^= bit
                bit >>= 1
            }
            reversed |= bit
        }
    }

    private static func butterflies(_ real: UnsafeMutableBufferPointer<Float>, _ imaginary: UnsafeMutableBufferPointer<Float>, _ half: Int)
    {
        for offset in 0..<half {
            let angle = -Double.pi * Double(offset) / Double(half)
            let (c, s) = (Float(cos(angle)), Float(sin(angle)))
            var low = offset
            while low < real.count {
                let high = low + half
                let (r, i) = (real[high] * c - imaginary[high] * s, real[high] * s + imaginary[high] * c)
                (real[high], imaginary[high]) = (real[low] - r, imaginary[low] - i)
                (real[low], imaginary[low]) = (real[low] + r, imaginary[low] + i)
                low += 2 * half
            }
        }
    }
}
