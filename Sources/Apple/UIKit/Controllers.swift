import Foundation
import HookswitchObjectiveC

/// A stack of controllers, of which the top one appears.
@preconcurrency @MainActor
open class UINavigationController: UIViewController {
    open var viewControllers: [UIViewController] = [] { didSet { for each in viewControllers { each.navigationController = self } } }
    open var isNavigationBarHidden = false

    public convenience init(rootViewController: UIViewController) {
        self.init(nibName: nil, bundle: nil)
        viewControllers = [rootViewController]
        rootViewController.navigationController = self
    }

    open var topViewController: UIViewController? { viewControllers.last }
    open var visibleViewController: UIViewController? { presentedViewController ?? topViewController }
    open func setNavigationBarHidden(_ hidden: Bool, animated: Bool) { isNavigationBarHidden = hidden }

    open func pushViewController(_ controller: UIViewController, animated: Bool) {
        viewControllers.append(controller)
        controller.hookswitchAppear()
    }

    @discardableResult
    open func popViewController(animated: Bool) -> UIViewController? {
        guard viewControllers.count > 1 else { return nil }
        let gone = viewControllers.removeLast()
        gone.hookswitchDisappear()
        return gone
    }

    @discardableResult
    open func popToRootViewController(animated: Bool) -> [UIViewController]? {
        let gone = Array(viewControllers.dropFirst())
        viewControllers = Array(viewControllers.prefix(1))
        for controller in gone.reversed() { controller.hookswitchDisappear() }
        return gone
    }

    open override func viewWillAppear(_ animated: Bool) { topViewController?.hookswitchAppear() }
}

/// Controllers side by side, of which one is selected.
@preconcurrency @MainActor
open class UITabBarController: UIViewController {
    open var viewControllers: [UIViewController]? { didSet { for each in viewControllers ?? [] { each.tabBarController = self } } }
    open var selectedIndex = 0
    open var selectedViewController: UIViewController? {
        viewControllers.flatMap { $0.indices.contains(selectedIndex) ? $0[selectedIndex] : nil }
    }
    open override func viewWillAppear(_ animated: Bool) { selectedViewController?.hookswitchAppear() }
}

/// A question to the user. A test looks at its actions, and taps on one (`UIAlertAction.hookswitchTap`).
@preconcurrency @MainActor
open class UIAlertController: UIViewController {
    public enum Style: Int, Sendable {
        case actionSheet = 0, alert = 1
    }

    open var message: String?
    open private(set) var preferredStyle = Style.alert
    open private(set) var actions: [UIAlertAction] = []
    open private(set) var textFields: [UITextField]?
    open var preferredAction: UIAlertAction?

    public convenience init(title: String?, message: String?, preferredStyle: Style) {
        self.init(nibName: nil, bundle: nil)
        (self.title, self.message, self.preferredStyle) = (title, message, preferredStyle)
    }

    open func addAction(_ action: UIAlertAction) {
        action.alert = self
        actions.append(action)
    }

    open func addTextField(configurationHandler: ((UITextField) -> Void)? = nil) {
        let field = UITextField()
        textFields = (textFields ?? []) + [field]
        configurationHandler?(field)
    }
}

/// A button of an alert.
@preconcurrency @MainActor
open class UIAlertAction: NSObject {
    public enum Style: Int, Sendable {
        case `default` = 0, cancel = 1, destructive = 2
    }

    public let title: String?
    public let style: Style
    open var isEnabled = true
    private let handler: ((UIAlertAction) -> Void)?
    weak var alert: UIAlertController?

    public init(title: String?, style: Style, handler: ((UIAlertAction) -> Void)? = nil) {
        (self.title, self.style, self.handler) = (title, style, handler)
        super.init()
    }

    /// For hosts and tests: the user taps on the button. The alert goes, then the handler runs.
    public func hookswitchTap() {
        alert?.dismiss(animated: false)
        handler?(self)
    }
}

/// The controllers of a file that is not read here. One is made of the class that has the identifier's name in the module of the app's
/// delegate, or that a host named for it.
@preconcurrency @MainActor
open class UIStoryboard: NSObject {
    /// For hosts: the class of each identifier.
    public static var hookswitchClasses: [String: UIViewController.Type] = [:]
    /// For hosts: the class of the initial controller.
    public static var hookswitchInitialClass: UIViewController.Type?

    public init(name: String, bundle: Bundle?) { super.init() }

    /// An empty controller when no class is known.
    open func instantiateViewController(withIdentifier identifier: String) -> UIViewController {
        make(Self.hookswitchClasses[identifier] ?? Self.ofDelegatesModule(identifier))
    }

    open func instantiateInitialViewController() -> UIViewController? { make(Self.hookswitchInitialClass) }

    private static func ofDelegatesModule(_ name: String) -> UIViewController.Type? {
        guard let delegate = UIApplication.shared.delegate else { return nil }
        let module = String(reflecting: type(of: delegate)).prefix { $0 != "." }
        return NSClassFromString("\(module).\(name)") as? UIViewController.Type
    }

    private func make(_ type: UIViewController.Type?) -> UIViewController {
        let controller = type?.init(coder: StandInCoder()) ?? UIViewController()
        controller.storyboard = self
        return controller
    }
}

/// A way from a controller to another.
@preconcurrency @MainActor
open class UIStoryboardSegue: NSObject {
    public let identifier: String?
    public let source: UIViewController
    public let destination: UIViewController

    public init(identifier: String?, source: UIViewController, destination: UIViewController) {
        (self.identifier, self.source, self.destination) = (identifier, source, destination)
        super.init()
    }
}

/// The title and buttons of a controller in a navigation bar.
@preconcurrency @MainActor
open class UINavigationItem: NSObject {
    open var title: String?
    open var hidesBackButton = false
    open var leftBarButtonItem: UIBarButtonItem?
    open var rightBarButtonItem: UIBarButtonItem?
    open var rightBarButtonItems: [UIBarButtonItem]?
}

/// A button in a bar. A test calls its target (`hookswitchTap`).
@preconcurrency @MainActor
open class UIBarButtonItem: NSObject {
    public enum SystemItem: Int, Sendable {
        case done = 0, cancel = 1, edit = 2, save = 3, add = 4, action = 9, search = 12, refresh = 13, play = 17, pause = 18
    }

    public enum Style: Int, Sendable {
        case plain = 0, done = 2
    }

    open var title: String?
    open var image: UIImage?
    open var isEnabled = true
    open weak var target: AnyObject?
    open var action: Selector?

    public init(title: String?, style: Style, target: Any?, action: Selector?) {
        (self.title, self.target, self.action) = (title, target.map { $0 as AnyObject }, action)
        super.init()
    }

    public convenience init(barButtonSystemItem item: SystemItem, target: Any?, action: Selector?) {
        self.init(title: nil, style: .plain, target: target, action: action)
    }

    public convenience init(image: UIImage?, style: Style, target: Any?, action: Selector?) {
        self.init(title: nil, style: style, target: target, action: action)
        self.image = image
    }

    /// For hosts and tests: the user taps on the button.
    public func hookswitchTap() { if let target { action?.hookswitchPerform(on: target, [self]) } }
}
