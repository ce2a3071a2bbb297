import Foundation
import HookswitchObjectiveC

/// A view controller that loads its view, appears, and presents others, without a screen.
///
/// It has no view but the empty one that it is given; its outlets make stand-ins of their own (`HookswitchOutlet`).
@preconcurrency @MainActor
open class UIViewController: NSObject {
    open var title: String?
    open var modalPresentationStyle = UIModalPresentationStyle.automatic
    open var modalTransitionStyle = UIModalTransitionStyle.coverVertical
    open private(set) weak var presentingViewController: UIViewController?
    open private(set) var presentedViewController: UIViewController?
    open internal(set) weak var navigationController: UINavigationController?
    open internal(set) weak var tabBarController: UITabBarController?
    open internal(set) weak var parent: UIViewController?
    open internal(set) var children: [UIViewController] = []
    open internal(set) var storyboard: UIStoryboard?
    public let navigationItem = UINavigationItem()
    private var loaded: UIView?

    public init(nibName nibNameOrNil: String?, bundle nibBundleOrNil: Bundle?) { super.init() }

    /// How storyboards make controllers: `UIStoryboard.instantiateViewController(withIdentifier:)`.
    public required init?(coder: NSCoder) { super.init() }

    public override convenience init() { self.init(nibName: nil, bundle: nil) }

    open var view: UIView! {
        get {
            loadViewIfNeeded()
            return loaded
        }
        set { loaded = newValue }
    }

    open var viewIfLoaded: UIView? { loaded }
    open var isViewLoaded: Bool { loaded != nil }

    open func loadView() { loaded = UIView(frame: UIScreen.main.bounds) }

    open func loadViewIfNeeded() {
        guard loaded == nil else { return }
        loadView()
        viewDidLoad()
    }

    open func viewDidLoad() {}
    open func viewWillAppear(_ animated: Bool) {}
    open func viewDidAppear(_ animated: Bool) {}
    open func viewWillDisappear(_ animated: Bool) {}
    open func viewDidDisappear(_ animated: Bool) {}
    open func viewWillLayoutSubviews() {}
    open func viewDidLayoutSubviews() {}
    open func didReceiveMemoryWarning() {}
    open func setNeedsStatusBarAppearanceUpdate() {}
    open var preferredStatusBarStyle: UIStatusBarStyle { .default }
    open var supportedInterfaceOrientations: UIInterfaceOrientationMask { .all }
    open var shouldAutorotate: Bool { false }
    open var prefersStatusBarHidden: Bool { false }

    /// The other appears at once; the completion runs then.
    open func present(_ controller: UIViewController, animated: Bool, completion: (() -> Void)? = nil) {
        presentedViewController = controller
        controller.presentingViewController = self
        controller.hookswitchAppear()
        completion?()
    }

    /// The controller that this one presents goes, or this one where it presents none; the completion runs then.
    open func dismiss(animated: Bool, completion: (() -> Void)? = nil) {
        let presenter = presentedViewController == nil ? presentingViewController : self
        presenter?.presentedViewController?.hookswitchDisappear()
        presenter?.presentedViewController = nil
        completion?()
    }

    /// Prepares the segue, without a controller that it would lead to: there is no storyboard that names it.
    open func performSegue(withIdentifier identifier: String, sender: Any?) {
        guard shouldPerformSegue(withIdentifier: identifier, sender: sender) else { return }
        prepare(for: UIStoryboardSegue(identifier: identifier, source: self, destination: UIViewController()), sender: sender)
    }

    open func shouldPerformSegue(withIdentifier identifier: String, sender: Any?) -> Bool { true }
    open func prepare(for segue: UIStoryboardSegue, sender: Any?) {}
    open func show(_ controller: UIViewController, sender: Any?) { present(controller, animated: false) }

    open func addChild(_ controller: UIViewController) {
        controller.parent = self
        children.append(controller)
    }

    open func didMove(toParent parent: UIViewController?) {}
    open func willMove(toParent parent: UIViewController?) {}

    open func removeFromParent() {
        parent?.children.removeAll { $0 === self }
        parent = nil
    }

    /// For hosts and tests: the view is loaded, and appears.
    public func hookswitchAppear() {
        loadViewIfNeeded()
        viewWillAppear(false)
        viewDidAppear(false)
    }

    /// For hosts and tests: the view disappears.
    public func hookswitchDisappear() {
        viewWillDisappear(false)
        viewDidDisappear(false)
    }
}

public enum UIModalPresentationStyle: Int, Sendable {
    case automatic = -2, none = -1, fullScreen = 0, pageSheet = 1, formSheet = 2, currentContext = 3, custom = 4, overFullScreen = 5
    case overCurrentContext = 6, popover = 7
}

public enum UIModalTransitionStyle: Int, Sendable {
    case coverVertical = 0, flipHorizontal = 1, crossDissolve = 2, partialCurl = 3
}

public enum UIStatusBarStyle: Int, Sendable {
    case `default` = 0, lightContent = 1, darkContent = 3
}

public struct UIInterfaceOrientationMask: OptionSet, Sendable {
    public let rawValue: UInt
    public init(rawValue: UInt) { self.rawValue = rawValue }

    public static let portrait = UIInterfaceOrientationMask(rawValue: 1 << 1), landscape = UIInterfaceOrientationMask(rawValue: 3 << 3)
    public static let all = UIInterfaceOrientationMask(rawValue: 0b11110), allButUpsideDown = UIInterfaceOrientationMask(rawValue: 0b11010)
}
