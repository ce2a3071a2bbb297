import Primitives

/// The journal's and the kernel's news of one port.
struct WitnessedPort {
    /// A step that the kernel took: not before the time of its event, and not behind the moment at which the event was read.
    struct Step {
        let earliest: Instant, latest: Instant
        /// The time of day of the event.
        let wall: UInt64
    }

    /// The time for which a call has the port open.
    struct Opening {
        let call: CallUUID, opened: Step
        var closed: Step?
        /// The times for which its media runs: the last of them may go on.
        var runs: [(started: Step, stopped: Step?)] = []
        /// The kernel had its socket.
        var wasSeen = false

        /// Whether the port may have been open at some instant of the span.
        func mayBeOpen(in span: ClosedRange<Instant>) -> Bool { span.mayMeet(opened, closed) }
    }

    var reservation: (call: CallUUID, since: Step)?
    /// Openings that a sample may still be held against, the earliest first.
    private(set) var openings: [Opening] = []
    /// The last opening that is over.
    private(set) var past: Opening?
    /// From here on the journal tells whether the port is open. Nil: its event is missing.
    var knownSince: Instant?
    /// The journal says that another program has it.
    var isForeign = false
    /// The number of the last sample that has a socket on it, and that socket.
    var sample = 0, inode: UInt64 = 0
    /// Samples in sequence without a socket though the port is open.
    var absences = 0

    mutating func open(_ call: CallUUID, at step: Step) {
        openings.append(Opening(call: call, opened: step))
        if knownSince == nil { knownSince = step.latest }
    }

    mutating func close(_ call: CallUUID, at step: Step) {
        guard let index = openings.lastIndex(where: { $0.call == call && $0.closed == nil }) else { return }
        openings[index].closed = step
        past = openings[index]
    }

    mutating func start(_ call: CallUUID, at step: Step) {
        guard let index = openings.lastIndex(where: { $0.call == call && $0.closed == nil }) else { return }
        openings[index].runs.append((step, nil))
    }

    mutating func stop(_ call: CallUUID, at step: Step) {
        guard let index = openings.lastIndex(where: { $0.call == call && $0.closed == nil }), !openings[index].runs.isEmpty else { return }
        openings[index].runs[openings[index].runs.count - 1].stopped = step
    }

    /// Forgets openings that were over before.
    mutating func forget(before horizon: Instant) { openings.removeAll { $0.closed.map { $0.latest < horizon } ?? false } }

    /// Whether there may have been an open socket at some instant of the span.
    func mayBeOpen(in span: ClosedRange<Instant>) -> Bool { openings.contains { $0.mayBeOpen(in: span) } }

    /// Whether media may have run at some instant of the span.
    func mayRun(in span: ClosedRange<Instant>) -> Bool {
        openings.contains { $0.runs.contains { span.mayMeet($0.started, $0.stopped) } }
    }

    /// The opening that lasted for the whole of the sample.
    func opening(throughout sample: KernelSample) -> Opening? {
        openings.first { $0.opened.latest <= sample.begin && ($0.closed.map { $0.earliest >= sample.end } ?? true) }
    }

    /// Whether the journal tells of the port for the whole of the span.
    func isKnown(in span: ClosedRange<Instant>) -> Bool { knownSince.map { $0 <= span.lowerBound } ?? false }

    /// Notes that the kernel has the socket of its openings.
    /// - Returns: the number of those that it was not known of.
    mutating func see(in sample: KernelSample) -> Int {
        var new = 0
        for index in openings.indices where !openings[index].wasSeen && openings[index].opened.earliest <= sample.end {
            openings[index].wasSeen = true
            new += 1
        }
        return new
    }
}

extension ClosedRange<Instant> {
    /// Whether something that began and ended with these steps may have been so at some instant of it.
    fileprivate func mayMeet(_ begin: WitnessedPort.Step, _ end: WitnessedPort.Step?) -> Bool {
        begin.earliest <= upperBound && end.map { $0.latest >= lowerBound } ?? true
    }
}
