import CLinux
import Dispatch

/// Gives back to the kernel what a flood or a crowd of calls has left with the allocator, which would keep it for ever.
///
/// Looks now and then, on a queue of its own. While memory is given back, who allocates waits (tens of milliseconds for hundreds of
/// megabytes), so it is done only when the crowd has gone.
public final class MallocTrimmer {
    /// The memory of the allocator, in bytes.
    struct Reading {
        var used: UInt64
        /// Freed, and kept for what comes.
        var kept: UInt64

        static var now: Reading {
            var memory = clinux_memory()
            clinux_get_memory(&memory)
            return Reading(used: memory.used, kept: memory.kept)
        }
    }

    /// Says when: where twice in a row more is kept than used, and enough to be worth it.
    struct Judgement {
        static let least: UInt64 = 64 << 20
        private var wasDue = false

        mutating func isDue(_ reading: Reading) -> Bool {
            let isDue = reading.kept >= Self.least && reading.kept > reading.used
            defer { wasDue = isDue && !wasDue }
            return isDue && wasDue
        }
    }

    private let timer: any DispatchSourceTimer

    /// Works until it is let go.
    public init(every interval: DispatchTimeInterval = .seconds(10)) {
        let timer = DispatchSource.makeTimerSource(queue: DispatchQueue(label: "memory"))
        var judgement = Judgement()
        timer.setEventHandler { if judgement.isDue(.now) { Self.giveBack() } }
        timer.schedule(deadline: .now() + interval, repeating: interval, leeway: .seconds(1))
        timer.activate()
        self.timer = timer
    }

    deinit { timer.cancel() }

    static func giveBack() { clinux_return_memory() }
}
