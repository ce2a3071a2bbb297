import CallJournal
import CallKit
import Foundation
import Gateway
import HTTP
import Primitives

/// The lines as the gateway told them last. Who asks is told what holds now, and the gateway is asked ten times a second at most.
struct LineCache {
    static let interval = Duration.milliseconds(100), lifetime = Duration.seconds(1)

    struct Waiter {
        let responder: HTTPResponder
        let reply: ([LineSummary]) -> HTTPReply
    }

    private var lines: [LineSummary]?
    private var fetched: Instant?
    private var isDirty = false
    private var isFetching = false
    private var waiters: [Waiter] = []

    /// When the gateway is to be asked; nil: nobody waits.
    var due: Instant? { waiters.isEmpty || isFetching ? nil : fetched.map { $0 + Self.interval } ?? .zero }

    /// Notes an event that may change the lines.
    mutating func note(_ event: borrowing JournalEvent) {
        switch event.kind {
        case .registerAccepted, .registerExpired, .doNotDisturbChanged, .blockListChanged, .configurationReloaded: isDirty = true
        default: break
        }
    }

    mutating func invalidate() { isDirty = true }

    /// The lines, where they are known well enough.
    func current(at now: Instant) -> [LineSummary]? {
        guard let fetched, !isDirty, !isFetching, now < fetched + Self.lifetime else { return nil }
        return lines
    }

    mutating func wait(_ waiter: Waiter) { waiters.append(waiter) }

    mutating func begin(at now: Instant) { (isFetching, isDirty, fetched) = (true, false, now) }

    /// Those who waited for them.
    mutating func take(_ lines: [LineSummary]) -> [Waiter] {
        (self.lines, isFetching) = (lines, false)
        // The lines changed while they were fetched: they are fetched again.
        guard !isDirty else { return [] }
        defer { waiters = [] }
        return waiters
    }
}

extension ControlAPI {
    struct Lines: Encodable { var lines: [LineBody] }
    struct Recents: Encodable { var recents: [RecentBody] }
    struct OnForm: Codable { var on: Bool }

    func addLines(to routes: inout HTTPRoutes) {
        routes.on(.get, "/v1/lines") { [unowned self] ask, responder in
            readLines(ask, responder) { [unowned self] lines in
                JSONBody.reply(.ok, Lines(lines: lines.filter { ask.grant.covers($0.number) }.map(body)))
            }
        }
        routes.on(.get, "/v1/lines/{number}") { [unowned self] ask, responder in
            readLine(ask, responder) { [unowned self] in JSONBody.reply(.ok, body($0)) }
        }
        routes.on(.get, "/v1/lines/{number}/dnd") { [unowned self] ask, responder in
            readLine(ask, responder) { JSONBody.reply(.ok, OnForm(on: $0.isDoNotDisturbOn)) }
        }
        addChanges(to: &routes)
        routes.on(.get, "/v1/lines/{number}/recents") { [unowned self] ask, responder in
            answer(ask, responder) { () throws(Problem) in
                try readRecents(of: try number(ask), ask, responder)
                return nil
            }
        }
    }

    private func addChanges(to routes: inout HTTPRoutes) {
        routes.on(.put, "/v1/lines/{number}/dnd") { [unowned self] ask, responder in
            change(ask, responder) { gateway, number, then throws(Problem) in
                let form = try JSONBody.decode(OnForm.self, ask.request.body, as: "DoNotDisturb")
                gateway.setDoNotDisturb(form.on, ofLine: number, then: then)
            }
        }
        for (method, isBlocked) in [(HTTPRequest.Method.put, true), (.delete, false)] {
            routes.on(method, "/v1/lines/{number}/blocked/{caller}") { [unowned self] ask, responder in
                change(ask, responder) { gateway, number, then throws(Problem) in
                    let caller = ask.parameters["caller"] ?? ""
                    guard caller.utf8.count <= 256 else { throw .badRequest("a caller has 256 bytes at most") }
                    let handle = CXHandle(type: caller.contains("@") ? .generic : .phoneNumber, value: caller)
                    gateway.setBlocked(isBlocked, caller: handle, ofLine: number, then: then)
                }
            }
        }
    }

