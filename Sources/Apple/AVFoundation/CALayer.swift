import Foundation

/// The layer of a view: it holds what the app gives it. On Apple systems part of QuartzCore.
open class CALayer: NSObject, @unchecked Sendable {
    open var frame = CGRect.zero
    open var cornerRadius: CGFloat = 0
    open var borderWidth: CGFloat = 0
    open var borderColor: CGColor?
    open var backgroundColor: CGColor?
    open var masksToBounds = false
    open var shadowOpacity: Float = 0
    open var shadowRadius: CGFloat = 0
    open var shadowOffset = CGSize.zero
    open var shadowColor: CGColor?
    open private(set) weak var superlayer: CALayer?
    open private(set) var sublayers: [CALayer]?

    public override init() { super.init() }

    open func addSublayer(_ layer: CALayer) {
        layer.removeFromSuperlayer()
        layer.superlayer = self
        sublayers = (sublayers ?? []) + [layer]
    }

    open func removeFromSuperlayer() {
        superlayer?.sublayers?.removeAll { $0 === self }
        superlayer = nil
    }

    /// Nothing moves.
    open func removeAllAnimations() {}
}

/// The components of a colour, each from 0 to 1. On Apple systems part of CoreGraphics.
public struct CGColor: Hashable, Sendable {
    public let red, green, blue, alpha: CGFloat

    public init(red: CGFloat, green: CGFloat, blue: CGFloat, alpha: CGFloat) {
        (self.red, self.green, self.blue, self.alpha) = (red, green, blue, alpha)
    }
}
