import Foundation

/// A course of change that is not seen here: what is animated is so at once.
public struct Animation: Hashable, Sendable {
    private let name: String
    private init(_ name: String) { self.name = name }

    public static let `default` = Animation("default"), linear = Animation("linear"), spring = Animation("spring")
    public static let easeIn = Animation("easeIn"), easeOut = Animation("easeOut"), easeInOut = Animation("easeInOut")
    public static func linear(duration: TimeInterval) -> Animation { linear }
    public static func easeIn(duration: TimeInterval) -> Animation { easeIn }
    public static func easeOut(duration: TimeInterval) -> Animation { easeOut }
    public static func easeInOut(duration: TimeInterval) -> Animation { easeInOut }
}

/// Runs the closure at once.
public func withAnimation<Result>(_ animation: Animation? = .default, _ body: () throws -> Result) rethrows -> Result { try body() }
