import CallJournal
import Foundation
import HTTP
import Primitives

// Calls, as they were when the event at `position` had happened.
extension ControlAPI {
    struct Calls: Encodable {
        var position: String?
        var calls: [CallBody]
    }

    func addReads(to routes: inout HTTPRoutes) {
        routes.on(.get, "/v1/calls") { [unowned self] ask, responder in
            answer(ask, responder) { () throws(Problem) in
                JSONBody.reply(.ok, Calls(position: hub.position?.description, calls: try calls(ask.request.target, ask.grant)))
            }
        }
        routes.on(.get, "/v1/snapshot") { [unowned self] ask, responder in
            answer(ask, responder) { () throws(Problem) in
                let calls = hub.view.calls.values.filter { $0.phase != .ended && ask.grant.covers($0.line) }
                return JSONBody.reply(.ok, Calls(position: hub.position?.description, calls: Self.bodies(calls)))
            }
        }
        routes.on(.get, "/v1/calls/{id}") { [unowned self] ask, responder in
            answer(ask, responder) { () throws(Problem) in
                let id = try uuid("id", in: ask)
                guard let call = hub.view.calls[CallUUID(id)], ask.grant.covers(call.line) else {
                    throw .notFound("there is no call \(id)")
                }
                return JSONBody.reply(.ok, CallBody(call))
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
        return Self.bodies(
            hub.view.calls.values.filter { phases.contains($0.phase) && (line == nil || $0.line == line) && grant.covers($0.line) })
    }

    /// Oldest first.
    private static func bodies(_ calls: [CallState]) -> [CallBody] {
        calls.sorted { ($0.begun, $0.sequence) < ($1.begun, $1.sequence) }.map(CallBody.init)
    }
}
