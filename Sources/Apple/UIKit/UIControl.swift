import Foundation
import HookswitchObjectiveC

/// A view that calls its targets when the host or a test says what the user did (`sendActions(for:)`).
@preconcurrency @MainActor
open class UIControl: UIView {
    public struct Event: OptionSet, Hashable, Sendable {
        public let rawValue: UInt
        public init(rawValue: UInt) { self.rawValue = rawValue }

        public static let touchDown = Event(rawValue: 1 << 0), touchUpInside = Event(rawValue: 1 << 6)
        public static let touchUpOutside = Event(rawValue: 1 << 7), touchCancel = Event(rawValue: 1 << 8)
        public static let valueChanged = Event(rawValue: 1 << 12), primaryActionTriggered = Event(rawValue: 1 << 13)
        public static let editingDidBegin = Event(rawValue: 1 << 16), editingChanged = Event(rawValue: 1 << 17)
        public static let editingDidEnd = Event(rawValue: 1 << 18), editingDidEndOnExit = Event(rawValue: 1 << 19)
        public static let allEvents = Event(rawValue: 0xffff_ffff)
    }

    public struct State: OptionSet, Hashable, Sendable {
        public let rawValue: UInt
        public init(rawValue: UInt) { self.rawValue = rawValue }

        public static let normal = State([]), highlighted = State(rawValue: 1), disabled = State(rawValue: 2), selected = State(rawValue: 4)
    }

    private struct Target {
        weak var object: AnyObject?
        let selector: Selector?
        let action: UIAction?
        let events: Event
    }

    open var isEnabled = true
    open var isSelected = false
    open var isHighlighted = false
    private var targets: [Target] = []

    open var state: State {
        var state = State.normal
        if !isEnabled { state.insert(.disabled) }
        if isSelected { state.insert(.selected) }
        if isHighlighted { state.insert(.highlighted) }
        return state
    }

    /// Has the selector performed on the target, which is held weakly, with the control as its argument. Without a target nothing happens:
    /// there is no chain of responders.
    open func addTarget(_ target: Any?, action: Selector, for events: Event) {
        targets.append(Target(object: target.map { $0 as AnyObject }, selector: action, action: nil, events: events))
    }

    /// - Parameter target: nil: all targets; the same for the action.
    open func removeTarget(_ target: Any?, action: Selector?, for events: Event) {
        let object = target.map { $0 as AnyObject }
        targets.removeAll { each in
            !each.events.isDisjoint(with: events) && (object == nil || each.object === object) && (action == nil || each.selector == action)
        }
    }

    open func addAction(_ action: UIAction, for events: Event) {
        targets.append(Target(object: nil, selector: nil, action: action, events: events))
    }

    open func sendActions(for events: Event) {
        for target in targets where !target.events.isDisjoint(with: events) {
            if let object = target.object { target.selector?.hookswitchPerform(on: object, [self, nil as UIEvent?]) }
            target.action?.hookswitchRun(from: self)
        }
    }
}

/// Something that a control or a menu does.
@preconcurrency @MainActor
open class UIAction: NSObject {
    open var title: String
    open private(set) var sender: Any?
    private let handler: (UIAction) -> Void

    public init(title: String = "", image: UIImage? = nil, handler: @escaping (UIAction) -> Void) {
        (self.title, self.handler) = (title, handler)
        super.init()
    }

    func hookswitchRun(from sender: Any) {
        self.sender = sender
        handler(self)
    }
}

/// A touch; here only a name in a signature.
open class UIEvent: NSObject {}

/// A recognizer that calls its targets when the host or a test says so.
@preconcurrency @MainActor
open class UIGestureRecognizer: NSObject {
    public enum State: Int, Sendable {
        case possible = 0, began = 1, changed = 2, ended = 3, cancelled = 4, failed = 5
    }

    open var state = State.possible
    open var isEnabled = true
    open private(set) weak var view: UIView?
    private var target: (object: AnyObject, selector: Selector)?

    public init(target: Any?, action: Selector?) {
        if let target, let action { self.target = (target as AnyObject, action) }
        super.init()
    }

    /// For hosts and tests: the user made the gesture.
    public func hookswitchRecognize() {
        state = .ended
        target?.selector.hookswitchPerform(on: target?.object as Any, [self])
    }
}

open class UITapGestureRecognizer: UIGestureRecognizer {
    open var numberOfTapsRequired = 1
}

open class UILongPressGestureRecognizer: UIGestureRecognizer {
    open var minimumPressDuration: TimeInterval = 0.5
}
