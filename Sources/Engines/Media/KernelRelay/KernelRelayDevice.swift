import CKernelRelay
import Primitives
import Synchronization

/// The media relay in the kernel, as descriptors of this process: once open it needs no capability any more, and it leaves with the process.
///
/// For all lanes: each call is one system call of one to four microseconds, takes no lock of ours, and may come from any thread.
public final class KernelRelayDevice: Sendable {
    /// A system call that the kernel refused, by its errno value.
    public struct Failure: Error, Hashable, Sendable {
        /// EPERM and the like.
        public var code: Int32

        /// An errno value.
        public init(code: Int32) { self.code = code }
    }

    /// How a frame of `run` ended.
    public struct Run: Hashable, Sendable {
        /// The frame as the program left it.
        public enum Verdict: Hashable, Sendable {
            /// Up the stack, rewritten or as it was; sent by the outgoing interface; dropped; or another number.
            case up, sent, dropped, other(Int32)
        }

        public var verdict: Verdict
        /// The frame as it is then.
        public var frame: [UInt8]
        /// The mean duration of the program.
        public var nanoseconds: UInt32
    }

    /// ENOSPC.
    private static let noSpace: Int32 = 28

    private let relay: kernel_relay
    private let links = Mutex<[UInt32: Int32]>([:])

    /// Loads the program, with room for so many directions. EPERM: without CAP_BPF and CAP_NET_ADMIN;
    /// EACCES: without CAP_PERFMON.
    public init(mostEntries: UInt32) throws(Failure) {
        var relay = kernel_relay()
        try Self.check(kernel_relay_open(&relay, mostEntries))
        self.relay = relay
    }

    deinit {
        var relay = relay
        links.withLock { links in
            for link in links.values { kernel_relay_detach(link) }
        }
        kernel_relay_close(&relay)
    }

    /// Puts the program before what comes in by an interface with Ethernet headers of this thread's network namespace; once is enough.
    /// EINVAL: before Linux 6.6.
    public func attach(to interface: UInt32) throws(Failure) {
        try links.withLock { links throws(Failure) in
            if links[interface] == nil { links[interface] = try Self.check(kernel_relay_attach([relay], interface)) }
        }
    }

    /// Takes the program away from an interface.
    public func detach(from interface: UInt32) {
        links.withLock { links in
            if let link = links.removeValue(forKey: interface) { kernel_relay_detach(link) }
        }
    }

    /// Says that user space lives, at a time of the monotonic clock: the program relays until five seconds after it. Needed before the first
    /// packet.
    public func renew(at now: Instant) throws(Failure) { try Self.check(kernel_relay_renew([relay], now.nanoseconds)) }

    /// Hands a direction to the program, or replaces it. E2BIG: all entries are used.
    public func arm(_ key: RelayKey, _ entry: RelayEntry) throws(Failure) {
        let name = key.kernel
        try Self.check(kernel_relay_arm([relay], [name], [entry.kernel(for: name)]))
    }

    /// Takes a direction back: none of its packets leaves any more, and what comes goes up. Nil where there is none.
    public func take(_ key: RelayKey) -> RelayEntry? { entry(key, by: kernel_relay_take) }

    /// Reads a direction with which the program goes on; counts may be one packet old. Nil where there is none.
    public func read(_ key: RelayKey) -> RelayEntry? { entry(key, by: kernel_relay_read) }

    private typealias Call = (UnsafePointer<kernel_relay>?, UnsafePointer<kernel_relay_key>?, UnsafeMutablePointer<kernel_relay_entry>?)
        -> Int32

    private func entry(_ key: RelayKey, by call: Call) -> RelayEntry? {
        var entry = kernel_relay_entry()
        let result = withUnsafePointer(to: relay) { relay in
            withUnsafePointer(to: key.kernel) { call(relay, $0, &entry) }
        }
        return result == 0 ? RelayEntry(entry, isV6: key.local.address.family == .v6) : nil
    }

    /// Reads all directions, some hundreds with each system call. One that is armed or taken meanwhile may be missing.
    public func readAll(_ body: (RelayKey, RelayEntry) -> Void) throws(Failure) {
        var reading = kernel_relay_reading(), most = 256
        while reading.is_over == 0 {
            var keys = [kernel_relay_key](repeating: kernel_relay_key(), count: most)
            var entries = [kernel_relay_entry](repeating: kernel_relay_entry(), count: most)
            let count = kernel_relay_read_all([relay], &reading, &keys, &entries, UInt32(most))
            if count == -Self.noSpace, most < 1 << 16 {
                most *= 2
                continue
            }
            for index in 0..<Int(try Self.check(count)) {
                body(RelayKey(keys[index]), RelayEntry(entries[index], isV6: keys[index].family == 6))
            }
        }
    }

    /// Runs the program on an Ethernet frame, which is not sent, so many times.
    ///
    /// - Parameter isSummed: the kernel keeps the sum of the frame beside it, as network cards do. EBADMSG: the program left it wrong.
    public func run(_ frame: [UInt8], times: UInt32 = 1, isSummed: Bool = false) throws(Failure) -> Run {
        var result = [UInt8](repeating: 0, count: frame.count + 256), run = kernel_relay_run(), code: Int32 = 0
        frame.withUnsafeBytes { bytes in
            result.withUnsafeMutableBytes { room in
                (run.frame, run.size, run.repeat) = (bytes.baseAddress, UInt32(bytes.count), times)
                (run.result, run.result_size, run.is_summed) = (room.baseAddress, UInt32(room.count), isSummed ? 1 : 0)
                code = withUnsafePointer(to: relay) { kernel_relay_try($0, &run) }
            }
        }
        try Self.check(code)
        return Run(verdict: Run.Verdict(run.verdict), frame: Array(result[..<Int(run.result_size)]), nanoseconds: run.nanoseconds)
    }

    /// The number of instructions of the program.
    public static var instructions: Int { Int(kernel_relay_instructions()) }

    @discardableResult private static func check(_ result: Int32) throws(Failure) -> Int32 {
        guard result >= 0 else { throw Failure(code: -result) }
        return result
    }
}

extension KernelRelayDevice.Run.Verdict {
    fileprivate init(_ number: Int32) {
        switch number {
        case -1: self = .up
        case 2: self = .dropped
        case 7: self = .sent
        default: self = .other(number)
        }
    }
}
