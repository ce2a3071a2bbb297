import Primitives

/// Takes a journal's bytes. Called on the journal's lane with whole lines; must neither block nor fail nor call the journal:
/// what cannot be kept is counted.
public protocol JournalSink: AnyObject, Sendable {
    /// Takes whole lines, each with its newline. On the journal's lane.
    func accept(_ lines: [UInt8])
    /// The same, and how far the journal is with them.
    func accept(_ lines: [UInt8], through mark: JournalMark)
}

extension JournalSink {
    public func accept(_ lines: [UInt8], through mark: JournalMark) { accept(lines) }
}

/// The progress of a journal: its last event.
public struct JournalMark: Equatable, Sendable {
    public var sequence: UInt64
    public var time: Instant
    /// Nanoseconds since 1970-01-01 UTC.
    public var wall: UInt64
    /// Calls that had begun in the run by then: incoming calls that were reported, outgoing ones that were started.
    public var calls: UInt64

    public init(sequence: UInt64 = 0, time: Instant = .zero, wall: UInt64 = 0, calls: UInt64 = 0) {
        (self.sequence, self.time, self.wall, self.calls) = (sequence, time, wall, calls)
    }

    mutating func move(to event: borrowing JournalEvent) {
        (sequence, time, wall) = (event.sequence, event.time, event.wall)
        if event.kind.beginsCall { calls += 1 }
    }
}

/// Ties the monotonic clock to the time of day.
public struct WallClock: Sendable {
    private let instant: Instant
    private let unixNanoseconds: UInt64

    /// `instant` and `unixNanoseconds` are readings of the same moment.
    public init(instant: Instant, unixNanoseconds: UInt64) { (self.instant, self.unixNanoseconds) = (instant, unixNanoseconds) }

    /// Nanoseconds since 1970-01-01 UTC; wraps instead of trapping before 1970.
    public func unixNanoseconds(at now: Instant) -> UInt64 { unixNanoseconds &+ (now.nanoseconds &- instant.nanoseconds) }
}

/// The recorder of one lane: numbers each event, audits it, and hands the bytes on in batches.
///
/// Lane-confined: all calls come from the lane, in the order in which things happen. Its time never runs backwards: what is recorded after
/// something that a media lane dated later than the turn's clock gets that date too.
/// One run of a journal begins with `gateway.started` and ends with `gateway.stopped`; both are the gateway's to record.
public final class Journal {
    /// Bounds of a journal.
    public struct Limits: Sendable {
        /// Bytes after which a batch goes to the sink without waiting for `flush()`.
        public var batchBytes = 32 * 1024
        /// Events after which they are written and audited without waiting for `flush()`.
        public var batchEvents = 64

        /// Lines of 64 events together, and whatever else the properties say.
        public init() {}
    }

    /// Told of each fault when the turn is over in which it happened (`flush()`), after it was journalled.
    public var onViolation: ((Violation) -> Void)?
    /// Told of each piece of advice, in the same way.
    public var onAdvice: ((Violation) -> Void)?
    /// Sees each event when it is written and audited, in their order; nil costs nothing. It must not call the journal.
    public var onEvent: ((borrowing JournalEvent) -> Void)?
    /// Events recorded so far; the sequence number of the last.
    public private(set) var count: UInt64 = 0
    /// The same by kind: indexed by the kind's ordinal.
    private var counts = [UInt64](repeating: 0, count: JournalEvent.Kind.allCases.count)
    /// Faults found until the last `flush()`.
    public private(set) var violations = 0
    /// Pieces of advice until then.
    public private(set) var advice = 0

    /// The date of the last event.
    public private(set) var latest = Instant.zero

    /// May be set anew when the time of day was adjusted.
    public var clock: WallClock
    private let lane: Text
    private let sink: (any JournalSink)?
    private let limits: Limits
    private let audit: Audit?
    private var batch: [UInt8] = []
    /// The last event that was written.
    private var mark = JournalMark()
    /// Events that were recorded and are neither written nor audited: that is done for many at once, for between other work its
    /// instructions go cold.
    private var pending: [JournalEvent] = []
    private var isStopped = false
    private let stamp: JournalEncoder.Stamp
    /// The memory of details that were written, for the next.
    private var spareDetails: [JournalEvent.Details] = []

