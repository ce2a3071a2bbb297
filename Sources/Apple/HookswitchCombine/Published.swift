import Foundation

/// An object that says when it is about to change.
public protocol ObservableObject: AnyObject {
    associatedtype ObjectWillChangePublisher: Publisher = ObservableObjectPublisher where ObjectWillChangePublisher.Failure == Never
    var objectWillChange: ObjectWillChangePublisher { get }
}

/// The publisher of an object's changes.
public final class ObservableObjectPublisher: Publisher, @unchecked Sendable {
    public typealias Output = Void
    public typealias Failure = Never
    private let subject = PassthroughSubject<Void, Never>()
    public init() {}

    public func receive<S: Subscriber>(subscriber: S) where S.Input == Void, S.Failure == Never { subject.receive(subscriber: subscriber) }
    public func send() { subject.send() }
}

extension ObservableObject where ObjectWillChangePublisher == ObservableObjectPublisher {
    /// One for each object, and for its life; its `@Published` properties send to it.
    public var objectWillChange: ObservableObjectPublisher { ObjectPublishers.shared.publisher(of: self) }
}

/// The publishers of objects that live, each made when it is first asked for.
private final class ObjectPublishers: @unchecked Sendable {
    private struct Entry {
        weak var object: AnyObject?
        let publisher: ObservableObjectPublisher
    }

    static let shared = ObjectPublishers()
    private let entries = Locked<[ObjectIdentifier: Entry]>([:])

    func publisher(of object: AnyObject) -> ObservableObjectPublisher {
        entries.update { entries in
            if let entry = entries[ObjectIdentifier(object)], entry.object === object { return entry.publisher }
            entries = entries.filter { $0.value.object != nil }
            let publisher = ObservableObjectPublisher()
            entries[ObjectIdentifier(object)] = Entry(object: object, publisher: publisher)
            return publisher
        }
    }
}

/// A property whose changes are published: before each its object's `objectWillChange`, then the new value to those who listen to
/// `$property`, then it is set.
@propertyWrapper
public struct Published<Value> {
    /// The publisher of one property: it gives its value, then each new one.
    public struct Publisher: HookswitchCombine.Publisher {
        public typealias Output = Value
        public typealias Failure = Never
        let box: PublishedBox<Value>

        public func receive<S: Subscriber>(subscriber: S) where S.Input == Value, S.Failure == Never {
            box.subject.receive(subscriber: subscriber)
        }
    }

    private let box: PublishedBox<Value>

    public init(wrappedValue: Value) { box = PublishedBox(wrappedValue) }
    public init(initialValue: Value) { box = PublishedBox(initialValue) }

    public var projectedValue: Publisher {
        get { Publisher(box: box) }
        set {}
    }

    @available(*, unavailable, message: "@Published is for properties of classes")
    public var wrappedValue: Value {
        get { fatalError("unavailable") }
        set { fatalError("unavailable") }
    }

    public static subscript<Object: AnyObject>(
        _enclosingInstance object: Object, wrapped wrappedKeyPath: ReferenceWritableKeyPath<Object, Value>,
        storage storageKeyPath: ReferenceWritableKeyPath<Object, Published<Value>>
    ) -> Value {
        get { object[keyPath: storageKeyPath].box.value }
        set {
            if let observable = object as? any ObservableObject { announce(observable) }
            object[keyPath: storageKeyPath].box.set(newValue)
        }
    }

    private static func announce<Object: ObservableObject>(_ object: Object) {
        (object.objectWillChange as? ObservableObjectPublisher)?.send()
    }
}

/// The value of a property, and who listens to it. A listener who reads the property finds the old value, as on Apple systems.
final class PublishedBox<Value>: @unchecked Sendable {
    private let stored: Locked<Value>
    let subject: CurrentValueSubject<Value, Never>
    private let held = Locked<[AnyCancellable]>([])

    init(_ value: Value) { (stored, subject) = (Locked(value), CurrentValueSubject(value)) }

    var value: Value { stored.update { $0 } }

    func set(_ value: Value) {
        subject.send(value)
        stored.update { $0 = value }
    }

    func hold(_ cancellable: AnyCancellable) { held.update { $0.append(cancellable) } }
}
