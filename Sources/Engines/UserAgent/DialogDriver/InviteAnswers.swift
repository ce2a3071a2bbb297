import Primitives

/// Final answers of ours to INVITEs that begin a call, since the start.
public struct InviteAnswers: Hashable, Sendable {
    /// The number of answers with each status.
    public private(set) var byStatus: [Int: UInt64] = [:]
    /// Seconds from the INVITE to the 2xx, ringing included.
    public private(set) var setup = FixedHistogram([0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 30, 60])

    /// Nothing is answered yet.
    public init() {}

    mutating func add(_ status: Int, after wait: Duration) {
        byStatus[status, default: 0] += 1
        if (200..<300).contains(status) { setup.add(wait / .seconds(1)) }
    }
}
