import CallKit
import Foundation

/// The address of somebody who takes part in a conversation.
public struct Handle: Hashable, Codable, Sendable {
    /// Kinds of addresses.
    public enum Kind: Int, Hashable, Codable, Sendable {
        case generic, phoneNumber, emailAddress
    }

    /// The kind of `value`.
    public var type: Kind
    /// The address as text. It is not checked against its kind.
    public var value: String
    /// The name to show for it. The address itself where none was given.
    public var displayName: String

    public init(type: Kind, value: String, displayName: String? = nil) {
        (self.type, self.value, self.displayName) = (type, value, displayName ?? value)
    }
}

extension Handle {
    init(_ handle: CXHandle) { self.init(type: Kind(handle.type), value: handle.value) }

    var cxHandle: CXHandle { CXHandle(type: type.cxType, value: value) }
}

extension Handle.Kind {
    init(_ type: CXHandle.HandleType) {
        switch type {
        case .generic: self = .generic
        case .phoneNumber: self = .phoneNumber
        case .emailAddress: self = .emailAddress
        }
    }

    var cxType: CXHandle.HandleType {
        switch self {
        case .generic: .generic
        case .phoneNumber: .phoneNumber
        case .emailAddress: .emailAddress
        }
    }
}
