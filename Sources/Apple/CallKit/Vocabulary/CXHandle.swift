import Foundation

/// The handle of the other party of a call: a phone number, an e-mail address or anything else to reach it by. A value; immutable.
open class CXHandle: NSObject, NSCopying, NSSecureCoding, @unchecked Sendable {
    /// Kinds of addresses.
    public enum HandleType: Int, Sendable {
        case generic = 1, phoneNumber = 2, emailAddress = 3
    }

    /// The kind of `value`.
    public let type: HandleType
    /// The address as text. A phone number need not be normalised: what compares numbers does that.
    public let value: String

    /// Takes any text: it is not checked against its kind.
    public init(type: HandleType, value: String) {
        (self.type, self.value) = (type, value)
        super.init()
    }

    /// Decodes one that `encode(with:)` has written; nil where a value is missing or its kind unknown.
    public required init?(coder: NSCoder) {
        guard let type = HandleType(rawValue: coder.decodeInteger(forKey: "type")),
            let value = coder.decodeObject(of: NSString.self, forKey: "value")
        else { return nil }
        (self.type, self.value) = (type, value as String)
        super.init()
    }

    /// True.
    public static var supportsSecureCoding: Bool { true }

    /// Encodes kind and value.
    open func encode(with coder: NSCoder) {
        coder.encode(type.rawValue, forKey: "type")
        coder.encode(value as NSString, forKey: "value")
    }

    /// Itself: it never changes.
    open func copy(with zone: NSZone? = nil) -> Any { self }

    open override var description: String { describe([Detail("type", type), Detail("value", value)]) }

    /// Equal type and equal value.
    open func isEqual(to handle: CXHandle) -> Bool { type == handle.type && value == handle.value }

    open override func isEqual(_ object: Any?) -> Bool { (object as? CXHandle).map(isEqual(to:)) ?? false }

    open override var hash: Int {
        var hasher = Hasher()
        hasher.combine(type)
        hasher.combine(value)
        return hasher.finalize()
    }
}
