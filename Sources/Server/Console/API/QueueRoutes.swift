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
        routes.on(.get, "/v1/queues") { ask, responder in
            read(ask, responder) { JSONBody.reply(.ok, Queues(queues: $0)) }
        }
        routes.on(.get, "/v1/queues/{queue}") { ask, responder in
            let name = ask.parameters["queue"] ?? ""
            read(ask, responder) { queues in
                queues.first { $0.line == name || $0.name == name }.map { JSONBody.reply(.ok, $0) }
                    ?? Problem.notFound("there is no queue \(name)").reply
            }
        }
    }

    /// Queues of lines that the token does not cover are not there.
    private func read(_ ask: HTTPAsk, _ responder: HTTPResponder, _ reply: @escaping @Sendable ([QueueBody]) -> HTTPReply) {
        api.answer(ask, responder) { () throws(Problem) in
            let later = api.park(responder), grant = ask.grant
            try api.running().queueSummaries { queues in
                let shown = queues.filter { grant.covers($0.line) }.map(QueueBody.init)
                later { responder, now in responder.reply(reply(shown), at: now) }
            }
            return nil
        }
    }
}
