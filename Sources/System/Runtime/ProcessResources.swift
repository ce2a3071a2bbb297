import CLinux

/// Resources that this process may use and has used.
public enum ProcessResources {
    /// Processor time and memory since the process started.
    public struct Usage: Hashable, Sendable {
        /// Processor time outside of the kernel, of all threads.
        public var user: Duration
        /// Processor time within the kernel, of all threads.
        public var system: Duration
        /// The largest resident size so far, in bytes.
        public var peakMemory: UInt64
    }

    /// Allows as many open descriptors as the system lets this process have; a call takes two to four of them, and the usual soft limit is
    /// 1024.
    ///
    /// - Returns: the limit that is in force now; 0 when the kernel does not tell.
    @discardableResult
    public static func raiseDescriptorLimit() -> Int { Int(clamping: clinux_raise_descriptor_limit()) }

    /// Has all threads allocate from one arena. What calls live on is the signalling lane's: a thread with an arena of its own gives pages
    /// back and asks for them again with each call, and keeps pages that nobody else gets. To be called before there are threads.
    public static func shareMemory() { clinux_use_one_arena() }

    /// Resources that this process has used until now.
    public static var usage: Usage {
        var figures = clinux_usage()
        clinux_get_usage(&figures)
        return Usage(
            user: .microseconds(Int64(clamping: figures.user_microseconds)),
            system: .microseconds(Int64(clamping: figures.system_microseconds)),
            peakMemory: figures.peak_kilobytes * 1024)
    }
}
