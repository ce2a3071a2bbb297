import Primitives

/// How a ladder is drawn.
public struct LadderOptions: Equatable, Sendable {
    /// Characters per line; columns shrink to fit. At least 72.
    public var width: Int
    /// ANSI colours.
    public var colour: Bool

    public init(width: Int = 120, colour: Bool = false) { (self.width, self.colour) = (max(width, 72), colour) }
}
