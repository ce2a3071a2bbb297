import Foundation
import HTTP
import Primitives

/// The routes of a control interface that answers for several gateways. The others are asked for what it does not know itself, or not alone.
///
/// A request of another gateway is answered by this one alone, and so is one with `node` in its query that names it.
struct NodeRoutes {
    /// The place of the answer to a request.
    enum Reach: Equatable {
        /// At this gateway.
        case own
        /// At all gateways, in part: the lists of this name become one.
        case all(list: String?)
        /// At the one that has what the path names.
        case one
    }

    /// The time in which another gateway answers a read.
    private static let readTime = Duration.seconds(2)
    /// The time in which it answers what may wait for a call: the longest `within`, and some.
    private static let actionTime = Duration.seconds(125)

    let desk: NodeDesk

    static func reach(_ method: HTTPRequest.Method, _ pattern: String) -> Reach {
        switch (method, pattern) {
        case (.get, "/v1/calls"), (.get, "/v1/snapshot"): .all(list: "calls")
        case (.get, "/v1/groups"): .all(list: "groups")
        case (.get, "/v1/recordings"): .all(list: "recordings")
        case (.get, "/v1/server"): .all(list: nil)
        case (_, "/v1/calls/{id}/stream"): .own
        case (.get, "/v1/mailboxes/{line}/messages/{id}"), (.post, "/v1/transactions"), (_, "/v1/transactions/{id}"): .one
        default: pattern.hasPrefix("/v1/calls/{id}") || pattern.hasPrefix("/v1/recordings/{") ? .one : .own
        }
    }

    /// A route's work, with the others' part in it.
    func widened(_ route: HTTPRoutes.Route) -> (HTTPAsk, HTTPResponder) -> Void {
        let reach = Self.reach(route.method, route.pattern)
        return { ask, responder in
            guard ask.grant.holder != .node else { return route.run(ask, responder) }
            switch ask.request.target["node"] {
            case desk.settings.own: return route.run(ask, responder)
            case let name?: return pass(ask, responder, to: name)
            case nil: break
            }
            switch reach {
            case .own: break
            case .all(let list): responder.divert { merge($0, list, ask, responder, at: $1) }
            case .one: responder.divert { find($0, ask, responder, at: $1) }
            }
            route.run(ask, responder)
        }
    }

    // MARK: One of them

    private func pass(_ ask: HTTPAsk, _ responder: HTTPResponder, to name: String) {
        guard let node = desk.settings.others.first(where: { $0.name == name }) else {
            let names = [desk.settings.own] + desk.settings.others.map(\.name)
            let problem = Problem.badRequest("node: there is no '\(name)'\(SpellingSuggestion.hint(for: name, among: names))")
            return responder.reply(problem.reply, at: ask.now)
        }
        guard !ask.request.target.segments.starts(with: ["v1", "events"]), ask.request.target.segments.last != "stream" else {
            return responder.reply(Problem.badRequest("node: a stream of \(name) alone is read from its own address").reply, at: ask.now)
        }
        let time = ask.isRead ? Self.readTime : Self.actionTime
        desk.ask(
            node, ask.passedMethod, ask.passedTarget, body: ask.request.body, ask.passedFields, for: ask.grant, within: time,
            now: ask.now
        ) {
            responder.reply(Self.reply($0, of: name), at: $1)
        }
    }

    private static func reply(_ result: Result<HTTPReply, NodeDesk.Failure>, of name: String) -> HTTPReply {
        switch result {
        case .success(let reply): reply
        case .failure(let failure): Problem(.badGateway, "nodeAway", "the gateway \(name) \(failure.words)").reply
        }
    }

    /// Asks the others for what this one does not have.
    ///
    /// - Returns: false: this gateway's own answer is the answer.
    private func find(_ own: HTTPReply, _ ask: HTTPAsk, _ responder: HTTPResponder, at now: Instant) -> Bool {
        guard own.isUnknown else { return false }
        let time = ask.isRead ? Self.readTime : Self.actionTime
        desk.askAll(
            ask.passedMethod, ask.passedTarget, body: ask.request.body, ask.passedFields, for: ask.grant, within: time, now: now
        ) { replies, now in
            let found = replies.compactMap { try? $0.reply.get() }.first { !$0.isUnknown }
            guard found == nil, let lost = replies.first(where: { (try? $0.reply.get()) == nil }) else {
                return responder.reply(found ?? own, at: now)
            }
            guard case .failure(let failure) = lost.reply else { return }
            // A gateway that did not answer may have it.
            let words = "no gateway that answers has it; \(lost.node) \(failure.words)"
            responder.reply(Problem(own.status, own.code ?? "notFound", words).reply, at: now)
        }
        return true
    }

    // MARK: All of them

    private func merge(_ own: HTTPReply, _ list: String?, _ ask: HTTPAsk, _ responder: HTTPResponder, at now: Instant) -> Bool {
        guard own.status == .ok, ask.request.head.method == .get else { return false }
        desk.askAll(.get, ask.passedTarget, for: ask.grant, within: Self.readTime, now: now) { replies, now in
            var merged = MergedReply(list, own, of: desk.settings.own)
            for (node, reply) in replies { merged.add(reply, of: node) }
            responder.reply(merged.reply, at: now)
        }
        return true
    }
}

extension HTTPReply {
    /// Whether the gateway that answered does not have what the path or the transaction names.
    fileprivate var isUnknown: Bool {
        guard status == .notFound || status == .conflict else { return false }
        let code = self.code
        return status == .notFound ? code == nil || code == "notFound" : code == "unknownCallUUID"
    }

    /// That of a problem.
    fileprivate var code: String? { (try? JSONDecoder().decode(Code.self, from: Data(body)))?.code }

    private struct Code: Decodable { var code: String }
}

extension HTTPAsk {
    fileprivate var isRead: Bool { [.get, .head].contains(request.head.method) }

    /// A HEAD is a GET there: its answer has the length of the content, which is left out here.
    fileprivate var passedMethod: HTTPRequest.Method { request.head.method == .head ? .get : request.head.method }

    /// Path and query as they came, without the name of a gateway.
    fileprivate var passedTarget: String {
        let halves = request.target.text.split(separator: "?", maxSplits: 1)
        let query = (halves.count > 1 ? halves[1] : "").split(separator: "&").filter { !$0.hasPrefix("node=") }
        return String(halves[0]) + (query.isEmpty ? "" : "?" + query.joined(separator: "&"))
    }

    /// The fields that an answer depends on.
    fileprivate var passedFields: HTTPFields {
        var fields = HTTPFields()
        for name in [HTTPField.Name.accept, .contentType, .range, .ifRange, .ifNoneMatch] { fields[name] = request.head.headerFields[name] }
        if let name = HTTPField.Name("Idempotency-Key") { fields[name] = request.head.headerFields[name] }
        return fields
    }
}