    /// Something of a line is set: 204 when it holds.
    func change(
        _ ask: HTTPAsk, _ responder: HTTPResponder,
        _ body: (any GatewayControl, Text, @escaping @Sendable (Bool) -> Void) throws(Problem) -> Void
    ) {
        answer(ask, responder) { () throws(Problem) in
            let gateway = try running(), number = try number(ask), later = park(responder)
            try body(gateway, Text(number)) { isThere in
                later { responder, now in responder.reply(isThere ? HTTPReply(.noContent) : Self.noLine(number).reply, at: now) }
            }
            lines.invalidate()
            return nil
        }
    }

    /// The line of the path. One that the token does not cover is not there.
    func number(_ ask: HTTPAsk) throws(Problem) -> String {
        let number = ask.parameters["number"] ?? ""
        guard ask.grant.covers(Text(number)) else { throw Self.noLine(number) }
        return number
    }

    static func noLine(_ number: String) -> Problem { .notFound("there is no line \(number)") }

    func readLine(_ ask: HTTPAsk, _ responder: HTTPResponder, _ reply: @escaping (LineSummary) -> HTTPReply) {
        answer(ask, responder) { () throws(Problem) in
            let number = try number(ask)
            readLines(ask, responder) { lines in
                lines.first { $0.number == Text(number) }.map(reply) ?? Self.noLine(number).reply
            }
            return nil
        }
    }

    private func readLines(_ ask: HTTPAsk, _ responder: HTTPResponder, _ reply: @escaping ([LineSummary]) -> HTTPReply) {
        answer(ask, responder) { () throws(Problem) in
            _ = try running()
            if let lines = lines.current(at: ask.now) { return reply(lines) }
            lines.wait(.init(responder: responder, reply: reply))
            fetchLines(at: ask.now)
            return nil
        }
    }

    func fetchLines(at now: Instant) {
        guard let due = lines.due, due <= now, let gateway else { return }
        lines.begin(at: now)
        gateway.lineSummaries { [post] summaries in
            post { api, now in
                for waiter in api.lines.take(summaries) { waiter.responder.reply(waiter.reply(summaries), at: now) }
            }
        }
    }

    private func body(_ line: LineSummary) -> LineBody {
        LineBody(
            number: line.number.description, name: line.name?.description, kind: line.kind.rawValue, doNotDisturb: line.isDoNotDisturbOn,
            devices: line.devices.map { .init(contact: $0.contact.description, agent: $0.agent?.description, expires: $0.expires) },
            calls: hub.view.calls.values.count { $0.phase != .ended && $0.line == line.number }, blocked: line.blocked)
    }
}

extension RecentBody {
    init(_ call: RecentCall) {
        (id, direction, handle, name) = (call.id, call.direction.rawValue, call.handle, call.name)
        (began, ended, connected) = (Self.text(call.began), Self.text(call.ended), call.connected.map(Self.text))
        (outcome, reason) = (call.outcome.rawValue, call.reason)
    }

    private static func text(_ date: Date) -> String { Timestamp(UInt64(max(0, date.timeIntervalSince1970) * 1e9)).description }
}

// Recent calls: asked of the gateway for all who wait.
extension ControlAPI {
    func readRecents(of number: String, _ ask: HTTPAsk, _ responder: HTTPResponder) throws(Problem) {
        _ = try running()
        let reply = { (calls: [RecentCall]?) in
            calls.map { JSONBody.reply(.ok, Recents(recents: $0.map(RecentBody.init))) } ?? Self.noLine(number).reply
        }
        if let calls = recents.current(Text(number), at: ask.now) { return responder.reply(reply(calls), at: ask.now) }
        recents.wait(.init(number: Text(number), responder: responder, reply: reply))
        fetchRecents(at: ask.now)
    }

    func fetchRecents(at now: Instant) {
        guard let due = recents.due, due <= now, let gateway else { return }
        gateway.recents(ofLines: recents.begin(at: now)) { [post] found in
            post { api, now in
                for waiter in api.recents.take(found) { waiter.responder.reply(waiter.reply(found[waiter.number]), at: now) }
            }
        }
    }
}
