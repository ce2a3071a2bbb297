/// A port on which the kernel and the journal say different things.
public struct KernelDisagreement: Hashable, Sendable {
    /// The journal's word on a port.
    public enum Statement: Hashable, Sendable {
        /// No call has it, and none had it.
        case unused
        /// A call has its number, and has not opened it.
        case reserved
        /// The call has closed it. The time of day in nanoseconds since 1970.
        case closed(UInt64)
        /// The call has it open. The time of day in nanoseconds since 1970.
        case open(UInt64)
        /// The call has it open, and its media does not run. The time of day at which it stopped, in nanoseconds since 1970. Nil: it has
        /// not started.
        case idle(since: UInt64?)
    }

    /// The kernel's word on it.
    public enum Evidence: Hashable, Sendable {
        /// It has a socket, by its number.
        case socket(UInt64)
        case noSocket
        /// A packet left from it: RTP, or something else.
        case packet(isRTP: Bool)
    }

    /// The call that the journal names for the port.
    public var call: CallUUID?
    public var port: UInt16
    /// The time of day of the sample, or of the packet: nanoseconds since 1970.
    public var wall: UInt64
    /// The state of the port in the journal.
    public var journal: Statement
    public var kernel: Evidence

    /// Without call, port and time: `the kernel has a socket; the journal: reserved, not open`.
    public var sentence: String { "\(kernel.words); the journal: \(journal.words)" }
}

extension KernelDisagreement: CustomStringConvertible {
    public var description: String { "call \(call?.description ?? "–")  port \(port)  \(WallTime.local(wall))  \(sentence)" }
}

extension KernelDisagreement.Statement {
    fileprivate var words: String {
        switch self {
        case .unused: "no call has the port"
        case .reserved: "reserved, not open"
        case .closed(let wall): "closed at \(WallTime.local(wall))"
        case .open(let wall): "open since \(WallTime.local(wall))"
        case .idle(let wall): wall.map { "media stopped at \(WallTime.local($0))" } ?? "open, media not started"
        }
    }
}

extension KernelDisagreement.Evidence {
    fileprivate var words: String {
        switch self {
        case .socket: "the kernel has a socket"
        case .noSocket: "the kernel has no socket"
        case .packet(let isRTP): isRTP ? "RTP left" : "a packet left"
        }
    }
}
