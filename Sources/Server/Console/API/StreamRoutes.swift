import CallJournal
import Foundation
import Gateway
import HTTP
import Primitives
import Streaming

/// Programs that speak in calls that are up, or listen to them.
struct StreamRoutes {
    /// The subprotocol of streams: a client may offer it, or none.
    static let `protocol` = "hookswitch.stream.v1"

    struct Form: Decodable {
        struct Header: Decodable { var name: String, value: String }

        var url: String
        var format: String?, encoding: String?, tap: String?
        var headers: [Header]?
    }

    unowned let api: ControlAPI
    private static let path = "/v1/calls/{id}/stream"

    func add(to routes: inout HTTPRoutes) {
        routes.on(.get, Self.path) { ask, responder in
            api.answer(ask, responder) { () throws(Problem) in try letIn(ask, responder) }
        }
        routes.on(.post, Self.path) { ask, responder in
            api.answer(ask, responder) { () throws(Problem) in
                let call = try call(in: ask), later = api.park(responder)
                try api.running().attachStream(try Self.attachment(ask), to: call) { result in
                    later { responder, now in
                        switch result {
                        case .success: responder.reply(HTTPReply(.accepted), at: now)
                        case .failure(let refusal): responder.reply(Problem(refusal, of: call).reply, at: now)
                        }
                    }
                }
                return nil
            }
        }
        routes.on(.delete, Self.path) { ask, responder in
            api.answer(ask, responder) { () throws(Problem) in
                let call = try call(in: ask), later = api.park(responder)
                try api.running().detachStream(from: call) { hadOne in
                    later { responder, now in
                        responder.reply(hadOne ? HTTPReply(.noContent) : Problem.notFound("call \(call) has no stream").reply, at: now)
                    }
                }
                return nil
            }
        }
    }

    /// The call of the path, which its first event may not have told of yet. That of a line that the token does not cover is not there.
    private func call(in ask: HTTPAsk) throws(Problem) -> UUID {
        let call = try api.uuid("id", in: ask)
        let isCovered = api.hub.view.calls[CallUUID(call)].map { ask.grant.covers($0.line) } ?? (ask.grant.lines == nil)
        guard isCovered else { throw Problem(.noCall, of: call) }
        return call
    }

    /// The program is at the other end of this connection.
    private func letIn(_ ask: HTTPAsk, _ responder: HTTPResponder) throws(Problem) -> HTTPReply? {
        let target = ask.request.target, call = try call(in: ask)
        let attachment = StreamAttachment(
            place: nil, format: try Self.format(target["format"], target["encoding"]), tap: try Self.tap(target["tap"]))
        try Self.check(attachment)
        guard WebSocketUpgrade.isAsked(by: ask.request) else {
            throw Problem(.upgradeRequired, "upgradeRequired", "a program connects by WebSocket: Upgrade: websocket")
        }
        let upgrade: WebSocketUpgrade
        do throws(WebSocketUpgrade.Refusal) { upgrade = try WebSocketUpgrade(ask.request, subprotocols: [Self.protocol]) } catch {
            return ControlAPI.reply(error)
        }
        let gateway = try api.running(), later = api.park(responder)
        gateway.attachStream(attachment, to: call) { result in
            later { responder, now in
                switch result {
                case .success(let stream):
                    // A client that has gone is one that did not come: the stream ends by its own patience.
                    if let connection = responder.handOver(upgrade, at: now) { gateway.connect(connection, toStream: stream) }
                case .failure(let refusal): responder.reply(Problem(refusal, of: call).reply, at: now)
                }
            }
        }
        return nil
    }

    private static func attachment(_ ask: HTTPAsk) throws(Problem) -> StreamAttachment {
        let form = try JSONBody.decode(Form.self, ask.request.body, as: "StreamForm")
        guard let place = StreamSettings.Place(form.url) else {
            throw .badRequest("url: takes an address as ws://127.0.0.1:8080/calls or wss://voice.example.test/calls")
        }
        let headers = (form.headers ?? []).map { StreamHeader($0.name, $0.value) }
        guard headers.count <= StreamHeader.most, headers.allSatisfy(\.isAllowed) else {
            throw .badRequest("headers: a field cannot be set in the request of a WebSocket")
        }
        let attachment = StreamAttachment(
            place: place, format: try format(form.format, form.encoding), headers: headers, tap: try tap(form.tap))
        try check(attachment)
        return attachment
    }

    /// nil where neither is given.
    private static func format(_ format: String?, _ encoding: String?) throws(Problem) -> StreamFormat? {
        switch format {
        case nil, "twilio":
            guard encoding == nil else { throw .badRequest("encoding: is for the format raw; that of twilio is µ-law") }
            return format == nil ? nil : .twilio
        case "raw":
            guard let encoding else { return .raw(.l16(sampleRate: 16_000)) }
            guard let found = StreamEncoding.choices[encoding] else {
                throw .badRequest("encoding: takes one of \(StreamEncoding.choices.keys.sorted().joined(separator: ", "))")
            }
            return .raw(found)
        default: throw .badRequest("format: takes twilio or raw")
        }
    }

    private static func tap(_ text: String?) throws(Problem) -> StreamTap? {
        guard let text else { return nil }
        guard let tap = StreamTap(rawValue: text) else { throw .badRequest("tap: takes in, out or both") }
        return tap
    }

    private static func check(_ attachment: StreamAttachment) throws(Problem) {
        if attachment.tap == .both, attachment.format == .raw(.opus) {
            throw .badRequest("encoding: opus has one channel here; both directions take l16")
        }
    }
}

extension Problem {
    init(_ refusal: StreamRefusal, of call: UUID) {
        switch refusal {
        case .noCall: self = .notFound("there is no call \(call) that is connected")
        case .hasStream: self.init(.conflict, "hasStream", "the call has a program already")
        case .otherFormat: self.init(.conflict, "otherFormat", "the call waits for a program of another format")
        case .mayNotBeTapped: self.init(.forbidden, "mayNotBeTapped", "the line lets nobody listen: its setting tap allows it")
        case .isNotAlone: self.init(.conflict, "isNotAlone", "the call talks with somebody, or waits in a queue: tap listens")
        }
    }
}
