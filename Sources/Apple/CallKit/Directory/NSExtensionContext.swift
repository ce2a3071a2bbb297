import Foundation

/// The host's side of an extension's request, as far as call directories have it. On Apple systems part of Foundation.
open class NSExtensionContext: NSObject, @unchecked Sendable {
    public override init() { super.init() }

    /// The extension could not do what it was asked to; the host gets the error.
    open func cancelRequest(withError error: any Error) {}
}

/// The handler that answers an extension's requests. On Apple systems part of Foundation.
public protocol NSExtensionRequestHandling: NSObjectProtocol {
    func beginRequest(with context: NSExtensionContext)
}
