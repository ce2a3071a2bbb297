import Primitives

/// The direction of a stream, from the view of its writer (RFC 8866 §6.7).
public enum Direction: Hashable, Sendable {
    /// The attributes of RFC 8866 §6.7.
    case sendrecv, sendonly, recvonly, inactive

    /// The direction of whoever sends or does not, and receives or does not.
    public init(sends: Bool, receives: Bool) {
        self = sends ? (receives ? .sendrecv : .sendonly) : (receives ? .recvonly : .inactive)
    }

    /// Whether whoever wrote it sends.
    public var sends: Bool { self == .sendrecv || self == .sendonly }
    /// Whether whoever wrote it receives.
    public var receives: Bool { self == .sendrecv || self == .recvonly }

    /// The same flow from the other side.
    public var reversed: Direction { Direction(sends: receives, receives: sends) }

    /// The direction that both allow, both from one view.
    public func limited(to other: Direction) -> Direction {
        Direction(sends: sends && other.sends, receives: receives && other.receives)
    }

    /// The attribute's name.
    public var text: Text {
        switch self {
        case .sendrecv: .sendrecv
        case .sendonly: .sendonly
        case .recvonly: .recvonly
        case .inactive: .inactive
        }
    }

    /// The last direction among attributes; nil when they name none.
    init?(in attributes: [SessionDescription.Attribute]) {
        for attribute in attributes.reversed() where attribute.value == nil {
            guard let direction = Self.all.first(where: { $0.text == attribute.name }) else { continue }
            self = direction
            return
        }
        return nil
    }

    private static let all: [Direction] = [.sendrecv, .sendonly, .recvonly, .inactive]
}
