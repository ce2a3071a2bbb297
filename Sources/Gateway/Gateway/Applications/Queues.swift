import CallJournal
import Foundation
import Media
import Primitives
import UserAgent

/// A queue as somebody outside sees it at a moment.
public struct QueueSummary: Sendable {
    /// A member of it.
    public struct Member: Sendable {
        /// Free to take a caller; rung for one; in a call, or refusing calls; or not registered.
        public enum State: String, Sendable, CaseIterable { case free, ringing, busy, unavailable }

        /// The number of its line.
        public var line: Text
        public var state: State

        public init(line: Text, state: State) { (self.line, self.state) = (line, state) }
    }

    /// A caller that waits.
    public struct Caller: Sendable {
        public var call: UUID
        public var waited: Duration

        public init(call: UUID, waited: Duration) { (self.call, self.waited) = (call, waited) }
    }

    /// The number and the name of its line.
    public var line: Text, name: Text?
    public var strategy: QueueSettings.Strategy
    /// Callers that may wait at a time.
    public var length: Int
    /// In the order of the configuration.
    public var members: [Member]
    /// The callers that wait, in their order.
    public var callers: [Caller]
    /// Since the start: who came, who was answered, who hung up while waiting, and who found it full or waited too long.
    public var entered: UInt64, answered: UInt64, abandoned: UInt64, overflowed: UInt64
    /// The mean time that those who were answered had waited; nil before the first.
    public var meanWait: Duration?

    public init(
        line: Text, name: Text?, strategy: QueueSettings.Strategy, length: Int, members: [Member], callers: [Caller], entered: UInt64,
        answered: UInt64, abandoned: UInt64, overflowed: UInt64, meanWait: Duration?
    ) {
        (self.line, self.name, self.strategy, self.length, self.members) = (line, name, strategy, length, members)
        (self.callers, self.entered, self.answered, self.abandoned) = (callers, entered, answered, abandoned)
        (self.overflowed, self.meanWait) = (overflowed, meanWait)
    }
}

/// The calls of all queues.
public struct QueueTotals: Sendable {
    /// Callers that wait now.
    public var waiting = 0
    /// Since the start.
    public var answered: UInt64 = 0, abandoned: UInt64 = 0, overflowed: UInt64 = 0

    public init(waiting: Int = 0, answered: UInt64 = 0, abandoned: UInt64 = 0, overflowed: UInt64 = 0) {
        (self.waiting, self.answered, self.abandoned, self.overflowed) = (waiting, answered, abandoned, overflowed)
    }
}

/// The queues of lines: who waits in which, and which members are free. Lives on the signalling lane.
final class Queues {
    private let context: GatewayContext
    private let table: CallTable
    private let router: Router
    /// By the number of the line.
    private var queues: [Text: CallQueue] = [:]
    /// Tells the application of a caller; set once, before the first leg.
    var tell: ((Leg, QueueEvent) -> Void)!

    init(_ context: GatewayContext, _ table: CallTable, _ router: Router) {
        (self.context, self.table, self.router) = (context, table, router)
    }

    private var now: Instant { context.now }

    // MARK: Callers

    func enter(_ leg: Leg, _ settings: QueueSettings) {
        let line = leg.line.configuration.number
        guard let position = queues[line, default: CallQueue()].enter(leg.uuid, limit: settings.length, at: now) else {
            leg.scribe.write(.queueLeft, at: now, [.cause: "full", .count: 0])
            return tell(leg, .full)
        }
        leg.scribe.write(.queueEntered, at: now, [.count: .init(position)])
        tell(leg, .position(position))
        offer(in: line)
    }

    /// The caller is gone, or waits no more. Nothing for one who does not wait.
    /// - Parameter cause: `abandoned`, or the limit that was reached.
    func leave(_ leg: Leg, cause: Text) {
        let line = leg.line.configuration.number
        guard let waited = queues[line]?.leave(leg.uuid, isOverflow: cause != "abandoned", at: now) else { return }
        leg.scribe.write(.queueLeft, at: now, [.cause: .init(cause), .count: .init(waited.wholeMilliseconds)])
        tellPositions(in: line)
        offer(in: line)
    }

