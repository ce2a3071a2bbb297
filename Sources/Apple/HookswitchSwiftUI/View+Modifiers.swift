import Foundation

// Modifiers give the view itself: nothing is drawn, and nothing appears. Actions are never called.

extension View {
    public func environmentObject<Object: ObservableObject>(_ object: Object) -> Self { self }
    public func environment<Value>(_ path: WritableKeyPath<EnvironmentValues, Value>, _ value: Value) -> Self { self }
    public func onAppear(perform action: (() -> Void)? = nil) -> Self { self }
    public func onDisappear(perform action: (() -> Void)? = nil) -> Self { self }
    public func onOpenURL(perform action: @escaping (URL) -> Void) -> Self { self }
    public func onContinueUserActivity(_ type: String, perform action: @escaping (NSUserActivity) -> Void) -> Self { self }
    public func onReceive<P: Publisher>(_ publisher: P, perform action: @escaping (P.Output) -> Void) -> Self where P.Failure == Never {
        self
    }
    public func onChange<Value: Equatable>(of value: Value, perform action: @escaping (Value) -> Void) -> Self { self }
}

/// The values that a view finds around it.
public struct EnvironmentValues {
    public var scenePhase = ScenePhase.active
    public init() {}
}

/// A value around a view: as it is in new `EnvironmentValues`.
@propertyWrapper
public struct Environment<Value> {
    public let wrappedValue: Value
    public init(_ path: KeyPath<EnvironmentValues, Value>) { wrappedValue = EnvironmentValues()[keyPath: path] }
}

/// An object around a view, which has none here: a reader ends the process.
@propertyWrapper
public struct EnvironmentObject<Object: ObservableObject> {
    public init() {}
    public var wrappedValue: Object { fatalError("no view is shown, and so no object is around it") }
    public var projectedValue: ObjectBindings<Object> { ObjectBindings(object: wrappedValue) }
}
