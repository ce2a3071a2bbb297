import Foundation

/// A gateway at a moment, as `hookswitch top` shows it. nil stands for what is not known, or was not measured.
struct TopFrame: Encodable, Equatable {
    /// A call of CallKit: a call that is bridged is two.
    struct Row: Encodable, Equatable {
        var id: UUID
        var line: String, direction: String, state: String
        var from: String?, to: String?
        /// Seconds from its begin, and from its answer.
        var age: Int, connected: Int?
        var isOnHold: Bool, isMuted: Bool, isHeldByRemote: Bool
        /// The sound from the far end, and ours as the far end reported it: `heard`, `silent` …
        var incoming: String?, outgoing: String?
        /// The quality of the sound from the far end, up to its last stop.
        var quality: Quality
    }

    struct Quality: Encodable, Equatable {
        /// Part of the packets, 0 to 1.
        var loss: Double?
        /// Seconds.
        var jitter: Double?
        /// 1 to 4.5.
        var mos: Double?
    }

    /// The gateway that was asked: a socket's path, or an address.
    var gateway: String
    /// The reason why the gateway is away; nil: it is there.
    var trouble: String?
    var version: String, run: String?
    /// Seconds since the start of the run.
    var uptime: Int?
    var calls: Int
    /// Calls that were connected, and refused, per second, over the last ten seconds.
    var connectedPerSecond: Double?, refusedPerSecond: Double?
    /// Devices.
    var registrations: Int?
    /// Legs whose sound stopped since top began, and the mean of what was measured of them.
    var measured: Int, quality: Quality
    /// Oldest first.
    var rows: [Row]
}
