import CallJournal
import Primitives

/// The order and the times in which the events of one webhook are sent: those of a call one after the other, different calls side by side.
///
/// A value: events and outcomes in, what is to be sent out. An event that is not taken is tried again, later and later, for a day.
struct WebhookSchedule {
    /// Bounds of one webhook.
    struct Limits {
        /// Requests at a time.
        var inFlight = 8
        /// Events in memory; the rest waits in the journal.
        var window = 1_000
        /// The time after which an event is given up.
        var patience = Duration.seconds(86_400)
        /// The waits after the first failures; the last holds for all that follow.
        var delays: [Duration] = [1, 5, 30, 120, 600, 1_800].map(Duration.seconds)
        /// The longest wait that a receiver can ask for.
        var longestPause = Duration.seconds(3_600)
        /// Failures in a row, of any events, that mean that the receiver is away.
        var failuresOfAbsence = 3
    }

    /// The events that are sent one after the other.
    enum Subject: Hashable {
        case call(CallUUID)
        /// Events without a call; empty: those of the server.
        case line(Text)
    }

    struct Item {
        let position: EventPosition
        let subject: Subject
        let json: [UInt8]
        /// When it is given up.
        let end: Instant
    }

    enum Outcome: Equatable {
        case taken
        /// - Parameter pause: the time for which the receiver wants to be left alone; nil: it did not say.
        case failed(pause: Duration?)
        /// The receiver wants no events any more.
        case gone
    }

    private enum State {
        case ready
        case inFlight
        case waiting(until: Instant)
    }

    private struct Queue {
        var items: [Item]
        var state = State.ready
        /// Failed attempts of its first event.
        var failures = 0
    }

    private let limits: Limits
    private var queues: [Subject: Queue] = [:]
    /// Subjects whose first event may be sent, in their order.
    private var ready = FIFO<Subject>()
    private var inFlight: [EventPosition: Subject] = [:]
    private var failuresInARow = 0
    /// No subject that waits is due before.
    private var soonest: Instant?
    /// Nothing is sent before.
    private var pausedUntil: Instant?
    /// Events in memory.
    private(set) var count = 0
    /// The receiver has said that it is gone: nothing is sent any more.
    private(set) var isGone = false

    init(_ limits: Limits = Limits()) { self.limits = limits }

    /// More events may be added.
    var hasRoom: Bool { count < limits.window && !isGone }
    var inFlightCount: Int { inFlight.count }
    /// Events that are on their way, or may be as soon as there is room.
    var isBusy: Bool { !inFlight.isEmpty || !isGone && pausedUntil == nil && !ready.isEmpty }

    /// When ``next(at:)`` may have something to send that it has not now; nil: not before an outcome or another event.
    var deadline: Instant? {
        guard !isGone, inFlight.count < limits.inFlight else { return nil }
        return pausedUntil ?? soonest
    }

    /// Adds an event behind those of its subject.
    mutating func add(_ item: Item) {
        count += 1
        if queues[item.subject]?.items.append(item) == nil {
            queues[item.subject] = Queue(items: [item])
            ready.append(item.subject)
        }
    }

    /// The next event to be sent now; nil: none. It is on its way until ``finish(_:_:at:jitter:)``.
    mutating func next(at now: Instant) -> Item? {
        guard !isGone, inFlight.count < limits.inFlight else { return nil }
        if let pause = pausedUntil {
            guard pause <= now else { return nil }
            pausedUntil = nil
        }
        wake(at: now)
        guard let subject = ready.popFirst(), let item = queues[subject]?.items.first else { return nil }
        queues[subject]?.state = .inFlight
        inFlight[item.position] = subject
        return item
    }

    private mutating func wake(at now: Instant) {
        guard let due = soonest, due <= now else { return }
        soonest = nil
        for (subject, queue) in queues {
            guard case .waiting(let due) = queue.state else { continue }
            if due > now {
                soonest = min(due, soonest ?? due)
            } else {
                queues[subject]?.state = .ready
                ready.append(subject)
            }
        }
    }

    /// Takes the outcome of an event that was sent.
    ///
    /// - Parameter jitter: 0 to 1: how much of a quarter of the wait comes on top.
    /// - Returns: whether it was given up: the next of its subject follows.
    mutating func finish(_ position: EventPosition, _ outcome: Outcome, at now: Instant, jitter: Double) -> Bool {
        guard let subject = inFlight.removeValue(forKey: position), var queue = queues.removeValue(forKey: subject),
            let item = queue.items.first
        else { return false }
        defer { if !queue.items.isEmpty { queues[subject] = queue } }
        switch outcome {
        case .taken:
            endAbsence(at: now)
            advance(&queue, subject)
            return false
        case .gone:
            isGone = true
            queue.state = .ready
            ready.append(subject)
            return false
        case .failed(let pause):
            failuresInARow += 1
            if let pause { pausedUntil = now + min(pause, limits.longestPause) }
            guard now < item.end else {
                advance(&queue, subject)
                return true
            }
            queue.failures += 1
            let due = min(now + delay(after: queue.failures, jitter), item.end)
            queue.state = .waiting(until: due)
            soonest = min(due, soonest ?? due)
            return false
        }
    }

    private func delay(after failures: Int, _ jitter: Double) -> Duration {
        let delay = limits.delays[min(failures, limits.delays.count) - 1]
        return delay + delay * (jitter / 4)
    }

    private mutating func advance(_ queue: inout Queue, _ subject: Subject) {
        queue.items.removeFirst()
        count -= 1
        (queue.failures, queue.state) = (0, .ready)
        if !queue.items.isEmpty { ready.append(subject) }
    }

    /// A receiver that was away and is there again gets at once what waits for it.
    private mutating func endAbsence(at now: Instant) {
        if failuresInARow >= limits.failuresOfAbsence {
            for (subject, queue) in queues { if case .waiting = queue.state { queues[subject]?.state = .waiting(until: now) } }
            soonest = soonest.map { min($0, now) }
        }
        failuresInARow = 0
    }

    /// A receiver that was gone, or may be another one now, is tried at once.
    mutating func begin(at now: Instant) {
        (isGone, pausedUntil, failuresInARow) = (false, nil, limits.failuresOfAbsence)
        endAbsence(at: now)
    }

    /// All events that were neither taken nor given up.
    var positions: [EventPosition] { queues.values.flatMap { $0.items.map(\.position) } }
}
