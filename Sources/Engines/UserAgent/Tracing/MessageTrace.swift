import Dispatch
import Primitives
import Runtime
import Synchronization

/// A destination of traced messages: a file, a collector, a log. Each has a queue of its own, on which all calls come.
public protocol TraceSink: AnyObject, Sendable {
    /// The kind of the destination, for the counts.
    var output: TraceOutput { get }
    /// It takes media packets, too.
    var takesMedia: Bool { get }
    /// Takes messages, without their secrets. May block: nobody but itself waits for that.
    /// - Parameter missed: how many before these were dropped, because there were too many.
    /// - Returns: how many of the messages could not be passed on.
    func take(_ messages: [TracedMessage], missed: Int) -> Int
    /// Nothing more comes.
    func finish()
}

extension TraceSink {
    public var takesMedia: Bool { false }
}

/// The kinds of ``TraceSink``.
public enum TraceOutput: String, CaseIterable, Sendable { case file, hep, log }

/// All SIP messages of ``Transports``, for those that want to read them: the last ones in memory, and a copy for each sink.
///
/// Thread-safe. A message costs its lane a lock and a place in the ring; its bytes are not copied. Bounded: the oldest messages leave the
/// ring, and a sink that has not got them by then never gets them, which is counted.
public final class MessageTrace: MessageTap, Sendable {
    /// Numbers of messages since the start.
    public struct Counts: Hashable, Sendable {
        /// Messages that came in or left.
        public var seen: UInt64 = 0
        /// Messages among these that sinks took, and messages that they did not get or could not pass on; for the sinks that there are.
        public var passed: [TraceOutput: UInt64] = [:], dropped: [TraceOutput: UInt64] = [:]

        /// Nothing has happened.
        public init() {}
    }

    fileprivate struct State {
        var ring: [TracedMessage] = []
        /// The place of the oldest message; those before it have no bytes any more.
        var head = 0
        /// Messages that left the ring, and bytes that are in it.
        var gone: UInt64 = 0, bytes = 0
        /// By sink: the number of the message that it gets next, and whether it is about to.
        var next: [UInt64], isDue: [Bool]
        var counts = Counts()
    }

    /// Bytes that messages take in the ring.
    public static let usualCapacity = 32 << 20
    fileprivate static let overhead = 160
    private static let batch = 256
    /// The time that the first message waits for more: a busy lane does not wake a thread for each message.
    private static let gathering = DispatchTimeInterval.milliseconds(20)
    private static let mostPeers = 1_000
    /// Seconds that the end waits for a sink that hangs.
    private static let farewell = 2.0

    private let capacity: Int
    private let sinks: [any TraceSink]
    private let queues: [DispatchQueue]
    private let state: Mutex<State>
    /// The address that we send from to peers, where the socket is bound to all of ours.
    private let ownAddresses = Mutex<[IPAddress: IPAddress]>([:])

    /// - Parameters:
    ///   - capacity: the bytes of memory that messages may take.
    ///   - sinks: at most one of an output.
    public init(capacity: Int = usualCapacity, sinks: [any TraceSink]) {
        (self.capacity, self.sinks) = (capacity, sinks)
        queues = sinks.map { DispatchQueue(label: "trace.\($0.output.rawValue)") }
        var state = State(next: sinks.map { _ in 0 }, isDue: sinks.map { _ in false })
        for sink in sinks { (state.counts.passed[sink.output], state.counts.dropped[sink.output]) = (0, 0) }
        self.state = Mutex(state)
    }

    public func note(_ direction: TracedMessage.Direction, _ bytes: [UInt8], over flow: Flow) {
        // Keep-alives are no messages (RFC 5626 §4.4.1).
        guard bytes.count > 4 else { return }
        add(TracedMessage(direction, flow.transport, local: flow.local, remote: flow.remote, wall: WallClock.now, bytes: bytes))
    }

