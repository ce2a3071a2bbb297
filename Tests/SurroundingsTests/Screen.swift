import UIKit

// What tests do with views, as call code has it.

/// An app's controller, as call code has it.
final class CallController: UIViewController, UITextFieldDelegate {
    var trace: [String] = []
    @HookswitchOutlet var label: UILabel!
    @HookswitchOutlet var keys: [UIButton]!
    @HookswitchOutlet var badge: CallBadge!
    @HookswitchOutlet var number: NSNumber!
    let button = UIButton(type: .system)

    override func viewDidLoad() {
        super.viewDidLoad()
        trace.append("loaded")
        button.addTarget(self, action: Selector(hookswitch: "tap", of: CallController.tap), for: .touchUpInside)
        button.addTarget(self, action: Selector(hookswitch: "change", of: CallController.change(_:)), for: .valueChanged)
        button.addTarget(self, action: Selector("none"), for: .touchUpInside)
    }

    override func viewWillAppear(_ animated: Bool) { trace.append("will appear") }
    override func viewDidAppear(_ animated: Bool) { trace.append("appeared") }
    override func viewDidDisappear(_ animated: Bool) { trace.append("disappeared") }
    override func prepare(for segue: UIStoryboardSegue, sender: Any?) { trace.append("segue \(segue.identifier ?? "")") }

    func tap() { trace.append("tap") }
    func change(_ sender: UIButton) { trace.append("change \(sender === button)") }
}

final class CallBadge: UIView {
    var isMade = false

    required init?(coder: NSCoder) {
        isMade = coder.decodeObject(forKey: "title") == nil
        super.init(coder: coder)
    }
}

@MainActor
enum Screen {
    static func outlets() -> (label: String?, keys: Int, badge: Bool, number: Bool) {
        let controller = CallController()
        controller.label.text = "1001"
        return (controller.label.text, controller.keys.count, controller.badge.isMade, controller.number == nil)
    }

    /// A controller in a window, that is tapped on, presents an alert, and goes.
    static func life() -> [String] {
        let controller = CallController(), window = UIWindow(frame: UIScreen.main.bounds)
        window.rootViewController = controller
        window.makeKeyAndVisible()
        controller.button.sendActions(for: .touchUpInside)
        controller.button.sendActions(for: [.valueChanged])
        controller.button.removeTarget(controller, action: nil, for: .touchUpInside)
        controller.button.sendActions(for: .touchUpInside)
        controller.performSegue(withIdentifier: "call", sender: nil)
        let isKey = UIApplication.shared.keyWindow === window && window.isKeyWindow && UIApplication.shared.windows.first === window
        return controller.trace + ["key \(isKey)"]
    }

    static func alert() -> [String] {
        let controller = CallController(), alert = UIAlertController(title: "End?", message: nil, preferredStyle: .alert)
        var trace: [String] = []
        alert.addAction(UIAlertAction(title: "No", style: .cancel))
        alert.addAction(UIAlertAction(title: "Yes", style: .destructive) { trace.append("tapped \($0.title ?? "")") })
        controller.present(alert, animated: true) { trace.append("presented") }
        trace.append("\(controller.presentedViewController === alert) \(alert.presentingViewController === controller)")
        alert.actions[1].hookswitchTap()
        return trace + ["\(controller.presentedViewController == nil)"]
    }

    static func navigation() -> [Int] {
        let navigation = UINavigationController(rootViewController: CallController()), next = CallController()
        navigation.pushViewController(next, animated: false)
        let pushed = navigation.viewControllers.count
        navigation.popToRootViewController(animated: false)
        return [pushed, navigation.viewControllers.count, next.trace.count, next.navigationController === navigation ? 1 : 0]
    }

    static func storyboard() -> (known: Bool, unknown: Bool) {
        UIStoryboard.hookswitchClasses["Call"] = CallController.self
        let storyboard = UIStoryboard(name: "Main", bundle: nil)
        let known = storyboard.instantiateViewController(withIdentifier: "Call") is CallController
        return (known, storyboard.instantiateViewController(withIdentifier: "Other") is CallController)
    }

    static func tree() -> [Int] {
        let parent = UIView(), other = UIView(), child = UIView(frame: CGRect(x: 1, y: 2, width: 3, height: 4))
        child.tag = 7
        parent.addSubview(child)
        other.addSubview(child)
        child.center = CGPoint(x: 10, y: 10)
        return [parent.subviews.count, other.subviews.count, other.viewWithTag(7) === child ? 1 : 0, Int(child.frame.origin.x * 2)]
    }

    static func recognized() -> [String] {
        let controller = CallController()
        let recognizer = UITapGestureRecognizer(target: controller, action: Selector(hookswitch: "tap", of: CallController.tap))
        recognizer.hookswitchRecognize()
        UIBarButtonItem(
            title: nil, style: .plain, target: controller, action: Selector(hookswitch: "tap", of: CallController.tap)
        ).hookswitchTap()
        return controller.trace
    }

    /// Nobody else may change the shared application meanwhile.
    static func otherApps() -> [Bool] {
        let app = UIApplication.shared, url = URL(string: "tel:1001")!
        let before = app.canOpenURL(url)
        app.hookswitchOpens = { $0.scheme == "tel" }
        defer { app.hookswitchOpens = { _ in false } }
        app.open(url)
        return [before, app.canOpenURL(url), app.hookswitchOpenedURLs.contains(url), app.isProtectedDataAvailable]
    }

    /// An app whose animation begins the next when it is over, as indicators of calls do.
    static func spin(times: Int) async -> Bool {
        let view = UIView()
        var isReturned = false
        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
            @MainActor func turn(_ left: Int) {
                UIView.animate(withDuration: 0, animations: { view.transform = view.transform.rotated(by: .pi / 2) }) { finished in
                    if left > 1 { turn(left - 1) } else { continuation.resume() }
                }
            }
            turn(times)
            isReturned = view.transform != .identity
        }
        return isReturned && abs(view.transform.a - 1) < 0.001
    }

    static func literal() -> (Bool, Bool) {
        (UIImage(hookswitchLiteral: "missing").pngData() != nil, UIImage(data: UIImage(systemName: "phone")!.pngData()!) != nil)
    }
}
