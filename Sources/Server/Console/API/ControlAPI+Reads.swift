import CallJournal
import Foundation
import HTTP
import Primitives

// Calls, as they were when the event at `position` had happened.
extension ControlAPI {
    struct Calls: Encodable {
        var position: String?
        var calls: [CallBody]
        /// The gateways that were asked, where they are several.
        var nodes: [NodeBody]?
    }

    struct Groups: Encodable {
        struct Group: Encodable {
            var line: String
            var isConference: Bool
            var calls: [String]
            /// The gateway that has it, where several are asked.
            var node: String?
        }

        var position: String?
        var groups: [Group]
        var nodes: [NodeBody]?
    }

    func addReads(to routes: inout HTTPRoutes) {
        routes.on(.get, "/v1/calls") { [unowned self] ask, responder in
            answer(ask, responder) { () throws(Problem) in
                JSONBody.reply(.ok, Calls(position: hub.position?.description, calls: try calls(ask.request.target, ask.grant)))
            }
        }
        routes.on(.get, "/v1/groups") { [unowned self] ask, responder in
            answer(ask, responder) { () throws(Problem) in
                JSONBody.reply(.ok, Groups(position: hub.position?.description, groups: groups(ask.grant)))
            }
        }
        routes.on(.get, "/v1/snapshot") { [unowned self] ask, responder in
            answer(ask, responder) { () throws(Problem) in
                let calls = hub.view.calls.values.filter { $0.phase != .ended && ask.grant.covers($0.line) }
                return JSONBody.reply(.ok, Calls(position: hub.position?.description, calls: bodies(calls, ask.grant)))
            }
        }
        routes.on(.get, "/v1/calls/{id}") { [unowned self] ask, responder in
            answer(ask, responder) { () throws(Problem) in
                let id = try uuid("id", in: ask)
                guard let call = hub.view.calls[CallUUID(id)], ask.grant.covers(call.line) else {
                    throw .notFound("there is no call \(id)")
                }
                return JSONBody.reply(.ok, body(call, ask.grant))
            }
        }
    }

    /// Those that are up, unless `state` says more.
    private func calls(_ target: RequestTarget, _ grant: AccessGrant) throws(Problem) -> [CallBody] {
        var phases: Set<CallState.Phase> = [.ringing, .connecting, .connected]
        if let state = target["state"] {
            guard let phase = CallState.Phase(rawValue: state) else {
                throw .badRequest("state: '\(state)' is none of ringing, connecting, connected, ended")
            }
            phases = [phase]
        }
        let line = target["line"].map { Text($0) }
        return bodies(
            hub.view.calls.values.filter { phases.contains($0.phase) && (line == nil || $0.line == line) && grant.covers($0.line) }, grant)
    }

    /// Oldest first.
    private func bodies(_ calls: [CallState], _ grant: AccessGrant) -> [CallBody] {
        calls.sorted { ($0.begun, $0.sequence) < ($1.begun, $1.sequence) }.map { body($0, grant) }
    }

    private func body(_ call: CallState, _ grant: AccessGrant) -> CallBody {
        let others = call.phase == .ended ? call.groupedWith : hub.view.conversations.others(than: call.id)
        return CallBody(call, with: others.filter { shows($0, to: grant) })
    }

    /// Conversations, in the order in which they began.
    private func groups(_ grant: AccessGrant) -> [Groups.Group] {
        hub.view.conversations.all.compactMap { members in
            let shown = members.filter { shows($0, to: grant) }
            guard let line = shown.first.flatMap({ hub.view.calls[$0]?.line }) else { return nil }
            return Groups.Group(line: line.description, isConference: members.count > 2, calls: shown.map(\.description))
        }
    }

    /// After a transfer a conversation may have calls of other lines, which a token for some lines does not see.
    private func shows(_ call: CallUUID, to grant: AccessGrant) -> Bool {
        grant.lines == nil || hub.view.calls[call].map { grant.covers($0.line) } ?? false
    }
}