    /// A journal without a sink only audits; one without an audit only writes.
    public init(lane: Text, clock: WallClock, sink: (any JournalSink)?, audit: Audit? = Audit(), limits: Limits = Limits()) {
        (self.lane, self.clock, self.sink, self.audit, self.limits) = (lane, clock, sink, audit, limits)
        stamp = JournalEncoder.Stamp(lane: lane)
        batch.reserveCapacity(limits.batchBytes)
        pending.reserveCapacity(limits.batchEvents)
    }

    /// No details yet, and room for those of any usual event.
    public func makeDetails() -> JournalEvent.Details { spareDetails.popLast() ?? JournalEvent.Details(capacity: Self.usualDetails) }

    private static let usualDetails = 10, mostSpareDetails = 32

    /// Writes one event down. The time is the lane's; `line` is empty for what concerns the gateway. Behind `gateway.stopped` nothing is
    /// written until the next run begins.
    public func record(
        _ kind: JournalEvent.Kind, call: CallUUID? = nil, line: Text = .empty, at now: Instant, _ details: JournalEvent.Details = [:]
    ) {
        guard !isStopped || kind == .gatewayStarted else { return }
        isStopped = kind == .gatewayStopped
        pending.append(make(kind, call: call, line: line, at: now, details))
        if pending.count >= limits.batchEvents { settle() }
    }

    /// Ends the audit: what must hold when nothing is left to happen. Call it after `gateway.stopped`; flushes.
    public func finish(at now: Instant) {
        settle()
        report(audit?.finish() ?? [], at: now)
        flush()
    }

    /// Audits what was recorded, and hands it to the sink. To be called when the lane has done the work of a wake-up.
    public func flush() {
        settle()
        handOver()
    }

    private func handOver() {
        guard !batch.isEmpty else { return }
        sink?.accept(batch, through: mark)
        batch.removeAll(keepingCapacity: true)
    }

    private func settle() {
        var event = JournalEvent(sequence: 0, time: .zero, kind: .auditViolation)
        // Again for the violations, which are events themselves.
        while !pending.isEmpty {
            var found: [Violation] = []
            for index in pending.indices {
                // Moved out, for a copy would count the references of all that it holds.
                swap(&event, &pending[index])
                if sink != nil { write(event) }
                audit?.observe(event, into: &found)
                onEvent?(event)
                keepRoom(of: &event)
            }
            pending.removeAll(keepingCapacity: true)
            report(found, at: latest)
        }
    }

    /// Events recorded so far, of every kind there is.
    public var countsByKind: [(kind: JournalEvent.Kind, count: UInt64)] { JournalEvent.Kind.allCases.map { ($0, counts[$0.ordinal]) } }

    private func make(
        _ kind: JournalEvent.Kind, call: CallUUID?, line: Text, at now: Instant, _ details: JournalEvent.Details
    ) -> JournalEvent {
        count += 1
        counts[kind.ordinal] += 1
        latest = max(latest, now)
        return JournalEvent(
            sequence: count, time: latest, wall: clock.unixNanoseconds(at: latest), call: call, line: line, lane: lane, kind: kind,
            details: details)
    }

    private func write(_ event: borrowing JournalEvent) {
        JournalEncoder.append(event, stamp, to: &batch)
        mark.move(to: event)
        if batch.count >= limits.batchBytes { handOver() }
    }

    private func keepRoom(of event: inout JournalEvent) {
        guard event.details.hasRoom(for: Self.usualDetails), spareDetails.count < Self.mostSpareDetails else { return }
        var details: JournalEvent.Details = [:]
        swap(&details, &event.details)
        details.removeAll()
        spareDetails.append(details)
    }

    private func report(_ found: [Violation], at now: Instant) {
        for violation in found {
            let isFault = violation.level == .fault
            if isFault { violations += 1 } else { advice += 1 }
            let details: JournalEvent.Details = [
                .rule: .init(violation.rule.rawValue), .count: .init(violation.sequence), .text: .init(violation.sentence),
            ]
            pending.append(make(isFault ? .auditViolation : .auditAdvice, call: violation.call, line: .empty, at: now, details))
            (isFault ? onViolation : onAdvice)?(violation)
        }
    }
}
