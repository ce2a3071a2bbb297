@_exported import HookswitchCombine
@_exported import UIKit

// The names of SwiftUI that stand beside call code: an app with its delegate, and properties of views. No view is ever shown: its body is
// not asked for.

/// A part of a user interface.
@preconcurrency @MainActor
public protocol View {
    associatedtype Body: View
    @ViewBuilder var body: Body { get }
}

extension Never: View {
    public var body: Never { return fatalError("a view without a body") }
}

@resultBuilder
public enum ViewBuilder {
    public static func buildBlock<each Content: View>(_ content: repeat each Content) -> EmptyView { EmptyView() }
    public static func buildIf<Content: View>(_ content: Content?) -> EmptyView { EmptyView() }
    public static func buildEither<Content: View>(first content: Content) -> EmptyView { EmptyView() }
    public static func buildEither<Content: View>(second content: Content) -> EmptyView { EmptyView() }
}

public struct EmptyView: View {
    public nonisolated init() {}
    public var body: Never { return fatalError("an empty view has no body") }
}

public struct Text: View {
    let text: String
    public nonisolated init(_ text: String) { self.text = text }
    public var body: Never { return fatalError("a text has no body") }
}

/// A part of an app.
@preconcurrency @MainActor
public protocol Scene {}

public struct WindowGroup: Scene {
    /// The content is not asked for.
    public init<Content: View>(@ViewBuilder content: () -> Content) {}
}

/// An app. `main()` launches the delegate of its `@UIApplicationDelegateAdaptor`, and serves the main queue for good.
@preconcurrency @MainActor
public protocol App {
    associatedtype Body: Scene
    var body: Body { get }
    init()
}

extension App {
    public static func main() {
        let app = Self()
        if let delegate = AppDelegates.last { UIApplication.shared.hookswitchLaunch(delegate) }
        withExtendedLifetime(app) { RunLoop.main.run() }
    }
}

/// The delegates that adaptors have made.
@MainActor
enum AppDelegates {
    static var last: (any UIApplicationDelegate)?
}

@propertyWrapper @preconcurrency @MainActor
public struct UIApplicationDelegateAdaptor<Delegate: UIApplicationDelegate> {
    public let wrappedValue: Delegate

    public init(_ type: Delegate.Type = Delegate.self) where Delegate: UIResponder {
        wrappedValue = Delegate(hookswitch: ())
        AppDelegates.last = wrappedValue
    }

    public init(wrappedValue: Delegate) {
        self.wrappedValue = wrappedValue
        AppDelegates.last = wrappedValue
    }
}

/// A value that can be read and set elsewhere.
@propertyWrapper @dynamicMemberLookup
public struct Binding<Value> {
    private let get: () -> Value
    private let set: (Value) -> Void

    public init(get: @escaping () -> Value, set: @escaping (Value) -> Void) { (self.get, self.set) = (get, set) }
    public static func constant(_ value: Value) -> Binding { Binding(get: { value }, set: { _ in }) }

    public var wrappedValue: Value {
        get { get() }
        nonmutating set { set(newValue) }
    }
    public var projectedValue: Binding { self }

    public subscript<Member>(dynamicMember path: WritableKeyPath<Value, Member>) -> Binding<Member> {
        Binding<Member>(get: { get()[keyPath: path] }) {
            var whole = get()
            whole[keyPath: path] = $0
            set(whole)
        }
    }
}

/// A value that a view has.
@propertyWrapper
public struct State<Value> {
    private final class Box {
        var value: Value
        init(_ value: Value) { self.value = value }
    }

    private let box: Box
    public init(wrappedValue: Value) { box = Box(wrappedValue) }
    public init(initialValue: Value) { box = Box(initialValue) }

    public var wrappedValue: Value {
        get { box.value }
        nonmutating set { box.value = newValue }
    }
    public var projectedValue: Binding<Value> { Binding(get: { box.value }, set: { box.value = $0 }) }
}

/// An object that a view looks at.
@propertyWrapper
public struct ObservedObject<Object: ObservableObject> {
    public var wrappedValue: Object
    public init(wrappedValue: Object) { self.wrappedValue = wrappedValue }
    public var projectedValue: ObjectBindings<Object> { ObjectBindings(object: wrappedValue) }
}

/// An object that a view has.
@propertyWrapper
public struct StateObject<Object: ObservableObject> {
    public let wrappedValue: Object
    public init(wrappedValue make: @autoclosure () -> Object) { wrappedValue = make() }
    public var projectedValue: ObjectBindings<Object> { ObjectBindings(object: wrappedValue) }
}

/// The properties of an object as bindings.
@dynamicMemberLookup
public struct ObjectBindings<Object: AnyObject> {
    let object: Object
    public subscript<Value>(dynamicMember path: ReferenceWritableKeyPath<Object, Value>) -> Binding<Value> {
        Binding(get: { object[keyPath: path] }, set: { object[keyPath: path] = $0 })
    }
}

/// A controller of a view, which is not shown.
@preconcurrency @MainActor
open class UIHostingController<Content: View>: UIViewController {
    public init(rootView: Content) { super.init(nibName: nil, bundle: nil) }
    public required init?(coder: NSCoder) { super.init(coder: coder) }
}

public enum ScenePhase: Sendable {
    case background, inactive, active
}
