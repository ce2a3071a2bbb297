import Foundation
import HookswitchObjectiveC

@_exported import class AVFoundation.CALayer
@_exported import struct AVFoundation.CGColor

// Views hold what the app gives them, and draw nothing. They are no responders: a subclass of `UIResponder` must have `init()`, which
// views of an app have not.

/// A view that holds its state and its subviews.
@preconcurrency @MainActor
open class UIView: NSObject {
    public enum ContentMode: Int, Sendable {
        case scaleToFill = 0, scaleAspectFit = 1, scaleAspectFill = 2, redraw = 3, center = 4, top = 5, bottom = 6, left = 7, right = 8
    }

    public struct AnimationOptions: OptionSet, Sendable {
        public let rawValue: UInt
        public init(rawValue: UInt) { self.rawValue = rawValue }

        public static let beginFromCurrentState = AnimationOptions(rawValue: 1 << 2)
        public static let `repeat` = AnimationOptions(rawValue: 1 << 3)
        public static let autoreverse = AnimationOptions(rawValue: 1 << 4)
        public static let curveEaseInOut = AnimationOptions([])
        public static let curveEaseIn = AnimationOptions(rawValue: 1 << 16)
        public static let curveEaseOut = AnimationOptions(rawValue: 2 << 16)
        public static let curveLinear = AnimationOptions(rawValue: 3 << 16)
        public static let transitionCrossDissolve = AnimationOptions(rawValue: 5 << 20)
    }

    open var frame: CGRect
    open var transform = CGAffineTransform.identity
    open var alpha: CGFloat = 1
    open var isHidden = false
    open var isOpaque = true
    open var clipsToBounds = false
    open var tag = 0
    open var backgroundColor: UIColor?
    open var tintColor: UIColor! = .systemBlue
    open var contentMode = ContentMode.scaleToFill
    open var isUserInteractionEnabled = true
    open var translatesAutoresizingMaskIntoConstraints = true
    open var accessibilityIdentifier: String?
    open var accessibilityLabel: String?
    public let layer = CALayer()
    open private(set) weak var superview: UIView?
    open private(set) var subviews: [UIView] = []
    open private(set) var gestureRecognizers: [UIGestureRecognizer]?

    public init(frame: CGRect) {
        self.frame = frame
        super.init()
    }

    /// How storyboards make views; here outlets (`HookswitchOutlet`).
    public required init?(coder: NSCoder) {
        frame = .zero
        super.init()
    }

    public override convenience init() { self.init(frame: .zero) }

    open var bounds: CGRect {
        get { CGRect(origin: .zero, size: frame.size) }
        set { frame.size = newValue.size }
    }

    open var center: CGPoint {
        get { CGPoint(x: frame.midX, y: frame.midY) }
        set { frame.origin = CGPoint(x: newValue.x - frame.width / 2, y: newValue.y - frame.height / 2) }
    }

    open var window: UIWindow? { superview?.window }

    open func addSubview(_ view: UIView) {
        view.removeFromSuperview()
        view.superview = self
        subviews.append(view)
    }

    open func removeFromSuperview() {
        superview?.subviews.removeAll { $0 === self }
        superview = nil
    }

    open func bringSubviewToFront(_ view: UIView) { addSubview(view) }
    open func viewWithTag(_ tag: Int) -> UIView? { self.tag == tag ? self : subviews.lazy.compactMap { $0.viewWithTag(tag) }.first }
    open func addGestureRecognizer(_ recognizer: UIGestureRecognizer) { gestureRecognizers = (gestureRecognizers ?? []) + [recognizer] }

    // Nothing is laid out, drawn or typed into.
    open func setNeedsLayout() {}
    open func layoutIfNeeded() {}
    open func layoutSubviews() {}
    open func setNeedsDisplay() {}
    open func sizeToFit() {}
    open func awakeFromNib() {}
    @discardableResult open func endEditing(_ force: Bool) -> Bool { true }
    @discardableResult open func becomeFirstResponder() -> Bool { true }
    @discardableResult open func resignFirstResponder() -> Bool { true }

    /// Sets the end of the animation at once; the completion runs when it would be over.
    open class func animate(
        withDuration duration: TimeInterval, delay: TimeInterval = 0, options: AnimationOptions = [], animations: @escaping () -> Void,
        completion: ((Bool) -> Void)? = nil
    ) {
        animations()
        finish(after: delay + duration, completion)
    }

    open class func transition(
        with view: UIView, duration: TimeInterval, options: AnimationOptions = [], animations: (() -> Void)?,
        completion: ((Bool) -> Void)? = nil
    ) {
        animations?()
        finish(after: duration, completion)
    }

    /// Later, for apps begin the next animation in the completion of one.
    private class func finish(after seconds: TimeInterval, _ completion: ((Bool) -> Void)?) {
        guard let completion else { return }
        nonisolated(unsafe) let unchecked = completion
        DispatchQueue.main.asyncAfter(deadline: .now() + seconds) { unchecked(true) }
    }
}

/// The window that holds the first view controller. It becomes visible in name: its controller's view is loaded and appears.
@preconcurrency @MainActor
open class UIWindow: UIView {
    open var rootViewController: UIViewController?
    open weak var windowScene: UIWindowScene?

    public convenience init(windowScene: UIWindowScene) {
        self.init(frame: .zero)
        self.windowScene = windowScene
    }

    open override var window: UIWindow? { self }
    open var isKeyWindow: Bool { UIApplication.shared.keyWindow === self }

    open func makeKeyAndVisible() {
        makeKey()
        rootViewController?.hookswitchAppear()
    }

    open func makeKey() {
        UIApplication.shared.windows.removeAll { $0 === self }
        UIApplication.shared.windows.insert(self, at: 0)
    }
}

/// The screen that there is not: as large as that of a telephone.
@preconcurrency @MainActor
open class UIScreen: NSObject {
    private static let screen = UIScreen()
    open class var main: UIScreen { screen }
    open var bounds: CGRect { CGRect(x: 0, y: 0, width: 390, height: 844) }
    open var scale: CGFloat { 3 }
    open var brightness: CGFloat = 0.5
}
