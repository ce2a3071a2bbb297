import Foundation

/// An outlet: a property that a storyboard would connect. The plug-in `CallSources` makes one of each `@IBOutlet`.
///
/// The first reader gets a stand-in: an object of the outlet's class, made as a storyboard makes it, or an empty collection of outlets. It
/// is nil for any other type.
@propertyWrapper
public struct HookswitchOutlet<Value> {
    private final class Box {
        var value: Value?
        var isMade = false
    }

    private let box = Box()

    public init() {}

    public init(wrappedValue: Value?) {
        (box.value, box.isMade) = (wrappedValue, true)
    }

    public var wrappedValue: Value? {
        get {
            if !box.isMade { (box.value, box.isMade) = (Self.standIn, true) }
            return box.value
        }
        nonmutating set { (box.value, box.isMade) = (newValue, true) }
    }

    private static var standIn: Value? {
        if let type = Value.self as? any StandIn.Type { return type.standIn() as? Value }
        if let type = Value.self as? any ExpressibleByArrayLiteral.Type { return empty(type) as? Value }
        return nil
    }

    private static func empty<List: ExpressibleByArrayLiteral>(_ type: List.Type) -> Any { [] as List }
}

/// Something that storyboards make.
protocol StandIn {
    static func standIn() -> Any?
}

extension UIView: StandIn {
    nonisolated static func standIn() -> Any? {
        let type = UncheckedType(type: self)
        return MainActor.assumeIsolated { UncheckedObject(object: type.type.init(coder: StandInCoder())) }.object
    }
}

extension UIViewController: StandIn {
    nonisolated static func standIn() -> Any? {
        let type = UncheckedType(type: self)
        return MainActor.assumeIsolated { UncheckedObject(object: type.type.init(coder: StandInCoder())) }.object
    }
}

private struct UncheckedType<Kind>: @unchecked Sendable {
    let type: Kind
}

private struct UncheckedObject: @unchecked Sendable {
    let object: Any?
}

/// A coder for the initialisers of storyboards: it has nothing to read.
final class StandInCoder: NSCoder {
    override var allowsKeyedCoding: Bool { true }
    override func containsValue(forKey key: String) -> Bool { false }
    override func decodeObject(forKey key: String) -> Any? { nil }
    override func decodeBool(forKey key: String) -> Bool { false }
}
