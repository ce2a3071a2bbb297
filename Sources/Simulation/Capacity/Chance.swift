import Glibc
import Primitives

// Numbers by chance, from a source that is given.
extension RandomNumberGenerator {
    /// From 0 to below 1.
    mutating func share() -> Double { Double.random(in: 0..<1, using: &self) }

    /// A time without memory, of this mean.
    mutating func exponential(_ mean: Double) -> Double { -log(1 - share()) * mean }

    /// The number of independent events, of this mean (Knuth's product for small means, a normal distribution beyond).
    mutating func poisson(_ mean: Double) -> Int {
        guard mean > 0 else { return 0 }
        if mean > 50 { return max(0, Int((mean + normal() * mean.squareRoot()).rounded())) }
        let limit = exp(-mean)
        var count = 0, product = share()
        while product > limit {
            count += 1
            product *= share()
        }
        return count
    }

    /// A normal number of mean 0 and variance 1 (Box and Muller).
    private mutating func normal() -> Double { (-2 * log(1 - share())).squareRoot() * cos(2 * .pi * share()) }
}
