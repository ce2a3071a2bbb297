import Foundation
import HookswitchObjectiveC

// Each holds what the app gives it. What the user would do, the host or a test does: it sets the value and sends the control's actions.

open class UILabel: UIView {
    open var text: String?
    open var attributedText: NSAttributedString? { didSet { text = attributedText?.string } }
    open var textColor: UIColor! = .label
    open var font: UIFont! = .systemFont(ofSize: 17)
    open var textAlignment = NSTextAlignment.natural
    open var numberOfLines = 1
    open var adjustsFontSizeToFitWidth = false
}

public enum NSTextAlignment: Int, Sendable {
    case left = 0, center = 1, right = 2, justified = 3, natural = 4
}

open class UIImageView: UIView {
    open var image: UIImage?
    open var isAnimating = false

    public convenience init(image: UIImage?) {
        self.init(frame: .zero)
        self.image = image
    }
}

open class UIButton: UIControl {
    public enum ButtonType: Int, Sendable {
        case custom = 0, system = 1, detailDisclosure = 2, infoLight = 3, infoDark = 4, contactAdd = 5, close = 7
    }

    private var titles: [State: String] = [:], images: [State: UIImage] = [:], colors: [State: UIColor] = [:]
    public let titleLabel: UILabel? = UILabel()
    public let imageView: UIImageView? = UIImageView()

    public convenience init(type: ButtonType) { self.init(frame: .zero) }

    public convenience init(type: ButtonType = .system, primaryAction: UIAction?) {
        self.init(frame: .zero)
        if let primaryAction { addAction(primaryAction, for: .touchUpInside) }
    }

    open func setTitle(_ title: String?, for state: State) {
        titles[state] = title
        titleLabel?.text = currentTitle
    }

    open func setImage(_ image: UIImage?, for state: State) { images[state] = image }
    open func setBackgroundImage(_ image: UIImage?, for state: State) {}
    open func setTitleColor(_ color: UIColor?, for state: State) { colors[state] = color }
    open func title(for state: State) -> String? { titles[state] ?? titles[.normal] }
    open func image(for state: State) -> UIImage? { images[state] ?? images[.normal] }
    open var currentTitle: String? { title(for: state) }
    open var currentImage: UIImage? { image(for: state) }
}

open class UISwitch: UIControl {
    open var isOn = false
    open func setOn(_ on: Bool, animated: Bool) { isOn = on }
}

open class UISlider: UIControl {
    open var value: Float = 0
    open var minimumValue: Float = 0
    open var maximumValue: Float = 1
    open func setValue(_ value: Float, animated: Bool) { self.value = value }
}

open class UISegmentedControl: UIControl {
    open var selectedSegmentIndex = -1
    private var titles: [String?] = []

    public convenience init(items: [Any]?) {
        self.init(frame: .zero)
        titles = (items ?? []).map { $0 as? String }
    }

    open var numberOfSegments: Int { titles.count }
    open func titleForSegment(at index: Int) -> String? { titles.indices.contains(index) ? titles[index] : nil }
}

open class UITextField: UIControl {
    public enum BorderStyle: Int, Sendable {
        case none = 0, line = 1, bezel = 2, roundedRect = 3
    }

    open var borderStyle = BorderStyle.none
    open var text: String? = ""
    open var placeholder: String?
    open var textColor: UIColor?
    open var font: UIFont?
    open var textAlignment = NSTextAlignment.natural
    open var isSecureTextEntry = false
    open var keyboardType = UIKeyboardType.default
    open var returnKeyType = UIReturnKeyType.default
    open var autocorrectionType = UITextAutocorrectionType.default
    open weak var delegate: (any UITextFieldDelegate)?
}

public enum UIKeyboardType: Int, Sendable {
    case `default` = 0, asciiCapable = 1, numbersAndPunctuation = 2, URL = 3, numberPad = 4, phonePad = 5, namePhonePad = 6, emailAddress =
        7
}

public enum UIReturnKeyType: Int, Sendable {
    case `default` = 0, go = 1, google = 2, join = 3, next = 4, route = 5, search = 6, send = 7, yahoo = 8, done = 9, emergencyCall = 10
}

public enum UITextAutocorrectionType: Int, Sendable {
    case `default` = 0, no = 1, yes = 2
}

/// The delegate of a text field. All methods may be left out; nothing here calls them, for nobody types.
@preconcurrency @MainActor
public protocol UITextFieldDelegate: NSObjectProtocol {
    func textFieldShouldReturn(_ textField: UITextField) -> Bool
    func textFieldDidEndEditing(_ textField: UITextField)
}

extension UITextFieldDelegate {
    public func textFieldShouldReturn(_ textField: UITextField) -> Bool { true }
    public func textFieldDidEndEditing(_ textField: UITextField) {}
}

open class UITextView: UIView {
    open var text: String! = ""
    open var isEditable = true
    open var textColor: UIColor?
    open var font: UIFont?
}

open class UIStackView: UIView {
    open private(set) var arrangedSubviews: [UIView] = []
    open var spacing: CGFloat = 0

    public convenience init(arrangedSubviews views: [UIView]) {
        self.init(frame: .zero)
        for view in views { addArrangedSubview(view) }
    }

    open func addArrangedSubview(_ view: UIView) {
        arrangedSubviews.append(view)
        addSubview(view)
    }
}

open class UIProgressView: UIView {
    open var progress: Float = 0
    open func setProgress(_ progress: Float, animated: Bool) { self.progress = progress }
}

open class UIActivityIndicatorView: UIView {
    public enum Style: Int, Sendable {
        case whiteLarge = 0, white = 1, gray = 2, medium = 100, large = 101
    }

    open private(set) var isAnimating = false
    open var hidesWhenStopped = true
    public convenience init(style: Style) { self.init(frame: .zero) }
    open func startAnimating() { isAnimating = true }
    open func stopAnimating() { isAnimating = false }
}
