import Foundation

/// A clipboard of this process alone.
@preconcurrency @MainActor
open class UIPasteboard: NSObject {
    private static let shared = UIPasteboard()
    open class var general: UIPasteboard { shared }

    open var string: String?
    open var url: URL? {
        get { string.flatMap { URL(string: $0) } }
        set { string = newValue?.absoluteString }
    }

    open var hasStrings: Bool { string != nil }
}