    /// A packet of RTP or RTCP, for the sinks that take them.
    /// - Parameters:
    ///   - bytes: what is to be kept of it.
    ///   - length: of the whole.
    public func noteMedia(
        _ direction: TracedMessage.Direction, _ bytes: [UInt8], length: Int, local: SocketAddress, remote: SocketAddress
    ) {
        var packet = TracedMessage(direction, .udp, local: local, remote: remote, wall: WallClock.now, bytes: bytes)
        packet.mediaLength = length
        add(packet)
    }

    private func add(_ message: TracedMessage) {
        let due = state.withLock { $0.add(message, capacity) }
        for index in due { queues[index].asyncAfter(deadline: .now() + Self.gathering) { self.serve(index) } }
    }

    /// Numbers of messages until now.
    public var counts: Counts { state.withLock { $0.counts } }

    /// The messages of one call that are still in memory, the oldest first and without their secrets.
    public func messages(of callID: Text) -> [TracedMessage] {
        let kept = state.withLock { Array($0.ring[$0.head...]) }
        return kept.filter { $0.mediaLength == nil && $0.callID == callID }.map(shown)
    }

    /// Gives the sinks what is left, and ends them. One that hangs is not waited for.
    public func finish() {
        let done = DispatchGroup()
        for (index, queue) in queues.enumerated() {
            queue.async(group: done) {
                self.serve(index)
                self.sinks[index].finish()
            }
        }
        _ = done.wait(timeout: .now() + Self.farewell)
    }

    /// As others may see it: without secrets, and with an address of ours.
    private func shown(_ message: TracedMessage) -> TracedMessage {
        var shown = message.mediaLength == nil ? message.withoutSecrets : message
        guard message.local.address.isAny else { return shown }
        let peer = message.remote.address
        if let known = ownAddresses.withLock({ $0[peer] }) {
            shown.local.address = known
        } else if let found = LocalAddresses.used(towards: peer) {
            shown.local.address = found
            ownAddresses.withLock { $0.count < Self.mostPeers ? $0[peer] = found : () }
        }
        return shown
    }

    /// On the sink's queue.
    private func serve(_ index: Int) {
        let sink = sinks[index], output = sink.output
        while case let (found, missed) = state.withLock({ $0.take(Self.batch, for: index) }), !found.isEmpty || missed > 0 {
            let messages = sink.takesMedia ? found : found.filter { $0.mediaLength == nil }
            let failed = messages.isEmpty && missed == 0 ? 0 : sink.take(messages.map(shown), missed: missed)
            state.withLock { state in
                state.counts.passed[output, default: 0] += UInt64(messages.count - failed)
                state.counts.dropped[output, default: 0] += UInt64(missed + failed)
            }
        }
    }
}

extension MessageTrace.State {
    /// - Returns: the sinks that are to be served.
    mutating func add(_ message: TracedMessage, _ capacity: Int) -> [Int] {
        counts.seen += 1
        ring.append(message)
        bytes += message.bytes.count + MessageTrace.overhead
        while bytes > capacity, head < ring.count { dropOldest() }
        let due = isDue.indices.filter { !isDue[$0] }
        for index in due { isDue[index] = true }
        return due
    }

    private mutating func dropOldest() {
        bytes -= ring[head].bytes.count + MessageTrace.overhead
        ring[head].bytes = []
        (head, gone) = (head + 1, gone + 1)
        guard head > 1_024, head * 2 > ring.count else { return }
        ring.removeFirst(head)
        head = 0
    }

    /// The next messages of a sink, and how many before them were dropped. None: the sink is asked again when there are more.
    mutating func take(_ most: Int, for index: Int) -> (messages: [TracedMessage], missed: Int) {
        let missed = next[index] < gone ? gone - next[index] : 0
        let start = head + Int(next[index] + missed - gone), end = min(start + most, ring.count)
        next[index] += missed + UInt64(end - start)
        isDue[index] = end > start || missed > 0
        return (Array(ring[start..<end]), Int(missed))
    }
}

extension TracedMessage {
    /// See ``SecretMask``.
    public var withoutSecrets: TracedMessage {
        var message = self
        message.bytes = SecretMask.masked(bytes)
        return message
    }
}
