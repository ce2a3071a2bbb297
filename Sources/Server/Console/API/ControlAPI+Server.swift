import Foundation
import Gateway
import HTTP
import Primitives

// The server itself.
extension ControlAPI {
    struct Server: Encodable {
        var version: String
        var run: String?, position: String?, started: String?
        /// Calls of CallKit that are up: a call that is bridged is two.
        var calls: Int
        var readers: Int
        /// Readers that get events from the journal's files, and those that were refused because there were as many as there may be.
        var replays: Int, refusedReplays: UInt64
        var isRunning: Bool
        /// The gateways that it answers for, where they are several.
        var nodes: [NodeBody]?
    }

    func addServer(to routes: inout HTTPRoutes) {
        routes.on(.get, "/v1/server") { [unowned self] ask, responder in
            let body = Server(
                version: version, run: hub.position?.run, position: hub.position?.description,
                started: hub.started.map { Timestamp($0).description },
                calls: hub.view.calls.values.count { $0.phase != .ended }, readers: readers.count, replays: readers.replays,
                refusedReplays: readers.refusedReplays, isRunning: gateway != nil)
            responder.reply(JSONBody.reply(.ok, body), at: ask.now)
        }
        routes.on(.post, "/v1/server/drain") { [unowned self] ask, responder in
            answer(ask, responder) { () throws(Problem) in
                try running().drain()
                return HTTPReply(.accepted)
            }
        }
        routes.on(.post, "/v1/server/reload") { [unowned self] ask, responder in
            answer(ask, responder) { () throws(Problem) in
                guard let reload else { throw .notRunning }
                reload()
                return HTTPReply(.accepted)
            }
        }
    }
}
