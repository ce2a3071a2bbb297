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
    }

    /// The call that the journal names for the port.
    public var call: CallUUID?
    public var port: UInt16
    /// The time of day of the sample: nanoseconds since 1970.
    public var wall: UInt64
    /// The state of the port in the journal. The kernel has a socket unless it is `.open`, and then it has none.
    public var journal: Statement
    /// The kernel's number of the socket that it has.
    public var inode: UInt64?

    /// Without call, port and time: `the kernel has a socket; the journal: reserved, not open`.
    public var sentence: String {
        switch journal {
        case .unused: "the kernel has a socket; the journal: no call has the port"
        case .reserved: "the kernel has a socket; the journal: reserved, not open"
        case .closed(let wall): "the kernel has a socket; the journal: closed at \(WallTime.local(wall))"
        case .open(let wall): "the kernel has no socket; the journal: open since \(WallTime.local(wall))"
        }
    }
}

extension KernelDisagreement: CustomStringConvertible {
    public var description: String { "call \(call?.description ?? "–")  port \(port)  \(WallTime.local(wall))  \(sentence)" }
}
