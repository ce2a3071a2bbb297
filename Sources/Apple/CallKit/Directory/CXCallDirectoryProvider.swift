import Foundation

/// The principal class of a call directory extension. Override `beginRequest(with:)`.
open class CXCallDirectoryProvider: NSObject, NSExtensionRequestHandling {
    public override init() { super.init() }

    /// Give the context all entries, or what has changed, then complete or cancel the request; at once or later.
    ///
    /// Called on a queue of its own. A context that is let go of without either fails with `loadingInterrupted`, as does
    /// one that this implementation gets.
    open func beginRequest(with context: CXCallDirectoryExtensionContext) {}

    public final func beginRequest(with context: NSExtensionContext) {
        if let context = context as? CXCallDirectoryExtensionContext { beginRequest(with: context) }
    }
}
