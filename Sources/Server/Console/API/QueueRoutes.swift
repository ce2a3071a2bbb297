import Foundation
import Gateway
import HTTP
import Primitives

/// A queue as `/v1/queues` shows it.
struct QueueBody: Encodable {
    struct Member: Encodable {
        var line: String
        var state: QueueSummary.Member.State
    }

    struct Caller: Encodable {
        var call: UUID
        /// Seconds.
        var waited: Double
    }

    /// The number of its line.
    var line: String, name: String?
    var strategy: QueueSettings.Strategy
    var length: Int
    var waiting: Int
    var callers: [Caller]
    var members: [Member]
    var entered: UInt64, answered: UInt64, abandoned: UInt64, overflowed: UInt64
    /// Seconds.
    var longestWait: Double?, meanWait: Double?

    init(_ queue: QueueSummary) {
        (line, name, strategy) = (queue.line.description, queue.name?.description, queue.strategy)
        (length, waiting) = (queue.length, queue.callers.count)
        callers = queue.callers.map { Caller(call: $0.call, waited: Self.seconds($0.waited)) }
        members = queue.members.map { Member(line: $0.line.description, state: $0.state) }
        (entered, answered, abandoned, overflowed) = (queue.entered, queue.answered, queue.abandoned, queue.overflowed)
        (longestWait, meanWait) = (callers.first?.waited, queue.meanWait.map(Self.seconds))
    }

    private static func seconds(_ time: Duration) -> Double { Double(time.wholeMilliseconds) / 1_000 }
}

extension QueueSettings.Strategy: Encodable {}
extension QueueSummary.Member.State: Encodable {}

/// Queues.
struct QueueRoutes {
    struct Queues: Encodable { var queues: [QueueBody] }

    unowned let api: ControlAPI

    func add(to routes: inout HTTPRoutes) {
        LineServiceRoutes(api: api).add(
            "queue", to: &routes, read: { $0.queueSummaries(then: $1) },
            list: { JSONBody.reply(.ok, Queues(queues: $0.map(QueueBody.init))) }, one: { JSONBody.reply(.ok, QueueBody($0)) })
    }
}
