import Foundation

/// A handler of events; here only the class that the delegates of apps and scenes inherit from.
///
/// A subclass has `init()`, its own or an inherited one: that is how `main` and scenes make their delegates. Its initialisers and
/// its properties are the main actor's, as on Apple systems.
@preconcurrency @MainActor
open class UIResponder: NSObject {
    public override init() { super.init() }

    /// For `main` and scenes: `init()` of a class that is known only when the program runs. Inherited with `init()`, so that a subclass
    /// need not say `required`, which Apple's class does not ask for.
    public required convenience init(hookswitch: Void) { self.init() }
}

/// An object that can take up an activity; here only a name in a signature.
public protocol UIUserActivityRestoring: NSObjectProtocol {}
