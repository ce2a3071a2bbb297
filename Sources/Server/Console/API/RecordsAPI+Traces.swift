import CallJournal
import Foundation
import HTTP
import Primitives
import UserAgent

// The SIP messages of a call, as a file for Wireshark.
extension RecordsAPI {
    func addTraces(to routes: inout HTTPRoutes) {
        routes.on(.get, "/v1/calls/{id}/pcap") { [unowned self] ask, responder in
            api.answer(ask, responder) { () throws(Problem) in
                let id = try api.uuid("id", in: ask)
                guard let call = api.hub.view.calls[CallUUID(id)], ask.grant.covers(call.line) else {
                    throw .notFound("there is no call \(id)")
                }
                guard let trace = try api.running().trace else {
                    throw Problem(.conflict, "notTraced", "SIP messages are not kept: a setting such as trace.file turns it on")
                }
                guard let callID = call.callID else { throw .notFound("the call \(id) has no SIP dialog yet") }
                return try work(responder) { [version = api.version] in Self.capture(trace, callID, id, version: version) }
            }
        }
    }

    private static func capture(_ trace: MessageTrace, _ callID: Text, _ id: UUID, version: String) -> Result<HTTPReply, Problem> {
        let messages = trace.messages(of: callID)
        guard let last = messages.last else {
            return .failure(.notFound("no message of the call \(id) is in memory any more; trace.memory says how much that holds"))
        }
        let end = Pcapng.end(received: UInt64(messages.count), dropped: 0, at: last.wall)
        let bytes = Pcapng.header(program: "hookswitch \(version)") + messages.flatMap(Pcapng.packet) + end
        var reply = HTTPReply(.ok, body: bytes, type: "application/x-pcapng", fields: [.cacheControl: "no-store"])
        reply.fields[.contentDisposition] = "attachment; filename=\"\(id).pcapng\""
        return .success(reply)
    }
}
