/// What the network (ICMP) says cannot be reached.
public enum Unreachable: Hashable, Sendable {
    /// The host is there, and nobody has the port.
    case port
    /// There is no way to the host: a hint, for there may be one again soon (RFC 1122 §3.2.2.1).
    case host
}
