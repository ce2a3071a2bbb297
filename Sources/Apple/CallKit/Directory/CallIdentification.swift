/// The identity of a caller, as the system sees it.
public enum CallIdentification: Hashable, Sendable {
    /// The name in the user's contacts.
    case contact(String)
    /// The label in a call directory, and the identifier of its extension.
    case directory(String, extension: String)

    public var name: String {
        switch self {
        case .contact(let name), .directory(let name, _): name
        }
    }
}

extension CallSnapshot {
    /// The name that a telephone shows: the contact's name, else the app's name for the caller, else a directory's label.
    public var displayName: String? {
        if case .contact(let name) = identification { return name }
        return localizedCallerName ?? identification?.name
    }
}