    /// A member talks with the caller. Nothing for one who does not wait.
    func answered(_ leg: Leg, by peer: Leg) {
        let line = leg.line.configuration.number, member = table.lineReached(by: peer)?.configuration.number
        guard let waited = queues[line]?.answered(leg.uuid, by: member, at: now) else { return }
        leg.scribe.write(
            .queueAnswered, at: now, [.remote: .init(member ?? .empty), .count: .init(waited.wholeMilliseconds)])
        tellPositions(in: line)
    }

    /// None of the members that rang for the caller took the call: others may.
    func unanswered(_ leg: Leg, _ settings: QueueSettings) {
        let line = leg.line.configuration.number
        queues[line]?.unanswered(leg.uuid, pause: settings.pause, at: now)
        offer(in: line)
    }

    private func tellPositions(in line: Text) {
        for (index, caller) in (queues[line]?.callers ?? []).enumerated() {
            if let leg = table.leg(caller.call) { tell(leg, .position(index + 1)) }
        }
    }

    // MARK: Members

    /// A call is over: a member of a queue may be free.
    func callEnded(_ leg: Leg) {
        guard !queues.isEmpty else { return }
        leave(leg, cause: "abandoned")
        guard let member = table.lineReached(by: leg)?.configuration.number ?? Optional(leg.line.configuration.number) else { return }
        for (line, _) in queues where settings(of: line)?.members.contains(member) == true { queues[line]?.freed(member, at: now) }
    }

    /// Lets members ring for those who wait: all that is free now.
    func offerAll() {
        guard queues.values.contains(where: { !$0.callers.isEmpty }) else { return }
        for line in table.lines.all where queues[line.configuration.number] != nil { offer(in: line.configuration.number) }
    }

    func offer(in line: Text) {
        guard let settings = settings(of: line), var queue = queues[line] else { return }
        let offers = queue.offers(settings, at: now) { state(of: $0) == .free }
        queues[line] = queue
        for offer in offers {
            guard let leg = table.leg(offer.caller) else { continue }
            leg.scribe.write(
                .queueOffered, at: now, [.text: .init(Text(offer.members.map(\.description).joined(separator: " ")))])
            tell(leg, .offer(offer.members))
        }
    }

    private func settings(of line: Text) -> QueueSettings? {
        guard case .application(let application)? = table.lines.line(numbered: line)?.configuration.endpoint else { return nil }
        return application.queue
    }

    /// Whether a member can take a call now.
    private func state(of number: Text) -> QueueSummary.Member.State {
        guard let line = table.lines.line(numbered: number) else { return .unavailable }
        if router.trunks.trunk(of: line) != nil { return table.isFull(line) ? .busy : .free }
        guard !router.registrar.contacts(of: number, at: now).isEmpty else { return .unavailable }
        return table.conversations(of: line) > 0 || line.features.isDoNotDisturbOn ? .busy : .free
    }

    // MARK: Figures

    var totals: QueueTotals {
        queues.values.reduce(into: QueueTotals()) { totals, queue in
            totals.waiting += queue.callers.count
            totals.answered += queue.counts.answered
            totals.abandoned += queue.counts.abandoned
            totals.overflowed += queue.counts.overflowed
        }
    }

    /// In the order of the lines.
    func summaries() -> [QueueSummary] {
        table.lines.all.compactMap { line in
            guard case .application(let application) = line.configuration.endpoint, let settings = application.queue else { return nil }
            let queue = queues[line.configuration.number] ?? CallQueue(), ringing = Set(queue.callers.flatMap(\.members))
            let mean = queue.counts.answered == 0 ? nil : queue.counts.waited / Int(queue.counts.answered)
            return QueueSummary(
                line: line.configuration.number, name: line.configuration.name, strategy: settings.strategy, length: settings.length,
                members: settings.members.map { .init(line: $0, state: ringing.contains($0) ? .ringing : state(of: $0)) },
                callers: queue.callers.map { .init(call: $0.call, waited: now - $0.entered) }, entered: queue.counts.entered,
                answered: queue.counts.answered, abandoned: queue.counts.abandoned, overflowed: queue.counts.overflowed, meanWait: mean)
        }
    }
}
